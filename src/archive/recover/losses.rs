//! The account of a recovery: the blocks that were saved, and the parts of the raw stream that are
//! lost.
//!
//! The raw offsets of blocks and the sizes in footers say how the raw stream was laid out. Each gap
//! between saved blocks is a [`Hole`]. Holes that touch are joined, so there is at most one hole
//! more than saved blocks, whatever damaged headers claim.

use crate::base::error::{Flaw, Result};
use crate::frame::{BlockHeader, Footer};
use crc32fast::Hasher;
use std::ops::Range;

/// Result of a recovery: the saved blocks and the losses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Number of intact blocks.
    pub blocks: u64,
    /// Number of raw bytes written.
    pub raw_size: u64,
    /// The missing parts, in order. Losses that touch are joined. Each joined loss includes at most
    /// one loss of unknown size.
    pub lost: Vec<Lost>,
    /// Frames that have no known loss but whose saved bytes do not have the size or the checksum of
    /// their footer. Each is given as the range of the original raw stream that it seems to be; the
    /// ranges are in order.
    pub contradicted: Vec<Range<u64>>,
    /// Raw bytes of the blocks that are not damaged, but of a kind that this release of bwz does
    /// not know. They are in `lost` too.
    pub unsupported: u64,
    /// Frames of a kind that this release of bwz does not know, and that do not tell how many raw
    /// bytes they have. They are in `lost`, unless they touch.
    pub unsupported_frames: u64,
}

impl Recovery {
    /// Returns true if everything was saved, as far as the checksums tell.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty() && self.contradicted.is_empty()
    }

    /// Returns true if nothing is lost but blocks that another release of bwz restores.
    #[must_use]
    pub fn lacks_only_unsupported(&self) -> bool {
        let size = |lost: &Lost| lost.end.map(|end| end - lost.start);
        let lost: u64 = self.lost.iter().filter_map(size).sum();
        let unknown = self.lost.iter().filter(|lost| lost.end.is_none());
        lost == self.unsupported
            && unknown.count() as u64 <= self.unsupported_frames
            && self.contradicted.is_empty()
    }
}

/// A part of the original raw stream that could not be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Raw offset of the first lost byte.
    pub start: u64,
    /// Raw offset behind the last lost byte. `None` if the end of a frame, or whole frames, are
    /// lost: their size is unknown, and later positions count it as 0.
    pub end: Option<u64>,
}

/// The progress of a recovery in the raw stream and in the file.
#[derive(Default)]
pub(super) struct Account {
    /// Number of blocks found, intact or not.
    pub blocks_met: u64,
    /// True if a block of the current frame was found but not yet the frame's end.
    pub in_frame: bool,
    /// File offset at which the last frame found so far ends. If a frame starts later, other frames
    /// are missing before it.
    pub frames_end: u64,
    /// File offset at which the scan continues.
    pub scanned_to: u64,
    recovery: Recovery,
    holes: Vec<Hole>,
    /// True if a block or the end of a frame was found.
    seen: bool,
    /// Number of raw bytes in all frames before the current one.
    frame_start: u64,
    /// Number of raw bytes of the current frame that the blocks found so far account for.
    pos: u64,
    /// True if a part of the current frame is known to be lost.
    has_hole: bool,
    /// Checksum of the saved bytes of the current frame.
    stream: Hasher,
}

/// A lost part of the raw stream, without saved bytes inside.
#[derive(Clone, Copy)]
struct Hole {
    start: u64,
    end: u64,
    /// Position in the hole at which a part of unknown size is missing, if there is one.
    unknown: Option<u64>,
}

impl Account {
    /// Number of raw bytes saved so far.
    pub(super) fn saved(&self) -> u64 {
        self.recovery.raw_size
    }

    /// Counts the raw bytes of a block that this version does not know, besides [`Account::block`].
    pub(super) fn unsupported(&mut self, size: u64) {
        self.recovery.unsupported += size;
    }

    /// Passes over a frame of `raw_size` bytes that this version does not know; 0 if it does not
    /// tell its size.
    pub(super) fn unsupported_frame(&mut self, raw_size: u64) {
        if raw_size == 0 {
            self.recovery.unsupported_frames += 1;
            self.lose_unknown();
        }
        self.lose_up_to(raw_size);
        self.recovery.unsupported += raw_size;
        self.next_frame(raw_size);
        self.seen = true;
    }

    /// Returns true if this block is the first of a frame.
    pub(super) fn is_first(&self, header: &BlockHeader) -> bool {
        header.raw_offset == 0 && (!self.in_frame || self.pos > 0)
    }

    /// Starts a frame if this block is the first of one. `start` is the file offset of the frame if
    /// the block is its first. Called before [`Account::block`].
    pub(super) fn frame_begins_at(&mut self, start: Option<u64>, header: &BlockHeader) {
        if self.in_frame && header.raw_offset < self.pos {
            // The end of the frame before it was not found.
            self.end_unknown();
            self.frames_end = self.scanned_to;
        }
        if !self.in_frame {
            self.in_frame = true;
            if let Some(start) = start {
                self.frame_starts_at(start);
            }
        }
    }

    /// Records that the current frame starts at file offset `start`. Bytes between it and the frame
    /// before it belonged to one or more lost frames.
    pub(super) fn frame_starts_at(&mut self, start: u64) {
        if start > self.frames_end {
            self.lose_unknown();
        }
        self.frames_end = self.frames_end.max(start);
    }

