//! Bit-sliced rank: all data for an answer is in one cache line of 64 bytes.
//!
//! The 2^P most frequent symbols have codes of P bits. A line covers `ROWS` places and has 16 words
//! of 32 bits:
//!
//! ```text
//!   P = 2: 224 places   2 words of counters, then 2 planes of 7 words    2.3 bits per symbol
//!   P = 3: 128 places   4 words of counters, then 3 planes of 4 words    4   bits
//!   P = 4:  64 places   8 words of counters, then 4 planes of 2 words    8   bits
//! ```
//!
//! The counters have 16 bits per code, and count from the first of 256 lines, for which absolute
//! counters are in a table that stays in the cache. Bit i of plane p is bit p of the code at place
//! i. Other symbols, which must be few, are code 0 in the planes, and their places are in sorted
//! lists beside them. Code 0 is the least frequent coded symbol, so that few searches need the
//! lists.

use super::rank::{Rank, no_memory};
use crate::base::cache_lines::{CacheLines, LINE, prefetch};
use crate::base::error::Result;
use crate::base::positions::Row;
use rayon::prelude::*;
use std::array;
use std::ops::Range;

/// Base-2 logarithm of the number of lines per absolute counter: 256 times 224 places fit in 16
/// bits.
const SUPER_LOG: usize = 8;

/// The code of symbols that are in the lists.
const RARE: u8 = 0xFF;

/// Number of words in a line.
const WORDS: usize = LINE / 4;

/// The layout for alphabets of 2^P symbols and rare others.
#[derive(Debug)]
pub(crate) struct BitSlicedRank<R, const P: usize> {
    /// [`WORDS`] words for each line.
    pub(super) lines: CacheLines<u32>,
    /// For every 256 lines, the count of each code before them; `1 << P` counts each.
    pub(super) supers: Vec<R>,
    pub(super) codes: Box<[u8; 256]>,
    pub(super) symbols: [u8; 16],
    pub(super) rare: Rare<R>,
}

impl<R: Row, const P: usize> BitSlicedRank<R, P> {
    const COUNTERS: usize = 1 << (P - 1);
    const PLANE: usize = (WORDS - Self::COUNTERS) / P;
    const ROWS: usize = 32 * Self::PLANE;

    /// Builds the layout. `by_count` lists all symbols, the most frequent first; `sigma` of them
    /// occur.
    pub(crate) fn new(bytes: &[u8], by_count: &[u8], sigma: usize) -> Result<Self> {
        let mut symbols = [0; 16];
        symbols[..1 << P].copy_from_slice(&by_count[..1 << P]);
        symbols[..1 << P].reverse();
        let mut codes = Box::new([RARE; 256]);
        for (code, &symbol) in symbols[..1 << P].iter().enumerate() {
            codes[usize::from(symbol)] = code as u8;
        }
        let rare = Rare::new(if sigma > 1 << P { bytes } else { &[] }, &codes);
        let lines =
            CacheLines::zeroed(WORDS * (bytes.len() / Self::ROWS + 1)).ok_or_else(no_memory)?;
        let mut rank = BitSlicedRank {
            lines,
            supers: vec![],
            codes,
            symbols,
            rare,
        };
        rank.fill(bytes);
        Ok(rank)
    }

    /// Fills the lines, stretches of 256 of them in parallel. There is a line for the end of the
    /// bytes too, for the rank there.
    fn fill(&mut self, bytes: &[u8]) {
        // Rare symbols are code 0.
        let codes = &self
            .codes
            .map(|code| if code == RARE { 0 } else { code });
        let stretch = Self::ROWS << SUPER_LOG;
        let fill = |(n, lines): (usize, &mut [u32])| {
            let start = bytes.len().min(n * stretch);
            fill_stretch::<P>(
                lines,
                &bytes[start..bytes.len().min(start + stretch)],
                codes,
            )
        };
        let lines = &mut self.lines[..WORDS * (bytes.len() / Self::ROWS + 1)];
        let stretches = lines
            .par_chunks_mut(WORDS << SUPER_LOG)
            .enumerate();
        let counts: Vec<[u32; 16]> = stretches.map(fill).collect();
        let mut above = [R::default(); 16];
        for counts in counts {
            self.supers.extend_from_slice(&above[..1 << P]);
            above
                .iter_mut()
                .zip(counts)
                .for_each(|(above, count)| *above += R::from(count));
        }
    }

    #[inline(always)]
    fn line(&self, line: usize) -> &[u32; WORDS] {
        self.lines[line * WORDS..]
            .first_chunk()
            .expect("there is a line for each place")
    }

