//! Batches of patterns searched in a file. While one batch is searched, the next one is read and
//! the previous one is printed. A batch whose results do not fit in memory is searched in halves.

use crate::cli::arguments::search_args::SearchArgs;
use crate::cli::files::job_thread::{Job, job_thread};
use crate::cli::search::grep::line_counter::LineCounter;
use crate::cli::search::pattern_batch::PatternBatch;
use crate::cli::search::patterns::Patterns;
use bwz::{Archive, Error, Matches, Result, Searcher};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::thread;

/// Divisor of the memory limit. One part in 16 is for matches.
pub(super) const MATCHES_SHARE: u64 = 16;

/// The limits of locate's output for each pattern.
#[derive(Clone, Copy)]
pub(super) struct MatchLimits {
    pub limit: usize,
    /// The last match is wanted, not the first ones.
    pub last: bool,
    pub context: Option<u64>,
}

/// The search for all patterns in a file.
pub(super) struct BatchSearch<'a> {
    pub args: &'a SearchArgs,
    pub patterns: &'a Patterns,
    /// The limits of matches. `None` if patterns are only counted.
    pub wanted: Option<MatchLimits>,
    /// Each match has a line of its own. Then empty patterns need no positions, and matches beyond
    /// the limit no count.
    pub in_pieces: bool,
    /// Counts lines, if these are to be counted.
    pub lines: Option<LineCounter<'a>>,
}

