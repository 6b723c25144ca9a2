//! Reading a regular file by several threads: one copies 2 to 3 GB/s out of the page cache, a third
//! of that time spent on the first touch of the memory that it fills, and a GPU sorts faster.
//!
//! A large read is cut into pieces, which threads read by position. What comes out is what one
//! thread would get: the bytes up to the first that could not be read. Writing has no such thing,
//! since file systems let one thread at a time write to a file.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::iter;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Most threads that read.
const READERS: usize = 8;
/// Bytes that a thread reads at a time.
const PIECE: usize = 2 << 20;
/// What a reader's stack takes of a limited address space.
const STACK: usize = 128 << 10;

/// A regular file, read from where it stands.
pub struct ParallelReads {
    pub file: File,
    readers: usize,
}

/// How much of a piece was read, and why no more.
struct Filled {
    piece: usize,
    len: usize,
    error: Option<io::Error>,
}

impl ParallelReads {
    /// Reads by one thread.
    pub fn new(file: File) -> Self {
        ParallelReads { file, readers: 1 }
    }

    /// Reads by half as many threads as compute, which have other work meanwhile.
    pub fn beside(&mut self, threads: usize) {
        self.readers = (threads / 2).clamp(1, READERS);
    }

    /// The readers for so many bytes from `start` on, of which the file may have fewer.
    fn readers(&self, start: u64, len: usize) -> io::Result<usize> {
        let left = self.file.metadata()?.len().saturating_sub(start).min(len as u64);
        Ok(self.readers.min(left.div_ceil(PIECE as u64) as usize))
    }

    /// Fills `bytes` as far as no piece is cut short or fails. An error is left to the next read if
    /// anything comes before it.
    fn read_pieces(&self, start: u64, bytes: &mut [u8], readers: usize) -> io::Result<usize> {
        let size = bytes.len();
        let pieces = Mutex::new(bytes.chunks_mut(PIECE).enumerate());
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let read = || -> Vec<Filled> {
            let fill = |(piece, bytes)| self.fill(start, piece, bytes);
            iter::from_fn(next).map(fill).collect()
        };
        let mut filled = thread::scope(|scope| {
            let reader = || thread::Builder::new().name("bwz-piece".into()).stack_size(STACK);
            // Where no more threads can be had, there are fewer.
            let others = (1..readers).map_while(|_| reader().spawn_scoped(scope, read).ok());
            let others: Vec<_> = others.collect();
            let mut filled = read();
            filled.extend(others.into_iter().flat_map(|other| other.join().expect("no panic")));
            filled
        });
        filled.sort_by_key(|filled| filled.piece);
        let mut total = 0;
        for Filled { piece, len, error } in filled {
            total += len;
            match error {
                Some(error) if total == 0 => return Err(error),
                _ if len < PIECE.min(size - piece * PIECE) => break,
                _ => {}
            }
        }
        Ok(total)
    }

    /// Reads a piece until it is full, the file ends, or an error.
    fn fill(&self, start: u64, piece: usize, bytes: &mut [u8]) -> Filled {
        let (from, mut len) = (start + (piece * PIECE) as u64, 0);
        let error = loop {
            match self.file.read_at(&mut bytes[len..], from + len as u64) {
                Ok(0) => break None,
                Ok(read) => len += read,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => break Some(e),
            }
        };
        Filled { piece, len, error }
    }
}

impl Read for ParallelReads {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.readers == 1 || bytes.len() <= PIECE {
            return self.file.read(bytes);
        }
        let start = self.file.stream_position()?;
        match self.readers(start, bytes.len())? {
            ..2 => self.file.read(bytes),
            readers => {
                let read = self.read_pieces(start, bytes, readers)?;
                self.file.seek(SeekFrom::Start(start + read as u64))?;
                Ok(read)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Five pieces and a bit, each byte different from those around it.
    fn bytes() -> Vec<u8> {
        (0..5 * PIECE as u32 + 77).map(|n| (n.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect()
    }

    fn file(bytes: &[u8]) -> ParallelReads {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        ParallelReads { file, readers: 3 }
    }

    #[test]
    fn pieces_come_in_order_from_where_the_file_stands() {
        let bytes = bytes();
        for (start, size) in [(0, bytes.len()), (0, 9 * PIECE), (1001, 3 * PIECE), (5, PIECE + 1)] {
            let mut file = file(&bytes);
            file.file.seek(SeekFrom::Start(start as u64)).unwrap();
            let (mut out, expected) = (vec![0; size], (bytes.len() - start).min(size));
            assert_eq!(file.read(&mut out).unwrap(), expected);
            assert!(out[..expected] == bytes[start..start + expected]);
            assert_eq!(file.file.stream_position().unwrap(), (start + expected) as u64);
            let mut rest = Vec::new();
            file.read_to_end(&mut rest).unwrap();
            assert!(rest == bytes[start + expected..]);
        }
    }

    #[test]
    fn a_file_that_got_shorter_ends_where_it_does() {
        let bytes = bytes();
        let file = file(&bytes);
        for len in [0, 10, PIECE, 2 * PIECE + 3] {
            file.file.set_len(0).unwrap();
            file.file.write_all_at(&bytes[..len], 0).unwrap();
            let mut out = vec![0; bytes.len()];
            assert_eq!(file.read_pieces(0, &mut out, 3).unwrap(), len);
            assert!(out[..len] == bytes[..len]);
        }
    }

    #[test]
    fn an_error_is_that_of_the_first_bytes_that_cannot_be_read() {
        let dir = File::open("/").unwrap();
        let file = ParallelReads { file: dir, readers: 3 };
        let error = file.read_pieces(0, &mut vec![0; 3 * PIECE], 3).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
    }
}