    /// Number of `code` in the planes before `at`.
    #[inline(always)]
    fn coded(&self, code: usize, at: usize) -> R {
        let line = at / Self::ROWS;
        let offset = at % Self::ROWS;
        let words = self.line(line);
        let above = self.supers[(line >> SUPER_LOG << P) + code];
        let counter = words[code / 2] >> (16 * (code % 2)) & 0xFFFF;
        above + R::from(counter + Self::ones(words, code, 0..offset))
    }

    /// Number of `code` at some places of a line; 64 places are compared at a time.
    #[inline(always)]
    fn ones(words: &[u32; WORDS], code: usize, places: Range<usize>) -> u32 {
        let mut ones = 0;
        for word in (0..Self::PLANE).step_by(2) {
            let mut same = below(places.end, word) & !below(places.start, word);
            for plane in 0..P {
                let differs = (code as u64 >> plane & 1).wrapping_sub(1);
                let first = Self::COUNTERS + plane * Self::PLANE + word;
                let second = if word + 1 < Self::PLANE {
                    words[first + 1]
                } else {
                    0
                };
                same &= (u64::from(words[first]) | u64::from(second) << 32) ^ differs;
            }
            ones += same.count_ones();
        }
        ones
    }

    /// Number of rare symbols before `at` that are stored as `code`.
    #[inline(always)]
    fn rare_as(&self, code: usize, at: usize) -> R {
        if code == 0 {
            self.rare.before(at)
        } else {
            R::default()
        }
    }
}

/// Fills the lines of some places, and counts the codes in them.
fn fill_stretch<const P: usize>(lines: &mut [u32], places: &[u8], codes: &[u8; 256]) -> [u32; 16] {
    let counters = BitSlicedRank::<u32, P>::COUNTERS;
    let plane_len = BitSlicedRank::<u32, P>::PLANE;
    let mut counts = [0; 16];
    let mut places = places.chunks(BitSlicedRank::<u32, P>::ROWS);
    for words in lines.chunks_exact_mut(WORDS) {
        let words: &mut [u32; WORDS] = words.first_chunk_mut().expect("a whole line");
        for (code, count) in counts[..1 << P].iter().enumerate() {
            words[code / 2] |= count << (16 * (code % 2));
        }
        for (n, places) in places
            .next()
            .unwrap_or_default()
            .chunks(32)
            .enumerate()
        {
            for (plane, word) in slice_bits::<P>(places, codes)
                .into_iter()
                .enumerate()
            {
                words[counters + plane * plane_len + n] = word;
            }
        }
        for (code, count) in counts[..1 << P].iter_mut().enumerate() {
            *count += BitSlicedRank::<u32, P>::ones(words, code, 0..BitSlicedRank::<u32, P>::ROWS);
        }
    }
    counts
}

/// The lowest bit of each byte.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// Multiplier that moves the lowest bit of byte k to bit 56 + k.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// The codes of up to 32 places, as a word for each bit of the code.
#[inline(always)]
fn slice_bits<const P: usize>(places: &[u8], codes: &[u8; 256]) -> [u32; P] {
    let mut words = [0; P];
    for (n, places) in places.chunks(8).enumerate() {
        let mut eight = [0; 8];
        eight
            .iter_mut()
            .zip(places)
            .for_each(|(code, &c)| *code = codes[usize::from(c)]);
        let eight = u64::from_le_bytes(eight);
        for (plane, word) in words.iter_mut().enumerate() {
            // The product's highest byte consists of the lowest bits of the eight bytes.
            let bits = (eight >> plane & LOWEST).wrapping_mul(GATHER) >> 56;
            *word |= (bits as u32) << (8 * n);
        }
    }
    words
}

/// A bit for each of 64 places, starting at those of word `word`, set if it is below `place`.
#[inline(always)]
fn below(place: usize, word: usize) -> u64 {
    match place.saturating_sub(32 * word) {
        bits @ 0..64 => (1 << bits) - 1,
        _ => u64::MAX,
    }
}

impl<R: Row, const P: usize> Rank<R> for BitSlicedRank<R, P> {
    #[inline(always)]
    fn rank(&self, c: u8, at: usize) -> R {
        let code = usize::from(self.codes[usize::from(c)]);
        if code == usize::from(RARE) {
            return self.rare.rank(c, at);
        }
        self.coded(code, at) - self.rare_as(code, at)
    }

