//! Inputs and outputs of the coder's kernels on a GPU, as plain arrays: the maps from model state
//! to leaves, a table for each leaf, and the counts of symbols.
//!
//! A GPU has a table for each leaf, not for each class, which saves one lookup. The models are
//! chosen as for slices that are coded on the CPU.

use super::context_tree::{AROUND, CONTEXTS, RANK_LEAVES, RUN_LEAVES};
use super::frequency_table::FrequencyTable;
use super::models::{EXTRA_TABLES, Models, SymbolCounts};
use super::run_context::{
    ALL_BY_MTF_RANK, LAST_RANK_BIT, MTF_RANKS, OWN_BY_MTF_RANK, OWN_BY_RUN_LENGTH,
    QUANTISED_RUN_LENGTHS, ROUNDED_ROOTS,
};
use crate::base::error::Flaw;

/// Upper bound of averages: no scaled root is larger than 600.
const AVERAGES: usize = 608;
/// Number of keys of a byte's own contexts.
const OWN_KEYS: usize = QUANTISED_RUN_LENGTHS << 7;
/// Number of tables: those of all leaves, and of extra bits.
const TABLES: usize = RUN_LEAVES + RANK_LEAVES + EXTRA_TABLES;

/// Maps from model state to leaves, which are the same for all blocks. Averages, MTF ranks and run
/// lengths are all less one.
pub(crate) struct ContextArrays {
    /// By number: its scaled root, and from bit 24 on its quantised value as a last MTF rank.
    pub roots: [u32; 256],
    /// Quantised average run length, by average.
    pub run_context: [u8; AVERAGES],
    /// Quantised average MTF rank of a byte, by average.
    pub rank_context: [u8; AVERAGES],
    /// Quantised average MTF rank of all bytes, by average.
    pub all_rank_context: [u8; AVERAGES],
    /// Leaf of run lengths, by `run_context` * 128 + `rank_context` * 8 + the quantised last MTF
    /// rank.
    pub run_leaf: [u8; OWN_KEYS],
    /// Own node of MTF ranks, by the same key.
    pub own_rank: [u8; OWN_KEYS],
    /// Leaf of MTF ranks, by 8 * `own_rank` + `all_rank_context`.
    pub rank_leaf: [u8; 96 * AROUND],
}

impl ContextArrays {
    /// The maps that the format defines.
    pub(crate) fn new() -> Self {
        // The quantisers of the CPU include the factors of its keys.
        let quantised =
            |by: &[u16; 1024], factor| std::array::from_fn(|at| (by[at] / factor) as u8);
        ContextArrays {
            roots: std::array::from_fn(|number| {
                (ROUNDED_ROOTS[number] - 2) | MTF_RANKS[number] >> LAST_RANK_BIT << 24
            }),
            run_context: quantised(&OWN_BY_RUN_LENGTH, 128),
            rank_context: quantised(&OWN_BY_MTF_RANK, 8),
            all_rank_context: quantised(&ALL_BY_MTF_RANK, 1),
            run_leaf: std::array::from_fn(|key| CONTEXTS.own[key] as u8),
            own_rank: std::array::from_fn(|key| ((CONTEXTS.own[key] >> 16) / AROUND as u32) as u8),
            rank_leaf: *CONTEXTS
                .rank_leaves
                .first_chunk()
                .expect("96 own nodes"),
        }
    }
}

/// The models of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModelArrays {
    /// By 16 * the table plus the symbol: its first slot, and from bit 16 on its number of slots.
    /// The order of tables is that of the leaves of run lengths, then of MTF ranks, then of extra
    /// bits.
    pub tables: Vec<u32>,
    /// 1 for each byte value that occurs, else 0.
    pub alphabet: [u8; 256],
}

impl ModelArrays {
    /// Number of counts that [`ModelArrays::choose`] takes.
    pub(crate) const COUNTS: usize = 16 * TABLES + 256;

    /// Reads the models of a block.
    pub(crate) fn read(coded: &[u8]) -> Result<Self, Flaw> {
        Models::decode(coded).map(|models| Self::of(&models))
    }

