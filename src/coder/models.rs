//! The models of static rANS: the byte values of a block, and a frequency table for each class of
//! contexts, made before coding and stored with the block. FORMAT.md section 14.5.
//!
//! The encoder chooses the classes from the counts of all leaves (see `context_tree`), from the
//! leaves up: two classes are merged if their separate tables cost more than they save. All
//! arithmetic is in integers, so that every machine makes the same choice.
//!
//! Cost: some 0.3 ms to choose and 0.1 ms to read; 1 to 4 KB in a file for a large block, a dozen
//! bytes for a tiny one.

use super::bit_models::{BitModel, NumberModel};
use super::context_tree::{
    CONTEXTS, ContextTree, OwnContexts, RANK_CONTEXTS, RANK_LEAVES, RUN_LEAVES,
};
use super::default_tables::{MTF_RANK_SHARES, RUN_LENGTH_SHARES};
use super::exp_golomb::{ExpGolomb, LAST_BUCKET_WIDTH};
use super::frequency_table::{Code, FrequencyTable, to_code};
use super::range_coder::{BinaryCoder, RangeDecoder, RangeEncoder};
use super::rans::RansStream;
use super::table_cost::{DefaultTable, ONE_BIT, cheapest};
use super::{ENDS_EARLY, MODELS_LEFT_OVER};
use crate::base::error::Flaw;
use std::sync::LazyLock;

/// Number of tables of the highest extra bits: one for each width from 2 to 6 and one from 7 up,
/// first those of run lengths.
pub(super) const EXTRA_TABLES: usize = 2 * WIDTHS;
const WIDTHS: usize = 6;

/// Number of occurrences of each bucket, or of each value of the highest extra bits.
type Counts = [u32; 16];

/// The counts from which the models of a block are made.
#[derive(Debug, Clone)]
pub(super) struct SymbolCounts {
    /// By leaf.
    pub runs: Box<[Counts; RUN_LEAVES]>,
    pub ranks: Box<[Counts; RANK_LEAVES]>,
    pub extra: [Counts; EXTRA_TABLES],
    /// True for the byte values that occur.
    pub present: [bool; 256],
}

impl SymbolCounts {
    pub(super) fn new() -> Self {
        SymbolCounts {
            runs: Box::new([[0; 16]; RUN_LEAVES]),
            ranks: Box::new([[0; 16]; RANK_LEAVES]),
            extra: [[0; 16]; EXTRA_TABLES],
            present: [false; 256],
        }
    }

    /// Adds the counts of another slice.
    pub(super) fn add(&mut self, other: &SymbolCounts) {
        let tables = |counts: &mut [Counts], more: &[Counts]| {
            let more = more.as_flattened().iter();
            counts
                .as_flattened_mut()
                .iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more);
        };
        tables(&mut *self.runs, &*other.runs);
        tables(&mut *self.ranks, &*other.ranks);
        tables(&mut self.extra, &other.extra);
        self.present
            .iter_mut()
            .zip(other.present)
            .for_each(|(any, more)| *any |= more);
    }
}

/// The index of the table of a number's highest extra bits.
#[inline(always)]
pub(super) fn extra_table(stream: RansStream, width: u32) -> usize {
    stream as usize * WIDTHS + width.min(LAST_BUCKET_WIDTH) as usize - 2
}

/// The extra bits that are coded by a table: the highest four.
#[inline(always)]
pub(super) fn high_bits(split: ExpGolomb) -> usize {
    (split.extra >> split.width.saturating_sub(4)) as usize
}

/// The data of a block that encoder and decoder of a slice share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Models {
    /// The bytes that occur, in ascending order.
    pub alphabet: Vec<u8>,
    pub runs: ClassTables,
    pub ranks: ClassTables,
    pub extra: [FrequencyTable; EXTRA_TABLES],
    /// As [`Contexts::own`](super::context_tree::Contexts), with the class of a run length
    /// instead of its leaf.
    pub own: Box<OwnContexts>,
    /// The class of an MTF rank by its context.
    pub rank_classes: Box<[u8; RANK_CONTEXTS]>,
}

/// The classes of a tree, and their tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClassTables {
    pub class_of_leaf: [u8; 256],
    /// By class. The tables behind the last class are never used, but make checks unnecessary.
    pub tables: Box<[FrequencyTable; 256]>,
}

impl Models {
    /// Chooses the models for these counts, and appends them.
    pub(super) fn encode(counts: &SymbolCounts, out: &mut Vec<u8>) -> Self {
        let mut choice = Choice::of(counts);
        let mut coder = RangeEncoder::new(out);
        choice
            .code(&mut coder)
            .expect("codes that were made from counts");
        coder.finish();
        choice.models()
    }

