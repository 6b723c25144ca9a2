//! A block that is written from its begin on and has a size: what does not fit is an error.
//!
//! Values are short as a rule: of what is moved a fixed number of bytes is, and what was too much
//! is written over by what comes next.

use super::short_moves::USUAL;
use crate::base::allocation;
use crate::base::error::Flaw;
use std::ops::{Deref, Range};

/// The bytes of a block, of which the first are written.
pub(super) struct BlockWriter {
    /// The whole block; zeros and what was too much, from `len` on.
    bytes: Vec<u8>,
    len: usize,
}

impl BlockWriter {
    /// A block of `size` bytes, none of them written.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`].
    pub fn new(size: usize) -> Result<Self, Flaw> {
        let bytes = allocation::zeroed(size).ok_or(Flaw::NO_MEMORY)?;
        Ok(BlockWriter { bytes, len: 0 })
    }

    /// Appends the first `len` of `bytes`; those behind them are no part of the block.
    ///
    /// # Errors
    /// [`Flaw`] where there is no room for them, here and in the other ways to append.
    #[inline(always)]
    pub fn push_first(&mut self, bytes: &[u8], len: usize) -> Result<(), Flaw> {
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
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Flaw> {
        self.bytes[self.len..].get_mut(..bytes.len()).ok_or(SIZE)?.copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }

    /// Appends a range of the block itself.
    #[inline(always)]
    pub fn push_within(&mut self, range: Range<usize>) -> Result<(), Flaw> {
        let (before, room) = self.bytes.split_at_mut(self.len);
        let len = range.len();
        match (before[range.start..].first_chunk::<USUAL>(), room.first_chunk_mut::<USUAL>()) {
            (Some(usual), Some(room)) if len <= USUAL => *room = *usual,
            _ => room.get_mut(..len).ok_or(SIZE)?.copy_from_slice(&before[range]),
        }
        self.len += len;
        Ok(())
    }

    /// The bytes from `start` on.
    pub fn from(&mut self, start: usize) -> &mut [u8] {
        &mut self.bytes[start..self.len]
    }

    /// The block.
    ///
    /// # Errors
    /// A [`Flaw`] where it is not written to its end.
    pub fn whole(self) -> Result<Vec<u8>, Flaw> {
        if self.len == self.bytes.len() { Ok(self.bytes) } else { Err(SIZE) }
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
                assert_eq!(block[..], [&bytes[..30], if fits { more } else { &[] }].concat());
                assert_eq!(block.whole().is_ok(), fits && size == 30 + more.len() || size == 30);
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
