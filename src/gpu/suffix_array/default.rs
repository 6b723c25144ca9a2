//! What is fastest. The kernel that counts symbols also sees how much of the text is repeated (`kernels/codes.cu`): where
//! that is much, but not over long distances, the block is sorted by [`SkewPd`] if there is memory for it. Else:
//!
//! Suffixes are first sorted by 56 bits of their text in an alphabetic code ([`Code`]), and the sort carries the byte
//! before each suffix along; then groups of equal ones are split further, and what is settled is written to the
//! transform at once.
//!
//! 1. Groups of up to `HALO` suffixes are sorted on by text, all rounds in the shared memory of one CTA
//!    (`kernels/refine.cu`).
//! 2. Where few suffixes are left, more text is compared.
//! 3. Else some positions are chosen by their content, so that equal texts have equal ones: the *anchors*. Only they
//!    are ranked among themselves ([`Doubling`]).
//! 4. What is left is sorted by the text up to the next anchor and the rank of that.
//!
//! Anchors are the minimizers of Schleimer, Wilkerson and Aiken (*Winnowing*, 2003) put to this use. Takes about 27 bytes
//! per suffix. Step 3 takes 8 more and, per suffix that is left, 36 more (kernels/README.md): these are allocated when a
//! block comes to it. For [`SkewPd`] it is 46 more.

use super::super::anchors::{Keys, mark_anchors, rank_settled};
use super::super::buffers::{Array, Carver, Double, Reserve};
use super::super::codes::{Repeats, code_keys, count_bytes, counts_and_tables};
use super::super::cub::Cub;
use super::super::device::Gpu;
use super::super::refine::{Kind, Sorted, most_tiles, refine};
use super::super::ties::{Anchors, Ground, Ties, most_groups};
use super::code::Code;
use super::doubling::Doubling;
use super::lists::{Left, ListSort};
use super::skew_pd::SkewPd;
use super::{Block, bits};
use crate::error::Result;

/// Bits of a first key that hold the byte before the suffix.
const BYTE: u32 = 8;
/// Bits of a first key that are not sorted where symbols have more than [`LONG_CODE`] bits in the mean: such texts are
/// near random, and fewer bits do.
const DROPPED: u32 = 16;
const LONG_CODE: f64 = 7.5;
/// Rounds of text on small groups after the first sort.
const FIRST_ROUNDS: u32 = 3;
/// Text goes on being compared while less than this part of all suffixes is left, for so many rounds.
const FEW: u32 = 32;
const TEXT_ROUNDS: usize = 3;
/// Most bits of text that a list is sorted by.
const TEXT_WIDTH: u32 = 48;
/// Rounds on small groups where suffixes are few, and where so few that no more than one CTA has work for long.
const SOME_ROUNDS: u32 = 8;
const MANY_ROUNDS: u32 = 128;
const VERY_FEW: u32 = 32768;
/// Rounds on small groups when all ranks are known: most need one or two.
const FINISH_ROUNDS: u32 = 64;
/// Groups smaller than this in the mean are not worth a sort of the list.
const SMALL_GROUPS: u32 = 16;
/// Bits of text in a key beside a rank.
const TEXT_BITS: u32 = 30;
/// How many positions an anchor is compared with: few in small blocks, where rounds cost little and it pays that the next
/// anchor is near; many where symbols of less than [`POOR_CODE`] bits in the mean say little, up to a first key's worth.
const SMALL_BLOCK: u32 = 20_000_000;
const SMALL_WINDOW: u32 = 3;
const WINDOW: u32 = 6;
const MOST_POOR_WINDOW: u32 = 30;
const POOR_CODE: f64 = 2.0;
/// Bits that tell positions apart well enough: so many symbols are hashed, but one where it has [`RICH_CODE`] bits.
const HASHED_BITS: f64 = 10.0;
const RICH_CODE: f64 = 4.5;

/// `skew-pd` is faster where more than one suffix in `REPEATED` has many bytes in common with another, and less than one in
/// `LONG` has very many.
const REPEATED: u32 = 32;
const LONG: u32 = 4;
/// It is used only where so many times its memory is free, such that other blocks on the same GPU find what they need.
const PLENTY: usize = 4;

/// Keys start at multiples of 256 bytes.
const ALIGNED: u32 = 32;

/// The memory that only some blocks need.
#[derive(Debug, Default)]
pub struct Extra {
    text: Reserve,
    ranks: Reserve,
    lists: Reserve,
    sparse: Reserve,
}

impl Extra {
    /// Its size in bytes.
    pub fn len(&self) -> usize {
        [&self.text, &self.ranks, &self.lists, &self.sparse].map(Reserve::len).iter().sum()
    }

