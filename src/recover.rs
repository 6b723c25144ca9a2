//! What can be saved from a damaged file: every block that is still whole. FORMAT.md section 10.
//!
//! Frames at the end of the file whose tables are sound are gone through by them. What comes before is scanned for
//! blocks, since neither frame headers nor tables can be trusted there. Each block is restored and checked; the gaps
//! between their raw offsets are what is lost.

use crate::archive::{self, BlockInfo, Frame, FrameInfo};
use crate::decompress;
use crate::error::{Error, Flaw, Result};
use crate::frame::scan::{Landmark, Scanner};
use crate::frame::{BlockHeader, CodedBlock, Footer, FrameHeader, read_payload};
use crate::memory::Plan;
use crate::options::Options;
use crate::threads;
use rayon::ThreadPool;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};

/// What was saved and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Blocks that were whole.
    pub blocks: u64,
    /// Bytes that were written.
    pub raw_size: u64,
    /// What is missing, in order.
    pub lost: Vec<Lost>,
}

/// A part of the original raw stream that could not be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its first byte.
    pub start: u64,
    /// The byte behind it; `None` where the end of a frame, or frames as a whole, are gone: nobody knows how much
    /// they held, and later positions are counted as if it were nothing.
    pub end: Option<u64>,
}

/// Writes every intact block of `input` to `output`, in order, without filling the gaps.
///
/// # Errors
/// [`Error::Format`] where `input` holds no trace of a bwz file; [`Error::Limit`] where a block needs more memory than
/// the options allow; [`Error::Io`] from either side. Damage is no error: it is what [`Recovery`] tells.
///
/// ```
/// use std::io::Cursor;
///
/// let options = bwz::Options::new().with_block_size(1000)?;
/// let mut file = Vec::new();
/// bwz::compress(&b"0123456789".repeat(300)[..], &mut file, &options)?;
/// file[70] ^= 1; // in the first block
///
/// let mut saved = Vec::new();
/// let recovery = bwz::recover(Cursor::new(file), &mut saved, &options)?;
/// assert_eq!(saved.len(), 2000);
/// assert_eq!(recovery.lost, [bwz::Lost { start: 0, end: Some(1000) }]);
/// # Ok::<(), bwz::Error>(())
/// ```
pub fn recover<R: Read + Seek, W: Write>(
    mut input: R,
    output: W,
    options: &Options,
) -> Result<Recovery> {
    let file_size = input.seek(SeekFrom::End(0))?;
    let (sound_frames, scan_end) = sound_frames(&mut input, file_size)?;
    let pool = threads::pool(options)?;
    let mut saver = Saver { input, output, pool, options, progress: Progress::default() };
    saver.scan(scan_end)?;
    for (frame, blocks) in sound_frames {
        saver.frame(&frame, &blocks)?;
    }
    saver.output.flush()?;
    saver.progress.end()
}

/// The frames at the end of the file whose tables are sound, in order, and where the first of them starts.
///
/// Their blocks need not be searched for, so that nothing inside of them can be taken for one.
fn sound_frames<R: Read + Seek>(input: &mut R, mut end: u64) -> Result<(Vec<Frame>, u64)> {
    let mut frames = Vec::new();
    while end > 0 {
        match archive::read_frame(input, end) {
            Ok(frame) => {
                end = frame.0.coded.start;
                frames.push(frame);
            }
            Err(Error::Format { .. }) => break,
            Err(e) => return Err(e),
        }
    }
    frames.reverse();
    Ok((frames, end))
}

/// Both ends of a recovery.
struct Saver<'a, R, W> {
    input: R,
    output: W,
    pool: ThreadPool,
    options: &'a Options,
    progress: Progress,
}

