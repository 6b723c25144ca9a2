//! Pipes: standard input to standard output, tar, other names, defaults from the environment.

use crate::support::{BWZ, Dir, has_all, is_there, stderr, text};
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

const SIGPIPE: i32 = 13;

fn pipe(dir: &Dir, arguments: &str, input: &[u8]) -> Vec<u8> {
    let assert = dir
        .bwz(arguments)
        .write_stdin(input)
        .assert()
        .success();
    assert.get_output().stdout.clone()
}

#[test]
fn it_is_a_filter() {
    let dir = Dir::new();
    for content in [text(0), text(1), text(2_200_000)] {
        for (there, back) in [
            ("", "-d"),
            ("-1 -", "-d -"),
            ("-z -c", "-dc"),
            ("-1kq", "-dk -T1"),
        ] {
            let coded = pipe(&dir, there, &content);
            assert_eq!(pipe(&dir, back, &coded), content, "{there}");
            dir.bwz("-t")
                .write_stdin(coded)
                .assert()
                .success()
                .stdout("");
        }
    }
    assert!(dir.names().is_empty());
}

#[test]
fn the_bytes_do_not_depend_on_threads_memory_or_the_way() {
    let content = text(5_000_000);
    let dir = Dir::with(&content);
    let file = dir.compress_x();
    for arguments in ["-1 -T1", "-1 -T4", "-1 -M 40M -T64", "-1 --device cpu"] {
        assert!(pipe(&dir, arguments, &content) == file, "{arguments}");
    }
    let best = pipe(&dir, "-1 --best -T1", &content);
    assert!(best.len() < file.len() && pipe(&dir, "-d", &best) == content);
    assert!(pipe(&dir, "-1 --best -T4", &content) == best);
    dir.bwz("-1cT2 x")
        .assert()
        .success()
        .stdout(file.clone());
    // With this many threads, several blocks are read at once.
    dir.bwz("-1cT64 x")
        .assert()
        .success()
        .stdout(file);
}

#[test]
fn a_frame_behind_a_frame_is_one_file() {
    let dir = Dir::new();
    let both = [
        pipe(&dir, "", b"one "),
        pipe(&dir, "", b""),
        pipe(&dir, "", b"two"),
    ]
    .concat();
    assert_eq!(pipe(&dir, "-d", &both), b"one two");
}

#[test]
fn blocks_end_where_lines_do() {
    let mut content = Vec::new();
    for n in 0..90_000 {
        content.extend(format!("{n}: {}\r\n", "word ".repeat(n % 7)).bytes());
    }
    let dir = Dir::with(&content);
    let file = pipe(&dir, r"-1 --split-at \n -T1", &content);
    for arguments in [
        r"-1 -T4 --split-at=\x0a",
        r"-1 --split-at , --split-at \012",
    ] {
        assert!(pipe(&dir, arguments, &content) == file, "{arguments}");
    }
    dir.bwz(r"-1cT64 --split-at \n x")
        .assert()
        .success()
        .stdout(file.clone());
    let listed = dir
        .bwz("-1 x")
        .env("BWZ_OPT", r"--split-at '\n'")
        .assert()
        .success();
    listed.stdout("");
    assert!(dir.read("x.bwz") == file);
    assert_eq!(pipe(&dir, "-d", &file), content);
    for wrong in ["", "ab", r"\q", r"\x100"] {
        dir.run(BWZ)
            .args(["--split-at", wrong])
            .assert()
            .code(1);
    }
}

#[test]
fn tar_filters_through_it() {
    if !is_there("tar") {
        return;
    }
    let dir = Dir::new();
    dir.write("tree/a", &text(1_500_000));
    dir.write("tree/b", b"b");
    for options in ["bwz", "bwz -9", "bwz -1 -T1"] {
        dir.sh(&format!(
            "tar -I '{options}' -cf t.tar.bwz tree && mkdir out"
        ))
        .assert()
        .success();
        dir.bwz("-t t.tar.bwz").assert().success();
        dir.sh("tar -I bwz -C out -xf t.tar.bwz && diff -r tree out/tree")
            .assert()
            .success();
        fs::remove_dir_all(dir.path("out")).unwrap();
    }
}

