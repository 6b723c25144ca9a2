//! An estimate of the work that is done, from the steps of the blocks: for the progress bar.
//!
//! A block that is finished counts in full. One that is under way counts by the time that it has
//! taken, as a part of that time and the time that is expected for its other steps. The sort of one
//! large block may take minutes, so the step at work counts in part too. Times are those of the
//! processor, which hardly depend on the number of threads and on other programs. The expected
//! times are those of texts. A step of other data, or on a GPU, takes another time; the estimate is
//! then corrected when the step ends.

use bwz::{Event, Step};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Direction of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    #[default]
    Compress,
    Restore,
}

/// Nanoseconds of a processor that a step takes per byte, raw or of the text.
#[derive(Clone, Copy)]
enum Rate {
    Raw(f64),
    Text(f64),
}

/// The rates of filter, sort, code and write.
const COMPRESS: [Rate; 4] = [
    Rate::Raw(5.0),
    Rate::Text(65.0),
    Rate::Text(13.0),
    Rate::Text(0.5),
];
/// The rates of decode, invert, unfilter with check, and write.
const RESTORE: [Rate; 4] = [
    Rate::Text(10.0),
    Rate::Text(15.0),
    Rate::Raw(2.0),
    Rate::Raw(4.0),
];

/// Share of a step's expected time up to which it is believed. Beyond it the rest shrinks, but does
/// not end.
const BELIEVED: f64 = 0.8;

/// The blocks of one call, as far as events tell.
#[derive(Clone, Default)]
pub(crate) struct WorkEstimate(Arc<Mutex<Blocks>>);

#[derive(Default)]
struct Blocks {
    direction: Direction,
    /// True if the events of the call come here.
    is_used: bool,
    /// Raw bytes of the blocks that were read, and of those that were written.
    read: u64,
    written: u64,
    under_way: BTreeMap<u64, BlockTime>,
}

/// A block between reading and writing.
#[derive(Clone, Copy, Debug)]
struct BlockTime {
    raw_size: f64,
    /// Bytes after the filters, as far as they are known.
    text_size: f64,
    /// Number of its steps that are done.
    done: usize,
    /// Nanoseconds that these have taken.
    spent: f64,
    /// The processor's time when the last of them ended.
    since: f64,
}

impl WorkEstimate {
    /// Expects the events of a call.
    pub(crate) fn expect(&self, direction: Direction) {
        let mut blocks = self.lock();
        blocks.direction = direction;
        blocks.is_used = true;
    }

    /// Counts a finished step of a block.
    pub(crate) fn count(&self, event: &Event) {
        if let Event::Done {
            block, bytes, step, ..
        } = *event
        {
            self.lock()
                .count(block, bytes, step, processor_time());
        }
    }

    /// Returns true if all blocks that were read are written.
    pub(crate) fn are_written(&self) -> bool {
        let blocks = self.lock();
        blocks.read == blocks.written
    }

