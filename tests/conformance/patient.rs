//! A sound file whose fields are changed, and whose checksums around them are made right again.

use crate::frames::{
    BLOCK_HEADER_SIZE, Block, FOOTER_SIZE, FRAME_HEADER_SIZE, Frame, SEEK_MARKER, read_uint,
};
use std::ops::Range;

/// A file whose first frame has no tables behind its header.
#[derive(Clone)]
pub struct Patient(pub Vec<u8>);

/// Offset of the first block.
pub const BLOCK: usize = FRAME_HEADER_SIZE;

/// Offset of its payload.
pub const PAYLOAD: usize = BLOCK + BLOCK_HEADER_SIZE;

impl Patient {
    pub fn of(blocks: &[Block]) -> Self {
        Patient(Frame::of(blocks).to_bytes())
    }

    /// Start of the Seek_Table in a file with one block, or with none.
    pub fn table(&self) -> usize {
        if self.0[BLOCK..].starts_with(&SEEK_MARKER) {
            return BLOCK;
        }
        PAYLOAD + read_uint(&self.0[BLOCK + 17..BLOCK + 22]) as usize
    }

    pub fn footer(&self) -> usize {
        self.0.len() - FOOTER_SIZE
    }

    pub fn cut(mut self, size: usize) -> Self {
        self.0.truncate(size);
        self
    }

    /// Changes bytes without a checksum.
    pub fn set(mut self, at: usize, bytes: &[u8]) -> Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn seal(self, checked: Range<usize>, at: usize) -> Self {
        let checksum = crc32fast::hash(&self.0[checked]);
        self.set(at, &checksum.to_le_bytes())
    }

    /// Changes a field of Frame_Header.
    pub fn frame(self, at: usize, bytes: &[u8]) -> Self {
        self.set(at, bytes).seal(0..19, 19)
    }

    /// Changes a field of the first Block_Header.
    pub fn block(self, at: usize, bytes: &[u8]) -> Self {
        self.set(BLOCK + at, bytes)
            .seal(BLOCK..BLOCK + 37, BLOCK + 37)
    }

    /// Changes a field of the last Footer.
    pub fn foot(self, at: usize, bytes: &[u8]) -> Self {
        let footer = self.footer();
        self.set(footer + at, bytes)
            .seal(footer..footer + 28, footer + 28)
    }
}
