//! A separate directory for each test, and the command run in it.

use crate::say::skip;
use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const BWZ: &str = env!("CARGO_BIN_EXE_bwz");

pub struct Dir(TempDir);

impl Dir {
    pub fn new() -> Self {
        Dir(tempfile::tempdir().unwrap())
    }

    /// A directory with the file `x` in it.
    pub fn with(bytes: &[u8]) -> Self {
        let dir = Dir::new();
        dir.write("x", bytes);
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// The names of all files, temporary ones included.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub fn link(&self, to: impl AsRef<Path>, name: &str) {
        symlink(to, self.path(name)).unwrap();
    }

    /// `bwz` in this directory with these arguments, separated by blanks, and with an empty
    /// standard input.
    pub fn bwz(&self, arguments: &str) -> Command {
        let mut command = self.run(BWZ);
        command.args(arguments.split_whitespace());
        command
    }

    pub fn run(&self, program: impl AsRef<Path>) -> Command {
        Command::from_std(self.process(program))
    }

    /// A shell command that finds `bwz` on its path.
    pub fn sh(&self, script: &str) -> Command {
        let mut command = self.run("bash");
        command.args(["-c", script]);
        command
    }

    /// A program in this directory, for tests that talk to the process while it runs.
    pub fn process(&self, program: impl AsRef<Path>) -> process::Command {
        let mut command = process::Command::new(program.as_ref());
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = Path::new(BWZ).parent().unwrap().display();
        command
            .current_dir(self.root())
            .env("PATH", format!("{bin}:{path}"));
        command
            .env_remove("BWZ_OPT")
            .stdin(process::Stdio::null());
        command
    }

    /// `x` compressed in blocks of 1 MiB, as `x.bwz`.
    pub fn compress_x(&self) -> Vec<u8> {
        self.bwz("-1 -f x").assert().success();
        self.read("x.bwz")
    }
}

/// Compressible text of `size` bytes.
pub fn text(size: usize) -> Vec<u8> {
    let lines = (0_u64..).flat_map(|n| format!("{} {n}\n", n * n * 7919 % 10_007).into_bytes());
    lines.take(size).collect()
}

/// Bytes that do not compress.
pub fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(size).collect()
}

/// The standard error of a command.
pub fn stderr(assert: assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

pub fn stdout(assert: assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// Asserts that `text` has every part.
#[track_caller]
pub fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

/// Waits until something holds, but not forever.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{what} never came"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

/// The temporary file that a process writes in a directory. If it has no name, it is found as an
/// open file of the process.
pub fn temporary(dir: &Dir, pid: u32) -> Option<PathBuf> {
    let open = format!("/proc/{pid}/fd");
    let root = dir.root().canonicalize().unwrap();
    if !fs::exists(&open).unwrap() {
        return dir
            .names()
            .into_iter()
            .find(|name| name.ends_with(".tmp"))
            .map(|n| dir.path(&n));
    }
    let mut files = fs::read_dir(open)
        .ok()?
        .filter_map(|file| Some(file.ok()?.path()));
    files.find(|file| {
        fs::read_link(file).is_ok_and(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            path.parent() == Some(&root) && name.starts_with(['#', '.'])
        })
    })
}

/// Waits until a process has its temporary file, and returns it.
#[track_caller]
pub fn wait_for_temporary(dir: &Dir, pid: u32) -> PathBuf {
    wait_until("the temporary file", || temporary(dir, pid).is_some());
    temporary(dir, pid).expect("it stays until the end")
}

/// True if a program is installed. Prints a message if it is not.
pub fn is_there(program: &str) -> bool {
    let found = process::Command::new(program)
        .arg("--version")
        .output()
        .is_ok();
    if !found {
        skip(format_args!("{program} is not installed"));
    }
    found
}

pub fn send(signal: &str, pid: u32) {
    let sent = process::Command::new("kill")
        .args([signal, &pid.to_string()])
        .status();
    assert!(sent.unwrap().success());
}
