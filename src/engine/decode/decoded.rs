//! Decodes a coded block's slices to its transform, on the CPU or on GPUs, and checks them against
//! the index.

use super::slice_gpus::SliceGpus;
use crate::base::error::{Error, Flaw, Result};
use crate::base::tasks::Executor;
use crate::bwt::Bwt;
use crate::coder::{self, Coding, SliceDecoder};
use crate::engine::memory::Plan;
use crate::engine::raw::Spare;
use crate::engine::slice_facts::slice_facts;
use crate::filter::Step;
use crate::frame::{BlockHeader, BlockIndex, BwtPayload, CodedBlock};

/// Header and position of the block that decoded bytes belong to. The header describes the correct
/// result.
pub(crate) struct Origin {
    pub header: BlockHeader,
    pub number: u64,
    pub offset: u64,
}

impl Origin {
    pub(crate) fn of(block: &CodedBlock) -> Self {
        Origin {
            header: block.header,
            number: block.number,
            offset: block.offset,
        }
    }

    pub(crate) fn error(&self, flaw: Flaw) -> Error {
        flaw.at(Some(self.number), self.offset)
    }
}

/// A block whose slices are decoded.
pub(crate) struct Decoded<T = DecodedText> {
    pub origin: Origin,
    pub text: T,
    /// The index, if the block has one.
    pub index: Option<BlockIndex>,
    /// The filters, with their parameters.
    pub steps: Vec<Step>,
}

/// A block whose text is restored from its transform.
pub(crate) type Inverted = Decoded<Vec<u8>>;

/// The text of a block as the slices give it.
pub(crate) enum DecodedText {
    Bwt(Bwt),
    /// The raw bytes of a stored block.
    Stored(Vec<u8>),
}

impl Decoded {
    /// Number of bytes of the text.
    pub(crate) fn text_size(&self) -> u64 {
        let bytes = match &self.text {
            DecodedText::Bwt(bwt) => &bwt.bytes,
            DecodedText::Stored(raw) => raw,
        };
        bytes.len() as u64
    }

    /// The transform. `None` if the block is stored.
    pub(crate) fn bwt(&self) -> Option<&Bwt> {
        if let DecodedText::Bwt(bwt) = &self.text {
            Some(bwt)
        } else {
            None
        }
    }

    /// Takes the transform, and drops the rest of the block. `None` if the block is stored.
    pub(crate) fn into_bwt(self) -> Option<Bwt> {
        if let DecodedText::Bwt(bwt) = self.text {
            Some(bwt)
        } else {
            None
        }
    }
}

/// Decodes a block's slices side by side on the current rayon pool.
///
/// # Errors
/// [`Error::Limit`] if its slices need larger models than the plan has memory for.
pub(crate) fn decode_slices(block: CodedBlock, plan: &Plan) -> Result<Decoded> {
    decode_slices_on(Executor::current_pool(), block, plan, &Spare::default())
        .map(|(decoded, _)| decoded)
}

/// Decodes a block like [`decode_slices`], but on GPUs too, if they take such a block and are
/// there.
///
/// # Errors
/// As [`decode_slices`]; and [`Error::Format`] if a GPU decodes a sound block wrongly, which is not
/// found in all cases.
pub(crate) fn decode_slices_on_gpus(
    gpus: &SliceGpus,
    block: CodedBlock,
    plan: &Plan,
) -> Result<Decoded> {
    if SliceGpus::take(block.header.kind)
        && gpus.may_decode()
        && let Some(decoded) = decode_bwt(
            Some(gpus),
            Executor::current_pool(),
            &block,
            plan,
            &Spare::default(),
        )?
    {
        return Ok(decoded);
    }
    decode_slices(block, plan)
}

/// Decodes a block like [`decode_slices`] on the given executor. The memory is taken from `spare`.
/// Also returns the coded block, unless it is a stored one.
pub(super) fn decode_slices_on(
    on: Executor,
    block: CodedBlock,
    plan: &Plan,
    spare: &Spare,
) -> Result<(Decoded, Option<CodedBlock>)> {
    match decode_bwt(None, on, &block, plan, spare)? {
        Some(decoded) => Ok((decoded, Some(block))),
        None => {
            let origin = Origin::of(&block);
            let text = DecodedText::Stored(block.payload);
            Ok((
                Decoded {
                    origin,
                    text,
                    index: None,
                    steps: Vec::new(),
                },
                None,
            ))
        }
    }
}

/// Decodes a block's slices, by GPUs if there are any. Returns `None` if the block is stored.
fn decode_bwt(
    gpus: Option<&SliceGpus>,
    on: Executor,
    block: &CodedBlock,
    plan: &Plan,
    spare: &Spare,
) -> Result<Option<Decoded>> {
    let origin = Origin::of(block);
    let Some((shape, parts)) = BwtPayload::of(block)? else {
        return Ok(None);
    };
    let raw_size = block.header.raw_size;
    if shape.coding == Coding::ContextMixing {
        plan.check_large_models(raw_size)
            .map_err(|e| e.at(block.number, block.offset))?;
    }
    let steps = parts.steps()?;
    let sample_rate = shape
        .sample_rate()
        .map_err(|e| e.at(block.number, block.offset))?;
    let mut bytes = spare.take_len(parts.text_size(raw_size) as usize)?;
    let BwtPayload {
        samples,
        raw_sizes,
        index,
        models,
        slices,
        ..
    } = parts;
    SliceDecoder::new(shape.coding, models)
        .and_then(|decoder| match gpus {
            Some(gpus) => gpus.decode(&decoder, models, &raw_sizes, &slices, &mut bytes),
            None => coder::decode_slices_on(on, &decoder, &raw_sizes, &slices, &mut bytes),
        })
        .and_then(|()| match &index {
            Some(index) => index.check(&slice_facts(on, &bytes, &raw_sizes, &slices)),
            None => Ok(()),
        })
        .map_err(|flaw| origin.error(flaw))?;
    let text = DecodedText::Bwt(Bwt {
        bytes,
        sample_rate,
        samples,
    });
    Ok(Some(Decoded {
        origin,
        text,
        index,
        steps,
    }))
}
