//! Walks along the LF mapping, many at a time: from a row to the rows of the positions before it.
//!
//! `LF(row) = C[c] + rank(c, row)` with `c = L[row]` is the row of the suffix that is longer by one
//! symbol, which is c. A step waits for the byte and then for its counter, so a thread moves 32
//! walks in turn, each by half a step: the lines prefetched at the end of one half have arrived
//! when the next one begins.

use super::FmIndex;
use super::layout::with_layout;
use super::rank::Rank;
use crate::base::error::{Error, Flaw, Result};
use crate::base::positions::Row;
use rayon::prelude::*;
use std::ops::Range;

/// Number of walks that a thread keeps in flight.
const AT_A_TIME: usize = 32;

/// Walks per task.
const CHUNK: usize = 1024;

/// A walk in flight: its number, its row, the number of steps it has made, and the byte before the
/// suffix of its row.
#[derive(Clone, Copy)]
struct LfWalk<R> {
    number: usize,
    row: R,
    steps: u32,
    byte: u8,
}

impl<R: Row> FmIndex<R> {
    /// The positions of `rows`, in the same order.
    ///
    /// # Errors
    /// [`Error::Format`] if the BWT contradicts its samples.
    pub fn positions(&self, rows: &[R]) -> Result<Vec<R>> {
        let sampled = self.sampled_positions()?;
        let mut positions = vec![R::default(); rows.len()];
        rows.par_chunks(CHUNK)
            .zip(positions.par_chunks_mut(CHUNK))
            .try_for_each(|(rows, positions)| {
                let mut steps_made = vec![0; rows.len()];
                let mut sound = true;
                self.walk(rows, |n, row, steps, _| match sampled.place(row) {
                    Some(place) => {
                        // In place of the position until its line has arrived.
                        (positions[n], steps_made[n]) = (R::new(place), steps);
                        false
                    }
                    None => {
                        sound &= steps < self.samples.rate();
                        steps < self.samples.rate()
                    }
                });
                for n in 0..positions.len() {
                    if let Some(place) = positions.get(n + AT_A_TIME) {
                        sampled.prefetch_at(place.get());
                    }
                    let at = sampled.at(positions[n].get()).get() + steps_made[n] as usize;
                    sound &= at <= self.len;
                    positions[n] = R::new(at.min(self.len));
                }
                if sound {
                    Ok(())
                } else {
                    Err(Flaw::WRONG_SAMPLES)
                }
            })?;
        Ok(positions)
    }

    /// Bytes of the block.
    ///
    /// # Errors
    /// [`Error::Usage`] if the range is not within the block.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::Usage("the range is not within the block".into()));
        }
        if let Some(text) = &self.text {
            return Ok(text[range].to_vec());
        }
        let (row, pos) = self.samples.behind(range.end);
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

    /// Walks from each row. Calls `arrive(n, row, steps, byte)` for each row of walk n, including
    /// the first, with the byte before its suffix. The walk goes on if it returns true.
    #[allow(unsafe_code)]
    fn walk(&self, rows: &[R], arrive: impl FnMut(usize, R, u32, u8) -> bool) {
        #[cfg(target_arch = "x86_64")]
        if crate::base::simd_dispatch::has_avx2() {
            // SAFETY: the machine has the features that the function is compiled for.
            return unsafe { self.walk_v3(rows, arrive) };
        }
        with_layout!(&self.layout, rank => self.walk_in_turn(rank, rows, arrive));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,avx2,bmi1,bmi2")]
    fn walk_v3(&self, rows: &[R], arrive: impl FnMut(usize, R, u32, u8) -> bool) {
        with_layout!(&self.layout, rank => self.walk_in_turn(rank, rows, arrive));
    }

    #[inline(always)]
    fn walk_in_turn(
        &self,
        rank: &impl Rank<R>,
        rows: &[R],
        mut arrive: impl FnMut(usize, R, u32, u8) -> bool,
    ) {
        let positions = self.positions.get();
        let mut fresh = rows.iter().enumerate();
        let mut start = || {
            fresh.next().map(|(number, &row)| LfWalk {
                number,
                row,
                steps: 0,
                byte: 0,
            })
        };
        let mut walks: Vec<LfWalk<R>> = std::iter::from_fn(&mut start)
            .take(AT_A_TIME)
            .collect();
        while !walks.is_empty() {
            let mut n = 0;
            while n < walks.len() {
                let walk = &mut walks[n];
                // The primary index has no byte. Any will do, since no walk in an intact block goes
                // on from there.
                let at = self.stored(walk.row).min(self.len - 1);
                walk.byte = rank.byte(at);
                if arrive(walk.number, walk.row, walk.steps, walk.byte) {
                    rank.prefetch(walk.byte, at);
                    n += 1;
                } else if let Some(next) = start() {
                    *walk = next;
                } else {
                    walks.swap_remove(n);
                }
            }
            for walk in &mut walks {
                let before = rank.rank(walk.byte, self.stored(walk.row));
                walk.row = (self.starts[usize::from(walk.byte)] + before).min(R::new(self.len));
                walk.steps += 1;
                rank.prefetch_byte(self.stored(walk.row));
                if let Some(positions) = positions {
                    positions.prefetch(walk.row);
                }
            }
        }
    }
}
