//! Reading a regular file by several threads. One thread copies 2 to 3 GB/s out of the page cache,
//! and spends a third of that time on the first touch of the memory that it fills. A GPU sorts
//! faster.
//!
//! A large read is cut into pieces, which threads read by position. The result is the same as with
//! one thread: the bytes up to the first one that could not be read.
//!
//! The threads stay from the second large read on. Starting and ending a thread takes locks of the
//! address space, and threads that touch fresh memory wait for these locks too. The threads of the
//! first large read end with it: the threads that compute start only after it, and they come first
//! if a limit leaves no room for both.
//!
//! Files are written by one thread, since file systems do not let a second one in.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// Maximum number of threads that read.
const READERS: usize = 16;
/// Bytes that a thread reads at a time.
const PIECE: usize = 1 << 20;
/// Bytes of a reader's stack, which count in a limited address space.
const STACK: usize = 128 << 10;

/// A regular file, read from its current position.
pub(crate) struct ParallelReads {
    pub file: File,
    /// Number of threads for a large read.
    readers: usize,
    /// The threads, kept after the second large read.
    threads: Option<ThreadPool>,
    was_read: bool,
}

/// The result of reading a piece: the bytes read, and why there are no more.
struct Filled {
    is_whole: bool,
    len: usize,
    error: Option<io::Error>,
}

impl ParallelReads {
    /// Creates a reader with one thread.
    pub(crate) fn new(file: File) -> Self {
        ParallelReads {
            file,
            readers: 1,
            threads: None,
            was_read: false,
        }
    }

    /// Sets the number of readers to half the number of threads that compute, which have other work
    /// meanwhile.
    pub(crate) fn beside(&mut self, threads: usize) {
        self.readers = (threads / 2).clamp(1, READERS);
    }

    /// Starts threads for a read from `start` on. There are none if the rest of the file is too
    /// small for them or if they cannot be started.
    fn start_threads(&mut self, start: u64) -> io::Result<Option<ThreadPool>> {
        let left = self.file.metadata()?.len().saturating_sub(start);
        let readers = left
            .div_ceil(PIECE as u64)
            .min(self.readers as u64) as usize;
        if readers <= 1 {
            return Ok(None);
        }
        let threads = ThreadPoolBuilder::new()
            .num_threads(readers)
            .stack_size(STACK);
        let threads = threads
            .thread_name(|_| "bwz-piece".into())
            .build()
            .ok();
        if threads.is_none() {
            self.readers = 1;
        }
        Ok(threads)
    }
}

/// Fills the buffers in order, up to the first piece that is short or fails. If bytes come before
/// an error, the error is left to the next read.
fn read_pieces(
    file: &File,
    mut start: u64,
    buffers: &mut [IoSliceMut],
    threads: &ThreadPool,
) -> io::Result<usize> {
    let pieces = buffers
        .iter_mut()
        .flat_map(|buffer| buffer.chunks_mut(PIECE));
    let pieces = pieces.map(|piece| {
        let from = start;
        start += piece.len() as u64;
        (from, piece)
    });
    let pieces: Vec<_> = pieces.collect();
    let filled: Vec<Filled> = threads.install(|| {
        // Each piece is a task of its own, so that no piece waits behind a thread that lost its
        // processor.
        let pieces = pieces.into_par_iter().with_max_len(1);
        pieces
            .map(|(from, piece)| fill(file, from, piece))
            .collect()
    });
    let mut total = 0;
    for Filled {
        is_whole,
        len,
        error,
    } in filled
    {
        total += len;
        match error {
            Some(error) if total == 0 => return Err(error),
            _ if !is_whole => break,
            _ => {}
        }
    }
    Ok(total)
}

/// Reads a piece until it is full, the file ends, or an error occurs.
fn fill(file: &File, from: u64, bytes: &mut [u8]) -> Filled {
    let mut len = 0;
    let error = loop {
        match file.read_at(&mut bytes[len..], from + len as u64) {
            Ok(0) => break None,
            Ok(read) => len += read,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => break Some(e),
        }
    };
    Filled {
        is_whole: len == bytes.len(),
        len,
        error,
    }
}

