//! An estimate of the work that is done, from the steps of the blocks: for the progress bar.
//!
//! Work is measured in time of the processor, which hardly depends on the number of threads and on
//! other programs. The time of finished steps is known. All other time of the process belongs to
//! steps under way; they may take minutes in a large block, so they count in part. The remaining
//! steps of the blocks that were read are expected to take as long as in earlier blocks, and those
//! of the first block as long as is typical. The end of each step corrects this.

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

/// Number of steps of a block.
const STEPS: usize = 4;

/// Greatest size that is expected of a text before it is seen, as a multiple of its coded size.
const TEXT_OF_CODED: f64 = 6.0;

/// Sizes of a block, in bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    raw: f64,
    /// After the filters.
    text: f64,
    coded: f64,
}

/// Expected nanoseconds of a processor for filter, sort, code and write of a block whose filter has
/// taken `filtered` so far.
fn compressing(block: Sizes, filtered: Option<f64>) -> [f64; STEPS] {
    // Lines and tables are filtered slowly, to a text that is much smaller.
    let has_fields = filtered.is_some_and(|time| time > 8.0 * block.raw);
    let (filter, text) = match has_fields {
        true => (20.0 * block.raw, 0.15 * block.raw),
        false => (5.0 * block.raw, block.text),
    };
    [filter, 65.0 * text, 13.0 * text, 0.5 * text]
}

/// Expected nanoseconds of a processor for decode, invert, unfilter with check, and write.
fn restoring(block: Sizes) -> [f64; STEPS] {
    // The inverses of the filters put back bytes one by one.
    let unfilter = block.raw + 6.0 * (block.raw - block.text).max(0.0);
    [75.0 * block.coded, 20.0 * block.text, unfilter, block.raw]
}

/// Share of a step's expected time up to which it is believed. Beyond it the rest shrinks, but does
/// not end.
const BELIEVED: f64 = 0.8;

/// The blocks of one call, as far as events tell.
#[derive(Clone, Default)]
pub(crate) struct WorkEstimate(Arc<Mutex<Blocks>>);

/// Times are nanoseconds of the processor.
#[derive(Default)]
struct Blocks {
    direction: Direction,
    /// True if the events of the call come here.
    is_used: bool,
    /// Raw bytes of the blocks that were read, and of those that were written.
    read: u64,
    written: u64,
    under_way: BTreeMap<u64, BlockState>,
    /// Time of all finished steps.
    spent: f64,
    /// Time spent until `counted` in steps that are not finished.
    running: f64,
    /// The processor's time at the last event.
    counted: f64,
    known: Known,
}

/// A block between reading and writing.
#[derive(Clone, Copy, Debug)]
struct BlockState {
    raw_size: f64,
    /// Bytes after the filters, once they are known.
    text_size: Option<f64>,
    /// Number of its steps that are done.
    done: usize,
}

/// Rates and shares that earlier blocks have shown.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Time per raw byte of each step in the block that ended it last.
    rates: [Option<f64>; STEPS],
    /// Bytes after the filters per raw byte.
    text_share: Option<f64>,
}

impl WorkEstimate {
    /// Expects the events of a call.
    pub(crate) fn expect(&self, direction: Direction) {
        let mut blocks = self.lock();
        blocks.direction = direction;
        blocks.is_used = true;
        blocks.counted = processor_time();
    }