impl<R: Read + Seek, W: Write> Saver<'_, R, W> {
    /// Saves what is found up to `end`, where the tables are not to be trusted.
    fn scan(&mut self, end: u64) -> Result<()> {
        let mut scanner = Scanner::default();
        let mut from = 0;
        while let Some(landmark) = scanner.next(&mut self.input, from)?.filter(|l| l.start() < end)
        {
            from = match landmark {
                Landmark::FrameEnd { footer, end, .. } => {
                    self.progress.frame_end(&footer, end);
                    end
                }
                Landmark::Block { offset, header } => {
                    self.progress.frame_begins_at(offset, &header);
                    let whole = self.block(offset, header, end)?;
                    let (inside, behind) = (header_end(offset), payload_end(offset, &header));
                    // What a whole block holds is its own, even if it looks like blocks.
                    let goes_on = whole || scanner.goes_on_at(&mut self.input, behind)?;
                    self.progress.accounted = if goes_on { behind } else { inside };
                    self.progress.accounted
                }
            };
        }
        if end > 0 && (self.progress.in_frame || self.progress.frames_end < end) {
            self.progress.end_unknown();
        }
        self.progress.frames_end = end;
        Ok(())
    }

    /// Saves the blocks of a frame whose tables are sound.
    fn frame(&mut self, frame: &FrameInfo, blocks: &[BlockInfo]) -> Result<()> {
        for info in blocks {
            match archive::read_block_header(&mut self.input, info) {
                Ok(header) => self.block(info.coded.start, header, info.coded.end)?,
                Err(Error::Format { .. }) => continue,
                Err(e) => return Err(e),
            };
        }
        self.progress.frame_done(frame);
        Ok(())
    }

    /// Saves one block if it is whole and ends by `end`.
    fn block(&mut self, offset: u64, header: BlockHeader, end: u64) -> Result<bool> {
        let raw = match payload_end(offset, &header) <= end {
            true => self.restore(offset, header)?,
            false => None,
        };
        self.progress.block(&header, raw.is_some());
        self.output.write_all(raw.as_deref().unwrap_or_default())?;
        Ok(raw.is_some())
    }

    /// The raw bytes of the block at `offset`, or `None` where it is damaged.
    fn restore(&mut self, offset: u64, header: BlockHeader) -> Result<Option<Vec<u8>>> {
        let plan = match Plan::to_decode(header.raw_size, self.options.allowance()) {
            // A block that is too large is an error, unless nothing but its header says that there is one.
            Err(_) if !self.has_payload(offset, &header)? => return Ok(None),
            plan => plan?,
        };
        self.input.seek(SeekFrom::Start(header_end(offset)))?;
        let payload = read_payload(&mut self.input, header.coded_size)?;
        let block = CodedBlock { header, payload, number: 0, offset };
        match self.pool.install(|| decompress::restore(block, plan.shortage)) {
            Ok(raw) => Ok(Some(raw)),
            Err(Error::Format { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Whether the payload of the block at `offset` is undamaged, found out without holding it.
    fn has_payload(&mut self, offset: u64, header: &BlockHeader) -> Result<bool> {
        self.input.seek(SeekFrom::Start(header_end(offset)))?;
        let payload = (&mut self.input).take(header.coded_size.into());
        let mut pieces = BufReader::with_capacity(1 << 16, payload);
        let mut hasher = crc32fast::Hasher::new();
        while let piece @ [_, ..] = pieces.fill_buf()? {
            hasher.update(piece);
            let len = piece.len();
            pieces.consume(len);
        }
        Ok(hasher.finalize() == header.payload_checksum)
    }
}

fn header_end(offset: u64) -> u64 {
    offset + BlockHeader::SIZE as u64
}

fn payload_end(offset: u64, header: &BlockHeader) -> u64 {
    header_end(offset) + u64::from(header.coded_size)
}

/// Where the scan stands in the raw stream, and in the file.
#[derive(Default)]
struct Progress {
    recovery: Recovery,
    /// Raw bytes of all frames before this one.
    frame_start: u64,
    /// Raw bytes of this frame that blocks met so far account for.
    pos: u64,
    /// A block was met and the end of its frame was not.
    in_frame: bool,
    /// A block or the end of a frame was met.
    seen: bool,
    /// Where in the file the frames end that were met so far; a frame that starts later has others before it.
    frames_end: u64,
    /// How many losses were known when this frame began.
    losses_before: usize,
    /// Where in the file the search goes on.
    accounted: u64,
}

impl Progress {
    /// Before a block is counted: it may be the first of a frame.
    fn frame_begins_at(&mut self, offset: u64, header: &BlockHeader) {
        if self.in_frame && header.raw_offset < self.pos {
            // Nothing has told where the frame before it ended.
            self.end_unknown();
            self.frames_end = self.accounted;
        }
        if !self.in_frame {
            self.in_frame = true;
            self.losses_before = self.recovery.lost.len();
            if header.raw_offset == 0 {
                self.frame_starts_at(offset.saturating_sub(FrameHeader::SIZE as u64));
            }
        }
    }

    /// This frame starts at `start` in the file: what lies between it and the one before was a frame, or more.
    fn frame_starts_at(&mut self, start: u64) {
        if start > self.frames_end {
            let gone = Lost { start: self.frame_start, end: None };
            self.recovery.lost.insert(self.losses_before, gone);
        }
        self.frames_end = self.frames_end.max(start);
    }

    fn block(&mut self, header: &BlockHeader, whole: bool) {
        let end = header.raw_offset.saturating_add(u64::from(header.raw_size));
        self.lose_up_to(if whole { header.raw_offset } else { end });
        self.recovery.blocks += u64::from(whole);
        self.recovery.raw_size += if whole { u64::from(header.raw_size) } else { 0 };
        self.pos = end;
        self.seen = true;
    }

    fn frame_end(&mut self, footer: &Footer, end: u64) {
        if !self.in_frame {
            self.losses_before = self.recovery.lost.len();
        }
        self.frame_starts_at(end.saturating_sub(footer.frame_size));
        self.lose_up_to(footer.total_raw_size);
        self.frame_start = self.frame_start.saturating_add(footer.total_raw_size);
        self.pos = 0;
        self.in_frame = false;
        self.seen = true;
        self.frames_end = end;
        self.accounted = end;
    }

    /// A frame whose tables are sound has been gone through.
    fn frame_done(&mut self, frame: &FrameInfo) {
        self.lose_up_to(frame.raw.end - frame.raw.start);
        self.frame_start = self.frame_start.saturating_add(frame.raw.end - frame.raw.start);
        self.pos = 0;
        self.in_frame = false;
        self.seen = true;
    }

    fn end(self) -> Result<Recovery> {
        match self.seen {
            true => Ok(self.recovery),
            false => Err(Flaw("nothing of a bwz file was found").at(None, 0)),
        }
    }

    /// Everything of this frame from `pos` up to `end` is lost.
    fn lose_up_to(&mut self, end: u64) {
        if self.pos < end {
            let start = self.frame_start.saturating_add(self.pos);
            let end = self.frame_start.saturating_add(end);
            match self.recovery.lost.last_mut() {
                Some(last) if last.end == Some(start) => last.end = Some(end),
                _ => self.recovery.lost.push(Lost { start, end: Some(end) }),
            }
        }
    }

    /// The end of this frame, or frames behind it, are lost.
    fn end_unknown(&mut self) {
        self.frame_start = self.frame_start.saturating_add(self.pos);
        self.recovery.lost.push(Lost { start: self.frame_start, end: None });
        self.pos = 0;
        self.in_frame = false;
    }
}
