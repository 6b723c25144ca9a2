//! Recovery of a damaged file: saves every block that is still intact. See FORMAT.md chapter 7.
//!
//! Frames at the end of the file whose tables are sound are read by their tables. Everything before
//! them is scanned for blocks, since neither frame headers nor tables can be trusted there. Each
//! block is restored and checked; a sound frame without blocks is passed over. The gaps between the
//! raw offsets of the saved blocks are the losses (`losses`).
//!
//! | file | job |
//! |---|---|
//! | `losses` | the account of the blocks that are saved and of the ranges that are lost |
//!
//! Time is linear in the size of the file, whatever headers claim. The checksum of a payload is
//! computed without reading the payload again ([`RangeChecksums`]). A block is decoded only if its
//! payload is undamaged, and the inside of such a payload is not scanned.
//!
//! Memory is that of one block, plus 1/128 of the memory limit for the checksums. A payload longer
//! than the limit is not read.

mod losses;

use crate::base::error::{Error, Release, Result};
use crate::engine::decode;
use crate::engine::thread_pool;
use crate::frame::contents;
use crate::frame::frame_at_end::{self, Frame, TableRoom};
use crate::frame::landmarks::{Landmark, Scanner, goes_on_at};
use crate::frame::{BlockHeader, BlockInfo, CodedBlock, FrameInfo, RangeChecksums, read_payload};
use crate::options::Options;
use losses::Account;
pub use losses::{Lost, Recovery};
use rayon::ThreadPool;
use std::io::{Read, Seek, SeekFrom, Write};

/// Writes every intact block of `input` to `output`, in order, without filling the gaps.
///
/// # Errors
/// [`Error::Format`] if `input` holds no trace of a bwz file. [`Error::Version`] if it is a bwz
/// file of another version. [`Error::Limit`] if a block needs more memory than the options allow.
/// [`Error::OutputLimit`] if the output becomes larger than they allow. [`Error::Io`] if reading or
/// writing fails. Damage is not an error: [`Recovery`] lists the losses.
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
    let content_end = frame_at_end::without_padding(&mut input, file_size)?;
    let (sound_frames, sound_start) = sound_frames(&mut input, content_end, options)?;
    // If the end of the file is damaged, the zeros there may belong to a block.
    let scan_end = if sound_frames.is_empty() {
        file_size
    } else {
        sound_start
    };
    let pool = thread_pool::pool(options)?;
    let account = Account::default();
    let checksums = RangeChecksums::default();
    let mut saver = Saver {
        input,
        output,
        pool,
        options,
        account,
        checksums,
    };
    saver.scan(scan_end, content_end)?;
    for (frame, blocks) in sound_frames {
        saver.frame(&frame, &blocks)?;
    }
    saver.output.flush()?;
    let Saver {
        mut input, account, ..
    } = saver;
    account
        .end()
        .map_err(|flaw| frame_at_end::version_error(&mut input).unwrap_or_else(|| flaw.at(None, 0)))
}

/// Reads the frames at the end of the file whose tables are sound and fit in memory. Returns them
/// in order, with the file offset at which the first of them starts.
///
/// Their blocks are not searched for, so no bytes inside them can be taken for a block.
fn sound_frames<R: Read + Seek>(
    input: &mut R,
    mut end: u64,
    options: &Options,
) -> Result<(Vec<Frame>, u64)> {
    let mut frames = Vec::new();
    let mut room = TableRoom {
        memory: options.memory_limit(),
        frames: 0,
        blocks: 0,
    };
    while end > 0 {
        match frame_at_end::read_or_pass(input, end, room) {
            Ok(frame) => {
                end = frame.0.coded.start;
                room.frames += 1;
                room.blocks += frame.0.blocks;
                frames.push(frame);
            }
            Err(
                Error::Format { .. }
                | Error::Unsupported { .. }
                | Error::Version { .. }
                | Error::Limit { .. },
            ) => break,
            Err(e) => return Err(e),
        }
    }
    frames.reverse();
    Ok((frames, end))
}

/// A recovery in progress: its input, its output and its account.
struct Saver<'a, R, W> {
    input: R,
    output: W,
    pool: ThreadPool,
    options: &'a Options,
    account: Account,
    checksums: RangeChecksums,
}

