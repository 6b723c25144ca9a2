//! A file that is read from its end to its start in small pieces. It asks the source for few larger
//! ones, since each may be a request to a server.

use super::block_header::fill;
use std::io::{self, Read, Seek, SeekFrom};

/// The interface through which a file is read by position. It is used as a trait object, so readers
/// are compiled once and not for each type that a caller opens.
pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// Bytes that are read at once. They hold the tables of a frame of about a thousand blocks.
const WINDOW: u64 = 16 << 10;

/// Reads a source through two windows. If bytes are wanted that are in neither, the older one is
/// filled anew, and ends with these bytes: the ones before them are likely to be wanted next. The
/// other one stays, since the start of a frame is read between two reads of its end.
pub(super) struct BackwardReader<'a> {
    source: &'a mut dyn ReadSeek,
    size: u64,
    position: u64,
    /// The older window first.
    windows: [Window; 2],
}

/// Bytes of the source from `start` on.
#[derive(Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The bytes from a position of the source on.
    fn from(&self, position: u64) -> &[u8] {
        let from = position.checked_sub(self.start);
        let from = from.and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.bytes.get(from..))
            .unwrap_or_default()
    }
}

impl<'a> BackwardReader<'a> {
    pub(super) fn new(source: &'a mut dyn ReadSeek) -> io::Result<Self> {
        let size = source.seek(SeekFrom::End(0))?;
        Ok(BackwardReader {
            source,
            size,
            position: size,
            windows: Default::default(),
        })
    }

    /// The bytes at the position that are in a window.
    fn here(&self) -> &[u8] {
        let [older, newer] = &self.windows;
        let here = newer.from(self.position);
        match here.is_empty() {
            true => older.from(self.position),
            false => here,
        }
    }

    fn fill(&mut self, wanted: u64) -> io::Result<()> {
        let end = self.size.min(self.position + wanted);
        let start = end.saturating_sub(WINDOW).min(self.position);
        self.source.seek(SeekFrom::Start(start))?;
        self.windows.rotate_left(1);
        let [_, newer] = &mut self.windows;
        newer.start = start;
        newer.bytes.resize((end - start) as usize, 0);
        let came = fill(self.source, &mut newer.bytes)?;
        newer.bytes.truncate(came);
        Ok(())
    }
}

impl Read for BackwardReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let here = self.here().len();
        if here < out.len() && self.position + (here as u64) < self.size {
            if out.len() as u64 > WINDOW {
                self.source.seek(SeekFrom::Start(self.position))?;
                let came = self.source.read(out)?;
                self.position += came as u64;
                return Ok(came);
            }
            self.fill(out.len() as u64)?;
        }
        let came = self.here().read(out)?;
        self.position += came as u64;
        Ok(came)
    }
}

impl Seek for BackwardReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use std::io::Cursor;

    /// Counts the reads.
    struct Counted(Cursor<Vec<u8>>, usize);

    impl Read for Counted {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            self.0.read(out)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn all_bytes_are_right_and_small_pieces_share_a_read() {
        let bytes = cases::random(100_000, 3);
        let mut source = Counted(Cursor::new(bytes.clone()), 0);
        let mut reader = BackwardReader::new(&mut source).unwrap();
        let mut at = bytes.len() as u64;
        for size in [1, 36, 500, 23, 9000, 40_000, 17_000, 5]
            .into_iter()
            .cycle()
            .take(11)
        {
            at = at.saturating_sub(size);
            reader.seek(SeekFrom::Start(at)).unwrap();
            let mut piece = vec![0; size as usize];
            reader.read_exact(&mut piece).unwrap();
            assert!(
                bytes[at as usize..].starts_with(&piece),
                "{size} bytes at {at}"
            );
        }
        reader.seek(SeekFrom::End(-3)).unwrap();
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes[bytes.len() - 3..]);
        let mut source = Counted(Cursor::new(bytes), 0);
        let mut reader = BackwardReader::new(&mut source).unwrap();
        for at in (90_000..100_000).rev().step_by(100) {
            reader.seek(SeekFrom::Start(at)).unwrap();
            reader.read_exact(&mut [0]).unwrap();
        }
        assert!(source.1 <= 3, "{} reads", source.1);
    }
}
