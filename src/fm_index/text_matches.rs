//! Counting by the text itself: once the interval of a pattern is one row, the pattern can occur at
//! only one position, and the rest of it is compared with the text there.
//!
//! In a text of n symbols an interval is one row after some log(n) steps: 16 in a genome, while a
//! read has 100 symbols and more. From there on each step waits for a cache line. With samples at
//! every eighth position and the text in memory, a few steps lead to the position, and the rest of
//! the read is one or two lines:
//!
//! ```text
//!   steps 84, 83, ... 1                     84 lines
//!   3.5 steps to a sample, its pos, text    some 12 lines
//! ```
//!
//! To get the text, the block is restored once; it takes a byte of memory per byte. This pays if
//! the steps saved are more than half the bytes of the block.

use super::FmIndex;
use super::backward_search::{CHUNK, TextRule};
use crate::base::cache_lines::{LINE, prefetch};
use crate::base::error::Result;
use crate::base::positions::Row;
use rayon::prelude::*;

/// Comparing fewer bytes than this is slower than searching them, because of the steps to the
/// position. In a genome, an interval that was one row for three steps is so by chance once in 64
/// times.
const COMPARED: TextRule = TextRule {
    least: 16,
    alone: 3,
};

/// Number of positions in the text that are prefetched ahead.
const AHEAD: usize = 16;
/// Maximum number of bytes before each that are prefetched: the processor prefetches the ones after
/// that by itself.
const NEAR: usize = 4 * LINE;

impl<R: Row> FmIndex<R> {
    /// Number of occurrences of each pattern, on all threads of the current rayon pool, by the text
    /// if the index has it ([`FmIndex::add_text`]).
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
    /// [`Error::Format`](crate::Error::Format) if the BWT contradicts its samples.
    pub fn count_all<P: AsRef<[u8]> + Sync>(&self, patterns: &[P]) -> Result<Vec<R>> {
        let kmers = self.kmers_for(patterns.len());
        let rule = match &self.text {
            Some(_) => self.sampled_positions().map(|_| COMPARED)?,
            None => TextRule::NEVER,
        };
        let mut counts = vec![R::default(); patterns.len()];
        let chunks = patterns
            .par_chunks(CHUNK)
            .zip(counts.par_chunks_mut(CHUNK));
        chunks.try_for_each(|(patterns, counts)| {
            let mut alone = Vec::new();
            let mut rows = Vec::new();
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

    /// Counts the patterns whose intervals are one row: 1 if the text before the row's position
    /// ends with the rest of the pattern, else 0.
    fn compare(&self, alone: &[(usize, &[u8])], rows: &[R], counts: &mut [R]) -> Result<()> {
        let Some(text) = self.text.as_ref().filter(|_| !alone.is_empty()) else {
            return Ok(());
        };
        let positions = self.positions(rows)?;
        for (n, &(number, left)) in alone.iter().enumerate() {
            if let (Some(pos), Some((_, next))) = (positions.get(n + AHEAD), alone.get(n + AHEAD)) {
                let pos = pos.get();
                let near = next.len().min(NEAR);
                let lines = (pos.saturating_sub(near)..pos).step_by(LINE);
                lines
                    .chain(pos.checked_sub(1))
                    .for_each(|at| prefetch(text, at));
            }
            counts[number] = R::from(u32::from(text[..positions[n].get()].ends_with(left)));
        }
        Ok(())
    }
}
