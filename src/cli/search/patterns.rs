//! The patterns to search for: words, lines, hexadecimal digits, sequences.

use crate::cli::arguments::search_args::SearchArgs;
use crate::cli::arguments::usage;
use crate::cli::search::paired_reads::PairedReads;
use crate::cli::search::pattern_batch::{PatternBatch, PatternPart, SpareParts};
use crate::cli::search::pattern_file::{PatternFile, ReadPlan};
use crate::cli::search::pattern_syntax::{Format, PatternSyntax};
use bwz::{Error, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{iter, slice};

/// Divisor for the first batch, which is this many times smaller than the others. With it the file
/// to search is opened and decoded while the next batch is read.
const FIRST_PART: u64 = 16;

/// Maximum number of threads that parse.
const PARSERS: usize = 8;

/// The patterns that the arguments name. They are read while others are searched, and again for
/// each file, so there may be more of them than fit in memory.
pub(crate) struct Patterns {
    sources: Vec<PatternSource>,
    /// The syntax of lines. Files of sequences tell their own format.
    syntax: PatternSyntax,
    /// Number of threads that parse, beside a few that read. Other work on a batch, beside the
    /// search, uses the same number.
    pub parsers: usize,
    spare: SpareParts,
}

enum PatternSource {
    Held(Vec<Arc<PatternPart>>),
    Lines(PathBuf),
    Sequences(PathBuf),
    Pairs([PathBuf; 2]),
}

/// Returns the patterns, on one strand or on both, with those of two files of paired reads; and the
/// files that the arguments name.
pub(crate) fn gather(
    args: &SearchArgs,
    pairs: Option<[PathBuf; 2]>,
    both_strands: bool,
) -> Result<(Patterns, Vec<PathBuf>)> {
    let from_files = !args.lines.is_empty() || !args.fasta.is_empty() || pairs.is_some();
    let named = args.patterns.is_empty() && !from_files;
    if named && args.words.is_empty() {
        return Err(Error::Usage("no pattern is given".into()));
    }
    let (first, files) = args.words.split_at(usize::from(named));
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let files = args.files_from.add_to(&files)?;
    if files.is_empty() && !args.files_from.is_given() {
        return Err(Error::Usage(
            "name the files to search, after the pattern".into(),
        ));
    }
    let read = args
        .lines
        .iter()
        .chain(&args.fasta)
        .chain(args.files_from.lists())
        .chain(pairs.iter().flatten());
    usage::one_stdin(read)?;
    // The other threads search meanwhile.
    let parsers = (args.resources.thread_count() / 2).clamp(1, PARSERS);
    let sources = Vec::new();
    let spare = SpareParts::default();
    let syntax = PatternSyntax {
        format: Format::Lines,
        hex: args.hex,
        both_strands,
    };
    let mut patterns = Patterns {
        sources,
        syntax,
        parsers,
        spare,
    };
    let mut words = PatternPart::default();
    for word in first.iter().chain(&args.patterns) {
        let from = words.bytes.len();
        words.bytes.extend_from_slice(word.as_bytes());
        let name = from..words.bytes.len();
        syntax
            .add_given(&mut words, name)
            .map_err(|flaw| Error::Usage(flaw.into()))?;
    }
    patterns
        .sources
        .push(PatternSource::Held(vec![Arc::new(words)]));
    let lines = args
        .lines
        .iter()
        .cloned()
        .map(PatternSource::Lines);
    let sequences = args
        .fasta
        .iter()
        .cloned()
        .map(PatternSource::Sequences);
    for source in lines
        .chain(sequences)
        .chain(pairs.map(PatternSource::Pairs))
    {
        let source = if files.len() > 1 {
            patterns.held(source)?
        } else {
            source
        };
        patterns.sources.push(source);
    }
    Ok((patterns, files))
}

impl Patterns {
    /// Returns the approximate bytes of the patterns, as far as they are known before the patterns
    /// are read.
    pub(crate) fn expected_size(&self) -> u64 {
        let size = |source: &PatternSource| match source {
            PatternSource::Held(parts) => parts
                .iter()
                .map(|part| part.bytes.len() as u64)
                .sum(),
            PatternSource::Lines(path) | PatternSource::Sequences(path) => size_of_file(path),
            PatternSource::Pairs(paths) => paths.iter().map(|path| size_of_file(path)).sum(),
        };
        self.sources.iter().map(size).sum()
    }

    /// Takes back the memory of a batch that is no longer needed.
    pub(crate) fn recycle(&self, batch: PatternBatch) {
        let parts = batch
            .parts
            .into_iter()
            .filter_map(Arc::into_inner);
        parts.for_each(|part| self.spare.put(part));
    }

    /// Returns all patterns in order, in batches of about `size` bytes. Each pattern is followed by
    /// its reverse complement if that is wanted. A source that cannot be read gives an error in its
    /// place, and ends the batches.
    pub(crate) fn batches(&self, size: u64) -> impl Iterator<Item = Result<PatternBatch>> {
        let mut sources = self.sources.iter();
        let mut reader = None;
        let mut failed = None;
        let mut enough = size / FIRST_PART;
        iter::from_fn(move || {
            let mut batch = PatternBatch::default();
            let enough = std::mem::replace(&mut enough, size);
            while failed.is_none() && batch.size() < enough {
                match self.read(&mut sources, &mut reader, &mut batch, enough, size) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(e) => (failed, reader, sources) = (Some(e), None, [].iter()),
                }
            }
            if batch.is_empty() {
                failed.take().map(Err)
            } else {
                Some(Ok(batch))
            }
        })
    }

    /// Adds patterns of the current source, or of the next one, until there are enough. Returns
    /// true if there may be more.
    fn read<'s>(
        &'s self,
        sources: &mut slice::Iter<'s, PatternSource>,
        reader: &mut Option<Reader<'s>>,
        batch: &mut PatternBatch,
        enough: u64,
        size: u64,
    ) -> Result<bool> {
        let mut open = match reader.take() {
            Some(open) => open,
            None => match sources.next() {
                Some(source) => Reader::open(source, self, size)?,
                None => return Ok(false),
            },
        };
        if open.read(batch, enough)? {
            *reader = Some(open);
        }
        Ok(true)
    }

    /// Returns a source that can be read several times. A source that is no regular file is held in
    /// memory.
    fn held(&self, source: PatternSource) -> Result<PatternSource> {
        match &source {
            PatternSource::Lines(path) | PatternSource::Sequences(path) if !path.is_file() => {
                let mut batch = PatternBatch::default();
                let mut reader = Reader::open(&source, self, u64::MAX)?;
                while reader.read(&mut batch, u64::MAX)? {}
                Ok(PatternSource::Held(batch.parts))
            }
            _ => Ok(source),
        }
    }
}

