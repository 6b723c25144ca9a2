//! Lines by number and by key, compared with the lines of the text.

use super::*;
use crate::cases;
use crate::options::Options;
use std::io::Cursor;

type MemoryArchive = Archive<Cursor<Vec<u8>>>;

fn file_of(raw: &[u8], options: &Options) -> MemoryArchive {
    let mut file = Vec::new();
    crate::compress(raw, &mut file, options).unwrap();
    Archive::open(Cursor::new(file), options).unwrap()
}

/// Blocks of 1000 bytes, without and with an index.
fn both_ways() -> [Options; 2] {
    let plain = Options::new().with_block_size(1000).unwrap();
    let indexed = plain
        .clone()
        .index(crate::DEFAULT_SAMPLE_RATE)
        .unwrap();
    [plain, indexed]
}

/// The starts of all lines, and the size of the text.
fn starts(text: &[u8]) -> Vec<usize> {
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let mut end = 0;
    let mut starts = vec![0];
    starts.extend(lines.map(|line| {
        end += line.len();
        end
    }));
    starts
}

/// Texts with short lines, long ones, none, and with and without a last line feed.
fn texts() -> Vec<Vec<u8>> {
    let numbered = |count: usize| -> Vec<u8> {
        (0..count)
            .flat_map(|n| format!("line {n}{}\n", "x".repeat(n % 70)).into_bytes())
            .collect()
    };
    let mut cut = numbered(100);
    cut.pop();
    let mut long = numbered(30);
    long.extend([b'a'; 3500]);
    long.extend(numbered(30));
    vec![
        vec![],
        b"\n".to_vec(),
        b"a".to_vec(),
        b"a\nb".to_vec(),
        vec![b'\n'; 2500],
        vec![b'z'; 2500],
        numbered(200),
        cut,
        long,
        cases::random(3000, 256),
    ]
}

#[test]
fn lines_are_those_of_the_text() {
    for text in texts() {
        let starts = starts(&text);
        let count = starts.len() - 1;
        for options in both_ways() {
            let mut archive = file_of(&text, &options);
            let mut lines = archive.lines().unwrap();
            assert_eq!(lines.count().unwrap(), count as u64);
            let numbers = (0..count + 3).step_by(1 + count / 12);
            for from in numbers {
                for len in [0, 1, 7, 1000] {
                    let range = lines
                        .range(from as u64..(from + len) as u64)
                        .unwrap();
                    let expected = starts[from.min(count)]..starts[(from + len).min(count)];
                    let mut found = Vec::new();
                    lines.write(range, &mut found).unwrap();
                    assert_eq!(found, text[expected]);
                }
            }
        }
    }
}

/// A log of messages, some of which have further lines.
fn log() -> String {
    let mut log = String::new();
    for n in 0..500 {
        let minute = n / 3;
        log += &format!(
            "2026-11-28 {:02}:{:02} message {n}\n",
            minute / 60,
            minute % 60
        );
        if n % 7 == 0 {
            log += "  at a line without a time\n\n";
        }
        if n == 250 {
            log += &"y".repeat(3000);
            log += "\n";
        }
    }
    log
}

#[test]
fn lines_between_keys_are_those_of_a_scan() {
    let log = log();
    let key = |line: &str| line.starts_with("2026").then(|| line.to_owned());
    let keys = [
        "",
        "2",
        "2026-11-28 00:00",
        "2026-11-28 00:01",
        "2026-11-28 00:59",
        "2026-11-28 01",
        "2026-11-28 01:23 message 250",
        "2026-11-28 02:46",
        "2026-11-28 02:47",
        "2027",
        "9",
    ];
    for options in both_ways() {
        let mut archive = file_of(log.as_bytes(), &options);
        let mut lines = archive.lines().unwrap();
        for from in keys {
            for to in keys.iter().filter(|to| **to >= from) {
                let mut expected = String::new();
                let mut last = None;
                for line in log.split_inclusive('\n') {
                    // Each line counts if the key has no digits.
                    let in_turn = |bound: &str| match bound.bytes().any(|b| b.is_ascii_digit()) {
                        true => key(line),
                        false => Some(line.to_owned()),
                    };
                    last = in_turn(from).or(last);
                    let is_in = |last: &String| last[..] >= *from && last[..] < **to;
                    if last.as_ref().is_some_and(is_in) {
                        expected += line;
                    }
                }
                let range = lines
                    .between(from.as_bytes(), to.as_bytes())
                    .unwrap();
                let mut found = Vec::new();
                lines.write(range, &mut found).unwrap();
                if from.is_empty() {
                    // All lines up to `to`: the log begins with a line that has a time.
                    expected = log[..log
                        .find(&format!("\n{to}"))
                        .map_or(log.len(), |at| at + 1)]
                        .to_owned();
                    if log.starts_with(to) {
                        expected.clear();
                    }
                    if **to == *"2" {
                        expected.clear();
                    }
                }
                assert_eq!(String::from_utf8(found).unwrap(), expected, "{from} {to}");
            }
        }
        assert!(matches!(lines.between(b"b", b"a"), Err(Error::Usage(_))));
    }
}

#[test]
fn a_key_costs_few_blocks() {
    let options = both_ways()[0].clone();
    let text: String = (0..10_000)
        .map(|n| format!("{n:06} of the log\n"))
        .collect();
    let mut archive = file_of(text.as_bytes(), &options);
    let blocks = archive.blocks().len();
    assert!(blocks > 150, "{blocks}");
    let mut lines = archive.lines().unwrap();
    let range = lines.between(b"004321", b"004322").unwrap();
    let mut found = Vec::new();
    lines.write(range, &mut found).unwrap();
    assert_eq!(found, b"004321 of the log\n");
    // The line at the middle may begin in the block before, and its end may be in the next.
    let steps = 3 * (blocks.ilog2() + 2);
    assert!(lines.cost().blocks <= steps.into(), "{:?}", lines.cost());
}
