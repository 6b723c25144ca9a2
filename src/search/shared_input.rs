//! The file as searches read it: by position, from any thread. Counts the bytes, slices and blocks
//! that are read.

use super::search_results::ReadCost;
use crate::base::error::Result;
use crate::frame::ReadSeek;
use crate::frame::{CUT_OFF, read_payload};
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file that several threads read from, one at a time.
pub(crate) struct SharedInput<'a> {
    file: &'a dyn Locked,
    cost: Mutex<ReadCost>,
}

/// A file behind its lock. It is a trait object, so that searches are compiled once for all file
/// types.
pub(crate) trait Locked: Sync {
    fn with(&self, work: &mut dyn FnMut(&mut dyn ReadSeek));
}

impl<R: Read + Seek + Send> Locked for Mutex<R> {
    fn with(&self, work: &mut dyn FnMut(&mut dyn ReadSeek)) {
        work(&mut *lock(self));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

impl<'a> SharedInput<'a> {
    pub(crate) fn new(file: &'a dyn Locked) -> Self {
        SharedInput {
            file,
            cost: Mutex::default(),
        }
    }

    /// Gives the file to `work`, which has it alone.
    pub(crate) fn with_input<T>(
        &self,
        work: impl FnOnce(&mut dyn ReadSeek) -> Result<T>,
    ) -> Result<T> {
        let mut work = Some(work);
        let mut done = None;
        self.file
            .with(&mut |input| done = work.take().map(|work| work(input)));
        done.expect("a lock gives its file")
    }

    /// Reads the `size` bytes at `offset`.
    pub(crate) fn read(&self, offset: u64, size: u64) -> Result<Vec<u8>> {
        let bytes = self.with_input(|input| {
            input.seek(SeekFrom::Start(offset))?;
            Ok(read_payload(input, size)?)
        })?;
        lock(&self.cost).coded_bytes += bytes.len() as u64;
        if (bytes.len() as u64) < size {
            return Err(CUT_OFF.at(None, offset + bytes.len() as u64));
        }
        Ok(bytes)
    }

    /// Counts `count` slices that were decoded one by one.
    pub(crate) fn slices_decoded(&self, count: u64) {
        lock(&self.cost).slices += count;
    }

    /// Counts a block of `coded_size` bytes in the file that was read and decoded as a whole.
    pub(crate) fn block_decoded(&self, coded_size: u64) {
        let mut cost = lock(&self.cost);
        cost.blocks += 1;
        cost.coded_bytes += coded_size;
    }

    /// The cost of all reads so far.
    pub(crate) fn cost(&self) -> ReadCost {
        *lock(&self.cost)
    }
}
