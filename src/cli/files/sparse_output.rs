//! Sparse files: whole pages of zeros are skipped instead of written, which leaves a hole in a new
//! file.

use rustix::fs::{OFlags, fcntl_getfl};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// Bytes of the smallest hole, which begins at a multiple of its size. This is the block size of
/// most file systems.
const PAGE: usize = 4 << 10;

/// The position of the next byte, and the number of bytes skipped before it.
pub(crate) struct Holes {
    pos: u64,
    skipped: u64,
}

impl Holes {
    /// Creates the holes of a file whose position is at its end, so that skipped bytes are zero.
    /// `None` for a file that is not regular, that is overwritten in its middle, or that is only
    /// appended to, at whatever position it is.
    pub(crate) fn at_end_of(mut file: &File) -> Option<Self> {
        let metadata = file
            .metadata()
            .ok()
            .filter(|metadata| metadata.is_file())?;
        let pos = file.stream_position().ok()?;
        (pos == metadata.len() && !appends(file)).then_some(Holes { pos, skipped: 0 })
    }

    /// Writes or skips some of `bytes`, as [`Write::write`] does.
    pub(crate) fn write(&mut self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.zeros(bytes);
        if skipped > 0 {
            self.pos += skipped as u64;
            self.skipped += skipped as u64;
            return Ok(skipped);
        }
        let len = self.data(bytes);
        if self.skipped > 0 {
            file.seek(SeekFrom::Start(self.pos))?;
            self.skipped = 0;
        }
        let written = file.write(&bytes[..len])?;
        self.pos += written as u64;
        Ok(written)
    }

    /// If the last byte was skipped, writes it, because it gives the file its size.
    pub(crate) fn finish(&mut self, mut file: &File) -> io::Result<()> {
        if self.skipped == 0 {
            return Ok(());
        }
        self.skipped = 0;
        file.seek(SeekFrom::Start(self.pos - 1))?;
        file.write_all(&[0])
    }

    /// Returns the number of bytes at the start of `bytes` that are whole pages of zeros.
    fn zeros(&self, bytes: &[u8]) -> usize {
        match self.to_page() {
            0 => {
                PAGE * bytes
                    .chunks_exact(PAGE)
                    .take_while(|page| is_zero(page))
                    .count()
            }
            _ => 0,
        }
    }

    /// Returns the number of bytes up to the next whole page of zeros.
    fn data(&self, bytes: &[u8]) -> usize {
        let first = self.to_page().min(bytes.len());
        let pages = bytes[first..].chunks(PAGE);
        let other = pages.take_while(|page| page.len() < PAGE || !is_zero(page));
        first + other.map(<[u8]>::len).sum::<usize>()
    }

    /// Returns the number of bytes up to the next page.
    fn to_page(&self) -> usize {
        (self.pos.next_multiple_of(PAGE as u64) - self.pos) as usize
    }
}

fn is_zero(page: &[u8]) -> bool {
    *page == [0; PAGE]
}

fn appends(file: &File) -> bool {
    fcntl_getfl(file).map_or(true, |flags| flags.contains(OFlags::APPEND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    /// Writes pieces of several sizes, at the start of a file and after its first bytes.
    #[test]
    fn a_file_with_holes_reads_as_if_it_had_none() {
        let mut bytes = vec![0; 400_000];
        for at in [0, 4095, 100_000, 100_001, 163_840, 204_799, 300_000] {
            bytes[at] = 1;
        }
        for (before, piece) in [
            (0, 1 << 20),
            (0, 4096),
            (100, 4097),
            (5000, 300_000),
            (1, 77),
        ] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&vec![7; before]).unwrap();
            let mut holes = Holes::at_end_of(file.as_file()).unwrap();
            for mut piece in bytes.chunks(piece) {
                while !piece.is_empty() {
                    let written = holes.write(file.as_file(), piece).unwrap();
                    piece = &piece[written..];
                }
            }
            holes.finish(file.as_file()).unwrap();
            let found = std::fs::read(file.path()).unwrap();
            assert!(
                found == [&vec![7; before][..], &bytes].concat(),
                "{before}, {piece}"
            );
            let on_disk = 512 * file.as_file().metadata().unwrap().blocks();
            // Pieces that hold no whole page of the file leave no holes.
            let has_pages = piece >= 2 * PAGE || before == 0 && piece == PAGE;
            assert!(!has_pages || on_disk < 200_000, "{on_disk} bytes on disk");
            assert_eq!(
                file.as_file().stream_position().unwrap(),
                found.len() as u64
            );
            file.as_file().rewind().unwrap();
            assert!(Holes::at_end_of(file.as_file()).is_none(), "in the middle");
        }
    }
}
