//! How much memory there is, and how many blocks at a time it allows.
//!
//! A block in the middle of its hard stage (sorting, or the inverse) takes up to 6 bytes per byte
//! (`block_need`: more where positions have 64 bits, or with `--verify`); one that waits 2 at most.
//! [`Plan::new`] fits as many workers as the limit allows, up to one for each thread and one for
//! each block that a GPU does or that waits for it; where there is no room for one it says what
//! that would take. What is left goes to more coders, where a block is too short to have slices for
//! all threads.
//!
//! A block may have side structures that take much for its size (`side_room`): how many, shows only
//! when it is restored. Each may take its share of what is left ([`Plan::side_share`]), and one
//! that takes more is restored alone.
//!
//! The models of context mixing are large. A compressor knows whether it needs them. A
//! decompressor does not, since any block may be coded so: [`Plan::to_decode`] keeps room for them,
//! or where that leaves none for a block refuses them.
//!
//! Where the system limits the process itself (`system_limits`), threads count too:
//! [`Allowance::new`] gives some of that room to their stacks and arenas, which may mean fewer
//! threads, and the rest to the blocks.

mod block_need;
mod options_plan;
mod side_room;
#[cfg(test)]
mod tests;

use crate::base::error::{Bound, Error, Result};
use crate::base::positions::NarrowLimits;
use crate::base::shortage::Shortage;
use crate::base::system_limits::Space;
use crate::coder::Coding;
use block_need::BlockNeed;
pub(crate) use side_room::SideRoom;

/// Bytes per raw byte of a block that waits for its stage or its turn.
const WAITING: u64 = 2;

/// Bytes per raw byte of a block that is being read ahead.
const READING: u64 = 1;

/// Bytes that are read at once, in several blocks where they are short.
const READ_AT_ONCE: u64 = 128 << 20;

/// Threads that are worth one more block to be read at once.
const READ_FOR: usize = 16;

/// Most slices are shorter than this, so that a block has as many tasks to code as it has such
/// parts.
const SLICE: u64 = 1 << 20;

/// Tasks to be had for each thread that codes. Some take longer than others, and a block's last
/// ones leave threads idle.
const TASKS: u64 = 4;

/// What the program and its channels take however small the blocks are.
const BASE: u64 = 12 << 20;

/// One part in so many is left to the allocator, which does not give back at once what is freed.
const SLACK: u64 = 16;

/// Bytes per raw byte of a block in its hard stage that it does not take any more when its filters
/// are undone: the table of its inverse.
const FREED: u64 = 4;

/// What each thread takes for stack and the usual models.
const THREAD: u64 = 1 << 20;

/// What each thread takes for the models of context mixing.
const MIXING_MODELS: u64 = 6 << 20;

/// Memory for each thread that computes: with less there are fewer threads. A block of 1 MiB in its
/// hard stage takes about 8 MiB, and the models of context mixing as much.
const THREAD_MEMORY: u64 = 16 << 20;

/// Threads that there are for each one that computes: itself, and one of the pipeline in each of
/// its stages.
const THREADS_EACH: u64 = 3;

/// Threads that there are besides: they read, wait for signals and show progress. The command also
/// reads pieces of files by half as many threads as compute, 16 at most. Their stacks have 128 KiB
/// each, and where there is no room for them one thread reads; so they are not counted.
const THREADS_BESIDES: u64 = 3;

/// One part in so many of the room that the system leaves is for threads, unless that is too little
/// for one.
const THREADS_SHARE: u64 = 8;

/// The threads that compute, and the bytes that they may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub threads: usize,
    /// Threads that the caller asks for; with more room there may be as many.
    asked: usize,
    /// Blocks that wait for a GPU, or that it does, while the threads have as many as they are.
    beside: usize,
    pub memory: u64,
    /// The blocks whose positions are held in 32 bits.
    pub narrow: NarrowLimits,
    /// Whether blocks are restored before they are written.
    pub checks: bool,
    /// The limit of the system that `memory` follows from, where it is tighter than the caller's,
    /// and what all threads take.
    space: Option<(Space, u64)>,
}

impl Allowance {
    /// Of what the caller asks for, as much as fits into the `space` of this process. Each thread
    /// takes `thread_space` of it.
    pub fn new(threads: usize, memory: u64, space: Option<Space>, thread_space: u64) -> Self {
        let narrow = NarrowLimits::USUAL;
        let asked = threads;
        let beside = 0;
        let checks = false;
        let asked = Allowance { threads, asked, beside, memory, narrow, checks, space: None };
        let Some(space) = space else { return asked };
        let each = (THREADS_EACH * thread_space).max(1);
        let left = space.left().saturating_sub(THREADS_BESIDES * thread_space);
        let fit = (left / THREADS_SHARE / each).clamp(1, threads.max(1) as u64);
        let for_threads = (left / THREADS_SHARE).clamp(each, each * threads.max(1) as u64);
        let left = left.saturating_sub(for_threads);
        let tighter = (left < memory).then_some((space, thread_space));
        Allowance { threads: fit as usize, memory: memory.min(left), space: tighter, ..asked }
    }

