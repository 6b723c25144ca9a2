//! The memory budget, and the number of blocks at a time that fits in it.
//!
//! A block in its hard stage (sorting, or the inverse) takes up to 6 bytes per raw byte.
//! `block_need` gives the exact numbers: positions of 64 bits and `--verify` take more. A waiting
//! block takes at most 2 bytes per raw byte. [`Plan::new`] fits as many workers as the limit
//! allows: up to one for each thread, and one for each block that a GPU works on or that waits for
//! a GPU. If not even one worker fits, the error says how much memory it needs. The rest of the
//! memory goes to more coders, if a block is too short to have slices for all threads.
//!
//! A block may have side structures that are large for its size (`side_room`). Their size is known
//! only when the block is restored. Each block may take its share of the rest
//! ([`Plan::side_share`]). A block that takes more is restored alone.
//!
//! The models of context mixing are large. A compressor knows if it needs them. A decompressor does
//! not, since any block may be coded with them: [`Plan::to_decode`] reserves memory for them. If no
//! block would fit then, the plan refuses blocks coded with context mixing.
//!
//! If the system limits the process itself (`system_limits`), threads count too. [`Allowance::new`]
//! gives a part of that limit to their stacks and arenas, which may mean fewer threads, and the
//! rest to the blocks.

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

/// Bytes per raw byte of a block that waits for its turn at a step.
const WAITING: u64 = 2;

/// Bytes per raw byte of a block that is being read ahead.
const READING: u64 = 1;

/// Bytes that are read at once, in several blocks if they are short.
const READ_AT_ONCE: u64 = 128 << 20;

/// Number of threads for which one more block is read at once.
const READ_FOR: usize = 16;

/// Most slices are shorter than this, in bytes, so a block has at least one coding task for each
/// part of this size.
const SLICE: u64 = 1 << 20;

/// Coding tasks that should be available per thread. Some tasks take longer than others, and the
/// last tasks of a block leave threads idle.
const TASKS: u64 = 4;

/// Bytes that the program and its channels take with blocks of any size.
const BASE: u64 = 12 << 20;

/// One part in `SLACK` is left to the allocator, which does not return freed memory at once.
const SLACK: u64 = 16;

/// Bytes per raw byte that are free again when the filters of a block are undone: the table of its
/// inverse.
const FREED: u64 = 4;

/// Bytes per thread for its stack and the usual models.
const THREAD: u64 = 1 << 20;

/// Bytes per thread for the models of context mixing.
const MIXING_MODELS: u64 = 6 << 20;

/// Minimum memory per computing thread, in bytes; with less memory there are fewer threads. A block
/// of 1 MiB in its hard stage takes about 8 MiB, and the models of context mixing take as much.
const THREAD_MEMORY: u64 = 16 << 20;

/// Threads per computing thread: itself, and up to two threads of the pipeline.
const THREADS_EACH: u64 = 3;

/// Further threads: they read, wait for signals and show progress. The command also reads pieces of
/// files with half as many threads as compute, at most 16. These are not counted: their stacks have
/// 128 KiB each, and if there is no memory for them one thread reads.
const THREADS_BESIDES: u64 = 3;

/// One part in `THREADS_SHARE` of the memory that the system leaves is for threads, unless that is
/// too little for one thread.
const THREADS_SHARE: u64 = 8;

/// The threads that compute, and the bytes that they may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub threads: usize,
    /// Threads that the caller asked for. With more memory there may be as many.
    asked: usize,
    /// Blocks that a GPU works on or that wait for a GPU, while the threads have one block each.
    beside: usize,
    pub memory: u64,
    /// The limits up to which positions are stored in 32 bits.
    pub narrow: NarrowLimits,
    /// True if blocks are restored before they are written.
    pub checks: bool,
    /// The system's limit from which `memory` follows, if it is tighter than the caller's, and the
    /// bytes of it that each thread takes.
    space: Option<(Space, u64)>,
}

impl Allowance {
    /// Fits the caller's request into the `space` of this process. Each thread takes `thread_space`
    /// bytes of it.
    pub(crate) fn new(
        threads: usize,
        memory: u64,
        space: Option<Space>,
        thread_space: u64,
    ) -> Self {
        let narrow = NarrowLimits::USUAL;
        let asked = threads;
        let beside = 0;
        let checks = false;
        let asked = Allowance {
            threads,
            asked,
            beside,
            memory,
            narrow,
            checks,
            space: None,
        };
        let Some(space) = space else { return asked };
        let each = (THREADS_EACH * thread_space).max(1);
        let left = space
            .left()
            .saturating_sub(THREADS_BESIDES * thread_space);
        let fit = (left / THREADS_SHARE / each).clamp(1, threads.max(1) as u64);
        let for_threads = (left / THREADS_SHARE).clamp(each, each * threads.max(1) as u64);
        let left = left.saturating_sub(for_threads);
        let tighter = (left < memory).then_some((space, thread_space));
        Allowance {
            threads: fit as usize,
            memory: memory.min(left),
            space: tighter,
            ..asked
        }
    }

