//! Coded block -> transform: its slices decoded, by the CPU or by GPUs, and what the index says of
//! them checked.

use super::slice_facts::slice_facts;
use crate::allocation;
use crate::bwt::Bwt;
use crate::coder::{self, Coding, SliceDecoder};
use crate::error::{Error, Flaw, Result};
use crate::frame::{BlockHeader, BlockIndex, BwtPayload, CodedBlock};
use crate::memory::Plan;
use crate::raw::Spare;
use crate::sorters::SliceGpus;
use crate::tasks::{self, Task};

/// The block that decoded bytes are of: its header says what must come out.
pub struct Origin {
    pub header: BlockHeader,
    pub number: u64,
    pub offset: u64,
}

impl Origin {
    pub fn of(block: &CodedBlock) -> Self {
        Origin { header: block.header, number: block.number, offset: block.offset }
    }

    pub fn error(&self, flaw: Flaw) -> Error {
        flaw.at(Some(self.number), self.offset)
    }
}

/// A block between the decoders of slices and the inverse.
pub struct Decoded {
    pub origin: Origin,
    pub content: Content,
}

pub enum Content {
    /// The raw bytes of a stored block.
    Stored(Vec<u8>),
    /// The transform of the block's text, the index where there is one, and what the filters need.
    Bwt { bwt: Bwt, index: Option<BlockIndex>, side: Vec<u8> },
}

impl Decoded {
    /// The transform; `None` where the block is stored.
    pub fn bwt(&self) -> Option<&Bwt> {
        if let Content::Bwt { bwt, .. } = &self.content { Some(bwt) } else { None }
    }

    /// The same, and nothing else of the block.
    pub fn into_bwt(self) -> Option<Bwt> {
        if let Content::Bwt { bwt, .. } = self.content { Some(bwt) } else { None }
    }
}

/// Decodes a block's slices side by side on the current rayon pool.
///
/// # Errors
/// [`Error::Limit`] where its slices need larger models than the plan has memory for.
pub fn decode(block: CodedBlock, plan: &Plan) -> Result<Decoded> {
    decode_with(tasks::current_pool, block, plan, &Spare::default()).map(|(decoded, _)| decoded)
}

/// [`decode`] on GPUs as well, where they take such a block and are there.
///
/// # Errors
/// As [`decode`]; and [`Error::Format`] where a GPU decodes a sound block wrongly, which it does
/// not show in all cases.
pub fn decode_on(gpus: &SliceGpus, block: CodedBlock, plan: &Plan) -> Result<Decoded> {
    if SliceGpus::take(&block.header)
        && gpus.may_decode()
        && let Some(decoded) =
            decode_by(Some(gpus), tasks::current_pool, &block, plan, &Spare::default())?
    {
        return Ok(decoded);
    }
    decode(block, plan)
}

/// [`decode`] by an executor of the slices' tasks, into memory that is taken from `spare`. Gives
/// the coded block back, but for a stored one.
pub fn decode_with(
    execute: impl FnMut(Vec<Task>),
    block: CodedBlock,
    plan: &Plan,
    spare: &Spare,
) -> Result<(Decoded, Option<CodedBlock>)> {
    match decode_by(None, execute, &block, plan, spare)? {
        Some(decoded) => Ok((decoded, Some(block))),
        None => {
            let origin = Origin::of(&block);
            Ok((Decoded { origin, content: Content::Stored(block.payload) }, None))
        }
    }
}

/// The same, of slices by GPUs where there are any; `None` where the block is stored.
fn decode_by(
    gpus: Option<&SliceGpus>,
    mut execute: impl FnMut(Vec<Task>),
    block: &CodedBlock,
    plan: &Plan,
    spare: &Spare,
) -> Result<Option<Decoded>> {
    let origin = Origin::of(block);
    let Some((shape, parts)) = BwtPayload::of(block)? else { return Ok(None) };
    let raw_size = block.header.raw_size;
    if shape.coding == Coding::ContextMixing {
        plan.check_large_models(raw_size).map_err(|e| e.at(block.number, block.offset))?;
    }
    let side = allocation::copied(parts.side()).ok_or(Flaw::NO_MEMORY)?;
    let sample_rate = shape.sample_rate().map_err(|e| e.at(block.number, block.offset))?;
    let mut bytes = spare.take_len(parts.text_size(raw_size) as usize)?;
    let BwtPayload { samples, raw_sizes, index, models, slices, .. } = parts;
    SliceDecoder::new(shape.coding, models)
        .and_then(|decoder| match gpus {
            Some(gpus) => gpus.decode(&decoder, (models, &raw_sizes, &slices), &mut bytes),
            None => {
                coder::decode_slices_with(&mut execute, &decoder, &raw_sizes, &slices, &mut bytes)
            }
        })
        .and_then(|()| match &index {
            Some(index) => index.check(&slice_facts(execute, &bytes, &raw_sizes, &slices)),
            None => Ok(()),
        })
        .map_err(|flaw| origin.error(flaw))?;
    let bwt = Bwt { bytes, sample_rate, samples };
    Ok(Some(Decoded { origin, content: Content::Bwt { bwt, index, side } }))
}
