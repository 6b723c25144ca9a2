//! Searches for several batches of patterns in one file. Later batches use the blocks that earlier
//! ones decoded.
//!
//! Decoded blocks are kept in a quarter of the memory limit. The GPU is kept too, with the indexes
//! that it searched.

use super::file_search::FileSearch;
use super::memory_policy;
use super::search_results::{Matches, WantedPositions};
use super::session::Session;
use crate::base::error::Result;
use std::fmt;

/// Searches for batches of patterns in one file. Created by
/// [`Archive::searcher`](crate::Archive::searcher).
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
        let session = Session::new(
            file.options,
            memory_policy::room_for_kept_blocks(file.options),
        )?;
        Ok(Searcher { file, session })
    }

    /// Recommended size of a batch in bytes of memory, for the patterns and the data kept beside
    /// them. A smaller batch costs more per pattern; a larger one gains nothing.
    pub fn batch_size(&self) -> u64 {
        let are_kept = self
            .session
            .kept
            .hold_all(self.file.contents.raw_size());
        memory_policy::batch_size(self.file.options, are_kept)
    }

    /// Announces patterns of about `bytes` bytes in all. If a GPU will search them, it is opened
    /// while the first patterns are read. If there will be many, blocks are decoded at once.
    pub fn expect(&mut self, bytes: u64) {
        self.session
            .expect(bytes, self.file.contents.largest_block());
    }

    /// Counts like [`Archive::count`](crate::Archive::count).
    ///
    /// # Errors
    /// As there.
    pub fn count<P: AsRef<[u8]> + Sync>(&mut self, patterns: &[P]) -> Result<Vec<u64>> {
        Ok(self
            .file
            .search(patterns, WantedPositions::NONE, &mut self.session)?
            .counts)
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
        Ok(self
            .file
            .search(patterns, WantedPositions::first(limit), &mut self.session)?
            .into_matches())
    }

    /// Locates the first `limit` occurrences of each pattern, and does not count the others. The
    /// blocks of a file are in order, so that the search ends with the block in which all patterns
    /// have their positions.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new();
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells "[..], &mut file, &options)?;
    ///
    /// let mut archive = bwz::Archive::open(Cursor::new(file), &options)?;
    /// let found = archive.searcher()?.locate_first(&["ell", "shore"], 1)?;
    /// assert_eq!(found, [vec![5], vec![]]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Archive::count`](crate::Archive::count).
    pub fn locate_first<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: usize,
    ) -> Result<Vec<Vec<u64>>> {
        let wanted = WantedPositions {
            ends_early: !self.file.options.verify,
            ..WantedPositions::first(limit)
        };
        Ok(self
            .file
            .search(patterns, wanted, &mut self.session)?
            .positions)
    }

    /// Counts, and locates the last occurrence of each pattern. The blocks of a file are in order,
    /// so that a pattern is located in the last block that has it. There all its occurrences are
    /// located, or the text is decoded if that costs less.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new();
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells "[..], &mut file, &options)?;
    ///
    /// let mut archive = bwz::Archive::open(Cursor::new(file), &options)?;
    /// let found = archive.searcher()?.locate_last(&["ell", "shore"])?;
    /// assert_eq!((found[0].count, &found[0].positions[..]), (2, &[16][..]));
    /// assert_eq!((found[1].count, &found[1].positions[..]), (0, &[][..]));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Archive::count`](crate::Archive::count).
    pub fn locate_last<P: AsRef<[u8]> + Sync>(&mut self, patterns: &[P]) -> Result<Vec<Matches>> {
        Ok(self
            .file
            .search(patterns, WantedPositions::LAST, &mut self.session)?
            .into_matches())
    }
}

#[cfg(test)]
mod tests {
    use crate::Archive;
    use crate::Device;
    use crate::Options;
    use crate::cases;
    use crate::compress;
    use std::collections::HashMap;
    use std::io::Cursor;