    /// Reduces the threads to the number that the memory can hold, so that a machine with many
    /// cores needs no more memory than one with few.
    pub(crate) fn with_threads_for_memory(self) -> Self {
        let most = usize::try_from(self.memory / THREAD_MEMORY).unwrap_or(usize::MAX);
        Allowance {
            threads: self.threads.min(most.max(1)),
            ..self
        }
    }

    /// Adds `blocks` blocks that a GPU works on or that wait for a GPU. Adds none if the system
    /// limits the memory of their threads.
    pub(crate) fn beside(self, blocks: usize) -> Self {
        Allowance {
            beside: if self.space.is_some() { 0 } else { blocks },
            ..self
        }
    }

    /// The memory that a block needs if it is coded with `coding` and indexed at this sample rate.
    fn to_encode(self, wide: bool, coding: Coding, index: Option<u32>) -> BlockNeed {
        let need = BlockNeed::to_encode(wide, coding, index);
        if self.checks { need.checked() } else { need }
    }

    /// The error of a plan that needs `needed` bytes of memory.
    fn shortage(&self, needed: u64) -> Shortage {
        let Some((space, thread_space)) = self.space else {
            return Shortage {
                needed,
                allowed: self.memory,
                by: Bound::Memory,
            };
        };
        // With more memory there are more threads again, so this is somewhat above the minimum.
        let for_one = (THREADS_EACH * thread_space + needed).saturating_mul(THREADS_SHARE);
        let left = for_one / (THREADS_SHARE - 1) + THREADS_BESIDES * thread_space;
        Shortage {
            needed: space.used + left,
            allowed: space.limit,
            by: space.by,
        }
    }
}

/// The number of blocks that are worked on at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Blocks that are sorted or inverted at a time.
    pub workers: usize,
    /// Blocks that are coded or decoded at a time: more than one if a block has few slices.
    pub coders: usize,
    /// Blocks between reader and writer in all.
    pub depth: usize,
    /// Raw blocks that are read at once with the next one.
    pub ahead: usize,
    /// Bytes that each worker may take for the side structures of a block. These are beyond the
    /// planned needs of a block.
    pub side_share: u64,
    /// The limits up to which positions are stored in 32 bits.
    pub narrow: NarrowLimits,
    /// The allowance from which the plan was made.
    allowed: Allowance,
    /// The reason why a decoder's plan has no memory for the models of context mixing, if it has
    /// none.
    shortage: Option<Shortage>,
}

impl Plan {
    /// Fits as many workers as there are threads, or fewer, on blocks of `block_size` bytes that
    /// are coded with `coding` and indexed at this sample rate.
    ///
    /// # Errors
    /// [`Error::Limit`] if not even one block fits.
    pub(crate) fn new(
        block_size: u64,
        allowed: Allowance,
        coding: Coding,
        index: Option<u32>,
    ) -> Result<Plan> {
        let need = allowed.to_encode(block_size > allowed.narrow.sorted as u64, coding, index);
        Plan::fit(block_size, allowed, coding, need).map_err(|shortage| shortage.of(block_size))
    }

    /// Makes a plan to decode blocks. The coding of a block is known only when it is decoded.
    pub(crate) fn to_decode(block_size: u64, allowed: Allowance) -> Result<Plan> {
        let need = BlockNeed::to_decode(block_size > allowed.narrow.others as u64);
        Plan::of_any_coding(block_size, allowed, need)
    }

    /// Makes a plan to build the index of blocks, without restoring them.
    pub(crate) fn to_index(block_size: u64, allowed: Allowance) -> Result<Plan> {
        Plan::of_any_coding(block_size, allowed, BlockNeed::to_index())
    }

    fn of_any_coding(block_size: u64, allowed: Allowance, need: BlockNeed) -> Result<Plan> {
        let fit = |coding| Plan::fit(block_size, allowed, coding, need);
        fit(Coding::ContextMixing).or_else(|shortage| {
            let plan = fit(Coding::StaticRans).map_err(|shortage| shortage.of(block_size))?;
            Ok(Plan {
                shortage: Some(shortage),
                ..plan
            })
        })
    }

