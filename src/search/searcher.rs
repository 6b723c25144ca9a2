//! Batch after batch of patterns in one file: what one decodes serves those that come next.
//!
//! Decoded blocks are kept in a quarter of the memory; so is the GPU, with the indexes that it
//! searched.

use super::file_search::FileSearch;
use super::search_batch::Session;
use super::search_results::{BatchMatches, Matches};
use crate::base::error::Result;
use std::fmt;

/// Parts of the memory that a batch of patterns and decoded blocks may take: one in so many.
/// Several batches are under way where they are read and printed beside the search.
const BATCH_SHARE: u64 = 64;
const BLOCKS_SHARE: u64 = 4;

/// A batch need not be larger to be worth what it costs beside the search itself: where decoded
/// blocks are kept, and where each batch decodes them anew.
const LARGEST_BATCH: u64 = 64 << 20;
const LARGEST_ANEW: u64 = 256 << 20;

/// Searches of batches of patterns in one file, as
/// [`Archive::searcher`](crate::Archive::searcher) starts them.
pub struct Searcher<'a> {
    file: FileSearch<'a>,
    session: Session,
}

impl fmt::Debug for Searcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher").finish_non_exhaustive()
    }
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(file: FileSearch<'a>) -> Result<Self> {
        let session = Session::new(file.options, file.options.memory_limit() / BLOCKS_SHARE)?;
        Ok(Searcher { file, session })
    }

    /// Bytes of memory, in patterns and what stands beside them, that make up a good batch: fewer
    /// cost more per pattern, more gain nothing.
    pub fn batch_size(&self) -> u64 {
        let warm = self.session.keeps(self.file.contents.raw_size());
        let largest = if warm { LARGEST_BATCH } else { LARGEST_ANEW };
        (self.file.options.memory_limit() / BATCH_SHARE).min(largest)
    }

    /// Says that patterns of about so many bytes will come in all: where a GPU is to search them,
    /// it is opened while the first of them are read, and blocks are decoded at once for many.
    pub fn expect(&mut self, bytes: u64) {
        self.session.expect(bytes, self.file.contents.largest_block());
    }

    /// Counts like [`Archive::count`](crate::Archive::count).
    ///
    /// # Errors
    /// As there.
    pub fn count<P: AsRef<[u8]> + Sync>(&mut self, patterns: &[P]) -> Result<Vec<u64>> {
        Ok(self.search(patterns, None)?.counts)
    }

    /// Locates like [`Archive::locate`](crate::Archive::locate).
    ///
    /// # Errors
    /// As there.
    pub fn locate<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: usize,
    ) -> Result<Vec<Matches>> {
        Ok(self.search(patterns, Some(limit))?.into_matches())
    }

    fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: Option<usize>,
    ) -> Result<BatchMatches> {
        self.file.search(patterns, limit, &mut self.session)
    }
}

#[cfg(test)]
mod tests {
    use crate::Archive;
    use crate::options::events::Event;

    use crate::Device;

    use crate::Options;

    use crate::cases;

    use crate::compress;
    use std::collections::HashMap;
    use std::io::Cursor;
    use std::sync::{Arc, Mutex};

