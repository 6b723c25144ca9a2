//! The walk along the lanes of a block, back from their ends and many in lock step, which writes
//! the text.
//!
//! Lane k is the text from pos k * rate up to the next lane. Its walk starts at the row of the
//! suffix that follows the lane, which is sample k + 1, or row 0 for the last lane, and ends at
//! sample k. One step of a lane is one entry of the LF squared table, which gives two bytes. The
//! last byte of a text of odd length is written before, so that lanes are even. Each thread has up
//! to [`GROUP`] lanes in flight and prefetches the next entry of a lane one round ahead, so that it
//! waits for memory once for all of them. On the way it may note the rows at regular positions,
//! which are those that an index samples.

use super::first_symbols::FirstSymbols;
use super::lf_squared::LfSquared;
use crate::base::error::Flaw;
use crate::base::positions::Row;
use crate::base::tasks::Executor;
use std::iter;
use std::ops::Range;

/// Maximum number of lanes in lock step. Measured: 32 keep the memory busy, 64 do so with
/// prefetches to the second-level cache, which can have more misses in flight than the first; more
/// gain nothing.
const GROUP: usize = 64;

/// Minimum number of lanes in lock step when lanes are divided among threads.
const MIN_GROUP: usize = 8;

/// Bytes of text per lane that are collected before they are written: a cache line. Lanes are a
/// power of two apart, so without this all of them would compete for the same few lines of the
/// cache.
pub(super) const STAGE: usize = 64;

type StageBuffer = [[u8; 2]; STAGE / 2];

/// The text of some lanes, the samples at which they end, and their noted rows.
type LaneTask<'a, R> = ((&'a mut [u8], &'a [R]), NotedRows<'a, R>);

/// A buffer for the rows at every multiple of `spacing`: a power of two from 2 to [`STAGE`] that is
/// no larger than the sample rate.
pub(super) struct NotedRows<'a, R> {
    pub spacing: usize,
    pub rows: &'a mut [R],
}

pub(super) struct LaneWalk<'a, R: Row> {
    lf_squared: &'a LfSquared<'a, R>,
    first_symbols: &'a FirstSymbols<R>,
}

impl<'a, R: Row> LaneWalk<'a, R> {
    pub(super) fn new(
        lf_squared: &'a LfSquared<'a, R>,
        first_symbols: &'a FirstSymbols<R>,
    ) -> Self {
        LaneWalk {
            lf_squared,
            first_symbols,
        }
    }

    /// Writes the text before the suffix at `row`, which has an even number of bytes, and notes
    /// rows of its positions.
    pub(super) fn write(
        &self,
        sample_rate: u32,
        samples: &[R],
        row: R,
        text: &mut [u8],
        noted: Option<NotedRows<R>>,
        on: Executor,
    ) -> Result<(), Flaw> {
        let rate = sample_rate as usize;
        // The last lane may have had only the byte that is written already.
        let (samples, done) = samples.split_at(text.len().div_ceil(rate));
        if text.is_empty() || done.iter().any(|sample| *sample != row) {
            return if done == [row] {
                Ok(())
            } else {
                Err(Flaw::WRONG_SAMPLES)
            };
        }
        let group = group_len(samples.len(), on.threads);
        let next = |k: usize| samples.get(k + 1).copied().unwrap_or(row);
        let walk = |(g, ((text, samples), noted)): (usize, LaneTask<R>)| {
            let rows = (0..samples.len())
                .map(|k| next(g * group + k))
                .collect();
            let unwritten = text.chunks_mut(rate).collect();
            let NotedRows {
                spacing,
                rows: noted,
            } = noted;
            let noted = noted.chunks_mut(rate / spacing).collect();
            self.walk(
                InverseLanes {
                    rows,
                    unwritten,
                    noted,
                    spacing,
                },
                samples,
            )
        };
        let tasks = text
            .chunks_mut(rate.saturating_mul(group))
            .zip(samples.chunks(group));
        // If no rows are noted, each group gets an empty buffer.
        let (spacing, noted) = noted.map_or((rate, &mut [][..]), |of| (of.spacing, of.rows));
        let mut noted = noted.chunks_mut((rate / spacing).saturating_mul(group));
        let noted = iter::from_fn(|| {
            Some(NotedRows {
                spacing,
                rows: noted.next().unwrap_or_default(),
            })
        });
        on.map(tasks.zip(noted).enumerate(), walk)
            .into_iter()
            .collect()
    }

