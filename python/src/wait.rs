//! Waiting for threads while checking for signals.
//!
//! Python runs signal handlers on its main thread, and only if that thread asks for them. So long
//! work is done on a thread of its own; the caller waits without the GIL and asks twenty times a
//! second. If a handler raises, as for Ctrl-C, the work is told to stop and the caller does not
//! wait for its end. The thread finishes its current piece, at most one block, unseen.

use crate::progress::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Maximum time for which a signal waits.
pub const TICK: Duration = Duration::from_millis(50);

/// Tells the threads of some work that its result is no longer wanted.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Calls `poll` until it has a result. Each call may wait for the time that it is given.
pub fn until<T: Send>(
    py: Python<'_>,
    poll: impl FnMut(Duration) -> Option<T> + Send,
) -> PyResult<T> {
    until_telling(py, &Progress::default(), poll)
}

/// As [`until`], but also passes on `progress`, the last of it before the result is returned.
pub fn until_telling<T: Send>(
    py: Python<'_>,
    progress: &Progress,
    mut poll: impl FnMut(Duration) -> Option<T> + Send,
) -> PyResult<T> {
    loop {
        let found = py.detach(|| poll(TICK));
        progress.tell(py)?;
        if let Some(found) = found {
            return Ok(found);
        }
        py.check_signals()?;
    }
}

/// Does `work` on a thread of its own and waits for its result.
///
/// # Errors
/// The exception that a signal handler raises; `stop` is then set. `RuntimeError` if the work
/// panicked.
pub fn on_thread<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    on_thread_telling(py, stop, &Progress::default(), work)
}

/// As [`on_thread`], but also passes on `progress`. An exception that its callable raises ends the
/// work too.
pub fn on_thread_telling<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    progress: &Progress,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    waited(py, stop, progress, work, |_| ())
}

/// As [`on_thread`], but also waits for the end of work that a signal stops, since it writes to
/// memory of the caller.
pub fn on_thread_to_end<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    waited(py, stop, &Progress::default(), work, |result| {
        py.detach(|| drop(result.recv()));
    })
}

/// Does `work` on a thread. `end` is called after an exception has stopped it.
fn waited<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    progress: &Progress,
    work: impl FnOnce() -> T + Send + 'static,
    end: impl FnOnce(&crossbeam_channel::Receiver<T>),
) -> PyResult<T> {
    let (done, result) = crossbeam_channel::bounded(1);
    let worker = thread::Builder::new().name("bwz-work".into());
    worker.spawn(move || drop(done.send(work())))?;
    let poll = |time| match result.recv_timeout(time) {
        Err(crossbeam_channel::RecvTimeoutError::Timeout) => None,
        result => Some(result.ok()),
    };
    match until_telling(py, progress, poll) {
        Ok(result) => result.ok_or_else(panicked),
        Err(raised) => {
            stop.stop();
            end(&result);
            Err(raised)
        }
    }
}

/// The error for a thread that ended without a result.
pub fn panicked() -> PyErr {
    PyRuntimeError::new_err(
        "a thread of bwz panicked; please report it, with what it said on stderr",
    )
}
