//! `compress` and `decompress`: bytes in, bytes out.

use crate::bytes::Lent;
use crate::wait::{self, Stop};
use crate::{errors, settings};
use bwz::Options;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::io::{self, Read, Write};

/// The most bytes that the calling thread compresses by itself: to start another takes as long.
/// What few bytes decompress to may be much.
const SMALL: usize = 64 << 10;

#[pyfunction]
#[pyo3(signature = (data, /, **options))]
pub fn compress<'py>(
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    transform(data, options, SMALL, |input, output, options| bwz::compress(input, output, options))
}

#[pyfunction]
#[pyo3(signature = (data, /, **options))]
pub fn decompress<'py>(
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    transform(data, options, 0, |input, output, options| bwz::decompress(input, output, options))
}

type Work = fn(Stoppable<&[u8]>, Stoppable<&mut Vec<u8>>, &Options) -> bwz::Result<bwz::Summary>;

fn transform<'py>(
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
    small: usize,
    work: Work,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let options = settings::options(py, options)?;
    let data = Lent::of(data)?;
    let stop = Stop::default();
    let is_small = data.as_ref().len() <= small;
    let there = stop.clone();
    let work = move || {
        let mut out = Vec::new();
        let input = Stoppable(data.as_ref(), there.clone());
        work(input, Stoppable(&mut out, there), &options).map(|_| out)
    };
    let out = if is_small { py.detach(work) } else { wait::on_thread(py, &stop, work)? };
    out.map(|out| PyBytes::new(py, &out)).map_err(|e| errors::raise(py, e))
}

/// An input or output that fails once nobody wants what comes of it.
struct Stoppable<T>(T, Stop);

impl<T> Stoppable<T> {
    fn check(&self) -> io::Result<()> {
        if self.1.is_stopped() { Err(io::Error::other("stopped")) } else { Ok(()) }
    }
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.0.read(out)
    }
}

impl<W: Write> Write for Stoppable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
