//! A damaged file through the command: each use of it, as a process that is watched.

use super::library::occurrences;
use super::tally::End;
use crate::common::mutation::random::Random;
use bwz::{Archive, Options};
use std::fs::{self, File};
use std::io::{self, Cursor};
use std::mem::MaybeUninit;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A process that takes longer is counted as hanging, and is killed.
const MOST_TIME: Duration = Duration::from_secs(10);

/// Maximum memory of a process, in bytes.
pub const MOST_MEMORY: usize = 1 << 30;

/// The unit of `ru_maxrss`.
const KILOBYTE: usize = if cfg!(target_os = "macos") {
    1
} else {
    1 << 10
};

/// The folder of the files, and the highest memory of a process of the last case.
pub struct Shell {
    dir: TempDir,
    pub slowest: Duration,
    /// In bytes. The memory of this process when it started the other one counts too.
    pub largest: usize,
}

/// True if the tables of a file contradict its blocks.
fn has_wrong_tables(file: &[u8]) -> bool {
    let archive = Archive::open(Cursor::new(file), &Options::new().memory(64 << 20));
    archive.is_ok_and(|mut archive| archive.check_tables().is_err())
}

/// The exit code of a process, and its output.
struct Ended {
    code: i32,
    out: Vec<u8>,
}

impl Shell {
    pub fn new() -> Self {
        Shell {
            dir: tempfile::tempdir().unwrap(),
            slowest: Duration::ZERO,
            largest: 0,
        }
    }

    /// Uses `file` in every way. Returns the output of `-d` and how it ended. Panics if anything is
    /// wrong.
    pub fn visit(&mut self, file: &[u8], random: &mut Random) -> (Vec<u8>, End) {
        (self.slowest, self.largest) = (Duration::ZERO, 0);
        fs::write(self.dir.path().join("x.bwz"), file).unwrap();
        let decompressed = self.bwz(&["-dc", "x.bwz"]);
        let tested = self.bwz(&["-t", "x.bwz"]);
        // No restored byte depends on a table. Only `-t` compares tables with the blocks.
        if !(tested.code == 2 && decompressed.code == 0 && has_wrong_tables(file)) {
            assert_eq!(tested.code, decompressed.code, "-t and -d");
        }
        let listed = self.bwz(&["-lv", "x.bwz"]);
        let sound = decompressed.code == 0;
        assert!(
            !sound || listed.code == 0,
            "-l of a sound file: {}",
            listed.code
        );
        let read = self.bwz(&["cat", "--range", "0..", "x.bwz"]);
        let same = read.code == 0 && read.out == decompressed.out;
        assert!(!sound || same, "cat of a sound file: {}", read.code);
        self.parts(&read, random);
        let options = Options::new().memory(64 << 20);
        match Archive::open(Cursor::new(file), &options) {
            Ok(archive) if archive.has_sequences() => self.sequences(),
            _ => self.searches(&read, sound, random),
        }
        let recovered = self.bwz(&["recover", "x.bwz", "-o", "-"]);
        let alike = recovered.code == 0 && recovered.out == decompressed.out;
        assert!(
            !sound || alike,
            "recover of a sound file: {}",
            recovered.code
        );
        let end = match decompressed.code {
            0 => End::Accepted,
            1 => End::Refused,
            _ => End::Rejected("rejected".to_owned()),
        };
        (decompressed.out, end)
    }

    /// Reads parts of a file by `cat` and `extract`; the whole of it is `read`.
    fn parts(&mut self, read: &Ended, random: &mut Random) {
        let size = read.out.len().max(100);
        let start = random.below(size);
        let end = start + random.below(size - start);
        let range = format!("{start}..{end}");
        for way in ["cat", "extract"] {
            let part = self.bwz(&[way, "--range", &range, "x.bwz"]);
            if read.code == 0 && end <= read.out.len() && part.code == 0 {
                assert!(part.out == read.out[start..end], "{way}: other bytes");
            }
        }
    }

    /// Searches a file of sequences. The searches must end in order for any file.
    fn sequences(&mut self) {
        self.bwz(&["count", "x.bwz", "-e", "ACGT", "--revcomp", "--verify"]);
        self.bwz(&[
            "locate",
            "x.bwz",
            "-e",
            "GATTACA",
            "--max-mismatches",
            "1",
            "--bed",
        ]);
        self.bwz(&["-l", "--records", "x.bwz"]);
        self.bwz(&["extract", "--region", "first:2-5", "x.bwz"]);
    }

