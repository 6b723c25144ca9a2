//! Prefix doubling over the cover of the skew algorithm: the host side of
//! `kernels/sort/cover_groups.cu`, which explains it.

use crate::base::error::Result;
use crate::gpu::block::text_view;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::runtime::kernel_structs::{
    AlphabetView, CoverChangesView, CoverGroupsArgs, CoverListView,
};
use crate::gpu::runtime::tuning::{HALO, REFINE_THREADS, REFINE_TILE, TEXT_PADDING};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments, at_most};

/// Number of items in a tile.
const SPLIT_TILE: u32 = REFINE_TILE - 2 * HALO;

/// Number of top bits of a position that name a region of the text. If many ranks have changed,
/// they are written region by region, so that a region stays in the cache meanwhile. A radix sort
/// needs only one pass for this number of bits.
const REGIONS: u32 = 6;
/// Number of changed ranks from which they are written region by region.
const MANY: u32 = 1 << 20;

/// Numbers for the byte values that occur in a text, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alphabet {
    /// Number of each byte; 0 if it does not occur.
    pub numbers: [u32; 256],
    /// Bits per number.
    pub bits: u32,
    /// Number of symbols in a key of 64 bits: a multiple of 3.
    pub symbols: u32,
}

impl Alphabet {
    /// Makes the alphabet of a text with the given counts of bytes.
    pub(super) fn new(counts: &[u32; 256]) -> Self {
        let mut most = 0;
        let numbers = counts.map(|count| {
            most += u32::from(count > 0);
            if count > 0 { most } else { 0 }
        });
        let bits = u32::BITS - most.leading_zeros();
        Alphabet {
            numbers,
            bits,
            symbols: u64::BITS / bits / 3 * 3,
        }
    }
}

/// A list of the suffixes in groups of more than one. Large groups are listed from the front, small
/// ones from the back.
#[derive(Clone, Copy)]
pub(super) struct CoverList<'m> {
    pub suffixes: Array<'m, u32>,
    pub ranks: Array<'m, u32>,
    /// Row of each item in a large group.
    pub rows: Array<'m, u32>,
    /// Number of the group of each item in a large group.
    pub groups: Array<'m, u32>,
}

impl<'m> CoverList<'m> {
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, items: u32) -> Self {
        let room = items as usize;
        CoverList {
            suffixes: arena.array(room),
            ranks: arena.array(room),
            rows: arena.array(room),
            groups: arena.array(room),
        }
    }
}

/// Numbers of suffixes in small groups, of suffixes in large groups, and of large groups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CoverUnresolved {
    pub small: u32,
    pub large: u32,
    pub groups: u32,
}

/// The large groups of a list.
#[derive(Clone, Copy)]
pub(super) struct LargeGroups<'m> {
    /// Number of suffixes in the groups.
    pub items: u32,
    /// Group number of each suffix.
    pub numbers: Array<'m, u32>,
    /// Number of groups.
    pub count: u32,
    /// Length of the common prefix in each group.
    pub depth: u32,
}

/// The cover of a text, and the arrays for its order.
#[derive(Clone, Copy)]
pub(super) struct TextCover<'m> {
    pub text: Array<'m, u8>,
    /// Number of symbols in the text.
    pub n: u32,
    pub alphabet: Alphabet,
    /// The numbers of the alphabet.
    pub numbers: Array<'m, u32>,
    /// For each cover index: the rank of its suffix, which is the row of the first suffix of its
    /// group.
    pub ranks: Array<'m, u32>,
    /// For each row, from 1: its suffix. Complete once no group is left.
    pub order: Array<'m, u32>,
    /// Suffixes whose ranks have changed. After the first sort all have changed, and the list is by
    /// row.
    pub changed_suffixes: Array<'m, u32>,
    /// The changed ranks.
    pub changed_ranks: Array<'m, u32>,
    /// Counts made by CTAs: items of small groups, changes, items of large groups, large groups.
    pub counts: Array<'m, u32>,
    /// Sums that CTAs leave to each other: [`status_len`] words.
    pub status: Array<'m, u64>,
}

/// Number of words of [`TextCover::status`] for a cover of `count` suffixes.
pub(super) fn status_len(count: u32) -> usize {
    count.div_ceil(SPLIT_TILE) as usize + 1
}

/// Input of a split: a sorted list, and how its small groups are sorted further.
#[derive(Clone, Copy)]
pub(super) struct CoverSplit<'m> {
    /// Keys by which all suffixes or the large groups of `list` are sorted; `None` for its small
    /// groups.
    pub keys: Option<Array<'m, u64>>,
    pub suffixes: Array<'m, u32>,
    /// The list that the suffixes come from; `None` for all suffixes.
    pub list: Option<CoverList<'m>>,
    /// Length of the common prefix in small groups.
    pub depth: u32,
    /// Length of the common prefix in all groups.
    pub step: u32,
    /// Maximum number of rounds on small groups.
    pub rounds: u32,
}

