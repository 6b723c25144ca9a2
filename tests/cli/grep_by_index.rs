//! The command grep: searches by an index find what a search line by line finds.

use crate::grep::{Random, grep, in_all_forms, lines};
use crate::support::{has_all, stderr, stdout};

/// True if a pattern of letters, dots, ^ and $ matches a line.
fn naive_match(pattern: &str, line: &[u8]) -> bool {
    pattern.split('|').any(|pattern| {
        let begins = pattern.starts_with('^');
        let ends = pattern.ends_with('$');
        let body = pattern
            .trim_start_matches('^')
            .trim_end_matches('$')
            .as_bytes();
        let fits = |at: usize| {
            at + body.len() <= line.len()
                && (at == 0 || !begins)
                && (at + body.len() == line.len() || !ends)
                && body
                    .iter()
                    .zip(&line[at..])
                    .all(|(&wanted, &byte)| wanted == b'.' || wanted == byte)
        };
        (0..=line.len()).any(fits)
    })
}

/// The blocks are of 1 MiB, and the patterns so rare that an index is used.
#[test]
fn random_patterns_find_what_a_naive_search_finds() {
    let mut random = Random(99);
    let mut text = Vec::new();
    while text.len() < 2_500_000 {
        for _ in 0..random.below(120) {
            text.push(b"abcdefgh"[random.below(8)]);
        }
        text.push(b'\n');
    }
    // Matches across the boundary of two blocks.
    for boundary in [1 << 20, 2 << 20] {
        text[boundary - 4..boundary + 4].copy_from_slice(b"hgfedcba");
    }
    let dir = in_all_forms(&[("x", text.clone())]);
    let all: Vec<&[u8]> = text
        .split_inclusive(|&byte| byte == b'\n')
        .collect();
    let mut patterns = vec!["hgfedcba".to_owned(), "h.fedc.a|abababab$".to_owned()];
    while patterns.len() < 40 {
        let literal = |random: &mut Random| -> String {
            let length = 1 + random.below(9);
            (0..length)
                .map(|_| char::from(b"abcdefgh.abcdefgh"[random.below(17)]))
                .collect()
        };
        let mut pattern = literal(&mut random);
        match random.below(6) {
            0 => pattern.insert(0, '^'),
            1 => pattern.push('$'),
            2 => pattern = format!("{pattern}|{}", literal(&mut random)),
            _ => {}
        }
        patterns.push(pattern);
    }
    for (n, pattern) in patterns.iter().enumerate() {
        let mut wanted = Vec::new();
        let mut offset = 0;
        for line in &all {
            if naive_match(pattern, &line[..line.len() - 1]) {
                wanted.extend_from_slice(format!("{offset}:").as_bytes());
                wanted.extend_from_slice(line);
            }
            offset += line.len();
        }
        let files: &[&str] = if n % 4 == 0 {
            &["x", "x.bwz", "x.i.bwz"]
        } else {
            &["x.i.bwz"]
        };
        for file in files {
            let found = grep(&dir, "bwz", &["-b", pattern, file]).stdout;
            assert!(found == wanted, "{pattern} in {file}");
        }
    }
}

