//! `Compressor` and `Decompressor`: bytes in, bytes out, step by step.

use crate::bytes::Lent;
use crate::{errors, settings, wait};
use bwz::{Event, Options, Step, Summary};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{process, thread};

/// Maximum number of bytes that wait for the caller before the work waits for it.
const AHEAD: usize = 1 << 20;
/// Size of a footer, which ends a frame, in bytes.
pub const FOOTER: usize = 36;

/// True if the bytes are a footer, so that a frame may end there.
#[pyfunction]
pub fn is_footer(data: &[u8]) -> bool {
    data.try_into()
        .is_ok_and(|bytes: &[u8; FOOTER]| bwz::internals::footer(bytes).is_ok())
}

/// The state that the caller and the work share.
#[derive(Default)]
struct State {
    input: VecDeque<u8>,
    /// True if no more input comes.
    closed: bool,
    /// True if the result is no longer wanted.
    abandoned: bool,
    /// True if the caller knows that the work failed or was interrupted: nothing more comes.
    over: bool,
    /// True if the work waits for input.
    hungry: bool,
    /// The last bytes that the work took, without zeros at their end, which may be padding.
    last: VecDeque<u8>,
    /// Number of zeros behind these bytes, up to the highest number that matters.
    zeros: usize,
    /// Number of blocks that the work has begun and not yet output.
    owed: u64,
    output: VecDeque<u8>,
    /// Number of output bytes for which the caller waits.
    wanted: usize,
    end: Option<bwz::Result<Summary>>,
}

impl State {
    /// True if nothing more comes without more input.
    fn is_idle(&self) -> bool {
        self.end.is_some() || self.over || self.hungry && self.input.is_empty() && self.owed == 0
    }

    /// Ends the work. The caller knows why.
    fn give_up(&mut self) {
        (self.abandoned, self.over) = (true, true);
    }

    /// Records the bytes that were taken.
    fn note(&mut self, taken: &[u8]) {
        let Some(end) = taken
            .iter()
            .rposition(|&byte| byte != 0)
            .map(|last| last + 1)
        else {
            self.zeros = FOOTER.min(self.zeros + taken.len());
            return;
        };
        self.last
            .extend(std::iter::repeat_n(0, self.zeros));
        self.last
            .extend(&taken[end.saturating_sub(FOOTER)..end]);
        let old = self.last.len().saturating_sub(FOOTER);
        self.last.drain(..old);
        self.zeros = FOOTER.min(taken.len() - end);
    }

    /// True if the bytes taken so far end at the end of a frame, or in padding behind one.
    fn is_at_end(&self) -> bool {
        let last: Vec<u8> = self.last.iter().copied().collect();
        self.is_idle() && is_footer(&last)
    }
}

type Work = fn(Exchange, Exchange, &Options) -> bwz::Result<Summary>;

/// Work on another thread with its input and output, and the id of the process that has the thread.
#[derive(Clone)]
struct Exchange(Arc<(Mutex<State>, Condvar)>, u32);

impl Exchange {
    /// Fails in a forked process, since the thread has stayed behind.
    fn check_process(&self) -> PyResult<()> {
        if self.1 != process::id() {
            let said = "it belongs to the process that made it: make one in this process";
            return Err(PyValueError::new_err(said));
        }
        Ok(())
    }

    /// Reports that the result is no longer wanted.
    fn abandon(&self) {
        if self.1 == process::id() {
            self.change(|state| state.abandoned = true);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes the threads that wait.
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.0.1.notify_all();
    }

    /// Waits until `is_so` holds, up to a time limit, and then changes the state.
    fn wait_for<T>(
        &self,
        time: Option<Duration>,
        is_so: impl Fn(&State) -> bool,
        change: impl FnOnce(&mut State) -> T,
    ) -> Option<T> {
        let state = self.lock();
        let changed = &self.0.1;
        let mut state = match time {
            Some(time) => {
                let waited = changed.wait_timeout_while(state, time, |state| !is_so(state));
                let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                if timeout.timed_out() {
                    return None;
                }
                state
            }
            None => changed
                .wait_while(state, |state| !is_so(state))
                .unwrap_or_else(PoisonError::into_inner),
        };
        let changed = change(&mut state);
        self.0.1.notify_all();
        Some(changed)
    }

    /// Starts the work on a thread. A panic of the thread ends the work too.
    fn start(py: Python<'_>, options: Option<&Bound<'_, PyDict>>, work: Work) -> PyResult<Self> {
        let exchange = Exchange(Arc::default(), process::id());
        let options = watched(settings::options(py, options)?, &exchange);
        let here = exchange.clone();
        let worker = move || {
            let ending = Ending(here.clone());
            let end = work(here.clone(), here, &options);
            ending.0.change(|state| state.end = Some(end));
        };
        thread::Builder::new()
            .name("bwz-work".into())
            .spawn(worker)?;
        Ok(exchange)
    }

    /// Gives input and takes output: until all input is processed, or until there are `most` bytes.
    fn step(&self, py: Python<'_>, data: &[u8], most: usize, all: bool) -> PyResult<Vec<u8>> {
        self.check_process()?;
        self.change(|state| {
            state.input.extend(data);
            state.wanted = most;
        });
        // Without `all`, the waiting input is bounded.
        let is_done = |state: &State| {
            state.is_idle() || state.output.len() >= most || !all && state.input.len() <= AHEAD
        };
        let taken = wait::until(py, |time| {
            self.wait_for(Some(time), is_done, |state| {
                state.wanted = 0;
                let count = most.min(state.output.len());
                state.output.drain(..count).collect::<Vec<u8>>()
            })
        });
        let taken = taken.inspect_err(|_| self.change(State::give_up))?;
        if taken.is_empty() {
            self.check(py)?;
        }
        Ok(taken)
    }

    /// Fails if the work has failed.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.lock();
        match state.end.take_if(|end| end.is_err()) {
            Some(Err(e)) => {
                state.give_up();
                drop(state);
                Err(errors::raise(py, e))
            }
            _ if state.over => Err(PyValueError::new_err(
                "it has failed before, or was interrupted",
            )),
            _ => Ok(()),
        }
    }
}

