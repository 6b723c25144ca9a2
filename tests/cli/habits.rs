//! The behaviour that users of bzip2, gzip, xz and zstd expect.

use crate::support::{BWZ, Dir, has_all, is_there, noise, stderr, stdout, text};
use std::fs::{self, File};
use std::io::Write;
use std::thread;
use std::time::Duration;

#[test]
fn a_suffix_can_be_chosen() {
    let dir = Dir::with(b"text");
    dir.bwz("-S .b --rm x").assert().success();
    assert_eq!(dir.names(), ["x.b"]);
    has_all(
        &stderr(dir.bwz("--suffix=.b x.b").assert().code(1)),
        &["already compressed", "-f"],
    );
    has_all(&stderr(dir.bwz("-d x.b").assert().code(1)), &["x.b", "-S"]);
    dir.bwz("-t x.b").assert().success();
    dir.bwz("-dS.b --rm x.b").assert().success();
    assert_eq!(
        (dir.names(), dir.read("x")),
        (vec!["x".into()], b"text".into())
    );

    dir.bwz("x").assert().success();
    dir.bwz("-dfS .b x.bwz").assert().success();
    dir.write("tree/a", b"a");
    dir.write("tree/b.b", b"stays as it is");
    dir.bwz("-r --rm -S .b tree").assert().success();
    assert!(dir.has("tree/a.b") && !dir.has("tree/b.b.b"));
    fs::remove_file(dir.path("tree/b.b")).unwrap();
    has_all(
        &stdout(dir.bwz("-lr -S .b tree").assert().success()),
        &["tree/a.b"],
    );
    dir.bwz("-tr -S .b tree").assert().success();
    dir.bwz("-dr -S .b tree").assert().success();
    assert_eq!(dir.read("tree/a"), b"a");
    dir.bwz("-S / x").assert().code(1);
    dir.bwz("-S").arg("").arg("x").assert().code(1);
}

#[test]
fn flags_that_mean_the_same_are_taken() {
    let dir = Dir::with(b"text");
    let plain = dir
        .bwz("-c x")
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    for arguments in [
        "--to-stdout x",
        "-cn x",
        "--no-name -c x",
        "-c --memlimit=1G x",
        "-c --memlimit 1GiB x",
    ] {
        dir.bwz(arguments)
            .assert()
            .success()
            .stdout(plain.clone())
            .stderr("");
    }
    for flag in ["-L", "--license"] {
        has_all(
            &stdout(dir.bwz(flag).assert().success().stderr("")),
            &["bwz", "MIT", "Apache"],
        );
    }
    assert_eq!(dir.names(), ["x"]);
}

#[test]
fn foreign_flags_are_refused_with_what_to_type() {
    let dir = Dir::with(b"text");
    for (arguments, advice) in [
        ("-s x", "-M SIZE"),
        ("--small x", "-M SIZE"),
        ("-9s x", "-M SIZE"),
        ("-e x", "--best"),
        ("-9e x", "--best"),
        ("--extreme x", "--best"),
        ("-N x", "suffix"),
        ("-0 x", "-1"),
        ("--fast=3 x", "-1 to -9"),
        ("--best=1 x", "-1 to -9"),
        ("--ultra -22 x", "-9"),
        ("--long=31 x", "-9"),
        ("-C crc64 x", "CRC-32"),
        ("--memlimit-compress=1G x", "-M SIZE"),
        ("--format=gzip x", "own format"),
        ("--block-size=1M x", "-1 to -9"),
        ("--rsyncable x", "-1 to -9"),
        ("-p4 x", "-T N"),
        ("--robot -l x", "--json"),
        ("-D dict x", "no dictionaries"),
        ("--files=list", "xargs"),
        ("--x86 x", "filters"),
    ] {
        let said = stderr(dir.bwz(arguments).assert().code(1).stdout(""));
        has_all(&said, &["bwz: cannot take -", advice]);
        assert!(
            said.lines().count() == 1 && !said.contains("tip"),
            "{arguments}: {said}"
        );
    }
    let said = stderr(dir.bwz("-X x").assert().code(1));
    assert!(said.contains("--help") && !said.contains("-- -X"), "{said}");
    has_all(
        &stderr(dir.bwz("--decompres x").assert().code(1)),
        &["--decompress"],
    );
    has_all(
        &stderr(dir.bwz("count -X a x").assert().code(2)),
        &["cannot take -X"],
    );
    assert_eq!(dir.names(), ["x"]);
}

