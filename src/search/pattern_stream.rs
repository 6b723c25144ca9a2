//! Patterns from an iterator. They may be more than memory holds: they are searched in batches as
//! large as it allows.

use super::file_search::FileSearch;
use super::search_results::Matches;
use super::searcher::Searcher;
use crate::base::error::{Error, Result};
use std::mem;
use std::vec;

/// Bytes of memory per pattern, in addition to its own bytes: its results without positions.
const PER_PATTERN: u64 = 128;

/// An iterator over patterns, each with its matches.
pub(crate) struct PatternStream<'a, I: Iterator> {
    /// The file, until the first batch starts a searcher.
    file: Option<FileSearch<'a>>,
    searcher: Option<Searcher<'a>>,
    patterns: I,
    limit: Option<usize>,
    /// Patterns that were read but not yet searched, since their results need too much memory.
    left: Vec<I::Item>,
    /// Patterns of the last batch, with their matches, that are not yet returned.
    ready: std::iter::Zip<vec::IntoIter<I::Item>, vec::IntoIter<Matches>>,
    /// True if there are no more patterns or an error occurred.
    over: bool,
}

impl<'a, I: Iterator<Item: AsRef<[u8]> + Sync>> PatternStream<'a, I> {
    /// Creates a stream that counts, and also locates if there is a limit.
    pub(crate) fn new(file: FileSearch<'a>, patterns: I, limit: Option<usize>) -> Self {
        let ready = Vec::new().into_iter().zip(Vec::new());
        let left = Vec::new();
        PatternStream {
            file: Some(file),
            searcher: None,
            patterns,
            limit,
            left,
            ready,
            over: false,
        }
    }

    /// Searches the next batch, or the part of it whose results fit in memory.
    fn search(&mut self) -> Result<()> {
        if let Some(file) = self.file.take() {
            self.searcher = Some(Searcher::new(file)?);
        }
        let Some(searcher) = &mut self.searcher else {
            return Ok(());
        };
        let mut patterns = mem::take(&mut self.left);
        let mut left = if patterns.is_empty() {
            searcher.batch_size()
        } else {
            0
        };
        while left > 0
            && let Some(pattern) = self.patterns.next()
        {
            left = left.saturating_sub(pattern.as_ref().len() as u64 + PER_PATTERN);
            patterns.push(pattern);
        }
        let found = match self.limit {
            Some(limit) => {
                let mut some = patterns.len();
                let found = loop {
                    match searcher.locate(&patterns[..some], limit) {
                        Err(Error::Limit { .. }) if some > 1 => some = some.div_ceil(2),
                        found => break found?,
                    }
                };
                self.left = patterns.split_off(some);
                found
            }
            None => {
                let counts = searcher.count(&patterns)?.into_iter();
                counts
                    .map(|count| Matches {
                        count,
                        ..Matches::default()
                    })
                    .collect()
            }
        };
        self.ready = patterns.into_iter().zip(found);
        Ok(())
    }
}

impl<I> Iterator for PatternStream<'_, I>
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
        let next = self
            .search()
            .map(|()| self.ready.next())
            .transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