/// Reports that the work has panicked, unless it has ended.
struct Ending(Exchange);

impl Drop for Ending {
    fn drop(&mut self) {
        if thread::panicking() {
            let panicked = || bwz::Error::Io(io::Error::other(wait::panicked()));
            self.0
                .change(|state| state.end = Some(Err(panicked())));
        }
    }
}

impl Read for Exchange {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.change(|state| state.hungry = true);
        let is_so = |state: &State| !state.input.is_empty() || state.closed || state.abandoned;
        let read = self.wait_for(None, is_so, |state| {
            if state.abandoned {
                return Err(io::Error::other("abandoned"));
            }
            state.hungry = false;
            let count = state.input.read(out)?;
            state.note(&out[..count]);
            Ok(count)
        });
        read.unwrap_or(Ok(0))
    }
}

impl Write for Exchange {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let has_room =
            |state: &State| state.output.len() < state.wanted.max(AHEAD) || state.abandoned;
        let written = self.wait_for(None, has_room, |state| {
            if state.abandoned {
                return Err(io::Error::other("abandoned"));
            }
            let count = bytes.len().min(AHEAD);
            state.output.extend(&bytes[..count]);
            Ok(count)
        });
        written.unwrap_or(Ok(0))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compresses bytes that come step by step into one frame.
#[pyclass(frozen, module = "bwz._bwz")]
pub struct Compressor(Exchange);

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let work: Work = |input, output, options| bwz::compress(input, output, options);
        Exchange::start(py, options, work).map(Compressor)
    }

    /// Takes `data` and returns the bytes that are compressed by now.
    fn compress<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_open()?;
        let data = Lent::of(data)?;
        Ok(PyBytes::new(
            py,
            &self
                .0
                .step(py, data.as_ref(), usize::MAX, false)?,
        ))
    }

    /// Ends the frame and returns the rest of it.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.check_open()?;
        finish(&self.0, py)
    }
}

impl Compressor {
    fn check_open(&self) -> PyResult<()> {
        self.0.check_process()?;
        if self.0.lock().closed {
            return Err(PyValueError::new_err("the compressor has been flushed"));
        }
        Ok(())
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// All output until the work ends.
fn finish<'py>(exchange: &Exchange, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
    exchange.check_process()?;
    exchange.change(|state| (state.closed, state.wanted) = (true, usize::MAX));
    let ended = wait::until(py, |time| {
        exchange.wait_for(
            Some(time),
            |state| state.end.is_some() || state.over,
            |state| state.output.drain(..).collect::<Vec<u8>>(),
        )
    });
    let rest = ended.inspect_err(|_| exchange.change(State::give_up))?;
    exchange.check(py)?;
    Ok(PyBytes::new(py, &rest))
}

/// Decompresses bytes that come step by step, of one frame or several.
#[pyclass(frozen, module = "bwz._bwz")]
pub struct Decompressor(Exchange);

#[pymethods]
impl Decompressor {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let work: Work = |input, output, options| bwz::decompress(input, output, options);
        Exchange::start(py, options, work).map(Decompressor)
    }

    /// Takes `data` and returns all that it decompresses to, or up to `max_length` bytes of that.
    #[pyo3(signature = (data, max_length = -1))]
    fn decompress<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        max_length: isize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.0.check_process()?;
        if self.0.lock().closed {
            return Err(PyValueError::new_err("the decompressor has been flushed"));
        }
        let data = Lent::of(data)?;
        let most = usize::try_from(max_length).unwrap_or(usize::MAX);
        Ok(PyBytes::new(
            py,
            &self.0.step(py, data.as_ref(), most, true)?,
        ))
    }

    /// Reports the end of the input and returns the rest of the output.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        finish(&self.0, py)
    }

    /// True if the input ends with a frame, and all of its output was returned.
    #[getter]
    fn eof(&self) -> bool {
        let state = self.0.lock();
        state.output.is_empty() && state.is_at_end()
    }

    /// True if nothing more comes without more input.
    #[getter]
    fn needs_input(&self) -> bool {
        let state = self.0.lock();
        state.output.is_empty() && state.is_idle() && !state.closed
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Options whose listener counts the blocks in progress. It also ends the wait for input if the
/// work has failed.
fn watched(options: Options, exchange: &Exchange) -> Options {
    let there = exchange.clone();
    options.on_event(move |event| match event {
        Event::Done {
            step: Step::Read, ..
        } => there.change(|state| state.owed += 1),
        Event::Done {
            step: Step::Write, ..
        } => {
            there.change(|state| state.owed = state.owed.saturating_sub(1));
        }
        Event::Failed => there.change(|state| state.abandoned = true),
        _ => {}
    })
}
