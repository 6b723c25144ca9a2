//! The default sort: it sorts a block by the fastest method for its kind.
//!
//! The kernel that counts bytes also estimates how much of the text is repeated
//! (`kernels/block/byte_counts.cu`). A text with many repeats that are not very long is sorted by
//! [`SkewPd`], if there is memory for it.
//!
//! All other texts are first sorted by 56 bits of their text in an alphabetic code
//! ([`AlphabeticCode`]). The sort carries the byte before each suffix along. Then groups of equal
//! suffixes are split further, and resolved suffixes are written to the BWT at once:
//!
//! 1. Groups of up to `HALO` suffixes are sorted further by text. All rounds run in the shared
//!    memory of one CTA (`kernels/sort/refine.cu`).
//! 2. If few suffixes are unresolved, more text is compared.
//! 3. Otherwise some positions are chosen by their content, so that equal texts have equal ones:
//!    the *minimizers* (Schleimer, Wilkerson and Aiken, *Winnowing*, 2003). They are ranked among
//!    themselves ([`MinimizerDoubling`]).
//! 4. Unresolved suffixes are sorted by the text up to the next minimizer and the rank of that.
//!
//! Memory: about 27 bytes per suffix, those of the block (text, suffix array and BWT) among them.
//! Step 3 takes 8 bytes per suffix more, and 36 per unresolved suffix. Part of these lie in memory
//! that the first sort has left unused (kernels/README.md); the rest is allocated when a block
//! needs it. [`SkewPd`] takes 46 bytes per suffix more.

use super::alphabetic_code::AlphabeticCode;
use super::code_keys::code_keys;
use super::list_refinement::ListRefinement;
use super::list_sort::{Unresolved, UnresolvedList};
use super::minimizer_doubling::MinimizerDoubling;
use super::minimizers::{ListKeyKind, mark_minimizers, rank_resolved};
use super::refine::{RefineInput, RefineKind, most_tiles, refine};
use super::skew_pd::SkewPd;
use super::unsorted_groups::{Minimizers, SortState, UnsortedGroups, most_groups};
use crate::base::error::Result;
use crate::gpu::block::DeviceBlock;
use crate::gpu::block::byte_counts::{RepeatEstimate, count_bytes, words_with_tables};
use crate::gpu::interface::MOST_NARROW;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, GrowingArena, measure};

/// Bits of a first key that hold the byte before the suffix.
const BYTE: u32 = 8;
/// Low bits of a first key that are not sorted if the text is near random, since fewer bits then
/// tell most suffixes apart.
const DROPPED: u32 = 16;
/// A text is near random if its symbols have more than this many bits in the mean.
const LONG_CODE: f64 = 7.5;
/// Rounds of text on small groups after the first sort.
const FIRST_ROUNDS: u32 = 3;
/// Text is compared further while fewer than one suffix in `FEW` is unresolved.
const FEW: u32 = 32;
/// Maximum number of such rounds.
const TEXT_ROUNDS: usize = 3;
/// Maximum number of bits of text in a key of a list.
const TEXT_WIDTH: u32 = 48;
/// Rounds of text on small groups if few suffixes are unresolved.
const SOME_ROUNDS: u32 = 8;
/// Rounds of text on small groups if very few suffixes are unresolved.
const MANY_ROUNDS: u32 = 128;
/// Lists below this number of suffixes are very small: no more than one CTA has work for long.
const VERY_FEW: u32 = 32768;
/// Blocks below this size are small: rounds cost little, and near minimizers pay.
const SMALL_BLOCK: u32 = 20_000_000;
/// Number of positions with which a minimizer is compared in a small block.
const SMALL_WINDOW: u32 = 3;
/// Number of positions with which a minimizer is compared in a large block.
const WINDOW: u32 = 6;
/// Maximum number of positions with which a minimizer is compared, reached by texts whose symbols
/// say little.
const MOST_POOR_WINDOW: u32 = 30;
/// Mean bits per symbol below which symbols say little. Then the window spans up to the symbols of
/// a first key.
const POOR_CODE: f64 = 2.0;
/// Bits that tell positions apart well enough. The hash of a minimizer covers that many bits of
/// symbols.
const HASHED_BITS: f64 = 10.0;
/// Mean bits per symbol from which a hash covers one symbol only.
const RICH_CODE: f64 = 4.5;

