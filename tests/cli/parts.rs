//! Parts of files: head, tail, ranges of lines, lines between two keys.

use crate::support::{Dir, has_all, stderr};

/// Lines of different lengths, the last one without an end.
fn lines(count: usize) -> String {
    let lines: Vec<String> = (1..=count)
        .map(|n| format!("{n:05} {}", "word ".repeat(n % 9)))
        .collect();
    lines.join("\n")
}

/// Writes `text` as `x`, as `x.bwz` with many blocks, and as `i.bwz` with an index.
fn dir_with(text: &str) -> Dir {
    let dir = Dir::with(text.as_bytes());
    dir.bwz("-f --block 64K x").assert().success();
    dir.bwz("-f --block 64K --index -o i.bwz x")
        .assert()
        .success();
    dir
}

#[test]
fn head_and_tail_write_the_same_as_those_of_the_system() {
    let texts = [
        lines(9000),
        lines(9000) + "\n",
        lines(3),
        "\n\n".into(),
        String::new(),
    ];
    for text in texts {
        let dir = dir_with(&text);
        for end in [
            "head",
            "head -n 5",
            "head -3",
            "head -n 8000",
            "head -n -7",
            "head -n 0",
            "head -c 70",
            "head -c -70",
            "head -c 100K",
            "tail",
            "tail -n 5",
            "tail -3",
            "tail -n 8000",
            "tail -n +7",
            "tail -n +8999",
            "tail -n 0",
            "tail -c 70",
            "tail -c +70",
            "tail -c 70K",
        ] {
            let expected = dir.sh(&format!("{end} x")).assert().success();
            for file in ["x.bwz", "i.bwz"] {
                let found = dir
                    .bwz(&format!("{end} {file}"))
                    .assert()
                    .success();
                let is_equal = found.get_output().stdout == expected.get_output().stdout;
                assert!(is_equal, "{end} {file}, {} bytes", text.len());
            }
        }
    }
}

#[test]
fn several_files_have_titles() {
    let dir = dir_with("one\ntwo\n");
    dir.bwz("head -n 1 x.bwz i.bwz")
        .assert()
        .success()
        .stdout("==> x.bwz <==\none\n\n==> i.bwz <==\none\n");
    dir.bwz("tail -q -n 1 x.bwz i.bwz")
        .assert()
        .success()
        .stdout("two\ntwo\n");
    let said = stderr(
        dir.bwz("tail -n 1 none.bwz x.bwz")
            .assert()
            .code(1)
            .stdout("==> x.bwz <==\ntwo\n"),
    );
    has_all(&said, &["none.bwz"]);
}

#[test]
fn ranges_of_lines_are_counted_from_1() {
    let text = lines(9000);
    let dir = dir_with(&text);
    let part = |from: usize, to: usize| -> String {
        text.split_inclusive('\n')
            .skip(from - 1)
            .take(to - from)
            .collect()
    };
    for (asked, from, to) in [
        ("--lines 1..4", 1, 4),
        ("--lines 5000..5100", 5000, 5100),
        ("--lines 5000+100", 5000, 5100),
        ("--lines 7777", 7777, 7778),
        ("--lines -10..", 8991, 9001),
        ("--lines=-10..-5", 8991, 8996),
        ("--lines ..3", 1, 3),
        ("--lines 8999..9001", 8999, 9001),
        ("--clamp --lines 8999..9005", 8999, 9001),
        ("--clamp --lines -100000..2", 1, 2),
    ] {
        for file in ["x.bwz", "i.bwz"] {
            dir.bwz(&format!("cat {asked} {file}"))
                .assert()
                .success()
                .stdout(part(from, to));
        }
    }
    dir.bwz("cat --lines 5..6 --lines 2 x.bwz")
        .assert()
        .success()
        .stdout(part(5, 6) + &part(2, 3));
    for beyond in ["8999..9002", "9001", "-9001.."] {
        let said = stderr(
            dir.bwz(&format!("cat --lines {beyond} x.bwz"))
                .assert()
                .code(1)
                .stdout(""),
        );
        has_all(&said, &["x.bwz", "9000 lines", "--clamp"]);
    }
    dir.bwz("cat --lines 0..3 x.bwz").assert().code(1);
    dir.bwz("cat --lines 1..3 --range 1..3 x.bwz")
        .assert()
        .code(1);
}

#[test]
fn ranges_are_counted_from_the_end_too() {
    let text = lines(9000);
    let size = text.len();
    let dir = dir_with(&text);
    for command in ["cat", "extract"] {
        dir.bwz(&format!("{command} -r -20..-5 i.bwz"))
            .assert()
            .success()
            .stdout(text[size - 20..size - 5].to_owned());
        dir.bwz(&format!("{command} --clamp -r -9M..10 i.bwz"))
            .assert()
            .success()
            .stdout(text[..10].to_owned());
        dir.bwz(&format!("{command} -r -9M..10 i.bwz"))
            .assert()
            .code(1)
            .stdout("");
    }
}

#[test]
fn a_time_range_costs_few_blocks() {
    let log: String = (0..86_400)
        .map(|s| {
            let hours = s / 3600;
            let minutes = s / 60 % 60;
            let seconds = s % 60;
            format!(
                "2026-11-28 {hours:02}:{minutes:02}:{seconds:02} GET /page/{}\n",
                s * 7919 % 97
            )
        })
        .collect();
    let dir = dir_with(&log);
    let expected: String = log
        .split_inclusive('\n')
        .filter(|line| ("2026-11-28 13:10".."2026-11-28 13:20").contains(&&line[..16]))
        .collect();
    assert_eq!(expected.lines().count(), 600);
    for file in ["x.bwz", "i.bwz"] {
        let assert = dir
            .bwz("cat -v --between")
            .args(["2026-11-28 13:10", "2026-11-28 13:20", file])
            .assert()
            .success()
            .stdout(expected.clone());
        let said = stderr(assert);
        let decoded: usize = said
            .split_once(&format!("{file}: "))
            .and_then(|(_, rest)| rest.split_once(" block")?.0.parse().ok())
            .unwrap();
        assert!(decoded < 25, "{said}");
    }
    let said = stderr(
        dir.bwz("cat --between")
            .args(["b", "a", "x.bwz"])
            .assert()
            .code(1),
    );
    has_all(&said, &["x.bwz", "sorts before"]);
}

#[test]
fn ends_of_pipes_are_refused_with_advice() {
    let dir = dir_with("text\n");
    let said = stderr(
        dir.sh(&format!("cat x.bwz | '{}' tail", crate::support::BWZ))
            .assert()
            .code(1),
    );
    has_all(&said, &["pipe", "by position"]);
    dir.sh(&format!("'{}' tail < x.bwz", crate::support::BWZ))
        .assert()
        .success()
        .stdout("text\n");
}