    /// Chooses the models and appends them to `out`. `counts` are those of the symbols, in the
    /// order of [`ModelArrays::tables`], and behind them those of the bytes.
    ///
    /// # Panics
    /// If `counts` does not have [`ModelArrays::COUNTS`] entries.
    pub(crate) fn choose(counts: &[u32], out: &mut Vec<u8>) -> Self {
        assert_eq!(counts.len(), Self::COUNTS);
        let (symbols, bytes) = counts.split_at(16 * TABLES);
        let symbols = symbols.as_chunks::<16>().0;
        let mut chosen = SymbolCounts::new();
        let (runs, others) = symbols.split_at(RUN_LEAVES);
        let (ranks, extra) = others.split_at(RANK_LEAVES);
        chosen.runs.copy_from_slice(runs);
        chosen.ranks.copy_from_slice(ranks);
        chosen.extra.copy_from_slice(extra);
        chosen.present = std::array::from_fn(|byte| bytes[byte] > 0);
        Self::of(&Models::encode(&chosen, out))
    }

    fn of(models: &Models) -> Self {
        let Models {
            alphabet,
            runs,
            ranks,
            extra,
            ..
        } = models;
        let of_leaves = |classes: &[u8], tables: &[FrequencyTable]| -> Vec<FrequencyTable> {
            classes
                .iter()
                .map(|&class| tables[usize::from(class)].clone())
                .collect()
        };
        let runs = of_leaves(&runs.class_of_leaf[..RUN_LEAVES], &*runs.tables);
        let ranks = of_leaves(&ranks.class_of_leaf[..RANK_LEAVES], &*ranks.tables);
        let tables = runs.iter().chain(&ranks).chain(extra);
        let slots = |table: &FrequencyTable| -> [u32; 16] {
            std::array::from_fn(|symbol| {
                let slots = table.slots(symbol);
                slots.start | slots.freq << 16
            })
        };
        let mut present = [0; 256];
        alphabet
            .iter()
            .for_each(|&byte| present[usize::from(byte)] = 1);
        ModelArrays {
            tables: tables.flat_map(slots).collect(),
            alphabet: present,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    #[test]
    fn averages_stay_within_the_quantisers() {
        let most = ROUNDED_ROOTS[255] - 2;
        assert!((3 * most + most + 2) >> 2 <= most && (most as usize) < AVERAGES);
    }

    #[test]
    fn maps_are_those_of_the_cpu() {
        let arrays = ContextArrays::new();
        for (key, own) in CONTEXTS.own[..OWN_KEYS].iter().enumerate() {
            let [run, rank] = [arrays.run_leaf[key], arrays.own_rank[key]].map(u32::from);
            assert_eq!(*own, run | (rank * AROUND as u32) << 16);
        }
        for (number, ranked) in MTF_RANKS.iter().enumerate() {
            let root = arrays.roots[number];
            assert_eq!(
                *ranked,
                ((root & 0xffff) + 2) << 16 | root >> 24 << LAST_RANK_BIT
            );
        }
    }

    #[test]
    fn models_are_read_as_they_were_chosen() {
        let mut coded = Vec::new();
        let noise = |at: u32| at.wrapping_mul(2_654_435_761) >> 20 >> (at % 16);
        let counts: Vec<u32> = (0..ModelArrays::COUNTS as u32)
            .map(noise)
            .collect();
        let chosen = ModelArrays::choose(&counts, &mut coded);
        assert_eq!(ModelArrays::read(&coded).as_ref(), Ok(&chosen));
        for table in chosen.tables.as_chunks::<16>().0 {
            let end = table.iter().fold(0, |next, slots| {
                assert_eq!(slots & 0xffff, next);
                next + (slots >> 16)
            });
            assert_eq!(end, 1 << 15);
        }
        let bytes = &counts[16 * TABLES..];
        assert!(
            iter::zip(bytes, chosen.alphabet)
                .all(|(&count, present)| present == u8::from(count > 0))
        );
    }
}
