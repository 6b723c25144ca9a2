//! The file as searches read it: by position and from any thread. What that takes is counted.

use super::search_results::ReadCost;
use crate::error::Result;
use crate::frame::{CUT_OFF, read_payload};
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file that several threads read from, one at a time.
pub(crate) struct SharedInput<R>(Mutex<(R, ReadCost)>);

impl<R: Read + Seek> SharedInput<R> {
    pub fn new(input: R) -> Self {
        SharedInput(Mutex::new((input, ReadCost::default())))
    }

    fn lock(&self) -> MutexGuard<'_, (R, ReadCost)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the file to `work` alone.
    pub fn with_input<T>(&self, work: impl FnOnce(&mut R) -> Result<T>) -> Result<T> {
        work(&mut self.lock().0)
    }

    /// The `size` bytes at `offset`.
    pub fn read(&self, offset: u64, size: u64) -> Result<Vec<u8>> {
        let (input, cost) = &mut *self.lock();
        input.seek(SeekFrom::Start(offset))?;
        let bytes = read_payload(input, size)?;
        cost.coded_bytes += bytes.len() as u64;
        if (bytes.len() as u64) < size {
            return Err(CUT_OFF.at(None, offset + bytes.len() as u64));
        }
        Ok(bytes)
    }

    /// So many slices were decoded for themselves.
    pub fn slices_decoded(&self, count: u64) {
        self.lock().1.slices += count;
    }

    /// A whole block of so many bytes in the file was read and decoded.
    pub fn block_decoded(&self, coded_size: u64) {
        let cost = &mut self.lock().1;
        cost.blocks += 1;
        cost.coded_bytes += coded_size;
    }

    /// What was read and decoded so far.
    pub fn cost(&self) -> ReadCost {
        self.lock().1
    }
}
