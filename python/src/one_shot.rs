//! `compress` and `decompress`: bytes in, bytes out.

use crate::bytes::{Lent, NewBytes};
use crate::progress::Progress;
use crate::wait::{self, Stop};
use crate::{errors, settings};
use bwz::Options;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

/// Maximum number of bytes that the calling thread compresses by itself: starting another thread
/// takes as long. This does not hold for decompression, since few bytes may decompress to many.
const SMALL: usize = 64 << 10;

/// Limit on the size that a file claims for its raw bytes, as a multiple of its own size. A larger
/// claim is not believed before the file is decompressed.
const BELIEVED: u64 = 64;

#[pyfunction]
#[pyo3(signature = (data, /, *, progress = None, **options))]
pub fn compress<'py>(
    data: &Bound<'py, PyAny>,
    progress: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let work: Work = |input, output, options| bwz::compress(input, output, options);
    transform(data, progress, options, SMALL, |_, _| 0, work)
}

#[pyfunction]
#[pyo3(signature = (data, /, *, progress = None, **options))]
pub fn decompress<'py>(
    data: &Bound<'py, PyAny>,
    progress: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let work: Work = |input, output, options| bwz::decompress(input, output, options);
    transform(data, progress, options, 0, raw_size, work)
}

type Work = fn(Stoppable<&[u8]>, Stoppable<&mut NewBytes>, &Options) -> bwz::Result<bwz::Summary>;

/// The bytes that `work` makes of `data`. `room` is their number, if it is known.
fn transform<'py>(
    data: &Bound<'py, PyAny>,
    progress: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
    small: usize,
    room: fn(&[u8], &Options) -> usize,
    work: Work,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let progress = Progress::of(progress)?;
    let options = progress.counted(settings::options(py, options)?);
    let data = Lent::of(data)?;
    let room = py.detach(|| room(data.as_ref(), &options));
    let mut out = NewBytes::with_room(py, room)?;
    let stop = Stop::default();
    let is_small = data.as_ref().len() <= small;
    let there = stop.clone();
    let work = move || {
        let input = Stoppable(data.as_ref(), there.clone());
        work(input, Stoppable(&mut out, there), &options).map(|_| out)
    };
    let out = if is_small {
        let out = py.detach(work);
        progress.tell(py)?;
        out
    } else {
        wait::on_thread_telling(py, &stop, &progress, work)?
    };
    out.map_err(|e| errors::raise(py, e))?.finish(py)
}

/// The number of raw bytes that a file claims, if it is believable, and 0 if the end of the file
/// makes no sense. The true number is known only after decompression.
fn raw_size(file: &[u8], options: &Options) -> usize {
    let archive = bwz::Archive::open(Cursor::new(file), options);
    let size = archive.map_or(0, |archive| archive.raw_size());
    if size / BELIEVED <= file.len() as u64 {
        size as usize
    } else {
        0
    }
}

/// An input or output that fails once its result is no longer wanted.
pub struct Stoppable<T>(pub T, pub Stop);

impl<T> Stoppable<T> {
    fn check(&self) -> io::Result<()> {
        if self.1.is_stopped() {
            Err(io::Error::other("stopped"))
        } else {
            Ok(())
        }
    }
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.0.read(out)
    }
}

impl<S: Seek> Seek for Stoppable<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
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
