//! Temporary files: those that a killed command leaves, and their removal by the next command.

use crate::support::{BWZ, Dir, send, text, wait_for_temporary};
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::process::{Child, Stdio};

/// Starts to write `y.bwz`, and does not finish.
fn unfinished(dir: &Dir) -> Child {
    let mut process = dir.process(BWZ);
    let mut child = process
        .args(["-1", "-f", "-o", "y.bwz"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(&text(1_500_000))
        .unwrap();
    wait_for_temporary(dir, child.id());
    child
}

#[test]
fn what_a_killed_command_leaves_is_gone_after_the_next() {
    let dir = Dir::with(&text(10_000));
    let mut child = unfinished(&dir);
    send("-KILL", child.id());
    child.wait().unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!(dir.names(), ["x"], "a file without a name leaves nothing");
    }
    dir.bwz("x -o y.bwz").assert().success();
    assert_eq!(dir.names(), ["x", "y.bwz"]);
}

#[test]
fn an_abandoned_file_is_removed_by_who_writes_the_same_output() {
    let dir = Dir::with(&text(10_000));
    for name in [
        ".y.bwz.bwz-0.tmp",
        ".y.bwz.bwz-2.tmp",
        ".z.bwz.bwz-0.tmp",
        ".bwz-a1b2c3.tmp",
    ] {
        dir.write(name, b"left");
    }
    dir.bwz("x -o y.bwz").assert().success();
    assert_eq!(
        dir.names(),
        [".bwz-a1b2c3.tmp", ".z.bwz.bwz-0.tmp", "x", "y.bwz"]
    );
}

#[test]
fn a_file_in_use_is_left_alone() {
    let dir = Dir::with(&text(10_000));
    dir.write(".y.bwz.bwz-0.tmp", b"somebody's");
    let used = fs::File::open(dir.path(".y.bwz.bwz-0.tmp")).unwrap();
    // SAFETY: the descriptor is open.
    assert_eq!(unsafe { libc::flock(used.as_raw_fd(), libc::LOCK_EX) }, 0);
    dir.bwz("x -o y.bwz").assert().success();
    dir.bwz("-f x -o y.bwz").assert().success();
    assert_eq!(dir.names(), [".y.bwz.bwz-0.tmp", "x", "y.bwz"]);
    drop(used);
    dir.bwz("-f x -o y.bwz").assert().success();
    assert_eq!(dir.names(), ["x", "y.bwz"]);
}

#[test]
fn two_commands_write_the_same_output_at_a_time() {
    let dir = Dir::with(&text(10_000));
    let mut first = unfinished(&dir);
    dir.bwz("x -o y.bwz").assert().success();
    let short = dir.read("y.bwz").len();
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert!(
        dir.read("y.bwz").len() > short,
        "the last one to end replaces the other's"
    );
    assert_eq!(dir.names(), ["x", "y.bwz"]);
}

#[test]
fn an_output_with_the_longest_name_is_written() {
    let dir = Dir::with(&text(10_000));
    let long = "l".repeat(255);
    dir.bwz(&format!("x -o {long}"))
        .assert()
        .success();
    dir.bwz(&format!("-f x -o {long}"))
        .assert()
        .success();
    assert_eq!(dir.names(), [&long, "x"]);
}
