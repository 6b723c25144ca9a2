//! Streams that come little by little: blocks that end in time, and files that are followed.

use crate::support::{BWZ, Dir, has_all, send, stderr, wait_until};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// A process that compresses its standard input to `log.bwz`.
struct Writer(Child, ChildStdin);

impl Writer {
    fn start(dir: &Dir, arguments: &str) -> Self {
        let mut command = dir.process(BWZ);
        command
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(File::create(dir.path("log.bwz")).unwrap());
        let mut child = command.spawn().unwrap();
        let pipe = child.stdin.take().unwrap();
        Writer(child, pipe)
    }

    fn say(&mut self, text: &str) {
        self.1.write_all(text.as_bytes()).unwrap();
    }

    fn end(self) {
        let Writer(mut child, pipe) = self;
        drop(pipe);
        assert!(child.wait().unwrap().success());
    }
}

fn restored(dir: &Dir) -> String {
    let output = dir.bwz("-dc log.bwz").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_log_writer_that_is_killed_loses_little() {
    let dir = Dir::new();
    let mut writer = Writer::start(&dir, "--flush-every 50ms -T2");
    writer.say("one\n");
    wait_until("the first block", || restored(&dir) == "one\n");
    writer.say("two\nthr");
    wait_until("the second block", || restored(&dir) == "one\ntwo\nthr");
    send("-KILL", writer.0.id());
    writer.0.wait().unwrap();
    let assert = dir.bwz("-dc log.bwz").assert().code(2);
    has_all(&stderr(assert.stdout("one\ntwo\nthr")), &["it was cut off"]);
    dir.bwz("recover log.bwz -o saved")
        .assert()
        .code(2);
    assert_eq!(dir.read("saved"), b"one\ntwo\nthr");
}

#[test]
fn blocks_end_in_time_and_no_sooner() {
    let dir = Dir::new();
    let mut writer = Writer::start(&dir, "--flush-every 1h");
    writer.say("one\n");
    thread::sleep(Duration::from_millis(50));
    writer.say("two\n");
    writer.end();
    let slow = dir.read("log.bwz");
    dir.bwz("")
        .write_stdin("one\ntwo\n")
        .assert()
        .success()
        .stdout(slow);
    let mut writer = Writer::start(&dir, "--flush-every 1ms --index");
    for number in 0..5 {
        writer.say(&format!("{number}\n"));
        thread::sleep(Duration::from_millis(30));
    }
    writer.end();
    dir.bwz("-l log.bwz").assert().success();
    dir.bwz("tail -n 2 log.bwz")
        .assert()
        .success()
        .stdout("3\n4\n");
    dir.bwz("count 3 log.bwz")
        .assert()
        .success()
        .stdout("log.bwz\t3\t1\n");
}

#[test]
fn flushes_without_effect_are_refused() {
    let dir = Dir::with(b"text");
    for (arguments, says) in [
        ("--flush-every 1s -c x", "is a regular file"),
        ("--flush-every 1s x", "writes to standard output"),
        ("--flush-every 1s -o y", "writes to standard output"),
        ("-d --flush-every 1s", "--flush-every goes with compressing"),
        ("--flush-every 0", "the shortest is 1ms"),
        ("--flush-every 1d", "ms, s, m or h"),
    ] {
        has_all(&stderr(dir.bwz(arguments).assert().code(1)), &[says]);
    }
    assert_eq!(dir.names(), ["x"]);
}

/// A process that follows a file.
struct Follower(Child, Receiver<String>);

impl Follower {
    fn start(dir: &Dir, arguments: &str) -> Self {
        let mut command = dir.process(BWZ);
        command
            .args(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = lines(child.stdout.take().unwrap());
        Follower(child, lines)
    }

    #[track_caller]
    fn says(&self, text: &str) {
        for line in text.split_inclusive('\n') {
            let came = self.1.recv_timeout(Duration::from_secs(60));
            assert_eq!(came.as_deref(), Ok(line));
        }
    }

    /// Ends the process. Returns what it said on standard error.
    fn end(mut self) -> String {
        send("-TERM", self.0.id());
        let mut said = String::new();
        let mut stderr = self.0.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert!(!self.0.wait().unwrap().success());
        assert!(self.1.recv().is_err());
        said
    }
}

/// The lines of a pipe, as they come.
fn lines(pipe: ChildStdout) -> Receiver<String> {
    let (to, from) = mpsc::channel();
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        while pipe
            .read_line(&mut line)
            .is_ok_and(|size| size > 0)
        {
            let _ = to.send(std::mem::take(&mut line));
        }
    });
    from
}