    /// Makes `lists` have so many bytes, if there is plenty of memory. False where there is not, which is no failure.
    fn grow(&mut self, gpu: &Gpu, bytes: usize) -> bool {
        let plenty = |free: usize| free / PLENTY >= bytes;
        self.lists.len() >= bytes
            || gpu.free_memory().is_ok_and(plenty) && self.lists.grow(gpu, bytes).is_ok()
    }
}

/// The buffers.
pub struct DefaultSort<'m> {
    cub: Cub<'m>,
    keys: Double<'m, u64>,
    suffixes: Array<'m, u32>,
    counts: Array<'m, u32>,
    codes: Array<'m, u32>,
    status: Array<'m, u64>,
}

/// A list, and what it takes to make it smaller.
struct Work<'m> {
    list: Ties<'m>,
    left: Left,
    spare: Ties<'m>,
    sort: ListSort<'m>,
    /// Whether the last round did without a sort of the list, and left most of it.
    stuck: bool,
}

impl<'m> Work<'m> {
    fn carve(carver: &mut Carver<'m>, cub: Cub<'m>, list: Ties<'m>, left: Left) -> Self {
        let spare = Ties::carve(carver, left.items);
        let sort = ListSort::carve(carver, cub, left.items);
        Work { list, left, spare, sort, stuck: false }
    }

    /// How much that takes.
    fn size(cub: Cub<'m>, list: Ties<'m>, left: Left) -> usize {
        let mut measure = Carver::measure();
        Self::carve(&mut measure, cub, list, left);
        measure.used()
    }

    /// Refines the list, sorted by up to `width` bits of keys where its groups are not small. Without a sort, large groups
    /// stay as they are: where most of the list is in such, it is sorted next time.
    fn refine(
        &mut self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        kind: Kind,
        (keys, width): (Keys, u32),
        rounds: u32,
    ) -> Result<()> {
        let unsorted = !self.stuck && self.left.mean_group() < SMALL_GROUPS;
        let sorted = if unsorted {
            Sorted::unsorted(self.list, self.left.items)
        } else {
            let width = width.min(u64::BITS - self.left.group_bits());
            self.sort.sort(gpu, ground, keys, self.list, self.left, width)?.into()
        };
        refine(gpu, ground, kind, sorted, rounds, Array::none(), self.spare)?;
        std::mem::swap(&mut self.list, &mut self.spare);
        let before = std::mem::replace(&mut self.left, Left::told(gpu)?);
        self.stuck = unsorted && self.left.items > before.items / 2;
        Ok(())
    }
}

impl<'m> DefaultSort<'m> {
    pub fn carve(gpu: &Gpu, carver: &mut Carver<'m>, n: u32) -> Result<Self> {
        let items = n as usize;
        Ok(DefaultSort {
            cub: Cub::carve(gpu, carver, n)?,
            keys: carver.take_two(items),
            suffixes: carver.take(items),
            counts: carver.take(counts_and_tables(n)),
            codes: carver.take(256),
            status: carver.take(most_tiles(gpu, n) as usize + 1),
        })
    }

    /// Sorts, and writes the transform with its samples too.
    pub fn run(
        mut self,
        gpu: &Gpu,
        block: Block<'m>,
        extra: &'m mut Extra,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let n = block.sa.len();
        let counts = count_bytes(gpu, block.text, n, self.counts)?;
        if suits_skew_pd(counts.repeats) {
            let mut measure = Carver::measure();
            SkewPd::carve(gpu, &mut measure, n)?;
            if extra.grow(gpu, measure.used()) {
                let mut carver = extra.lists.carve(gpu, measure.used())?;
                return SkewPd::carve(gpu, &mut carver, n)?.sort(gpu, block, &counts, rounds);
            }
        }
        let code = Code::new(&counts.bytes);
        gpu.post(&code.entries, self.codes)?;
        let ground = Ground {
            block,
            codes: self.codes,
            dense: Anchors::none(),
            sparse: Anchors::none(),
            rank_bits: bits(n - 1),
            status: self.status,
        };
        let (list, left) = self.first(gpu, &ground, &code)?;
        rounds.push(left.items);
        let Extra { text, ranks, lists, sparse } = extra;
        let (list, left) = self.compare_text(gpu, &ground, (list, left), text, rounds)?;
        if left.items > 0 {
            self.rank(gpu, ground, &code, (list, left), [ranks, lists, sparse], rounds)?;
        }
        Ok(())
    }