    /// Checks that this decoder's plan has memory for the models of context mixing, which a block
    /// of `raw_size` bytes needs.
    ///
    /// # Errors
    /// [`Error::Limit`] if it has none.
    pub(crate) fn check_large_models(&self, raw_size: u64) -> Result<()> {
        let what = || format!("a block of {raw_size} bytes coded with --best");
        self.shortage
            .map_or(Ok(()), |shortage| Err(shortage.error(what())))
    }

    /// The room of side structures, for the one block of up to `block_size` bytes that gets all of
    /// it: the memory of all workers without the texts of the waiting blocks.
    pub(crate) fn side_room(&self, block_size: u64) -> SideRoom {
        let wide = block_size > self.narrow.others as u64;
        let working = BlockNeed::to_decode(wide).working(block_size, self.allowed.threads);
        let each = working + self.side_share;
        SideRoom::new((each - block_size).saturating_mul(self.workers as u64))
    }

    /// The bytes that a block of `raw_size` bytes may take for its side structures in place of the
    /// table of its inverse, which is free by then.
    pub(crate) fn freed_for_side(raw_size: u64) -> u64 {
        FREED * raw_size
    }

    /// The error of a block of `raw_size` bytes whose side structures take `side` bytes.
    pub(crate) fn side_shortage(&self, raw_size: u64, side: u64) -> Error {
        let allowed = self.allowed;
        let threads = self.allowed.asked;
        let need = BlockNeed::to_decode(raw_size > allowed.narrow.others as u64);
        // As many blocks side by side as the caller allows.
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

    /// The memory limit under which blocks of `block_size` bytes can be decoded, whatever their
    /// coding.
    pub(crate) fn needed_to_decode(block_size: u64, threads: usize) -> u64 {
        let nothing = Allowance::new(threads, 0, None, 0);
        let need = BlockNeed::to_decode(block_size > nothing.narrow.others as u64);
        Plan::fit(block_size, nothing, Coding::ContextMixing, need)
            .map_or_else(|shortage| shortage.needed, |_| 0)
    }

    /// Fits a plan to blocks with this need.
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
            // One block waits, so that a thread that is done finds the next at once.
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
                return Ok(Plan {
                    workers,
                    coders,
                    depth,
                    ahead,
                    side_share,
                    ..alone
                });
            }
        }
        if let Some(side_share) = left.checked_sub(working + READING * block) {
            return Ok(Plan {
                side_share,
                ..alone
            });
        }
        let one_block = need.working(block, allowed.asked) + READING * block;
        let needed = (one_block + overhead(allowed.asked, coding)).div_ceil(SLACK - 1) * SLACK;
        Err(allowed.shortage(needed))
    }

    /// The largest block that [`Plan::new`] accepts. A reader reads no more than this before it
    /// asks.
    pub(crate) fn largest_block(allowed: Allowance, coding: Coding, index: Option<u32>) -> u64 {
        let left = left(allowed, coding);
        let threads = allowed.threads;
        let need = |wide| allowed.to_encode(wide, coding, index);
        let largest = |wide| need(wide).largest(left, threads, READING);
        // A block above `narrow.sorted` needs more per byte, which may be more than there is.
        largest(false)
            .min(allowed.narrow.sorted as u64)
            .max(largest(true))
    }
}

/// Blocks that must be coded at a time so that no thread waits for another.
fn coders(block: u64, threads: usize) -> u64 {
    let threads = threads as u64;
    (1 + TASKS * threads / block.div_ceil(SLICE).max(1)).min(threads.max(1))
}

/// Blocks that are read at once with the next one. If all threads are busy, waiting for the last
/// piece of each block alone takes longer than reading it.
fn ahead(block: u64, threads: usize) -> u64 {
    (READ_AT_ONCE / block.max(1))
        .saturating_sub(1)
        .min((threads / READ_FOR) as u64)
}

fn overhead(threads: usize, coding: Coding) -> u64 {
    let more = match coding {
        Coding::StaticRans => 0,
        Coding::ContextMixing => MIXING_MODELS,
    };
    BASE + (THREAD + more) * threads as u64
}

fn left(
    Allowance {
        threads, memory, ..
    }: Allowance,
    coding: Coding,
) -> u64 {
    (memory - memory / SLACK).saturating_sub(overhead(threads, coding))
}
