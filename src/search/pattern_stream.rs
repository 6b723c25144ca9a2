//! Patterns from an iterator: more of them than memory holds, in batches as large as it allows.

use super::file_search::FileSearch;
use super::search_results::Matches;
use super::searcher::Searcher;
use crate::error::Result;
use std::vec;

/// Bytes that a pattern takes beside its own, with all that is found but for positions.
const PER_PATTERN: u64 = 128;

/// Patterns that come one by one, each given back with its matches.
pub(crate) struct PatternStream<'a, I: Iterator> {
    /// The file, until the first batch starts a searcher of it.
    file: Option<FileSearch<'a>>,
    searcher: Option<Searcher<'a>>,
    patterns: I,
    limit: Option<usize>,
    /// Patterns of the last batch, with their matches, that have not been asked for.
    ready: std::iter::Zip<vec::IntoIter<I::Item>, vec::IntoIter<Matches>>,
    /// There is no more, or something failed.
    over: bool,
}

impl<'a, I: Iterator<Item: AsRef<[u8]> + Sync>> PatternStream<'a, I> {
    /// Counts, and with a limit locates.
    pub fn new(file: FileSearch<'a>, patterns: I, limit: Option<usize>) -> Self {
        let ready = Vec::new().into_iter().zip(Vec::new());
        PatternStream { file: Some(file), searcher: None, patterns, limit, ready, over: false }
    }

    /// Searches the next batch, if there is one.
    fn search(&mut self) -> Result<()> {
        if let Some(file) = self.file.take() {
            self.searcher = Some(Searcher::new(file)?);
        }
        let Some(searcher) = &mut self.searcher else { return Ok(()) };
        let mut left = searcher.batch_size();
        let mut patterns = Vec::new();
        while left > 0
            && let Some(pattern) = self.patterns.next()
        {
            left = left.saturating_sub(pattern.as_ref().len() as u64 + PER_PATTERN);
            patterns.push(pattern);
        }
        let found = match self.limit {
            Some(limit) => searcher.locate(&patterns, limit)?,
            None => {
                let counts = searcher.count(&patterns)?.into_iter();
                counts.map(|count| Matches { count, ..Matches::default() }).collect()
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
        let next = self.search().map(|()| self.ready.next()).transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
