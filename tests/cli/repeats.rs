//! The `repeats` command.

use crate::cases;
use crate::safety::undo_nohup;
use crate::support::{Dir, has_all, send, stderr, stdout, temporary, wait_for_temporary};
use std::fs;

/// `a`: noise that contains a stretch of 300 bytes. `b`: contains the stretch at another offset,
/// and twice.
fn files() -> Dir {
    let dir = Dir::new();
    let noise = cases::random(4000, 256);
    let stretch = &noise[500..800];
    dir.write("a", &noise[..2000]);
    dir.write(
        "b",
        &[&noise[3000..3100], stretch, &noise[3100..3200], stretch].concat(),
    );
    dir
}

#[test]
fn ranges_are_lines_and_statistics_are_beside() {
    let dir = files();
    let run = dir.bwz("repeats a b").assert().code(0);
    let run = run.stdout("b\t100\t400\nb\t500\t800\n");
    let said = [
        "600 of 2800 bytes are repeated (21.43 %), in 2 ranges",
        "the longest range: 300 bytes, b at byte 100",
        "the most copies: 2 copies of 100 bytes, a at byte 500",
    ];
    has_all(&stderr(run), &said);
    dir.bwz("repeats -q -n 301 a b")
        .assert()
        .code(1)
        .stdout("")
        .stderr("");
    dir.bwz("repeats -q b a")
        .assert()
        .code(0)
        .stdout("b\t500\t800\na\t500\t800\n");
}

#[test]
fn compressed_files_and_standard_input_are_searched_as_raw_ones() {
    let dir = files();
    dir.bwz("a b").assert().success();
    let lines = "b.bwz\t100\t400\nb.bwz\t500\t800\n";
    dir.bwz("repeats -q a.bwz b.bwz")
        .assert()
        .code(0)
        .stdout(lines);
    let run = dir
        .bwz("repeats -q a -")
        .write_stdin(dir.read("b"))
        .assert()
        .code(0);
    assert_eq!(stdout(run), lines.replace("b.bwz", "(stdin)"));
    let run = dir
        .sh("bwz repeats -q a.bwz <(cat b.bwz) - < b")
        .assert()
        .code(0);
    assert_eq!(stdout(run).lines().count(), 3);
}

#[test]
fn across_finds_what_occurs_in_one_file() {
    let dir = files();
    dir.write("c", &dir.read("b")[350..]);
    dir.bwz("repeats -q --across a b c")
        .assert()
        .code(0)
        .stdout("b\t100\t400\nb\t500\t800\nc\t150\t450\n");
    dir.bwz("repeats -q --across c a")
        .assert()
        .code(0)
        .stdout("a\t500\t800\n");
    dir.bwz("repeats -q --across a a")
        .assert()
        .code(0)
        .stdout("a\t0\t2000\n");
}

#[test]
fn json_is_for_programs() {
    let dir = files();
    let run = dir.bwz("repeats -q --json a b").assert().code(0);
    let found: serde_json::Value = serde_json::from_str(&stdout(run)).unwrap();
    assert_eq!(found["repeated"], 600);
    assert_eq!(
        found["files"][1]["ranges"],
        serde_json::json!([[100, 400], [500, 800]])
    );
    assert_eq!(found["most_frequent"]["copies"], 2);
    assert!(found["files"][0]["removed"].is_null());
}

