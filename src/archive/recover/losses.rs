//! The account of a recovery: what was saved, what must have been there, and so what is lost.
//!
//! Raw offsets and footers say where things belong; each loss is a [`Hole`] in what was saved.
//! Holes that touch are one, so there are no more of them than saved blocks, and one, whatever
//! damaged headers claim.

use crate::base::error::{Flaw, Result};
use crate::frame::{BlockHeader, Footer, FrameHeader};
use crc32fast::Hasher;
use std::ops::Range;

/// What a recovery saved and what it did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Blocks that were whole.
    pub blocks: u64,
    /// Bytes that were written.
    pub raw_size: u64,
    /// What is missing, in order. Losses that touch are one, with at most one of unknown size in
    /// it.
    pub lost: Vec<Lost>,
    /// Frames of which no part is known to be missing, though what was saved of them has another
    /// size or checksum than their footer tells: the parts of the original raw stream, in order,
    /// that they seem to be.
    pub contradicted: Vec<Range<u64>>,
}

impl Recovery {
    /// Whether all that was ever there was saved, as far as its checksums tell.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty() && self.contradicted.is_empty()
    }
}

/// A part of the original raw stream that could not be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its first byte.
    pub start: u64,
    /// The byte behind it; `None` where the end of a frame, or frames as a whole, are gone: nobody
    /// knows how much they held, and later positions are counted as if it were nothing.
    pub end: Option<u64>,
}

/// Where the recovery stands in the raw stream, and in the file.
#[derive(Default)]
pub struct Account {
    /// Blocks that were met, whole or not.
    pub blocks_met: u64,
    /// A block was met and the end of its frame was not.
    pub in_frame: bool,
    /// Where in the file the frames end that were met so far; a frame that starts later has others
    /// before it.
    pub frames_end: u64,
    /// Where in the file the search goes on.
    pub scanned_to: u64,
    recovery: Recovery,
    holes: Vec<Hole>,
    /// A block or the end of a frame was met.
    seen: bool,
    /// Raw bytes of all frames before this one.
    frame_start: u64,
    /// Raw bytes of this frame that blocks met so far account for.
    pos: u64,
    /// A part of this frame is known to be lost.
    has_hole: bool,
    /// What was saved of this frame.
    stream: Hasher,
}

/// A part of the raw stream that is lost as a whole.
#[derive(Clone, Copy)]
struct Hole {
    start: u64,
    end: u64,
    /// Where in it something is missing of which nobody knows how much it is.
    unknown: Option<u64>,
}

impl Account {
    /// Raw bytes that were saved so far.
    pub fn saved(&self) -> u64 {
        self.recovery.raw_size
    }

    /// Before a block is counted: it may be the first of a frame.
    pub fn frame_begins_at(&mut self, offset: u64, header: &BlockHeader) {
        if self.in_frame && header.raw_offset < self.pos {
            // Nothing says where the frame before it ended.
            self.end_unknown();
            self.frames_end = self.scanned_to;
        }
        if !self.in_frame {
            self.in_frame = true;
            if header.raw_offset == 0 {
                self.frame_starts_at(offset.saturating_sub(FrameHeader::SIZE as u64));
            }
        }
    }

    /// This frame starts at `start` in the file: what lies between it and the one before was a
    /// frame, or more.
    fn frame_starts_at(&mut self, start: u64) {
        if start > self.frames_end {
            self.lose_unknown();
        }
        self.frames_end = self.frames_end.max(start);
    }

    pub fn block(&mut self, header: &BlockHeader, whole: bool) {
        let size = header.raw_size;
        let end = header.raw_offset.saturating_add(size);
        self.lose_up_to(if whole { header.raw_offset } else { end });
        if whole {
            self.recovery.blocks += 1;
            self.recovery.raw_size += size;
            self.stream.combine(&Hasher::new_with_initial_len(header.raw_checksum, size));
        }
        self.blocks_met += 1;
        self.pos = end;
        self.seen = true;
    }

