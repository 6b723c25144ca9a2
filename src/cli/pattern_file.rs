//! A file of patterns that several threads read and parse: they take turns at reading a chunk,
//! which each parses by itself.

use super::input::Input;
use super::input_name::Name;
use super::pattern_batch::PatternBatch;
use super::pattern_chunks::PatternChunks;
use super::pattern_syntax::{Chunk, ParsedChunk, PatternSyntax};
use bwz::{Error, Result};
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, iter, thread};

/// A chunk is no larger than one of so many parts of a batch.
const CHUNKS: u64 = 64;
const LARGEST_CHUNK: u64 = 1 << 20;

/// Bytes of a batch for which another thread is worth its start.
const PER_THREAD: u64 = 4 << 20;

/// What the stack of such a thread takes of a limited address space.
const STACK: usize = 128 << 10;

/// A file of patterns that is being read.
pub struct PatternFile<'s> {
    chunks: PatternChunks<'s>,
    syntax: PatternSyntax,
    /// Lines of it that were read.
    lines: u64,
    path: &'s Path,
}

impl<'s> PatternFile<'s> {
    /// Opens a file of lines, or standard input, for batches of a size.
    pub fn lines(path: &'s Path, syntax: PatternSyntax, size: u64) -> Result<Self> {
        Self::open(path, syntax, |input| Ok(PatternChunks::lines(input.source, chunk(size))))
    }

    /// Opens a file of sequences.
    pub fn sequences(path: &'s Path, syntax: PatternSyntax, size: u64) -> Result<Self> {
        Self::open(path, syntax, |input| PatternChunks::sequences(input.source, chunk(size)))
    }

    fn open(
        path: &'s Path,
        syntax: PatternSyntax,
        chunks: impl FnOnce(Input) -> Result<PatternChunks<'s>>,
    ) -> Result<Self> {
        let chunks = Input::open(&Name::from(path), true).and_then(chunks);
        let chunks = chunks.map_err(|e| failed(path, e))?;
        let syntax = PatternSyntax { format: chunks.format, ..syntax };
        let chunks = chunks.with_room(1 + usize::from(syntax.both_strands));
        Ok(PatternFile { chunks, syntax, lines: 0, path })
    }

    /// Adds patterns until the batch has `enough` bytes; says whether there may be more.
    pub fn read(&mut self, batch: &mut PatternBatch, enough: u64, threads: usize) -> Result<bool> {
        let threads = threads.min((enough / PER_THREAD) as usize);
        let mut parsed = self.parse(enough.saturating_sub(batch.size()), threads);
        parsed.sort_by_key(|(number, _)| *number);
        for (_, parsed) in parsed {
            let ParsedChunk { part, lines, flaw } = parsed.map_err(|e| failed(self.path, e))?;
            batch.push(Arc::new(part));
            self.lines += lines;
            if let Some(flaw) = flaw {
                return Err(failed(self.path, format_args!("line {}: {flaw}", self.lines)));
            }
        }
        Ok(batch.size() >= enough)
    }

    /// Parses chunks that come to so many bytes, or all that are left, and gives each with its
    /// number.
    fn parse(&mut self, bytes: u64, threads: usize) -> Vec<(usize, io::Result<ParsedChunk>)> {
        let chunks = Mutex::new(self.chunks.by_ref().enumerate());
        let (size, syntax) = (AtomicU64::new(0), self.syntax);
        let next = || {
            let mut chunks = chunks.lock().unwrap_or_else(PoisonError::into_inner);
            if size.load(Ordering::Relaxed) < bytes { chunks.next() } else { None }
        };
        let parse = |(number, chunk): (usize, io::Result<Chunk>)| {
            let parsed = chunk.map(|chunk| syntax.parse(chunk));
            let more = parsed.as_ref().map_or(0, |parsed| parsed.part.size());
            size.fetch_add(more, Ordering::Relaxed);
            (number, parsed)
        };
        let work = || iter::from_fn(next).map(parse).collect();
        thread::scope(|scope| {
            let parser = || thread::Builder::new().name("bwz-parse".into()).stack_size(STACK);
            // Where no more threads can be had, there are fewer.
            let others = (1..threads).map_while(|_| parser().spawn_scoped(scope, work).ok());
            let others: Vec<_> = others.collect();
            let mut parsed: Vec<_> = work();
            parsed.extend(others.into_iter().flat_map(|other| other.join().expect("no panic")));
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
