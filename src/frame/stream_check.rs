//! The check of a frame's whole raw stream beside its CRC-32: FORMAT.md sections 3.2 and 5.3.
//!
//! CRC-32 of every block, twice (as stored and as restored), finds accidents. XXH3-64 over the
//! whole stream makes one that it misses 2^32 times as rare. BLAKE3 tells that two files are equal
//! even to someone who suspects forgery.

use crate::base::error::{Flaw, Result};
use crate::options::StreamCheck;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::Xxh3;

impl StreamCheck {
    /// The id in a frame header.
    pub(crate) fn id(self) -> u8 {
        match self {
            StreamCheck::Crc32 => 0,
            StreamCheck::Xxh3 => 128,
            StreamCheck::Blake3 => 129,
        }
    }

    /// The check with this id, if this version knows it.
    pub(crate) fn of(id: u8) -> Option<Self> {
        let all = [StreamCheck::Crc32, StreamCheck::Xxh3, StreamCheck::Blake3];
        all.into_iter().find(|check| check.id() == id)
    }

    /// Bytes of the digest.
    pub(crate) fn size(self) -> usize {
        match self {
            StreamCheck::Crc32 => 0,
            StreamCheck::Xxh3 => 8,
            StreamCheck::Blake3 => 32,
        }
    }

    /// The hasher of a stream. `None` if the check is the CRC-32 alone.
    pub(crate) fn hasher(self) -> Option<StreamHasher> {
        match self {
            StreamCheck::Crc32 => None,
            StreamCheck::Xxh3 => Some(StreamHasher::Xxh3(Box::default())),
            StreamCheck::Blake3 => Some(StreamHasher::Blake3(Box::default())),
        }
    }
}

/// A digest in the making. The bytes are written to it.
pub(crate) enum StreamHasher {
    Xxh3(Box<Xxh3>),
    Blake3(Box<blake3::Hasher>),
}

impl Write for StreamHasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            StreamHasher::Xxh3(hasher) => hasher.update(bytes),
            StreamHasher::Blake3(hasher) => _ = hasher.update(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StreamHasher {
    /// The digest, as it is stored.
    pub(crate) fn finish(&self) -> Vec<u8> {
        match self {
            StreamHasher::Xxh3(hasher) => hasher.digest().to_be_bytes().to_vec(),
            StreamHasher::Blake3(hasher) => hasher.finalize().as_bytes().to_vec(),
        }
    }
}

/// A frame whose stream has a check that this version knows.
struct CheckedFrame {
    check: StreamCheck,
    /// Number of its first block in the file.
    first_block: u64,
    end: Option<FrameEnd>,
}

/// The end of a frame with a check.
struct FrameEnd {
    /// Number of the block after its last one.
    block: u64,
    digest: Vec<u8>,
    /// File offset of its seek table.
    offset: u64,
}

/// The checks of the frames that were read, for whoever gives their raw bytes out. Reader and giver
/// may be two threads.
#[derive(Clone, Default)]
pub(crate) struct FrameChecks {
    frames: Arc<Mutex<VecDeque<CheckedFrame>>>,
    line_feeds: Arc<Mutex<VecDeque<FrameLineFeeds>>>,
}

/// The line feeds that the seek table of a frame states.
pub(super) struct FrameLineFeeds {
    /// Number of the block after the frame's last one.
    pub end: u64,
    /// Number of the frame's blocks.
    pub blocks: usize,
    /// Those in each block, if the table states them.
    pub stated: Option<Vec<u64>>,
    /// File offset of the table.
    pub offset: u64,
}

fn locked<T>(queue: &Mutex<T>) -> MutexGuard<'_, T> {
    queue
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

impl FrameChecks {
    fn frames(&self) -> MutexGuard<'_, VecDeque<CheckedFrame>> {
        locked(&self.frames)
    }

    /// Notes the line feeds of a frame that has ended.
    pub(super) fn line_feeds(&self, frame: FrameLineFeeds) {
        locked(&self.line_feeds).push_back(frame);
    }

    /// Notes that a frame with this check begins with block `first_block`.
    pub(super) fn begin(&self, check: StreamCheck, first_block: u64) {
        if check != StreamCheck::Crc32 {
            self.frames().push_back(CheckedFrame {
                check,
                first_block,
                end: None,
            });
        }
    }

    /// Notes that the frame begun last ends before block `block`. Its seek table is at `offset`.
    pub(super) fn end(&self, block: u64, digest: Vec<u8>, offset: u64) {
        if let Some(frame) = self.frames().back_mut()
            && frame.end.is_none()
        {
            frame.end = Some(FrameEnd {
                block,
                digest,
                offset,
            });
        }
    }
}

/// Checks raw bytes as they are given out, block by block.
pub(crate) struct StreamVerifier {
    checks: FrameChecks,
    /// The hasher of the first frame of `checks`, if that has begun.
    hasher: Option<StreamHasher>,
    /// Line feeds of the blocks of frames that have not ended.
    line_feeds: VecDeque<u64>,
}