    /// Walks lanes of equal length; only the last may be shorter.
    fn walk(&self, mut lanes: InverseLanes<R>, samples: &[R]) -> Result<(), Flaw> {
        let len = |lane: Option<&&mut [u8]>| lane.map_or(0, |lane| lane.len());
        let longest = len(lanes.unwritten.first());
        let shortest = len(lanes.unwritten.last());
        // Rows are noted at the same step in all lanes, so a shorter lane is then walked by itself.
        if lanes.noted.is_empty() || shortest == longest {
            self.advance(&mut lanes, shortest);
        }
        let mut last = lanes.split_last();
        for lanes in [&mut last, &mut lanes] {
            let left = len(lanes.unwritten.first());
            self.advance(lanes, left);
        }
        lanes.rows.extend(last.rows);
        if lanes.rows == samples {
            Ok(())
        } else {
            Err(Flaw::WRONG_SAMPLES)
        }
    }

    /// Moves each lane by `len` bytes, an even number.
    fn advance(&self, lanes: &mut InverseLanes<R>, len: usize) {
        let mut stages = [[[0; 2]; STAGE / 2]; GROUP];
        let stages = &mut stages[..lanes.rows.len()];
        let mut noted = vec![[R::default(); STAGE / 2]; lanes.noted.len()];
        let mut left = len;
        while left > 0 {
            let len = if left.is_multiple_of(STAGE) {
                STAGE
            } else {
                left % STAGE
            };
            match lanes.noted.is_empty() {
                true => self.round(&mut lanes.rows, stages, STAGE / 2 - len / 2..STAGE / 2),
                false => self.round_noted(lanes, stages, &mut noted, len),
            }
            lanes.write(stages, len);
            left -= len;
        }
    }

    /// Moves each lane by `len` bytes, and notes its rows on the way.
    fn round_noted(
        &self,
        lanes: &mut InverseLanes<R>,
        stages: &mut [StageBuffer],
        noted: &mut [[R; STAGE / 2]],
        len: usize,
    ) {
        let spacing = lanes.spacing;
        let mut left = len;
        let mut end = STAGE / 2;
        while left > 0 {
            let len = if left.is_multiple_of(spacing) {
                spacing
            } else {
                left % spacing
            };
            self.round(&mut lanes.rows, stages, end - len / 2..end);
            (left, end) = (left - len, end - len / 2);
            noted
                .iter_mut()
                .zip(&lanes.rows)
                .for_each(|(to, row)| to[left / spacing] = *row);
        }
        lanes.note(noted, len.div_ceil(spacing));
    }

    /// Moves each lane by one step for each of `places`, to which its symbols are written in its
    /// stage. This is the hot loop.
    #[allow(unsafe_code)]
    fn round(&self, rows: &mut [R], stages: &mut [StageBuffer], places: Range<usize>) {
        for at in places.rev() {
            for (row, stage) in rows.iter_mut().zip(&mut *stages) {
                // SAFETY: a lane starts at a sample, which is checked to be a row, at row 0 or at
                // LF of it, and goes on to rows from the table.
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
    /// The row that each lane has reached.
    rows: Vec<R>,
    /// The text of each lane before that row.
    unwritten: Vec<&'a mut [u8]>,
    /// Buffers for the noted rows of that text, or none.
    noted: Vec<&'a mut [R]>,
    spacing: usize,
}

impl<R: Row> InverseLanes<'_, R> {
    /// Removes and returns the last lane.
    fn split_last(&mut self) -> Self {
        let last = self.rows.len() - 1;
        InverseLanes {
            rows: self.rows.split_off(last),
            unwritten: self.unwritten.split_off(last),
            noted: self.noted.split_off(last.min(self.noted.len())),
            spacing: self.spacing,
        }
    }

    /// Notes the last `count` rows of each lane.
    fn note(&mut self, rows: &[[R; STAGE / 2]], count: usize) {
        for (lane, rows) in self.noted.iter_mut().zip(rows) {
            let from = lane.len() - count;
            let end = lane
                .split_off_mut(from..)
                .expect("no lane is moved beyond its start");
            end.copy_from_slice(&rows[..count]);
        }
    }

    /// Writes the last `len` bytes of each stage to its lane.
    fn write(&mut self, stages: &[StageBuffer], len: usize) {
        for (lane, stage) in self.unwritten.iter_mut().zip(stages) {
            let from = lane.len() - len;
            let end = lane
                .split_off_mut(from..)
                .expect("no lane is moved beyond its start");
            end.copy_from_slice(&stage.as_flattened()[STAGE - len..]);
        }
    }
}

/// Lanes per task: an equal share for each thread, if that is neither too few nor too many.
fn group_len(lanes: usize, threads: usize) -> usize {
    let tasks = lanes.div_ceil(GROUP).next_multiple_of(threads);
    lanes.div_ceil(tasks).max(MIN_GROUP)
}
