//! How much memory there is, and how many blocks at a time it allows.
//!
//! A block in the middle of its hard stage (sorting, or the inverse) takes several bytes per byte, one that waits takes
//! two. [`Plan::new`] fits as many workers as the limit allows and never less than one, or says what one would need.

use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

/// Bytes that a block takes per raw byte while it waits: its raw and its coded or transformed form.
const WAITING: u64 = 2;

/// Blocks that may wait, so that no worker does: finished ones that are not their turn yet, and fresh ones.
const SPARE_BLOCKS: u64 = 2;

/// What threads, tables and models take however small the blocks are.
const BASE: u64 = 8 << 20;

/// Where nothing says how much memory the machine has.
const UNKNOWN_MACHINE: u64 = 4 << 30;

/// How many blocks are worked on at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Blocks in the hard stage at a time.
    pub workers: usize,
    /// Blocks between reader and writer in all.
    pub depth: usize,
}

impl Plan {
    /// Fits up to `threads` workers on blocks of `block_size` bytes, each `working` bytes per byte, into `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Limit`] where not even one block fits.
    pub fn new(block_size: u32, working: u64, threads: usize, limit: u64) -> Result<Plan> {
        let block = u64::from(block_size);
        let left = limit.saturating_sub(BASE);
        let spare = SPARE_BLOCKS * WAITING * block;
        let workers = left.saturating_sub(spare) / (working * block).max(1);
        if workers >= 1 {
            let workers = workers.min(threads as u64) as usize;
            return Ok(Plan { workers, depth: workers + SPARE_BLOCKS as usize });
        }
        if left >= working * block {
            return Ok(Plan { workers: 1, depth: 1 });
        }
        Err(Error::Limit {
            what: format!("a block of {block_size} bytes").into(),
            needed: working * block + BASE,
            allowed: limit,
        })
    }
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

    #[test]
    fn a_tight_limit_means_fewer_blocks_and_then_an_error() {
        let plan = |limit| Plan::new(1 << 20, 6, 4, limit + BASE);
        assert_eq!(plan(28 << 20).unwrap(), Plan { workers: 4, depth: 6 });
        assert_eq!(plan(16 << 20).unwrap(), Plan { workers: 2, depth: 4 });
        assert_eq!(plan(6 << 20).unwrap(), Plan { workers: 1, depth: 1 });
        let Err(Error::Limit { needed, allowed, .. }) = plan((6 << 20) - 1) else { panic!() };
        assert_eq!((needed, allowed), ((6 << 20) + BASE, (6 << 20) - 1 + BASE));
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
