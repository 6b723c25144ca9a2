//! Writer of a block of known size, from its start on. Bytes that do not fit are an error.
//!
//! Most values are short. A move copies a fixed number of bytes, which is faster, and the next move
//! overwrites the excess.

use super::short_moves::USUAL;
use crate::base::allocation;
use crate::base::error::Flaw;
use std::ops::{Deref, Range};

/// A block of which the first `len` bytes are written.
pub(super) struct BlockWriter {
    /// The whole block. From `len` on it has zeros and the excess of moves.
    bytes: Vec<u8>,
    len: usize,
}

impl BlockWriter {
    /// Creates a block of `size` bytes, none of them written.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn new(size: usize) -> Result<Self, Flaw> {
        let bytes = allocation::zeroed(size).ok_or(Flaw::NO_MEMORY)?;
        Ok(BlockWriter { bytes, len: 0 })
    }

    /// Appends the first `len` of `bytes`. Bytes behind these may be written too, but are no part
    /// of the block.
    ///
    /// # Errors
    /// [`Flaw`] if they do not fit, here and in the other methods that append.
    #[inline(always)]
    pub(super) fn push_first(&mut self, bytes: &[u8], len: usize) -> Result<(), Flaw> {
        let room = self.bytes[self.len..].first_chunk_mut::<USUAL>();
        match (bytes.first_chunk::<USUAL>(), room) {
            (Some(usual), Some(room)) if len <= USUAL => {
                *room = *usual;
                self.len += len;
                Ok(())
            }
            _ => self.push(&bytes[..len]),
        }
    }

    /// Appends bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Flaw> {
        self.bytes[self.len..]
            .get_mut(..bytes.len())
            .ok_or(SIZE)?
            .copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }

    /// Appends a copy of a range of the block itself.
    #[inline(always)]
    pub(super) fn push_within(&mut self, range: Range<usize>) -> Result<(), Flaw> {
        let (before, room) = self.bytes.split_at_mut(self.len);
        let len = range.len();
        match (
            before[range.start..].first_chunk::<USUAL>(),
            room.first_chunk_mut::<USUAL>(),
        ) {
            (Some(usual), Some(room)) if len <= USUAL => *room = *usual,
            _ => room
                .get_mut(..len)
                .ok_or(SIZE)?
                .copy_from_slice(&before[range]),
        }
        self.len += len;
        Ok(())
    }

    /// Returns the written bytes from `start` on.
    pub(super) fn from(&mut self, start: usize) -> &mut [u8] {
        &mut self.bytes[start..self.len]
    }

    /// Returns the block.
    ///
    /// # Errors
    /// A [`Flaw`] if it is not written to its end.
    pub(super) fn whole(self) -> Result<Vec<u8>, Flaw> {
        if self.len == self.bytes.len() {
            Ok(self.bytes)
        } else {
            Err(SIZE)
        }
    }
}

impl Deref for BlockWriter {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

const SIZE: Flaw = Flaw("the lines of a block of fields do not add up to it");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_those_of_slices_where_there_is_room() {
        let bytes: Vec<u8> = (0..60).collect();
        for (start, len, size) in (0..40).flat_map(|n| (0..20).map(move |len| (n, len, 30 + n * 2)))
        {
            let begun = || {
                let mut block = BlockWriter::new(size).unwrap();
                block.push(&bytes[..30]).unwrap();
                block
            };
            let check = |block: BlockWriter, pushed: Result<(), Flaw>, more: &[u8]| {
                let fits = 30 + more.len() <= size;
                assert_eq!(pushed.is_ok(), fits);
                assert_eq!(
                    block[..],
                    [&bytes[..30], if fits { more } else { &[] }].concat()
                );
                assert_eq!(
                    block.whole().is_ok(),
                    fits && size == 30 + more.len() || size == 30
                );
            };
            let mut block = begun();
            let pushed = block.push_first(&bytes[start..], len);
            check(block, pushed, &bytes[start..start + len]);
            let mut block = begun();
            let pushed = block.push_first(&bytes[start..start + len], len);
            check(block, pushed, &bytes[start..start + len]);
            let mut block = begun();
            let range = start.min(30 - len)..start.min(30 - len) + len;
            let pushed = block.push_within(range.clone());
            check(block, pushed, &bytes[range]);
        }
    }

    #[test]
    fn what_was_too_much_is_written_over() {
        let mut block = BlockWriter::new(40).unwrap();
        block.push_first(&[1; 20], 3).unwrap();
        block.from(1).fill(2);
        block.push_first(&[3; 20], 17).unwrap();
        block.push_within(0..2).unwrap();
        block.push(&[4; 18]).unwrap();
        let parts: [&[u8]; 5] = [&[1], &[2; 2], &[3; 17], &[1, 2], &[4; 18]];
        assert_eq!(block.whole(), Ok(parts.concat()));
    }
}
