//! Walks the lanes of a block back from their ends, many in lock step, and writes the text.
//!
//! Lane k is the text from pos k * rate up to the next lane; its walk starts at the row of the
//! suffix that follows it, which is sample k + 1, or row 0 for the last lane, and ends at sample k.
//! One step of a lane is one entry of the LF squared table, which gives two bytes; the last byte of
//! an odd text is written before, so that lanes are even. Each thread has up to [`GROUP`] lanes in
//! hand and asks for the entry that a lane needs next one round ahead, so that it waits for memory
//! once for all of them.

use super::first_symbols::FirstSymbols;
use super::lf_squared::LfSquared;
use crate::error::Flaw;
use crate::positions::Row;
use crate::tasks::Executor;

/// Lanes in lock step. Measured: 32 keep the memory busy, 64 do so with prefetches to the
/// second-level cache, which may have more misses under way than the first; beyond that nothing is
/// gained.
const GROUP: usize = 64;

/// Fewest lanes in lock step for the sake of giving each thread some.
const MIN_GROUP: usize = 8;

/// Bytes of text per lane that are put together before they are written: a cache line. Lanes lie a
/// power of two apart, so all of them would fight for the same few lines of the cache.
const STAGE: usize = 64;

type StageBuffer = [[u8; 2]; STAGE / 2];

pub struct LaneWalk<'a, R: Row> {
    lf_squared: &'a LfSquared<'a, R>,
    first_symbols: &'a FirstSymbols<R>,
}

impl<'a, R: Row> LaneWalk<'a, R> {
    pub fn new(lf_squared: &'a LfSquared<'a, R>, first_symbols: &'a FirstSymbols<R>) -> Self {
        LaneWalk { lf_squared, first_symbols }
    }

    /// Writes the text up to the suffix at `row`, which leaves an even number of bytes.
    pub fn write(
        &self,
        sample_rate: u32,
        samples: &[R],
        row: R,
        text: &mut [u8],
        on: Executor,
    ) -> Result<(), Flaw> {
        let rate = sample_rate as usize;
        // The last lane may have been one byte.
        let (samples, done) = samples.split_at(text.len().div_ceil(rate));
        if text.is_empty() || done.iter().any(|sample| *sample != row) {
            return if done == [row] { Ok(()) } else { Err(Flaw::WRONG_SAMPLES) };
        }
        let group = group_len(samples.len(), on.threads);
        let next = |k: usize| samples.get(k + 1).copied().unwrap_or(row);
        let walk = |(g, (text, samples)): (usize, (&mut [u8], &[R]))| {
            let rows = (0..samples.len()).map(|k| next(g * group + k)).collect();
            let mut lanes = InverseLanes { rows, unwritten: text.chunks_mut(rate).collect() };
            self.walk(&mut lanes, samples)
        };
        let tasks = text.chunks_mut(rate.saturating_mul(group)).zip(samples.chunks(group));
        on.map(tasks.enumerate(), walk).into_iter().collect()
    }

    /// Walks lanes of one length, but for the last, which may be shorter.
    fn walk(&self, lanes: &mut InverseLanes<R>, samples: &[R]) -> Result<(), Flaw> {
        let shortest = lanes.unwritten.last().map_or(0, |lane| lane.len());
        self.advance(lanes, shortest);
        let last = lanes.rows.pop();
        lanes.unwritten.pop();
        let longest = lanes.unwritten.first().map_or(0, |lane| lane.len());
        self.advance(lanes, longest);
        lanes.rows.extend(last);
        if lanes.rows == samples { Ok(()) } else { Err(Flaw::WRONG_SAMPLES) }
    }

    /// Moves each lane by `len` bytes, which is even.
    fn advance(&self, lanes: &mut InverseLanes<R>, len: usize) {
        let mut stages = [[[0; 2]; STAGE / 2]; GROUP];
        let stages = &mut stages[..lanes.rows.len()];
        let mut left = len;
        while left > 0 {
            let len = left.min(STAGE);
            self.round(&mut lanes.rows, stages, len / 2);
            lanes.write(stages, len);
            left -= len;
        }
    }

    /// Moves each lane by some steps, the hot loop; its symbols come to lie at the end of its
    /// stage.
    #[allow(unsafe_code)]
    fn round(&self, rows: &mut [R], stages: &mut [StageBuffer], steps: usize) {
        for at in (STAGE / 2 - steps..STAGE / 2).rev() {
            for (row, stage) in rows.iter_mut().zip(&mut *stages) {
                // SAFETY: a lane starts at a sample, which is checked to be a row, at row 0 or at
                // LF of it, and goes on to what comes out of the table.
                unsafe {
                    *row = self.lf_squared.of(*row);
                    self.lf_squared.prefetch(*row);
                    stage[at] = self.first_symbols.of(*row);
                }
            }
        }
    }
}

struct InverseLanes<'a, R> {
    /// The row at which each lane has arrived.
    rows: Vec<R>,
    /// The text of each lane that lies before that row.
    unwritten: Vec<&'a mut [u8]>,
}

impl<R> InverseLanes<'_, R> {
    /// Writes the last `len` bytes of each stage to its lane.
    fn write(&mut self, stages: &[StageBuffer], len: usize) {
        for (lane, stage) in self.unwritten.iter_mut().zip(stages) {
            let from = lane.len() - len;
            let end = lane.split_off_mut(from..).expect("no lane is moved beyond its start");
            end.copy_from_slice(&stage.as_flattened()[STAGE - len..]);
        }
    }
}

/// Lanes per task: an equal share for each thread, if that is neither too few nor too many.
fn group_len(lanes: usize, threads: usize) -> usize {
    let tasks = lanes.div_ceil(GROUP).next_multiple_of(threads);
    lanes.div_ceil(tasks).max(MIN_GROUP)
}
