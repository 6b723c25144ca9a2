//! Reason why a text that begins like FASTA or FASTQ is taken for neither.

use super::lines::{BYTE_ORDER_MARK, is_blank, is_blank_line, is_residue, residues, symbols};

/// Number of bytes at the start of a text that are examined.
const BEGINNING: usize = 1 << 20;

/// Number of lines in which the `+` line of the first FASTQ record must be.
const FIRST_RECORD: usize = 1_000;

/// Minimum number of residues that tell a line of bases from one of another text.
const LONG_LINE: usize = 20;

/// Number of a line, from 1, and the line without its end and byte order mark.
type NumberedLine<'a> = (usize, &'a [u8]);

/// Returns the reason why a text is no sequences, if it begins like them behind a byte order mark,
/// blank lines and comments. A header of SAM does not begin like FASTQ. `goes_on` is true if the
/// text is only the start of a longer one.
pub fn why_unlike(text: &[u8], goes_on: bool) -> Option<String> {
    let goes_on = goes_on || text.len() > BEGINNING;
    let beginning = &text[..text.len().min(BEGINNING)];
    let mut lines: Vec<NumberedLine> = Vec::new();
    for line in beginning.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        lines.push((
            lines.len() + 1,
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
        ));
    }
    let is_front = |line: &[u8]| is_blank_line(line) || line[0] == b'#' || line[0] == b';';
    let first = lines
        .iter()
        .position(|(_, line)| !is_front(line))?;
    let records = &lines[first..];
    match records[0].1[0] {
        b'>' => Some(format!(
            "it begins like FASTA, but {}",
            unlike_fasta(records)
        )),
        b'@' if is_like_fastq(records) => Some(format!(
            "it begins like FASTQ, but {}",
            unlike_fastq(records, goes_on)
        )),
        _ => None,
    }
}

fn unlike_fasta(lines: &[NumberedLine]) -> String {
    let mut residues = 0;
    for (number, line) in lines {
        if line
            .first()
            .is_none_or(|byte| b">;".contains(byte))
        {
            continue;
        }
        let start = line
            .iter()
            .position(|&byte| !is_blank(byte))
            .unwrap_or(line.len());
        let end = line
            .iter()
            .rposition(|&byte| !is_blank(byte))
            .map_or(start, |last| last + 1);
        if let Some(at) = line[start..end]
            .iter()
            .position(|&byte| !is_residue(byte))
        {
            return format!(
                "line {number} has `{}` at column {}, and less than nine tenths of its sequences \
                 are residues",
                line[start + at].escape_ascii(),
                start + at + 1
            );
        }
        residues += end - start;
    }
    match residues {
        0 => "no residues follow its headers".into(),
        _ => "less than nine tenths of its sequences are residues".into(),
    }
}

/// Returns true if a `+` follows lines of residues, as in a record, or if no line follows the
/// header, or if nine tenths of the first line behind it are residues, three quarters if it is
/// long. SAM is excluded, which begins with `@SQ` and the like.
fn is_like_fastq(lines: &[NumberedLine]) -> bool {
    let head = lines[0].1;
    if head.len() > 3 && head[1..3].iter().all(u8::is_ascii_uppercase) && head[3] == b'\t' {
        return false;
    }
    let mut first_record = lines.iter().take(FIRST_RECORD).skip(1);
    if first_record.any(|(_, line)| line.first() == Some(&b'+')) {
        return true;
    }
    let Some((_, line)) = behind_header(lines) else {
        return true;
    };
    let known = residues(line);
    let others = symbols(line) - known;
    known > 0 && (known / 9 >= others || known >= LONG_LINE && known / 3 >= others)
}

/// Returns the first line behind the header that is not blank.
fn behind_header<'l, 't>(lines: &'l [NumberedLine<'t>]) -> Option<&'l NumberedLine<'t>> {
    lines[1..]
        .iter()
        .find(|(_, line)| !is_blank_line(line))
}