#[test]
fn other_names_decompress() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    dir.link(BWZ, "bunwz");
    dir.link(BWZ, "bwzcat");
    dir.run(dir.path("bwzcat"))
        .arg("x.bwz")
        .assert()
        .success()
        .stdout("text");
    dir.run(dir.path("bwzcat"))
        .write_stdin(dir.read("x.bwz"))
        .assert()
        .success()
        .stdout("text");
    fs::remove_file(dir.path("x")).unwrap();
    dir.run(dir.path("bunwz"))
        .arg("x.bwz")
        .assert()
        .success()
        .stdout("");
    assert_eq!(dir.read("x"), b"text");
    dir.write("cat.bwz", &dir.read("x.bwz"));
    dir.run(dir.path("bunwz"))
        .args(["-z", "-f", "x"])
        .assert()
        .success();
    dir.run(dir.path("bwzcat"))
        .args(["cat.bwz"])
        .assert()
        .success()
        .stdout("text");
}

#[test]
fn defaults_come_from_the_environment() {
    let content = text(2_500_000);
    let dir = Dir::with(&content);
    let small_blocks = dir.compress_x();
    let with = |defaults: &str, arguments: &str| {
        let mut command = dir.bwz(arguments);
        command.env("BWZ_OPT", defaults);
        command
    };
    with(" -1\t-T2 ", "-c x")
        .assert()
        .success()
        .stdout(small_blocks.clone());
    with("-9", "-1c x")
        .assert()
        .success()
        .stdout(small_blocks);
    with("-d", "-c x.bwz").assert().code(1);
    with("--no-such", "x").assert().code(1);
    has_all(
        &stderr(with("-T '2", "x").assert().code(1)),
        &["BWZ_OPT", "quotes"],
    );
    with("-9", "cat --range 0+4 x.bwz")
        .assert()
        .success()
        .stdout(content[..4].to_vec());
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = Dir::with(&text(6_000_000));
    dir.compress_x();
    for arguments in [
        "-dc x.bwz",
        "cat x.bwz",
        "cat --range 0.. x.bwz",
        "-dc x.bwz x.bwz",
    ] {
        let mut process = dir.process(BWZ);
        process
            .args(arguments.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = process.spawn().unwrap();
        child
            .stdout
            .take()
            .unwrap()
            .read_exact(&mut [0; 10])
            .unwrap();
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!(
            (status.signal(), said.as_str()),
            (Some(SIGPIPE), ""),
            "{arguments}"
        );
    }
}

#[test]
fn closed_pipes_end_listings_too() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    for arguments in [
        "-l x.bwz",
        "--help",
        "man",
        "completions bash",
        "-l --json x.bwz",
    ] {
        let script = format!("trap '' PIPE; bwz {arguments} | :; exit ${{PIPESTATUS[0]}}");
        let said = stderr(dir.sh(&script).assert());
        assert_eq!(said, "", "{arguments}");
    }
}

/// Some programs pass the null device for reading and writing. It is an output like any other.
#[test]
fn the_null_device_is_an_output() {
    let dir = Dir::with(b"text");
    dir.sh("bwz -c x 1<>/dev/null").assert().success();
    dir.sh("bwz -c 0<>/dev/null | bwz -dc")
        .assert()
        .success()
        .stdout("");
}

#[test]
fn what_is_not_compressed_passes_with_force() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    dir.write("plain", b"plain ");
    dir.write("empty", b"");
    dir.bwz("-dcf plain x.bwz empty plain")
        .assert()
        .success()
        .stdout("plain textplain ");
    dir.bwz("-dcf")
        .write_stdin("pla")
        .assert()
        .success()
        .stdout("pla");
    for arguments in ["-dc plain", "-dcf missing", "-tf plain", "-df -o out plain"] {
        dir.bwz(arguments).assert().failure().stdout("");
    }
    let damaged = &dir.read("x.bwz")[..20];
    dir.bwz("-dcf")
        .write_stdin(damaged)
        .assert()
        .code(2);
}