#[test]
fn files_are_written_without_later_copies() {
    let dir = files();
    dir.bwz("b").assert().success();
    dir.bwz("repeats -q -o out a b.bwz")
        .assert()
        .code(0)
        .stdout("");
    let b = dir.read("b");
    assert_eq!(dir.read("out/a"), dir.read("a"));
    assert_eq!(dir.read("out/b"), [&b[..100], &b[400..500]].concat());
    dir.bwz("repeats -q -o out a b.bwz")
        .assert()
        .code(2);
    dir.bwz("repeats -q -f -o out a b.bwz")
        .assert()
        .code(0);
    let run = dir.bwz("repeats -o new b b.bwz").assert().code(2);
    has_all(&stderr(run), &["two files would be written as new/b"]);
    dir.bwz("repeats -q -o new --across a b")
        .assert()
        .code(0);
    assert!(!dir.has("new/a") && dir.read("new/b").len() == 200);
    // The first hundred bytes are repeated by the others.
    dir.write("run", &[b'-'; 5000]);
    dir.bwz("repeats -q -o new run").assert().code(0);
    assert_eq!(dir.read("new/run"), [b'-'; 100]);
}

#[test]
fn whole_lines_go_or_stay() {
    let dir = Dir::new();
    let text = "first line of it\nsecond line of it\nthird line of it\n";
    dir.write("a", text.as_bytes());
    let moved = format!("no {text}first line of it\nlast second line of it");
    dir.write("b", moved.as_bytes());
    dir.bwz("repeats -q -n 10 --lines -o out a b")
        .assert()
        .code(0);
    assert_eq!(dir.read("out/a"), text.as_bytes());
    let left = "no first line of it\nlast second line of it";
    assert_eq!(String::from_utf8(dir.read("out/b")).unwrap(), left);
    dir.bwz("repeats --lines a").assert().code(2);
}

#[test]
fn tokens_are_aligned() {
    let dir = Dir::new();
    let noise = cases::random(1000, 256);
    dir.write("a", &noise);
    dir.write("even", &[&[0; 8], &noise[400..700]].concat());
    dir.write("odd", &[&[0; 9], &noise[400..700]].concat());
    dir.bwz("repeats -q --tokens u16 -n 50 a even odd")
        .assert()
        .code(0)
        .stdout("even\t8\t308\n");
    dir.bwz("repeats -q --tokens u32 -n 75 a even odd")
        .assert()
        .code(0)
        .stdout("even\t8\t308\n");
    dir.bwz("repeats -q --tokens u32 -n 76 a even odd")
        .assert()
        .code(1);
}

#[test]
fn little_memory_finds_the_same() {
    let dir = Dir::new();
    let noise = cases::random(24 << 20, 256);
    dir.write("a", &noise[..20 << 20]);
    dir.write("b", &noise[5 << 20..]);
    let lines = "b\t0\t15728640\n";
    dir.bwz("repeats -q a b")
        .assert()
        .code(0)
        .stdout(lines);
    let run = dir
        .bwz("repeats -v -T1 -M 30M a b")
        .assert()
        .code(0)
        .stdout(lines);
    has_all(&stderr(run), &["read in "]);
    let run = dir.bwz("repeats -T1 -M 3M a b").assert().code(2);
    has_all(&stderr(run), &["16 MiB of memory"]);
}

#[test]
fn trouble_is_2() {
    let dir = files();
    for arguments in [
        "absent a",
        "a absent",
        "--min-length 0 a",
        "",
        "--tokens u8 a",
        ".",
    ] {
        dir.bwz(&format!("repeats {arguments}"))
            .assert()
            .code(2)
            .stdout("");
    }
    let mut file = dir.read("a");
    dir.bwz("a").assert().success();
    file = dir
        .read("a.bwz")
        .into_iter()
        .take(file.len() / 2)
        .collect();
    dir.write("cut.bwz", &file);
    dir.bwz("repeats cut.bwz").assert().code(2);
    dir.bwz("repeats --help").assert().code(0);
}

