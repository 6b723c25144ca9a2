//! Lines that may match an expression, by the index, and some blocks of a file in order.

use super::Archive;
use super::archive_file::cost_of;
use crate::base::error::{Error, Result};
use crate::options::events::Step;
use crate::search::{LineRegion, LineRequest};
use std::io::{self, Read, Seek, Write};

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
        for &number in numbers {
            let info = self.contents.blocks.get(number as usize);
            let info =
                info.ok_or_else(|| Error::Usage(format!("there is no block {number}").into()))?;
            self.contents.check_supported_in(&info.raw)?;
        }
        self.restore_blocks(numbers, |block, listener, number| {
            let mut pieces = Pieces {
                number,
                take: &mut take,
            };
            let write = || block.raw.write(0..block.raw.len(), &mut pieces);
            listener.time(number, block.raw.len() as u64, Step::Write, write)?;
            Ok(())
        })?;
        for &number in numbers {
            let info = &self.contents.blocks[number as usize];
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
