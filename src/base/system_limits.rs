//! The memory that the system lets this process have: that of the machine, that of its cgroup, and
//! the limits of the process itself.
//!
//! A limit on the address space (`ulimit -v`) or on private memory (`ulimit -d`) counts mapped
//! bytes, touched or not. Each thread costs its stack of 2 MiB, and with glibc an arena of 64 MiB
//! for any allocations at all.

use crate::base::error::Bound;
use std::fs;
use std::path::Path;

/// Memory in bytes assumed for the machine if the system does not state it.
const UNKNOWN_MACHINE: u64 = 4 << 30;

/// Bytes of a thread's stack, with its guard and the stack on which signals are handled.
const STACK: u64 = (2 << 20) + (64 << 10);

/// Bytes that glibc reserves for the allocations of a thread. Other allocators share their memory
/// among threads.
const ARENA: u64 = if cfg!(all(target_os = "linux", target_env = "gnu")) {
    64 << 20
} else {
    0
};

/// Bytes of address space that a thread takes, besides its working memory, unless the caller sets
/// another number.
pub(crate) const THREAD_SPACE: u64 = STACK + ARENA;

/// Half of the memory that this process can have: the machine's memory, or its cgroup's if that is
/// less.
pub(crate) fn default_limit() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| size_of("MemTotal", &text));
    let groups = fs::read_to_string("/proc/self/cgroup").ok();
    let cgroup = groups.and_then(|text| cgroup_limit(&text, Path::new("/sys/fs/cgroup")));
    machine
        .unwrap_or(UNKNOWN_MACHINE)
        .min(cgroup.unwrap_or(u64::MAX))
        / 2
}

/// Reads a size in `/proc/meminfo` or `/proc/self/status`, in bytes.
fn size_of(name: &str, text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = line
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()?;
    Some(kib << 10)
}

/// The tightest limit between this process's cgroups, which `/proc/self/cgroup` lists, and their
/// roots below `mounts`.
fn cgroup_limit(self_cgroup: &str, mounts: &Path) -> Option<u64> {
    self_cgroup
        .lines()
        .filter_map(|line| group_limit(line, mounts))
        .min()
}

/// The limit of one line's cgroup: `0::PATH` is a cgroup of version 2, `N:memory:PATH` one of
/// version 1.
fn group_limit(line: &str, mounts: &Path) -> Option<u64> {
    let (_, named) = line.split_once(':')?;
    let (controllers, path) = named.split_once(":/")?;
    let (root, file) = match controllers {
        "" => (mounts.to_owned(), "memory.max"),
        _ if controllers
            .split(',')
            .any(|controller| controller == "memory") =>
        {
            (mounts.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    // In a container the group itself may be invisible. Its root is then the container's.
    root.join(path)
        .ancestors()
        .take_while(|dir| dir.starts_with(&root))
        .filter_map(|dir| {
            fs::read_to_string(dir.join(file))
                .ok()?
                .trim()
                .parse()
                .ok()
        })
        .min()
}

/// A limit of this process, and the bytes of it that were used at the time of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub by: Bound,
    /// Bytes that may be mapped in all.
    pub limit: u64,
    /// Bytes that are mapped.
    pub used: u64,
}

impl Space {
    /// The limit of this process that leaves the least memory, if there is one.
    pub(crate) fn of_process() -> Option<Space> {
        [Bound::AddressSpace, Bound::Data]
            .into_iter()
            .filter_map(Space::of)
            .min_by_key(Space::left)
    }

    fn of(by: Bound) -> Option<Space> {
        let limit = limit_of_process(by)?;
        // Rounded up, so that a few pages more or less do not change the plan.
        let used = mapped(by).unwrap_or(0).next_multiple_of(1 << 20);
        Some(Space { by, limit, used })
    }

    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

/// The soft limit, which is the one that the system enforces.
#[cfg(unix)]
fn limit_of_process(by: Bound) -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    let resource = match by {
        Bound::Memory | Bound::SampleRate => return None,
        Bound::AddressSpace => Resource::As,
        Bound::Data => Resource::Data,
    };
    getrlimit(resource).current
}

#[cfg(not(unix))]
fn limit_of_process(_by: Bound) -> Option<u64> {
    None
}

/// Bytes that this process has mapped and that the limit counts.
fn mapped(by: Bound) -> Option<u64> {
    let counted = if by == Bound::Data {
        "VmData"
    } else {
        "VmSize"
    };
    size_of(counted, &fs::read_to_string("/proc/self/status").ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn sizes_are_read_in_kibibytes() {
        let text = "MemTotalish: 3 kB\nMemTotal:       24000 kB\nMemFree: 1 kB\n";
        assert_eq!(size_of("MemTotal", text), Some(24000 << 10));
        assert_eq!(size_of("MemTotal", "nothing"), None);
    }

    #[test]
    fn the_tightest_cgroup_counts_whatever_its_version() {
        let mounts = tempfile::tempdir().unwrap();
        let write = |file: &str, limit: &str| {
            let file = mounts.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, limit).unwrap();
        };
        let limit = |groups: &str| cgroup_limit(groups, mounts.path());
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/a/memory.limit_in_bytes", "3000000\n");
        write("memory/a/b/memory.limit_in_bytes", "4000000\n");
        write("memory.max", "5000000\n");
        write("user/memory.max", "max\n");
        write("cpu/a/memory.limit_in_bytes", "1\n");
        assert_eq!(
            limit("4:cpu,memory:/a/b\n3:cpu:/a\n1:name=systemd:/\n"),
            Some(3_000_000)
        );
        assert_eq!(limit("0::/user/of/mine\n"), Some(5_000_000));
        assert_eq!(limit("4:memory:/a\n0::/user\n"), Some(3_000_000));
        assert_eq!(
            limit("4:memory:/out/of/sight\n"),
            Some(9_223_372_036_854_771_712)
        );
        assert_eq!(limit("1:name=systemd:/\n\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_mapped_is_counted() {
        let is_counted = || {
            let before = mapped(Bound::AddressSpace).unwrap();
            let some = black_box(Vec::<u8>::with_capacity(64 << 20));
            let after = mapped(Bound::AddressSpace).unwrap();
            assert!(mapped(Bound::Data).unwrap() >= 64 << 20);
            drop(some);
            after >= before + (64 << 20)
        };
        // Other tests free memory at the same time.
        assert!((0..100).any(|_| is_counted()));
    }
}
