//! What can be saved from a damaged file: every block that is still whole. FORMAT.md section 10.
//!
//! Neither frame headers nor seek tables are needed: the file is scanned for blocks, each is restored and checked, and
//! the gaps between their raw offsets are what is lost.

use crate::decompress;
use crate::error::{Error, Flaw, Result};
use crate::frame::scan::{self, Landmark};
use crate::frame::{BlockHeader, CodedBlock};
use crate::memory::Plan;
use crate::options::Options;
use crate::threads;
use rayon::ThreadPool;
use std::io::{Read, Seek, SeekFrom, Write};

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
    /// The byte behind it; `None` where the end of a frame is gone, so that nobody knows whether more followed.
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
    mut output: W,
    options: &Options,
) -> Result<Recovery> {
    let pool = threads::pool(options)?;
    let mut progress = Progress::default();
    let mut from = 0;
    while let Some((landmark, next)) = scan::next(&mut input, from)? {
        match landmark {
            Landmark::FrameEnd(footer) => progress.frame_end(footer.total_raw_size),
            Landmark::Block(offset, header) => {
                let block = read_block(&mut input, offset, header, progress.seen)?;
                let raw = restore(block, &pool, options)?;
                progress.block(&header, raw.is_some());
                output.write_all(&raw.unwrap_or_default())?;
            }
        }
        from = next;
    }
    output.flush()?;
    progress.end()
}

/// The block at `offset`, its payload as far as it goes.
fn read_block<R: Read + Seek>(
    input: &mut R,
    offset: u64,
    header: BlockHeader,
    number: u64,
) -> Result<CodedBlock> {
    input.seek(SeekFrom::Start(offset + BlockHeader::SIZE as u64))?;
    let mut payload = Vec::new();
    input.by_ref().take(u64::from(header.coded_size)).read_to_end(&mut payload)?;
    Ok(CodedBlock { header, payload, number, offset })
}

/// The raw bytes of a block, or `None` where it is damaged.
fn restore(block: CodedBlock, pool: &ThreadPool, options: &Options) -> Result<Option<Vec<u8>>> {
    if block.payload.len() < block.header.coded_size as usize {
        return Ok(None);
    }
    Plan::new(block.header.raw_size, decompress::RESTORING, 1, options.memory_limit())?;
    match pool.install(|| decompress::restore(block)) {
        Ok(raw) => Ok(Some(raw)),
        Err(Error::Format { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Where the scan stands in the raw stream.
#[derive(Default)]
struct Progress {
    recovery: Recovery,
    /// Raw bytes of all frames before this one.
    frame_start: u64,
    /// Raw bytes of this frame that blocks met so far account for.
    pos: u64,
    /// A block was met and the end of its frame was not.
    in_frame: bool,
    /// Blocks met.
    seen: u64,
    /// Frame ends met.
    ends: u64,
}

impl Progress {
    fn block(&mut self, header: &BlockHeader, whole: bool) {
        if header.raw_offset < self.pos {
            // A new frame has begun, and nothing has told where the one before it ended.
            self.end_unknown();
        }
        let end = header.raw_offset.saturating_add(u64::from(header.raw_size));
        self.lose_up_to(if whole { header.raw_offset } else { end });
        self.recovery.blocks += u64::from(whole);
        self.recovery.raw_size += if whole { u64::from(header.raw_size) } else { 0 };
        self.pos = end;
        self.in_frame = true;
        self.seen += 1;
    }

    fn frame_end(&mut self, raw_size: u64) {
        self.lose_up_to(raw_size);
        self.frame_start = self.frame_start.saturating_add(raw_size);
        self.pos = 0;
        self.in_frame = false;
        self.ends += 1;
    }

    fn end(mut self) -> Result<Recovery> {
        if self.seen == 0 && self.ends == 0 {
            return Err(Flaw("nothing of a bwz file was found").at(None, 0));
        }
        if self.in_frame {
            self.end_unknown();
        }
        Ok(self.recovery)
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

    fn end_unknown(&mut self) {
        self.frame_start = self.frame_start.saturating_add(self.pos);
        self.recovery.lost.push(Lost { start: self.frame_start, end: None });
        self.pos = 0;
    }
}
