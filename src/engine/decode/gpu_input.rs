//! Input of a GPU that decodes and inverts a coded block. FORMAT.md chapter 4.

use super::inverting_gpu::DeviceJob;
use crate::bwt;
use crate::coder::{CodedBwt, Coding};
use crate::engine::coded_transform::CodedTransform;
use crate::frame::{BlockHeader, BlockKind, BwtPayload, Shape};
use crate::gpu::{self, TextTarget};

/// Returns true if a GPU can decode such blocks.
pub(super) fn is_decoded_on_gpus(header: &BlockHeader) -> bool {
    let BlockKind::Bwt(shape) = header.kind else {
        return false;
    };
    shape.coding == Coding::StaticRans
        && !shape.indexed
        && header.raw_size <= gpu::MOST_BYTES.into()
}

/// Returns the transform of such a block.
pub(super) fn coded_transform(shape: Shape, parts: &BwtPayload) -> CodedTransform {
    let coded = CodedBwt {
        models: parts.models.to_vec(),
        raw_sizes: parts.raw_sizes.clone(),
        slices: parts
            .slices
            .iter()
            .map(|slice| slice.to_vec())
            .collect(),
    };
    let samples = bwt::narrow(&parts.samples);
    CodedTransform {
        coded,
        sample_rate: 1 << shape.sample_rate_log,
        samples,
    }
}

/// Returns the job of a GPU that restores such a block to its own memory. The text must have the
/// CRC-32 `checksum`.
pub(super) fn device_job<'a>(
    shape: Shape,
    parts: BwtPayload<'a>,
    target: TextTarget<'a>,
    checksum: u32,
) -> DeviceJob<'a> {
    let BwtPayload {
        samples,
        raw_sizes,
        models,
        slices,
        ..
    } = parts;
    DeviceJob {
        coded: CodedBwt {
            models: models.to_vec(),
            raw_sizes,
            slices,
        },
        sample_rate: 1 << shape.sample_rate_log,
        samples: bwt::narrow(&samples),
        target,
        checksum,
    }
}
