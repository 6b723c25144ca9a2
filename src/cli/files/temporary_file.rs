//! The temporary file, of which there is one at a time. It becomes the output when it is complete;
//! otherwise nothing of it remains.
//!
//! If the file system supports it (`O_TMPFILE`), the file has no name, and the system removes it
//! however the command ends. Otherwise its name tells which output it is for, and it is locked
//! while a command writes to it. A file without a lock was left by a command that was killed. The
//! next command that writes the same output removes it.
//!
//! A thread that creates, renames or removes a name holds the lock on it. A signal takes that lock
//! and keeps it until the process is gone, so a signal that can be caught leaves no file.

use crate::cli::files::input::is_same;
use crate::cli::files::input_name::parent;
use rustix::fs::{AtFlags, CWD, FlockOperation, flock, linkat};
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::{CStr, CString, OsString, c_int};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use tempfile::TempPath;

/// The name of the temporary file, if it has one.
static CURRENT: Mutex<Option<CString>> = Mutex::new(None);

fn current() -> MutexGuard<'static, Option<CString>> {
    CURRENT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of commands that write the same output at a time.
const NAMES: usize = 4;

/// Maximum length of an output's name that is part of the temporary file's name. For a longer name
/// its checksum is used.
const LONGEST: usize = 100;

/// A file that becomes its target when it is complete, and is removed otherwise.
pub(crate) struct Temporary {
    file: File,
    /// `None` while the file has no name. Dropping it removes the file.
    name: Option<TempPath>,
}

impl Temporary {
    /// Creates the file with the given permissions, from which the umask is taken away.
    pub(crate) fn beside(target: &Path, mode: u32) -> io::Result<Self> {
        names(target).for_each(|name| remove_if_abandoned(&name));
        match unnamed(parent(target), mode) {
            Some(file) => Ok(Temporary { file, name: None }),
            None => Temporary::named(target, mode),
        }
    }

