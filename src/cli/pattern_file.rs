//! A file of patterns that several threads read and parse: they take turns at reading a chunk,
//! which each parses by itself.

use super::input::OpenInput;
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

/// A chunk is no larger than one of so many parts of a batch.
const CHUNKS: u64 = 64;
const LARGEST_CHUNK: u64 = 1 << 20;

/// Bytes of a batch for which another thread is worth its start.
const PER_THREAD: u64 = 4 << 20;

/// A file of patterns that is being read.
pub struct PatternFile<'s> {
    chunks: PatternChunks<'s>,
    syntax: PatternSyntax,
    /// Lines of it that were read.
    lines: u64,
    path: &'s Path,
}

impl<'s> PatternFile<'s> {
    /// Opens a file of lines, or standard input, for batches of a size, read into spare memory.
    pub fn lines(
        path: &'s Path,
        syntax: PatternSyntax,
        size: u64,
        spare: &'s SpareParts,
    ) -> Result<Self> {
        let chunks = |input: OpenInput| Ok(PatternChunks::lines(input.source, chunk(size)));
        Self::open(path, syntax, spare, chunks)
    }

    /// Opens a file of sequences.
    pub fn sequences(
        path: &'s Path,
        syntax: PatternSyntax,
        size: u64,
        spare: &'s SpareParts,
    ) -> Result<Self> {
        let chunks = |input: OpenInput| PatternChunks::sequences(input.source, chunk(size));
        Self::open(path, syntax, spare, chunks)
    }

    fn open(
        path: &'s Path,
        syntax: PatternSyntax,
        spare: &'s SpareParts,
        chunks: impl FnOnce(OpenInput) -> Result<PatternChunks<'s>>,
    ) -> Result<Self> {
        let chunks = OpenInput::open(&Name::from(path), true).and_then(chunks);
        let chunks = chunks.map_err(|e| failed(path, e))?;
        let syntax = PatternSyntax { format: chunks.format, ..syntax };
        let chunks = chunks.with_room(1 + usize::from(syntax.both_strands), spare);
        Ok(PatternFile { chunks, syntax, lines: 0, path })
    }

    /// Adds patterns until the batch has `enough` bytes; says whether there may be more.
    pub fn read(&mut self, batch: &mut PatternBatch, enough: u64, threads: usize) -> Result<bool> {
        let threads = threads.min((enough / PER_THREAD) as usize);
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
        let is_enough = || size.load(Ordering::Relaxed) >= bytes;
        let chunks = iter::from_fn(|| if is_enough() { None } else { self.chunks.next() });
        side_by_side(threads, chunks, |chunk| {
            let parsed = chunk.map(|chunk| syntax.parse(chunk));
            let more = parsed.as_ref().map_or(0, |parsed| parsed.part.size());
            size.fetch_add(more, Ordering::Relaxed);
            parsed
        })
    }
}

/// The size of a chunk in batches of a size.
fn chunk(size: u64) -> usize {
    (size / CHUNKS).clamp(1, LARGEST_CHUNK) as usize
}

/// An error with a file of patterns.
fn failed(path: &Path, e: impl Display) -> Error {
    Error::Usage(format!("{}: {e}", path.display()).into())
}
