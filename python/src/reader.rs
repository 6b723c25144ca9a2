//! The reader behind `bwz.open`: reads the raw stream from any position.
//!
//! From the start, and from the end of a block that was read alone, a thread decodes ahead. After a
//! jump only the block at the new position is decoded and kept. A caller that jumps again has then
//! not paid for blocks that are never read.

use crate::archive::Handle;
use crate::bytes::to_fill;
use crate::feed::{self, Sink, Taken, Tap};
use crate::progress::Progress;
use crate::source::{Input, SharedStop, Source};
use crate::wait::Stop;
use crate::{errors, settings};
use bwz::Options;
use pyo3::buffer::PyBuffer;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::ops::Range;
use std::sync::Mutex;
use std::thread::{self, JoinHandle};

/// Reads the raw stream of a file.
#[pyclass(module = "bwz._bwz")]
pub struct Reader {
    source: Source,
    options: Options,
    progress: Progress,
    position: u64,
    /// The stream that is decoded ahead, once that has begun.
    ahead: Option<Ahead>,
    /// The last thread that decoded ahead.
    worker: Option<JoinHandle<()>>,
    /// The block at the position of the last jump.
    block: Option<Block>,
    /// The table of blocks, once it is needed.
    table: Option<Table>,
}

/// The raw stream from a position on, as a thread decodes it.
struct Ahead {
    tap: Tap,
    position: u64,
    stop: Stop,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

struct Block {
    start: u64,
    bytes: Vec<u8>,
}

/// The blocks of a file.
struct Table {
    handle: Handle,
    /// End of each block in the raw stream.
    ends: Vec<u64>,
}

impl Table {
    fn size(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The range of the block that holds a position. The position must be within the stream.
    fn block(&self, position: u64) -> Range<u64> {
        let n = self.ends.partition_point(|&end| end <= position);
        let start = n
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        start..self.ends[n]
    }
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (file, seekable, /, *, progress = None, **options))]
    fn new(
        file: &Bound<'_, PyAny>,
        seekable: bool,
        progress: Option<Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = settings::options(file.py(), options)?;
        let progress = Progress::of(progress)?;
        let source = Source::of(file, seekable)?;
        let ahead = None;
        let worker = None;
        let block = None;
        let table = None;
        Ok(Reader {
            source,
            options,
            progress,
            position: 0,
            ahead,
            worker,
            block,
            table,
        })
    }

    /// Fills the start of `buffer`. Returns the number of bytes, which is 0 at the end.
    fn readinto(&mut self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut buffer = PyBuffer::<u8>::get(buffer)?;
        let read = self.read(py, to_fill(&mut buffer)?)?;
        self.progress.add(py, read as u64)?;
        self.position += read as u64;
        Ok(read)
    }

    /// Reads all remaining raw bytes.
    fn readall<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        const PIECE: usize = 1 << 20;
        let mut all = Vec::new();
        let mut filled = 0;
        loop {
            all.resize(filled + PIECE, 0);
            let read = self.read(py, &mut all[filled..])?;
            self.progress.add(py, read as u64)?;
            self.position += read as u64;
            filled += read;
            if read == 0 {
                return Ok(PyBytes::new(py, &all[..filled]));
            }
        }
    }

    /// Sets the position to a raw offset, which may be behind the end.
    fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// Shows Python's garbage collector the callable.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.progress.traverse(&visit)
    }

    /// Raw bytes of the file.
    fn size(&mut self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.table(py)?.size())
    }

    /// Ends all work. A file object is not called any more.
    fn release(&mut self, py: Python<'_>) -> PyResult<()> {
        (self.ahead, self.block) = (None, None);
        self.source.release(py)
    }
}

