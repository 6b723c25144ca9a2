//! The writer behind `bwz.open`: bytes in, one frame out to a file or a file object. A thread
//! compresses and writes.

use crate::bytes::Lent;
use crate::feed::{self, Giver};
use crate::source::{Output, Source};
use crate::{errors, settings, wait};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::thread;

/// Writes one frame.
#[pyclass(module = "bwz._bwz")]
pub struct Writer {
    giver: Option<Giver>,
    output: Source,
    end: Receiver<bwz::Result<bwz::Summary>>,
}

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (file, /, **options))]
    fn new(file: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = settings::options(file.py(), options)?;
        let output = Source::of(file, false)?;
        let (giver, taker) = feed::to_work();
        let (ended, end) = bounded(1);
        let out = Output(output.clone());
        thread::Builder::new()
            .name("bwz-work".into())
            .spawn(move || drop(ended.send(bwz::compress(taker, out, &options))))?;
        Ok(Writer {
            giver: Some(giver),
            output,
            end,
        })
    }

    /// Takes all of `data`. Returns its number of bytes.
    fn write(&mut self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        let data = Lent::of(data)?;
        let Some(giver) = &mut self.giver else {
            return Err(PyValueError::new_err(
                "the file is finished, or has failed before",
            ));
        };
        match giver.give(py, data.as_ref()) {
            Ok(true) => Ok(data.as_ref().len()),
            Ok(false) => Err(self.failed(py)),
            Err(raised) => {
                self.output.interrupt();
                self.abandon(py)?;
                Err(raised)
            }
        }
    }

    /// Writes the rest and ends the frame. Returns the raw and the compressed size.
    fn finish(&mut self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let Some(giver) = self.giver.take() else {
            return Err(PyValueError::new_err(
                "the file is finished, or has failed before",
            ));
        };
        match giver.finish(py).and_then(|_| self.wait(py)) {
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
        let end = wait::until(py, |time| match self.end.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => None,
            end => Some(end.ok()),
        })?;
        end.ok_or_else(wait::panicked)
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
