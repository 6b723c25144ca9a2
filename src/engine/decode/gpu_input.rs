//! Input of a GPU that decodes and inverts a coded block. FORMAT.md chapter 4.

use super::inverting_gpu::DeviceJob;
use crate::coder::{CodedBwt, Coding};
use crate::engine::coded_transform::CodedTransform;
use crate::frame::{BlockHeader, BlockKind, BwtPayload, Shape};
use crate::gpu::{self, TextTarget};

/// Returns true if a GPU can decode and invert such blocks.
pub(super) fn is_decoded_on_gpus(header: &BlockHeader) -> bool {
    let BlockKind::Bwt(shape) = header.kind else {
        return false;
    };
    shape.coding == Coding::StaticRans && !shape.indexed && header.raw_size <= gpu::MOST_INVERTED
}

/// Returns true if the text of such a block can stay on the GPU. It is the block's raw bytes if
/// there are no filters. Larger blocks go in and out by portions.
pub(super) fn may_stay_on_gpu(header: &BlockHeader) -> bool {
    let is_unfiltered = matches!(header.kind, BlockKind::Bwt(shape) if !shape.filtered);
    is_unfiltered && is_decoded_on_gpus(header) && header.raw_size <= gpu::MOST_PINNED
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

/// Returns the job of a GPU that restores such a block to its own memory. The text must have the
/// CRC-32 `checksum`.
pub(super) fn device_job<'a>(
    shape: Shape,
    parts: &BwtPayload<'a>,
    target: TextTarget<'a>,
    checksum: u32,
) -> DeviceJob<'a> {
    DeviceJob {
        transform: coded_transform(shape, parts),
        target,
        checksum,
    }
}