impl Reader {
    fn read(&mut self, py: Python<'_>, out: &mut [u8]) -> PyResult<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        if let Some(count) = self.read_block(out) {
            return Ok(count);
        }
        if !self.catches_up(py)? {
            self.ahead = None;
            let at_end = self.position > 0 && self.position >= self.table(py)?.size();
            if at_end {
                return Ok(0);
            }
            if !self.goes_on(py, out.len())? {
                self.load_block(py)?;
                return Ok(self.read_block(out).unwrap_or(0));
            }
            self.start(py)?;
        }
        self.block = None;
        let most = out.len();
        self.take(py, Some(out), most)
    }

    /// Reads from the block that is kept, if the position is in it.
    fn read_block(&self, out: &mut [u8]) -> Option<usize> {
        let Block { start, bytes } = self.block.as_ref()?;
        let from = usize::try_from(self.position.checked_sub(*start)?).ok()?;
        let rest = bytes
            .get(from..)
            .filter(|rest| !rest.is_empty())?;
        let count = out.len().min(rest.len());
        out[..count].copy_from_slice(&rest[..count]);
        Some(count)
    }

    /// True if the decoding ahead reaches the position in its current block or the next. Bytes
    /// before the position are skipped.
    fn catches_up(&mut self, py: Python<'_>) -> PyResult<bool> {
        let position = self.position;
        let Some(from) = self.ahead.as_ref().map(|ahead| ahead.position) else {
            return Ok(false);
        };
        if from < position {
            let table = self.table(py)?;
            if position >= table.size() || table.block(position).start > table.block(from).end {
                return Ok(false);
            }
        }
        while let Some(ahead) = self
            .ahead
            .as_ref()
            .filter(|ahead| ahead.position < position)
        {
            let most = usize::try_from(position - ahead.position).unwrap_or(usize::MAX);
            if self.take(py, None, most)? == 0 {
                return Ok(false);
            }
        }
        Ok(self
            .ahead
            .as_ref()
            .is_some_and(|ahead| ahead.position == position))
    }

    /// True if decoding ahead from the position is worth it: at the start, at the end of the block
    /// that was read, or for a large read.
    fn goes_on(&mut self, py: Python<'_>, asked: usize) -> PyResult<bool> {
        let position = self.position;
        if position == 0 || !self.source.is_seekable() {
            return Ok(true);
        }
        let after_block = self
            .block
            .as_ref()
            .is_some_and(|block| block.start + block.bytes.len() as u64 == position);
        let left = self.table(py)?.block(position).end - position;
        Ok(after_block || asked as u64 > left)
    }

    /// Decodes the block at the position.
    fn load_block(&mut self, py: Python<'_>) -> PyResult<()> {
        let position = self.position;
        self.block = None;
        let table = self.table(py)?;
        let range = table.block(position);
        let start = range.start;
        let bytes = table.handle.work(py, move |archive| {
            let mut bytes = Vec::new();
            archive
                .read_range(range, &mut bytes)
                .map(|_| bytes)
        })?;
        self.block = Some(Block { start, bytes });
        Ok(())
    }

    /// Starts a thread that decodes ahead from the position. The thread that did so before ends
    /// first, so that memory is used only once.
    fn start(&mut self, py: Python<'_>) -> PyResult<()> {
        let (sink, tap) = feed::from_work();
        let stop = Stop::default();
        let position = self.position;
        let input = Input::new(
            self.source.clone(),
            SharedStop::new(Mutex::new(stop.clone())),
        );
        let end = if position > 0 {
            Some(self.table(py)?.size())
        } else {
            None
        };
        let options = self.options.clone();
        let before = self.worker.take();
        let work = move || {
            before.map(JoinHandle::join);
            let done = decode(input, position, end, &sink, &options);
            sink.end(done);
        };
        self.worker = Some(
            thread::Builder::new()
                .name("bwz-work".into())
                .spawn(work)?,
        );
        self.ahead = Some(Ahead {
            tap,
            position,
            stop,
        });
        Ok(())
    }

    /// Takes bytes that were decoded ahead, or skips them.
    fn take(&mut self, py: Python<'_>, out: Option<&mut [u8]>, most: usize) -> PyResult<usize> {
        let Some(ahead) = &mut self.ahead else {
            return Ok(0);
        };
        match ahead
            .tap
            .take(py, out, most)
            .inspect_err(|_| self.source.interrupt())?
        {
            Taken::Bytes(count) => {
                ahead.position += count as u64;
                Ok(count)
            }
            Taken::Failed(e) => {
                self.ahead = None;
                Err(errors::raise(py, e))
            }
        }
    }

    fn table(&mut self, py: Python<'_>) -> PyResult<&Table> {
        if self.table.is_none() {
            let handle = Handle::open(py, self.source.clone(), self.options.clone())?;
            let ends = |archive: &mut bwz::Archive<Input>| {
                Ok(archive
                    .blocks()
                    .iter()
                    .map(|block| block.raw.end)
                    .collect())
            };
            let ends = handle.work(py, ends)?;
            self.table = Some(Table { handle, ends });
        }
        Ok(self.table.as_ref().expect("just read"))
    }
}

/// Decodes a whole file with all checks; or, if an end is given, only the range from a position up
/// to that end.
fn decode(
    input: Input,
    position: u64,
    end: Option<u64>,
    sink: &Sink,
    options: &Options,
) -> bwz::Result<()> {
    match end {
        None => bwz::decompress(input, sink, options).map(drop),
        Some(end) => bwz::Archive::open(input, options)?
            .read_range(position..end, sink)
            .map(drop),
    }
}