    /// Sorts all suffixes by their first keys, and refines that.
    fn first(&mut self, gpu: &Gpu, ground: &Ground<'m>, code: &Code) -> Result<(Ties<'m>, Left)> {
        let dropped = if code.mean > LONG_CODE { DROPPED } else { BYTE };
        // An odd number of passes ends in the second buffers, an even one in the first.
        let mut suffixes = Double { first: self.suffixes, second: ground.block.sa };
        if (u64::BITS - dropped).div_ceil(8).is_multiple_of(2) {
            suffixes.swap();
        }
        code_keys(gpu, ground, self.keys.first, suffixes.first)?;
        self.cub.sort_pairs(gpu, &mut self.keys, &mut suffixes, dropped..u64::BITS)?;
        if suffixes.first.address() != ground.block.sa.address() {
            gpu.copy(suffixes.first, suffixes.second)?;
            suffixes.swap();
        }
        let (keys, suffixes, spare) = (Some(self.keys.first), suffixes.first, suffixes.second);
        let sorted = Sorted { from: None, keys, suffixes, width: u64::BITS, dropped };
        let list = Ties::over_keys(self.keys, spare);
        refine(gpu, ground, Kind::First, sorted, FIRST_ROUNDS, Array::none(), list)?;
        Ok((list, Left::told(gpu)?))
    }

    /// Compares more text where few are left.
    fn compare_text(
        &self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        (list, left): (Ties<'m>, Left),
        reserve: &'m mut Reserve,
        rounds: &mut Vec<u32>,
    ) -> Result<(Ties<'m>, Left)> {
        let n = ground.len();
        let few = |left: Left| left.items > 0 && left.items < n / FEW;
        if !few(left) {
            return Ok((list, left));
        }
        // Behind the groups of the list there is room, but in the smallest of blocks.
        let start = most_groups(n).next_multiple_of(ALIGNED).min(n);
        let rest = self.keys.first.part(start..n).cast::<u8>();
        let size = Work::size(self.cub, list, left);
        let mut carver = if size <= rest.len() as usize {
            Carver::over(rest)
        } else {
            reserve.carve(gpu, size)?
        };
        let mut work = Work::carve(&mut carver, self.cub, list, left);
        for _ in 0..TEXT_ROUNDS {
            if !few(work.left) {
                break;
            }
            let most = if work.left.items < VERY_FEW { MANY_ROUNDS } else { SOME_ROUNDS };
            work.refine(gpu, ground, Kind::Text, (Keys::Text, TEXT_WIDTH), most)?;
            rounds.push(work.left.items);
        }
        Ok((work.list, work.left))
    }

    /// Ranks anchors, and sorts what is left by their ranks.
    fn rank(
        &self,
        gpu: &Gpu,
        mut ground: Ground<'m>,
        code: &Code,
        (list, left): (Ties<'m>, Left),
        [ranks, lists, sparse]: [&'m mut Reserve; 3],
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let n = ground.len();
        let (symbols, window) = spacing(code, n);
        let mut measure = Carver::measure();
        Anchors::carve(&mut measure, n, 0);
        let mut carver = ranks.carve(gpu, measure.used())?;
        ground.dense = Anchors::carve(&mut carver, n, symbols + window);
        mark_anchors(gpu, &ground, symbols, window)?;
        rank_settled(gpu, &ground)?;
        let most = gpu.told()?.0.min(left.items);

        // First the anchors are doubled, then the list is finished, in the same memory.
        let size = Work::size(self.cub, list, left).max(Doubling::size(self.cub, most));
        let memory: Array<u8> = lists.carve(gpu, size)?.take(size);
        let doubling = Doubling::carve(&mut Carver::over(memory), self.cub, most);
        doubling.run(gpu, &mut ground, (list, left), window, sparse, rounds)?;
        let mut work = Work::carve(&mut Carver::over(memory), self.cub, list, left);
        while work.left.items > 0 {
            let keys = (Keys::Finish, ground.rank_bits + TEXT_BITS);
            work.refine(gpu, &ground, Kind::Finish, keys, FINISH_ROUNDS)?;
            rounds.push(work.left.items);
        }
        Ok(())
    }
}

/// Whether a text with these repeats is sorted faster by [`SkewPd`].
fn suits_skew_pd(Repeats { short, long }: Repeats) -> bool {
    short > Repeats::ALL / REPEATED && long < Repeats::ALL / LONG
}

/// Symbols that are hashed and positions that are compared, to choose anchors.
fn spacing(code: &Code, n: u32) -> (u32, u32) {
    let rich = code.mean >= RICH_CODE;
    let symbols = if rich { 1 } else { (HASHED_BITS / code.mean).round() as u32 };
    let window = match n {
        0..SMALL_BLOCK => SMALL_WINDOW,
        _ if code.mean < POOR_CODE => (0.6 * 64.0 / code.mean) as u32,
        _ => WINDOW,
    };
    (symbols.clamp(1, 8), window.min(MOST_POOR_WINDOW))
}
