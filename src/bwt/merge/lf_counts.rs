//! LF of any symbol at any row, which is a step of backward search: a BWT with counts of symbols.
//!
//! Counts are kept for the middle of each block of two cache lines, relative to those of 64 Ki
//! bytes. From there a step counts on, or back, in that line of the block where its place is: it
//! reads one line of the transform and one of the counts. Only symbols that occur have counts per
//! block, the most frequent ones first: what most steps ask for is in one line of each block, which
//! the cache has to hold. A byte of the transform takes 2 bytes of counts with 128 symbols, 4 with
//! all 256.
//!
//! `fm_index::byte_rank` is the same idea for an index that stays: it keeps the caller's bytes
//! where they lie and half the counts of large alphabets, so that a step asks how the bytes are
//! aligned, how far off its counts are and where the rows of its symbol start. Here all three are
//! known ahead by a padded copy, which is freed after the merge: a step has no branch.

use crate::base::cache_lines::{CacheLines, LINE, equal, prefetch};
use crate::base::positions::Row;
use rayon::prelude::*;
use std::cmp::Reverse;

/// Bytes per block.
const BLOCK: usize = 2 * LINE;

/// Bytes per group of blocks: a count within it fits 16 bits.
const GROUP: usize = 1 << 16;

/// A transform with counts.
pub struct LfCounts<R> {
    /// The transform, padded with 0 to whole blocks. The place behind it is in one as well.
    bytes: CacheLines<u8>,
    /// LF at the first byte of each group.
    groups: Vec<[R; 256]>,
    /// For each block and symbol, what is added to that up to its middle.
    blocks: CacheLines<u16>,
    numbers: [u8; 256],
    /// Counts per block, in whole lines or parts of one.
    stride: usize,
}

impl<R: Row> LfCounts<R> {
    /// Counts a transform. `None` where there is no memory.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let groups = starts(bytes, GROUP);
        let (numbers, stride) = number(&groups);
        let count = bytes.len() / BLOCK + 1;
        let mut padded = CacheLines::<u8>::zeroed(BLOCK * count)?;
        let mut blocks = CacheLines::<u16>::zeroed(count * stride)?;
        padded[..bytes.len()]
            .par_chunks_mut(GROUP)
            .zip(bytes.par_chunks(GROUP))
            .for_each(|(place, bytes)| place.copy_from_slice(bytes));
        padded[..BLOCK * count]
            .par_chunks(GROUP)
            .zip(blocks.par_chunks_mut(GROUP / BLOCK * stride))
            .for_each(|(bytes, blocks)| count_blocks(bytes, blocks, &numbers, stride));
        Some(LfCounts { bytes: padded, groups, blocks, numbers, stride })
    }

    /// The first row that starts with `c`, and one more for each `c` in the first `at` bytes.
    #[inline(always)]
    pub fn step(&self, c: u8, at: usize) -> R {
        let group = self.groups[at / GROUP][usize::from(c)];
        let block = self.blocks[self.count_at(c, at)];
        let line = self.bytes[at / LINE * LINE..].first_chunk().expect("whole blocks");
        let more = count_from_middle(line, c, at % BLOCK);
        R::new((group.get() + usize::from(block)).wrapping_add_signed(more as isize))
    }

    /// Asks for what `step` will read.
    #[inline(always)]
    pub fn prefetch(&self, c: u8, at: usize) {
        prefetch(&self.blocks, self.count_at(c, at));
        prefetch(&self.bytes, at);
    }

    #[inline(always)]
    fn count_at(&self, c: u8, at: usize) -> usize {
        at / BLOCK * self.stride + usize::from(self.numbers[usize::from(c)])
    }
}

/// Numbers the symbols that occur, and that of the padding, by how often they do. The others share
/// a number of their own, with counts that stay 0. Gives also how many numbers a block takes.
fn number<R: Row>(groups: &[[R; 256]]) -> ([u8; 256], usize) {
    let first = groups[0];
    let last = groups[groups.len() - 1];
    let count = |c: u8| last[usize::from(c)] - first[usize::from(c)];
    let mut symbols: Vec<u8> = (0..=255).filter(|&c| c == 0 || count(c) > R::default()).collect();
    symbols.sort_by_key(|&c| Reverse(count(c)));
    let mut numbers = [symbols.len() as u8; 256];
    for (number, &c) in symbols.iter().enumerate() {
        numbers[usize::from(c)] = number as u8;
    }
    let used = symbols.len() + usize::from(symbols.len() < 256);
    const PER_LINE: usize = LINE / size_of::<u16>();
    let stride = match used {
        ..=PER_LINE => used.next_power_of_two(),
        _ => used.next_multiple_of(PER_LINE),
    };
    (numbers, stride)
}

/// For each `interval`, the row of LF of each symbol at its first byte.
pub fn starts<R: Row>(bytes: &[u8], interval: usize) -> Vec<[R; 256]> {
    let mut counts: Vec<[R; 256]> = bytes
        .par_chunks(interval)
        .map(|bytes| {
            let mut counts = [[0_u32; 256]; 2];
            let (pairs, rest) = bytes.as_chunks::<2>();
            for [x, y] in pairs {
                counts[0][usize::from(*x)] += 1;
                counts[1][usize::from(*y)] += 1;
            }
            rest.iter().for_each(|&c| counts[0][usize::from(c)] += 1);
            std::array::from_fn(|c| R::from(counts[0][c] + counts[1][c]))
        })
        .collect();
    counts.push([R::default(); 256]); // for the place behind the last byte
    let mut row = R::from(1); // row 0 is the sentinel's
    let mut sums = [R::default(); 256];
    for (c, sum) in sums.iter_mut().enumerate() {
        *sum = row;
        counts.iter().for_each(|counts| row += counts[c]);
    }
    for counts in &mut counts {
        for (sum, count) in sums.iter_mut().zip(counts) {
            (*count, *sum) = (*sum, *sum + *count);
        }
    }
    counts
}

/// Fills in the counts of the blocks of one group.
fn count_blocks(bytes: &[u8], blocks: &mut [u16], numbers: &[u8; 256], stride: usize) {
    let mut counts = [0u16; 256];
    let add = |counts: &mut [u16; 256], half: &[u8]| {
        for &c in half {
            let count = &mut counts[usize::from(numbers[usize::from(c)])];
            // Only what is counted behind the last middle can be too much, and it is not read.
            *count = count.wrapping_add(1);
        }
    };
    for (bytes, block) in bytes.chunks_exact(BLOCK).zip(blocks.chunks_exact_mut(stride)) {
        let (first, second) = bytes.split_at(LINE);
        add(&mut counts, first);
        block.copy_from_slice(&counts[..stride]);
        add(&mut counts, second);
    }
}

/// The number of `c` in the first `len` bytes of a block, less that in the first half of it.
/// `line` is where the byte at `len` is.
#[inline(always)]
fn count_from_middle(line: &[u8; LINE], c: u8, len: usize) -> i32 {
    let below = (1 << (len % LINE)) - 1;
    let equal = equal(line, c);
    if len < LINE {
        // The middle counts those from the place on too.
        -((equal & !below).count_ones() as i32)
    } else {
        (equal & below).count_ones() as i32
    }
}
