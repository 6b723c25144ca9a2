//! A file of patterns that several threads read and parse: they take turns at having a chunk read,
//! in pieces side by side, which each parses by itself.

use super::input::{InputSource, OpenInput};
use super::input_name::Name;
use super::pattern_batch::{PatternBatch, SpareParts};
use super::pattern_chunks::PatternChunks;
use super::pattern_syntax::{ParsedChunk, PatternSyntax};
use super::side_by_side::side_by_side;
use bwz::{Error, Result};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, iter};

/// A chunk that one thread reads is no larger than one of so many parts of a batch. Where several
/// read it, it has that for each of so many of them.
const CHUNKS: u64 = 64;
const LARGEST_PIECE: u64 = 1 << 20;
const MOST_PIECES: usize = 4;

/// Bytes of a batch for which another thread is worth its start.
const PER_THREAD: u64 = 4 << 20;

/// Threads that search, of which one thread reads beside so many.
const READERS_SHARE: usize = 2;

/// A file of patterns that is being read.
pub struct PatternFile<'s> {
    chunks: PatternChunks<'s>,
    syntax: PatternSyntax,
    /// Lines of it that were read.
    lines: u64,
    path: &'s Path,
    threads: usize,
}

/// How files of patterns are read: in batches of a size, into spare memory, by so many threads.
#[derive(Clone, Copy)]
pub struct ReadPlan<'s> {
    pub size: u64,
    pub spare: &'s SpareParts,
    pub threads: usize,
}

impl ReadPlan<'_> {
    /// Bytes of a chunk.
    fn chunk(&self) -> usize {
        let piece = (self.size / CHUNKS).clamp(1, LARGEST_PIECE) as usize;
        piece * self.threads.clamp(1, MOST_PIECES)
    }
}

impl<'s> PatternFile<'s> {
    /// Opens a file of lines, or standard input.
    pub fn lines(path: &'s Path, syntax: PatternSyntax, plan: ReadPlan<'s>) -> Result<Self> {
        let chunks = |source| Ok(PatternChunks::lines(source, plan.chunk()));
        Self::open(path, syntax, plan, chunks)
    }

    /// Opens a file of sequences.
    pub fn sequences(path: &'s Path, syntax: PatternSyntax, plan: ReadPlan<'s>) -> Result<Self> {
        let chunks = |source| PatternChunks::sequences(source, plan.chunk());
        Self::open(path, syntax, plan, chunks)
    }

    fn open(
        path: &'s Path,
        syntax: PatternSyntax,
        ReadPlan { spare, threads, .. }: ReadPlan<'s>,
        chunks: impl FnOnce(InputSource) -> Result<PatternChunks<'s>>,
    ) -> Result<Self> {
        let input = OpenInput::open(&Name::from(path), true).map(|mut input| {
            input.source.read_beside(READERS_SHARE * threads);
            input.source
        });
        let chunks = input.and_then(chunks).map_err(|e| failed(path, e))?;
        let syntax = PatternSyntax { format: chunks.format, ..syntax };
        let chunks = chunks.with_room(1 + usize::from(syntax.both_strands), spare);
        Ok(PatternFile { chunks, syntax, lines: 0, path, threads })
    }

    /// Adds patterns until the batch has `enough` bytes; says whether there may be more.
    pub fn read(&mut self, batch: &mut PatternBatch, enough: u64) -> Result<bool> {
        let threads = self.threads.min((enough / PER_THREAD) as usize);
        for parsed in self.parse(enough.saturating_sub(batch.size()), threads) {
            let ParsedChunk { part, lines, flaw } = parsed.map_err(|e| failed(self.path, e))?;
            batch.push(Arc::new(part));
            self.lines += lines;
            if let Some(flaw) = flaw {
                return Err(failed(self.path, format_args!("line {}: {flaw}", self.lines)));
            }
        }
        Ok(batch.size() >= enough)
    }

    /// Parses chunks that come to so many bytes, or all that are left.
    fn parse(&mut self, bytes: u64, threads: usize) -> Vec<io::Result<ParsedChunk>> {
        let (size, syntax) = (AtomicU64::new(0), self.syntax);
        let add = |more: u64| size.fetch_add(more, Ordering::Relaxed);
        let is_enough = || size.load(Ordering::Relaxed) >= bytes;
        let chunks = iter::from_fn(|| if is_enough() { None } else { self.chunks.next() });
        // What is being parsed counts already.
        let chunks = chunks.inspect(|chunk| {
            add(chunk.as_ref().map_or(0, |chunk| chunk.part.size()));
        });
        side_by_side(threads, chunks, |chunk| {
            let chunk = chunk?;
            let read = chunk.part.size();
            let parsed = syntax.parse(chunk);
            add(parsed.part.size().saturating_sub(read));
            Ok(parsed)
        })
    }
}

/// An error with a file of patterns.
fn failed(path: &Path, e: impl Display) -> Error {
    Error::Usage(format!("{}: {e}", path.display()).into())
}
