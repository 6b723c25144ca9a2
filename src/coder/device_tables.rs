//! What the coder's kernels on a GPU take and give, as plain arrays: the maps from model state to
//! leaves, a table for each leaf, and the counts of symbols.
//!
//! A GPU has a table for each leaf, whatever the classes are, so that one lookup less is waited
//! for. The choice of the models is the same as for slices that are coded on the CPU.

use super::context_tree::{AROUND, CONTEXTS, RANK_LEAVES, RUN_LEAVES};
use super::frequency_table::FrequencyTable;
use super::models::{EXTRA_TABLES, Models, SymbolCounts};
use super::run_context::{
    ALL_BY_MTF_RANK, ALL_BY_RUN_LENGTH, LAST_CLASS, OWN_BY_MTF_RANK, OWN_BY_RUN_LENGTH,
    QUANTISED_MTF_RANKS, QUANTISED_RUN_LENGTHS, SCALED_ROOTS,
};
use crate::error::Flaw;


/// Averages are below this: no scaled root is larger than 600.
const AVERAGES: usize = 608;
/// Classes of a symbol's last MTF rank.
const LAST_CLASSES: usize = 8;
/// Tables of all leaves, and of extra bits.
const TABLES: usize = RUN_LEAVES + RANK_LEAVES + EXTRA_TABLES;

/// From model state to leaves, the same for all blocks. Averages, MTF ranks and run lengths are all
/// less one.
pub struct ContextArrays {
    /// By number: its scaled root, and from bit 24 on its class as a last MTF rank.
    pub roots: [u32; 256],
    /// By average: the quantised value.
    pub run_context: [u8; AVERAGES],
    pub rank_context: [u8; AVERAGES],
    pub all_run_context: [u8; AVERAGES],
    pub all_rank_context: [u8; AVERAGES],
    /// By `run_context` * 16 + `rank_context`.
    pub own_run: [u8; QUANTISED_RUN_LENGTHS * QUANTISED_MTF_RANKS],
    /// By (`rank_context` * 11 + `run_context`) * 8 + the class of the last MTF rank.
    pub own_rank: [u8; QUANTISED_RUN_LENGTHS * QUANTISED_MTF_RANKS * LAST_CLASSES],
    /// By 32 * `own_run`, or `own_rank`, plus what is around.
    pub run_leaf: [u8; 48 * AROUND],
    pub rank_leaf: [u8; 96 * AROUND],
}

impl ContextArrays {
    /// Those of the format.
    pub fn new() -> Self {
        // The quantisers of the CPU have the factors of its keys in them.
        let quantised = |by: &[u16; 1024], factor| std::array::from_fn(|at| (by[at] / factor) as u8);
        let own = |run: usize, rank: usize, last: usize| CONTEXTS.own[run << 7 | rank << 3 | last];
        let own_rank = |at: usize| {
            let (both, last) = (at / LAST_CLASSES, at % LAST_CLASSES);
            own(both % QUANTISED_RUN_LENGTHS, both / QUANTISED_RUN_LENGTHS, last) >> 16
        };
        ContextArrays {
            roots: std::array::from_fn(|number| {
                u32::from(SCALED_ROOTS[number]) | u32::from(LAST_CLASS[number]) << 24
            }),
            run_context: quantised(&OWN_BY_RUN_LENGTH, 128),
            rank_context: quantised(&OWN_BY_MTF_RANK, 8),
            all_run_context: quantised(&ALL_BY_RUN_LENGTH, 4),
            all_rank_context: quantised(&ALL_BY_MTF_RANK, 4),
            own_run: std::array::from_fn(|at| {
                let own = own(at / QUANTISED_MTF_RANKS, at % QUANTISED_MTF_RANKS, 0);
                (own as usize % (1 << 16) / AROUND) as u8
            }),
            own_rank: std::array::from_fn(|at| (own_rank(at) as usize / AROUND) as u8),
            run_leaf: *CONTEXTS.run_leaves.first_chunk().expect("48 own classes"),
            rank_leaf: *CONTEXTS.rank_leaves.first_chunk().expect("96 own classes"),
        }
    }
}

/// The models of a block.
#[derive(Debug, PartialEq, Eq)]
pub struct ModelArrays {
    /// By 16 * the table plus the symbol: its first slot, and from bit 16 on how many it owns. The
    /// tables are those of the leaves of run lengths, then of MTF ranks, then of extra bits.
    pub tables: Vec<u32>,
    /// Whether each byte occurs.
    pub alphabet: [u8; 256],
}

impl ModelArrays {
    /// Words of the counts that [`ModelArrays::choose`] takes.
    pub const COUNTS: usize = 16 * TABLES + 256;

    /// Reads the models of a block.
    pub fn read(coded: &[u8]) -> Result<Self, Flaw> {
        Models::decode(coded).map(|models| Self::of(&models))
    }

    /// Chooses the models for counts of symbols, in the order of [`ModelArrays::tables`], and
    /// behind these of bytes; appends them to `out`.
    ///
    /// # Panics
    /// If these are not [`ModelArrays::COUNTS`].
    pub fn choose(counts: &[u32], out: &mut Vec<u8>) -> Self {
        assert_eq!(counts.len(), Self::COUNTS);
        let (symbols, bytes) = counts.split_at(16 * TABLES);
        let (symbols, mut chosen) = (symbols.as_chunks::<16>().0, SymbolCounts::new());
        let (runs, others) = symbols.split_at(RUN_LEAVES);
        let (ranks, extra) = others.split_at(RANK_LEAVES);
        chosen.runs.copy_from_slice(runs);
        chosen.ranks.copy_from_slice(ranks);
        chosen.extra.copy_from_slice(extra);
        chosen.present = std::array::from_fn(|byte| bytes[byte] > 0);
        Self::of(&Models::encode(&chosen, out))
    }

    fn of(models: &Models) -> Self {
        let Models { alphabet, runs, ranks, extra } = models;
        let of_leaves = |classes: &[u8], tables: &[FrequencyTable]| -> Vec<FrequencyTable> {
            classes.iter().map(|&class| tables[usize::from(class)].clone()).collect()
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
        alphabet.iter().for_each(|&byte| present[usize::from(byte)] = 1);
        ModelArrays { tables: tables.flat_map(slots).collect(), alphabet: present }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    #[test]
    fn averages_stay_within_the_quantisers() {
        let most = SCALED_ROOTS[255];
        assert!((3 * most + most + 2) >> 2 <= most && usize::from(most) < AVERAGES);
    }

    #[test]
    fn maps_are_those_of_the_cpu() {
        let arrays = ContextArrays::new();
        for (at, keys) in CONTEXTS.own.iter().enumerate() {
            let [run, rank, last] = [at >> 7, at >> 3 & 15, at & 7];
            if run < QUANTISED_RUN_LENGTHS {
                let own_run = usize::from(arrays.own_run[run * 16 + rank]);
                let own_rank = usize::from(arrays.own_rank[(rank * 11 + run) * 8 + last]);
                assert_eq!(*keys as usize, own_run * AROUND | own_rank * AROUND << 16);
            }
        }
    }

    #[test]
    fn models_are_read_as_they_were_chosen() {
        let mut coded = Vec::new();
        let noise = |at: u32| at.wrapping_mul(2_654_435_761) >> 20 >> (at % 16);
        let counts: Vec<u32> = (0..ModelArrays::COUNTS as u32).map(noise).collect();
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
        assert!(iter::zip(bytes, chosen.alphabet).all(|(&count, present)| present == u8::from(count > 0)));
    }
}
