//! The kind of index is always reported: by `-v`, `-l`, warnings and refusals.

use crate::support::{Dir, has_all, is_there, noise, stderr, stdout, text};

fn bases(len: usize) -> String {
    noise(len)
        .iter()
        .map(|byte| char::from(b"ACGT"[usize::from(byte & 3)]))
        .collect()
}

/// FASTA of one record in lines of 60.
fn fasta(len: usize) -> Vec<u8> {
    let mut file = b">c\n".to_vec();
    for line in bases(len).as_bytes().chunks(60) {
        file.extend(line);
        file.push(b'\n');
    }
    file
}

#[test]
fn it_is_said_what_an_index_is_of() {
    let dir = Dir::new();
    let cases: [(&str, Vec<u8>, &str, &str, &str); 9] = [
        (
            "fasta",
            fasta(30_000),
            "--index",
            "index of sequences in 1 block",
            "sequences",
        ),
        (
            "bytes",
            fasta(30_000),
            "--index=bytes",
            "index of bytes in 1 block",
            "bytes",
        ),
        (
            "log",
            text(30_000),
            "--index",
            "index of bytes in 1 block",
            "bytes",
        ),
        ("plain", text(30_000), "-1", "no index", "none"),
        ("empty", vec![], "--index", "no index", "none"),
        (
            "one",
            b"x".to_vec(),
            "--index",
            "1 block stored uncompressed",
            "none",
        ),
        (
            "noise",
            noise(30_000),
            "--index",
            "1 block stored uncompressed",
            "none",
        ),
        (
            "blocks",
            text(300_000),
            "--index --block 64K",
            "index of bytes in 5 blocks",
            "bytes",
        ),
        (
            "zeros",
            vec![0; 200_000],
            "--index --block 64K",
            "index of bytes in 4 blocks",
            "bytes",
        ),
    ];
    for (name, content, options, says, of) in cases {
        dir.write(name, &content);
        let said = stderr(
            dir.bwz(&format!("-v {options} {name}"))
                .assert()
                .success(),
        );
        has_all(&said, &[says]);
        assert_eq!(
            said.contains(" % of the compressed file"),
            says.starts_with("index"),
            "{name}: {said}"
        );
        has_all(
            &stdout(
                dir.bwz(&format!("-lv {name}.bwz"))
                    .assert()
                    .success(),
            ),
            &[says],
        );
        let json = stdout(
            dir.bwz(&format!("-l --json {name}.bwz"))
                .assert()
                .success(),
        );
        has_all(
            &json.replace(char::is_whitespace, ""),
            &[&format!("\"index\":{{\"of\":\"{of}\"")],
        );
        let searched = dir.bwz(&format!("count A {name}.bwz")).assert();
        let said = stderr(searched);
        assert_eq!(
            said.contains("has no index"),
            name == "plain",
            "{name}: {said}"
        );
    }
}

#[test]
fn frames_of_several_kinds_are_told_apart() {
    let dir = Dir::with(&text(30_000));
    dir.write("fa", &fasta(30_000));
    let script = "bwz --index -c x > a; bwz -c x > b; bwz --index -c fa > c; head -c 999 x | bwz --index -c > d; \
                  cat a b c > m.bwz; cat a c > n.bwz; cat a d > o.bwz";
    dir.sh(script).assert().success();
    let listed = stdout(dir.bwz("-lv m.bwz").assert().success());
    has_all(
        &listed,
        &[
            "mixed",
            "index of sequences in 1 of 3 blocks, index of bytes in 1 of 3 blocks",
        ],
    );
    let said = stderr(dir.bwz("count A m.bwz").assert().success());
    has_all(&said, &["1 of 3 blocks have no index"]);
    for file in ["n.bwz", "o.bwz"] {
        let said = stderr(dir.bwz(&format!("count A {file}")).assert());
        assert!(!said.contains("no index"), "{file}: {said}");
    }
}

#[test]
fn what_begins_like_sequences_and_is_none_is_said() {
    let dir = Dir::new();
    let long = |line: &str| line.repeat(50);
    let digits = format!(">c\n{}", long("1234567890ACGT\n"));
    let cases: [(&str, &[&str]); 9] = [
        (&digits, &["begins like FASTA", "line 2 has `1`"]),
        (&format!("\n\n{digits}"), &["begins like FASTA", "line 4"]),
        (
            &format!("; comment\n{digits}"),
            &["begins like FASTA", "line 3"],
        ),
        (
            &format!("\u{FEFF}{digits}"),
            &["begins like FASTA", "line 2"],
        ),
        (
            &long(">only headers\n"),
            &["begins like FASTA", "no residues"],
        ),
        (
            &long("@r\nACGT\n+\nIII\n"),
            &["begins like FASTQ", "line 1 has 4 bases"],
        ),
        (
            &format!("\n{}", long("@r\nACGT\n+\nIIIIII\n")),
            &["begins like FASTQ", "line 2"],
        ),
        (
            &format!("@r\nACGT\n+\nIIII\n{}", long("more\n")),
            &["begins like FASTQ", "line 5"],
        ),
        (
            &format!(
                ">c\n{}",
                long("a text of a few words, as a mail quotes it.\n")
            ),
            &["like FASTA"],
        ),
    ];
    for (n, (content, parts)) in cases.into_iter().enumerate() {
        dir.write("x", content.as_bytes());
        let said = stderr(dir.bwz("-f --index x").assert().success());
        has_all(&said, parts);
        has_all(
            &said,
            &["--index=sequences refuses", "index is one of its bytes"],
        );
        dir.bwz("-f --index=bytes x")
            .assert()
            .success()
            .stderr("");
        dir.bwz("-f x").assert().success().stderr("");
        let said = stderr(
            dir.bwz("--index=sequences -o y x")
                .assert()
                .code(1),
        );
        has_all(&said, &["an index of sequences was requested"]);
        has_all(&said, parts);
        assert!(!dir.has("y"), "{n}");
    }
    for content in [
        "plain text\n",
        "{}",
        "@HD\tVN:1.6\n@SQ\tSN:c\tLN:9\n",
        "@startuml\nA -> B\n",
    ] {
        dir.write("x", content.as_bytes());
        dir.bwz("-f --index x")
            .assert()
            .success()
            .stderr("");
        dir.bwz("--index=sequences -o y x")
            .assert()
            .code(1);
    }
    dir.write("x", &fasta(999));
    dir.bwz("--index=sequences -o y x")
        .assert()
        .success()
        .stderr("");
    dir.write("x", &[0; 200_000]);
    dir.bwz("--index=sequences -o z x")
        .assert()
        .code(1);
    assert!(!dir.has("z"));
}