/// `skew-pd` is faster if more than one suffix in `REPEATED` has many bytes in common with another,
/// and fewer than one in `LONG` have very many.
const REPEATED: u32 = 32;
const LONG: u32 = 4;
/// `skew-pd` is used only if `PLENTY` times its memory is free, so that other blocks on the same
/// GPU find enough.
const PLENTY: usize = 4;

/// Memory that only some blocks need.
#[derive(Debug, Default)]
pub struct ExtraArenas {
    pub text: GrowingArena,
    pub ranks: GrowingArena,
    pub lists: GrowingArena,
    pub sparse: GrowingArena,
}

/// The memory of [`ExtraArenas`] that ranks of minimizers need.
struct RankArenas<'m> {
    ranks: &'m mut GrowingArena,
    lists: &'m mut GrowingArena,
    sparse: &'m mut GrowingArena,
}

impl ExtraArenas {
    /// Size in bytes.
    pub fn len(&self) -> usize {
        [&self.text, &self.ranks, &self.lists, &self.sparse]
            .map(GrowingArena::len)
            .iter()
            .sum()
    }

    /// Grows `lists` to `bytes` bytes if there is plenty of memory. Returns false otherwise, which
    /// is no failure.
    fn grow(&mut self, gpu: &Gpu, bytes: usize) -> bool {
        let plenty = |free: usize| free / PLENTY >= bytes;
        self.lists.len() >= bytes
            || gpu.free_memory().is_ok_and(plenty) && self.lists.grow(gpu, bytes).is_ok()
    }
}

/// Buffers of the default sort.
pub(crate) struct DefaultSort<'m> {
    pub cub: Cub<'m>,
    keys: DoubleBuffer<'m, u64>,
    suffixes: Array<'m, u32>,
    counts: Array<'m, u32>,
    code_table: Array<'m, u32>,
    status: Array<'m, u64>,
}

