//! Patterns from an iterator: more of them than memory holds, in batches as large as it allows.
//!
//! Blocks that a batch decodes are kept for the next one, in a quarter of the memory; so is the
//! device, with the index that it searched last.

use super::Matches;
use super::search_batch::Session;
use crate::archive::Archive;
use crate::error::Result;
use std::io::{Read, Seek};
use std::vec;

/// Parts of the memory that a batch of patterns and decoded blocks may take: one in so many.
const BATCH_SHARE: u64 = 16;
const BLOCKS_SHARE: u64 = 4;

/// A batch need not be larger to be worth what it costs beside the search itself.
const LARGEST_BATCH: u64 = 256 << 20;

/// What a pattern takes beside its bytes, with all that is found but for positions.
const PER_PATTERN: u64 = 128;

impl<R: Read + Seek + Send> Archive<R> {
    /// Counts like [`Archive::count`], for patterns that come one by one: each is given back in its
    /// turn, with its count. They are pulled and searched in batches, so that memory stays within
    /// its limit however many there are.
    ///
    /// What fails is the last item.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new();
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells ".repeat(1000)[..], &mut file, &options)?;
    ///
    /// let mut archive = bwz::Archive::open(Cursor::new(file), &options)?;
    /// let letters = ('a'..='z').map(String::from);
    /// let counts: Vec<(String, u64)> = archive.counts(letters).collect::<bwz::Result<_>>()?;
    /// assert_eq!(counts[18], ("s".to_owned(), 6000));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    pub fn counts<I>(&mut self, patterns: I) -> impl Iterator<Item = Result<(I::Item, u64)>>
    where
        I: IntoIterator<Item: AsRef<[u8]> + Sync>,
    {
        let counts = Stream::new(self, patterns.into_iter(), None);
        counts.map(|found| found.map(|(pattern, matches)| (pattern, matches.count)))
    }

    /// Counts and locates like [`Archive::locate`], for patterns that come one by one, as
    /// [`Archive::counts`] does. The positions of a batch are in memory together: `limit` bounds
    /// that.
    ///
    /// What fails is the last item.
    pub fn matches<I>(
        &mut self,
        patterns: I,
        limit: usize,
    ) -> impl Iterator<Item = Result<(I::Item, Matches)>>
    where
        I: IntoIterator<Item: AsRef<[u8]> + Sync>,
    {
        Stream::new(self, patterns.into_iter(), Some(limit))
    }
}

/// A stream of patterns that becomes one of what was found.
struct Stream<'a, R, I: Iterator> {
    archive: &'a mut Archive<R>,
    session: Session,
    patterns: I,
    limit: Option<usize>,
    /// What the last batch came to, and has not been asked for.
    ready: std::iter::Zip<vec::IntoIter<I::Item>, vec::IntoIter<Matches>>,
    /// There is no more, or something failed.
    over: bool,
}

impl<'a, R: Read + Seek + Send, I: Iterator<Item: AsRef<[u8]> + Sync>> Stream<'a, R, I> {
    fn new(archive: &'a mut Archive<R>, patterns: I, limit: Option<usize>) -> Self {
        let share = archive.options.memory_limit() / BLOCKS_SHARE;
        let session = Session::new(&archive.options, share);
        let ready = Vec::new().into_iter().zip(Vec::new());
        Stream { archive, session, patterns, limit, ready, over: false }
    }

    /// Searches the next batch, if there is one.
    fn search(&mut self) -> Result<()> {
        let mut left = (self.archive.options.memory_limit() / BATCH_SHARE).min(LARGEST_BATCH);
        let mut patterns = Vec::new();
        while left > 0
            && let Some(pattern) = self.patterns.next()
        {
            left = left.saturating_sub(pattern.as_ref().len() as u64 + PER_PATTERN);
            patterns.push(pattern);
        }
        let found = self.archive.search(&patterns, self.limit, &mut self.session)?;
        self.ready = patterns.into_iter().zip(found);
        Ok(())
    }
}

impl<R: Read + Seek + Send, I: Iterator<Item: AsRef<[u8]> + Sync>> Iterator for Stream<'_, R, I> {
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