    /// As many threads as the memory has room for, so that a machine of many cores needs no more
    /// memory than one of few.
    pub fn with_threads_for_memory(self) -> Self {
        let most = usize::try_from(self.memory / THREAD_MEMORY).unwrap_or(usize::MAX);
        Allowance { threads: self.threads.min(most.max(1)), ..self }
    }

    /// With so many blocks besides that wait for a GPU, or that it does, where the system does not
    /// limit what their threads take.
    pub fn beside(self, blocks: usize) -> Self {
        Allowance { beside: if self.space.is_some() { 0 } else { blocks }, ..self }
    }

    /// What a block needs that is coded so, and indexed at this sample rate.
    fn to_encode(self, wide: bool, coding: Coding, index: Option<u32>) -> BlockNeed {
        let need = BlockNeed::to_encode(wide, coding, index);
        if self.checks { need.checked() } else { need }
    }

    /// The error of a plan that needs so many bytes of memory.
    fn shortage(&self, needed: u64) -> Shortage {
        let Some((space, thread_space)) = self.space else {
            return Shortage { needed, allowed: self.memory, by: Bound::Memory };
        };
        // With more room there are more threads again, so this is somewhat more than just does.
        let for_one = (THREADS_EACH * thread_space + needed).saturating_mul(THREADS_SHARE);
        let left = for_one / (THREADS_SHARE - 1) + THREADS_BESIDES * thread_space;
        Shortage { needed: space.used + left, allowed: space.limit, by: space.by }
    }
}

/// How many blocks are worked on at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Blocks that are sorted or inverted at a time, a thread of the pipeline for each.
    pub workers: usize,
    /// Blocks that are coded or decoded at a time: more than one where a block has few slices.
    pub coders: usize,
    /// Blocks between reader and writer in all.
    pub depth: usize,
    /// Raw blocks that are read at once with the next one.
    pub ahead: usize,
    /// Bytes that each of the workers may take for the side structures of a block, as no block that
    /// is planned for takes them.
    pub side_share: u64,
    /// The blocks whose positions are held in 32 bits.
    pub narrow: NarrowLimits,
    /// The bytes that it was made of.
    allowed: Allowance,
    /// Why there is no room for the models of context mixing, if a decoder's plan has none.
    shortage: Option<Shortage>,
}

impl Plan {
    /// Fits up to as many workers as threads are allowed, on blocks of `block_size` bytes that are
    /// coded so, and indexed at this sample rate.
    ///
    /// # Errors
    /// [`Error::Limit`] where not even one block fits.
    pub fn new(
        block_size: u64,
        allowed: Allowance,
        coding: Coding,
        index: Option<u32>,
    ) -> Result<Plan> {
        let need = allowed.to_encode(block_size > allowed.narrow.sorted as u64, coding, index);
        Plan::fit(block_size, allowed, coding, need).map_err(|shortage| shortage.of(block_size))
    }

    /// The same for blocks to be decoded, whose coding shows only then.
    pub fn to_decode(block_size: u64, allowed: Allowance) -> Result<Plan> {
        let need = BlockNeed::to_decode(block_size > allowed.narrow.others as u64);
        Plan::of_any_coding(block_size, allowed, need)
    }

    /// The same for blocks of which an index is made, and that are not restored.
    pub fn to_index(block_size: u64, allowed: Allowance) -> Result<Plan> {
        Plan::of_any_coding(block_size, allowed, BlockNeed::to_index())
    }

    fn of_any_coding(block_size: u64, allowed: Allowance, need: BlockNeed) -> Result<Plan> {
        let fit = |coding| Plan::fit(block_size, allowed, coding, need);
        fit(Coding::ContextMixing).or_else(|shortage| {
            let plan = fit(Coding::StaticRans).map_err(|shortage| shortage.of(block_size))?;
            Ok(Plan { shortage: Some(shortage), ..plan })
        })
    }

    /// Checks that this decoder's plan has room for the models of context mixing, which a block
    /// of `raw_size` bytes needs.
    ///
    /// # Errors
    /// [`Error::Limit`] where it has none.
    pub fn check_large_models(&self, raw_size: u64) -> Result<()> {
        let what = || format!("a block of {raw_size} bytes coded with --best");
        self.shortage.map_or(Ok(()), |shortage| Err(shortage.error(what())))
    }

    /// The room of side structures for the one block of up to `block_size` bytes that has all of
    /// it: what all workers have but for the texts of those that wait.
    pub fn side_room(&self, block_size: u64) -> SideRoom {
        let wide = block_size > self.narrow.others as u64;
        let working = BlockNeed::to_decode(wide).working(block_size, self.allowed.threads);
        let each = working + self.side_share;
        SideRoom::new((each - block_size).saturating_mul(self.workers as u64))
    }

