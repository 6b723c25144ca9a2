//! What a GPU takes of a coded block that it decodes and inverts. FORMAT.md chapter 4.

use crate::allocation;
use crate::bwt;
use crate::coder::{CodedBwt, Coding};
use crate::error::{Flaw, Result};
use crate::frame::{BlockHeader, BlockKind, BwtPayload, CodedBlock};
use crate::gpu;
use crate::sorters::CodedTransform;

/// A checked payload, taken apart.
pub struct GpuInput {
    pub transform: CodedTransform,
    /// What the filters need.
    pub side: Vec<u8>,
    /// Bytes of the text that comes out.
    pub text_size: u64,
}

impl GpuInput {
    /// Whether a GPU can decode such blocks.
    pub fn is_of(header: &BlockHeader) -> bool {
        let BlockKind::Bwt(shape) = header.kind else { return false };
        shape.coding == Coding::StaticRans
            && !shape.indexed
            && header.raw_size <= gpu::MOST_BYTES.into()
    }

    /// That of a block which [`GpuInput::is_of`] is true of.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) where its payload is damaged.
    pub fn of(block: &CodedBlock) -> Result<Self> {
        block.check_payload().and_then(|()| Self::parse(block)).map_err(|flaw| block.error(flaw))
    }

    fn parse(block: &CodedBlock) -> Result<Self, Flaw> {
        let BlockKind::Bwt(shape) = block.header.kind else {
            return Err(Flaw("a stored block has no transform"));
        };
        let raw_size = block.header.raw_size;
        let parts = BwtPayload::from_bytes(&block.payload, raw_size, shape)?;
        let side = parts.filtered.map_or(&[][..], |filtered| filtered.side);
        let coded = CodedBwt {
            models: parts.models.to_vec(),
            raw_sizes: parts.raw_sizes,
            slices: parts.slices.iter().map(|slice| slice.to_vec()).collect(),
        };
        let sample_rate = 1 << shape.sample_rate_log;
        let samples = bwt::narrow(&parts.samples);
        Ok(GpuInput {
            transform: CodedTransform { coded, sample_rate, samples },
            side: allocation::copied(side).ok_or(Flaw::NO_MEMORY)?,
            text_size: parts.filtered.map_or(raw_size, |filtered| filtered.text_size),
        })
    }
}
