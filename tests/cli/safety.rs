//! No data is lost and no file is left behind: full disks, limits, signals, files that change while
//! they are read.

use crate::say::skip;
use crate::support::{BWZ, Dir, has_all, noise, send, stderr, text, wait_for_temporary};
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes processes started from here end by these signals, even if the parent of the tests ignores
/// them, as nohup does. A signal that is handled here has its default action in a child.
pub fn undo_nohup() {
    for (_, number) in SIGNALS {
        let as_ever = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(number, as_ever).unwrap();
    }
}

/// Starts `bwz` on a pipe that delivers `input` and then stalls. Waits until `bwz` has a temporary
/// file.
fn stalled(dir: &Dir, arguments: &str, input: &[u8]) -> Child {
    undo_nohup();
    let mut process = dir.process(BWZ);
    process
        .args(arguments.split(' '))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = process.spawn().unwrap();
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(input)
        .unwrap();
    wait_for_temporary(dir, child.id());
    child
}

const SIGNALS: [(&str, i32); 3] = [("-HUP", 1), ("-INT", 2), ("-TERM", 15)];

#[test]
fn a_signal_ends_compression_without_a_trace() {
    for (signal, number) in SIGNALS {
        let dir = Dir::new();
        let mut child = stalled(&dir, "-1 -o y.bwz", &text(3_000_000));
        send(signal, child.id());
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        assert!(dir.names().is_empty(), "{signal}: {:?}", dir.names());
    }
}

#[test]
fn a_signal_during_decompression_leaves_the_old_file() {
    for (signal, number) in SIGNALS {
        let dir = Dir::with(&text(3_000_000));
        let file = dir.compress_x();
        dir.write("y", b"old");
        let mut child = stalled(&dir, "-d -f -o y", &file[..file.len() * 9 / 10]);
        send(signal, child.id());
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        assert_eq!(dir.read("y"), b"old");
        assert_eq!(dir.names(), ["x", "x.bwz", "y"]);
    }
}

#[test]
fn a_signal_leaves_the_input_file_as_it_was() {
    undo_nohup();
    let content = text(24_000_000);
    let dir = Dir::with(&content);
    let mut child = dir
        .process(BWZ)
        .args(["-1", "-T1", "--rm", "x"])
        .spawn()
        .unwrap();
    wait_for_temporary(&dir, child.id());
    send("-STOP", child.id());
    send("-INT", child.id());
    send("-CONT", child.id());
    assert_eq!(child.wait().unwrap().signal(), Some(2));
    assert_eq!(dir.names(), ["x"]);
    assert!(dir.read("x") == content);
}

#[test]
fn signals_that_were_turned_off_stay_off() {
    if !fs::exists("/proc/self/status").unwrap() {
        skip("only /proc tells which signals are turned off");
        return;
    }
    let dir = Dir::new();
    let mut process = dir.process("bash");
    process
        .args(["-c", "trap '' HUP; exec bwz -1 -o y.bwz"])
        .stdin(Stdio::piped());
    let mut child = process.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&text(1_500_000)).unwrap();
    wait_for_temporary(&dir, child.id());
    send("-HUP", child.id());
    drop(input);
    assert!(child.wait().unwrap().success());
    dir.bwz("-t y.bwz").assert().success();
}

#[test]
fn a_file_size_limit_is_like_a_full_disk() {
    let dir = Dir::with(&noise(400_000));
    let said = stderr(dir.sh("ulimit -f 100; bwz x").assert().code(1));
    has_all(&said, &["bwz: x: cannot write x.bwz: File too large"]);
    assert_eq!(dir.names(), ["x"]);

    dir.compress_x();
    dir.write("y", b"old");
    dir.sh("ulimit -f 100; bwz -d -f --rm x.bwz -o y")
        .assert()
        .code(1);
    assert_eq!(dir.read("y"), b"old");
    assert_eq!(dir.names(), ["x", "x.bwz", "y"]);
    dir.sh("ulimit -f 100; bwz -dc x.bwz > z")
        .assert()
        .code(1);
}

/// A separate file system, unmounted at the end.
struct Small<'a>(&'a Dir);

