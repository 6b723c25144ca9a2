//! Pipes that stay open and deliver nothing more: an error is reported before they end.

use crate::support::{BWZ, Dir, noise, text};
use std::fs::File;
use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Enough on a busy machine. The awaited event takes a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// How the process ends while its input stays open. It is killed if it does not end.
fn end(mut child: Child, what: &str) -> (ExitStatus, String) {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{what} waits for its input");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    (
        output.status,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Runs a command whose standard input delivers these bytes and then stays open.
fn with_open_pipe(mut command: Command, input: &[u8], what: &str) -> (ExitStatus, String) {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Returns the open pipe. The pipe breaks if the process does not read all of it.
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&input);
        pipe
    });
    let end = end(child, what);
    drop(writer.join().unwrap());
    end
}

/// A file of four blocks, with the second damaged, cut off before its end.
fn damaged(dir: &Dir) -> Vec<u8> {
    dir.write("x", &text(3_500_000));
    let mut file = dir.compress_x();
    let at = file.len() * 3 / 8;
    file[at..at + 4].copy_from_slice(b"ouch");
    file.truncate(file.len() - 40);
    file
}

#[test]
fn damage_is_told_while_the_pipe_is_open() {
    let dir = Dir::new();
    let file = damaged(&dir);
    for arguments in ["-t", "-d", "-dc", "-d -o y", "cat -", "-T1 -t"] {
        let mut command = dir.process(BWZ);
        command.args(arguments.split(' '));
        let (status, said) = with_open_pipe(command, &file, arguments);
        assert_eq!(status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains("block 1"), "{arguments}: {said}");
        assert_eq!(dir.names(), ["x", "x.bwz"], "{arguments}");
    }
}

#[test]
fn damage_is_told_while_a_named_pipe_is_open() {
    let dir = Dir::new();
    let file = damaged(&dir);
    dir.run("mkfifo")
        .arg("pipe.bwz")
        .assert()
        .success();
    let mut command = dir.process(BWZ);
    command
        .args(["-dc", "pipe.bwz"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let mut pipe = File::options()
        .write(true)
        .open(dir.path("pipe.bwz"))
        .unwrap();
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&file);
        pipe
    });
    let (status, said) = end(child, "-dc pipe.bwz");
    assert_eq!(status.code(), Some(2), "{said}");
    drop(writer.join().unwrap());
}

#[test]
fn a_full_disk_is_told_while_the_pipe_is_open() {
    let dir = Dir::new();
    // The second output is full after 1 MiB, when some blocks were written.
    for script in [
        "exec bwz -1 > /dev/full",
        "ulimit -f 1024; exec bwz -1 -o y",
    ] {
        let mut command = dir.process("bash");
        command.args(["-c", script]);
        let (status, said) = with_open_pipe(command, &noise(6_000_000), script);
        assert_eq!(status.code(), Some(1), "{script}: {said}");
        assert!(said.contains("cannot write"), "{script}: {said}");
        assert!(dir.names().is_empty(), "{script}");
    }
}

#[test]
fn what_is_sound_is_waited_for() {
    let dir = Dir::with(&text(3_000_000));
    let file = dir.compress_x();
    let (first, second) = file.split_at(file.len() / 2);
    let mut command = dir.process(BWZ);
    command
        .args(["-d", "-o", "y"])
        .stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(first).unwrap();
    thread::sleep(Duration::from_millis(300));
    pipe.write_all(second).unwrap();
    drop(pipe);
    assert!(child.wait().unwrap().success());
    assert!(dir.read("y") == dir.read("x"));
}
