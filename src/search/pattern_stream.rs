//! Patterns from an iterator: more of them than memory holds, in batches as large as it allows.
//!
//! Blocks that a batch decodes are kept for the next one, in a quarter of the memory; so is the
//! GPU, with the index that it searched last.

use super::file_search::FileSearch;
use super::search_batch::Session;
use super::search_results::Matches;
use crate::error::Result;
use std::io::{Read, Seek};
use std::vec;

/// Parts of the memory that a batch of patterns and decoded blocks may take: one in so many.
const BATCH_SHARE: u64 = 16;
const BLOCKS_SHARE: u64 = 4;

/// A batch need not be larger to be worth what it costs beside the search itself.
const LARGEST_BATCH: u64 = 256 << 20;

/// Bytes that a pattern takes beside its own, with all that is found but for positions.
const PER_PATTERN: u64 = 128;

/// Patterns that come one by one, each given back with its matches.
pub(crate) struct PatternStream<'a, R, I: Iterator> {
    file: FileSearch<'a, R>,
    /// `None` until the first batch.
    session: Option<Session>,
    patterns: I,
    limit: Option<usize>,
    /// Patterns of the last batch, with their matches, that have not been asked for.
    ready: std::iter::Zip<vec::IntoIter<I::Item>, vec::IntoIter<Matches>>,
    /// There is no more, or something failed.
    over: bool,
}

impl<'a, R: Read + Seek + Send, I: Iterator<Item: AsRef<[u8]> + Sync>> PatternStream<'a, R, I> {
    /// Counts, and with a limit locates.
    pub fn new(file: FileSearch<'a, R>, patterns: I, limit: Option<usize>) -> Self {
        let ready = Vec::new().into_iter().zip(Vec::new());
        PatternStream { file, session: None, patterns, limit, ready, over: false }
    }

    /// Searches the next batch, if there is one.
    fn search(&mut self) -> Result<()> {
        let (options, memory) = (self.file.options, self.file.options.memory_limit());
        let mut left = (memory / BATCH_SHARE).min(LARGEST_BATCH);
        let mut patterns = Vec::new();
        while left > 0
            && let Some(pattern) = self.patterns.next()
        {
            left = left.saturating_sub(pattern.as_ref().len() as u64 + PER_PATTERN);
            patterns.push(pattern);
        }
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(Session::new(options, memory / BLOCKS_SHARE)?),
        };
        let found = self.file.search_batch(&patterns, self.limit, session)?;
        self.ready = patterns.into_iter().zip(found);
        Ok(())
    }
}

impl<R: Read + Seek + Send, I> Iterator for PatternStream<'_, R, I>
where
    I: Iterator<Item: AsRef<[u8]> + Sync>,
{
    type Item = Result<(I::Item, Matches)>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(found) = self.ready.next() {
            return Some(Ok(found));
        }
        if self.over {
            return None;
        }
        let next = self.search().map(|()| self.ready.next()).transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
