//! What is searched of a block in a frame of sequences: the first bytes of its text, which are
//! residues and a `0A` in front of each record.
//!
//! A block without the filter, in which escapes would have made the text larger, is restored and
//! taken apart in memory.

use super::file_block::FileBlock;
use crate::block;
use crate::bwt::CpuInverse;
use crate::error::{Flaw, Result};
use crate::filter::SEQUENCES;
use crate::frame::{BlockHeader, Filtered, Kind, Shape};
use crate::leb128;
use crate::sequence::{self, Layout};
use std::io::{Read, Seek};
use std::ops::Range;

/// The searched text of a block.
#[derive(Clone, Debug)]
pub(crate) struct SequenceText {
    pub kind: sequence::Kind,
    /// Bytes that are searched.
    pub size: u64,
    /// `None` where the block has no filter.
    pub front: Option<Front>,
}

/// What stands in front of the payload of a block with the filter.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    pub text_size: u32,
    /// Where the parameters of the filter stand in the file.
    pub side: Range<u64>,
    /// Text_Size, Side_Size and Sequence_Size as they stand there.
    pub fields: Vec<u8>,
}

const MISFIT: Flaw = Flaw("the block's sequences are not those of the frame's table");

/// Whether a block has the filter that joins sequences, and no other.
pub(crate) fn is_joined(kind: Kind) -> bool {
    matches!(kind, Kind::Bwt(Shape { filters: SEQUENCES, .. }))
}

impl SequenceText {
    /// That of a block, of which the frame's table says how large it is, but for the last block.
    pub fn of<R: Read + Seek + Send>(
        block: &FileBlock<R>,
        kind: sequence::Kind,
        expected: Option<u64>,
    ) -> Result<Self> {
        let (front, size) = match is_joined(block.header.kind) {
            true => {
                let (front, size) = Front::read(block).map_err(|e| block.locate(e))?;
                (Some(front), size)
            }
            false => match expected {
                Some(size) => (None, size),
                None => (None, split(block, kind, restore(block)?)?.1.sequence_size() as u64),
            },
        };
        match expected.is_some_and(|expected| expected != size) {
            true => Err(block.flaw(MISFIT)),
            false => Ok(SequenceText { kind, size, front }),
        }
    }

    /// Where everything in the block is.
    pub fn layout<R: Read + Seek + Send>(&self, block: &FileBlock<R>) -> Result<Layout> {
        let layout = match &self.front {
            Some(Front { side, .. }) => {
                let bytes = block.input.read(side.start, (side.end - side.start) as u32)?;
                let raw_size = (block.info.raw.end - block.info.raw.start) as usize;
                Layout::read(&mut &bytes[..], raw_size).map_err(|flaw| block.flaw(flaw))?
            }
            None => split(block, self.kind, restore(block)?)?.1,
        };
        match layout.sequence_size() as u64 == self.size {
            true => Ok(layout),
            false => Err(block.flaw(MISFIT)),
        }
    }

    /// The text of the restored bytes of a block.
    pub fn text<R: Read + Seek + Send>(
        &self,
        block: &FileBlock<R>,
        raw: Vec<u8>,
    ) -> Result<Vec<u8>> {
        let (text, layout) = split(block, self.kind, raw)?;
        match layout.sequence_size() as u64 == self.size {
            true => Ok(text),
            false => Err(block.flaw(MISFIT)),
        }
    }
}

impl Front {
    /// Reads it, and how much of the text is searched. Errors know no place.
    fn read<R: Read + Seek + Send>(block: &FileBlock<R>) -> Result<(Self, u64)> {
        /// A number takes up to so many bytes.
        const WIDEST: usize = 6;
        let cut = Flaw("the block ends before its text's sizes");
        let start = block.payload_start()?;
        let most =
            (block.info.coded.end.saturating_sub(start)).min((Filtered::SIZES + WIDEST) as u64);
        let bytes = block.input.read(start, most as u32)?;
        let (sizes, mut behind) = bytes.split_at_checked(Filtered::SIZES).ok_or(cut)?;
        let size = leb128::read(&mut behind)? as u64;
        let (text_size, side_size) = Filtered::sizes(sizes);
        let side = start + Filtered::SIZES as u64;
        let side = side..side.saturating_add(side_size);
        let raw_size = block.info.raw.end - block.info.raw.start;
        let fits = text_size <= raw_size && size <= text_size && text_size < 1 << 31;
        if !fits || side.end > block.info.coded.end {
            return Err(Flaw("the size of what the filters left does not fit the block").into());
        }
        let fields = bytes[..bytes.len() - behind.len()].to_vec();
        Ok((Front { text_size: text_size as u32, side, fields }, size))
    }
}

fn restore<R: Read + Seek + Send>(block: &FileBlock<R>) -> Result<Vec<u8>> {
    block::restore_decoded(block.decode()?, &CpuInverse::new())
}

/// The text of a block, and its layout.
fn split<R: Read + Seek + Send>(
    block: &FileBlock<R>,
    kind: sequence::Kind,
    raw: Vec<u8>,
) -> Result<(Vec<u8>, Layout)> {
    sequence::split(&raw, kind).map_err(|flaw| block.flaw(flaw))
}

/// Where the payload begins, its tables passed.
impl<R: Read + Seek + Send> FileBlock<'_, R> {
    pub fn payload_start(&self) -> Result<u64> {
        let start = self.info.coded.start + BlockHeader::SIZE as u64;
        match self.header.kind {
            Kind::Bwt(Shape { tables: true, .. }) => Ok(start + self.pass_tables(start)?),
            _ => Ok(start),
        }
    }
}