    /// Counts reads of a text in several blocks, batch after batch: at first by steps, then by the
    /// texts of the blocks when that pays.
    #[test]
    fn reads_are_counted_by_the_text_when_it_pays() {
        const LEN: usize = 60;
        let text = cases::dna(2_500_000);
        let options = Options::new()
            .device(Device::Cpu)
            .index(32)
            .unwrap();
        let options = options.with_block_size(1 << 20).unwrap();
        let mut file = Vec::new();
        compress(&text[..], &mut file, &options).unwrap();
        let mut occurrences = HashMap::new();
        text.windows(LEN)
            .for_each(|read| *occurrences.entry(read).or_insert(0_u64) += 1);
        let read = |n: usize| {
            let at = n * 7_919_113 % (text.len() - LEN);
            let mut read = text[at..at + LEN].to_vec();
            // Some reads differ from the text in their first half, some in their last.
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
                let reads: Vec<_> = (0..50_000)
                    .map(|n| read(50_000 * batch + n))
                    .collect();
                let wanted: Vec<u64> = reads
                    .iter()
                    .map(|read| occurrences.get(&read[..]).copied().unwrap_or(0))
                    .collect();
                assert_eq!(
                    searcher.count(&reads).unwrap(),
                    wanted,
                    "batch {batch} of {expected}"
                );
            }
            assert_eq!(
                searcher.session.kept.texts(),
                if expected == 1 { 0 } else { 3 },
                "{expected}"
            );
        }
        // A quarter of this memory does not hold all texts.
        for memory in [12 << 20, 36 << 20] {
            let options = options.clone().memory(memory);
            let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
            let mut searcher = archive.searcher().unwrap();
            for batch in 0..6 {
                let reads: Vec<_> = (0..50_000)
                    .map(|n| read(50_000 * batch + n))
                    .collect();
                let counts = searcher.count(&reads).unwrap();
                let found = reads.iter().zip(counts);
                let is_right = |(read, count): (&Vec<u8>, u64)| {
                    occurrences.get(&read[..]).copied().unwrap_or(0) == count
                };
                assert!(
                    found.into_iter().all(is_right),
                    "batch {batch}, {memory} bytes"
                );
            }
            assert_eq!(searcher.session.kept.texts(), 0, "{memory} bytes");
        }
    }

    /// A search for many patterns warns once that a large block does not fit in memory.
    #[test]
    fn a_search_on_disk_for_want_of_memory_warns_once() {
        let text = cases::dna(2_500_000);
        let options = Options::new()
            .device(Device::Cpu)
            .index(32)
            .unwrap();
        let mut file = Vec::new();
        compress(
            &text[..],
            &mut file,
            &options.with_block_size(1 << 20).unwrap(),
        )
        .unwrap();
        for (memory, expected) in [(1 << 20, 1), (1 << 30, 0)] {
            // A block on disk takes memory for each thread.
            let options = Options::new()
                .device(Device::Cpu)
                .threads(2)
                .memory(memory);
            let (options, warnings) = options.hearing_warnings();
            let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
            let mut searcher = archive.searcher().unwrap();
            let reads: Vec<&[u8]> = text.windows(30).step_by(29).collect();
            for _ in 0..2 {
                assert!(
                    searcher
                        .count(&reads)
                        .unwrap()
                        .into_iter()
                        .all(|count| count > 0)
                );
            }
            let warnings = warnings.lock().unwrap();
            assert_eq!(warnings.len(), expected, "{warnings:?}");
            assert!(
                warnings
                    .iter()
                    .all(|warning| warning.contains("searched on disk"))
            );
        }
    }

    /// Locating many places warns too: each takes a walk by the index on disk.
    #[test]
    fn many_places_on_disk_for_want_of_memory_warn_once() {
        let text = cases::dna(2_500_000);
        let options = Options::new()
            .device(Device::Cpu)
            .index(32)
            .unwrap();
        let mut file = Vec::new();
        compress(
            &text[..],
            &mut file,
            &options.with_block_size(1 << 20).unwrap(),
        )
        .unwrap();
        let all: Vec<u64> = (0..)
            .zip(text.windows(3))
            .filter(|(_, w)| w == b"ACG")
            .map(|(n, _)| n)
            .collect();
        for (memory, limit, expected) in [
            (2 << 20, usize::MAX, 1),
            (1 << 30, usize::MAX, 0),
            (1 << 30, 3, 0),
        ] {
            let options = Options::new()
                .device(Device::Cpu)
                .threads(2)
                .memory(memory);
            let (options, warnings) = options.hearing_warnings();
            let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
            let found = archive.locate(&["ACG"], limit).unwrap();
            assert_eq!(found[0].positions, all[..all.len().min(limit)]);
            let warnings = warnings.lock().unwrap();
            assert_eq!(warnings.len(), expected, "{warnings:?}");
            assert!(
                warnings
                    .iter()
                    .all(|warning| warning.contains("searched on disk"))
            );
        }
    }
}
