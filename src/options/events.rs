//! Events for a listener: warnings, and the times of each step of each block. The thread that did a
//! step, or that waited for those that did it, reports it.
//!
//! The library never prints. [`Options::on_event`](crate::Options::on_event) names the listener,
//! which may be called from any thread.

use crate::base::device::Device;
use std::fmt;
use std::sync::Arc;
#[cfg(test)]
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Something that a caller may want to show to a user.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The work goes on, but not as asked: for example, a GPU failed and the CPU does its blocks.
    /// One line, without the program's name.
    Warning(String),
    /// A step of compressing or decompressing a block is done.
    #[non_exhaustive]
    Done {
        /// The number of the block in the file, from 0.
        block: u64,
        /// Bytes that the step has made. These are raw bytes, but from [`Step::Filter`] to
        /// [`Step::Code`], and from [`Step::Decode`] to [`Step::Invert`], those of the text, which
        /// filters may have made much shorter.
        bytes: u64,
        /// The step.
        step: Step,
        /// Time at which it began.
        from: Instant,
        /// Time at which it ended.
        to: Instant,
    },
    /// The work has failed. [`compress()`](crate::compress()) and
    /// [`decompress()`](crate::decompress()) return the error only when the thread that reads their
    /// input has returned, and that thread may be waiting for bytes that never come. A caller who
    /// can end that wait, for example by shutting down a socket, should do so now.
    Failed,
}

/// A step in the processing of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Reading the block.
    Read,
    /// Applying filters to it, or finding that none is useful.
    Filter,
    /// Copying the block, or its BWT, to a GPU.
    CopyIn,
    /// Sorting its suffixes on this device; for a GPU, a set of one.
    Sort(Device),
    /// Copying the result back from a GPU.
    CopyOut,
    /// Coding its BWT on this device; for a GPU, a set of one.
    Code(Device),
    /// Decoding its BWT on this device; for a GPU, a set of one.
    Decode(Device),
    /// Restoring it from its BWT on this device; for a GPU, a set of one.
    Invert(Device),
    /// Undoing its filters.
    Unfilter,
    /// Checking the restored bytes.
    Check,
    /// Writing it.
    Write,
}

/// A step with its begin and its end.
pub(crate) type Timed = (Step, Instant, Instant);

/// A function that is called with events, or none.
#[derive(Clone, Default)]
pub(crate) struct Listener(Option<Arc<dyn Fn(Event) + Send + Sync>>);

impl Listener {
    /// A listener that is called with every event.
    pub(crate) fn new(listen: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Listener(Some(Arc::new(listen)))
    }

    /// A listener that passes on every event, but of the warnings only the first.
    pub(crate) fn of_first_warning(&self) -> Self {
        let Listener(Some(listen)) = self.clone() else {
            return Listener(None);
        };
        let warned = AtomicBool::new(false);
        Listener::new(move |event| {
            let is_warning = matches!(event, Event::Warning(_));
            if !(is_warning && warned.swap(true, Ordering::Relaxed)) {
                listen(event);
            }
        })
    }

    /// Gives a warning.
    pub(crate) fn warn(&self, what: String) {
        if let Listener(Some(listen)) = self {
            listen(Event::Warning(what));
        }
    }

    /// A listener that keeps the warnings, and the list that it keeps them in.
    #[cfg(test)]
    pub(crate) fn of_warnings() -> (Self, Arc<Mutex<Vec<String>>>) {
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let received = Arc::clone(&warnings);
        let listener = Listener::new(move |event| {
            if let Event::Warning(what) = event {
                received.lock().unwrap().push(what);
            }
        });
        (listener, warnings)
    }

    /// Reports that an error is about to be returned.
    pub(crate) fn failed(&self) {
        if let Listener(Some(listen)) = self {
            listen(Event::Failed);
        }
    }

    /// Reports steps of a block, each of which has made `bytes` bytes.
    pub(crate) fn done(&self, block: u64, bytes: u64, steps: impl IntoIterator<Item = Timed>) {
        if let Listener(Some(listen)) = self {
            for (step, from, to) in steps {
                listen(Event::Done {
                    block,
                    bytes,
                    step,
                    from,
                    to,
                });
            }
        }
    }

    /// Does one step of a block, which makes `bytes` bytes, and reports it if it succeeds.
    pub(crate) fn time<T, E>(
        &self,
        block: u64,
        bytes: u64,
        step: Step,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let from = Instant::now();
        let made = work()?;
        self.done(block, bytes, [(step, from, Instant::now())]);
        Ok(made)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Listener(..)"
        } else {
            "Listener(none)"
        })
    }
}