impl Read for ParallelReads {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(bytes)])
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut]) -> io::Result<usize> {
        let size: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        if self.readers == 1 || size <= PIECE {
            return self.file.read_vectored(buffers);
        }
        let start = self.file.stream_position()?;
        let threads = match self.threads.take() {
            None => self.start_threads(start)?,
            threads => threads,
        };
        let Some(threads) = threads else {
            return self.file.read_vectored(buffers);
        };
        let read = read_pieces(&self.file, start, buffers, &threads)?;
        self.file
            .seek(SeekFrom::Start(start + read as u64))?;
        self.threads = self.was_read.then_some(threads);
        self.was_read = true;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Five pieces and 77 bytes. Each byte differs from its neighbours.
    fn bytes() -> Vec<u8> {
        (0..5 * PIECE as u32 + 77)
            .map(|n| (n.wrapping_mul(0x9E37_79B9) >> 24) as u8)
            .collect()
    }

    fn file(bytes: &[u8]) -> ParallelReads {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        let mut file = ParallelReads::new(file);
        file.beside(6);
        file
    }

    fn pool() -> ThreadPool {
        ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap()
    }

    #[test]
    fn pieces_come_in_order_from_where_the_file_stands() {
        let bytes = bytes();
        for (start, size) in [
            (0, bytes.len()),
            (0, 9 * PIECE),
            (1001, 3 * PIECE),
            (5, PIECE + 1),
        ] {
            let mut file = file(&bytes);
            file.file
                .seek(SeekFrom::Start(start as u64))
                .unwrap();
            let mut out = vec![0; size];
            let expected = (bytes.len() - start).min(size);
            assert_eq!(file.read(&mut out).unwrap(), expected);
            assert!(out[..expected] == bytes[start..start + expected]);
            assert_eq!(
                file.file.stream_position().unwrap(),
                (start + expected) as u64
            );
            let mut rest = Vec::new();
            file.read_to_end(&mut rest).unwrap();
            assert!(rest == bytes[start + expected..]);
            // The end of the file stays the end until more bytes are written after it.
            assert_eq!(file.read(&mut out).unwrap(), 0);
            file.file.write_all(&bytes).unwrap();
            file.file
                .seek(SeekFrom::Start(bytes.len() as u64))
                .unwrap();
            let mut more = vec![0; bytes.len()];
            file.read_exact(&mut more).unwrap();
            assert!(more == bytes);
        }
    }

    #[test]
    fn several_buffers_are_filled_one_after_the_other() {
        let bytes = bytes();
        let mut file = file(&bytes);
        let mut out = vec![0; bytes.len()];
        let mut left = &mut out[..];
        let mut sizes = [5, 2 * PIECE, PIECE + 9].into_iter().cycle();
        while !left.is_empty() {
            let mut part = |size: usize| {
                left.split_off_mut(..size.min(left.len()))
                    .unwrap()
            };
            let buffers = [part(sizes.next().unwrap()), part(sizes.next().unwrap())];
            let size: usize = buffers.iter().map(|buffer| buffer.len()).sum();
            assert_eq!(
                file.read_vectored(&mut buffers.map(IoSliceMut::new))
                    .unwrap(),
                size
            );
        }
        assert!(out == bytes);
    }

    #[test]
    fn a_file_that_got_shorter_ends_where_it_does() {
        let bytes = bytes();
        let file = file(&bytes);
        let threads = pool();
        for len in [0, 10, PIECE, 2 * PIECE + 3, bytes.len()] {
            file.file.set_len(0).unwrap();
            file.file.write_all_at(&bytes[..len], 0).unwrap();
            let mut out = vec![0; bytes.len()];
            let (first, second) = out.split_at_mut(2 * PIECE + 1);
            let mut buffers = [first, second].map(IoSliceMut::new);
            assert_eq!(
                read_pieces(&file.file, 0, &mut buffers, &threads).unwrap(),
                len
            );
            assert!(out[..len] == bytes[..len]);
        }
    }

    #[test]
    fn an_error_is_that_of_the_first_bytes_that_cannot_be_read() {
        let dir = File::open("/").unwrap();
        let mut bytes = vec![0; 3 * PIECE];
        let mut buffers = [IoSliceMut::new(&mut bytes)];
        let error = read_pieces(&dir, 0, &mut buffers, &pool()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
    }
}