    /// Searches a file; the whole of it is `read`. Searches that check everything find the same as
    /// a plain search, or fail.
    fn searches(&mut self, read: &Ended, sound: bool, random: &mut Random) {
        let from = random.below(read.out.len());
        let to = read.out.len().min(from + 1 + random.below(4));
        let pattern = if to > from { &read.out[from..to] } else { b"a" };
        let hex: String = pattern
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let arguments = ["x.bwz", "--hex", "-e", &hex, "--limit", "5", "--verify"];
        let kept = if random.one_in(2) { 7 } else { 6 };
        let located = self.bwz(&[&["locate"], &arguments[..kept]].concat());
        let counted = self.bwz(&["count", "x.bwz", "--hex", "-e", &hex, "--verify"]);
        let wanted = occurrences(&read.out, pattern);
        let code = i32::from(wanted.is_empty());
        let last = |ended: &Ended| {
            String::from_utf8_lossy(&ended.out)
                .lines()
                .last()
                .map(last_field)
        };
        if sound || counted.code < 2 {
            assert!(
                read.code == 0 && counted.code == code,
                "count: {}",
                counted.code
            );
            assert_eq!(last(&counted), Some(wanted.len() as u64), "a wrong count");
        }
        if sound || kept == 7 && located.code < 2 {
            assert!(
                read.code == 0 && located.code == code,
                "locate: {}",
                located.code
            );
            assert!(
                last(&located).is_none_or(|at| wanted.contains(&at)),
                "a wrong position"
            );
        }
    }

    /// Runs the command. Panics unless it ends as it should.
    #[allow(
        clippy::zombie_processes,
        reason = "waited for by number, to learn what it took"
    )]
    fn bwz(&mut self, arguments: &[&str]) -> Ended {
        let path = |name: &str| self.dir.path().join(name);
        let log = |name: &str| Stdio::from(File::create(path(name)).unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_bwz"))
            .args(arguments)
            .args(limits(arguments))
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(log("out"))
            .stderr(log("err"))
            .spawn()
            .unwrap();
        let started = Instant::now();
        let (status, memory) = wait(child.id() as libc::pid_t).unwrap();
        self.slowest = self.slowest.max(started.elapsed());
        self.largest = self.largest.max(memory);
        let said = String::from_utf8_lossy(&fs::read(path("err")).unwrap()).into_owned();
        assert!(
            libc::WIFEXITED(status),
            "{arguments:?}: status {status:#x}, {said}"
        );
        let code = libc::WEXITSTATUS(status);
        assert!(
            (0..=2).contains(&code),
            "{arguments:?}: code {code}, {said}"
        );
        assert!(
            code == 0 || !said.is_empty() || searches(arguments),
            "{arguments:?} says nothing"
        );
        assert!(
            memory <= MOST_MEMORY,
            "{arguments:?}: {memory} bytes of memory"
        );
        Ended {
            code,
            out: fs::read(path("out")).unwrap(),
        }
    }
}

/// The options for memory and threads, for commands that have them.
fn limits(arguments: &[&str]) -> &'static [&'static str] {
    if arguments[0].starts_with("-l") {
        &[]
    } else {
        &["--memory", "200M", "--threads", "2"]
    }
}

/// True for commands whose exit code 1 means that nothing was found.
fn searches(arguments: &[&str]) -> bool {
    ["count", "locate"].contains(&arguments[0])
}

fn last_field(line: &str) -> u64 {
    line.rsplit('\t')
        .next()
        .and_then(|field| field.parse().ok())
        .expect("a number at the end")
}

/// Waits for a child process, or kills it if it takes too long. Returns its status and its peak
/// memory in bytes.
fn wait(pid: libc::pid_t) -> io::Result<(i32, usize)> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both places are valid, and zeros are a value of a rusage.
        let (ended, usage) = unsafe {
            let ended = libc::wait4(pid, &mut status, libc::WNOHANG, usage.as_mut_ptr());
            (ended, usage.assume_init())
        };
        match ended {
            0 if started.elapsed() > MOST_TIME => {
                // SAFETY: the process is a child of ours that was not waited for, so that the
                // number is its own.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
            0 => {}
            -1 => return Err(io::Error::last_os_error()),
            _ => return Ok((status, usage.ru_maxrss as usize * KILOBYTE)),
        }
        thread::sleep(pause);
        pause = Duration::from_millis(5).min(pause * 2);
    }
}