#[test]
fn files_of_all_kinds_are_searched() {
    let dir = files();
    dir.write("empty", b"");
    dir.bwz("repeats -q empty empty")
        .assert()
        .code(1)
        .stdout("");
    dir.bwz("repeats -q --tokens u32 empty a")
        .assert()
        .code(1)
        .stdout("");
    // A file given again is a copy of itself. So is a pipe of it.
    dir.bwz("repeats -q a empty a")
        .assert()
        .code(0)
        .stdout("a\t0\t2000\n");
    dir.bwz("repeats -q --across a a")
        .assert()
        .code(0)
        .stdout("a\t0\t2000\n");
    dir.sh("mkfifo fifo; cat a > fifo & bwz repeats -q a fifo")
        .assert()
        .stdout("fifo\t0\t2000\n");
    dir.bwz("repeats -q a /dev/null")
        .assert()
        .code(1)
        .stdout("");
    // Two outputs with the same name would overwrite each other.
    let run = dir.bwz("repeats -q -o out a a").assert().code(2);
    has_all(&stderr(run), &["two files would be written as out/a"]);
}

/// Raw and compressed files. Parts hold several of them and end in the middle of others.
#[test]
fn many_files_are_searched_in_parts() {
    const SIZE: usize = 1 << 20;
    let dir = Dir::new();
    let noise = cases::random(8 * SIZE, 256);
    let mut all = Vec::new();
    for (n, part) in noise.chunks(SIZE).enumerate() {
        dir.write(&format!("f{n}"), part);
        all.extend_from_slice(part);
        all.extend_from_slice(b"between");
    }
    dir.write("all", &all);
    dir.bwz("-1 f1 f4 f6 all").assert().success();
    let files = "f0 f1.bwz f2 f3 f4.bwz f5 f6.bwz f7 all.bwz";
    let range = |n| format!("all.bwz\t{}\t{}\n", n * (SIZE + 7), n * (SIZE + 7) + SIZE);
    let expected: String = (0..8).map(range).collect();
    dir.bwz(&format!("repeats -q {files}"))
        .assert()
        .code(0)
        .stdout(expected.clone());
    let run = dir
        .bwz(&format!("repeats -v -M 48M -T1 {files}"))
        .assert()
        .code(0)
        .stdout(expected);
    has_all(&stderr(run), &["read in "]);
}

#[test]
fn an_interrupt_leaves_no_file() {
    undo_nohup();
    let dir = Dir::new();
    fs::create_dir(dir.path("in")).unwrap();
    dir.write("in/a", &cases::random(30 << 20, 256));
    let mut run = dir.process(crate::support::BWZ);
    let mut child = run
        .args(["repeats", "-q", "-o", ".", "in/a"])
        .spawn()
        .unwrap();
    wait_for_temporary(&dir, child.id());
    send("-INT", child.id());
    let status = child.wait().unwrap();
    // The command may have ended before the signal; code 1 means that nothing was found.
    assert!(if dir.has("a") {
        status.code() == Some(1)
    } else {
        status.code().is_none()
    });
    assert!(temporary(&dir, child.id()).is_none());
}

/// Two files with a common stretch. The characters next to it begin and end alike in both.
fn with_common(stretch: &str) -> Dir {
    let dir = Dir::new();
    dir.write("u1", format!("A{stretch}\u{4e01}\n").as_bytes());
    dir.write("u2", format!("B{stretch}\u{4e03}\n").as_bytes());
    dir
}

#[test]
fn characters_are_not_cut() {
    let stretches = [
        "\u{91cd}\u{590d}\u{7684}\u{4e00}\u{6bb5}\u{6587}\u{5b57}".repeat(4),
        "\u{e9}\u{fc}\u{f1}\u{df}".repeat(10),
        "\u{1f600}\u{1f680}\u{1f9ec}".repeat(6),
        "e\u{301}a\u{308}o\u{302}".repeat(8),
        "plain words\r\n".repeat(6),
        "mixed \u{e9} \u{91cd} \u{1f600}".repeat(5),
    ];
    for stretch in stretches {
        let dir = with_common(&stretch);
        dir.bwz("repeats -q -n 50 -o out u1 u2")
            .assert()
            .code(0);
        let left = String::from_utf8(dir.read("out/u2")).expect("it is still UTF-8");
        assert!(
            left.starts_with('B') && left.ends_with("\u{4e03}\n"),
            "{left}"
        );
        let run = dir.bwz("repeats -q -n 50 u1 u2").assert().code(0);
        let last = format!("u2\t1\t{}\n", 1 + stretch.len());
        assert!(stdout(run).ends_with(&last), "{stretch}");
        // The characters behind the stretch begin with the same bytes.
        let run = dir
            .bwz("repeats -q --no-utf8 -n 50 u1 u2")
            .assert()
            .code(0);
        let last = format!("u2\t1\t{}\n", 1 + stretch.len() + 2);
        assert!(stdout(run).ends_with(&last), "{stretch}");
    }
}

