//! Events of the work, for a listener: warnings, and when each step of each block was done.
//! A step is reported by the thread that did it, or waited for those that did.
//!
//! The library never prints. [`Options::on_event`](crate::Options::on_event) names the listener,
//! which may be called from any thread.

use crate::device::Device;
use std::fmt;
use std::sync::Arc;
#[cfg(test)]
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Something that a caller may want to tell a person.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Work goes on, but not as asked: a GPU failed, say, and the CPU does its blocks. One line,
    /// without a name in front.
    Warning(String),
    /// A step of compressing or decompressing a block is done.
    Done {
        /// The number of the block in the file, from 0.
        block: u64,
        /// What was done.
        step: Step,
        /// When it began.
        from: Instant,
        /// When it ended.
        to: Instant,
    },
    /// The work has failed. [`compress()`](crate::compress()) and
    /// [`decompress()`](crate::decompress()) give the error back once the thread that reads their
    /// input lets go of it, and it may be waiting for bytes that never come: whoever can end that
    /// wait, by shutting a socket down say, should do so now.
    Failed,
}

/// A step on a block's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Reading it.
    Read,
    /// Applying filters to it, or seeing that none suits it.
    Filter,
    /// Copying it, or its transform, to a GPU.
    CopyIn,
    /// Sorting its suffixes on this device; a GPU is a set of one.
    Sort(Device),
    /// Copying what came of it back from a GPU.
    CopyOut,
    /// Coding its transform on this device; a GPU is a set of one.
    Code(Device),
    /// Decoding its transform on this device; a GPU is a set of one.
    Decode(Device),
    /// Restoring it from its transform on this device; a GPU is a set of one.
    Invert(Device),
    /// Undoing its filters.
    Unfilter,
    /// Checking what was restored.
    Check,
    /// Writing it.
    Write,
}

/// A step with its times.
pub(crate) type Timed = (Step, Instant, Instant);

/// A function that is called with events, or none.
#[derive(Clone, Default)]
pub(crate) struct Listener(Option<Arc<dyn Fn(Event) + Send + Sync>>);

impl Listener {
    /// A listener that is called with every event.
    pub fn new(listen: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Listener(Some(Arc::new(listen)))
    }

    /// The same listener, but of warnings it is given the first alone.
    pub fn of_first_warning(&self) -> Self {
        let Listener(Some(listen)) = self.clone() else { return Listener(None) };
        let warned = AtomicBool::new(false);
        Listener::new(move |event| {
            let is_warning = matches!(event, Event::Warning(_));
            if !(is_warning && warned.swap(true, Ordering::Relaxed)) {
                listen(event);
            }
        })
    }

    /// Gives a warning.
    pub fn warn(&self, what: String) {
        if let Listener(Some(listen)) = self {
            listen(Event::Warning(what));
        }
    }

    /// One that keeps the warnings.
    #[cfg(test)]
    pub fn of_warnings() -> (Self, Arc<Mutex<Vec<String>>>) {
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let received = Arc::clone(&warnings);
        let listener = Listener::new(move |event| {
            if let Event::Warning(what) = event {
                received.lock().unwrap().push(what);
            }
        });
        (listener, warnings)
    }

    /// Says that an error is about to be given back.
    pub fn failed(&self) {
        if let Listener(Some(listen)) = self {
            listen(Event::Failed);
        }
    }

    /// Reports steps of a block.
    pub fn done(&self, block: u64, steps: impl IntoIterator<Item = Timed>) {
        if let Listener(Some(listen)) = self {
            for (step, from, to) in steps {
                listen(Event::Done { block, step, from, to });
            }
        }
    }

    /// Does one step of a block and reports it, unless it fails.
    pub fn time<T, E>(
        &self,
        block: u64,
        step: Step,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let from = Instant::now();
        let made = work()?;
        self.done(block, [(step, from, Instant::now())]);
        Ok(made)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Listener(..)" } else { "Listener(none)" })
    }
}