impl<R: Read + Seek, W: Write> Saver<'_, R, W> {
    /// Saves the blocks found before `end`, where the tables cannot be trusted. All bytes behind
    /// `content_end` are zeros.
    fn scan(&mut self, end: u64, content_end: u64) -> Result<()> {
        let mut scanner = Scanner::new(end);
        let mut from = 0;
        while let Some(landmark) = scanner.next(&mut self.input, from)? {
            match landmark {
                Landmark::FrameEnd { footer, end } => self.account.frame_end(&footer, end),
                Landmark::OtherFrame { frame } => {
                    // If the end of the frame before it was not found, this one may be raw bytes
                    // of a damaged block.
                    if !self.account.in_frame {
                        self.account.frame_starts_at(frame.coded.start);
                        self.frame(&frame, &[])?;
                        self.account.frames_end = frame.coded.end;
                    }
                    self.account.scanned_to = frame.coded.end;
                }
                Landmark::Block { offset, header } => {
                    let start = match self.account.is_first(&header) {
                        true => {
                            let from = self.account.frames_end;
                            Some(frame_at_end::frame_start(&mut self.input, from, offset)?)
                        }
                        false => None,
                    };
                    self.account.frame_begins_at(start, &header);
                    let inside = header_end(offset);
                    let behind = payload_end(offset, &header);
                    let undamaged = behind <= end && self.has_payload(offset, &header)?;
                    let raw = if undamaged {
                        self.restore(offset, header, Release::default())?
                    } else {
                        None
                    };
                    self.save(&header, raw)?;
                    // The inside of an undamaged payload is not scanned, even if it looks like
                    // blocks.
                    let goes_on = undamaged || goes_on_at(&mut self.input, behind)?;
                    self.account.scanned_to = if goes_on { behind } else { inside };
                }
            }
            from = self.account.scanned_to;
        }
        if end > 0 && (self.account.in_frame || self.account.frames_end < end.min(content_end)) {
            self.account.end_unknown();
        }
        self.account.frames_end = end;
        Ok(())
    }

    /// Saves the blocks of a frame whose tables are sound.
    fn frame(&mut self, frame: &FrameInfo, blocks: &[BlockInfo]) -> Result<()> {
        let raw_size = frame.raw.end - frame.raw.start;
        if let Some(why) = &frame.unsupported {
            let at = frame.coded.start;
            self.options
                .run
                .listener
                .warn(format!("{why} (at byte {at})"));
            self.account.unsupported_frame(raw_size);
            return Ok(());
        }
        for info in blocks {
            let offset = info.coded.start;
            let header = match contents::read_block_header(&mut self.input, info) {
                Ok(header) => header,
                Err(Error::Format { .. }) => continue,
                Err(e) => return Err(e),
            };
            let raw = match self.restore(offset, header, frame.needed) {
                // Only the header claims that the block is this large: its payload is damaged.
                Err(Error::Limit { .. } | Error::OutputLimit { .. })
                    if !self.has_payload(offset, &header)? =>
                {
                    None
                }
                raw => raw?,
            };
            self.save(&header, raw)?;
        }
        self.account.frame_done(raw_size, frame.checksum);
        Ok(())
    }

    /// Writes a block if it was restored, and counts it either way.
    fn save(&mut self, header: &BlockHeader, raw: Option<Vec<u8>>) -> Result<()> {
        self.account.block(header, raw.is_some());
        Ok(self
            .output
            .write_all(raw.as_deref().unwrap_or_default())?)
    }

    /// Returns the raw bytes of the block at `offset`, or `None` if it is damaged.
    /// A block that this version does not know is warned of, and is `None` too.
    fn restore(
        &mut self,
        offset: u64,
        header: BlockHeader,
        needed: Release,
    ) -> Result<Option<Vec<u8>>> {
        let number = self.account.blocks_met;
        let size = header.raw_size;
        let what = || format!("block {number} of {size} bytes (at byte {offset})");
        self.options
            .check_output(self.account.saved(), size, what)?;
        let plan = self
            .options
            .plan_to_decode(header.raw_size)
            .map_err(|e| e.at(number, offset))?;
        self.input
            .seek(SeekFrom::Start(header_end(offset)))?;
        let payload = read_payload(&mut self.input, header.coded_size)?;
        let block = CodedBlock {
            header,
            payload,
            sequences: None,
            front_size: 0,
            index_size: 0,
            line_feeds: 0,
            needed,
            number,
            offset,
        };
        match self
            .pool
            .install(|| decode::restore(block, &plan))
        {
            Ok(raw) => Ok(Some(raw)),
            Err(Error::Format { .. }) => Ok(None),
            Err(unsupported @ Error::Unsupported { .. }) => {
                self.options
                    .run
                    .listener
                    .warn(unsupported.to_string());
                self.account.unsupported(size);
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Returns true if the payload of the block at `offset` is undamaged. The payload ends within
    /// the file.
    ///
    /// A payload longer than the memory limit is not read. It counts as undamaged if a frame
    /// continues behind it; the limit then refuses the block.
    fn has_payload(&mut self, offset: u64, header: &BlockHeader) -> Result<bool> {
        let payload = header_end(offset)..payload_end(offset, header);
        if header.coded_size > self.options.memory_limit() {
            return goes_on_at(&mut self.input, payload.end);
        }
        let checksum = self.checksums.of(&mut self.input, payload)?;
        Ok(cfg!(fuzzing) || checksum == header.payload_checksum)
    }
}

fn header_end(offset: u64) -> u64 {
    offset + BlockHeader::SIZE as u64
}

fn payload_end(offset: u64, header: &BlockHeader) -> u64 {
    header_end(offset) + header.coded_size
}
