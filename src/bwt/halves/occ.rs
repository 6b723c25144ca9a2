//! How often a symbol occurs before a place: the step of backward search, LF.
//!
//! Counts are kept for the middle of each block of two cache lines, relative to those of 64 Ki bytes. From
//! there a step counts on, or back, in that line of the block where its place is: it reads one line of
//! the transform and one of the counts. Only symbols that occur have counts per block: a byte of the
//! transform takes 2 bytes of counts with 128 symbols, 4 with all 256.

use super::super::pages;
use rayon::prelude::*;

/// Bytes per cache line.
const LINE: usize = 64;

/// Bytes per block.
const BLOCK: usize = 2 * LINE;

/// Bytes per group of blocks: a count within it fits 16 bits.
const GROUP: usize = 1 << 16;

/// Some of the transform, where the memory has it in one piece.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line([u8; LINE]);

// SAFETY: bytes, for which zero bits are 0.
#[allow(unsafe_code)]
unsafe impl pages::Zero for Line {}

/// A transform with counts.
pub struct Occ {
    /// The transform, padded with 0 to whole blocks. The place behind it is in one as well.
    lines: Vec<Line>,
    /// LF at the first byte of each group.
    groups: Vec<[u32; 256]>,
    /// For each block and symbol, what is added to that up to its middle.
    blocks: Vec<u16>,
    numbers: [u8; 256],
    /// Counts per block.
    symbols: usize,
}

impl Occ {
    /// Counts a transform. `None` where there is no memory.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let groups = starts(bytes, GROUP);
        let (numbers, symbols) = number(&groups);
        let count = bytes.len() / BLOCK + 1;
        let mut lines = pages::zeroed::<Line>(2 * count)?;
        let mut blocks = pages::zeroed::<u16>(count * symbols)?;
        let tasks = lines.par_chunks_mut(GROUP / LINE).enumerate();
        tasks.zip(blocks.par_chunks_mut(GROUP / BLOCK * symbols)).for_each(
            |((group, lines), blocks)| {
                for (line, bytes) in lines.iter_mut().zip(bytes[group * GROUP..].chunks(LINE)) {
                    line.0[..bytes.len()].copy_from_slice(bytes);
                }
                count_blocks(lines, blocks, &numbers, symbols);
            },
        );
        Some(Occ { lines, groups, blocks, numbers, symbols })
    }

    /// The first row that starts with `c`, and one more for each `c` in the first `at` bytes.
    #[inline(always)]
    pub fn step(&self, c: u8, at: usize) -> u32 {
        let group = self.groups[at / GROUP][usize::from(c)];
        let block = self.blocks[self.count_at(c, at)];
        let more = count_from_middle(&self.lines[at / LINE], c, at % BLOCK);
        (group + u32::from(block)).wrapping_add_signed(more.into())
    }

    /// Asks for what `step` will read.
    #[inline(always)]
    pub fn prefetch(&self, c: u8, at: usize) {
        prefetch(self.blocks.as_ptr().wrapping_add(self.count_at(c, at)));
        prefetch(self.lines.as_ptr().wrapping_add(at / LINE));
    }

    #[inline(always)]
    fn count_at(&self, c: u8, at: usize) -> usize {
        at / BLOCK * self.symbols + usize::from(self.numbers[usize::from(c)])
    }
}

/// Numbers the symbols that occur, and that of the padding. The others share a number of their own,
/// with counts that stay 0.
fn number(groups: &[[u32; 256]]) -> ([u8; 256], usize) {
    let occurs = |c: usize| {
        c == 0 || groups.first().map(|first| first[c]) < groups.last().map(|last| last[c])
    };
    let symbols = (0..256).filter(|&c| occurs(c)).count();
    let mut next = 0..=u8::MAX;
    let numbers = std::array::from_fn(|c| {
        let number = if occurs(c) { next.next() } else { u8::try_from(symbols).ok() };
        number.expect("there are no more than 256, and less if one does not occur")
    });
    (numbers, symbols + usize::from(symbols < 256))
}

/// For each `interval`, the row of LF of each symbol at its first byte.
pub fn starts(bytes: &[u8], interval: usize) -> Vec<[u32; 256]> {
    let mut counts: Vec<[u32; 256]> = bytes
        .par_chunks(interval)
        .map(|bytes| {
            let mut counts = [[0; 256]; 2];
            let (pairs, rest) = bytes.as_chunks::<2>();
            for [x, y] in pairs {
                counts[0][usize::from(*x)] += 1;
                counts[1][usize::from(*y)] += 1;
            }
            rest.iter().for_each(|&c| counts[0][usize::from(c)] += 1);
            std::array::from_fn(|c| counts[0][c] + counts[1][c])
        })
        .collect();
    counts.push([0; 256]); // for the place behind the last byte
    let mut row = 1; // row 0 is the sentinel's
    let mut sums = [0u32; 256];
    for (c, sum) in sums.iter_mut().enumerate() {
        *sum = row;
        row += counts.iter().map(|counts| counts[c]).sum::<u32>();
    }
    for counts in &mut counts {
        for (sum, count) in sums.iter_mut().zip(counts) {
            (*count, *sum) = (*sum, *sum + *count);
        }
    }
    counts
}

/// Fills in the counts of the blocks of one group.
fn count_blocks(lines: &[Line], blocks: &mut [u16], numbers: &[u8; 256], symbols: usize) {
    let mut counts = [0u16; 256];
    let add = |counts: &mut [u16; 256], line: &Line| {
        for &c in &line.0 {
            let count = &mut counts[usize::from(numbers[usize::from(c)])];
            // Only what is counted behind the last middle can be too much, and it is not read.
            *count = count.wrapping_add(1);
        }
    };
    for (lines, block) in lines.as_chunks::<2>().0.iter().zip(blocks.chunks_exact_mut(symbols)) {
        add(&mut counts, &lines[0]);
        block.copy_from_slice(&counts[..symbols]);
        add(&mut counts, &lines[1]);
    }
}

/// How many more `c` there are in the first `len` bytes of a block than in the first half of it.
/// `line` is where the byte at `len` is.
#[inline(always)]
fn count_from_middle(line: &Line, c: u8, len: usize) -> i8 {
    /// For the first line, -1 from a place on; for the second, 1 up to a place.
    const WEIGHTS: [i8; 4 * LINE] = {
        let mut weights = [0; 4 * LINE];
        let mut at = 0;
        while at < LINE {
            weights[LINE + at] = -1;
            weights[2 * LINE + at] = 1;
            at += 1;
        }
        weights
    };
    let first = LINE + len / LINE * 2 * LINE - len % LINE;
    let weights = WEIGHTS[first..].first_chunk::<LINE>().expect("first <= 3 * LINE");
    // -1 is all bits: an and of it with the weight is the weight.
    let weigh = |(&b, &weight): (&u8, &i8)| -i8::from(b == c) & weight;
    line.0.iter().zip(weights).map(weigh).fold(0, i8::wrapping_add)
}

/// Asks for a line of memory ahead of its use.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint. It reads nothing and cannot fault, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
