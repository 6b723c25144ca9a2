//! Finds exact repeats: the bytes of a collection of texts that occur earlier in it, at any
//! distance.
//!
//! ```
//! use bwz::repeats::Search;
//!
//! let texts: [&[u8]; 2] = [b"she sells sea shells", b"where the sea shells are"];
//! let found = Search::new(10)?.find(&texts, &bwz::Options::new())?;
//! assert!(found.files[0].ranges.is_empty());
//! assert_eq!(found.files[1].ranges, [9..20]); // " sea shells"
//! # Ok::<(), bwz::Error>(())
//! ```
//!
//! A window of N bytes is a copy if an equal window starts earlier: in a text before its own, or at
//! an earlier position of its own text. The two windows may overlap. The result is the bytes of all
//! copies, as ranges. A position of any text is in a range exactly if some window of N bytes around
//! it is a copy.
//!
//! Other tools count the first of equal windows too. For one text, their result is the union of the
//! result found here and the mirrored result for the reversed text: a repeated window is not the
//! first or not the last of its kind. Computed in this way for a tar of source code, 203,246,656 of
//! 301,475,840 bytes are repeated. These are the bytes that deduplicate-text-datasets finds (K. Lee
//! et al., *Deduplicating training data makes language models better*, 2022).
//!
//! # The steps of a search
//!
//! | file | job |
//! |---|---|
//! | `parts` | texts larger than memory: parts, two of them at a time |
//! | `collection` | the input: slices, files, compressed files |
//! | `search_texts` | the search of texts that are in memory |
//! | `window_minimizers` | one position chosen by content for many windows |
//! | `equal_windows` | compares the windows around positions of equal content |
//! | `settings`, `repeated_ranges` | the settings and the result |
//! | `texts`, `rolling_hash`, `window_marks` | positions, hashes, a bit for each window |
//! | `whole_lines`, `whole_records`, `whole_characters` | ranges cut at their ends |
//! | `whole_parts` | parts of a text that lie in ranges as a whole |
//!
//! For a tar of source code of which half is repeated, a search takes 30 ns per byte on one thread.
//! With windows of 100 bytes it takes about 1.6 bytes of memory beside each byte of text. The time
//! is proportional to the size of the texts whatever their content, as far as hashes are random.
//! The result does not depend on the number of threads, on the memory or on chance.

mod collection;
mod equal_windows;
mod parts;
mod repeated_ranges;
mod rolling_hash;
mod search_texts;
mod settings;
#[cfg(test)]
mod tests;
mod texts;
mod whole_characters;
mod whole_lines;
mod whole_parts;
mod whole_records;
mod window_marks;
mod window_minimizers;

pub use collection::Input;
pub use repeated_ranges::{FileRepeats, MostFrequent, Repeats};
pub use settings::{Search, Unit};
pub use whole_characters::{Characters, whole_characters};
pub use whole_lines::whole_lines;
pub use whole_records::whole_records;

use crate::base::error::Result;
use crate::engine::thread_pool;
use crate::options::Options;
use parts::PartSearch;
use std::borrow::Cow;
use std::io::{Read, Seek};
use std::ops::Range;

impl Search {
    /// Searches texts in memory, in their order.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the memory is too small even for short parts.
    /// [`Error::Io`](crate::Error::Io) if the system has no memory.
    pub fn find(&self, texts: &[&[u8]], options: &Options) -> Result<Repeats> {
        let sizes = texts
            .iter()
            .map(|text| text.len() as u64)
            .collect();
        let load = |text: usize, range: Range<u64>, _| {
            Ok(Cow::Borrowed(
                &texts[text][range.start as usize..range.end as usize],
            ))
        };
        self.run(sizes, load, options)
    }

    /// Searches files, in their order. If they do not fit together in the memory of `options`, they
    /// are read in parts, each several times.
    ///
    /// # Errors
    /// The errors of [`Search::find`] and of reading, and for compressed files those of
    /// [`Archive::read_range`](crate::Archive::read_range).
    pub fn find_in<R: Read + Seek + Send>(
        &self,
        inputs: &mut [Input<R>],
        options: &Options,
    ) -> Result<Repeats> {
        let sizes = inputs.iter().map(Input::size).collect();
        let load = |input: usize, range, memory| {
            let read = inputs[input].read(range, memory);
            read.map(Cow::Owned)
        };
        self.run(sizes, load, options)
    }

    fn run<'a>(
        &self,
        sizes: Vec<u64>,
        load: impl FnMut(usize, Range<u64>, u64) -> Result<Cow<'a, [u8]>> + Send,
        options: &Options,
    ) -> Result<Repeats> {
        let pool = thread_pool::pool(options)?;
        let mut search = PartSearch::new(self, sizes, load, options)?;
        pool.install(|| search.run())
    }
}
