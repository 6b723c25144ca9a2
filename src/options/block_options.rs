//! The options that cut a stream into blocks.

use super::{MAX_BLOCK_SIZE, Options, level_block_size};
use crate::base::error::{Error, Result};

impl Options {
    /// Sets the block size by level: `1 MiB << (level - 1)`, so 1 MiB at 1 and 256 MiB at 9.
    ///
    /// # Errors
    /// [`Error::Usage`] if `level` is not in `1..=9`.
    pub fn level(self, level: u8) -> Result<Self> {
        if !(1..=9).contains(&level) {
            return Err(Error::Usage(
                format!("level {level} is not from 1 to 9").into(),
            ));
        }
        self.with_block_size(level_block_size(level))
    }

    /// Sets the raw size of a block in bytes, for sizes that no level has.
    ///
    /// A block above 2 GiB takes 10 bytes of memory per byte to sort, a smaller one 6. A block
    /// above 4 GiB takes 7 bytes per byte to restore, a smaller one 6. One GPU sorts a block below
    /// 4 GiB if it has 27 bytes of memory per byte, and restores a block below 16 GiB if it has 15.
    ///
    /// # Errors
    /// [`Error::Usage`] if `bytes` is 0 or above [`MAX_BLOCK_SIZE`].
    pub fn with_block_size(mut self, bytes: u64) -> Result<Self> {
        if bytes == 0 || bytes > MAX_BLOCK_SIZE {
            return Err(Error::Usage(
                format!("block size {bytes} is not from 1 to {MAX_BLOCK_SIZE} bytes").into(),
            ));
        }
        self.block_size = bytes;
        Ok(self)
    }

    /// Ends each block behind the last `separator` in it. A block without any is full, and the last
    /// block ends with the stream. Each record of a text is then whole in one block, and blocks can
    /// be processed independently.
    ///
    /// If [`Options::index`] finds FASTA or FASTQ, blocks are cut between records, and behind a
    /// separator only if no record ends in the second half of a block.
    ///
    /// ```
    /// use bwz::{Archive, Options};
    ///
    /// let options = Options::new().with_block_size(10)?.split_at(b'\n');
    /// let mut file = Vec::new();
    /// bwz::compress(&b"one\ntwo\nthree\n"[..], &mut file, &options)?;
    /// let archive = Archive::open(std::io::Cursor::new(file), &options)?;
    /// let blocks: Vec<_> = archive.blocks().iter().map(|block| block.raw.clone()).collect();
    /// assert_eq!(blocks, [0..8, 8..14]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn split_at(mut self, separator: u8) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Raw bytes per block.
    #[must_use]
    pub fn block_size(&self) -> u64 {
        self.block_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_double_the_block() {
        let size = |level| {
            Options::new()
                .level(level)
                .map(|o| o.block_size())
        };
        assert_eq!(size(1).unwrap(), 1 << 20);
        assert_eq!(size(6).unwrap(), 32 << 20);
        assert_eq!(size(9).unwrap(), 256 << 20);
        assert!(size(0).is_err() && size(10).is_err());
    }

    #[test]
    fn block_sizes_have_bounds() {
        assert!(Options::new().with_block_size(0).is_err());
        assert!(
            Options::new()
                .with_block_size(MAX_BLOCK_SIZE)
                .is_ok()
        );
        assert!(
            Options::new()
                .with_block_size(MAX_BLOCK_SIZE + 1)
                .is_err()
        );
    }
}
