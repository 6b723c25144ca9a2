//! The writer behind `bwz.open`: bytes in, one frame out to a file or a file object. A thread
//! compresses and writes.

use crate::bytes::Lent;
use crate::feed::{self, Given, Giver};
use crate::progress::Progress;
use crate::source::{Output, Source};
use crate::{errors, settings, wait};
use bwz::{Encoder, Options};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io::{self, Write};
use std::thread;

/// Writes one frame.
#[pyclass(module = "bwz._bwz")]
pub struct Writer {
    giver: Option<Giver>,
    output: Source,
    progress: Progress,
    end: Receiver<bwz::Result<bwz::Summary>>,
}

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (file, /, *, progress = None, **options))]
    fn new(
        file: &Bound<'_, PyAny>,
        progress: Option<Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let progress = Progress::of(progress)?;
        let options = progress.counted(settings::options(file.py(), options)?);
        let output = Source::of(file, false)?;
        let (giver, input) = feed::to_work();
        let (ended, end) = bounded(1);
        let out = Output(output.clone());
        thread::Builder::new()
            .name("bwz-work".into())
            .spawn(move || drop(ended.send(compress(&input, out, &options))))?;
        Ok(Writer {
            giver: Some(giver),
            output,
            progress,
            end,
        })
    }

    /// Takes all of `data`. Returns its number of bytes.
    fn write(&mut self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        let data = Lent::of(data)?;
        let giver = self.giver.as_mut().ok_or_else(has_ended)?;
        let given = giver.give(py, &self.progress, data.as_ref());
        self.check(py, given)?;
        Ok(data.as_ref().len())
    }

    /// Ends the block that is being filled. Returns when all bytes so far are written.
    fn end_block(&mut self, py: Python<'_>) -> PyResult<()> {
        let giver = self.giver.as_mut().ok_or_else(has_ended)?;
        let ended = giver.end_block(py, &self.progress);
        self.check(py, ended)
    }

    /// Writes the rest and ends the frame. Returns the raw and the compressed size.
    fn finish(&mut self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let giver = self.giver.take().ok_or_else(has_ended)?;
        match giver
            .finish(py, &self.progress)
            .and_then(|_| self.wait(py))
        {
            Ok(end) => {
                self.output.release(py)?;
                let summary = end.map_err(|e| errors::raise(py, e))?;
                Ok((summary.raw_size, summary.coded_size))
            }
            Err(raised) => {
                self.output.interrupt();
                self.abandon(py)?;
                Err(raised)
            }
        }
    }

    /// Shows Python's garbage collector the callable.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.progress.traverse(&visit)
    }

    /// True if no more can be written: the frame is finished, or writing has failed.
    #[getter]
    fn has_ended(&self) -> bool {
        self.giver.is_none()
    }

    /// Ends the work without the rest. A file object is not called any more.
    fn abandon(&mut self, py: Python<'_>) -> PyResult<()> {
        self.output.release(py)?;
        self.giver = None;
        Ok(())
    }
}

impl Writer {
    fn wait(&self, py: Python<'_>) -> PyResult<bwz::Result<bwz::Summary>> {
        let end = wait::until_telling(py, &self.progress, |time| {
            match self.end.recv_timeout(time) {
                Err(RecvTimeoutError::Timeout) => None,
                end => Some(end.ok()),
            }
        })?;
        end.ok_or_else(wait::panicked)
    }

    /// Passes on the result of giving something to the work: false if the work has ended, or an
    /// exception, which ends the work.
    fn check(&mut self, py: Python<'_>, given: PyResult<bool>) -> PyResult<()> {
        match given {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.failed(py)),
            Err(raised) => {
                self.output.interrupt();
                self.abandon(py)?;
                Err(raised)
            }
        }
    }

    /// The error for work that has ended too early.
    fn failed(&mut self, py: Python<'_>) -> PyErr {
        self.giver = None;
        match self.wait(py) {
            Ok(Ok(_)) => wait::panicked(),
            Ok(Err(e)) => errors::raise(py, e),
            Err(raised) => raised,
        }
    }
}

fn has_ended() -> PyErr {
    PyValueError::new_err("the file is finished, or has failed before")
}

/// Compresses what is given into one frame.
fn compress(
    input: &Receiver<Given>,
    output: Output,
    options: &Options,
) -> bwz::Result<bwz::Summary> {
    let mut encoder = Encoder::new(output, options);
    loop {
        match input.recv() {
            Ok(Given::Bytes(bytes)) => encoder.write_all(&bytes)?,
            Ok(Given::EndOfBlock(written)) => {
                encoder.flush()?;
                // If the caller was interrupted, it does not wait for this.
                let _ = written.send(());
            }
            Ok(Given::End) => return Ok(encoder.finish()?.1),
            Err(_) => return Err(io::Error::other("abandoned").into()),
        }
    }
}