    #[inline(always)]
    fn rank_pair(&self, c: u8, lo: usize, hi: usize) -> (R, R) {
        let code = usize::from(self.codes[usize::from(c)]);
        if code == usize::from(RARE) {
            return (self.rare.rank(c, lo), self.rare.rank(c, hi));
        }
        let first = self.coded(code, lo);
        let second = if lo / Self::ROWS == hi / Self::ROWS {
            let places = lo % Self::ROWS..hi % Self::ROWS;
            first + R::from(Self::ones(self.line(lo / Self::ROWS), code, places))
        } else {
            self.coded(code, hi)
        };
        (
            first - self.rare_as(code, lo),
            second - self.rare_as(code, hi),
        )
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        let line = at / Self::ROWS;
        let offset = at % Self::ROWS;
        let words = self.line(line);
        let bit = |plane: usize| {
            let word = words[Self::COUNTERS + plane * Self::PLANE + offset / 32];
            (word >> (offset % 32) & 1) << plane
        };
        let code = (0..P).map(bit).sum::<u32>() as usize;
        let rare = if code == 0 {
            self.rare.symbol(at)
        } else {
            None
        };
        rare.unwrap_or(self.symbols[code])
    }

    fn copy_to(&self, bytes: &mut [u8]) {
        let stretches = bytes
            .par_chunks_mut(Self::ROWS << SUPER_LOG)
            .enumerate();
        stretches.for_each(|(n, bytes)| {
            for (line, bytes) in (n << SUPER_LOG..).zip(bytes.chunks_mut(Self::ROWS)) {
                let words = self.line(line);
                for (word, bytes) in bytes.chunks_mut(32).enumerate() {
                    let planes: [u32; P] =
                        array::from_fn(|p| words[Self::COUNTERS + p * Self::PLANE + word]);
                    for (bit, byte) in bytes.iter_mut().enumerate() {
                        let code = |p: usize| (planes[p] >> bit & 1) << p;
                        *byte = self.symbols[(0..P).map(code).sum::<u32>() as usize];
                    }
                }
            }
        });
        for (place, &symbol) in self.rare.places.iter().zip(&self.rare.symbols) {
            if let Some(byte) = bytes.get_mut(place.get()) {
                *byte = symbol;
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, _: u8, at: usize) {
        prefetch(&self.lines, at / Self::ROWS * WORDS);
    }

    #[inline(always)]
    fn prefetch_byte(&self, at: usize) {
        prefetch(&self.lines, at / Self::ROWS * WORDS);
    }

    fn size(&self) -> usize {
        4 * self.lines.len() + size_of::<R>() * self.supers.len() + self.rare.size()
    }
}

/// The places of the symbols without a code.
#[derive(Debug)]
pub(super) struct Rare<R> {
    /// All places, ascending.
    pub(super) places: Vec<R>,
    /// The symbol at each place.
    pub(super) symbols: Vec<u8>,
    /// The places, sorted by symbol.
    pub(super) by_symbol: Vec<R>,
    /// End of each symbol's places in `by_symbol`; they start at `ends[c - 1]`.
    pub(super) ends: Box<[R; 256]>,
}

impl<R: Row> Rare<R> {
    fn new(bytes: &[u8], codes: &[u8; 256]) -> Self {
        let rare = |(_, c): &(usize, &u8)| codes[usize::from(**c)] == RARE;
        let all = bytes
            .par_iter()
            .enumerate()
            .filter(rare)
            .map(|(at, &c)| (R::new(at), c));
        let all: Vec<(R, u8)> = all.collect();
        let mut sorted = all.clone();
        sorted.sort_by_key(|&(_, c)| c);
        let end = |c: usize| R::new(sorted.partition_point(|&(_, other)| usize::from(other) <= c));
        Rare {
            places: all.iter().map(|&(place, _)| place).collect(),
            symbols: all.iter().map(|&(_, c)| c).collect(),
            by_symbol: sorted.iter().map(|&(place, _)| place).collect(),
            ends: Box::new(array::from_fn(end)),
        }
    }

    #[inline]
    fn before(&self, at: usize) -> R {
        R::new(
            self.places
                .partition_point(|&place| place.get() < at),
        )
    }

    #[inline]
    fn symbol(&self, at: usize) -> Option<u8> {
        self.places
            .binary_search(&R::new(at))
            .ok()
            .map(|n| self.symbols[n])
    }

    #[inline]
    fn rank(&self, c: u8, at: usize) -> R {
        let start = if c == 0 {
            0
        } else {
            self.ends[usize::from(c) - 1].get()
        };
        let own = &self.by_symbol[start..self.ends[usize::from(c)].get()];
        R::new(own.partition_point(|&place| place.get() < at))
    }

    fn size(&self) -> usize {
        (2 * size_of::<R>() + 1) * self.places.len() + 256 * size_of::<R>()
    }
}
