//! What is fastest. The kernel that counts symbols also sees how much of the text is repeated
//! (`kernels/block/byte_counts.cu`): where that is much, but not over long distances, the block is
//! sorted by [`SkewPd`] if there is memory for it. Else:
//!
//! Suffixes are first sorted by 56 bits of their text in an alphabetic code ([`AlphabeticCode`]),
//! and the sort carries the byte before each suffix along; then groups of equal ones are split
//! further, and what is resolved is written to the transform at once.
//!
//! 1. Groups of up to `HALO` suffixes are sorted on by text, all rounds in the shared memory of one
//!    CTA (`kernels/sort/refine.cu`).
//! 2. Where few suffixes are left, more text is compared.
//! 3. Else some positions are chosen by their content, so that equal texts have equal ones: the
//!    *minimizers*. Only they are ranked among themselves ([`MinimizerDoubling`]).
//! 4. What is unresolved is sorted by the text up to the next minimizer and the rank of that.
//!
//! They are the minimizers of Schleimer, Wilkerson and Aiken (*Winnowing*, 2003) put to this
//! use. Takes about 27 bytes per suffix. Step 3 takes 8 more and, per unresolved suffix, 36, as far
//! as the list leaves no room for them in the memory that the first sort took (kernels/README.md):
//! these are allocated when a block comes to it. For [`SkewPd`] it is 46 more.

use super::alphabetic_code::AlphabeticCode;
use super::code_keys::code_keys;
use super::list_refinement::ListRefinement;
use super::list_sort::Unresolved;
use super::minimizer_doubling::MinimizerDoubling;
use super::minimizers::{ListKeyKind, mark_minimizers, rank_resolved};
use super::refine::{RefineInput, RefineKind, most_tiles, refine};
use super::unsorted_groups::{Minimizers, SortState, UnsortedGroups, most_groups};
use crate::error::Result;
use crate::gpu::block::DeviceBlock;
use crate::gpu::block::byte_counts::{RepeatEstimate, count_bytes, words_with_tables};
use crate::gpu::interface::MOST_BYTES;
use crate::gpu::papers::SkewPd;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, GrowingArena, measure};

/// Bits of a first key that hold the byte before the suffix.
const BYTE: u32 = 8;
/// Bits of a first key that are not sorted where symbols have more than [`LONG_CODE`] bits in the
/// mean: such texts are near random, and fewer bits do.
const DROPPED: u32 = 16;
const LONG_CODE: f64 = 7.5;
/// Rounds of text on small groups after the first sort.
const FIRST_ROUNDS: u32 = 3;
/// Text goes on being compared while less than this part of all suffixes is left, for so many
/// rounds.
const FEW: u32 = 32;
const TEXT_ROUNDS: usize = 3;
/// Most bits of text that a list is sorted by.
const TEXT_WIDTH: u32 = 48;
/// Rounds on small groups where suffixes are few, and where so few that no more than one CTA has
/// work for long.
const SOME_ROUNDS: u32 = 8;
const MANY_ROUNDS: u32 = 128;
const VERY_FEW: u32 = 32768;
/// How many positions a minimizer is compared with: few in small blocks, where rounds cost little
/// and it pays that the next minimizer is near; many where symbols of less than [`POOR_CODE`] bits
/// in the mean say little, up to a first key's worth.
const SMALL_BLOCK: u32 = 20_000_000;
const SMALL_WINDOW: u32 = 3;
const WINDOW: u32 = 6;
const MOST_POOR_WINDOW: u32 = 30;
const POOR_CODE: f64 = 2.0;
/// Bits that tell positions apart well enough: so many symbols are hashed, but one where it has
/// [`RICH_CODE`] bits.
const HASHED_BITS: f64 = 10.0;
const RICH_CODE: f64 = 4.5;

/// `skew-pd` is faster where more than one suffix in `REPEATED` has many bytes in common with
/// another, and less than one in `LONG` has very many.
const REPEATED: u32 = 32;
const LONG: u32 = 4;
/// It is used only where so many times its memory is free, such that other blocks on the same GPU
/// find what they need.
const PLENTY: usize = 4;

/// The memory that only some blocks need.
#[derive(Debug, Default)]
pub struct ExtraArenas {
    pub text: GrowingArena,
    pub ranks: GrowingArena,
    pub lists: GrowingArena,
    pub sparse: GrowingArena,
}

impl ExtraArenas {
    /// Its size in bytes.
    pub fn len(&self) -> usize {
        [&self.text, &self.ranks, &self.lists, &self.sparse].map(GrowingArena::len).iter().sum()
    }

