//! How much memory there is, and how many blocks at a time it allows.
//!
//! A block in the middle of its hard stage (sorting, or the inverse) takes up to 6 bytes per byte, one that waits takes
//! 2 at most. [`Plan::new`] fits as many workers as the limit allows and never less than one, or says what one would need.
//! What then is left goes to more coders, where a block is too short to have segments for all threads.
//!
//! The models of [`Effort::Best`] are large. A compressor knows whether it needs them. A decompressor does not, since any
//! segment may be of that kind: [`Plan::to_decode`] keeps room for them, or where that leaves none for a block refuses them.

use crate::coder::Effort;
use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

/// Bytes per raw byte of a block being sorted (itself, its BWT, 4 of workspace); restoring one takes 5 (its BWT, 4 of table).
/// The filters come before and after that and take no more: to look for matches at most 6 (the block, 3 of table, 2 of
/// matches and literals; what is kept to sort with is freed), to undo them 2 beside the table that is kept.
const WORKING: u64 = 6;

/// Bytes per raw byte of a block that is being coded or decoded: raw and coded form, its BWT.
const CODING: u64 = 3;

/// Bytes per raw byte of a block that waits for its stage or its turn.
const WAITING: u64 = 2;

/// Bytes per raw byte of the block that is being read ahead.
const READING: u64 = 1;

/// Segments are at least this long, so that a block has as many tasks to code as it has such parts.
const SEGMENT: u64 = 1 << 20;

/// Tasks to be had for each thread that codes. Some take longer than others, and a block's last ones leave threads idle.
const TASKS: u64 = 4;

/// What the program and its channels take however small the blocks are.
const BASE: u64 = 12 << 20;

/// One part in so many is left to the allocator, which does not give back at once what is freed.
const SLACK: u64 = 16;

/// What each thread takes for stack and the usual models.
const THREAD: u64 = 1 << 20;

/// What each thread takes for the models of [`Effort::Best`].
const BEST_MODELS: u64 = 6 << 20;

/// What each thread takes to count a segment for [`Effort::Fast`].
const FAST_COUNTS: u64 = 4 << 20;

/// What the inverse takes for counters: this per thread and block, but never more than two bytes per byte.
const COUNTERS: u64 = 512 << 10;

/// Where nothing says how much memory the machine has.
const UNKNOWN_MACHINE: u64 = 4 << 30;

/// How many blocks are worked on at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Blocks in the hard stage at a time.
    pub workers: usize,
    /// Blocks that are coded or decoded at a time: more than one where a block has few segments.
    pub coders: usize,
    /// Blocks between reader and writer in all.
    pub depth: usize,
    /// Why there is no room for the models of [`Effort::Best`], if a decoder's plan has none.
    pub shortage: Option<Shortage>,
}

/// A limit, and the bytes that would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    needed: u64,
    allowed: u64,
}

impl Shortage {
    pub fn error(self, what: String) -> Error {
        Error::Limit { what: what.into(), needed: self.needed, allowed: self.allowed }
    }
}

impl Plan {
    /// Fits up to `threads` workers on blocks of `block_size` bytes, which are coded with `effort`, into `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Limit`] where not even one block fits.
    pub fn new(block_size: u32, threads: usize, limit: u64, effort: Effort) -> Result<Plan> {
        Plan::fit(block_size, threads, limit, effort)
            .map_err(|shortage| shortage.error(format!("a block of {block_size} bytes")))
    }

    /// The same for blocks whose effort shows only when they are decoded.
    pub fn to_decode(block_size: u32, threads: usize, limit: u64) -> Result<Plan> {
        Plan::fit(block_size, threads, limit, Effort::Best).or_else(|shortage| {
            let plan = Plan::new(block_size, threads, limit, Effort::Default)?;
            Ok(Plan { shortage: Some(shortage), ..plan })
        })
    }

    /// The limit under which blocks of `block_size` bytes are decoded, whatever they are coded with.
    pub fn needed_to_decode(block_size: u32, threads: usize) -> u64 {
        Plan::fit(block_size, threads, 0, Effort::Best)
            .map_or_else(|shortage| shortage.needed, |_| 0)
    }

    fn fit(block_size: u32, threads: usize, limit: u64, effort: Effort) -> Result<Plan, Shortage> {
        let block = u64::from(block_size);
        let (worker, left) = (worker(block, threads), left(threads, limit, effort));
        for coders in [coders(block, threads), 1] {
            // One block waits, so that no worker does.
            let spare = (CODING * coders + WAITING + READING) * block;
            let workers = left.saturating_sub(spare) / worker.max(1);
            if workers >= threads as u64 || coders == 1 && workers >= 1 {
                let (workers, coders) = (workers.min(threads as u64) as usize, coders as usize);
                return Ok(Plan { workers, coders, depth: workers + coders + 1, shortage: None });
            }
        }
        let alone = worker + READING * block;
        if left >= alone {
            return Ok(Plan { workers: 1, coders: 1, depth: 1, shortage: None });
        }
        let needed = (alone + overhead(threads, effort)).div_ceil(SLACK - 1) * SLACK;
        Err(Shortage { needed, allowed: limit })
    }

