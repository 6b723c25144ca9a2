//! Exact repeats: which bytes of a collection of texts occur before in it, however far back.
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
//! A window of N bytes is a copy where an equal one starts earlier: in a text before, or before it
//! in its own, which it may overlap. What is found is the bytes of all copies, as ranges. A
//! position of any text is in a range exactly if some window of N bytes around it is a copy.
//!
//! Others count the first of equal windows too. In one text that is what is found here, together
//! with what is found in the reversed text, mirrored: a window that is repeated is not the first
//! or not the last. So computed, the bytes of a tar of sources, 203,246,656 of 301,475,840, are
//! those that deduplicate-text-datasets finds (K. Lee et al., *Deduplicating training data makes
//! language models better*, 2022).
//!
//! # The way of a search
//!
//! | file | job |
//! |---|---|
//! | `parts` | texts larger than memory: parts, two of them at a time |
//! | `collection` | what is read: slices, files, compressed files |
//! | `search_texts` | the search of what is in memory |
//! | `window_minimizers` | one position chosen by content for many windows |
//! | `equal_windows` | the windows around positions of equal content, compared |
//! | `settings`, `repeated_ranges` | what goes in and what comes out |
//! | `texts`, `rolling_hash`, `window_marks` | positions, hashes, a bit for each window |
//! | `whole_lines`, `whole_records`, `whole_characters` | ranges cut at their ends |
//! | `whole_parts` | parts of a text that are in ranges as a whole |
//!
//! Of a tar of sources of which half is repeated it takes 30 ns a byte on one thread, and for
//! windows of 100 bytes about 1.6 bytes of memory beside each byte. Time is in proportion to the
//! size whatever the texts hold, as far as hashes are
//! random. The result does not depend on threads, memory and chance.

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
    /// [`Error::Limit`](crate::Error::Limit) where the memory is too small even for short parts,
    /// [`Error::Io`](crate::Error::Io) where the system has none.
    pub fn find(&self, texts: &[&[u8]], options: &Options) -> Result<Repeats> {
        let sizes = texts.iter().map(|text| text.len() as u64).collect();
        let load = |text: usize, range: Range<u64>, _| {
            Ok(Cow::Borrowed(&texts[text][range.start as usize..range.end as usize]))
        };
        self.run(sizes, load, options)
    }

    /// Searches files, in their order. Those that do not fit the memory of `options` together are
    /// read in parts, each several times.
    ///
    /// # Errors
    /// As [`Search::find`]; what a read gives; of compressed files what
    /// [`Archive::read_range`](crate::Archive::read_range) gives.
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