/// Lines that begin or end with a string are counted by the index, without any line. So are lines
/// that are one.
#[test]
fn lines_are_counted_by_the_index_as_a_naive_search_counts_them() {
    let mut random = Random(7);
    let mut text = b"abc\n".to_vec();
    while text.len() < 1_200_000 {
        for _ in 0..random.below(40) {
            text.push(b"abcdefgh"[random.below(8)]);
        }
        text.push(b'\n');
    }
    // Lines that begin, end or are whole at the boundary of two blocks.
    for (boundary, around) in [
        (1 << 16, b"\nabc\n"),
        (2 << 16, b"abc\na"),
        (3 << 16, b"c\nabc"),
        (1 << 20, b"\nabc\n"),
    ] {
        text[boundary - 2..boundary + 3].copy_from_slice(around);
    }
    text.extend_from_slice(b"\nabc");
    let dir = in_all_forms(&[("x", text.clone())]);
    dir.bwz("--block 64K --index=bytes --sample-rate 32 -o x.s.bwz x")
        .assert()
        .success();
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    for pattern in [
        "^abc",
        "abc$",
        "^abc$",
        "^a|^ab|^hgf",
        "cba$|ba$",
        "^(abc|bc[de])$",
        "^nowhere$",
    ] {
        let matching = |line: &&&[u8]| match pattern {
            "^(abc|bc[de])$" => naive_match("^abc$|^bcd$|^bce$", line),
            pattern => naive_match(pattern, line),
        };
        let count = lines.iter().filter(matching).count();
        for (flags, wanted) in [
            ("-c", count),
            ("--count-matches", count),
            ("-c -m5", count.min(5)),
        ] {
            for file in ["x", "x.bwz", "x.i.bwz", "x.s.bwz"] {
                let mut arguments: Vec<&str> = flags.split(' ').collect();
                arguments.extend(["--verbose", pattern, file]);
                let found = grep(&dir, "bwz", &arguments);
                let said = String::from_utf8_lossy(&found.stderr).into_owned();
                let printed = String::from_utf8_lossy(&found.stdout).into_owned();
                assert_eq!(printed, format!("{wanted}\n"), "{arguments:?}");
                if file.len() > "x.bwz".len() {
                    assert!(
                        said.contains("by its index") && !said.contains("then scanned"),
                        "{arguments:?}: {said}"
                    );
                }
            }
        }
    }
    let whole_lines = grep(&dir, "bwz", &["-xc", "-e", "abc", "-e", "bcd", "x.i.bwz"]);
    let scanned = grep(&dir, "bwz", &["-xc", "-e", "abc", "-e", "bcd", "x"]);
    assert_eq!(whole_lines.stdout, scanned.stdout);
}

/// Literals that no line can hold, and literals that an expression has twice.
#[test]
fn counts_of_an_index_are_not_taken_for_matches() {
    let dir = in_all_forms(&[("x", b"abc one\r\nabc two\r\n".repeat(200))]);
    for (flags, pattern) in [
        ("-c", r"[\nx]"),
        ("-c --count-matches", r"[\nx]"),
        ("-l --crlf", r"[\rx]"),
        ("-c --crlf", "two$"),
        ("-c --crlf -x", "abc two"),
        ("-c -x", "abc two"),
        ("-l -z", r"\x00"),
        ("-c -z", "^abc"),
        ("-c -z -x", "abc"),
        ("--count-matches", "(a|ab)(bc|c)"),
        ("-L -m0", "abc"),
        ("-c -i", "^ABC"),
        ("-c -w", "^ab"),
        ("-c -S", "^ABC"),
    ] {
        let run = |file: &str| {
            let mut arguments: Vec<&str> = flags.split(' ').collect();
            arguments.extend(["-h", pattern, file]);
            let found = grep(&dir, "bwz", &arguments);
            let text = String::from_utf8_lossy(&found.stdout).into_owned();
            (text.replace(".i.bwz", ""), found.status.code())
        };
        assert_eq!(run("x.i.bwz"), run("x"), "{flags} {pattern}");
    }
}

#[test]
fn an_index_saves_reading_the_file() {
    let mut text = lines(150_000);
    let at = text.len() / 2;
    text.splice(at..at, *b"\nthe needle is here\n");
    let dir = in_all_forms(&[("x", text)]);
    let run = dir
        .bwz("grep --verbose needle x.i.bwz")
        .assert()
        .code(0);
    assert_eq!(stdout(run), "the needle is here\n");
    let run = dir
        .bwz("grep --verbose needle x.i.bwz")
        .assert()
        .code(0);
    has_all(&stderr(run), &["by its index", " 0 blocks decoded"]);
    // One block is decoded for the number of the line.
    let numbered = dir
        .bwz("grep -n --verbose needle x.i.bwz")
        .assert()
        .code(0);
    has_all(&stderr(numbered), &["1 block decoded"]);
    let run = dir
        .bwz("grep --verbose --no-index needle x.i.bwz")
        .assert()
        .code(0);
    assert!(!stderr(run).contains("by its index"));
    for flags in [
        "-q",
        "-l",
        "--count-matches",
        "-c -i",
        "-w -c",
        "-o -i",
        "--verify -c",
    ] {
        let by_index = dir
            .bwz(&format!("grep {flags} NEEDLE|needle x.i.bwz"))
            .assert()
            .code(0);
        let scanned = dir
            .bwz(&format!("grep {flags} --no-index NEEDLE|needle x.i.bwz"))
            .assert()
            .code(0);
        assert_eq!(stdout(by_index), stdout(scanned), "{flags}");
    }
}
