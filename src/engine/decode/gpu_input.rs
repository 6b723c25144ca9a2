//! Input of a GPU that decodes and inverts a coded block. FORMAT.md chapter 4.

use crate::coder::{CodedBwt, Coding};
use crate::engine::coded_transform::CodedTransform;
use crate::frame::{BlockHeader, BlockKind, BwtPayload, Shape};
use crate::gpu;

/// Returns true if a GPU can decode such blocks.
pub(super) fn is_decoded_on_gpus(header: &BlockHeader) -> bool {
    let BlockKind::Bwt(shape) = header.kind else {
        return false;
    };
    shape.coding == Coding::StaticRans && !shape.indexed && header.raw_size <= gpu::MOST_INVERTED
}

/// Returns the transform of such a block.
pub(super) fn coded_transform<'p>(
    shape: Shape,
    parts: &BwtPayload<'p>,
) -> CodedTransform<&'p [u8]> {
    let coded = CodedBwt {
        models: parts.models.to_vec(),
        raw_sizes: parts.raw_sizes.clone(),
        slices: parts.slices.clone(),
    };
    CodedTransform {
        coded,
        sample_rate: 1 << shape.sample_rate_log,
        samples: parts.samples.clone(),
    }
}