fn size_of_file(path: &Path) -> u64 {
    path.metadata().map_or(0, |about| about.len())
}

/// A source while it is read.
enum Reader<'s> {
    Held(slice::Iter<'s, Arc<PatternPart>>),
    File(PatternFile<'s>),
    Pairs(Box<PairedReads<'s>>),
}

impl<'s> Reader<'s> {
    /// Opens a source for batches of `size` bytes.
    fn open(source: &'s PatternSource, patterns: &'s Patterns, size: u64) -> Result<Self> {
        let plan = ReadPlan {
            size,
            spare: &patterns.spare,
            threads: patterns.parsers,
        };
        let (path, are_sequences) = match source {
            PatternSource::Held(parts) => return Ok(Reader::Held(parts.iter())),
            PatternSource::Pairs(paths) => {
                let files = PairedReads::open(paths, patterns.syntax, plan)?;
                return Ok(Reader::Pairs(Box::new(files)));
            }
            PatternSource::Lines(path) => (path, false),
            PatternSource::Sequences(path) => (path, true),
        };
        PatternFile::open(path, are_sequences, patterns.syntax, plan).map(Reader::File)
    }

    /// Adds patterns until the batch has `enough` bytes. Returns true if there may be more.
    fn read(&mut self, batch: &mut PatternBatch, enough: u64) -> Result<bool> {
        match self {
            Reader::Held(parts) => {
                while batch.size() < enough
                    && let Some(part) = parts.next()
                {
                    batch.parts.push(Arc::clone(part));
                }
                Ok(!parts.as_slice().is_empty())
            }
            Reader::File(file) => file.read(batch, enough),
            Reader::Pairs(files) => files.read(batch, enough),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_all_patterns_in_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines: Vec<String> = (0..5000).map(|n| format!("AC{n}")).collect();
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        for parsers in [1, 4] {
            let sources = Vec::new();
            let spare = SpareParts::default();
            let format = Format::Lines;
            let syntax = PatternSyntax {
                format,
                hex: false,
                both_strands: true,
            };
            let mut patterns = Patterns {
                sources,
                syntax,
                parsers,
                spare,
            };
            let source = PatternSource::Lines(file.path().to_owned());
            patterns.sources = vec![source];
            let batches: Vec<_> = patterns
                .batches(20_000)
                .map(Result::unwrap)
                .collect();
            assert!(batches.len() > 5, "{}", batches.len());
            let all: Vec<_> = batches
                .iter()
                .flat_map(|batch| &batch.parts)
                .flat_map(|part| part.iter())
                .collect();
            assert_eq!(all.len(), 10_000);
            for (n, pair) in all.chunks(2).enumerate() {
                let strand: String = n.to_string().chars().rev().collect();
                assert_eq!(pair[0].bytes, lines[n].as_bytes());
                assert_eq!(pair[1].bytes, format!("{strand}GT").as_bytes());
                assert_eq!((pair[1].name, pair[1].reverse), (pair[0].bytes, true));
            }
        }
    }
}
