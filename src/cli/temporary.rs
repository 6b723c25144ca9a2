//! The one temporary file that there is at a time, and signals that must not leave it behind.
//!
//! Whoever creates, renames or removes it holds the lock on its path. A signal takes that lock and keeps it until the
//! process is gone, so there is no moment at which a file could slip through.

use super::files::parent;
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::c_int;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use tempfile::{Builder, NamedTempFile};

static CURRENT: Mutex<Option<PathBuf>> = Mutex::new(None);

fn current() -> MutexGuard<'static, Option<PathBuf>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file beside its target that becomes the target when it is whole, and is removed if it never is.
pub struct Temporary(Option<NamedTempFile>);

impl Temporary {
    /// Creates it with the given permissions, of which the umask takes its share.
    pub fn beside(target: &Path, mode: u32) -> io::Result<Self> {
        let mut current = current();
        let file = Builder::new()
            .prefix(".bwz-")
            .suffix(".tmp")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(parent(target))?;
        *current = Some(file.path().to_owned());
        Ok(Temporary(Some(file)))
    }

    pub fn file(&self) -> &File {
        self.0.as_ref().expect("it is there until it is persisted").as_file()
    }

    /// Renames it to `target`, over a file that may be there only where `replace` says so.
    pub fn persist(mut self, target: &Path, replace: bool) -> io::Result<()> {
        let mut current = current();
        let file = self.0.take().expect("it is there until it is persisted");
        let done = if replace { file.persist(target) } else { file.persist_noclobber(target) };
        let done = done.map(drop).map_err(|e| e.error);
        *current = None;
        done
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let mut current = current();
            drop(file);
            *current = None;
        }
    }
}

/// Has a thread remove the temporary file when a signal ends the command, then end it by that signal.
///
/// A file-size limit is no reason to die: without SIGXFSZ the write fails, and that is handled like a full disk.
pub fn clean_up_on_signals() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let ignored = ignored_signals();
    let ends = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2].into_iter();
    let mut signals = Signals::new(ends.filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    thread::Builder::new().name("bwz-signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end_by(signal);
        }
    })?;
    Ok(())
}

fn end_by(signal: c_int) {
    let current = current();
    if let Some(path) = &*current {
        let _ = fs::remove_file(path);
    }
    let _ = emulate_default_handler(signal);
}

/// Signals that whoever started us has turned off, as nohup does; they stay off. Bit 0 is signal 1.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    /// One test, because there is one temporary file at a time.
    #[test]
    fn it_becomes_the_target_or_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");

        drop(Temporary::beside(&target, 0o600).unwrap());
        assert_eq!(entries(dir.path()), 0);

        Temporary::beside(&target, 0o600).unwrap().persist(&target, false).unwrap();
        assert!(target.exists() && current().is_none());

        let second = Temporary::beside(&target, 0o600).unwrap();
        let error = second.persist(&target, false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(entries(dir.path()), 1);

        Temporary::beside(&target, 0o600).unwrap().persist(&target, true).unwrap();
        assert_eq!(entries(dir.path()), 1);
    }
}