impl BatchSearch<'_> {
    /// Searches for batch after batch. While one batch is searched, the next one is read and the
    /// previous one is printed.
    pub(super) fn run(
        &self,
        archive: &mut Archive<File>,
        mut print: impl FnMut(FoundPiece) -> Result<()> + Send,
    ) -> Result<(), SearchFailure> {
        let everywhere = archive.raw_size() + 1;
        let mut searcher = archive.searcher()?;
        searcher.expect(self.patterns.expected_size());
        let mut batches = self.patterns.batches(searcher.batch_size());
        thread::scope(|scope| {
            let (read, unsearched) = bounded(1);
            let (searched, unprinted) = bounded(1);
            let [reader, printer] = [job_thread(scope)?, job_thread(scope)?];
            let (end, printed) = bounded(1);
            let read = move || _ = batches.try_for_each(|batch| read.send(batch));
            let print = move || drop(end.send(unprinted.into_iter().try_for_each(&mut print)));
            for (thread, job) in [(reader, Box::new(read) as Job), (printer, Box::new(print))] {
                drop(thread.send(job));
            }
            let found = self.search_batches(&mut searcher, everywhere, unsearched, searched);
            // If the printer panicked, so does the scope.
            let printed = printed.recv().unwrap_or(Ok(()));
            printed.map_err(SearchFailure::OfFile).and(found)
        })
    }

    /// Searches until there are no more batches, or until the printer takes no more results.
    fn search_batches(
        &self,
        searcher: &mut Searcher<'_>,
        everywhere: u64,
        batches: Receiver<Result<PatternBatch>>,
        searched: Sender<FoundPiece>,
    ) -> Result<(), SearchFailure> {
        let mut any = false;
        for batch in batches {
            let batch = batch.map_err(SearchFailure::OfPatterns)?;
            any = true;
            let all = 0..batch.len();
            if self
                .search_pieces(searcher, everywhere, batch, all, &searched)?
                .is_break()
            {
                return Ok(());
            }
        }
        // Without patterns there may still be blocks to verify.
        if !any {
            self.search_batch(searcher, everywhere, &[])?;
        }
        Ok(())
    }

    /// Searches for some patterns of a batch. If the results do not fit in memory, it searches for
    /// the first half of the patterns and then for the second half. It stops if the printer takes
    /// no more results.
    fn search_pieces(
        &self,
        searcher: &mut Searcher<'_>,
        everywhere: u64,
        batch: PatternBatch,
        some: Range<usize>,
        searched: &Sender<FoundPiece>,
    ) -> Result<ControlFlow<()>, SearchFailure> {
        let patterns = batch.bytes(self.patterns.parsers);
        let found = match self.search_batch(searcher, everywhere, &patterns[some.clone()]) {
            Err(e @ Error::Limit { .. }) => {
                let Some(middle) = batch.middle(some.clone()) else {
                    return Err(e.into());
                };
                drop(patterns);
                let first = some.start..middle;
                let batch_again = batch.clone();
                if self
                    .search_pieces(searcher, everywhere, batch_again, first, searched)?
                    .is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
                let second = middle..some.end;
                return self.search_pieces(searcher, everywhere, batch, second, searched);
            }
            found => found?,
        };
        drop(patterns);
        let enough = self.args.talk.quiet && found.is_any();
        // Results that take much memory are printed before the search goes on.
        let (printed, is_printed) = bounded(0);
        let waits = self.takes_much(&found);
        let printed = waits.then_some(printed);
        let is_sent = searched
            .send(FoundPiece {
                batch,
                first: some.start,
                found,
                printed,
            })
            .is_ok();
        if waits {
            // No value is ever sent. The call ends when the printer drops its end.
            let _ = is_printed.recv();
        }
        Ok(if is_sent && !enough {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    }

    /// True if the positions leave no memory for the positions of other patterns.
    fn takes_much(&self, found: &BatchFound) -> bool {
        let BatchFound::Matches(matches) = found else {
            return false;
        };
        let count = matches
            .iter()
            .map(|found| found.positions.len() as u64)
            .sum::<u64>();
        let memory = self.args.resources.memory;
        memory > 0 && count * size_of::<u64>() as u64 > memory / MATCHES_SHARE
    }

    fn search_batch(
        &self,
        searcher: &mut Searcher<'_>,
        everywhere: u64,
        patterns: &[&[u8]],
    ) -> Result<BatchFound> {
        if let Some(lines) = &self.lines {
            return Ok(BatchFound::Counts(lines.counts(patterns)?));
        }
        let Some(MatchLimits { limit, last, .. }) = self.wanted else {
            return Ok(BatchFound::Counts(searcher.count(patterns)?));
        };
        if last {
            return Ok(BatchFound::Matches(searcher.locate_last(patterns)?));
        }
        let are_empty: Vec<bool> = match self.in_pieces {
            true => patterns
                .iter()
                .map(|pattern| pattern.is_empty())
                .collect(),
            false => Vec::new(),
        };
        let is_any_empty = are_empty.contains(&true);
        if !is_any_empty && self.in_pieces && (1..usize::MAX).contains(&limit) {
            let found = searcher.locate_first(patterns, limit)?;
            let matches = found.into_iter().map(|positions| {
                let mut matches = Matches::default();
                matches.count = positions.len() as u64;
                matches.positions = positions;
                matches
            });
            return Ok(BatchFound::Matches(matches.collect()));
        }
        if !is_any_empty {
            return Ok(BatchFound::Matches(searcher.locate(patterns, limit)?));
        }
        // Empty patterns occur at every position, so their positions need not be held.
        let others = patterns
            .iter()
            .copied()
            .filter(|pattern| !pattern.is_empty());
        let others: Vec<&[u8]> = others.collect();
        let mut found = searcher.locate(&others, limit)?.into_iter();
        let of = |is_empty: bool| {
            let mut matches = Matches::default();
            match is_empty {
                true => matches.count = everywhere,
                false => matches = found.next().unwrap_or_default(),
            }
            matches
        };
        Ok(BatchFound::Matches(are_empty.into_iter().map(of).collect()))
    }
}

/// The error that ended a search.
pub(super) enum SearchFailure {
    /// The patterns could not be read.
    OfPatterns(Error),
    /// The file could not be searched, or the results could not be printed.
    OfFile(Error),
}

impl From<Error> for SearchFailure {
    fn from(error: Error) -> Self {
        SearchFailure::OfFile(error)
    }
}

/// Patterns of a batch from number `first` on that were searched together, with their results.
pub(super) struct FoundPiece {
    pub batch: PatternBatch,
    pub first: usize,
    pub found: BatchFound,
    /// Dropped when the piece is printed, if the search waits for that.
    pub printed: Option<Sender<()>>,
}

/// The results of the patterns of a batch.
pub(super) enum BatchFound {
    Counts(Vec<u64>),
    Matches(Vec<Matches>),
}

impl BatchFound {
    /// True if anything was found.
    fn is_any(&self) -> bool {
        match self {
            BatchFound::Counts(counts) => counts.iter().any(|&count| count > 0),
            BatchFound::Matches(matches) => matches.iter().any(|found| found.count > 0),
        }
    }
}
