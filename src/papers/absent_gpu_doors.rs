//! Stand-in for the published sorts on GPUs in a build without CUDA: nothing can be opened.

use super::paper_algorithm::PaperAlgorithm;
use crate::base::error::Result;
use crate::gpu::{GpuLcpSorter, GpuSorter, JointSorter, SortedText};

/// Opens nothing: the error is that of the build.
pub(crate) fn open(_algorithm: PaperAlgorithm, number: u32) -> Result<GpuSorter> {
    GpuSorter::new(number)
}

/// Opens nothing: the error is that of the build.
pub(crate) fn open_for_lcp(_algorithm: PaperAlgorithm, number: u32) -> Result<GpuLcpSorter> {
    GpuLcpSorter::new(number)
}

/// Cannot be called, since there is no sorter.
pub(crate) fn sort_by_sampling(
    sorter: &mut JointSorter,
    text: &[u8],
    sample_rate: u32,
) -> Result<SortedText> {
    sorter.sort(text, sample_rate)
}
