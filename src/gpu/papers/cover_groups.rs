//! Prefix doubling over the cover of the skew algorithm: the host side of
//! `kernels/papers/cover_groups.cu`, which says how it works.

use crate::error::Result;
use crate::gpu::block::text_view;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::runtime::kernel_structs::{
    AlphabetView, CoverChangesView, CoverGroupsArgs, CoverListView,
};
use crate::gpu::runtime::tuning::{HALO, REFINE_THREADS, REFINE_TILE, TEXT_PADDING};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments, at_most};

/// Items of a tile.
const SPLIT_TILE: u32 = REFINE_TILE - 2 * HALO;

/// So many changed ranks are written in the order of regions of the text, as many as these bits
/// tell apart: a region stays in the cache while it is written. A radix sort takes one pass for so
/// few bits.
const REGIONS: u32 = 6;
const MANY: u32 = 1 << 20;

/// The byte values of a text numbered from 1, those that do not occur left out; and how many of
/// them fit into 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Alphabet {
    /// The number of each byte.
    pub numbers: [u32; 256],
    /// Bits of a number.
    pub bits: u32,
    /// Symbols of a key: a multiple of 3.
    pub symbols: u32,
}

impl Alphabet {
    /// That of a text with so many of each byte.
    pub fn new(counts: &[u32; 256]) -> Self {
        let mut most = 0;
        let numbers = counts.map(|count| {
            most += u32::from(count > 0);
            if count > 0 { most } else { 0 }
        });
        let bits = u32::BITS - most.leading_zeros();
        Alphabet { numbers, bits, symbols: u64::BITS / bits / 3 * 3 }
    }
}

/// A list of what is still in groups of more than one: large groups from its front, small ones from
/// its back.
#[derive(Clone, Copy)]
pub struct CoverList<'m> {
    pub suffixes: Array<'m, u32>,
    pub ranks: Array<'m, u32>,
    /// Of large groups: their rows, and the numbers of the groups.
    pub rows: Array<'m, u32>,
    pub groups: Array<'m, u32>,
}

impl<'m> CoverList<'m> {
    pub fn allocate(arena: &mut ArenaAllocator<'m>, items: u32) -> Self {
        let room = items as usize;
        CoverList {
            suffixes: arena.array(room),
            ranks: arena.array(room),
            rows: arena.array(room),
            groups: arena.array(room),
        }
    }
}

/// How many suffixes are in small groups, how many in large ones, and how many large groups there
/// are.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoverUnresolved {
    pub small: u32,
    pub large: u32,
    pub groups: u32,
}

/// The cover of a text, and where its order comes to lie.
#[derive(Clone, Copy)]
pub struct TextCover<'m> {
    pub text: Array<'m, u8>,
    /// Symbols of the text.
    pub n: u32,
    pub alphabet: Alphabet,
    /// The numbers of the alphabet.
    pub numbers: Array<'m, u32>,
    /// By cover index: the rank of each suffix, which is the row of the first of its group.
    pub ranks: Array<'m, u32>,
    /// By row, from 1: the suffixes. It is complete when no group is left.
    pub order: Array<'m, u32>,
    /// Ranks that have changed: of FIRST by row, else with the suffixes that have them.
    pub changed_suffixes: Array<'m, u32>,
    pub changed_ranks: Array<'m, u32>,
    /// What CTAs count: items of small groups, changes, items of large groups, large groups.
    pub counts: Array<'m, u32>,
    /// What CTAs leave to each other: [`status_len`] words.
    pub status: Array<'m, u64>,
}

/// Words of [`TextCover::status`] for a cover of so many suffixes.
pub fn status_len(count: u32) -> usize {
    count.div_ceil(SPLIT_TILE) as usize + 1
}

/// What is split, and how small groups are sorted on.
#[derive(Clone, Copy)]
pub struct CoverSplit<'m> {
    /// What all suffixes, or the large groups of `list`, are sorted by. None for its small groups.
    pub keys: Option<Array<'m, u64>>,
    pub suffixes: Array<'m, u32>,
    /// Where they come from; none for all suffixes.
    pub list: Option<CoverList<'m>>,
    /// Symbols that small groups have in common, and those that all groups have.
    pub depth: u32,
    pub step: u32,
    /// Most rounds of small groups.
    pub rounds: u32,
}

impl<'m> TextCover<'m> {
    /// Sorts all suffixes of the cover by their first symbols, stably.
    #[allow(unsafe_code)]
    pub fn sort(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        keys: &mut DoubleBuffer<'m, u64>,
        suffixes: &mut DoubleBuffer<'m, u32>,
    ) -> Result<()> {
        let (count, Alphabet { symbols, bits, .. }) = (self.order.len(), self.alphabet);
        assert!(keys.current.len() == count && suffixes.current.len() == count);
        assert!(self.text.len() >= self.n + TEXT_PADDING && self.numbers.len() == 256);
        let TextCover { text, n, numbers, .. } = *self;
        let arguments =
            arguments![text, n, numbers, symbols, bits, count, keys.current, suffixes.current];
        // SAFETY: `keys` and `suffixes` have so many items, and the text its padding.
        unsafe { gpu.each("cover_groups/cover_runs", count.div_ceil(2), arguments)? };
        cub.sort_pairs(gpu, keys, suffixes, 0..symbols * bits)
    }

