//! The raw stream in blocks, as they are read.

use crate::bwt;
use crate::error::Result;
use crate::events::{Listener, Step};
use crate::threads;
use std::io::{self, Read};
use std::mem;
use std::time::Instant;

/// A slice of the raw stream that is compressed alone.
pub struct RawBlock {
    pub bytes: Vec<u8>,
    pub offset: u64,
    /// There is no other block, so that every thread can take part in sorting this one.
    pub alone: bool,
}

/// Cuts a stream into blocks, of which only the last may be short.
pub struct RawBlocks<R> {
    pub input: R,
    pub block_size: u32,
    pub offset: u64,
    pub listener: Listener,
}

impl<R: Read> RawBlocks<R> {
    /// Reads a whole block, or what is left. Memory that is not read into is never touched.
    fn read(&mut self) -> Result<Vec<u8>> {
        let (size, small) = (self.block_size as usize, threads::SMALL as usize);
        // Most first blocks are small, and then the memory for a large one takes longer to get than they to be compressed.
        let mut bytes = bwt::zeroed(if self.offset == 0 { size.min(small) } else { size })?;
        let mut len = self.fill(&mut bytes)?;
        if len == bytes.len() && len < size {
            let start = mem::replace(&mut bytes, bwt::zeroed(size)?);
            bytes[..len].copy_from_slice(&start);
            len += self.fill(&mut bytes[len..])?;
        }
        bytes.truncate(len);
        Ok(bytes)
    }

    /// Reads until `bytes` is full or nothing is left, and says how much there was.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut len = 0;
        while len < bytes.len() {
            match self.input.read(&mut bytes[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(len)
    }
}

impl<R: Read> Iterator for RawBlocks<R> {
    type Item = Result<RawBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        let (offset, from) = (self.offset, Instant::now());
        match self.read() {
            Err(e) => Some(Err(e)),
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => {
                self.offset += bytes.len() as u64;
                self.listener.done(offset, [(Step::Read, from, Instant::now())]);
                Some(Ok(RawBlock { bytes, offset, alone: false }))
            }
        }
    }
}
