//! The command's allocator: the system's, but memory that cannot be had ends the command with one
//! message and exit code 1.
//!
//! The exception is what the library asks for in a way that may fail ([`bwz::failure_is_handled`]):
//! that becomes an error which says what it was for. Without this, Rust would abort, and whatever
//! thread comes first would decide how.

use crate::cli::files::temporary_file;
use crate::cli::report::exit::Exit;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

struct Allocator;

// SAFETY: every call is passed on to the system's allocator unchanged, and so is what it gives.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        had(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        had(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        had(unsafe { System.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Memory, if there is any; otherwise who asked for it must know what to do.
fn had(memory: *mut u8) -> *mut u8 {
    if memory.is_null() && !bwz::failure_is_handled() {
        end();
    }
    memory
}

const MESSAGE: &str = "bwz: the system gives this process no more memory; raise its limit (ulimit -v, ulimit -d), or use \
                       less with -T1, with -M or with a lower level\n";

/// Ends the command for want of memory: one message, whatever else goes wrong on other threads.
/// Nothing here allocates.
#[allow(unsafe_code)]
pub fn end() -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    while ENDING.swap(true, Ordering::Relaxed) {
        rustix::event::pause();
    }
    temporary_file::abandon();
    let _ = rustix::io::write(io::stderr(), MESSAGE.as_bytes());
    // SAFETY: the process ends without running any more of its code.
    unsafe { libc::_exit(Exit::Trouble as i32) }
}

/// Tells glibc when to give memory back to the system. It is called before there are threads.
///
/// By itself glibc learns that from what is freed, and many small files make it give back and take
/// again the same half MiB for each of them, page by page. So it begins with the largest thresholds
/// that it would come to. Where the address space or the private memory of this process is limited,
/// it takes no more of that than is used: one arena instead of 64 MiB reserved for each thread, and
/// what is large given back as soon as it is freed, which costs time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn tune() {
    let limited = is_limited();
    let (mapped_alone, kept) = if limited { (LEAST_ALONE, 1 << 20) } else { (32 << 20, KEPT) };
    // SAFETY: these only set parameters of malloc, while this is the only thread.
    unsafe {
        if limited {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
        libc::mallopt(libc::M_MMAP_THRESHOLD, mapped_alone);
        libc::mallopt(libc::M_TRIM_THRESHOLD, kept);
    }
}

/// Freed bytes that [`tune`] lets each arena keep.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 64 << 20;

/// Least size of an allocation with pages of its own if memory is short.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LEAST_ALONE: libc::c_int = 256 << 10;

/// Has glibc keep little of what is freed where so many threads, each with an arena, might keep
/// more than this `memory`. That costs time, since the system clears what it gives again.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn keep_within(memory: u64, threads: usize) {
    let each = memory / (2 * threads.max(1) as u64);
    if each >= KEPT as u64 || is_limited() {
        return;
    }
    // SAFETY: these only set parameters of malloc.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LEAST_ALONE.max(each as libc::c_int / 16));
        libc::mallopt(libc::M_TRIM_THRESHOLD, LEAST_ALONE.max(each as libc::c_int / 8));
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_within(_memory: u64, _threads: usize) {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn is_limited() -> bool {
    use rustix::process::{Resource, getrlimit};
    [Resource::As, Resource::Data].into_iter().any(|limit| getrlimit(limit).current.is_some())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn tune() {}
