//! Walks along LF, many at a time: from a row to the rows of the positions before it.
//!
//! `LF(row) = C[c] + occ(c, row)` with `c = L[row]` is the row of the suffix that is longer by one
//! symbol, which is c. A step waits for the byte and then for its counter, so a thread moves 32
//! walks in turn, each by half a step: the lines asked for at the end of one half are there when
//! the next one comes.

use super::FmIndex;
use super::layout::{Occ, with_layout};
use crate::error::{Error, Flaw, Result};
use rayon::prelude::*;
use std::ops::Range;

const LANES: usize = 32;

/// Walks per task.
const CHUNK: usize = 1024;

pub(super) const CONTRADICTION: Flaw = Flaw("the block's samples do not fit its transform");

/// A walk under way: its number, where it is, how many steps it has made, and the byte that it
/// steps over next.
#[derive(Clone, Copy)]
struct Lane {
    number: usize,
    row: u32,
    steps: u32,
    byte: u8,
}

impl FmIndex {
    /// The positions of some rows, in the same order.
    ///
    /// # Errors
    /// [`Error::Format`] where the transform contradicts its samples.
    pub fn positions(&self, rows: &[u32]) -> Result<Vec<u32>> {
        let mut positions = vec![0; rows.len()];
        rows.par_chunks(CHUNK).zip(positions.par_chunks_mut(CHUNK)).try_for_each(
            |(rows, positions)| {
                let mut sound = true;
                self.walk(rows, |lane, row, steps, _| match self.samples.pos(row) {
                    Some(pos) => {
                        positions[lane] = pos + steps;
                        sound &= positions[lane] as usize <= self.len;
                        false
                    }
                    None => {
                        sound &= steps < self.samples.rate();
                        steps < self.samples.rate()
                    }
                });
                if sound { Ok(()) } else { Err(CONTRADICTION) }
            },
        )?;
        Ok(positions)
    }

    /// Bytes of the block.
    ///
    /// # Errors
    /// [`Error::Usage`] where the range is not within the block.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::Usage("the range is not within the block".into()));
        }
        let (row, pos) = self.sample_behind(range.end);
        let mut bytes = vec![0; range.len()];
        if range.is_empty() {
            return Ok(bytes);
        }
        self.walk(&[row], |_, _, steps, byte| {
            let at = pos - steps as usize;
            if at <= range.end && at > range.start {
                bytes[at - 1 - range.start] = byte;
            }
            at > range.start
        });
        Ok(bytes)
    }

    /// A known row at or behind a pos, with the pos that it stands for.
    fn sample_behind(&self, pos: usize) -> (u32, usize) {
        let rate = self.samples.rate() as usize;
        let number = pos.div_ceil(rate);
        self.rows_of.get(number).map_or((0, self.len), |&row| (row, number * rate))
    }

    /// The same index with samples at every pos that `rate` divides, made by walks over the whole
    /// block. `rate` is a power of two; if there are as many samples already, nothing is done.
    ///
    /// Takes about as long as undoing the transform does; pays for itself when more positions are
    /// wanted than the block has bytes per step saved.
    ///
    /// # Errors
    /// [`Error::Format`] where the transform contradicts its samples.
    pub fn with_sample_rate(mut self, rate: u32) -> Result<Self> {
        assert!(rate.is_power_of_two(), "sample rate {rate} is not a power of two");
        let coarse = self.samples.rate() as usize;
        let per_lane = coarse / rate as usize;
        if per_lane <= 1 {
            return Ok(self);
        }
        let lanes: Vec<(usize, &[u32])> = (0..).zip(self.rows_of.chunks(LANES)).collect();
        let stretches: Vec<Vec<u32>> = lanes
            .into_par_iter()
            .map(|(n, rows)| self.denser(n * LANES, rows, rate as usize))
            .collect::<Result<_>>()?;
        let mut rows_of = stretches.concat();
        rows_of.truncate(self.len.div_ceil(rate as usize));
        self.samples = super::Samples::new(&rows_of, rate, self.len + 1)?;
        self.rows_of = rows_of;
        Ok(self)
    }

    /// The rows at every `rate`-th pos from sample `first` on, as far as the samples `rows` reach.
    /// Behind the end of the text are zeros.
    fn denser(&self, first: usize, rows: &[u32], rate: usize) -> Result<Vec<u32>> {
        let coarse = self.samples.rate() as usize;
        let per_lane = coarse / rate;
        let ends: Vec<(u32, usize)> =
            (first..first + rows.len()).map(|k| self.sample_behind((k + 1) * coarse)).collect();
        let starts: Vec<u32> = ends.iter().map(|&(row, _)| row).collect();
        let mut dense = vec![0; rows.len() * per_lane];
        let mut sound = true;
        self.walk(&starts, |lane, row, steps, _| {
            let begin = (first + lane) * coarse;
            let pos = ends[lane].1 - steps as usize;
            if pos == begin {
                sound &= row == rows[lane];
            }
            if pos.is_multiple_of(rate) && pos - begin < coarse {
                dense[lane * per_lane + (pos - begin) / rate] = row;
            }
            pos > begin
        });
        if sound { Ok(dense) } else { Err(CONTRADICTION.into()) }
    }

    /// Walks from each row. `arrive(lane, row, steps, byte)` is told of each row, the first
    /// included, with the byte before its suffix, and says whether to go on.
    #[allow(unsafe_code)]
    fn walk(&self, rows: &[u32], arrive: impl FnMut(usize, u32, u32, u8) -> bool) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the features that the function is compiled for.
            return unsafe { self.walk_v3(rows, arrive) };
        }
        with_layout!(&self.layout, occ => self.walk_lanes(occ, rows, arrive));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,avx2,bmi1,bmi2")]
    fn walk_v3(&self, rows: &[u32], arrive: impl FnMut(usize, u32, u32, u8) -> bool) {
        with_layout!(&self.layout, occ => self.walk_lanes(occ, rows, arrive));
    }

    #[inline(always)]
    fn walk_lanes(
        &self,
        occ: &impl Occ,
        rows: &[u32],
        mut arrive: impl FnMut(usize, u32, u32, u8) -> bool,
    ) {
        let mut fresh = rows.iter().enumerate();
        let mut start =
            || fresh.next().map(|(number, &row)| Lane { number, row, steps: 0, byte: 0 });
        let mut lanes: Vec<Lane> = std::iter::from_fn(&mut start).take(LANES).collect();
        while !lanes.is_empty() {
            let mut n = 0;
            while n < lanes.len() {
                let lane = &mut lanes[n];
                // The primary index has no byte: any will do, since nobody walks on from there in
                // an intact block.
                let at = self.stored(lane.row).min(self.len - 1);
                lane.byte = occ.byte(at);
                if arrive(lane.number, lane.row, lane.steps, lane.byte) {
                    occ.prefetch(lane.byte, at);
                    n += 1;
                } else if let Some(next) = start() {
                    *lane = next;
                } else {
                    lanes.swap_remove(n);
                }
            }
            for lane in &mut lanes {
                let before = occ.occ(lane.byte, self.stored(lane.row));
                lane.row = (self.starts[usize::from(lane.byte)] + before).min(self.len as u32);
                lane.steps += 1;
                occ.prefetch_byte(self.stored(lane.row));
                self.samples.prefetch(lane.row);
            }
        }
    }
}