impl StreamVerifier {
    pub(crate) fn new(checks: FrameChecks) -> Self {
        StreamVerifier {
            checks,
            hasher: None,
            line_feeds: VecDeque::new(),
        }
    }

    /// Takes in block `number`, which has `line_feeds` line feeds, and whose bytes `write` writes.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if a frame before it has another digest, or other
    /// line feeds than its seek table states.
    pub(crate) fn block(
        &mut self,
        number: u64,
        line_feeds: u64,
        write: impl FnOnce(&mut StreamHasher) -> io::Result<()>,
    ) -> Result<()> {
        self.end_frames(number)?;
        self.line_feeds.push_back(line_feeds);
        let frames = self.checks.frames();
        let Some(frame) = frames
            .front()
            .filter(|frame| frame.first_block <= number)
        else {
            return Ok(());
        };
        let check = frame.check;
        drop(frames);
        if self.hasher.is_none() {
            self.hasher = check.hasher();
        }
        match &mut self.hasher {
            Some(hasher) => Ok(write(hasher)?),
            None => Ok(()),
        }
    }

    /// Checks the frames that are left, after the last block.
    ///
    /// # Errors
    /// As [`StreamVerifier::block`].
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.end_frames(u64::MAX)
    }

    /// Checks the frames that end before block `number`.
    fn end_frames(&mut self, number: u64) -> Result<()> {
        self.check_line_feeds(number)?;
        let mut frames = self.checks.frames();
        while let Some(CheckedFrame {
            check,
            end: Some(end),
            ..
        }) = frames.front()
            && end.block <= number
        {
            let hasher = self.hasher.take().or_else(|| check.hasher());
            let digest = hasher.map(|hasher| hasher.finish());
            if !cfg!(fuzzing) && digest.as_ref() != Some(&end.digest) {
                let flaw = "the stream check at the end of the frame is not that of its bytes";
                return Err(Flaw(flaw).at(None, end.offset));
            }
            frames.pop_front();
        }
        Ok(())
    }

    /// Checks the line feeds of the frames that end before block `number`.
    fn check_line_feeds(&mut self, number: u64) -> Result<()> {
        let mut frames = locked(&self.checks.line_feeds);
        while frames
            .front()
            .is_some_and(|frame| frame.end <= number)
            && let Some(frame) = frames.pop_front()
        {
            let count = frame.blocks.min(self.line_feeds.len());
            let counted = self.line_feeds.drain(..count);
            if let Some(stated) = frame.stated
                && !counted.eq(stated)
            {
                return Err(Flaw::WRONG_LINE_FEEDS.at(None, frame.offset));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(check: StreamCheck, bytes: &[u8]) -> Vec<u8> {
        let mut hasher = check.hasher().unwrap();
        hasher.write_all(bytes).unwrap();
        hasher.finish()
    }

    #[test]
    fn digests_are_those_of_their_specifications() {
        let xxh3 = digest(StreamCheck::Xxh3, b"");
        assert_eq!(xxh3, 0x2D06_8005_38D3_94C2_u64.to_be_bytes());
        let blake3 = digest(StreamCheck::Blake3, b"");
        assert_eq!(blake3[..4], [0xAF, 0x13, 0x49, 0xB9]);
        for check in [StreamCheck::Crc32, StreamCheck::Xxh3, StreamCheck::Blake3] {
            assert_eq!(StreamCheck::of(check.id()), Some(check));
        }
    }

    #[test]
    fn frames_are_checked_when_their_last_block_was_given_out() {
        let checks = FrameChecks::default();
        let xxh3 = |bytes| digest(StreamCheck::Xxh3, bytes);
        checks.begin(StreamCheck::Xxh3, 1);
        checks.end(3, xxh3(b"onetwo"), 500);
        checks.begin(StreamCheck::Blake3, 3);
        checks.end(3, digest(StreamCheck::Blake3, b""), 600);
        checks.begin(StreamCheck::Xxh3, 4);
        let mut verifier = StreamVerifier::new(checks.clone());
        for (number, bytes) in [
            (0, "zero"),
            (1, "one"),
            (2, "two"),
            (3, "three"),
            (4, "four"),
        ] {
            let write = |out: &mut StreamHasher| out.write_all(bytes.as_bytes());
            verifier.block(number, 0, write).unwrap();
        }
        checks.end(5, xxh3(b"for"), 700);
        let said = verifier.finish().unwrap_err().to_string();
        assert!(said.contains("at byte 700"), "{said}");
    }

    #[test]
    fn line_feeds_are_those_of_the_blocks() {
        for (stated, right) in [(vec![1, 0], true), (vec![0, 1], false)] {
            let checks = FrameChecks::default();
            let mut verifier = StreamVerifier::new(checks.clone());
            let mut block = |number, line_feeds| verifier.block(number, line_feeds, |_| Ok(()));
            block(0, 1).unwrap();
            block(1, 0).unwrap();
            checks.line_feeds(FrameLineFeeds {
                end: 2,
                blocks: 2,
                stated: Some(stated),
                offset: 70,
            });
            assert_eq!(block(2, 7).is_ok(), right);
        }
    }
}
