//! The encoder's second pass of static rANS: symbols and models -> coded bytes. FORMAT.md chapter
//! 14.
//!
//! It goes through a slice backwards. Cost: 5 ns per run, mostly waiting for the two states, and
//! for a branch on extra bits.

use super::context_tree::{RANK_LEAVES, RUN_LEAVES};
use super::exp_golomb::{self, LAST_BUCKET, LAST_BUCKET_WIDTH};
use super::models::{ClassTables, EXTRA_TABLES, Models, extra_table, high_bits};
use super::mtf::LONG;
use super::rans::RansStream::{self, MtfRanks, RunLengths};
use super::rans::{PreparedSlots, RansStack};
use super::slice_symbols::{LARGE, SliceSymbols};
use super::static_rans::WIDTH_BITS;
use crate::base::simd_dispatch::widest;

/// The models of a block in the form for an encoder.
pub(super) struct SliceEncoder {
    /// By 16 times the class plus the bucket.
    runs: [PreparedSlots; 4096],
    ranks: [PreparedSlots; 4096],
    /// Indices into `runs`, by 16 times the leaf plus the bucket.
    run_classes: [u16; 16 * RUN_LEAVES],
    /// Indices into `ranks`, by 16 times the leaf plus the bucket.
    rank_classes: [u16; 16 * RANK_LEAVES],
    extra: [[PreparedSlots; 16]; EXTRA_TABLES],
    alphabet: Vec<u8>,
}

impl SliceEncoder {
    pub(super) fn new(models: &Models) -> Box<Self> {
        let prepared = |classes: &ClassTables| {
            let tables = classes
                .tables
                .each_ref()
                .map(|table| table.prepared());
            std::array::from_fn(|key| tables[key / 16][key % 16])
        };
        Box::new(SliceEncoder {
            runs: prepared(&models.runs),
            ranks: prepared(&models.ranks),
            run_classes: by_leaf(&models.runs),
            rank_classes: by_leaf(&models.ranks),
            extra: models
                .extra
                .each_ref()
                .map(|table| table.prepared()),
            alphabet: models.alphabet.clone(),
        })
    }

    /// The coded form of a slice of `slice_size` bytes, or `None` if it would not be shorter.
    pub(super) fn encode(&self, symbols: &SliceSymbols, slice_size: usize) -> Option<Vec<u8>> {
        let coder = self;
        widest!(
            encode_with(
                coder: &SliceEncoder, symbols: &SliceSymbols, slice_size: usize
            ) -> Option<Vec<u8>>
        )
    }
}

/// 16 times the class plus the bucket, by 16 times the leaf plus the bucket.
fn by_leaf<const KEYS: usize>(classes: &ClassTables) -> [u16; KEYS] {
    std::array::from_fn(|key| u16::from(classes.class_of_leaf[key / 16]) * 16 + key as u16 % 16)
}

/// No vector instructions, but AVX2 processors have faster shifts and multiplications, which are
/// used.
#[inline(always)]
fn encode_with(coder: &SliceEncoder, symbols: &SliceSymbols, slice_size: usize) -> Option<Vec<u8>> {
    let SliceSymbols {
        runs,
        large_ranks,
        large_lens,
        long,
        list,
    } = symbols;
    // Room for half as many words as the slice has bytes: if they are full, the slice is stored. No
    // run takes more than 8 symbols, or 12 if it is long, and the list takes up to 257.
    let most = 8 * runs.len() + 4 * long.len() + 257;
    let mut room = vec![[0; 2]; slice_size.div_ceil(2).min(most)];
    let words = &mut room[..];
    let mut stack = RansStack::new(words.len());
    let mut ranks = &large_ranks[..];
    let mut lens = &large_lens[..];
    let mut long = &long[..];
    for &run in runs.iter().rev() {
        if run & LARGE << 16 != 0
            && let Some(&rank) = ranks.split_off_last()
        {
            stack = push_extra(stack, words, MtfRanks, rank.into(), coder);
        }
        if run & LARGE != 0
            && let Some(&len) = lens.split_off_last()
        {
            let long = if len < LONG {
                None
            } else {
                long.split_off_last()
            };
            let len = long.copied().unwrap_or(len.into());
            stack = push_extra(stack, words, RunLengths, len, coder);
        }
        let run_class = coder.run_classes[run as usize % (16 * RUN_LEAVES)];
        let rank_class = coder.rank_classes[(run >> 16) as usize % (16 * RANK_LEAVES)];
        stack.push_prepared(
            words,
            MtfRanks,
            &coder.ranks[usize::from(rank_class) % 4096],
        );
        stack.push_prepared(
            words,
            RunLengths,
            &coder.runs[usize::from(run_class) % 4096],
        );
    }
    push_list(&mut stack, words, list, &coder.alphabet);
    let mut out = Vec::new();
    stack.write(words, &mut out);
    (out.len() < slice_size).then_some(out)
}

/// Pushes the extra bits of a number.
#[inline(always)]
fn push_extra(
    mut stack: RansStack,
    words: &mut [[u8; 2]],
    stream: RansStream,
    number: u32,
    coder: &SliceEncoder,
) -> RansStack {
    let split = exp_golomb::split(number);
    let left = split.width.saturating_sub(4);
    // The decoder reads eight bits at a time, and the remaining ones last.
    let mut done = left % 8;
    if done > 0 {
        stack.push_plain(words, stream, split.extra & ((1 << done) - 1), done);
    }
    while done < left {
        stack.push_plain(words, stream, split.extra >> done & 255, 8);
        done += 8;
    }
    let table = &coder.extra[extra_table(stream, split.width)];
    stack.push_prepared(words, stream, &table[high_bits(split) % 16]);
    if stream == RunLengths && split.bucket == LAST_BUCKET {
        stack.push_plain(words, stream, split.width - LAST_BUCKET_WIDTH, WIDTH_BITS);
    }
    stack
}

/// Pushes the list of a slice: each byte as its index among the bytes of the alphabet that are not
/// yet listed.
fn push_list(stack: &mut RansStack, words: &mut [[u8; 2]], list: &[u8], alphabet: &[u8]) {
    let mut left = alphabet.to_vec();
    let numbers: Vec<[u32; 2]> = list
        .iter()
        .map(|byte| {
            let number = left
                .iter()
                .position(|other| other == byte)
                .expect("a byte of the block");
            left.remove(number);
            [number as u32, left.len() as u32 + 1]
        })
        .collect();
    let numbers = numbers.into_iter().rev();
    numbers.for_each(|[number, of]| stack.push_even(words, MtfRanks, number, of));
    stack.push_even(
        words,
        MtfRanks,
        list.len() as u32 - 1,
        alphabet.len() as u32,
    );
}