    /// Returns the number of finished bytes of the input, if `read` of its bytes were read.
    pub(crate) fn done_of(&self, read: u64) -> u64 {
        self.lock().done_of(read, processor_time())
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blocks {
    fn count(&mut self, block: u64, bytes: u64, step: Step, now: f64) {
        let others = self.under_way.len().max(1) as f64;
        let done = match step {
            Step::Read => {
                self.read += bytes;
                self.under_way
                    .insert(block, BlockTime::new(bytes as f64, now));
                return;
            }
            Step::Write => {
                self.written += bytes;
                self.under_way.remove(&block);
                return;
            }
            Step::Filter | Step::Decode(_) => 1,
            Step::Sort(_) | Step::Invert(_) => 2,
            Step::Code(_) | Step::Check => 3,
            _ => return,
        };
        let Some(time) = self.under_way.get_mut(&block) else {
            return;
        };
        if done < 3 {
            time.text_size = bytes as f64;
        }
        time.done = done;
        time.spent += (now - time.since) / others;
        time.since = now;
    }

    fn done_of(&self, read: u64, now: f64) -> u64 {
        if !self.is_used {
            return read;
        }
        if self.read == 0 {
            return 0;
        }
        let rates = match self.direction {
            Direction::Compress => COMPRESS,
            Direction::Restore => RESTORE,
        };
        let others = self.under_way.len().max(1) as f64;
        let mut done = self.written as f64;
        for time in self.under_way.values() {
            let took = (now - time.since) / others;
            done += time.raw_size * time.share(took, rates);
        }
        // The input may be compressed, here or by another program.
        let is_raw = self.direction == Direction::Compress && self.read <= read;
        let scale = if is_raw {
            1.0
        } else {
            read as f64 / self.read as f64
        };
        read.min((done * scale) as u64)
    }
}

impl BlockTime {
    fn new(raw_size: f64, now: f64) -> Self {
        BlockTime {
            raw_size,
            text_size: raw_size,
            done: 0,
            spent: 0.0,
            since: now,
        }
    }

    /// The share of the work that is done, if its step has taken `took` nanoseconds so far.
    fn share(&self, took: f64, rates: [Rate; 4]) -> f64 {
        let mut left = 0.0;
        for (step, rate) in rates.into_iter().enumerate().skip(self.done) {
            let expected = match rate {
                Rate::Raw(rate) => rate * self.raw_size,
                Rate::Text(rate) => rate * self.text_size,
            };
            left += match step == self.done {
                true => expected * left_of_step(took / expected.max(1.0)),
                false => expected,
            };
        }
        let spent = self.spent + took;
        spent / (spent + left).max(1.0)
    }
}

/// The part of a step that is left after `share` of its expected time.
fn left_of_step(share: f64) -> f64 {
    match share < BELIEVED {
        true => 1.0 - share,
        false => (1.0 - BELIEVED) * ((BELIEVED - share) / (1.0 - BELIEVED)).exp(),
    }
}

/// Nanoseconds that the threads of this process have computed.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use bwz::Device;

    /// Steps of a block of 1000 bytes whose text has 500, each with its time.
    const STEPS: [(Step, u64, f64); 5] = [
        (Step::Read, 1000, 0.0),
        (Step::Filter, 500, 5_000.0),
        (Step::Sort(Device::Cpu), 500, 37_500.0),
        (Step::Code(Device::Cpu), 500, 44_000.0),
        (Step::Write, 1000, 44_000.0),
    ];

    #[test]
    fn a_block_counts_by_its_time() {
        let mut blocks = Blocks {
            is_used: true,
            ..Blocks::default()
        };
        assert_eq!(blocks.done_of(1000, 0.0), 0);
        let mut steps = STEPS.into_iter().peekable();
        for now in (0..=44_000).step_by(500) {
            let now = f64::from(now);
            while let Some((step, bytes, at)) = steps.next_if(|(.., at)| *at <= now) {
                blocks.count(0, bytes, step, at);
            }
            let done = blocks.done_of(1000, now) as f64 / 1000.0;
            let is_filtered = now >= 5_000.0;
            let error = (done - now / 44_000.0).abs();
            assert!(!is_filtered || error < 0.05, "{done} at {now}");
        }
        assert_eq!(blocks.done_of(1000, 50_000.0), 1000);
    }

    #[test]
    fn a_step_that_takes_longer_goes_on() {
        let mut blocks = Blocks {
            is_used: true,
            ..Blocks::default()
        };
        blocks.count(0, 1_000_000, Step::Read, 0.0);
        let mut before = 0;
        for now in 1..100 {
            let done = blocks.done_of(1_000_000, f64::from(now) * 1e6);
            assert!(done >= before && done < 999_000, "{done}");
            before = done;
        }
    }

    #[test]
    fn a_source_without_events_counts_its_reads() {
        let blocks = Blocks::default();
        assert_eq!(blocks.done_of(70, 0.0), 70);
    }
}
