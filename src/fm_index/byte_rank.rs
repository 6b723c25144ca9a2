//! Byte rank with counters: 16-bit counters at regular borders, and a count of equal bytes from the
//! nearest one.
//!
//! The transform stays as it comes, a byte per symbol. At every border, which is the beginning of a
//! cache line, stands a 16-bit counter for each symbol that occurs, relative to the last of regular
//! super borders, whose counters of all that is above stay in the cache. The nearest border to a
//! place is one line away at most for alphabets of up to 128 symbols, else two; the line between is
//! compared with the symbol in a few vector instructions. So an answer costs a miss for the counter
//! and one for the bytes, however large the alphabet; a wavelet tree costs one or two for each of
//! its levels.
//!
//! Counters stand in the order of frequency, so that those of the 32 most frequent symbols, which
//! nearly all steps ask for, share a line, and a table of one line per border is what the cache has
//! to hold.
//!
//! Bits per symbol: 8 and, for counters, 4 for alphabets up to 32 symbols, 8 up to 64, 16 for
//! larger.

use super::rank::{Rank, no_memory};
use crate::bwt::cache_lines::{CacheLines, LINE, equal, prefetch};
use crate::error::Result;
use crate::positions::Row;
use rayon::prelude::*;

/// CacheLines from one super border to the next: 32 Ki places.
const SUPER_LINES: usize = 512;

/// 16-bit counters in a line.
const PER_LINE: usize = LINE / 2;

/// Bytes that a thread copies at a time.
const PIECE: usize = 1 << 20;

/// The layout for any alphabet.
#[derive(Debug)]
pub struct ByteRank<R> {
    pub(super) bytes: Vec<u8>,
    /// How far into its cache line the first byte lies: places are counted from the beginning of
    /// that line.
    pub(super) skew: usize,
    /// CacheLines from one border to the next, as a power of two: 1 or 2.
    pub(super) log: usize,
    /// Counters per border, in whole lines.
    pub(super) stride: usize,
    pub(super) columns: Box<[u8; 256]>,
    /// `counters[border * stride + column]`.
    pub(super) counters: CacheLines<u16>,
    /// `supers[super border * stride + column]`.
    pub(super) supers: Vec<R>,
}

impl<R: Row> ByteRank<R> {
    /// `by_count` is all symbols, the most frequent first; `sigma` of them occur.
    pub fn new(bytes: Vec<u8>, by_count: &[u8], sigma: usize) -> Result<Self> {
        let mut columns = Box::new([0; 256]);
        for (column, &symbol) in by_count[..sigma].iter().enumerate() {
            columns[usize::from(symbol)] = column as u8;
        }
        let skew = bytes.as_ptr() as usize % LINE;
        let log = if sigma <= 128 { 1 } else { 2 };
        let stride = sigma.next_multiple_of(PER_LINE);
        // A border for each line from which it is the nearest, the one behind the last byte
        // included.
        let borders = (nearest((bytes.len() + skew) / LINE, log) >> log) + 1;
        let counters = CacheLines::zeroed(borders * stride).ok_or_else(no_memory)?;
        let mut rank = ByteRank { bytes, skew, log, stride, columns, counters, supers: Vec::new() };
        rank.count_all(borders);
        Ok(rank)
    }

    /// Fills both tables; the stretches between super borders are counted side by side.
    fn count_all(&mut self, borders: usize) {
        let ByteRank { ref bytes, skew, log, stride, ref columns, .. } = *self;
        let per_super = SUPER_LINES >> log;
        let stretch = |n: usize| {
            let place = |line: usize| (line * LINE).saturating_sub(skew).min(bytes.len());
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
            total.iter_mut().zip(sum).for_each(|(total, sum)| *total += R::from(sum));
        }
    }

    /// How often `c` stands above a border, which is at the beginning of a line.
    #[inline(always)]
    fn above(&self, column: usize, line: usize) -> R {
        let above = self.supers[line / SUPER_LINES * self.stride + column];
        above + R::from(u32::from(self.counters[(line >> self.log) * self.stride + column]))
    }

    /// Which places of a line hold `c`, a bit each.
    #[inline(always)]
    fn equal(&self, c: u8, line: usize) -> u64 {
        match (line * LINE).checked_sub(self.skew).and_then(|at| self.bytes.get(at..at + LINE)) {
            Some(bytes) => equal(bytes.first_chunk().expect("a whole line"), c),
            None => self.equal_in_part(c, line),
        }
    }

    /// The same for the first and the last line, which may be parts.
    #[cold]
    fn equal_in_part(&self, c: u8, line: usize) -> u64 {
        let byte = |bit: usize| self.bytes.get((line * LINE + bit).wrapping_sub(self.skew));
        (0..LINE).map(|bit| u64::from(byte(bit) == Some(&c)) << bit).sum()
    }

    /// How often `c` stands before a place of a line, whose places that hold `c` are `equal`.
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

/// The line of the border that is nearest to a line: at most one line off, or two below and one
/// above.
#[inline(always)]
fn nearest(line: usize, log: usize) -> usize {
    (line + (1 << log >> 1)) >> log << log
}

/// The bits below a place of a line.
#[inline(always)]
fn below(place: usize) -> u64 {
    (1 << (place % LINE)) - 1
}

/// Writes the counters of one stretch, whose first byte is `first` into a line, and gives its sums.
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
        row.iter_mut().zip(&sums).for_each(|(counter, &sum)| *counter = sum as u16);
        let piece = rest.split_off(..size.min(rest.len())).unwrap_or_default();
        piece.iter().for_each(|&c| sums[usize::from(columns[usize::from(c)])] += 1);
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
        let pieces = bytes.par_chunks_mut(PIECE).zip(self.bytes.par_chunks(PIECE));
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
