//! The memory that this process has asked for, at most; and a watch over how long a case takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// A case that takes longer hangs: a second is long, but a machine may do much else.
const MOST_SECONDS: u64 = 60;

struct Watched;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn more(size: usize) {
    PEAK.fetch_max(NOW.fetch_add(size, Relaxed) + size, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        more(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// What `work` gives, how long it took, and how many bytes more than before there were at most.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Duration, usize) {
    let (started, before) = (Instant::now(), NOW.load(Relaxed));
    PEAK.store(before, Relaxed);
    let done = work();
    (done, started.elapsed(), PEAK.load(Relaxed).saturating_sub(before))
}

/// Ends the process where one case takes too long, since there is no way to end a thread that
/// hangs.
pub struct Watchdog {
    seed: AtomicU64,
    since: AtomicU64,
}

impl Watchdog {
    pub fn start() -> &'static Self {
        let dog = Box::leak(Box::new(Watchdog { seed: AtomicU64::new(0), since: u64::MAX.into() }));
        let dog: &'static Self = dog;
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(500));
                if seconds() > dog.since.load(Relaxed).saturating_add(MOST_SECONDS) {
                    eprintln!("seed {} takes too long", dog.seed.load(Relaxed));
                    process::exit(101);
                }
            }
        });
        dog
    }

    pub fn begin(&self, seed: u64) {
        self.seed.store(seed, Relaxed);
        self.since.store(seconds(), Relaxed);
    }

    pub fn rest(&self) {
        self.since.store(u64::MAX, Relaxed);
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
