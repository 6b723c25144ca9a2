//! `skew-pd`: the skew algorithm with prefix doubling in place of its recursion.
//!
//! L. Wang, S. Baxter and J. D. Owens, *Fast parallel skew and prefix-doubling suffix array
//! construction on the GPU*, 2016, Figure 5 right.
//!
//! # As in the paper
//! The suffixes at positions i with i mod 3 = 1 or 2, the cover, are sorted by their first symbols.
//! They are then sorted within groups of equal ones by the pair of ranks h and 2h positions behind,
//! h being the length of their known common prefix. Each round makes h three times as large. A
//! suffix alone in its group is left out. The other suffixes are sorted by the order of those
//! behind them, and merged in.
//!
//! # Different
//! The paper first sorts by triples. Here the first key is as many triples as 64 bits hold: 9
//! symbols of English, 21 of DNA. The paper's segmented sort compares keys. Here large groups are
//! sorted by radix, with the group's number as part of the key. Small groups are sorted by counting
//! in the shared memory of a CTA: first by more symbols, then by ranks, [`ROUNDS`] times before
//! ranks are written anew.
//!
//! # Figures
//! Speeds are on the page of `papers::gpu_sorts::skew_pd_alone`, which sorts all texts in this way.
//! Memory: about 46 bytes per suffix. The arrays of the block (text, suffix array and BWT, 6 bytes
//! per suffix) are not among them.

use super::cover_groups::{
    Alphabet, CoverList, CoverSplit, CoverUnresolved, LargeGroups, TextCover, status_len,
};
use super::skew_cover::{cover_len, mod1_len, splits_for};
use crate::base::error::Result;
use crate::gpu::block::DeviceBlock;
use crate::gpu::block::byte_counts::{ByteCounts, count_bytes};
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::BYTE_COUNT_WORDS;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, log_round};

/// Rounds of text on small groups after the first sort.
const TEXT_ROUNDS: u32 = 1;
/// Rounds on small groups between two writes of ranks.
const ROUNDS: u32 = 3;
/// Number of ranks behind the last. They are 0 and belong to positions behind the end of the text.
const PADDING: u32 = 4;

/// Buffers of the sort.
pub(crate) struct SkewPd<'m> {
    cub: Cub<'m>,
    keys: DoubleBuffer<'m, u64>,
    suffixes: DoubleBuffer<'m, u32>,
    changed: Array<'m, u32>,
    /// The list of unresolved suffixes, and that after the current round.
    lists: [CoverList<'m>; 2],
    ranks: Array<'m, u32>,
    order: Array<'m, u32>,
    splits: Array<'m, u32>,
    bytes: Array<'m, u32>,
    numbers: Array<'m, u32>,
    counts: Array<'m, u32>,
    status: Array<'m, u64>,
}

/// Lengths of the known common prefixes.
#[derive(Clone, Copy)]
struct Depth {
    /// Length of the common prefix in small groups.
    small: u32,
    /// Length of the common prefix in all groups.
    all: u32,
}

impl Depth {
    /// Depths after a round. If there are no large groups, `all` is the depth of the small ones.
    fn new(small: u32, all: u32, unresolved: CoverUnresolved) -> Self {
        Depth {
            small,
            all: if unresolved.large > 0 { all } else { small },
        }
    }
}

