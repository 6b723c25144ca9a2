//! Standard descriptors that are closed at the start of the command, or open in the wrong
//! direction.

use crate::support::{Dir, has_all, stderr, text};

const BAD: &str = "Bad file descriptor";

/// A directory with text in `x`, an indexed file of it in `x.bwz`, and a damaged one.
fn dir() -> Dir {
    let dir = Dir::with(&text(5000));
    dir.bwz("-1 --index x").assert().success();
    dir
}

#[test]
fn closed_standard_output_is_an_error() {
    let dir = dir();
    for (arguments, code) in [
        ("-c x", 1),
        ("< x", 1),
        ("-dc x.bwz", 1),
        ("-d < x.bwz", 1),
        ("-d x.bwz -o -", 1),
        ("-l x.bwz", 1),
        ("-lv x.bwz", 1),
        ("-l --json x.bwz", 1),
        ("cat x.bwz", 1),
        ("cat -r 1..2 x.bwz", 1),
        ("count 1 x.bwz", 2),
        ("locate --json 1 x.bwz", 2),
        ("extract -r 1..2 x.bwz", 1),
        ("recover x.bwz -o -", 1),
        ("recover --json x.bwz -o /dev/null", 1),
        ("bench -n 1 x", 1),
        ("devices", 1),
        ("completions bash", 1),
        ("man", 1),
        ("--help", 1),
        ("-h", 1),
        ("--version", 1),
        ("-L", 1),
    ] {
        for closed in [">&-", "1< /dev/null"] {
            let said = stderr(
                dir.sh(&format!("bwz {arguments} {closed}"))
                    .assert()
                    .code(code),
            );
            assert!(said.contains(BAD), "{arguments} {closed}: {said}");
        }
    }
    assert_eq!(dir.names(), ["x", "x.bwz"]);
}

#[test]
fn closed_standard_input_is_an_error() {
    let dir = dir();
    for (arguments, code) in [
        ("-c", 1),
        ("-o y", 1),
        ("-d", 1),
        ("-t", 1),
        ("-l", 1),
        ("cat -", 1),
        ("count -f - x.bwz", 2),
        ("count --fasta - x.bwz", 2),
        ("bench -n 1 -", 1),
        ("recover - -o y", 1),
    ] {
        for closed in ["<&-", "0> /dev/null"] {
            let said = stderr(
                dir.sh(&format!("bwz {arguments} {closed}"))
                    .assert()
                    .code(code),
            );
            assert!(said.contains(BAD), "{arguments} {closed}: {said}");
        }
    }
    assert_eq!(dir.names(), ["x", "x.bwz"]);
}

#[test]
fn who_does_not_use_them_does_not_care() {
    let dir = dir();
    dir.sh("bwz -t x.bwz <&- >&-").assert().success();
    dir.sh("bwz x -o y <&- >&- 2>&-")
        .assert()
        .success();
    dir.sh("bwz -d y -o back <&- >&- 2>&-")
        .assert()
        .success();
    dir.sh("bwz -l x.bwz <&-").assert().success();
    assert_eq!(dir.read("back"), text(5000));
}

/// Python's subprocess.DEVNULL and daemon(3) open it in this way.
#[test]
fn the_null_device_for_both_ways_is_open() {
    let dir = dir();
    dir.sh("bwz -dc x.bwz 1<> /dev/null && bwz -l x.bwz 1<> /dev/null")
        .assert()
        .success();
    dir.sh("bwz -o y 0<> /dev/null && bwz -t y")
        .assert()
        .success();
}

#[test]
fn what_is_said_goes_into_no_file_that_has_its_number() {
    let dir = dir();
    dir.sh("bwz -1 -vv x -o y 2>&-")
        .assert()
        .success();
    dir.sh("bwz -vv -d y -o back 2>&-")
        .assert()
        .success();
    assert_eq!(dir.read("back"), text(5000));
    dir.sh("bwz -d -f x -o y 2>&-; exit $?")
        .assert()
        .code(2);
    dir.sh("bwz --no-such-flag 2>&-")
        .assert()
        .code(1)
        .stdout("");
    has_all(
        &stderr(dir.bwz("-d x.bwz").assert().code(1)),
        &["x already exists"],
    );
}
