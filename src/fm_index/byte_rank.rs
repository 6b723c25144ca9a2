//! Byte rank with counters: 16-bit counters at regular borders, and a count of equal bytes from the
//! nearest one.
//!
//! The BWT stays as it is, a byte per symbol. Every second or fourth cache line begins with a
//! border. At a border there is a 16-bit counter for each symbol that occurs. It counts from the
//! last of regular super borders; their counters of all bytes before them stay in the cache. The
//! border nearest to an index is at most one line away for alphabets of up to 128 symbols, else
//! two. The bytes between are compared with the symbol in a few vector instructions. So a rank
//! costs one miss for the counter and one for the bytes, for any alphabet; a wavelet tree costs one
//! or two for each of its levels.
//!
//! Counters are in the order of frequency, so that those of the 32 most frequent symbols, which
//! nearly all steps need, share a line. The cache then has to hold only one line per border.
//!
//! Bits per symbol: 8, and for counters 4 more for alphabets of up to 32 symbols, 8 up to 64, and
//! 16 for larger ones.

use super::rank::{Rank, no_memory};
use crate::base::cache_lines::{CacheLines, LINE, equal, prefetch};
use crate::base::error::Result;
use crate::base::positions::Row;
use rayon::prelude::*;

/// Lines from one super border to the next: 32 Ki bytes.
const SUPER_LINES: usize = 512;

/// Number of 16-bit counters in a line.
const PER_LINE: usize = LINE / 2;

/// Bytes that one task copies.
const PIECE: usize = 1 << 20;

/// The layout for any alphabet.
#[derive(Debug)]
pub(crate) struct ByteRank<R> {
    pub(super) bytes: Vec<u8>,
    /// Offset of the first byte in its cache line. Places are counted from the start of that line.
    pub(super) skew: usize,
    /// Base-2 logarithm of the number of lines from one border to the next: 1 or 2.
    pub(super) log: usize,
    /// Counters per border, a multiple of those in a line.
    pub(super) stride: usize,
    pub(super) columns: Box<[u8; 256]>,
    /// `counters[border * stride + column]`.
    pub(super) counters: CacheLines<u16>,
    /// `supers[super border * stride + column]`.
    pub(super) supers: Vec<R>,
}

impl<R: Row> ByteRank<R> {
    /// Builds the layout. `by_count` lists all symbols, the most frequent first; `sigma` of them
    /// occur.
    pub(crate) fn new(bytes: Vec<u8>, by_count: &[u8], sigma: usize) -> Result<Self> {
        let mut columns = Box::new([0; 256]);
        for (column, &symbol) in by_count[..sigma].iter().enumerate() {
            columns[usize::from(symbol)] = column as u8;
        }
        let skew = bytes.as_ptr() as usize % LINE;
        let log = if sigma <= 128 { 1 } else { 2 };
        let stride = sigma.next_multiple_of(PER_LINE);
        // A border for each line that has it as its nearest, including the line behind the last
        // byte.
        let borders = (nearest((bytes.len() + skew) / LINE, log) >> log) + 1;
        let counters = CacheLines::zeroed(borders * stride).ok_or_else(no_memory)?;
        let mut rank = ByteRank {
            bytes,
            skew,
            log,
            stride,
            columns,
            counters,
            supers: Vec::new(),
        };
        rank.count_all(borders);
        Ok(rank)
    }

    /// Fills both tables. The stretches between super borders are counted in parallel.
    fn count_all(&mut self, borders: usize) {
        let ByteRank {
            ref bytes,
            skew,
            log,
            stride,
            ref columns,
            ..
        } = *self;
        let per_super = SUPER_LINES >> log;
        let stretch = |n: usize| {
            let place = |line: usize| {
                (line * LINE)
                    .saturating_sub(skew)
                    .min(bytes.len())
            };
            &bytes[place(n * SUPER_LINES)..place((n + 1) * SUPER_LINES)]
        };
        let sums: Vec<Vec<u32>> = self.counters[..borders * stride]
            .par_chunks_mut(per_super * stride)
            .enumerate()
            .map(|(n, counters)| {
                let first = if n == 0 { skew } else { 0 };
                count_stretch(counters, stretch(n), first, columns, log, stride)
            })
            .collect();
        let mut total = vec![R::default(); stride];
        for sum in sums {
            self.supers.extend_from_slice(&total);
            total
                .iter_mut()
                .zip(sum)
                .for_each(|(total, sum)| *total += R::from(sum));
        }
    }