    /// Counts a block. It is saved if `whole` is true, and lost otherwise.
    pub(super) fn block(&mut self, header: &BlockHeader, whole: bool) {
        let size = header.raw_size;
        let end = header.raw_offset.saturating_add(size);
        self.lose_up_to(if whole { header.raw_offset } else { end });
        if whole {
            self.recovery.blocks += 1;
            self.recovery.raw_size += size;
            self.stream
                .combine(&Hasher::new_with_initial_len(header.raw_checksum, size));
        }
        self.blocks_met += 1;
        self.pos = end;
        self.seen = true;
    }

    /// Records the footer of a frame, which ends at file offset `end`.
    pub(super) fn frame_end(&mut self, footer: &Footer, end: u64) {
        self.frame_starts_at(end.saturating_sub(footer.frame_size));
        self.frame_done(footer.total_raw_size, footer.stream_checksum);
        self.frames_end = end;
        self.scanned_to = end;
    }

    /// Ends a frame of `raw_size` bytes whose blocks have all been handled.
    pub(super) fn frame_done(&mut self, raw_size: u64, checksum: u32) {
        self.lose_up_to(raw_size);
        let start = self.frame_start;
        let size = raw_size.max(self.pos);
        let saved = (size, self.stream.clone().finalize());
        let contradicted = !self.has_hole && saved != (raw_size, checksum);
        self.next_frame(size);
        if contradicted {
            self.recovery
                .contradicted
                .push(start..self.frame_start);
        }
        self.seen = true;
    }

    /// Records that the end of this frame, or frames behind it, are lost.
    pub(super) fn end_unknown(&mut self) {
        self.next_frame(self.pos);
        self.lose_unknown();
    }

    /// Starts the next frame, behind a frame of `size` raw bytes.
    fn next_frame(&mut self, size: u64) {
        self.frame_start = self.frame_start.saturating_add(size);
        self.pos = 0;
        self.in_frame = false;
        self.has_hole = false;
        self.stream.reset();
    }

    /// Returns the saved blocks and the losses. Fails if nothing of a bwz file was found.
    pub(super) fn end(mut self) -> Result<Recovery, Flaw> {
        if !self.seen {
            return Err(Flaw("nothing of a bwz file was found"));
        }
        self.recovery.lost = self.holes.iter().flat_map(Hole::parts).collect();
        Ok(self.recovery)
    }

    /// Marks the bytes of this frame from `pos` up to `end` as lost.
    fn lose_up_to(&mut self, end: u64) {
        if self.pos < end {
            self.has_hole = true;
            let lost =
                self.frame_start.saturating_add(self.pos)..self.frame_start.saturating_add(end);
            match self.holes.last_mut() {
                Some(last) if last.end == lost.start => last.end = lost.end,
                _ => self.holes.push(Hole {
                    start: lost.start,
                    end: lost.end,
                    unknown: None,
                }),
            }
        }
    }

    /// Records a loss of unknown size just before this frame.
    fn lose_unknown(&mut self) {
        let at = self.frame_start;
        // This is nearly always the last hole. The current frame has holes only if a footer reveals
        // late that frames before it are missing.
        let n = self.holes.partition_point(|hole| hole.end < at);
        match self.holes.get_mut(n) {
            Some(hole) if hole.start <= at => hole.unknown = hole.unknown.or(Some(at)),
            _ => self.holes.insert(
                n,
                Hole {
                    start: at,
                    end: at,
                    unknown: Some(at),
                },
            ),
        }
    }
}

impl Hole {
    /// Splits the hole into the losses that callers see, in order.
    fn parts(&self) -> impl Iterator<Item = Lost> + use<> {
        let Hole {
            start,
            end,
            unknown,
        } = *self;
        let range = (start < end).then_some(Lost {
            start,
            end: Some(end),
        });
        let unknown = unknown.map(|start| Lost { start, end: None });
        let first = unknown.filter(|lost| lost.start == start);
        let last = unknown.filter(|lost| lost.start > start);
        [first, range, last].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::BlockKind;

    fn header(raw_offset: u64) -> BlockHeader {
        let raw_size = 10;
        let coded_size = 10;
        let raw_checksum = 0;
        let payload_checksum = 0;
        BlockHeader {
            kind: BlockKind::Stored,
            raw_size,
            coded_size,
            raw_checksum,
            raw_offset,
            payload_checksum,
        }
    }

    /// Returns the losses of a file whose frame has no end, given the raw offset of each block
    /// found and whether it is whole.
    fn lost(blocks: &[(u64, bool)]) -> Vec<Lost> {
        let mut account = Account::default();
        for &(raw_offset, whole) in blocks {
            account.frame_begins_at((raw_offset == 0).then_some(0), &header(raw_offset));
            account.block(&header(raw_offset), whole);
        }
        account.end_unknown();
        account.end().unwrap().lost
    }

    #[test]
    fn losses_that_touch_are_one_whatever_headers_claim() {
        let range = |start, end| Lost {
            start,
            end: Some(end),
        };
        let unknown = |start| Lost { start, end: None };
        assert_eq!(lost(&[(0, true)]), [unknown(10)]);
        assert_eq!(
            lost(&[(0, true), (10, false), (20, false)]),
            [range(10, 30), unknown(30)]
        );
        let disorder = [
            (0, false),
            (0, false),
            (50, false),
            (3, false),
            (u64::MAX, false),
        ];
        assert_eq!(lost(&disorder), [range(0, u64::MAX), unknown(10)]);
        assert_eq!(
            lost(&disorder.repeat(1000)),
            [range(0, u64::MAX), unknown(10)]
        );
    }
}
