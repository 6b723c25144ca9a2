//! CRC-32 of any range ahead of a scan. No range is read again for each query. FORMAT.md chapter 7.
//!
//! The checksum of a range follows from the checksums of two prefixes: the one that ends at its
//! start and the one that ends at its end. Prefixes are kept for every [`CELL`] bytes, from the
//! scan's position to the furthest end of a query so far. All of these bytes are read once. Memory:
//! 4 bytes per cell, which is 1/128 of the largest payload that a query covers.

use crc32fast::Hasher;
use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// Bytes between two kept prefixes. Each query reads up to this many bytes again, at each of its
/// two ends.
const CELL: usize = 512;

/// Bytes read at a time.
const PIECE: usize = 128 * CELL;

/// Checksums of the prefixes of a part of a file.
#[derive(Default)]
pub(crate) struct RangeChecksums {
    /// Start of the first cell.
    start: u64,
    /// The CRC-32 of everything before each cell, and of everything before the end of the last
    /// cell.
    prefixes: VecDeque<u32>,
    buffer: Vec<u8>,
}

impl RangeChecksums {
    /// The CRC-32 of a range that is within the file and does not start before the previous query.
    pub(crate) fn of<R: Read + Seek>(
        &mut self,
        input: &mut R,
        range: Range<u64>,
    ) -> io::Result<u32> {
        self.forget_before(range.start);
        self.reach(input, range.end)?;
        let before = self.prefix(input, range.start)?;
        let all = self.prefix(input, range.end)?;
        let zeros = Hasher::new_with_initial_len(0, range.end - range.start);
        let mut shifted = Hasher::new_with_initial(before);
        shifted.combine(&zeros);
        Ok(shifted.finalize() ^ all)
    }

    /// End of the last known prefix.
    fn end(&self) -> u64 {
        self.start + (self.prefixes.len().saturating_sub(1) * CELL) as u64
    }

    fn forget_before(&mut self, pos: u64) {
        if self.prefixes.is_empty() || pos >= self.end() + CELL as u64 {
            self.start = pos;
            self.prefixes.clear();
            self.prefixes.push_back(0);
        }
        let cells = (pos.saturating_sub(self.start) / CELL as u64) as usize;
        self.prefixes.drain(..cells);
        self.start += (cells * CELL) as u64;
    }

    /// Reads on up to the cell that contains `pos`.
    fn reach<R: Read + Seek>(&mut self, input: &mut R, pos: u64) -> io::Result<()> {
        while self.end() + CELL as u64 <= pos {
            let size = ((pos - self.end()) as usize).min(PIECE) / CELL * CELL;
            let mut last = self.prefixes.back().copied().unwrap_or(0);
            self.read(input, self.end(), size)?;
            for cell in self.buffer.chunks(CELL) {
                last = append(last, cell);
                self.prefixes.push_back(last);
            }
        }
        Ok(())
    }

    /// The CRC-32 of everything up to `pos`, which lies in a known cell.
    fn prefix<R: Read + Seek>(&mut self, input: &mut R, pos: u64) -> io::Result<u32> {
        let cell = (pos - self.start) as usize / CELL;
        let start = self.start + (cell * CELL) as u64;
        self.read(input, start, (pos - start) as usize)?;
        Ok(append(self.prefixes[cell], &self.buffer))
    }

    fn read<R: Read + Seek>(&mut self, input: &mut R, pos: u64, size: usize) -> io::Result<()> {
        self.buffer.resize(size, 0);
        input.seek(SeekFrom::Start(pos))?;
        input.read_exact(&mut self.buffer)
    }
}

/// The checksum of a prefix with the checksum `before`, followed by `bytes`.
fn append(before: u32, bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(before);
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn ranges_may_overlap_touch_and_lie_apart() {
        let file: Vec<u8> = (0..300_000_u64)
            .map(|n| ((n * n * 7919) >> 7) as u8)
            .collect();
        let mut checksums = RangeChecksums::default();
        for (start, end) in [
            (0, 0),
            (0, 1),
            (3, 511),
            (3, 200_000),
            (40, 200_040),
            (80, 512),
            (1024, 1024 + 512),
            (100_000, 100_001),
            (199_999, 200_041),
            (200_100, 200_700),
            (250_000, 300_000),
            (300_000, 300_000),
        ] {
            let found = checksums
                .of(&mut Cursor::new(&file), start..end)
                .unwrap();
            assert_eq!(
                found,
                crc32fast::hash(&file[start as usize..end as usize]),
                "{start}"
            );
        }
    }
}
