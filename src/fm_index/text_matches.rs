//! Counting by the text itself: once the row of a pattern is alone, there is one place where it may
//! stand, and what is left of the pattern is compared with the text there.
//!
//! In a text of n symbols a row is alone after some log(n) steps, 16 in a genome, where a read has
//! 100 and more. From there each step waits for a cache line. With samples at every eighth pos and
//! the text at hand, a few steps lead to the pos, and the rest of the read is one or two lines:
//!
//! ```text
//!   steps 84, 83, ... 1                     84 lines
//!   3.5 steps to a sample, its pos, text    some 12 lines
//! ```
//!
//! The text takes restoring the block, and a byte of memory for each of its own: it pays when the
//! steps saved are more than half the bytes of the block.

use super::FmIndex;
use super::backward_search::{CHUNK, TextRule};
use crate::bwt::cache_lines::{LINE, prefetch};
use crate::error::Result;
use crate::positions::Row;
use rayon::prelude::*;

/// With fewer bytes left the way to their pos takes longer than the steps. A row that was alone for
/// three steps in a genome is so by chance once in 64 times.
const COMPARED: TextRule = TextRule { least: 16, alone: 3 };

/// Places in the text that are asked for ahead, and bytes in front of each: the processor asks for
/// those that follow by itself.
const AHEAD: usize = 16;
const NEAR: usize = 4 * LINE;

impl<R: Row> FmIndex<R> {
    /// How often each pattern occurs, on all threads of the current rayon pool: by the text if the
    /// index has it ([`FmIndex::add_text`]).
    ///
    /// ```
    /// use bwz::{bwt::Sorter, fm_index::FmIndex};
    ///
    /// let text = b"she sells sea shells by the sea shore";
    /// let mut index = FmIndex::new(Sorter::Cpu.sort(text, 4)?)?;
    /// index.add_text(4)?;
    /// let patterns = [&b"sea"[..], b"she sells sea shells by the", b"she sells sea shells, by"];
    /// assert_eq!(index.count_all(&patterns)?, [2, 1, 0]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) where the transform contradicts its samples.
    pub fn count_all<P: AsRef<[u8]> + Sync>(&self, patterns: &[P]) -> Result<Vec<R>> {
        let kmers = self.kmers_for(patterns.len());
        let rule = match &self.text {
            Some(_) => self.sampled_positions().map(|_| COMPARED)?,
            None => TextRule::NEVER,
        };
        let mut counts = vec![R::default(); patterns.len()];
        let chunks = patterns.par_chunks(CHUNK).zip(counts.par_chunks_mut(CHUNK));
        chunks.try_for_each(|(patterns, counts)| {
            let (mut alone, mut rows) = (Vec::new(), Vec::new());
            self.search_chunk(kmers, rule, patterns, |search| {
                let interval = &search.interval;
                counts[search.number] = interval.end - interval.start;
                if !search.left.is_empty() && counts[search.number] != R::default() {
                    alone.push((search.number, search.left));
                    rows.push(interval.start);
                }
            });
            self.compare(&alone, &rows, counts)
        })?;
        Ok(counts)
    }

    /// Counts the patterns whose rows are alone: 1 where the text before such a row has what is
    /// left of the pattern, 0 elsewhere.
    fn compare(&self, alone: &[(usize, &[u8])], rows: &[R], counts: &mut [R]) -> Result<()> {
        let Some(text) = self.text.as_ref().filter(|_| !alone.is_empty()) else { return Ok(()) };
        let positions = self.positions(rows)?;
        for (n, &(number, left)) in alone.iter().enumerate() {
            if let (Some(pos), Some((_, next))) = (positions.get(n + AHEAD), alone.get(n + AHEAD)) {
                let (pos, near) = (pos.get(), next.len().min(NEAR));
                let lines = (pos.saturating_sub(near)..pos).step_by(LINE);
                lines.chain(pos.checked_sub(1)).for_each(|at| prefetch(text, at));
            }
            counts[number] = R::from(u32::from(text[..positions[n].get()].ends_with(left)));
        }
        Ok(())
    }
}
