//! Regions of records in the notation of samtools, `chrIV:1,000-2,000`, or in BED files.

use bwz::{Error, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// A region of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// The name of the region in the output.
    pub title: Vec<u8>,
    pub name: Vec<u8>,
    /// The range of bases, from 0 and without the end.
    pub range: Range<u64>,
    pub reverse: bool,
    /// True if the region was given with start 0, which is taken as 1.
    pub from_0: bool,
}

/// Returns true if a record has this name.
type IsName<'n> = &'n mut dyn FnMut(&[u8]) -> Result<bool>;

impl Region {
    /// Reads samtools' notation: `NAME`, `NAME:START`, `NAME:START-`, `NAME:-END` and
    /// `NAME:START-END`, from 1 and with the end. A name may contain colons, and may stand in
    /// braces: `{NAME}:START-END`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the text can be read in two ways, or in none; errors of `is_name`.
    pub(crate) fn parse(text: &[u8], is_name: IsName) -> Result<Self> {
        let whole = Region {
            title: text.to_vec(),
            name: text.to_vec(),
            range: 0..u64::MAX,
            reverse: false,
            from_0: false,
        };
        let braced = in_braces(text);
        let split = braced.or_else(|| {
            let colon = text.iter().rposition(|&byte| byte == b':')?;
            Some((&text[..colon], &text[colon + 1..]))
        });
        let Some((name, bounds)) = split else {
            return Ok(whole);
        };
        let is_whole = is_name(text)?;
        let is_part = is_name(name)?;
        if is_whole && is_part && braced.is_none() {
            return Err(refused(text, &two_ways(text, name, bounds)));
        }
        // If there is no record of the name inside the braces, the braces are part of a name.
        if is_whole && !is_part {
            return Ok(whole);
        }
        match bounds_of(bounds) {
            Some(range) if range.start < range.end => {
                let from_0 = says_0(bounds);
                Ok(Region {
                    name: name.to_vec(),
                    range,
                    from_0,
                    ..whole
                })
            }
            Some(_) if is_part => Err(refused(text, "ends before it starts")),
            None if is_part => Err(refused(
                text,
                "is not a region: write NAME:START-END, from 1 and with the end",
            )),
            // There is no such record, whatever the bounds are.
            None if braced.is_none() => Ok(whole),
            _ => Ok(Region {
                name: name.to_vec(),
                ..whole
            }),
        }
    }

    /// Returns the title, with samtools' mark if the region is on the other strand.
    pub(crate) fn title(&self) -> Vec<u8> {
        let mark: &[u8] = if self.reverse { b"/rc" } else { b"" };
        [&self.title, mark].concat()
    }
}

/// Returns the name in braces and the text after them, with or without a colon.
fn in_braces(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = text.strip_prefix(b"{")?;
    if let Some(name) = inner.strip_suffix(b"}") {
        return Some((name, b""));
    }
    let close = inner.windows(2).rposition(|pair| pair == b"}:")?;
    Some((&inner[..close], &inner[close + 2..]))
}

fn two_ways(text: &[u8], name: &[u8], bounds: &[u8]) -> String {
    let [text, name, bounds] = [text, name, bounds].map(String::from_utf8_lossy);
    format!("is a record, and also a part of `{name}`: write {{{text}}} or {{{name}}}:{bounds}")
}

fn refused(text: &[u8], why: &str) -> Error {
    Error::Usage(format!("`{}` {why}", String::from_utf8_lossy(text)).into())
}

/// Reads `START`, `START-`, `-END`, `START-END` or nothing. The range is from 0 and without the
/// end.
fn bounds_of(text: &[u8]) -> Option<Range<u64>> {
    let text = str::from_utf8(text).ok()?.trim_start();
    let (start, end) = text.split_once('-').unwrap_or((text, ""));
    let start = if start.is_empty() { 0 } else { number(start)? };
    let end = if end.is_empty() { 0 } else { number(end)? };
    // samtools reads `5-0` as `5-`.
    let end = if end == 0 { u64::MAX } else { end };
    Some(start.saturating_sub(1)..end)
}