impl<'m> SkewPd<'m> {
    pub(crate) fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, n: u32) -> Result<Self> {
        let count = cover_len(n);
        let items = count as usize;
        Ok(SkewPd {
            cub: Cub::allocate(gpu, arena, n)?,
            keys: arena.double_buffer(items),
            suffixes: arena.double_buffer(items),
            changed: arena.array(items),
            lists: [
                CoverList::allocate(arena, count),
                CoverList::allocate(arena, count),
            ],
            ranks: arena.array(items + PADDING as usize),
            order: arena.array(items),
            splits: arena.array(splits_for(n)),
            bytes: arena.array(BYTE_COUNT_WORDS as usize),
            numbers: arena.array(256),
            counts: arena.array(4),
            status: arena.array(status_len(count)),
        })
    }

    /// Sorts a block and writes its BWT and samples.
    pub(crate) fn run(
        self,
        gpu: &Gpu,
        block: DeviceBlock<'m>,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let counts = count_bytes(gpu, block.text, block.sa.len(), self.bytes)?;
        self.sort(gpu, block, &counts, rounds)
    }

    /// Sorts a block whose byte counts are known, and writes its BWT and samples.
    pub(crate) fn sort(
        mut self,
        gpu: &Gpu,
        block: DeviceBlock<'m>,
        counts: &ByteCounts,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let n = block.sa.len();
        let count = self.order.len();
        let alphabet = Alphabet::new(&counts.bytes);
        gpu.upload_words(&alphabet.numbers, self.numbers)?;
        gpu.zero(self.ranks.part(count..count + PADDING))?;
        let (mut unresolved, mut depth, cover) = self.first(gpu, block.text, n, alphabet)?;
        while unresolved.small + unresolved.large > 0 {
            log_round(rounds, unresolved.small + unresolved.large)?;
            (unresolved, depth) = self.round(gpu, &cover, unresolved, depth)?;
        }
        let [list, other] = self.lists;
        let mod0 = DoubleBuffer {
            current: list.suffixes,
            alternate: list.ranks,
        }
        .first_items(mod1_len(n));
        let keys = DoubleBuffer {
            current: other.suffixes,
            alternate: other.ranks,
        }
        .first_items(mod1_len(n));
        let mod0 = cover.sort_mod0(gpu, &self.cub, mod0, keys)?;
        cover.merge(gpu, mod0, self.splits, block)
    }

    /// Sorts the cover by its first symbols, and ranks all of it.
    fn first(
        &mut self,
        gpu: &Gpu,
        text: Array<'m, u8>,
        n: u32,
        alphabet: Alphabet,
    ) -> Result<(CoverUnresolved, Depth, TextCover<'m>)> {
        let mut cover = TextCover {
            text,
            n,
            alphabet,
            numbers: self.numbers,
            ranks: self.ranks,
            order: self.order,
            changed_suffixes: self.order,
            changed_ranks: self.changed,
            counts: self.counts,
            status: self.status,
        };
        cover.sort(gpu, &self.cub, &mut self.keys, &mut self.suffixes)?;
        cover.clear(gpu)?;
        let symbols = alphabet.symbols;
        let all = CoverSplit {
            keys: Some(self.keys.current),
            suffixes: self.suffixes.current,
            list: None,
            depth: symbols,
            step: symbols,
            rounds: TEXT_ROUNDS,
        };
        cover.split(gpu, all, self.lists[0])?;
        cover.write(gpu, &self.cub, self.order, self.spare())?;
        // The first order is not needed any more.
        cover.changed_suffixes = self.suffixes.current;
        let (unresolved, _) = cover.unresolved(gpu)?;
        Ok((
            unresolved,
            Depth::new(symbols * (1 + TEXT_ROUNDS), symbols, unresolved),
            cover,
        ))
    }

    /// Sorts each group by the ranks behind its common prefix.
    fn round(
        &mut self,
        gpu: &Gpu,
        cover: &TextCover<'m>,
        unresolved: CoverUnresolved,
        depth: Depth,
    ) -> Result<(CoverUnresolved, Depth)> {
        let [list, to] = self.lists;
        let count = list.suffixes.len();
        let Depth { small, all } = depth;
        let mut further = small.saturating_add(all.saturating_mul(2 * ROUNDS));
        let mut all_further = further;
        cover.clear(gpu)?;
        if unresolved.large > 0 {
            let mut keys = self.keys.first_items(unresolved.large);
            let suffixes = DoubleBuffer {
                current: list.suffixes,
                alternate: self.suffixes.alternate,
            };
            let mut suffixes = suffixes.first_items(unresolved.large);
            let groups = LargeGroups {
                items: unresolved.large,
                numbers: list.groups,
                count: unresolved.groups,
                depth: all,
            };
            all_further = cover.sort_large(gpu, &self.cub, groups, &mut keys, &mut suffixes)?;
            further = further.min(all_further);
            let keys = Some(keys.current);
            let suffixes = suffixes.current;
            let large = CoverSplit {
                keys,
                suffixes,
                list: Some(list),
                depth: all,
                step: all,
                rounds: 0,
            };
            cover.split(gpu, large, to)?;
        }
        if unresolved.small > 0 {
            let suffixes = list
                .suffixes
                .part(count - unresolved.small..count);
            let list = Some(list);
            let groups = CoverSplit {
                keys: None,
                suffixes,
                list,
                depth: small,
                step: all,
                rounds: ROUNDS,
            };
            cover.split(gpu, groups, to)?;
        }
        let (now, changes) = cover.unresolved(gpu)?;
        cover.write(
            gpu,
            &self.cub,
            cover.changed_suffixes.first(changes),
            self.spare(),
        )?;
        self.lists = [to, list];
        Ok((now, Depth::new(further, all_further, now)))
    }

    /// Memory for suffixes and ranks while ranks are written.
    fn spare(&self) -> DoubleBuffer<'m, u32> {
        DoubleBuffer::halves(self.keys.alternate.cast())
    }
}
