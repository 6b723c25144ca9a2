//! Progress of compression and decompression: a callable of Python gets numbers of raw bytes.
//!
//! The work counts the raw bytes of each block that it has written, and a reader those that it has
//! returned. The thread of the caller passes them on while it waits, so the callable runs in no
//! other thread, and an exception that it raises ends the work as Ctrl-C does.

use bwz::{Event, Options, Step};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A callable and the bytes that it has not been told of, or no callable.
#[derive(Default)]
pub struct Progress {
    callable: Option<Py<PyAny>>,
    untold: Arc<AtomicU64>,
}

impl Progress {
    /// The progress for `callable`, which may be `None`.
    ///
    /// # Errors
    /// `TypeError` if it is not callable.
    pub fn of(callable: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        if let Some(object) = &callable
            && !object.is_callable()
        {
            let said = format!("progress is a callable, not {object:?}");
            return Err(PyTypeError::new_err(said));
        }
        Ok(Progress {
            callable: callable.map(Bound::unbind),
            untold: Arc::default(),
        })
    }

    /// The options with a listener that counts the raw bytes of blocks that are written.
    pub fn counted(&self, options: Options) -> Options {
        if self.callable.is_none() {
            return options;
        }
        let untold = Arc::clone(&self.untold);
        options.on_event(move |event| {
            if let Event::Done {
                step: Step::Write,
                bytes,
                ..
            } = event
            {
                untold.fetch_add(bytes, Ordering::Relaxed);
            }
        })
    }

    /// Counts `bytes`, and passes them on.
    pub fn add(&self, py: Python<'_>, bytes: u64) -> PyResult<()> {
        self.untold.fetch_add(bytes, Ordering::Relaxed);
        self.tell(py)
    }

    /// Calls the callable with the bytes counted since the last call, if there are any.
    pub fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let Some(callable) = &self.callable else {
            return Ok(());
        };
        match self.untold.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            bytes => callable.call1(py, (bytes,)).map(drop),
        }
    }

    /// Shows the callable to Python's garbage collector: it may refer to the file that has it.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.callable)
    }
}