    /// Counts a finished step of a block.
    pub(crate) fn count(&self, event: &Event) {
        if let Event::Done {
            block,
            bytes,
            step,
            from,
            to,
            ..
        } = *event
        {
            let took = (to - from).as_nanos() as f64;
            self.lock()
                .count(block, bytes, step, took, processor_time());
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
    /// Counts a finished step that took `took` nanoseconds. `now` is the processor's time.
    fn count(&mut self, block: u64, bytes: u64, step: Step, took: f64, now: f64) {
        self.running += now - self.counted;
        self.counted = now;
        let number = match step {
            Step::Read => {
                self.read += bytes;
                self.under_way
                    .insert(block, BlockState::new(bytes as f64));
                return;
            }
            Step::Filter | Step::Decode(_) => 0,
            Step::Sort(_) | Step::Invert(_) => 1,
            Step::Code(_) | Step::Unfilter | Step::Check => 2,
            Step::Write => 3,
            _ => return,
        };
        let is_alone = self.under_way.len() == 1;
        let Some(state) = self.under_way.get_mut(&block) else {
            return;
        };
        // A block that is alone may have several threads.
        let took = match is_alone {
            true => self.running,
            false => took.min(self.running),
        };
        self.running -= took;
        self.spent += took;
        if number < 2 {
            let text = bytes as f64;
            state.text_size = Some(text);
            self.known.text_share = Some(text / state.raw_size.max(1.0));
        }
        // The check follows the filters' inverse.
        if number >= state.done {
            self.known.rates[number] = Some(took / state.raw_size.max(1.0));
            state.done = number + 1;
        }
        if step == Step::Write {
            self.written += bytes;
            self.under_way.remove(&block);
        }
    }

    fn done_of(&self, read: u64, now: f64) -> u64 {
        if !self.is_used {
            return read;
        }
        if self.read == 0 {
            return 0;
        }
        let running = self.running + now - self.counted;
        let states = self.under_way.values();
        let unfiltered = states
            .clone()
            .filter(|state| state.done == 0)
            .count();
        let filtered = running / unfiltered.max(1) as f64;
        let coded_share = read as f64 / self.read as f64;
        let mut at_hand = 0.0;
        let mut later = 0.0;
        for state in states {
            let typical =
                state.typical(self.direction, self.known.text_share, coded_share, filtered);
            let expected = |step: usize| {
                let known = self.known.rates[step].map(|rate| rate * state.raw_size);
                known.unwrap_or(typical[step])
            };
            at_hand += expected(state.done);
            later += (state.done + 1..STEPS).map(expected).sum::<f64>();
        }
        let left = later + at_hand * left_of_step(running / at_hand.max(1.0));
        let spent = self.spent + running;
        let done = self.read as f64 * (spent / (spent + left).max(1.0));
        // The input may be compressed, here or by another program.
        let is_raw = self.direction == Direction::Compress && self.read <= read;
        let scale = if is_raw { 1.0 } else { coded_share };
        read.min((done * scale) as u64)
    }
}

impl BlockState {
    fn new(raw_size: f64) -> Self {
        BlockState {
            raw_size,
            text_size: None,
            done: 0,
        }
    }

    /// Typical times of the steps of such a block. `text_share` is that of an earlier block. A
    /// restored block has `coded_share` of its raw size in the input. If this block is not yet
    /// filtered, that has taken `filtered` so far.
    fn typical(
        &self,
        direction: Direction,
        text_share: Option<f64>,
        coded_share: f64,
        filtered: f64,
    ) -> [f64; STEPS] {
        let raw = self.raw_size;
        let coded = raw * coded_share;
        let unseen = match (text_share, direction) {
            (Some(share), _) => raw * share,
            (None, Direction::Compress) => raw,
            (None, Direction::Restore) => raw.min(coded * TEXT_OF_CODED),
        };
        let text = self.text_size.unwrap_or(unseen);
        let sizes = Sizes { raw, text, coded };
        match direction {
            Direction::Compress => compressing(sizes, self.text_size.is_none().then_some(filtered)),
            Direction::Restore => restoring(sizes),
        }
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
    use std::ops::Range;

    type Timed = (Step, u64, f64);

    /// Steps of a block of 1000 bytes whose text has 500, each with its time.
    const COMPRESSED: [Timed; 5] = [
        (Step::Read, 1000, 0.0),
        (Step::Filter, 500, 5_000.0),
        (Step::Sort(Device::Cpu), 500, 37_500.0),
        (Step::Code(Device::Cpu), 500, 44_000.0),
        (Step::Write, 1000, 44_000.0),
    ];

    /// Steps of that block, coded in 200 bytes, when it is restored.
    const RESTORED: [Timed; 5] = [
        (Step::Read, 1000, 0.0),
        (Step::Decode(Device::Cpu), 500, 15_000.0),
        (Step::Invert(Device::Cpu), 500, 25_000.0),
        (Step::Check, 1000, 29_000.0),
        (Step::Write, 1000, 30_000.0),
    ];

    fn expecting(direction: Direction) -> Blocks {
        Blocks {
            direction,
            is_used: true,
            ..Blocks::default()
        }
    }

    /// The largest error of the share of `numbers`, blocks that follow each other on one thread. In
    /// the first of all blocks, it counts from the middle. `input` bytes make a block.
    fn error(blocks: &mut Blocks, numbers: Range<u64>, events: &[Timed], input: u64) -> f64 {
        let end = events.last().unwrap().2;
        let mut worst = 0.0_f64;
        for block in numbers {
            let start = block as f64 * end;
            let mut events = events.iter().peekable();
            let mut before = 0.0;
            for now in (0..=end as u32).step_by(500) {
                let now = f64::from(now);
                while let Some((step, bytes, at)) = events.next_if(|(.., at)| *at <= now) {
                    blocks.count(block, *bytes, *step, at - before, start + at);
                    before = *at;
                }
                let read = (block + 1) * input;
                let done = blocks.done_of(read, start + now) as f64 / read as f64;
                let share = (start + now) / (start + end);
                if block > 0 || now >= end / 2.0 {
                    worst = worst.max((done - share).abs());
                }
            }
        }
        worst
    }

    #[test]
    fn a_block_counts_by_its_time() {
        for (direction, events, input) in [
            (Direction::Compress, COMPRESSED, 1000),
            (Direction::Restore, RESTORED, 200),
        ] {
            let blocks = &mut expecting(direction);
            assert_eq!(blocks.done_of(1000, 0.0), 0);
            let error = error(blocks, 0..1, &events, input);
            assert!(error < 0.05, "{direction:?}: {error}");
            assert_eq!(blocks.done_of(input, 50_000.0), input);
        }
    }

    #[test]
    fn later_blocks_are_expected_to_take_as_long_as_earlier_ones() {
        // A sort that takes a tenth, for example on a GPU, and a slow filter.
        let events = COMPRESSED.map(|(step, bytes, at)| match step {
            Step::Filter => (step, bytes, 20_000.0),
            Step::Sort(_) => (step, bytes, 23_000.0),
            Step::Code(_) | Step::Write => (step, bytes, 29_500.0),
            _ => (step, bytes, at),
        });
        let blocks = &mut expecting(Direction::Compress);
        error(blocks, 0..1, &events, 1000);
        let error = error(blocks, 1..4, &events, 1000);
        assert!(error < 0.05, "{error}");
    }

    #[test]
    fn a_step_that_takes_longer_goes_on() {
        let mut blocks = expecting(Direction::Compress);
        blocks.count(0, 1_000_000, Step::Read, 0.0, 0.0);
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