impl<'m> TextCover<'m> {
    /// Sorts all suffixes of the cover by their first symbols, stably.
    #[allow(unsafe_code)]
    pub(super) fn sort(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        keys: &mut DoubleBuffer<'m, u64>,
        suffixes: &mut DoubleBuffer<'m, u32>,
    ) -> Result<()> {
        let count = self.order.len();
        let Alphabet { symbols, bits, .. } = self.alphabet;
        assert!(keys.current.len() == count && suffixes.current.len() == count);
        assert!(self.text.len() >= self.n + TEXT_PADDING && self.numbers.len() == 256);
        let TextCover {
            text, n, numbers, ..
        } = *self;
        let arguments = arguments![
            text,
            n,
            numbers,
            symbols,
            bits,
            count,
            keys.current,
            suffixes.current
        ];
        // SAFETY: `keys` and `suffixes` have `count` items, and the text has its padding.
        unsafe { gpu.each("cover_groups/cover_runs", count.div_ceil(2), arguments)? };
        cub.sort_pairs(gpu, keys, suffixes, 0..symbols * bits)
    }

    /// Sorts the large groups of a list by ranks, each by the pair of ranks `depth` and 2 `depth`
    /// positions behind. If the pair does not fit into a key, only the first rank is used. Returns
    /// the length of the common prefix in groups of equal keys.
    #[allow(unsafe_code)]
    pub(super) fn sort_large(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        large: LargeGroups<'m>,
        keys: &mut DoubleBuffer<'m, u64>,
        suffixes: &mut DoubleBuffer<'m, u32>,
    ) -> Result<u32> {
        let LargeGroups {
            items: m,
            numbers: groups,
            count,
            depth,
        } = large;
        let rank_bits = bit_width(self.order.len());
        let group_bits = bit_width(count.saturating_sub(1));
        let two = group_bits + 2 * rank_bits <= u64::BITS;
        assert!(keys.current.len() == m && suffixes.current.len() == m && groups.len() >= m);
        assert!(depth.is_multiple_of(3));
        let TextCover { ranks, n, .. } = *self;
        let listed = suffixes.current;
        let second = u32::from(two);
        let to = keys.current;
        let arguments = arguments![listed, groups, m, ranks, n, depth, rank_bits, second, to];
        // SAFETY: `suffixes`, `groups` and `keys` have m items, and `ranks` has one for each cover
        // index.
        unsafe { gpu.each("cover_groups/large_keys", m, arguments)? };
        let known = if two { 3 } else { 2 };
        cub.sort_pairs(gpu, keys, suffixes, 0..group_bits + (known - 1) * rank_bits)?;
        Ok(depth.saturating_mul(known))
    }

    /// Resets the counts.
    pub(super) fn clear(&self, gpu: &Gpu) -> Result<()> {
        gpu.zero(self.counts)
    }

    /// Splits sorted items into groups, sorts small groups further, and adds the unresolved items
    /// to a list.
    #[allow(unsafe_code)]
    pub(super) fn split(&self, gpu: &Gpu, split: CoverSplit, to: CoverList) -> Result<()> {
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
            [to.suffixes, to.ranks, to.rows, to.groups]
                .iter()
                .all(|a| a.len() >= self.order.len())
        );
        assert!(split.depth.is_multiple_of(3) && split.step.is_multiple_of(3));
        let from = |array: fn(CoverList) -> Array<u32>, behind: bool| {
            split.list.map_or(0, |list| {
                let all = array(list);
                if behind {
                    all.part(all.len() - m..all.len())
                } else {
                    all.first(m)
                }
                .address()
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
        // SAFETY: the lists have m items, the next list has room for all, and `status` has an item
        // for each CTA and one more.
        unsafe { gpu.launch_struct(kernel, tiles, REFINE_THREADS, &arguments) }
    }

    /// Waits for the numbers of unresolved items, and for the number of changes.
    pub(super) fn unresolved(&self, gpu: &Gpu) -> Result<(CoverUnresolved, u32)> {
        let counts = gpu.read(self.counts.first(4))?;
        let all = self.order.len();
        counts
            .iter()
            .try_for_each(|&count| at_most(count, all).map(drop))?;
        at_most(counts[2], all - counts[0])?;
        Ok((
            CoverUnresolved {
                small: counts[0],
                large: counts[2],
                groups: counts[3],
            },
            counts[1],
        ))
    }

    /// Writes changed ranks. `spare` is as long as they are. The array `suffixes` keeps its
    /// content.
    #[allow(unsafe_code)]
    pub(super) fn write(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        suffixes: Array<'m, u32>,
        spare: DoubleBuffer<'m, u32>,
    ) -> Result<()> {
        let m = suffixes.len();
        let first = spare.current.first(m);
        let changed = self.changed_ranks.first(m);
        let mut suffixes = DoubleBuffer {
            current: suffixes,
            alternate: first,
        };
        let mut ranks = DoubleBuffer {
            current: changed,
            alternate: spare.alternate.first(m),
        };
        let bits = bit_width(self.n);
        if m >= MANY {
            cub.sort_pairs(gpu, &mut suffixes, &mut ranks, bits - REGIONS..bits)?;
            assert_eq!(
                suffixes.current.address(),
                first.address(),
                "one pass, to the other half"
            );
        }
        let arguments = arguments![suffixes.current, ranks.current, m, self.ranks];
        // SAFETY: both arrays have m items, and `ranks` has one for each cover index.
        unsafe { gpu.each("cover_groups/write_ranks", m, arguments) }
    }
}
