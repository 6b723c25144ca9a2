//! Two files of reads. Each read of one file has its mate at the same place in the other.

use crate::cli::arguments::size::count;
use crate::cli::search::pattern_batch::{
    Mate, NamedPattern, PatternBatch, PatternPart, SpareParts,
};
use crate::cli::search::pattern_file::{PatternFile, ReadPlan};
use crate::cli::search::pattern_syntax::PatternSyntax;
use crate::cli::search::sam_lines::template_name;
use bwz::{Error, Result};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of patterns that are read from a file at once.
const AT_ONCE: u64 = 8 << 20;

/// The two files while they are read.
pub(crate) struct PairedReads<'s> {
    sides: [Side<'s>; 2],
    paths: &'s [PathBuf; 2],
    both_strands: bool,
    /// Number of pairs that were read.
    pairs: u64,
    spare: &'s SpareParts,
}

/// One of the files, with its reads that have no mate yet.
struct Side<'s> {
    file: PatternFile<'s>,
    parts: VecDeque<Arc<PatternPart>>,
    /// Number of reads of the first part that have their mates.
    taken: usize,
    is_over: bool,
    /// The error after the reads in `parts`.
    failed: Option<Error>,
}

impl<'s> PairedReads<'s> {
    pub(crate) fn open(
        paths: &'s [PathBuf; 2],
        syntax: PatternSyntax,
        plan: ReadPlan<'s>,
    ) -> Result<Self> {
        let one_strand = PatternSyntax {
            both_strands: false,
            ..syntax
        };
        let side = |path: &'s PathBuf| -> Result<Side<'s>> {
            Ok(Side {
                file: PatternFile::open(path, true, one_strand, plan)?,
                parts: VecDeque::new(),
                taken: 0,
                is_over: false,
                failed: None,
            })
        };
        Ok(PairedReads {
            sides: [side(&paths[0])?, side(&paths[1])?],
            paths,
            both_strands: syntax.both_strands,
            pairs: 0,
            spare: plan.spare,
        })
    }

    /// Adds pairs until the batch has `enough` bytes. Returns true if there may be more.
    pub(crate) fn read(&mut self, batch: &mut PatternBatch, enough: u64) -> Result<bool> {
        while batch.size() < enough {
            let [first, second] = &mut self.sides;
            match [first.fill(self.spare)?, second.fill(self.spare)?] {
                [false, false] => return Ok(false),
                [true, true] => batch.parts.push(Arc::new(self.join()?)),
                [true, false] => return Err(self.unequal(0)),
                [false, true] => return Err(self.unequal(1)),
            }
        }
        Ok(true)
    }

    /// Pairs up the reads in the first parts of both files.
    fn join(&mut self) -> Result<PatternPart> {
        let mut pairs = PatternPart::default();
        let [first, second] = &mut self.sides;
        while let (Some(read), Some(mate)) = (first.next(), second.next()) {
            self.pairs += 1;
            if template_name(read.name) != template_name(mate.name) {
                return Err(strangers([&read, &mate], self.paths, self.pairs));
            }
            for (read, mate) in [(read, Mate::First), (mate, Mate::Second)] {
                pairs.add_mate(&read, mate);
                if self.both_strands {
                    pairs.add_reverse();
                }
            }
            first.taken += 1;
            second.taken += 1;
        }
        Ok(pairs)
    }

    /// Returns the error for files of which one has more reads.
    fn unequal(&self, longer: usize) -> Error {
        let [longer, shorter] = [longer, 1 - longer].map(|n| self.paths[n].display());
        let reads = count(self.pairs, "read");
        let what = format!(
            "{shorter}: has {reads}, and {longer} has more: each read of one must have a mate at \
             the same place in the other"
        );
        Error::Usage(what.into())
    }
}

/// Returns the error for two reads at the same place that have different names.
fn strangers(reads: [&NamedPattern; 2], paths: &[PathBuf; 2], number: u64) -> Error {
    let [first, second] = reads.map(|read| String::from_utf8_lossy(read.name));
    let [first_path, second_path] = [paths[0].display(), paths[1].display()];
    let what = format!(
        "read {number} is `{first}` in {first_path} and `{second}` in {second_path}: mates have \
         the same name, except for /1 and /2 at its end, and are at the same place in both files"
    );
    Error::Usage(what.into())
}

impl Side<'_> {
    /// Reads more if no read is left. Returns true if there is a read then.
    fn fill(&mut self, spare: &SpareParts) -> Result<bool> {
        loop {
            match self.parts.front() {
                Some(part) if self.taken < part.len() => return Ok(true),
                Some(_) => {
                    let done = self.parts.pop_front().and_then(Arc::into_inner);
                    done.into_iter().for_each(|part| spare.put(part));
                    self.taken = 0;
                }
                None => match self.failed.take() {
                    Some(e) => return Err(e),
                    None if self.is_over => return Ok(false),
                    None => self.read(),
                },
            }
        }
    }

    fn read(&mut self) {
        let mut batch = PatternBatch::default();
        match self.file.read(&mut batch, AT_ONCE) {
            Ok(more) => self.is_over = !more,
            Err(e) => (self.is_over, self.failed) = (true, Some(e)),
        }
        self.parts.extend(batch.parts);
    }

    /// Returns the next read of the first part.
    fn next(&self) -> Option<NamedPattern<'_>> {
        self.parts.front()?.get(self.taken)
    }
}