#[test]
fn what_is_not_utf8_is_cut_between_bytes() {
    let dir = with_common(&"\u{91cd}".repeat(20));
    let mut bytes = dir.read("u2");
    bytes.push(0xFF);
    dir.write("u2", &bytes);
    let lines = "u1\t4\t61\nu2\t1\t63\n";
    dir.bwz("repeats -n 50 -q u1 u2")
        .assert()
        .code(0)
        .stdout(lines);
    let run = dir
        .bwz("repeats --utf8 -n 50 u1 u2")
        .assert()
        .code(0)
        .stdout(lines);
    has_all(&stderr(run), &["u2: is not valid UTF-8 at byte 65"]);
    let run = dir
        .bwz("repeats --utf8 -n 50 -q u1 u1")
        .assert()
        .code(0);
    assert!(stderr(run).is_empty());
    dir.bwz("repeats --utf8 --no-utf8 u1 u2")
        .assert()
        .code(2);
    dir.bwz("repeats --utf8 --tokens u16 u1 u2")
        .assert()
        .code(2);
}

#[test]
fn ranges_of_no_whole_character_are_none() {
    let dir = Dir::new();
    // The files share the last two bytes of one character and the first two of the next.
    dir.write("a", "\u{10400}\u{10480}".as_bytes());
    dir.write("b", "\u{20400}\u{104c0}".as_bytes());
    dir.bwz("repeats -q --no-utf8 -n 4 a b")
        .assert()
        .code(0)
        .stdout("b\t2\t6\n");
    dir.bwz("repeats -q -n 4 a b")
        .assert()
        .code(1)
        .stdout("");
    dir.bwz("repeats -q -n 4 -o out a b")
        .assert()
        .code(1);
    assert_eq!(dir.read("out/b"), dir.read("b"));
}