    /// The footer of a frame was found, which ends at `end` in the file.
    pub fn frame_end(&mut self, footer: &Footer, end: u64) {
        self.frame_starts_at(end.saturating_sub(footer.frame_size));
        self.frame_done(footer.total_raw_size, footer.stream_checksum);
        self.frames_end = end;
        self.scanned_to = end;
    }

    /// All of a frame of `raw_size` bytes was gone through.
    pub fn frame_done(&mut self, raw_size: u64, checksum: u32) {
        self.lose_up_to(raw_size);
        let start = self.frame_start;
        let size = raw_size.max(self.pos);
        let saved = (size, self.stream.clone().finalize());
        let contradicted = !self.has_hole && saved != (raw_size, checksum);
        self.next_frame(size);
        if contradicted {
            self.recovery.contradicted.push(start..self.frame_start);
        }
        self.seen = true;
    }

    /// The end of this frame, or frames behind it, are lost.
    pub fn end_unknown(&mut self) {
        self.next_frame(self.pos);
        self.lose_unknown();
    }

    /// Whatever is met next belongs to the frame behind this one of `size` raw bytes.
    fn next_frame(&mut self, size: u64) {
        self.frame_start = self.frame_start.saturating_add(size);
        self.pos = 0;
        self.in_frame = false;
        self.has_hole = false;
        self.stream.reset();
    }

    /// What was saved and lost, if there was anything.
    pub fn end(mut self) -> Result<Recovery, Flaw> {
        if !self.seen {
            return Err(Flaw("nothing of a bwz file was found"));
        }
        self.recovery.lost = self.holes.iter().flat_map(Hole::parts).collect();
        Ok(self.recovery)
    }

    /// Everything of this frame from `pos` up to `end` is lost.
    fn lose_up_to(&mut self, end: u64) {
        if self.pos < end {
            self.has_hole = true;
            let lost =
                self.frame_start.saturating_add(self.pos)..self.frame_start.saturating_add(end);
            match self.holes.last_mut() {
                Some(last) if last.end == lost.start => last.end = lost.end,
                _ => self.holes.push(Hole { start: lost.start, end: lost.end, unknown: None }),
            }
        }
    }

    /// Something is lost that came right before this frame.
    fn lose_unknown(&mut self) {
        let at = self.frame_start;
        // Nearly always the last one: this frame has holes only where a footer tells late of what
        // came before.
        let n = self.holes.partition_point(|hole| hole.end < at);
        match self.holes.get_mut(n) {
            Some(hole) if hole.start <= at => hole.unknown = hole.unknown.or(Some(at)),
            _ => self.holes.insert(n, Hole { start: at, end: at, unknown: Some(at) }),
        }
    }
}

impl Hole {
    /// The hole as callers see it, in order.
    fn parts(&self) -> impl Iterator<Item = Lost> + use<> {
        let Hole { start, end, unknown } = *self;
        let range = (start < end).then_some(Lost { start, end: Some(end) });
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

    /// What is lost where blocks with these raw offsets are met, whole or not, in a file whose
    /// frame is never ended.
    fn lost(blocks: &[(u64, bool)]) -> Vec<Lost> {
        let mut account = Account::default();
        for &(raw_offset, whole) in blocks {
            account.frame_begins_at(16, &header(raw_offset));
            account.block(&header(raw_offset), whole);
        }
        account.end_unknown();
        account.end().unwrap().lost
    }

    #[test]
    fn losses_that_touch_are_one_whatever_headers_claim() {
        let range = |start, end| Lost { start, end: Some(end) };
        let unknown = |start| Lost { start, end: None };
        assert_eq!(lost(&[(0, true)]), [unknown(10)]);
        assert_eq!(lost(&[(0, true), (10, false), (20, false)]), [range(10, 30), unknown(30)]);
        let disorder = [(0, false), (0, false), (50, false), (3, false), (u64::MAX, false)];
        assert_eq!(lost(&disorder), [range(0, u64::MAX), unknown(10)]);
        assert_eq!(lost(&disorder.repeat(1000)), [range(0, u64::MAX), unknown(10)]);
    }
}