#[test]
fn an_empty_name_does_not_stop_the_others() {
    let dir = Dir::with(b"one");
    dir.write("y", b"two");
    let said = stderr(dir.bwz("").args(["x", "", "y"]).assert().code(1));
    assert_eq!(said, "bwz: '': the name is empty\n");
    assert_eq!(dir.names(), ["x", "x.bwz", "y", "y.bwz"]);
    for command in ["-t", "-l", "cat", "count -e o"] {
        let said = stderr(
            dir.bwz(command)
                .args(["x.bwz", "", "y.bwz"])
                .assert()
                .failure(),
        );
        has_all(&said, &["bwz: '': the name is empty"]);
    }
    dir.bwz("cat")
        .args(["x.bwz", "", "y.bwz"])
        .assert()
        .code(1)
        .stdout("onetwo");
}

/// A name with an escape sequence that turns the text red, a line break, and a fake message.
const RULER: &str = "a\x1b[31m\nbwz: b";

#[test]
fn names_cannot_rule_the_terminal() {
    let dir = Dir::new();
    dir.write(RULER, b"text");
    let shown = r"a\u{1b}[31m\nbwz: b";
    has_all(
        &stderr(dir.bwz("-v").arg(RULER).assert().success()),
        &[shown],
    );
    let said = stderr(dir.bwz("").arg(RULER).assert().code(1));
    assert!(
        said.contains(shown) && said.lines().count() == 1 && !said.contains('\x1b'),
        "{said}"
    );
    let said = stderr(
        dir.bwz("")
            .arg(format!("--{RULER}"))
            .assert()
            .code(1),
    );
    assert!(said.contains(shown) && !said.contains('\x1b'), "{said}");
    // Programs get names unchanged.
    let coded = format!("{RULER}.bwz");
    assert!(stdout(dir.bwz("-l").arg(&coded).assert().success()).contains(&coded));
    if is_there("script") {
        let mut script = dir.run("script");
        script.args(["-qec", "bwz -l *.bwz", "/dev/null"]);
        let listed = stdout(script.assert().success());
        assert!(
            listed.contains(shown) && !listed.contains('\x1b'),
            "{listed}"
        );
    }
}

#[test]
fn an_input_that_changes_is_told_of() {
    let dir = Dir::with(&noise(4_000_000));
    // The pipe is too small for all of the output, so the command is still running when the first
    // bytes come out.
    let grow = "{ head -c 4 > /dev/null; echo more >> x; cat > /dev/null; }";
    for command in ["bwz -1 -c x", "bwz -1 < x"] {
        let script = format!("{command} | {grow}; exit ${{PIPESTATUS[0]}}");
        has_all(
            &stderr(dir.sh(&script).assert().code(1)),
            &["changed while it was read"],
        );
    }
}

#[test]
fn an_input_that_changes_is_kept() {
    let dir = Dir::with(&noise(4_000_000));
    let mut child = dir
        .process(BWZ)
        .args(["-1", "--rm", "x"])
        .spawn()
        .unwrap();
    let mut log = File::options()
        .append(true)
        .open(dir.path("x"))
        .unwrap();
    let ended = loop {
        log.write_all(b"more").unwrap();
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(ended.code(), Some(1));
    assert_eq!(dir.names(), ["x", "x.bwz"]);
    dir.bwz("-t x.bwz").assert().success();
}

#[test]
fn only_what_is_removed_waits_for_the_disk() {
    if !is_there("strace") {
        return;
    }
    let dir = Dir::with(&text(1000));
    let syncs = |arguments: &str| {
        let command = format!("strace -f -e trace=fsync,fdatasync -o log bwz {arguments}");
        dir.sh(&command).assert().success();
        String::from_utf8_lossy(&dir.read("log"))
            .matches("sync(")
            .count()
    };
    assert_eq!([syncs("-f x"), syncs("-d -f x.bwz")], [0, 0]);
    assert_eq!([syncs("-f --rm x"), syncs("-d -f --rm x.bwz")], [2, 2]);
}

#[test]
fn tar_xargs_and_find_find_it() {
    let dir = Dir::new();
    dir.write("d/a", &text(3000));
    dir.write("d/b", b"b");
    if is_there("tar") {
        dir.sh("tar -I 'bwz -9' -cf t.tar.bwz d && mkdir out && tar -I bwz -xf t.tar.bwz -C out")
            .assert()
            .success();
        assert_eq!(dir.read("out/d/a"), text(3000));
        dir.sh("tar --use-compress-program bwz -tf t.tar.bwz")
            .assert()
            .success();
    }
    dir.sh("find d -type f -print0 | xargs -0 bwz --rm")
        .assert()
        .success();
    dir.sh("find d -name '*.bwz' -exec bwz -d {} +")
        .assert()
        .success();
    assert_eq!(dir.read("d/b"), b"b");
}