    /// Reads the output of [`Models::encode`].
    pub(super) fn decode(coded: &[u8]) -> Result<Self, Flaw> {
        let mut choice = Choice::new();
        let mut coder = RangeDecoder::new(coded);
        choice.code(&mut coder)?;
        match coder.is_at_end() {
            true => Ok(choice.models()),
            false if coder.is_exhausted() => Err(ENDS_EARLY),
            false => Err(MODELS_LEFT_OVER),
        }
    }
}

/// The choice of models as it is stored in the file.
struct Choice {
    present: [bool; 256],
    /// By the node of each tree.
    nodes: [Vec<NodeChoice>; 2],
    extra: [Option<[Code; 16]>; EXTRA_TABLES],
}

#[derive(Debug, Clone, Copy, Default)]
struct NodeChoice {
    /// True if its children have tables of their own.
    split: bool,
    /// The table of this class, unless it is the default.
    sent: Option<[Code; 16]>,
}

/// Kinds of tables; each kind has its own adaptive models.
const RUNS: usize = 0;
const RANKS: usize = 1;
const EXTRA: usize = 2;

fn trees() -> [&'static ContextTree; 2] {
    [&CONTEXTS.runs, &CONTEXTS.ranks]
}

/// The default tables, which are not stored; the first table of each kind is stored as its
/// differences from the default. Those of run lengths and of MTF ranks are indexed by the middle of
/// their averages, those of extra bits by table.
static DEFAULTS: LazyLock<[Vec<DefaultTable>; 3]> = LazyLock::new(|| {
    let of_shares =
        |shares: &[u16; 16]| DefaultTable::new(shares.map(|share| to_code(32 * u32::from(share))));
    [
        RUN_LENGTH_SHARES.iter().map(of_shares).collect(),
        MTF_RANK_SHARES.iter().map(of_shares).collect(),
        (0..EXTRA_TABLES)
            .map(|table| DefaultTable::new(default_extra_codes(table)))
            .collect(),
    ]
});

/// The default table of a class.
fn default_table(kind: usize, tree: &ContextTree, node: usize) -> &'static DefaultTable {
    &DEFAULTS[kind][tree.nodes[node].middle]
}

/// The default of extra bits: all values equally likely.
fn default_extra_codes(table: usize) -> [Code; 16] {
    let values = 1 << (2 + table % WIDTHS).min(4);
    std::array::from_fn(|value| {
        if value < values {
            to_code((1 << 15) / values as u32)
        } else {
            0
        }
    })
}

impl Choice {
    fn new() -> Self {
        let nodes = trees().map(|tree| vec![NodeChoice::default(); tree.nodes.len()]);
        Choice {
            present: [false; 256],
            nodes,
            extra: [None; EXTRA_TABLES],
        }
    }

    /// The cheapest choice.
    fn of(counts: &SymbolCounts) -> Self {
        let mut choice = Choice {
            present: counts.present,
            ..Choice::new()
        };
        let [runs, ranks] = trees();
        choice.nodes[RUNS] = cut(RUNS, runs, &*counts.runs);
        choice.nodes[RANKS] = cut(RANKS, ranks, &*counts.ranks);
        for (table, (counts, sent)) in counts
            .extra
            .iter()
            .zip(&mut choice.extra)
            .enumerate()
        {
            *sent = cheapest(counts, &DEFAULTS[EXTRA][table]).1;
        }
        choice
    }

    /// Writes the choice, or reads one.
    fn code(&mut self, coder: &mut impl BinaryCoder) -> Result<(), Flaw> {
        let mut bits = [BitModel::NEW; 2];
        let mut before = false;
        for present in &mut self.present {
            *present = bits[usize::from(before)].code(*present, coder);
            before = *present;
        }
        if self.present == [false; 256] {
            return Err(Flaw("a block has models for no bytes"));
        }
        for (kind, tree) in trees().into_iter().enumerate() {
            let mut tables = TableCoder::new();
            let mut splits = [BitModel::NEW; 8];
            let mut at = 0;
            // In preorder; the nodes below a class are skipped.
            while let Some(node) = tree.nodes.get(at) {
                let choice = &mut self.nodes[kind][at];
                let deeper = node.right().is_some();
                choice.split = deeper && splits[node.depth.min(7)].code(choice.split, coder);
                if choice.split {
                    at += 1;
                } else {
                    tables.code(
                        &mut choice.sent,
                        &default_table(kind, tree, at).codes,
                        coder,
                    )?;
                    at += 2 * node.leaves.len() - 1;
                }
            }
        }
        let mut tables = TableCoder::new();
        for (table, sent) in self.extra.iter_mut().enumerate() {
            tables.code(sent, &DEFAULTS[EXTRA][table].codes, coder)?;
        }
        Ok(())
    }

