//! Waiting for threads, with an eye on signals.
//!
//! Python runs signal handlers on its main thread, and only while that thread asks for them. So
//! what takes long is done on a thread of its own; the caller waits without the GIL and asks twenty
//! times a second. When a handler raises, as Ctrl-C does, the work is told to stop and nobody waits
//! for its end: what a thread has in hand, a block at most, it finishes unseen.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The longest time for which a signal waits.
pub const TICK: Duration = Duration::from_millis(50);

/// Says to the threads of a piece of work that nobody wants it any more.
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

/// Asks `poll`, which may wait for the time that it is given, until it has something.
pub fn until<T: Send>(
    py: Python<'_>,
    mut poll: impl FnMut(Duration) -> Option<T> + Send,
) -> PyResult<T> {
    loop {
        if let Some(found) = py.detach(|| poll(TICK)) {
            return Ok(found);
        }
        py.check_signals()?;
    }
}

/// Does `work` on a thread of its own and waits for what it gives.
///
/// # Errors
/// What a signal handler raises; `stop` is set then. `RuntimeError` where the work panicked.
pub fn on_thread<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, result) = crossbeam_channel::bounded(1);
    let worker = thread::Builder::new().name("bwz-work".into());
    worker.spawn(move || drop(done.send(work())))?;
    let poll = |time| match result.recv_timeout(time) {
        Err(crossbeam_channel::RecvTimeoutError::Timeout) => None,
        result => Some(result.ok()),
    };
    match until(py, poll) {
        Ok(result) => result.ok_or_else(panicked),
        Err(raised) => {
            stop.stop();
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
