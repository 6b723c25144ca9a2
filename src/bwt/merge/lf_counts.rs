//! The LF mapping of any symbol at any row, which is a step of backward search: a BWT with counts
//! of symbols.
//!
//! Counts are kept for the middle of each block of two cache lines, relative to the counts at each
//! 64 Ki bytes. A step counts from the middle, forwards or backwards, in that line of the block
//! that contains its position. It reads one line of the transform and one line of counts. Only
//! symbols that occur have counts per block, the most frequent ones first. So the counts for most
//! steps are in one line of each block, and the cache has to hold only these. A byte of the
//! transform takes 2 bytes of counts with 128 symbols, and 4 with all 256.
//!
//! `fm_index::byte_rank` is the same idea for an index that is kept. It leaves the caller's bytes
//! in place and has half the counts of large alphabets. So a step there must find the alignment of
//! the bytes, the distance to its counts and the first row of its symbol. Here a padded copy, freed
//! after the merge, fixes all three in advance, and a step has no branch.

use crate::base::cache_lines::{CacheLines, LINE, equal, prefetch};
use crate::base::positions::Row;
use rayon::prelude::*;
use std::cmp::Reverse;

/// Bytes per block.
const BLOCK: usize = 2 * LINE;

/// Bytes per group of blocks. A count within a group fits in 16 bits.
const GROUP: usize = 1 << 16;

/// A transform with counts of its symbols.
pub(super) struct LfCounts<R> {
    /// The transform, padded with 0 to whole blocks. The position behind it is in a block too.
    bytes: CacheLines<u8>,
    /// LF at the first byte of each group.
    groups: Vec<[R; 256]>,
    /// For each block and symbol, the count from the group's start to the block's middle.
    blocks: CacheLines<u16>,
    numbers: [u8; 256],
    /// Counts per block, in whole lines or parts of one.
    stride: usize,
}

impl<R: Row> LfCounts<R> {
    /// Counts a transform. `None` if there is no memory.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
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
        Some(LfCounts {
            bytes: padded,
            groups,
            blocks,
            numbers,
            stride,
        })
    }

    /// The first row that starts with `c`, plus the number of `c` in the first `at` bytes.
    #[inline(always)]
    pub(super) fn step(&self, c: u8, at: usize) -> R {
        let group = self.groups[at / GROUP][usize::from(c)];
        let block = self.blocks[self.count_at(c, at)];
        let line = self.bytes[at / LINE * LINE..]
            .first_chunk()
            .expect("whole blocks");
        let more = count_from_middle(line, c, at % BLOCK);
        R::new((group.get() + usize::from(block)).wrapping_add_signed(more as isize))
    }

    /// Prefetches the cache lines that `step` will read.
    #[inline(always)]
    pub(super) fn prefetch(&self, c: u8, at: usize) {
        prefetch(&self.blocks, self.count_at(c, at));
        prefetch(&self.bytes, at);
    }

    #[inline(always)]
    fn count_at(&self, c: u8, at: usize) -> usize {
        at / BLOCK * self.stride + usize::from(self.numbers[usize::from(c)])
    }
}

/// Numbers the symbols that occur, and the symbol of the padding, by falling frequency. All other
/// symbols share one number, whose counts stay 0. Also returns the number of counts per block.
fn number<R: Row>(groups: &[[R; 256]]) -> ([u8; 256], usize) {
    let first = groups[0];
    let last = groups[groups.len() - 1];
    let count = |c: u8| last[usize::from(c)] - first[usize::from(c)];
    let mut symbols: Vec<u8> = (0..=255)
        .filter(|&c| c == 0 || count(c) > R::default())
        .collect();
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

/// The LF row of each symbol at the first byte of each `interval` bytes.
pub(super) fn starts<R: Row>(bytes: &[u8], interval: usize) -> Vec<[R; 256]> {
    let mut counts: Vec<[R; 256]> = bytes
        .par_chunks(interval)
        .map(|bytes| {
            let mut counts = [[0_u32; 256]; 2];
            let (pairs, rest) = bytes.as_chunks::<2>();
            for [x, y] in pairs {
                counts[0][usize::from(*x)] += 1;
                counts[1][usize::from(*y)] += 1;
            }
            rest.iter()
                .for_each(|&c| counts[0][usize::from(c)] += 1);
            std::array::from_fn(|c| R::from(counts[0][c] + counts[1][c]))
        })
        .collect();
    counts.push([R::default(); 256]); // for the position behind the last byte
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
            // Only counts behind the last middle can overflow, and these are never read.
            *count = count.wrapping_add(1);
        }
    };
    for (bytes, block) in bytes
        .chunks_exact(BLOCK)
        .zip(blocks.chunks_exact_mut(stride))
    {
        let (first, second) = bytes.split_at(LINE);
        add(&mut counts, first);
        block.copy_from_slice(&counts[..stride]);
        add(&mut counts, second);
    }
}

/// The number of `c` in the first `len` bytes of a block, minus the number in its first half.
/// `line` is the line that contains the byte at `len`.
#[inline(always)]
fn count_from_middle(line: &[u8; LINE], c: u8, len: usize) -> i32 {
    let below = (1 << (len % LINE)) - 1;
    let equal = equal(line, c);
    if len < LINE {
        // The count at the middle includes those from this position on.
        -((equal & !below).count_ones() as i32)
    } else {
        (equal & below).count_ones() as i32
    }
}
