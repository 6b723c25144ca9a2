//! A watchdog over the time of each case.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, SystemTime};

/// Maximum seconds of a case. One second is long already, but a machine may be busy.
const MOST_SECONDS: u64 = 60;

/// Ends the process if one case takes too long, since a thread that hangs cannot be ended.
pub struct Watchdog {
    seed: AtomicU64,
    since: AtomicU64,
}

impl Watchdog {
    pub fn start() -> &'static Self {
        let dog = Box::leak(Box::new(Watchdog {
            seed: AtomicU64::new(0),
            since: u64::MAX.into(),
        }));
        let dog: &'static Self = dog;
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(500));
                if seconds()
                    > dog
                        .since
                        .load(Relaxed)
                        .saturating_add(MOST_SECONDS)
                {
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
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}
