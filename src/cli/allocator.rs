//! The command's allocator. It is the system's allocator, but if an allocation fails, the command
//! ends with one message and exit code 1.
//!
//! Allocations that the library marks as allowed to fail are an exception
//! ([`bwz::failure_is_handled`]). Their failure becomes an error that says what the memory was for.
//! Without this allocator Rust would abort the process, and the first thread to fail would decide
//! how.

use crate::cli::files::temporary_file;
use crate::cli::report::exit::Exit;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

struct Allocator;

// SAFETY: every call is passed on to the system's allocator unchanged, and so is its result.
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

/// Returns `memory`. If it is null, the command ends, unless the caller handles failed allocations.
fn had(memory: *mut u8) -> *mut u8 {
    if memory.is_null() && !bwz::failure_is_handled() {
        end();
    }
    memory
}

const MESSAGE: &str = "bwz: the system gives this process no more memory; raise its limit (ulimit -v, ulimit -d), or use \
                       less with -T1, with -M or with a lower level\n";

/// Ends the command because memory ran out. Only one message is printed, whatever fails on other
/// threads meanwhile. This function does not allocate.
#[allow(unsafe_code)]
pub(super) fn end() -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    while ENDING.swap(true, Ordering::Relaxed) {
        rustix::event::pause();
    }
    temporary_file::abandon();
    let _ = rustix::io::write(io::stderr(), MESSAGE.as_bytes());
    // SAFETY: the process ends without running any more of its code.
    unsafe { libc::_exit(Exit::Trouble as i32) }
}

/// Tells glibc when to give memory back to the system. It is called before there are other threads.
///
/// Left alone, glibc learns its thresholds from the sizes that are freed. With many small files it
/// then gives back the same half MiB after each file and takes it again page by page. So it starts
/// with the largest thresholds that it would learn.
///
/// If the address space or the private memory of this process is limited, glibc is set to hold
/// little more than is in use. There is one arena, instead of 64 MiB reserved for each thread, and
/// a large allocation is given back as soon as it is freed. This costs time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(super) fn tune() {
    let limited = is_limited();
    let (mapped_alone, kept) = if limited {
        (LEAST_ALONE, 1 << 20)
    } else {
        (32 << 20, KEPT)
    };
    // SAFETY: these only set parameters of malloc, while this is the only thread.
    unsafe {
        if limited {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
        libc::mallopt(libc::M_MMAP_THRESHOLD, mapped_alone);
        libc::mallopt(libc::M_TRIM_THRESHOLD, kept);
    }
}

/// Bytes of freed memory that [`tune`] lets each arena keep.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 64 << 20;

/// Smallest allocation, in bytes, that gets pages of its own if memory is short.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LEAST_ALONE: libc::c_int = 256 << 10;

/// Makes glibc keep little freed memory if `threads` threads, each with an arena that keeps up to
/// [`KEPT`] bytes, might otherwise keep more than half of `memory` bytes. This costs time, since
/// the system clears memory before it gives it again.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(super) fn keep_within(memory: u64, threads: usize) {
    let each = memory / (2 * threads.max(1) as u64);
    if each >= KEPT as u64 || is_limited() {
        return;
    }
    // SAFETY: these only set parameters of malloc.
    unsafe {
        libc::mallopt(
            libc::M_MMAP_THRESHOLD,
            LEAST_ALONE.max(each as libc::c_int / 16),
        );
        libc::mallopt(
            libc::M_TRIM_THRESHOLD,
            LEAST_ALONE.max(each as libc::c_int / 8),
        );
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_within(_memory: u64, _threads: usize) {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn is_limited() -> bool {
    use rustix::process::{Resource, getrlimit};
    [Resource::As, Resource::Data]
        .into_iter()
        .any(|limit| getrlimit(limit).current.is_some())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn tune() {}