#[test]
fn a_file_that_is_written_is_followed() {
    let dir = Dir::new();
    let mut writer = Writer::start(&dir, "--flush-every 20ms");
    let early = Follower::start(&dir, "tail -f log.bwz");
    writer.say("one\ntwo\nthree\n");
    wait_until("the first block", || restored(&dir).ends_with("three\n"));
    early.says("one\ntwo\nthree\n");
    let late = Follower::start(&dir, "tail -n 1 -f log.bwz");
    late.says("three\n");
    let bytes = Follower::start(&dir, "tail -c +6 -f log.bwz");
    bytes.says("wo\nthree\n");
    let rest = Follower::start(&dir, "tail -n +3 -f log.bwz");
    rest.says("three\n");
    writer.say("four\n");
    for follower in [&early, &late, &bytes, &rest] {
        follower.says("four\n");
    }
    writer.say("five\n");
    writer.end();
    for follower in [&early, &late, &bytes, &rest] {
        follower.says("five\n");
    }
    // The end of a frame is not the end of the file.
    let frame = dir.bwz("").write_stdin("six\n").output().unwrap();
    let mut file = File::options()
        .append(true)
        .open(dir.path("log.bwz"))
        .unwrap();
    file.write_all(&frame.stdout).unwrap();
    let whole = Follower::start(&dir, "tail -n 2 -f log.bwz");
    whole.says("five\nsix\n");
    file.write_all(&frame.stdout).unwrap();
    whole.says("six\n");
    for follower in [early, late, bytes, rest] {
        follower.says("six\nsix\n");
        assert_eq!(follower.end(), "");
    }
    whole.end();
}

#[test]
fn files_that_are_truncated_or_replaced_are_followed() {
    let dir = Dir::new();
    let frame = |text: &str| {
        let output = dir.bwz("").write_stdin(text).output();
        output.unwrap().stdout
    };
    dir.write("x.bwz", &frame("a longer text than the next\n"));
    let follower = Follower::start(&dir, "tail -f x.bwz");
    follower.says("a longer text than the next\n");
    fs::write(dir.path("x.bwz"), frame("short\n")).unwrap();
    follower.says("short\n");
    has_all(&follower.end(), &["x.bwz: file truncated"]);

    let same = Follower::start(&dir, "tail -f x.bwz");
    let named = Follower::start(&dir, "tail -F x.bwz");
    same.says("short\n");
    named.says("short\n");
    fs::rename(dir.path("x.bwz"), dir.path("old.bwz")).unwrap();
    dir.write("x.bwz", &frame("new\n"));
    named.says("new\n");
    assert_eq!(same.end(), "");
    has_all(&named.end(), &["x.bwz: has been replaced"]);
}

#[test]
fn following_ends_with_damage_and_with_a_closed_pipe() {
    let dir = Dir::with(b"some text\n");
    let mut file = dir.compress_x();
    dir.sh("bwz tail -f x.bwz | head -n 1")
        .timeout(Duration::from_secs(60))
        .assert()
        .success()
        .stdout("some text\n");
    let text = file
        .windows(9)
        .position(|window| window == b"some text")
        .expect("a short block is stored as it is");
    file[text] ^= 1;
    dir.write("x.bwz", &file[..file.len() - 20]);
    dir.bwz("tail -f x.bwz")
        .timeout(Duration::from_secs(60))
        .assert()
        .code(2);
    dir.bwz("tail -f x.bwz x.bwz").assert().code(1);
}