    fn models(&self) -> Models {
        let alphabet = (0..=255)
            .filter(|&byte| self.present[usize::from(byte)])
            .collect();
        let extra = |table: usize| {
            FrequencyTable::new(&self.extra[table].unwrap_or(DEFAULTS[EXTRA][table].codes))
        };
        let [runs, ranks] = [RUNS, RANKS].map(|kind| self.tables(kind));
        let run_class = |own: u32| u32::from(runs.class_of_leaf[(own & 0xff) as usize]);
        let rank_class = |leaf: u8| ranks.class_of_leaf[usize::from(leaf)];
        Models {
            alphabet,
            own: Box::new(
                CONTEXTS
                    .own
                    .map(|own| own & 0xffff_0000 | run_class(own)),
            ),
            rank_classes: Box::new(CONTEXTS.rank_leaves.map(rank_class)),
            runs,
            ranks,
            extra: std::array::from_fn(extra),
        }
    }

    fn tables(&self, kind: usize) -> ClassTables {
        let tree = trees()[kind];
        let mut at = 0;
        let mut tables = Vec::with_capacity(256);
        let mut class_of_leaf = [0; 256];
        while let Some(node) = tree.nodes.get(at) {
            let choice = self.nodes[kind][at];
            if choice.split {
                at += 1;
            } else {
                class_of_leaf[node.leaves.clone()].fill(tables.len() as u8);
                let codes = choice
                    .sent
                    .unwrap_or_else(|| default_table(kind, tree, at).codes);
                tables.push(FrequencyTable::new(&codes));
                at += 2 * node.leaves.len() - 1;
            }
        }
        let filler = tables[0].clone();
        tables.resize(256, filler);
        ClassTables {
            class_of_leaf,
            tables: tables
                .into_boxed_slice()
                .try_into()
                .expect("as many as were made"),
        }
    }
}

/// Codes the tables of one kind.
struct TableCoder {
    sent: BitModel,
    /// By the coded difference before, limited to 2.
    numbers: [NumberModel; 3],
    before: Option<[Code; 16]>,
}

impl TableCoder {
    fn new() -> Self {
        let numbers = std::array::from_fn(|_| NumberModel::new());
        TableCoder {
            sent: BitModel::NEW,
            numbers,
            before: None,
        }
    }

    fn code(
        &mut self,
        table: &mut Option<[Code; 16]>,
        default: &[Code; 16],
        coder: &mut impl BinaryCoder,
    ) -> Result<(), Flaw> {
        if !self.sent.code(table.is_some(), coder) {
            *table = None;
            return Ok(());
        }
        let mut codes = table.unwrap_or_default();
        let mut last = 0;
        for (code, before) in codes
            .iter_mut()
            .zip(self.before.unwrap_or(*default))
        {
            let difference = i32::from(*code) - i32::from(before);
            let zigzag = (difference << 1 ^ difference >> 31) as usize;
            last = self.numbers[last.min(2)].code(zigzag, coder);
            let difference = (last >> 1) as i64 ^ -((last & 1) as i64);
            *code = Code::try_from(i64::from(before) + difference).or(Err(Flaw(
                "a block has a table whose weights are out of range",
            )))?;
        }
        self.before = Some(codes);
        *table = Some(codes);
        Ok(())
    }
}

/// Splits each node of a tree whose children cost less than the node itself.
fn cut(kind: usize, tree: &ContextTree, leaves: &[Counts]) -> Vec<NodeChoice> {
    let mut nodes = vec![NodeChoice::default(); tree.nodes.len()];
    let mut counts: Vec<Counts> = vec![[0; 16]; tree.nodes.len()];
    let mut costs = vec![0; tree.nodes.len()];
    // Children come behind their parent.
    for (at, node) in tree.nodes.iter().enumerate().rev() {
        counts[at] = match node.right() {
            Some(right) => std::array::from_fn(|n| counts[at + 1][n] + counts[right][n]),
            None => leaves[node.leaves.start],
        };
        (costs[at], nodes[at].sent) = cheapest(&counts[at], default_table(kind, tree, at));
        let Some(right) = node.right() else { continue };
        let children = costs[at + 1] + costs[right];
        if children < costs[at] {
            (costs[at], nodes[at]) = (
                children,
                NodeChoice {
                    split: true,
                    sent: None,
                },
            );
        }
        costs[at] += ONE_BIT;
    }
    nodes
}

#[cfg(test)]
mod tests;
