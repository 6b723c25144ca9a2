//! A file of patterns that several threads read and parse. They take turns at reading a chunk,
//! which is read in pieces side by side. Each thread parses its chunk by itself.

use crate::cli::files::input::OpenInput;
use crate::cli::files::input_name::Name;
use crate::cli::files::side_by_side::side_by_side;
use crate::cli::search::pattern_batch::{PatternBatch, SpareParts};
use crate::cli::search::pattern_chunks::PatternChunks;
use crate::cli::search::pattern_syntax::{ParsedChunk, PatternSyntax};
use bwz::{Error, Result};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, iter};

/// Divisor of a batch's size. A piece of a chunk is at most one part in 64 of a batch.
const PIECES: u64 = 64;
/// Maximum bytes of a piece.
const LARGEST_PIECE: u64 = 1 << 20;

/// Maximum number of threads that read a chunk. A chunk has a piece for each of them.
const READERS: usize = 4;

/// Minimum bytes of a chunk, even for a small file, since it may be compressed.
const LEAST_CHUNK: u64 = 64 << 10;

/// Number of computing threads for each thread that reads beside them.
const READ_BESIDE: usize = 2;

/// Bytes of a batch that make it worth starting another thread.
const PER_THREAD: u64 = 4 << 20;

/// A file of patterns while it is read.
pub(crate) struct PatternFile<'s> {
    chunks: PatternChunks<'s>,
    syntax: PatternSyntax,
    /// Number of lines that were read.
    lines: u64,
    path: &'s Path,
    threads: usize,
    /// Number of bytes that were read.
    read: u64,
    /// Bytes of the patterns made from them.
    made: u64,
}

/// The way in which files of patterns are read: the bytes of a batch, the spare memory, and the
/// number of threads.
#[derive(Clone, Copy)]
pub(crate) struct ReadPlan<'s> {
    pub size: u64,
    pub spare: &'s SpareParts,
    pub threads: usize,
}

impl ReadPlan<'_> {
    fn readers(&self) -> usize {
        self.threads.clamp(1, READERS)
    }

    /// Returns the bytes of a chunk. `of` is the size of the file, if it is known.
    fn chunk(&self, of: Option<u64>) -> usize {
        let piece = (self.size / PIECES).clamp(1, LARGEST_PIECE);
        let all = of.unwrap_or(u64::MAX).max(LEAST_CHUNK);
        (piece * self.readers() as u64).min(all) as usize
    }
}

impl<'s> PatternFile<'s> {
    /// Opens a file of lines or of sequences, or standard input.
    pub(crate) fn open(
        path: &'s Path,
        are_sequences: bool,
        syntax: PatternSyntax,
        plan: ReadPlan<'s>,
    ) -> Result<Self> {
        let input = OpenInput::open(&Name::from(path), true);
        let chunks = input.and_then(|mut input| {
            input
                .source
                .read_beside(READ_BESIDE * plan.readers());
            let chunk = plan.chunk(input.about.size());
            match are_sequences {
                true => PatternChunks::sequences(input.source, chunk),
                false => Ok(PatternChunks::lines(input.source, chunk)),
            }
        });
        let chunks = chunks.map_err(|e| failed(path, e))?;
        let syntax = PatternSyntax {
            format: chunks.format,
            ..syntax
        };
        let chunks = chunks.with_room(1 + usize::from(syntax.both_strands), plan.spare);
        let threads = plan.threads;
        Ok(PatternFile {
            chunks,
            syntax,
            lines: 0,
            path,
            threads,
            read: 0,
            made: 0,
        })
    }

    /// Adds patterns until the batch has `enough` bytes. Returns true if there may be more.
    pub(crate) fn read(&mut self, batch: &mut PatternBatch, enough: u64) -> Result<bool> {
        let threads = self.threads.min((enough / PER_THREAD) as usize);
        for parsed in self.parse(enough.saturating_sub(batch.size()), threads) {
            let ParsedChunk { part, lines, flaw } = parsed.map_err(|e| failed(self.path, e))?;
            batch.parts.push(Arc::new(part));
            self.lines += lines;
            if let Some(flaw) = flaw {
                return Err(failed(
                    self.path,
                    format_args!("line {}: {flaw}", self.lines),
                ));
            }
        }
        Ok(!self.chunks.are_over())
    }

    /// Parses chunks until their patterns have `bytes` bytes, or to the end of the file.
    fn parse(&mut self, bytes: u64, threads: usize) -> Vec<io::Result<ParsedChunk>> {
        let syntax = self.syntax;
        let per_byte = self.made as f64 / self.read.max(1) as f64;
        let read = AtomicU64::new(0);
        let made = AtomicU64::new(0);
        // Chunks that are still being parsed are estimated from those before them.
        let is_enough = || {
            let read = read.load(Ordering::Relaxed);
            made.load(Ordering::Relaxed)
                .max((read as f64 * per_byte) as u64)
                .max(read)
                >= bytes
        };
        let chunks = iter::from_fn(|| {
            if is_enough() {
                None
            } else {
                self.chunks.next()
            }
        });
        let add = |to: &AtomicU64, more: u64| {
            to.fetch_add(more, Ordering::Relaxed);
        };
        let chunks = chunks.inspect(|chunk| {
            add(&read, chunk.as_ref().map_or(0, |chunk| chunk.size()));
        });
        let parsed = side_by_side(threads, chunks, |chunk| {
            let parsed = syntax.parse(chunk?);
            add(&made, parsed.part.size());
            Ok(parsed)
        });
        self.read += read.into_inner();
        self.made += made.into_inner();
        parsed
    }
}

/// An error with a file of patterns.
fn failed(path: &Path, e: impl Display) -> Error {
    Error::Usage(format!("{}: {e}", path.display()).into())
}
