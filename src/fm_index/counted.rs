//! occ over plain bytes: counters at regular borders, and a count of equal bytes from the nearest one.
//!
//! The transform stays as it comes, a byte per symbol, and a line of 64 of them is compared with a symbol in a few vector
//! instructions. At every border stand a 16-bit counter for each symbol that occurs, relative to the last multiple of 65,536
//! places, for which absolute counters stand in a table that stays in the cache. An answer costs one miss for the counter and one or two for
//! bytes, however large the alphabet; a wavelet tree costs one or two for each of its levels.
//!
//! The distance of borders is about twice the alphabet, so that counters take at most as much room as the bytes: English has 15 bits per symbol in all,
//! programs 16.

use super::occ::{Occ, prefetch};
use rayon::prelude::*;

const LINE: usize = 64;

/// Places per absolute counter, as a power of two.
const SUPER_LOG: usize = 16;

/// The layout for any alphabet.
#[derive(Debug)]
pub struct Counted {
    bytes: Vec<u8>,
    /// Distance of borders, as a power of two.
    log: u32,
    sigma: usize,
    columns: Box<[u8; 256]>,
    /// `counters[border * sigma + column]`.
    counters: Vec<u16>,
    /// `supers[border >> (SUPER_LOG - log) * sigma + column]`.
    supers: Vec<u32>,
}

impl Counted {
    /// `counts[c]` is how often c occurs.
    pub fn new(bytes: Vec<u8>, counts: &[u32; 256]) -> Self {
        let mut columns = Box::new([0; 256]);
        let mut sigma = 0usize;
        for (column, &count) in columns.iter_mut().zip(counts).filter(|(_, count)| **count > 0) {
            debug_assert!(count > 0);
            *column = sigma as u8;
            sigma += 1;
        }
        let log = (2 * sigma).next_power_of_two().ilog2().clamp(7, 9);
        let mut counted =
            Counted { bytes, log, sigma, columns, counters: Vec::new(), supers: Vec::new() };
        counted.count_all();
        counted
    }

    /// Fills both tables; stretches between absolute counters are counted side by side.
    fn count_all(&mut self) {
        let Counted { ref bytes, log, sigma, ref columns, .. } = *self;
        // A border for each place from which it is the nearest, the one behind the last byte included.
        let borders = ((bytes.len() + (1 << log >> 1)) >> log) + 1;
        let per_super = 1 << (SUPER_LOG - log as usize);
        self.counters = vec![0; borders * sigma];
        let sums: Vec<Vec<u32>> = self
            .counters
            .par_chunks_mut(per_super * sigma)
            .zip(bytes.par_chunks(1 << SUPER_LOG).chain(rayon::iter::once(&[][..])))
            .map(|(counters, bytes)| count_stretch(counters, bytes, columns, log, sigma))
            .collect();
        let mut total = vec![0; sigma];
        for sum in sums {
            self.supers.extend_from_slice(&total);
            total.iter_mut().zip(sum).for_each(|(total, sum)| *total += sum);
        }
    }

    /// How often `c` stands in `from..to`.
    #[inline(always)]
    fn count(&self, c: u8, from: usize, to: usize) -> u32 {
        let (first, last) = (from / LINE, to / LINE);
        if first == last {
            return self.count_in(c, first, from % LINE, to % LINE);
        }
        let mut sum = self.count_in(c, first, from % LINE, LINE);
        for line in first + 1..last {
            sum += self.count_in(c, line, 0, LINE);
        }
        sum + self.count_in(c, last, 0, to % LINE)
    }

    /// How often `c` stands in some places of a line.
    #[inline(always)]
    fn count_in(&self, c: u8, line: usize, from: usize, to: usize) -> u32 {
        let rest = self.bytes.get(line * LINE..).unwrap_or_default();
        match rest.first_chunk::<LINE>() {
            Some(line) => equal(line, c, from, to),
            None => rest[from.min(rest.len())..to.min(rest.len())]
                .iter()
                .map(|&b| u32::from(b == c))
                .sum(),
        }
    }
}

/// How many of `line[from..to]` are `c`. Every byte is compared, which vectors do at once.
#[inline(always)]
fn equal(line: &[u8; LINE], c: u8, from: usize, to: usize) -> u32 {
    let (from, len) = (from as u8, (to - from) as u8);
    let mut sum = 0u8;
    for (i, &b) in line.iter().enumerate() {
        sum += u8::from(b == c) & u8::from((i as u8).wrapping_sub(from) < len);
    }
    u32::from(sum)
}

/// Writes the counters of one stretch and gives its sums.
fn count_stretch(
    counters: &mut [u16],
    bytes: &[u8],
    columns: &[u8; 256],
    log: u32,
    sigma: usize,
) -> Vec<u32> {
    let mut sums = vec![0u32; sigma];
    let borders = counters.chunks_exact_mut(sigma);
    for (row, piece) in borders.zip(bytes.chunks(1 << log).chain([&[][..]])) {
        row.iter_mut().zip(&sums).for_each(|(counter, &sum)| *counter = sum as u16);
        piece.iter().for_each(|&c| sums[usize::from(columns[usize::from(c)])] += 1);
    }
    sums
}

impl Occ for Counted {
    #[inline(always)]
    fn occ(&self, c: u8, at: usize) -> u32 {
        let column = usize::from(self.columns[usize::from(c)]);
        let border = (at + (1 << self.log >> 1)) >> self.log;
        let place = border << self.log;
        let above = self.supers[(place >> SUPER_LOG) * self.sigma + column];
        let counted = above + u32::from(self.counters[border * self.sigma + column]);
        if place <= at {
            counted + self.count(c, place, at)
        } else {
            counted - self.count(c, at, place)
        }
    }

    #[inline(always)]
    fn occ_pair(&self, c: u8, lo: usize, hi: usize) -> (u32, u32) {
        let first = self.occ(c, lo);
        if lo / LINE == hi / LINE {
            return (first, first + self.count_in(c, lo / LINE, lo % LINE, hi % LINE));
        }
        (first, self.occ(c, hi))
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    #[inline(always)]
    fn prefetch(&self, c: u8, at: usize) {
        let border = (at + (1 << self.log >> 1)) >> self.log;
        prefetch(&self.counters, border * self.sigma + usize::from(self.columns[usize::from(c)]));
        prefetch(&self.bytes, at);
    }

    #[inline(always)]
    fn prefetch_byte(&self, at: usize) {
        prefetch(&self.bytes, at);
    }

    fn size(&self) -> usize {
        self.bytes.len() + 2 * self.counters.len() + 4 * self.supers.len()
    }
}
