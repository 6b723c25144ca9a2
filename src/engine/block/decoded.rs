//! Decodes a coded block's slices to its transform, on the CPU or on GPUs, and checks them against
//! the index.

use super::slice_facts::slice_facts;
use crate::base::allocation;
use crate::base::error::{Error, Flaw, Result};
use crate::base::tasks::{self, Task};
use crate::bwt::Bwt;
use crate::coder::{self, Coding, SliceDecoder};
use crate::engine::memory::Plan;
use crate::engine::raw::Spare;
use crate::engine::sorters::SliceGpus;
use crate::frame::{BlockHeader, BlockIndex, BwtPayload, CodedBlock};

/// Header and position of the block that decoded bytes belong to. The header describes the correct
/// result.
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
    /// The transform of the block's text, its index if it has one, and the side information of its
    /// filters.
    Bwt { bwt: Bwt, index: Option<BlockIndex>, side: Vec<u8> },
}

impl Decoded {
    /// The transform. `None` if the block is stored.
    pub fn bwt(&self) -> Option<&Bwt> {
        if let Content::Bwt { bwt, .. } = &self.content { Some(bwt) } else { None }
    }

    /// Takes the transform, and drops the rest of the block. `None` if the block is stored.
    pub fn into_bwt(self) -> Option<Bwt> {
        if let Content::Bwt { bwt, .. } = self.content { Some(bwt) } else { None }
    }
}

/// Decodes a block's slices side by side on the current rayon pool.
///
/// # Errors
/// [`Error::Limit`] if its slices need larger models than the plan has memory for.
pub fn decode(block: CodedBlock, plan: &Plan) -> Result<Decoded> {
    decode_with(tasks::current_pool, block, plan, &Spare::default()).map(|(decoded, _)| decoded)
}

/// Decodes a block like [`decode`], but on GPUs too, if they take such a block and are there.
///
/// # Errors
/// As [`decode`]; and [`Error::Format`] if a GPU decodes a sound block wrongly, which is not found
/// in all cases.
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

/// Decodes a block like [`decode`], but `execute` runs the slices' tasks, and the memory is taken
/// from `spare`. Also returns the coded block, unless it is a stored one.
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

/// Decodes a block like [`decode_with`], by GPUs if there are any. Returns `None` if the block is
/// stored.
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
            Some(gpus) => gpus.decode(&decoder, models, &raw_sizes, &slices, &mut bytes),
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