    /// Sorts the large groups of a list, each by the ranks `depth` and twice that behind, or by the
    /// first of these alone where both do not fit into a key. Says how many symbols the groups of
    /// equal keys have in common.
    #[allow(unsafe_code)]
    pub fn sort_large(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        (list, unresolved): (CoverList<'m>, CoverUnresolved),
        depth: u32,
        keys: &mut DoubleBuffer<'m, u64>,
        suffixes: &mut DoubleBuffer<'m, u32>,
    ) -> Result<u32> {
        let (m, rank_bits) = (unresolved.large, bit_width(self.order.len()));
        let group_bits = bit_width(unresolved.groups.saturating_sub(1));
        let two = group_bits + 2 * rank_bits <= u64::BITS;
        assert!(keys.current.len() == m && suffixes.current.len() == m && list.groups.len() >= m);
        assert!(depth.is_multiple_of(3));
        let (TextCover { ranks, n, .. }, CoverList { groups, .. }) = (*self, list);
        let (listed, second, to) = (suffixes.current, u32::from(two), keys.current);
        let arguments = arguments![listed, groups, m, ranks, n, depth, rank_bits, second, to];
        // SAFETY: `suffixes`, `groups` and `keys` have m items, `ranks` one for each cover index.
        unsafe { gpu.each("cover_groups/large_keys", m, arguments)? };
        let known = if two { 3 } else { 2 };
        cub.sort_pairs(gpu, keys, suffixes, 0..group_bits + (known - 1) * rank_bits)?;
        Ok(depth.saturating_mul(known))
    }

    /// Forgets what has been counted.
    pub fn clear(&self, gpu: &Gpu) -> Result<()> {
        gpu.zero(self.counts)
    }

    /// Splits what is sorted into groups, sorts small ones, and adds what is left to a list.
    #[allow(unsafe_code)]
    pub fn split(&self, gpu: &Gpu, split: CoverSplit, to: CoverList) -> Result<()> {
        let m = split.suffixes.len();
        let tiles = m.div_ceil(SPLIT_TILE);
        let kernel = match (split.keys, split.list) {
            (Some(_), None) => "cover_groups/split_first",
            (Some(_), Some(_)) => "cover_groups/split_sorted",
            (None, _) => "cover_groups/split_small",
        };
        if split.keys.is_some() {
            gpu.zero(self.status.first(tiles + 1))?;
        }
        assert!(split.keys.is_none_or(|keys| keys.len() == m) && self.counts.len() >= 4);
        assert!(
            [to.suffixes, to.ranks, to.rows, to.groups].iter().all(|a| a.len() >= self.order.len())
        );
        assert!(split.depth.is_multiple_of(3) && split.step.is_multiple_of(3));
        let from = |array: fn(CoverList) -> Array<u32>, behind: bool| {
            split.list.map_or(0, |list| {
                let all = array(list);
                if behind { all.part(all.len() - m..all.len()) } else { all.first(m) }.address()
            })
        };
        let small = split.keys.is_none();
        let arguments = CoverGroupsArgs {
            keys: split.keys.map_or(0, Array::address),
            suffixes: split.suffixes.address(),
            from_ranks: from(|list| list.ranks, small),
            from_rows: from(|list| list.rows, small),
            items: m,
            depth: split.depth,
            step: split.step,
            rounds: split.rounds,
            text: text_view(self.text, self.n),
            alphabet: AlphabetView {
                numbers: self.numbers.address(),
                symbols: self.alphabet.symbols,
                bits: self.alphabet.bits,
            },
            ranks: self.ranks.address(),
            order: self.order.address(),
            list: CoverListView {
                suffixes: to.suffixes.address(),
                ranks: to.ranks.address(),
                rows: to.rows.address(),
                groups: to.groups.address(),
            },
            room: self.order.len(),
            changes: CoverChangesView {
                suffixes: self.changed_suffixes.address(),
                ranks: self.changed_ranks.address(),
            },
            counts: self.counts.address(),
            larges: self.counts.part(2..4).address(),
            status: self.status.address(),
            tiles: tiles.cast_signed(),
        };
        // SAFETY: the lists have m items, what they are left in has room for all, and `status` has
        // an item for each CTA and one more.
        unsafe { gpu.launch_struct(kernel, tiles, REFINE_THREADS, &arguments) }
    }

    /// Waits for what is left, and for the number of changes.
    pub fn unresolved(&self, gpu: &Gpu) -> Result<(CoverUnresolved, u32)> {
        let counts = gpu.read(self.counts.first(4))?;
        let all = self.order.len();
        counts.iter().try_for_each(|&count| at_most(count, all).map(drop))?;
        at_most(counts[2], all - counts[0])?;
        Ok((CoverUnresolved { small: counts[0], large: counts[2], groups: counts[3] }, counts[1]))
    }

    /// Writes changed ranks. `spare` is as long as they are, and the suffixes are kept.
    #[allow(unsafe_code)]
    pub fn write(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        suffixes: Array<'m, u32>,
        spare: DoubleBuffer<'m, u32>,
    ) -> Result<()> {
        let m = suffixes.len();
        let (first, changed) = (spare.current.first(m), self.changed_ranks.first(m));
        let mut suffixes = DoubleBuffer { current: suffixes, alternate: first };
        let mut ranks = DoubleBuffer { current: changed, alternate: spare.alternate.first(m) };
        let bits = bit_width(self.n);
        if m >= MANY {
            cub.sort_pairs(gpu, &mut suffixes, &mut ranks, bits - REGIONS..bits)?;
            assert_eq!(suffixes.current.address(), first.address(), "one pass, to the other half");
        }
        let arguments = arguments![suffixes.current, ranks.current, m, self.ranks];
        // SAFETY: both arrays have m items, `ranks` one for each cover index.
        unsafe { gpu.each("cover_groups/write_ranks", m, arguments) }
    }
}