    /// The bytes that a block of `raw_size` may take for its side structures in the place of the
    /// table of its inverse, which is not needed any more.
    pub fn freed_for_side(raw_size: u64) -> u64 {
        FREED * raw_size
    }

    /// The error of a block of `raw_size` bytes whose side structures take so many.
    pub fn side_shortage(&self, raw_size: u64, side: u64) -> Error {
        let allowed = self.allowed;
        let threads = self.allowed.asked;
        let need = BlockNeed::to_decode(raw_size > allowed.narrow.others as u64);
        // As many side by side as there may be.
        let more = side.saturating_sub(Plan::freed_for_side(raw_size));
        let working = (need.working(raw_size, threads) + more).saturating_mul(threads as u64);
        let reading = READING * (1 + ahead(raw_size, threads));
        let others = (need.coded * coders(raw_size, threads) + WAITING + reading) * raw_size;
        let bytes = working + others + overhead(threads, Coding::ContextMixing);
        let needed = bytes.div_ceil(SLACK - 1).saturating_mul(SLACK);
        let what =
            format!("a block of {raw_size} bytes whose side structures take {side} bytes more");
        allowed.shortage(needed).error(what)
    }

    /// The limit under which blocks of `block_size` bytes are decoded, whatever they are coded
    /// with.
    pub fn needed_to_decode(block_size: u64, threads: usize) -> u64 {
        let nothing = Allowance::new(threads, 0, None, 0);
        let need = BlockNeed::to_decode(block_size > nothing.narrow.others as u64);
        Plan::fit(block_size, nothing, Coding::ContextMixing, need)
            .map_or_else(|shortage| shortage.needed, |_| 0)
    }

    /// With blocks that need so much.
    fn fit(
        block_size: u64,
        allowed: Allowance,
        coding: Coding,
        need: BlockNeed,
    ) -> Result<Plan, Shortage> {
        let block = block_size;
        let threads = allowed.threads;
        let working = need.working(block, threads);
        let left = left(allowed, coding);
        let narrow = allowed.narrow;
        let shortage = None;
        let alone = Plan {
            workers: 1,
            coders: 1,
            depth: 1,
            ahead: 0,
            side_share: 0,
            narrow,
            allowed,
            shortage,
        };
        let most = coders(block, threads);
        let ahead = ahead(block, threads);
        for (coders, ahead) in [(most, ahead), (most, 0), (1, 0)] {
            // One block waits, so that no worker does.
            let reading = READING * (1 + ahead);
            let others = (need.coded * coders + WAITING + reading) * block;
            let others = others + (coders + 1) * need.samples(block);
            let workers = left.saturating_sub(others) / working.max(1);
            if workers >= threads as u64 || (coders, ahead) == (1, 0) && workers >= 1 {
                let most = (threads + allowed.beside) as u64;
                let workers = workers.min(most) as usize;
                let coders = coders as usize;
                let depth = workers + coders + 1;
                let ahead = ahead as usize;
                let side_share = (left - others) / workers as u64 - working;
                return Ok(Plan { workers, coders, depth, ahead, side_share, ..alone });
            }
        }
        if let Some(side_share) = left.checked_sub(working + READING * block) {
            return Ok(Plan { side_share, ..alone });
        }
        let one_block = need.working(block, allowed.asked) + READING * block;
        let needed = (one_block + overhead(allowed.asked, coding)).div_ceil(SLACK - 1) * SLACK;
        Err(allowed.shortage(needed))
    }

    /// The largest block that [`Plan::new`] accepts, so that no more is read before it is asked.
    pub fn largest_block(allowed: Allowance, coding: Coding, index: Option<u32>) -> u64 {
        let left = left(allowed, coding);
        let threads = allowed.threads;
        let need = |wide| allowed.to_encode(wide, coding, index);
        let largest = |wide| need(wide).largest(left, threads, READING);
        // What a larger block takes more may be more than there is.
        largest(false).min(allowed.narrow.sorted as u64).max(largest(true))
    }
}

/// Blocks that are coded at a time so that no thread waits for another.
fn coders(block: u64, threads: usize) -> u64 {
    let threads = threads as u64;
    (1 + TASKS * threads / block.div_ceil(SLICE).max(1)).min(threads.max(1))
}

/// Blocks that are read at once with the next one: to wait for the last piece of each alone takes
/// longer than to read it, where all threads are busy.
fn ahead(block: u64, threads: usize) -> u64 {
    (READ_AT_ONCE / block.max(1)).saturating_sub(1).min((threads / READ_FOR) as u64)
}

fn overhead(threads: usize, coding: Coding) -> u64 {
    let more = match coding {
        Coding::StaticRans => 0,
        Coding::ContextMixing => MIXING_MODELS,
    };
    BASE + (THREAD + more) * threads as u64
}

fn left(Allowance { threads, memory, .. }: Allowance, coding: Coding) -> u64 {
    (memory - memory / SLACK).saturating_sub(overhead(threads, coding))
}
