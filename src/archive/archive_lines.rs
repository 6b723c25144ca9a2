//! Lines that may match an expression, and some blocks of a file in order.

use super::Archive;
use super::archive_file::cost_of;
use crate::base::error::{Error, Result};
use crate::engine::decode;
use crate::engine::raw::{RestoredBlock, Spare};
use crate::engine::thread_pool;
use crate::frame::{BlockInfo, contents};
use crate::options::events::Step;
use crate::search::{LineRegion, LineRequest};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;

impl<R: Read + Seek + Send> Archive<R> {
    /// Finds the lines that hold literals by the index, for a search by an expression whose matches
    /// contain these literals. Returns regions of whole lines, in order. They have all lines that
    /// can match, and other lines beside them. Returns `None` if the whole text is to be scanned:
    /// there is no index of bytes, or scanning costs less.
    ///
    /// ```
    /// use bwz::{Archive, LinePiece, LineRequest, Options};
    /// use std::io::Cursor;
    ///
    /// let options = Options::new().index(bwz::DEFAULT_SAMPLE_RATE)?;
    /// let lines: Vec<String> = (0..100_000).map(|n| format!("line {n}\n")).collect();
    /// let mut file = Vec::new();
    /// bwz::compress(lines.concat().as_bytes(), &mut file, &options)?;
    ///
    /// let mut archive = Archive::open(Cursor::new(file), &options)?;
    /// let request = LineRequest::new(vec![vec![b"no such line".to_vec()]]);
    /// assert_eq!(archive.find_lines(&request)?, Some(vec![]));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Archive::count`].
    pub fn find_lines(&mut self, request: &LineRequest) -> Result<Option<Vec<LineRegion>>> {
        self.file_search().find_lines(request)
    }

    /// Decodes the blocks of these numbers, which ascend. Calls `take` with the number and the raw
    /// bytes of each, in order. The bytes of a block may come in several pieces.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no block of a number; otherwise as
    /// [`decompress`](crate::decompress()), and the errors of `take`.
    pub fn read_blocks(
        &mut self,
        numbers: &[u64],
        mut take: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> Result<()> {
        let mut wanted: Vec<(u64, &BlockInfo)> = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let info = self.contents.blocks.get(number as usize);
            let info =
                info.ok_or_else(|| Error::Usage(format!("there is no block {number}").into()))?;
            self.contents.check_supported_in(&info.raw)?;
            wanted.push((number, info));
        }
        let size = |block: &BlockInfo| block.raw.end - block.raw.start;
        let largest = wanted.iter().max_by_key(|(_, block)| size(block));
        let Some((number, largest)) = largest else {
            return Ok(());
        };
        let options = self
            .options
            .for_work(wanted.iter().map(|(_, block)| size(block)).sum());
        let pool = Arc::new(thread_pool::pool(&options)?);
        let started = decode::start(size(largest), &pool, &Spare::default(), &options);
        let pipeline = started.map_err(|e| e.at(*number, largest.coded.start))?;
        let input = &mut self.input;
        let listener = &self.options.run.listener;
        let coded = wanted.iter().map(|&(n, info)| {
            listener.time(n, Step::Read, || contents::read_block(input, info, n))
        });
        let mut left = wanted.iter();
        let write = |RestoredBlock { raw, .. }| {
            let (number, _) = *left.next().expect("as many come as went");
            let mut pieces = Pieces {
                number,
                take: &mut take,
            };
            listener.time(number, Step::Write, || raw.write(0..raw.len(), &mut pieces))?;
            Ok(())
        };
        pipeline.run(coded, write, || listener.failed())?;
        for (_, info) in &wanted {
            self.cost += cost_of(std::slice::from_ref(info));
        }
        Ok(())
    }
}

/// Gives what is written to a function.
struct Pieces<'t, F> {
    number: u64,
    take: &'t mut F,
}

impl<F: FnMut(u64, &[u8]) -> io::Result<()>> Write for Pieces<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.take)(self.number, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