    fn named(target: &Path, mode: u32) -> io::Result<Self> {
        let mut current = current();
        for name in names(target) {
            let mut file = OpenOptions::new();
            match file
                .read(true)
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(&name)
            {
                // If it cannot be locked, another command took it for an abandoned file in between.
                Ok(file) if lock(&file).is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock) => {}
                Ok(file) if file.metadata()?.nlink() == 0 => {}
                Ok(file) => {
                    *current = Some(CString::new(name.as_os_str().as_bytes())?);
                    return Ok(Temporary {
                        file,
                        name: Some(TempPath::try_from_path(name)?),
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(all_taken())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Makes the file `target`. An existing file is replaced only if `replace`.
    pub(crate) fn persist(mut self, target: &Path, replace: bool) -> io::Result<()> {
        let mut current = current();
        let done = match self.name.take() {
            Some(name) if replace => name.persist(target).map_err(|e| e.error),
            Some(name) => name
                .persist_noclobber(target)
                .map_err(|e| e.error),
            None => match link(&self.file, target) {
                Err(e) if replace && e.kind() == io::ErrorKind::AlreadyExists => {
                    replace_by(&self.file, target, &mut current)
                }
                done => done,
            },
        };
        *current = None;
        done
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            let mut current = current();
            drop(name);
            *current = None;
        }
    }
}

/// The possible names of a temporary file for `target`, in the order in which they are tried.
fn names(target: &Path) -> impl Iterator<Item = PathBuf> {
    let output = target.file_name().unwrap_or_default();
    let output = match output.len() {
        ..=LONGEST => output.to_owned(),
        _ => OsString::from(format!("{:08x}", crc32fast::hash(output.as_bytes()))),
    };
    (0..NAMES).map(move |n| {
        let mut name = OsString::from(".");
        name.push(&output);
        name.push(format!(".bwz-{n}.tmp"));
        target.with_file_name(name)
    })
}

/// Removes a temporary file that no command has open. While this holds the file's lock, no other
/// command renames or removes it.
fn remove_if_abandoned(name: &Path) {
    let mut file = OpenOptions::new();
    file.read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let Ok(file) = file.open(name) else { return };
    if lock(&file).is_ok()
        && let (Ok(opened), Ok(named)) = (file.metadata(), fs::symlink_metadata(name))
        && opened.is_file()
        && is_same(&opened, &named)
    {
        let _ = fs::remove_file(name);
    }
}

/// Opens a file without a name in `dir`, if the file system supports that and can name it later.
#[cfg(target_os = "linux")]
fn unnamed(dir: &Path, mode: u32) -> Option<File> {
    let mut file = OpenOptions::new();
    file.read(true)
        .write(true)
        .mode(mode)
        .custom_flags(libc::O_TMPFILE);
    let file = file.open(dir).ok()?;
    fs::exists(handle(&file))
        .is_ok_and(|there| there)
        .then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_dir: &Path, _mode: u32) -> Option<File> {
    None
}

/// The path by which an open file can be linked.
fn handle(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives a nameless file the name `name`, which must be free.
fn link(file: &File, name: &Path) -> io::Result<()> {
    Ok(linkat(
        CWD,
        handle(file),
        CWD,
        name,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

/// Replaces `target` by a nameless file, which needs a temporary name for a moment.
fn replace_by(file: &File, target: &Path, current: &mut Option<CString>) -> io::Result<()> {
    let _ = lock(file);
    for name in names(target) {
        match link(file, &name) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(()) => {
                *current = Some(CString::new(name.as_os_str().as_bytes())?);
                return TempPath::try_from_path(name)?
                    .persist(target)
                    .map_err(|e| e.error);
            }
        }
    }
    Err(all_taken())
}

fn all_taken() -> io::Error {
    io::Error::new(
        io::ErrorKind::AlreadyExists,
        "too many other processes are writing it at the same time",
    )
}

/// Locks a file until it is closed. It is an error if another process has locked it.
fn lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Removes a name without allocating memory. If there is no such file, nothing happens.
fn unlink(name: &CStr) {
    let _ = rustix::fs::unlink(name);
}

/// Removes the file, for a process that ends at once and can neither wait nor allocate. If another
/// thread is just working on it, the next command removes what remains.
pub(crate) fn abandon() {
    if let Ok(current) = CURRENT.try_lock() {
        current.as_deref().map(unlink);
    }
}

/// Starts a thread that, when a signal ends the command, removes the temporary file and ends the
/// process by that signal.
///
/// A file-size limit does not end the command: SIGXFSZ is handled, so the write fails, and that is
/// treated like a full disk.
pub(crate) fn clean_up_on_signals() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let ignored = ignored_signals();
    let ends = [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2,
    ]
    .into_iter();
    let mut signals = Signals::new(ends.filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    let watch = move || {
        if let Some(signal) = signals.forever().next() {
            end_by(signal);
        }
    };
    match thread::Builder::new()
        .name("bwz-signals".into())
        .spawn(watch)
    {
        Ok(_) => Ok(()),
        Err(e) => {
            let said = format!(
                "cannot start a thread: the system allows this process no more threads (ulimit -u, \
                 or the pids.max of its cgroup), or no memory for one (ulimit -v); raise that \
                 limit: {e}"
            );
            Err(io::Error::new(e.kind(), said))
        }
    }
}

fn end_by(signal: c_int) {
    let current = current();
    current.as_deref().map(unlink);
    let _ = emulate_default_handler(signal);
}

/// Returns the signals that the parent process ignores, as nohup does; they stay ignored. Bit 0 is
/// signal 1.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(dir: &Path) -> Vec<PathBuf> {
        fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// Tests all ways in one test, because there is one temporary file at a time.
    #[test]
    fn it_becomes_the_target_or_nothing() {
        for create in [Temporary::beside, Temporary::named] {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("x");
            let create = || create(&target, 0o600).unwrap();

            drop(create());
            assert!(entries(dir.path()).is_empty());

            create().persist(&target, false).unwrap();
            assert!(target.exists() && current().is_none());

            let error = create().persist(&target, false).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(entries(dir.path()), [&*target]);

            let first = create();
            let second = create();
            second.persist(&target, true).unwrap();
            first.persist(&target, true).unwrap();
            assert_eq!(entries(dir.path()), [&*target]);
        }
    }

    #[test]
    fn only_what_nobody_writes_to_is_removed_and_only_for_its_own_output() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let all: Vec<_> = names(&path("x")).collect();
        for name in all
            .iter()
            .chain(&[path(".y.bwz-0.tmp"), path(".x.bwz-9.tmp"), path(".x.tmp")])
        {
            fs::write(name, "left").unwrap();
        }
        let used = File::open(&all[2]).unwrap();
        lock(&used).unwrap();
        fs::remove_file(&all[1]).unwrap();
        std::os::unix::fs::symlink(path(".x.tmp"), &all[1]).unwrap();
        names(&path("x")).for_each(|name| remove_if_abandoned(&name));
        let mut left = entries(dir.path());
        left.sort();
        let expected = [
            ".x.bwz-1.tmp",
            ".x.bwz-2.tmp",
            ".x.bwz-9.tmp",
            ".x.tmp",
            ".y.bwz-0.tmp",
        ];
        assert_eq!(left, expected.map(path));
    }

    #[test]
    fn names_belong_to_one_output_and_are_never_too_long() {
        let first = |target: &str| names(Path::new(target)).next().unwrap();
        assert_eq!(first("a/x.bwz"), Path::new("a/.x.bwz.bwz-0.tmp"));
        let long = "a/".to_owned() + &"l".repeat(255);
        assert!(first(&long).as_os_str().len() < 30);
        assert_ne!(first(&long), first(&long[..256]));
    }
}