/// True if the bounds start with the number 0.
fn says_0(bounds: &[u8]) -> bool {
    let digits = bounds
        .split(|&byte| byte == b'-')
        .next()
        .unwrap_or_default();
    str::from_utf8(digits).is_ok_and(|digits| number(digits.trim_start()) == Some(0))
}

/// Reads a whole number as samtools does: `1,000`, `1K`, `1.5M`, `2e6`. A number that is too large
/// becomes the largest number.
fn number(text: &str) -> Option<u64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let letter = |c: char| matches!(c, 'e' | 'E' | 'k' | 'K' | 'm' | 'M' | 'g' | 'G');
    let (digits, scale) = text.split_at(text.find(letter).unwrap_or(text.len()));
    let exponent = match scale.as_bytes() {
        [] => 0,
        b"k" | b"K" => 3,
        b"m" | b"M" => 6,
        b"g" | b"G" => 9,
        [b'e' | b'E', ..] => scale[1..].parse::<i32>().ok()?.clamp(-99, 99),
        _ => return None,
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all: String = whole
        .chars()
        .filter(|&c| c != ',')
        .chain(fraction.chars())
        .collect();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let zeros = exponent - i32::try_from(fraction.len()).ok()?;
    let (kept, dropped) = match usize::try_from(-zeros) {
        Ok(places) if places > 0 => all.split_at(all.len().saturating_sub(places)),
        _ => (&all[..], ""),
    };
    if dropped.bytes().any(|digit| digit != b'0') {
        return None;
    }
    let mut number = 0_u64;
    for digit in kept.bytes() {
        number = number
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'));
    }
    let times = 10_u64.saturating_pow(u32::try_from(zeros).unwrap_or(0));
    Some(number.saturating_mul(times))
}

/// A file of regions, read line by line. A line is BED if its second and third fields, separated by
/// tabs, are numbers. Otherwise it is in samtools' notation.
pub(crate) struct RegionFile<'p> {
    lines: BufReader<File>,
    path: &'p Path,
    line: u64,
}

impl<'p> RegionFile<'p> {
    pub(crate) fn open(path: &'p Path) -> Result<Self> {
        let file = File::open(path);
        let file = file.map_err(|e| Error::Usage(format!("{}: {e}", path.display()).into()))?;
        Ok(RegionFile {
            lines: BufReader::new(file),
            path,
            line: 0,
        })
    }

    /// Returns the next region. Empty lines, comments and lines for genome browsers are skipped.
    pub(crate) fn next(&mut self, is_name: IsName) -> Result<Option<Region>> {
        loop {
            let mut line = Vec::new();
            if self
                .lines
                .read_until(b'\n', &mut line)
                .map_err(|e| self.failed(e))?
                == 0
            {
                return Ok(None);
            }
            self.line += 1;
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            if let Some(bed) = bed_line(line) {
                let range = &bed.range;
                return match range.start <= range.end {
                    true => Ok(Some(bed)),
                    false => Err(self.said(&"it ends before it starts")),
                };
            }
            if is_of_browser(line) {
                continue;
            }
            if line.contains(&b'\t') {
                return Err(self.said(&"it is not NAME, START and END, separated by tabs"));
            }
            return Region::parse(line, is_name)
                .map(Some)
                .map_err(|e| match e {
                    Error::Usage(what) => self.said(&what),
                    e => e,
                });
        }
    }

    /// Returns the file and line of the last region.
    pub(crate) fn place(&self) -> String {
        format!("{} line {}", self.path.display(), self.line)
    }

    fn failed(&self, e: io::Error) -> Error {
        Error::Io(io::Error::new(
            e.kind(),
            format!("{}: {e}", self.path.display()),
        ))
    }