impl<'m> DefaultSort<'m> {
    /// Allocates buffers for all suffixes of n bytes.
    pub(crate) fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, n: u32) -> Result<Self> {
        Self::of_some(gpu, arena, n, n)
    }

    /// Allocates buffers for `suffixes` of the suffixes of n bytes.
    pub(crate) fn of_some(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        n: u32,
        suffixes: u32,
    ) -> Result<Self> {
        let items = suffixes as usize;
        Ok(DefaultSort {
            // When several GPUs sort a text, each of them ranks the minimizers of the whole text.
            cub: Cub::allocate(gpu, arena, n)?,
            keys: arena.double_buffer(items),
            suffixes: arena.array(items),
            counts: arena.array(words_with_tables(n)),
            code_table: arena.array(256),
            status: arena.array(most_tiles(gpu, n) as usize + 1),
        })
    }

    /// Sorts a block and writes its BWT and samples.
    pub(crate) fn run(
        mut self,
        gpu: &Gpu,
        block: DeviceBlock<'m>,
        extra: &'m mut ExtraArenas,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let n = block.sa.len();
        let counts = count_bytes(gpu, block.text, n, self.counts)?;
        if n <= MOST_NARROW && suits_skew_pd(counts.repeats) {
            let allocate = |arena: &mut ArenaAllocator<'m>| SkewPd::allocate(gpu, arena, n);
            if extra.grow(gpu, measure(allocate)?) {
                return extra
                    .lists
                    .fit(gpu, allocate)?
                    .sort(gpu, block, &counts, rounds);
            }
        }
        let code = AlphabeticCode::new(&counts.bytes);
        let state = self.state(gpu, block, n, &code)?;
        let ExtraArenas {
            text,
            ranks,
            lists,
            sparse,
        } = extra;
        let keys = |keys, suffixes| code_keys(gpu, &state, keys, suffixes);
        let (list, unresolved) = self.sort_by_text(gpu, &state, &code, keys, text, rounds)?;
        if unresolved.items > 0 {
            let found = UnresolvedList { list, unresolved };
            let arenas = RankArenas {
                ranks,
                lists,
                sparse,
            };
            self.rank(gpu, state, &code, found, arenas, rounds)?;
        }
        Ok(())
    }

    /// The state that all steps share, for a text of n bytes with this code.
    pub(crate) fn state(
        &self,
        gpu: &Gpu,
        block: DeviceBlock<'m>,
        n: u32,
        code: &AlphabeticCode,
    ) -> Result<SortState<'m>> {
        gpu.upload_words(&code.table, self.code_table)?;
        Ok(SortState {
            block,
            n,
            code_table: self.code_table,
            dense: Minimizers::none(),
            sparse: Minimizers::none(),
            rank_bits: bit_width(n - 1),
            status: self.status,
        })
    }

    /// Sorts suffixes by their text as far as that pays. `keys` makes the first keys and suffixes.
    pub(crate) fn sort_by_text(
        &mut self,
        gpu: &Gpu,
        state: &SortState<'m>,
        code: &AlphabeticCode,
        keys: impl FnOnce(Array<'m, u64>, Array<'m, u32>) -> Result<()>,
        reserve: &'m mut GrowingArena,
        rounds: &mut Vec<u32>,
    ) -> Result<(UnsortedGroups<'m>, Unresolved)> {
        let (list, unresolved) = self.first(gpu, state, code, keys)?;
        rounds.push(unresolved.items);
        self.compare_text(gpu, state, list, unresolved, reserve, rounds)
    }

    /// Sorts suffixes by their first keys, and splits the groups.
    fn first(
        &mut self,
        gpu: &Gpu,
        state: &SortState<'m>,
        code: &AlphabeticCode,
        keys: impl FnOnce(Array<'m, u64>, Array<'m, u32>) -> Result<()>,
    ) -> Result<(UnsortedGroups<'m>, Unresolved)> {
        let dropped = if code.mean > LONG_CODE { DROPPED } else { BYTE };
        // An odd number of radix passes ends in the second buffers, an even one in the first.
        let mut suffixes = DoubleBuffer {
            current: self.suffixes,
            alternate: state.block.sa,
        };
        if (u64::BITS - dropped)
            .div_ceil(8)
            .is_multiple_of(2)
        {
            suffixes.swap();
        }
        keys(self.keys.current, suffixes.current)?;
        self.cub
            .sort_pairs(gpu, &mut self.keys, &mut suffixes, dropped..u64::BITS)?;
        if suffixes.current.address() != state.block.sa.address() {
            gpu.copy(suffixes.current, suffixes.alternate)?;
            suffixes.swap();
        }
        let keys = Some(self.keys.current);
        let list = UnsortedGroups::over_keys(self.keys, suffixes.alternate);
        let suffixes = suffixes.current;
        let sorted = RefineInput {
            from: None,
            keys,
            suffixes,
            width: u64::BITS,
            dropped,
        };
        refine(
            gpu,
            state,
            RefineKind::First,
            sorted,
            FIRST_ROUNDS,
            Array::none(),
            list,
        )?;
        Ok((list, Unresolved::wait(gpu, state.block.sa.len())?))
    }

    /// Compares more text if few suffixes are unresolved.
    fn compare_text(
        &self,
        gpu: &Gpu,
        state: &SortState<'m>,
        list: UnsortedGroups<'m>,
        unresolved: Unresolved,
        reserve: &'m mut GrowingArena,
        rounds: &mut Vec<u32>,
    ) -> Result<(UnsortedGroups<'m>, Unresolved)> {
        let n = state.block.sa.len();
        let few = |unresolved: Unresolved| unresolved.items > 0 && unresolved.items < n / FEW;
        if !few(unresolved) {
            return Ok((list, unresolved));
        }
        // The unused memory is enough, except for the smallest blocks.
        let unused = self.unused(list, unresolved.items);
        let size = ListRefinement::size(self.cub, list, unresolved, &unused);
        let mut arena = reserve.allocator(gpu, size)?.with_unused(&unused);
        let mut work = ListRefinement::allocate(&mut arena, self.cub, list, unresolved);
        for _ in 0..TEXT_ROUNDS {
            if !few(work.unresolved) {
                break;
            }
            let most = if work.unresolved.items < VERY_FEW {
                MANY_ROUNDS
            } else {
                SOME_ROUNDS
            };
            work.refine(
                gpu,
                state,
                RefineKind::Text,
                ListKeyKind::Text,
                TEXT_WIDTH,
                most,
            )?;
            rounds.push(work.unresolved.items);
        }
        Ok((work.list, work.unresolved))
    }

    /// The memory of the first sort that a list of `items` suffixes does not use, if the list lies
    /// in it.
    pub(crate) fn unused(&self, list: UnsortedGroups<'m>, items: u32) -> Vec<Array<'m, u8>> {
        if list.group_heads.address() != self.keys.current.address() {
            return Vec::new();
        }
        let numbers = [list.sa_indices, list.suffixes, list.groups];
        let rest = numbers.map(|array| array.rest(items).cast());
        [
            &rest[..],
            &[self.keys.current.rest(most_groups(items)).cast()],
        ]
        .concat()
    }

    /// Ranks minimizers, and sorts the unresolved suffixes by these ranks.
    fn rank(
        &self,
        gpu: &Gpu,
        mut state: SortState<'m>,
        code: &AlphabeticCode,
        found: UnresolvedList<'m>,
        arenas: RankArenas<'m>,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let UnresolvedList { list, unresolved } = found;
        let RankArenas {
            ranks,
            lists,
            sparse,
        } = arenas;
        let window = choose_minimizers(gpu, &mut state, code, ranks)?;
        rank_resolved(gpu, &state, state.block.sa, 0)?;
        let most = gpu.wait_for_counts()?.0.min(unresolved.items);

        // First the minimizers are ranked, then the list is finished in the same memory.
        let unused = self.unused(list, unresolved.items);
        let size = ListRefinement::size(self.cub, list, unresolved, &unused)
            .max(MinimizerDoubling::size(self.cub, most, &unused));
        let memory: Array<u8> = lists.allocator(gpu, size)?.array(size);
        let arena = || ArenaAllocator::within(memory).with_unused(&unused);
        let doubling = MinimizerDoubling::allocate(&mut arena(), self.cub, most);
        doubling.run(gpu, &mut state, found, window, sparse, rounds)?;
        let work = ListRefinement::allocate(&mut arena(), self.cub, list, unresolved);
        work.finish(gpu, &state, rounds)
    }
}