/// Checks record by record, and returns the fault of the first that is not whole.
fn unlike_fastq(lines: &[NumberedLine], goes_on: bool) -> String {
    match (behind_header(lines), goes_on) {
        (None, false) => return "no bases follow its header".into(),
        (None, true) => return "its first block ends before the first bases".into(),
        (Some(_), _) => {}
    }
    let mut lines = lines
        .iter()
        .filter(|(_, line)| !is_blank_line(line))
        .peekable();
    while let Some((number, head)) = lines.next() {
        if head[0] != b'@' {
            return format!("line {number} is not the `@` and name of a record");
        }
        let mut bases = 0;
        while let Some((_, line)) = lines.next_if(|(_, line)| !b"+@".contains(&line[0])) {
            bases += symbols(line);
        }
        let Some((plus, line)) = lines.next() else {
            if goes_on {
                break;
            }
            return format!("the record of line {number} has no `+` line");
        };
        if line[0] == b'@' {
            return format!("the record of line {number} has no `+` line before line {plus}");
        }
        let mut qualities = 0;
        while qualities < bases
            && let Some((_, line)) = lines.next()
        {
            qualities += symbols(line);
        }
        if qualities > bases || qualities < bases && lines.peek().is_some() {
            return format!(
                "the record of line {number} has {bases} bases and, after line {plus}, {qualities} \
                 qualities"
            );
        }
    }
    "less than nine tenths of it are whole records".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_is_wrong_is_named() {
        let cases: [(&str, &[&str]); 20] = [
            (">c\n12345\n", &["FASTA", "line 2 has `1` at column 1"]),
            (
                "\n\n>c\nACGT\nAC?T?????\n",
                &["FASTA", "line 5 has `?` at column 3"],
            ),
            ("\u{FEFF}>c\nAC GT and so\n", &["FASTA", "line 2 has ` `"]),
            ("; note\n# more\n>c\n%%\n", &["FASTA", "line 4 has `%`"]),
            (">c\n>d\n", &["FASTA", "no residues"]),
            (">c\n\u{e9}\u{e9}\u{e9}\n", &["FASTA", r"`\xc3`"]),
            (
                "@r\nACGT\n+\nIII\n@s\nA\n+\nI\n",
                &["FASTQ", "line 1 has 4 bases", "line 3", "5 qual"],
            ),
            (
                "\u{FEFF}\n@r\nACGT\n+\nIIIIII\n",
                &["FASTQ", "line 2 has 4 bases", "6 qualities"],
            ),
            (
                "@r\nACGT\n+\nIIII\nmore\n@s\n",
                &["FASTQ", "line 5 is not the `@`"],
            ),
            (
                "@r\n\n+\n\n@s\nA\n+\nII\n",
                &["FASTQ", "line 5 has 1 bases"],
            ),
            (
                "@r\r\nACG\r\n+\r\nIIII\r\n",
                &["FASTQ", "line 1 has 3 bases"],
            ),
            ("@r\nACGT\n+\nIIII\n>x\nACGT\n", &["FASTQ", "line 5"]),
            (
                "@r\nAC GT\nA\n+\nI I\nII\n@s\n",
                &["FASTQ", "line 1 has 5 bases", "6 qualities"],
            ),
            (
                "@r\nACGT\n@s\nA\n+\nI\n",
                &["FASTQ", "line 1 has no `+` line before line 3"],
            ),
            ("@r\n\n", &["FASTQ", "no bases follow its header"]),
            (
                "@r\nACGT\n~~~~\n",
                &["FASTQ", "the record of line 1 has no `+` line"],
            ),
            (
                "@r\nACGT\n",
                &["FASTQ", "the record of line 1 has no `+` line"],
            ),
            (
                "@r\nAC-N\n@s\nA\n+\nI\n",
                &["FASTQ", "line 1 has no `+` line before line 3"],
            ),
            (
                ";c\r\n\u{FEFF}>c\n \t12\n",
                &["FASTA", "line 3 has `1` at column 3"],
            ),
            (
                " \x0B\n\u{FEFF}@r\n+\nI\n",
                &["FASTQ", "line 4 is not the `@`"],
            ),
        ];
        for (text, parts) in cases {
            let why = why_unlike(text.as_bytes(), false).unwrap_or_default();
            assert!(
                parts.iter().all(|part| why.contains(part)),
                "{text:?}: {why}"
            );
        }
    }

    #[test]
    fn other_texts_have_no_reason() {
        let texts = [
            "",
            "\n",
            "text",
            "# only\n; comments\n",
            "@HD\tVN:1.6\n@SQ\tSN:c\tLN:5\n",
            "@startuml\nA -> B\n",
            "a\n>b\n",
            "\u{FEFF}",
            "{\"a\": 1}\n",
        ];
        for text in texts {
            assert_eq!(why_unlike(text.as_bytes(), false), None, "{text:?}");
        }
    }
}