    /// Reads of a text in several blocks, batch after batch: at first by steps, then by the texts
    /// of the blocks, where that pays.
    #[test]
    fn reads_are_counted_by_the_text_when_it_pays() {
        const LEN: usize = 60;
        let text = cases::dna(2_500_000);
        let options = Options::new().device(Device::Cpu).index(32).unwrap();
        let options = options.with_block_size(1 << 20).unwrap();
        let mut file = Vec::new();
        compress(&text[..], &mut file, &options).unwrap();
        let mut occurrences = HashMap::new();
        text.windows(LEN).for_each(|read| *occurrences.entry(read).or_insert(0_u64) += 1);
        let read = |n: usize| {
            let at = n * 7_919_113 % (text.len() - LEN);
            let mut read = text[at..at + LEN].to_vec();
            // Some differ from the text in their first half, some in their last.
            match n % 8 {
                6 => read[5] = if read[5] == b'A' { b'C' } else { b'A' },
                7 => read[LEN - 5] = if read[LEN - 5] == b'A' { b'C' } else { b'A' },
                _ => {}
            }
            read
        };
        for expected in [0, 300_000 * LEN as u64, 1] {
            let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
            let mut searcher = archive.searcher().unwrap();
            searcher.expect(expected);
            for batch in 0..6 {
                let reads: Vec<_> = (0..50_000).map(|n| read(50_000 * batch + n)).collect();
                let wanted: Vec<u64> = reads
                    .iter()
                    .map(|read| occurrences.get(&read[..]).copied().unwrap_or(0))
                    .collect();
                assert_eq!(searcher.count(&reads).unwrap(), wanted, "batch {batch} of {expected}");
            }
            assert_eq!(searcher.session.texts(), if expected == 1 { 0 } else { 3 }, "{expected}");
        }
        // Where a quarter of the memory does not take all texts.
        for memory in [12 << 20, 36 << 20] {
            let options = options.clone().memory(memory);
            let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
            let mut searcher = archive.searcher().unwrap();
            for batch in 0..6 {
                let reads: Vec<_> = (0..50_000).map(|n| read(50_000 * batch + n)).collect();
                let counts = searcher.count(&reads).unwrap();
                let found = reads.iter().zip(counts);
                let is_right = |(read, count): (&Vec<u8>, u64)| {
                    occurrences.get(&read[..]).copied().unwrap_or(0) == count
                };
                assert!(found.into_iter().all(is_right), "batch {batch}, {memory} bytes");
            }
            assert_eq!(searcher.session.texts(), 0, "{memory} bytes");
        }
    }

    /// Whoever searches many patterns hears once that the memory does not do for a large block.
    #[test]
    fn a_search_on_disk_for_want_of_memory_warns_once() {
        let text = cases::dna(2_500_000);
        let options = Options::new().device(Device::Cpu).index(32).unwrap();
        let mut file = Vec::new();
        compress(&text[..], &mut file, &options.with_block_size(1 << 20).unwrap()).unwrap();
        for (memory, expected) in [(1 << 20, 1), (1 << 30, 0)] {
            let warnings = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&warnings);
            // What stays on disk takes memory for each thread.
            let options = Options::new().device(Device::Cpu).threads(2).memory(memory);
            let options = options.on_event(move |event| {
                if let Event::Warning(what) = event {
                    heard.lock().unwrap().push(what);
                }
            });
            let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
            let mut searcher = archive.searcher().unwrap();
            let reads: Vec<&[u8]> = text.windows(30).step_by(29).collect();
            for _ in 0..2 {
                assert!(searcher.count(&reads).unwrap().into_iter().all(|count| count > 0));
            }
            let warnings = warnings.lock().unwrap();
            assert_eq!(warnings.len(), expected, "{warnings:?}");
            assert!(warnings.iter().all(|warning| warning.contains("searched on disk")));
        }
    }

    /// Whoever locates many places hears it too: each is a walk by the index on disk.
    #[test]
    fn many_places_on_disk_for_want_of_memory_warn_once() {
        let text = cases::dna(2_500_000);
        let options = Options::new().device(Device::Cpu).index(32).unwrap();
        let mut file = Vec::new();
        compress(&text[..], &mut file, &options.with_block_size(1 << 20).unwrap()).unwrap();
        let all: Vec<u64> =
            (0..).zip(text.windows(3)).filter(|(_, w)| w == b"ACG").map(|(n, _)| n).collect();
        for (memory, limit, expected) in
            [(2 << 20, usize::MAX, 1), (1 << 30, usize::MAX, 0), (1 << 30, 3, 0)]
        {
            let warnings = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&warnings);
            let options = Options::new().device(Device::Cpu).threads(2).memory(memory);
            let options = options.on_event(move |event| {
                if let Event::Warning(what) = event {
                    heard.lock().unwrap().push(what);
                }
            });
            let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
            let found = archive.locate(&["ACG"], limit).unwrap();
            assert_eq!(found[0].positions, all[..all.len().min(limit)]);
            let warnings = warnings.lock().unwrap();
            assert_eq!(warnings.len(), expected, "{warnings:?}");
            assert!(warnings.iter().all(|warning| warning.contains("searched on disk")));
        }
    }
}
