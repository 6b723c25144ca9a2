//! The file as searches read it: by position and from any thread. What they read is counted.

use super::SearchCost;
use crate::error::Result;
use crate::frame::{CUT_OFF, read_payload};
use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A file that several threads read from, one at a time.
pub(crate) struct SharedInput<R> {
    input: Mutex<R>,
    coded_bytes: AtomicU64,
    segments: AtomicU64,
    blocks: AtomicU64,
}

impl<R: Read + Seek> SharedInput<R> {
    pub fn new(input: R) -> Self {
        SharedInput {
            input: Mutex::new(input),
            coded_bytes: AtomicU64::new(0),
            segments: AtomicU64::new(0),
            blocks: AtomicU64::new(0),
        }
    }

    /// The `size` bytes at `offset`.
    pub fn read(&self, offset: u64, size: u32) -> Result<Vec<u8>> {
        let bytes = self.with_input(|input| {
            input.seek(SeekFrom::Start(offset))?;
            Ok(read_payload(input, size)?)
        })?;
        self.coded_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if bytes.len() < size as usize {
            return Err(CUT_OFF.at(None, offset + bytes.len() as u64));
        }
        Ok(bytes)
    }

    /// Gives the file to `work` alone.
    pub fn with_input<T>(&self, work: impl FnOnce(&mut R) -> Result<T>) -> Result<T> {
        work(&mut self.input.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn segment_decoded(&self) {
        self.segments.fetch_add(1, Ordering::Relaxed);
    }

    /// A whole block of so many bytes in the file was read and decoded.
    pub fn block_decoded(&self, coded_size: u64) {
        self.blocks.fetch_add(1, Ordering::Relaxed);
        self.coded_bytes.fetch_add(coded_size, Ordering::Relaxed);
    }

    /// What was read and decoded so far.
    pub fn cost(&self) -> SearchCost {
        SearchCost {
            coded_bytes: self.coded_bytes.load(Ordering::Relaxed),
            segments: self.segments.load(Ordering::Relaxed),
            blocks: self.blocks.load(Ordering::Relaxed),
        }
    }
}