    fn said(&self, what: &dyn std::fmt::Display) -> Error {
        Error::Usage(format!("{}: {what}", self.place()).into())
    }
}

/// True if a line of BED is for genome browsers.
fn is_of_browser(line: &[u8]) -> bool {
    let word = line
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    word == b"track" || word == b"browser"
}

/// Reads a line of BED: name, start from 0, end that is not included. If the sixth field is `-`,
/// the region is on the other strand.
fn bed_line(line: &[u8]) -> Option<Region> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let [name, start, end, ..] = fields[..] else {
        return None;
    };
    let number = |field: &[u8]| str::from_utf8(field).ok()?.parse::<u64>().ok();
    let start = number(start)?;
    let end = number(end)?;
    let title = [
        name,
        format!(":{}-{end}", start.saturating_add(1)).as_bytes(),
    ]
    .concat();
    let reverse = fields.get(5) == Some(&&b"-"[..]);
    Some(Region {
        title,
        name: name.to_vec(),
        range: start..end,
        reverse,
        from_0: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const NAMES: [&str; 8] = [
        "chr1",
        "HLA:A*01:01",
        "HLA:A*01",
        "c",
        "c:1-3",
        "{b}",
        "a",
        "{a}",
    ];

    fn is_name(name: &[u8]) -> Result<bool> {
        Ok(NAMES.iter().any(|known| known.as_bytes() == name))
    }

    fn parse(text: &str) -> Result<Region> {
        Region::parse(text.as_bytes(), &mut is_name)
    }

    #[test]
    fn regions_are_those_of_samtools() {
        let all = 0..u64::MAX;
        for (text, name, range) in [
            ("chr1", "chr1", all.clone()),
            ("chr1:", "chr1", all.clone()),
            ("chr1:-", "chr1", all.clone()),
            ("chr1:-0", "chr1", all.clone()),
            ("chr1:0", "chr1", all.clone()),
            ("chr1:1-0", "chr1", all.clone()),
            ("chr1:1000-2000", "chr1", 999..2000),
            ("chr1:1,000-2,000", "chr1", 999..2000),
            ("chr1:1,0-1,5", "chr1", 9..15),
            ("chr1:1000", "chr1", 999..u64::MAX),
            ("chr1:1000-", "chr1", 999..u64::MAX),
            ("chr1:-5", "chr1", 0..5),
            ("chr1:-1K", "chr1", 0..1000),
            ("chr1:0-5", "chr1", 0..5),
            ("chr1: 2-5", "chr1", 1..5),
            ("chr1:+2-5", "chr1", 1..5),
            ("chr1:1K-2k", "chr1", 999..2000),
            ("chr1:1M-2G", "chr1", 999_999..2_000_000_000),
            ("chr1:1e3-2E+3", "chr1", 999..2000),
            ("chr1:1.5e1-1.25K", "chr1", 14..1250),
            ("chr1:1-99999999999999999999", "chr1", all.clone()),
            ("{chr1}", "chr1", all.clone()),
            ("{chr1}:", "chr1", all.clone()),
            ("{chr1}:2-5", "chr1", 1..5),
            ("{c:1-3}", "c:1-3", all.clone()),
            ("{c}:1-3", "c", 0..3),
            ("c:1-3:2-3", "c:1-3", 1..3),
            ("{c:1-3}:2-3", "c:1-3", 1..3),
            ("{a}", "a", all.clone()),
            ("{a}:2-3", "a", 1..3),
            ("{{a}}", "{a}", all.clone()),
            ("{b}", "{b}", all.clone()),
            ("{{b}}", "{b}", all.clone()),
            ("{{b}}:2-3", "{b}", 1..3),
            ("{HLA:A*01:01}", "HLA:A*01:01", all.clone()),
            ("HLA:A*01:01:3-4", "HLA:A*01:01", 2..4),
            ("{HLA:A*01}:7", "HLA:A*01", 6..u64::MAX),
            ("absent:5-6", "absent", 4..6),
            ("absent:5-4", "absent", all.clone()),
            ("absent", "absent", all.clone()),
            ("absent:x", "absent:x", all.clone()),
            ("{chr1}x", "{chr1}x", all.clone()),
            ("{chr1", "{chr1", all.clone()),
            ("", "", all.clone()),
        ] {
            let region = parse(text).unwrap();
            assert_eq!(String::from_utf8(region.name).unwrap(), name, "{text}");
            assert_eq!(region.range, range, "{text}");
            assert_eq!(region.from_0, text.contains("chr1:0"), "{text}");
        }
    }

    #[test]
    fn others_are_refused() {
        for (text, said) in [
            ("chr1:x", "is not a region"),
            ("chr1:1-2-3", "is not a region"),
            ("chr1:--3", "is not a region"),
            ("chr1:1.5-3", "is not a region"),
            ("chr1:0x2", "is not a region"),
            ("chr1:1 -2", "is not a region"),
            ("chr1:2..3", "is not a region"),
            ("chr1:20e-1-3", "is not a region"),
            ("chr1:1T", "is not a region"),
            ("{chr1}:y", "is not a region"),
            ("chr1:9-3", "ends before it starts"),
            ("{chr1}:5-4", "ends before it starts"),
            ("HLA:A*01:01:4-3", "ends before it starts"),
            ("c:1-3", "write {c:1-3} or {c}:1-3"),
            ("HLA:A*01:01", "write {HLA:A*01:01} or {HLA:A*01}:01"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    fn read(text: &[u8]) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let mut regions = RegionFile::open(file.path()).unwrap();
        let mut found = Vec::new();
        loop {
            match regions.next(&mut is_name) {
                Ok(None) => return found,
                Ok(Some(region)) => {
                    let title = region.title();
                    let range = region.range;
                    let title = String::from_utf8(title).unwrap();
                    found.push(format!("{title} {}..{}", range.start, range.end));
                }
                Err(e) => found.push(format!("line {}: {e}", regions.line)),
            }
        }
    }

    #[test]
    fn bed_counts_from_0() {
        for (text, wanted) in [
            ("chr1\t999\t2000\n", "chr1:1000-2000 999..2000"),
            ("chr1\t0\t5\tn\t0\t-\r\n\n", "chr1:1-5/rc 0..5"),
            ("chr1\t0\t5\tn\t0\t+\tx", "chr1:1-5 0..5"),
            ("# c\n#chr1\t1\t2\nbrowser x\ntrack\nc\t1\t2", "c:2-2 1..2"),
            (
                "track\t1\t2\ntrack1\t3\t4\n",
                "track:2-2 1..2,track1:4-4 3..4",
            ),
            ("a b\t3\t3\n", "a b:4-3 3..3"),
            ("chr1:2-5\n{c}:1-3\r\n", "chr1:2-5 1..5,{c}:1-3 0..3"),
            (
                "chr1\n\na\t1\t2\n",
                "chr1 0..18446744073709551615,a:2-2 1..2",
            ),
        ] {
            assert_eq!(read(text.as_bytes()).join(","), wanted, "{text:?}");
        }
        for (bad, line, said) in [
            ("chr1\t5\n", 1, "is not NAME, START and END"),
            ("a\nchr1\t5\t4\n", 2, "ends before it starts"),
            ("\nchr1\ta\tb\n", 2, "is not NAME, START and END"),
            ("chr1:1-x\n", 1, "is not a region"),
            ("chr1\t-1\t4\n", 1, "is not NAME, START and END"),
        ] {
            let found = read(bad.as_bytes()).pop().unwrap();
            assert!(found.starts_with(&format!("line {line}: ")), "{found}");
            assert!(found.contains(said), "{found}");
        }
    }
}