    /// Number of a symbol before the border at the start of `line`, by the symbol's column.
    #[inline(always)]
    fn above(&self, column: usize, line: usize) -> R {
        let above = self.supers[line / SUPER_LINES * self.stride + column];
        above
            + R::from(u32::from(
                self.counters[(line >> self.log) * self.stride + column],
            ))
    }

    /// A bit for each place of a line, set if it holds `c`.
    #[inline(always)]
    fn equal(&self, c: u8, line: usize) -> u64 {
        match (line * LINE)
            .checked_sub(self.skew)
            .and_then(|at| self.bytes.get(at..at + LINE))
        {
            Some(bytes) => equal(bytes.first_chunk().expect("a whole line"), c),
            None => self.equal_in_part(c, line),
        }
    }

    /// Does [`ByteRank::equal`] for the first and the last line, which may be incomplete.
    #[cold]
    fn equal_in_part(&self, c: u8, line: usize) -> u64 {
        let byte = |bit: usize| {
            self.bytes
                .get((line * LINE + bit).wrapping_sub(self.skew))
        };
        (0..LINE)
            .map(|bit| u64::from(byte(bit) == Some(&c)) << bit)
            .sum()
    }

    /// Number of `c` before a place of a line; `equal` has the bits of the line's places that hold
    /// `c`.
    #[inline(always)]
    fn before(&self, c: u8, line: usize, equal: u64, place: usize) -> R {
        let border = nearest(line, self.log);
        let mut count = self.above(usize::from(self.columns[usize::from(c)]), border);
        for between in border..line {
            count += R::from(self.equal(c, between).count_ones());
        }
        for between in line + 1..border {
            count = count - R::from(self.equal(c, between).count_ones());
        }
        if border <= line {
            count + R::from((equal & below(place)).count_ones())
        } else {
            count - R::from((equal & !below(place)).count_ones())
        }
    }
}

/// The line of the border nearest to a line: at most one line away for `log` 1, and two below or
/// one above for `log` 2.
#[inline(always)]
fn nearest(line: usize, log: usize) -> usize {
    (line + (1 << log >> 1)) >> log << log
}

/// The bits below a place of a line.
#[inline(always)]
fn below(place: usize) -> u64 {
    (1 << (place % LINE)) - 1
}

/// Fills the counters of one stretch, whose first byte is `first` bytes into its line, and returns
/// its sums.
fn count_stretch(
    counters: &mut [u16],
    bytes: &[u8],
    first: usize,
    columns: &[u8; 256],
    log: usize,
    stride: usize,
) -> Vec<u32> {
    let mut sums = vec![0u32; stride];
    let mut rest = bytes;
    let mut size = (LINE << log) - first;
    for row in counters.chunks_exact_mut(stride) {
        row.iter_mut()
            .zip(&sums)
            .for_each(|(counter, &sum)| *counter = sum as u16);
        let piece = rest
            .split_off(..size.min(rest.len()))
            .unwrap_or_default();
        piece
            .iter()
            .for_each(|&c| sums[usize::from(columns[usize::from(c)])] += 1);
        size = LINE << log;
    }
    sums
}

impl<R: Row> Rank<R> for ByteRank<R> {
    #[inline(always)]
    fn rank(&self, c: u8, at: usize) -> R {
        let place = at + self.skew;
        let line = place / LINE;
        self.before(c, line, self.equal(c, line), place)
    }

    #[inline(always)]
    fn rank_pair(&self, c: u8, lo: usize, hi: usize) -> (R, R) {
        let place = lo + self.skew;
        let line = place / LINE;
        let equal = self.equal(c, line);
        let first = self.before(c, line, equal, place);
        if line == (hi + self.skew) / LINE {
            let between = equal & below(hi + self.skew) & !below(place);
            return (first, first + R::from(between.count_ones()));
        }
        (first, self.rank(c, hi))
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    fn copy_to(&self, bytes: &mut [u8]) {
        let pieces = bytes
            .par_chunks_mut(PIECE)
            .zip(self.bytes.par_chunks(PIECE));
        pieces.for_each(|(to, from)| to.copy_from_slice(&from[..to.len()]));
    }

    #[inline(always)]
    fn prefetch(&self, c: u8, at: usize) {
        let border = nearest((at + self.skew) / LINE, self.log) >> self.log;
        let column = usize::from(self.columns[usize::from(c)]);
        prefetch(&self.counters, border * self.stride + column);
        prefetch(&self.bytes, at);
    }

    #[inline(always)]
    fn prefetch_byte(&self, at: usize) {
        prefetch(&self.bytes, at);
    }

    fn size(&self) -> usize {
        self.bytes.len() + 2 * self.counters.len() + size_of::<R>() * self.supers.len()
    }
}
