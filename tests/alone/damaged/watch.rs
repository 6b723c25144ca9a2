//! A watch over how long a case takes.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, SystemTime};

/// A case that takes longer hangs: a second is long, but a machine may do much else.
const MOST_SECONDS: u64 = 60;

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