    /// Makes `lists` have so many bytes, if there is plenty of memory. False where there is not,
    /// which is no failure.
    fn grow(&mut self, gpu: &Gpu, bytes: usize) -> bool {
        let plenty = |free: usize| free / PLENTY >= bytes;
        self.lists.len() >= bytes
            || gpu.free_memory().is_ok_and(plenty) && self.lists.grow(gpu, bytes).is_ok()
    }
}

/// The buffers.
pub struct DefaultSort<'m> {
    pub cub: Cub<'m>,
    keys: DoubleBuffer<'m, u64>,
    suffixes: Array<'m, u32>,
    counts: Array<'m, u32>,
    code_table: Array<'m, u32>,
    status: Array<'m, u64>,
}

impl<'m> DefaultSort<'m> {
    /// For the suffixes of n bytes.
    pub fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, n: u32) -> Result<Self> {
        Self::of_some(gpu, arena, n, n)
    }

    /// For so many of the suffixes of n bytes.
    pub fn of_some(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        n: u32,
        suffixes: u32,
    ) -> Result<Self> {
        let items = suffixes as usize;
        Ok(DefaultSort {
            // Of several GPUs each ranks the minimizers of all.
            cub: Cub::allocate(gpu, arena, n)?,
            keys: arena.double_buffer(items),
            suffixes: arena.array(items),
            counts: arena.array(words_with_tables(n)),
            code_table: arena.array(256),
            status: arena.array(most_tiles(gpu, n) as usize + 1),
        })
    }

    /// Sorts, and writes the transform with its samples too.
    pub fn run(
        mut self,
        gpu: &Gpu,
        block: DeviceBlock<'m>,
        extra: &'m mut ExtraArenas,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let n = block.sa.len();
        let counts = count_bytes(gpu, block.text, n, self.counts)?;
        if n <= MOST_BYTES && suits_skew_pd(counts.repeats) {
            let allocate = |arena: &mut ArenaAllocator<'m>| SkewPd::allocate(gpu, arena, n);
            if extra.grow(gpu, measure(allocate)?) {
                return extra.lists.fit(gpu, allocate)?.sort(gpu, block, &counts, rounds);
            }
        }
        let code = AlphabeticCode::new(&counts.bytes);
        let state = self.state(gpu, block, n, &code)?;
        let ExtraArenas { text, ranks, lists, sparse } = extra;
        let keys = |keys, suffixes| code_keys(gpu, &state, keys, suffixes);
        let (list, unresolved) = self.sort_by_text(gpu, &state, &code, keys, text, rounds)?;
        if unresolved.items > 0 {
            self.rank(gpu, state, &code, (list, unresolved), [ranks, lists, sparse], rounds)?;
        }
        Ok(())
    }

    /// What all steps work on, of a text of n bytes with this code.
    pub fn state(
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

    /// Sorts suffixes, which are given with their keys, as far as text does it.
    pub fn sort_by_text(
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
        self.compare_text(gpu, state, (list, unresolved), reserve, rounds)
    }

    /// Sorts suffixes by their first keys, and refines that.
    fn first(
        &mut self,
        gpu: &Gpu,
        state: &SortState<'m>,
        code: &AlphabeticCode,
        keys: impl FnOnce(Array<'m, u64>, Array<'m, u32>) -> Result<()>,
    ) -> Result<(UnsortedGroups<'m>, Unresolved)> {
        let dropped = if code.mean > LONG_CODE { DROPPED } else { BYTE };
        // An odd number of passes ends in the second buffers, an even one in the first.
        let mut suffixes = DoubleBuffer { current: self.suffixes, alternate: state.block.sa };
        if (u64::BITS - dropped).div_ceil(8).is_multiple_of(2) {
            suffixes.swap();
        }
        keys(self.keys.current, suffixes.current)?;
        self.cub.sort_pairs(gpu, &mut self.keys, &mut suffixes, dropped..u64::BITS)?;
        if suffixes.current.address() != state.block.sa.address() {
            gpu.copy(suffixes.current, suffixes.alternate)?;
            suffixes.swap();
        }
        let (keys, suffixes, spare) =
            (Some(self.keys.current), suffixes.current, suffixes.alternate);
        let sorted = RefineInput { from: None, keys, suffixes, width: u64::BITS, dropped };
        let list = UnsortedGroups::over_keys(self.keys, spare);
        refine(gpu, state, RefineKind::First, sorted, FIRST_ROUNDS, Array::none(), list)?;
        Ok((list, Unresolved::wait(gpu, state.block.sa.len())?))
    }

    /// Compares more text where few are left.
    fn compare_text(
        &self,
        gpu: &Gpu,
        state: &SortState<'m>,
        (list, unresolved): (UnsortedGroups<'m>, Unresolved),
        reserve: &'m mut GrowingArena,
        rounds: &mut Vec<u32>,
    ) -> Result<(UnsortedGroups<'m>, Unresolved)> {
        let n = state.block.sa.len();
        let few = |unresolved: Unresolved| unresolved.items > 0 && unresolved.items < n / FEW;
        if !few(unresolved) {
            return Ok((list, unresolved));
        }
        // There is room in what is unused, but in the smallest of blocks.
        let unused = self.unused(list, unresolved.items);
        let size = ListRefinement::size(self.cub, list, unresolved, &unused);
        let mut arena = reserve.allocator(gpu, size)?.with_unused(&unused);
        let mut work = ListRefinement::allocate(&mut arena, self.cub, list, unresolved);
        for _ in 0..TEXT_ROUNDS {
            if !few(work.unresolved) {
                break;
            }
            let most = if work.unresolved.items < VERY_FEW { MANY_ROUNDS } else { SOME_ROUNDS };
            work.refine(gpu, state, RefineKind::Text, (ListKeyKind::Text, TEXT_WIDTH), most)?;
            rounds.push(work.unresolved.items);
        }
        Ok((work.list, work.unresolved))
    }

    /// What a list of so many items leaves of the memory that the first sort took, if it lies
    /// there.
    pub fn unused(&self, list: UnsortedGroups<'m>, items: u32) -> Vec<Array<'m, u8>> {
        if list.group_heads.address() != self.keys.current.address() {
            return Vec::new();
        }
        let numbers = [list.sa_indices, list.suffixes, list.groups];
        let rest = numbers.map(|array| array.rest(items).cast());
        [&rest[..], &[self.keys.current.rest(most_groups(items)).cast()]].concat()
    }

    /// Ranks minimizers, and sorts what is left by their ranks.
    fn rank(
        &self,
        gpu: &Gpu,
        mut state: SortState<'m>,
        code: &AlphabeticCode,
        (list, unresolved): (UnsortedGroups<'m>, Unresolved),
        [ranks, lists, sparse]: [&'m mut GrowingArena; 3],
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let window = choose_minimizers(gpu, &mut state, code, ranks)?;
        rank_resolved(gpu, &state, state.block.sa, 0)?;
        let most = gpu.wait_for_counts()?.0.min(unresolved.items);

        // First the minimizers are doubled, then the list is finished, in the same memory.
        let unused = self.unused(list, unresolved.items);
        let size = ListRefinement::size(self.cub, list, unresolved, &unused)
            .max(MinimizerDoubling::size(self.cub, most, &unused));
        let memory: Array<u8> = lists.allocator(gpu, size)?.array(size);
        let arena = || ArenaAllocator::within(memory).with_unused(&unused);
        let doubling = MinimizerDoubling::allocate(&mut arena(), self.cub, most);
        doubling.run(gpu, &mut state, (list, unresolved), window, sparse, rounds)?;
        let work = ListRefinement::allocate(&mut arena(), self.cub, list, unresolved);
        work.finish(gpu, &state, rounds)
    }
}

/// Chooses the minimizers of a text, and publishes how many there are. Gives the number of
/// positions that each is compared with.
pub fn choose_minimizers<'m>(
    gpu: &Gpu,
    state: &mut SortState<'m>,
    code: &AlphabeticCode,
    ranks: &'m mut GrowingArena,
) -> Result<u32> {
    let (symbols, window) = spacing(code, state.n);
    let (n, span) = (state.n, symbols + window);
    state.dense = ranks.fit(gpu, |arena| Ok(Minimizers::allocate(arena, n, span)))?;
    mark_minimizers(gpu, state, symbols, window)?;
    Ok(window)
}

/// Whether a text with these repeats is sorted faster by [`SkewPd`].
fn suits_skew_pd(RepeatEstimate { short, long }: RepeatEstimate) -> bool {
    short > RepeatEstimate::ALL / REPEATED && long < RepeatEstimate::ALL / LONG
}

/// Symbols that are hashed and positions that are compared, to choose minimizers.
fn spacing(code: &AlphabeticCode, n: u32) -> (u32, u32) {
    let rich = code.mean >= RICH_CODE;
    let symbols = if rich { 1 } else { (HASHED_BITS / code.mean).round() as u32 };
    let window = match n {
        0..SMALL_BLOCK => SMALL_WINDOW,
        _ if code.mean < POOR_CODE => (0.6 * 64.0 / code.mean) as u32,
        _ => WINDOW,
    };
    (symbols.clamp(1, 8), window.min(MOST_POOR_WINDOW))
}