/// Chooses the minimizers of a text and publishes their number. Returns the number of positions
/// with which each was compared.
pub(crate) fn choose_minimizers<'m>(
    gpu: &Gpu,
    state: &mut SortState<'m>,
    code: &AlphabeticCode,
    ranks: &'m mut GrowingArena,
) -> Result<u32> {
    let (symbols, window) = spacing(code, state.n);
    let n = state.n;
    let span = symbols + window;
    state.dense = ranks.fit(gpu, |arena| Ok(Minimizers::allocate(arena, n, span)))?;
    mark_minimizers(gpu, state, symbols, window)?;
    Ok(window)
}

/// Returns true if [`SkewPd`] sorts a text with these repeats faster.
fn suits_skew_pd(RepeatEstimate { short, long }: RepeatEstimate) -> bool {
    short > RepeatEstimate::ALL / REPEATED && long < RepeatEstimate::ALL / LONG
}

/// The number of symbols that are hashed, and of positions that are compared, to choose minimizers.
fn spacing(code: &AlphabeticCode, n: u32) -> (u32, u32) {
    let rich = code.mean >= RICH_CODE;
    let symbols = if rich {
        1
    } else {
        (HASHED_BITS / code.mean).round() as u32
    };
    let window = match n {
        0..SMALL_BLOCK => SMALL_WINDOW,
        _ if code.mean < POOR_CODE => (0.6 * 64.0 / code.mean) as u32,
        _ => WINDOW,
    };
    (symbols.clamp(1, 8), window.min(MOST_POOR_WINDOW))
}