impl<'a> Small<'a> {
    fn mount(dir: &'a Dir) -> Option<Self> {
        fs::create_dir(dir.path("small")).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=256k", "none"])
            .arg(dir.path("small"));
        match mount.output() {
            Ok(output) if output.status.success() => Some(Small(dir)),
            _ => {
                skip("this user may not mount a tmpfs");
                None
            }
        }
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg(self.0.path("small"))
            .status();
    }
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let dir = Dir::with(&noise(1_500_000));
    let Some(_small) = Small::mount(&dir) else {
        return;
    };
    dir.compress_x();
    let full = "No space left on device";
    has_all(
        &stderr(dir.bwz("-1 x -o small/y.bwz").assert().code(1)),
        &["small/y.bwz", full],
    );
    has_all(
        &stderr(dir.bwz("-d x.bwz -o small/y").assert().code(1)),
        &["small/y", full],
    );
    dir.bwz("recover x.bwz -o small/y")
        .assert()
        .code(1);
    assert_eq!(fs::read_dir(dir.path("small")).unwrap().count(), 0);

    dir.write("small/x", &noise(200_000));
    dir.bwz("--rm small/x").assert().code(1);
    assert_eq!(dir.read("small/x"), noise(200_000));
    assert_eq!(fs::read_dir(dir.path("small")).unwrap().count(), 1);
}

#[test]
fn a_full_device_is_code_1() {
    if !fs::exists("/dev/full").unwrap() {
        skip("there is no /dev/full");
        return;
    }
    let dir = Dir::with(b"text");
    let full = "No space left on device";
    has_all(
        &stderr(dir.sh("bwz -c x > /dev/full").assert().code(1)),
        &["standard output", full],
    );
    has_all(
        &stderr(dir.bwz("x -o /dev/full --rm").assert().code(1)),
        &["/dev/full", full],
    );
    assert_eq!(dir.names(), ["x"]);
    dir.compress_x();
    for arguments in ["-l x.bwz", "man", "completions fish", "-l --json x.bwz"] {
        has_all(
            &stderr(
                dir.sh(&format!("bwz {arguments} > /dev/full"))
                    .assert()
                    .code(1),
            ),
            &[full],
        );
    }
}

#[test]
fn a_file_that_appears_meanwhile_is_not_overwritten() {
    let dir = Dir::new();
    let mut child = stalled(&dir, "-1 -o y.bwz", &text(1_500_000));
    dir.write("y.bwz", b"somebody else's");
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    has_all(
        &String::from_utf8_lossy(&output.stderr),
        &["cannot write y.bwz: File exists"],
    );
    assert_eq!(dir.read("y.bwz"), b"somebody else's");
    assert_eq!(dir.names(), ["y.bwz"]);
}

#[test]
fn an_input_that_is_replaced_meanwhile_is_not_removed() {
    let dir = Dir::with(&text(24_000_000));
    let mut process = dir.process(BWZ);
    process
        .args(["-1", "-T1", "--rm", "x"])
        .stderr(Stdio::piped());
    let child = process.spawn().unwrap();
    wait_for_temporary(&dir, child.id());
    dir.write("new", b"new");
    fs::rename(dir.path("new"), dir.path("x")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(dir.read("x"), b"new");
    assert_eq!(dir.names(), ["x", "x.bwz"]);
}

#[test]
fn fifos_are_written_to_as_they_are() {
    let dir = Dir::with(b"through a pipe");
    dir.compress_x();
    dir.sh("mkfifo fifo; bwz -d x.bwz -o fifo & cat fifo; wait")
        .assert()
        .stdout("through a pipe");
    assert_eq!(dir.names(), ["fifo", "x", "x.bwz"]);
    dir.sh("bwz -f fifo & cat x > fifo; wait")
        .assert()
        .success();
    dir.bwz("-dc fifo.bwz")
        .assert()
        .success()
        .stdout("through a pipe");
}

#[test]
fn what_is_being_written_is_private_until_it_is_done() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::with(&text(24_000_000));
    let mut child = dir
        .process(BWZ)
        .args(["-1", "-T1", "x"])
        .spawn()
        .unwrap();
    let temporary = wait_for_temporary(&dir, child.id());
    send("-STOP", child.id());
    let mode = fs::metadata(temporary)
        .unwrap()
        .permissions()
        .mode();
    send("-CONT", child.id());
    assert!(child.wait().unwrap().success());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(dir.names(), ["x", "x.bwz"]);
}