#[test]
fn whole_records_go_or_stay() {
    let dir = Dir::new();
    let bases = |n: usize| {
        let noise = cases::random(n * 1000 + 300, 4);
        noise[n * 1000..]
            .iter()
            .map(|&b| char::from(b"ACGT"[usize::from(b)]))
            .collect::<String>()
    };
    let record =
        |name: &str, n: usize| format!(">{name}\n{}\n{}\n", &bases(n)[..60], &bases(n)[60..]);
    let all = |records: &[(&str, usize)]| {
        records
            .iter()
            .map(|(name, n)| record(name, *n))
            .collect::<String>()
    };
    let write = |name: &str, records: &[(&str, usize)]| {
        dir.write(name, all(records).as_bytes());
    };
    write("a.fa", &[("one", 1), ("two", 2), ("three", 3)]);
    write("b.fa", &[("four", 4), ("two", 2), ("other", 3), ("one", 1)]);
    dir.bwz("repeats -q -n 100 --records -o out a.fa b.fa")
        .assert()
        .code(0);
    // The record with another name stays. Without `--records` its bases would be cut out.
    assert_eq!(dir.read("out/a.fa"), dir.read("a.fa"));
    assert_eq!(
        dir.read("out/b.fa"),
        all(&[("four", 4), ("other", 3)]).as_bytes()
    );
    let run = dir
        .bwz("repeats -n 100 -o cut a.fa b.fa")
        .assert()
        .code(0);
    has_all(
        &stderr(run),
        &["b.fa: parts of records are cut out", "--records"],
    );
    // The only record of a file, which is then empty.
    write("c.fa", &[("two", 2)]);
    dir.bwz("repeats -q -n 100 --records -f -o out a.fa c.fa")
        .assert()
        .code(0);
    assert_eq!(dir.read("out/c.fa"), b"");
    let run = dir
        .bwz("repeats -n 100 -f -o cut a.fa c.fa")
        .assert()
        .code(0);
    assert!(!stderr(run).contains("parts of records"));
    // FASTQ files, one of them wrapped, with CRLF.
    let read = |name: &str, n: usize| {
        let bases = &bases(n);
        let end = if n == 3 { "\r\n" } else { "\n" };
        let wrap = if n == 2 { "\n" } else { "" };
        let (one, two) = bases.split_at(100);
        let lines = [
            format!("@{name}"),
            format!("{one}{wrap}{two}"),
            "+".to_owned(),
        ];
        let quality = format!("@{}{wrap}{}", &one[1..].to_lowercase(), two.to_lowercase());
        format!("{}{end}{quality}{end}", lines.join(end))
    };
    dir.write(
        "a.fq",
        [read("r1", 1), read("r2", 2), read("r3", 3)]
            .concat()
            .as_bytes(),
    );
    let reads = [read("r2", 2), read("r5", 5), read("r3", 3), read("r6", 6)].concat();
    dir.write("b.fq", reads.as_bytes());
    dir.bwz("repeats -q -n 100 --records -f -o out a.fq b.fq")
        .assert()
        .code(0);
    assert_eq!(
        dir.read("out/b.fq"),
        [read("r5", 5), read("r6", 6)].concat().as_bytes()
    );
    dir.write("text", &dir.read("a.fa")[1..]);
    let run = dir
        .bwz("repeats -q --records -f -o out a.fa text")
        .assert()
        .code(2);
    has_all(
        &stderr(run),
        &["text", "does not begin like FASTA or FASTQ"],
    );
    dir.bwz("repeats --records a.fa b.fa")
        .assert()
        .code(2);
    dir.bwz("repeats --records --lines -o out a.fa b.fa")
        .assert()
        .code(2);
}

#[test]
fn more_files_than_may_be_open() {
    let dir = Dir::new();
    let noise = cases::random(200 * 40, 256);
    let mut names = Vec::new();
    for (n, part) in noise.chunks(40).enumerate() {
        // The bytes next to the copy differ in each file.
        let own = [n as u8; 3];
        let text = [part, &own, &noise[..200], &own].concat();
        dir.write(&format!("in/{n}"), &text);
        names.push(format!("in/{n}"));
    }
    let run = format!("ulimit -n 64; bwz repeats -q -o out {}", names.join(" "));
    dir.sh(&run).assert().code(0).stderr("");
    for n in 1..200 {
        let left = [&noise[n * 40..][..40], &[n as u8; 6]].concat();
        assert_eq!(dir.read(&format!("out/{n}")), left, "{n}");
    }
    assert_eq!(dir.read("out/0").len(), 246);
}

/// More than a few parts take much longer than one part.
#[test]
fn many_parts_warn_with_what_would_do() {
    let dir = Dir::with(&cases::random(8_000_000, 256));
    let said = |memory: &str| {
        stderr(
            dir.bwz(&format!("repeats -T2 x {memory}"))
                .assert()
                .code(1),
        )
    };
    let in_parts = said("-M 20M");
    has_all(
        &in_parts,
        &[
            "x: 8000000 bytes are searched in 5 parts",
            "--memory 35M (-M)",
        ],
    );
    assert!(!said("-M 35M").contains("parts"));
    let run = dir.bwz("repeats -T2 x -M 14M").assert().code(2);
    has_all(
        &stderr(run),
        &[
            "needs 17 MiB of memory, 14 MiB allowed",
            "--memory 17M (-M)",
        ],
    );
}