/// Programs that make inputs, with the suffixes of their files.
const PROGRAMS: [(&str, &str); 5] = [
    ("gzip", "gz"),
    ("bgzip", "bgz"),
    ("zstd", "zst"),
    ("bzip2", "bz2"),
    ("xz", "xz"),
];

#[test]
fn an_index_of_compressed_bytes_is_warned_of() {
    let dir = Dir::new();
    dir.write("x.fa", &fasta(5_000));
    for (program, suffix) in PROGRAMS {
        if !is_there(program) {
            continue;
        }
        dir.sh(&format!("{program} -c < x.fa > x.fa.{suffix}"))
            .assert()
            .success();
        let said = stderr(
            dir.bwz(&format!("-f --index x.fa.{suffix}"))
                .assert()
                .success(),
        );
        let reads = !["bzip2", "xz"].contains(&program);
        let command = match reads {
            true => format!("`bwz --index --decompress-input x.fa.{suffix}`"),
            false => format!("`{program} -dc x.fa.{suffix} | bwz --index -o x.fa.bwz`"),
        };
        has_all(&said, &["was compressed by", &command]);
        dir.bwz(&format!("-f x.fa.{suffix}"))
            .assert()
            .success()
            .stderr("");
        let said = stderr(
            dir.sh(&format!("bwz --index < x.fa.{suffix} > /dev/null"))
                .assert()
                .success(),
        );
        has_all(&said, &["was compressed by"]);
        if !reads {
            let refused = dir
                .bwz(&format!("--decompress-input -o y x.fa.{suffix}"))
                .assert()
                .code(1);
            has_all(
                &stderr(refused),
                &["does not read", &format!("{program} -dc")],
            );
            assert!(!dir.has("y"));
        }
    }
}

#[test]
fn what_is_in_compressed_inputs_is_archived() {
    let dir = Dir::new();
    let content = fasta(50_000);
    dir.write("x.fa", &content);
    let pattern = &bases(50_000)[100..140];
    for (program, suffix) in PROGRAMS.into_iter().take(3) {
        if !is_there(program) {
            continue;
        }
        let _ = std::fs::remove_file(dir.path("x.fa.bwz"));
        let make = format!(
            "{program} -c < x.fa > x.fa.{suffix}; cat x.fa.{suffix} x.fa.{suffix} > two.{suffix}"
        );
        dir.sh(&make).assert().success();
        let arguments = format!("--decompress-input --index=sequences x.fa.{suffix}");
        dir.bwz(&arguments).assert().success().stderr("");
        dir.bwz("-dc x.fa.bwz")
            .assert()
            .success()
            .stdout(content.clone());
        let found = dir
            .bwz(&format!("count {pattern} x.fa.bwz"))
            .assert()
            .success();
        assert_eq!(stdout(found), format!("x.fa.bwz\t{pattern}\t1\n"));
        // Several members, standard input, and the removal of the input.
        dir.bwz(&format!("--decompress-input --rm two.{suffix}"))
            .assert()
            .success();
        assert!(!dir.has(&format!("two.{suffix}")));
        dir.bwz("-dc two.bwz")
            .assert()
            .success()
            .stdout([&content[..], &content].concat());
        dir.sh("rm two.bwz").assert().success();
        let piped = format!("cat x.fa.{suffix} | bwz --decompress-input | bwz -d | cmp - x.fa");
        dir.sh(&piped).assert().success();
        // Damage.
        for (name, damage) in [("cut", "head -c 999"), ("short", "head -c 12")] {
            dir.sh(&format!("{damage} x.fa.{suffix} > {name}.{suffix}"))
                .assert()
                .success();
            let damaged = dir
                .bwz(&format!("--decompress-input --rm {name}.{suffix}"))
                .assert()
                .code(2);
            has_all(&stderr(damaged), &["is damaged", "ends too early"]);
            assert!(!dir.has(&format!("{name}.bwz")) && dir.has(&format!("{name}.{suffix}")));
        }
        let mut file = dir.read(&format!("x.fa.{suffix}"));
        let middle = file.len() / 2;
        file[middle..middle + 9].fill(0xA5);
        dir.write("bad", &file);
        has_all(
            &stderr(dir.bwz("--decompress-input bad").assert().code(2)),
            &["is damaged"],
        );
        assert!(!dir.has("bad.bwz"));
    }
    dir.write("d/a.fa", &content);
    dir.write("d/b", b"plain");
    dir.sh("gzip d/a.fa; bwz -r --decompress-input d; bwz -dc d/a.fa.bwz | cmp - x.fa")
        .assert()
        .success();
    dir.bwz("-dc d/b.bwz")
        .assert()
        .success()
        .stdout("plain");
}