    /// The largest block that [`Plan::new`] accepts, so that no more is read before it is asked.
    pub fn largest_block(threads: usize, limit: u64, effort: Effort) -> u64 {
        let left = left(threads, limit, effort);
        let large = left.saturating_sub(COUNTERS * threads as u64) / (WORKING + READING);
        large.max(left / (WORKING + READING + 2))
    }
}

/// Blocks that are coded at a time so that no thread waits for another.
fn coders(block: u64, threads: usize) -> u64 {
    let threads = threads as u64;
    (1 + TASKS * threads / block.div_ceil(SEGMENT).max(1)).min(threads.max(1))
}

/// What one block takes in its hard stage.
fn worker(block: u64, threads: usize) -> u64 {
    WORKING * block + (COUNTERS * threads as u64).min(2 * block)
}

fn overhead(threads: usize, effort: Effort) -> u64 {
    let more = match effort {
        Effort::Fast => FAST_COUNTS,
        Effort::Default => 0,
        Effort::Best => BEST_MODELS,
    };
    BASE + (THREAD + more) * threads as u64
}

fn left(threads: usize, limit: u64, effort: Effort) -> u64 {
    (limit - limit / SLACK).saturating_sub(overhead(threads, effort))
}

/// Half of what this process can have: the machine's memory, or its cgroup's where that is less.
pub(crate) fn default_limit() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
    let cgroup = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| cgroup_limit(&text));
    machine.unwrap_or(UNKNOWN_MACHINE).min(cgroup.unwrap_or(u64::MAX)) / 2
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// The tightest `memory.max` between this process's cgroup (version 2) and the root.
fn cgroup_limit(self_cgroup: &str) -> Option<u64> {
    let path = self_cgroup.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Path::new("/sys/fs/cgroup")
        .join(path)
        .ancestors()
        .take_while(|dir| dir.starts_with("/sys/fs/cgroup"))
        .filter_map(|dir| fs::read_to_string(dir.join("memory.max")).ok()?.trim().parse().ok())
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_tight_limit_means_fewer_blocks_and_then_an_error() {
        // Blocks of 16 MiB and 4 threads: a worker takes 96 + 2, all that is spare 96, another coder 48, the rest 16 MiB.
        let planned = |workers, coders, depth| Plan { workers, coders, depth, shortage: None };
        let new = |limit| Plan::new(16 << 20, 4, limit, Effort::Default);
        let plan = |mib: u64| new((mib * MIB).div_ceil(15) * 16);
        assert_eq!(plan(16 + 96 + 48 + 4 * 98).unwrap(), planned(4, 2, 7));
        assert_eq!(plan(16 + 96 + 4 * 98).unwrap(), planned(4, 1, 6));
        assert_eq!(plan(16 + 96 + 2 * 98).unwrap(), planned(2, 1, 4));
        assert_eq!(plan(16 + 98 + 16).unwrap(), planned(1, 1, 1));
        let Err(Error::Limit { needed, allowed, .. }) = plan(16 + 98 + 15) else { panic!() };
        assert!(needed > allowed && new(needed).is_ok());
        assert!(new(needed - 32).is_err());
    }

    #[test]
    fn a_decoder_without_room_for_the_largest_models_says_how_much_they_need() {
        let plan = |mib: u64| Plan::to_decode(1 << 20, 2, mib << 20);
        assert_eq!(plan(40).unwrap().shortage, None);
        let tight = plan(26).unwrap();
        assert_eq!(tight.workers, 1);
        let needed = tight.shortage.unwrap().needed;
        assert_eq!(Plan::to_decode(1 << 20, 2, needed).unwrap().shortage, None);
        assert!(Plan::to_decode(1 << 20, 2, needed - 32).unwrap().shortage.is_some());
        assert!(plan(20).is_err());
    }

    #[test]
    fn short_blocks_are_coded_side_by_side() {
        let coders =
            |block, threads| Plan::new(block, threads, 8 << 30, Effort::Default).unwrap().coders;
        assert_eq!([coders(1, 16), coders(1 << 20, 16), coders(4 << 20, 2)], [16, 16, 2]);
        assert_eq!([coders(32 << 20, 2), coders(32 << 20, 16), coders(256 << 20, 4)], [1, 3, 1]);
    }

    #[test]
    fn the_largest_block_is_one_that_just_fits() {
        for limit in [10 * MIB, 17 * MIB, 40 * MIB, 700 * MIB] {
            for threads in [1, 2, 16] {
                for effort in [Effort::Default, Effort::Best] {
                    let largest = Plan::largest_block(threads, limit, effort) as u32;
                    let fits = |size| Plan::new(size, threads, limit, effort).is_ok();
                    assert!((largest == 0 || fits(largest)) && !fits(largest + 1), "{limit}");
                }
            }
        }
    }

    #[test]
    fn meminfo_is_read_in_kibibytes() {
        assert_eq!(total_memory("MemTotal:       24000 kB\nMemFree: 1 kB\n"), Some(24000 << 10));
        assert_eq!(total_memory("nothing"), None);
    }

    #[test]
    fn a_path_without_cgroup_files_sets_no_limit() {
        assert_eq!(cgroup_limit("1:name=systemd:/\n"), None);
    }
}
