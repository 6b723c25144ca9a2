//! The published sorts on GPUs, by name.

use super::gpu_sampling::BySampling;
use super::gpu_sorts::{ByLs, BySkew, BySkewPd};
use super::paper_algorithm::PaperAlgorithm;
use crate::base::error::{Error, Result};
use crate::gpu::gpu_sort::{ByDefault, GpuSort};
use crate::gpu::{GpuLcpSorter, GpuSorter, JointSorter, SortedText};

/// The error of `bsp`, which has no form as a [`GpuSort`]; [`sort_by_sampling`] runs it.
const NO_BSP: &str = "bsp cannot be chosen here: choose default, skew, skew-pd or ls";

/// The form for one GPU.
///
/// # Errors
/// [`Error::Usage`] for `bsp`, which has none.
fn gpu_sort(algorithm: PaperAlgorithm) -> Result<&'static dyn GpuSort> {
    let sort: &'static dyn GpuSort = match algorithm {
        PaperAlgorithm::Default => &ByDefault,
        PaperAlgorithm::Skew => &BySkew,
        PaperAlgorithm::SkewPd => &BySkewPd,
        PaperAlgorithm::Ls => &ByLs,
        PaperAlgorithm::Bsp => return Err(Error::Usage(NO_BSP.into())),
    };
    Ok(sort)
}

/// Creates a sorter on GPU `number`.
///
/// # Errors
/// As [`GpuSorter::new`]; [`Error::Usage`] for `bsp`.
pub(crate) fn open(algorithm: PaperAlgorithm, number: u32) -> Result<GpuSorter> {
    GpuSorter::with(number, gpu_sort(algorithm)?)
}

/// Creates a sorter for LCP arrays on GPU `number`.
///
/// # Errors
/// As [`GpuLcpSorter::new`]; [`Error::Usage`] for `bsp`.
pub(crate) fn open_for_lcp(algorithm: PaperAlgorithm, number: u32) -> Result<GpuLcpSorter> {
    GpuLcpSorter::with(number, gpu_sort(algorithm)?)
}

/// Sorts a text by `bsp` on all GPUs of `sorter`.
///
/// # Errors
/// As [`JointSorter::sort`].
pub(crate) fn sort_by_sampling(
    sorter: &mut JointSorter,
    text: &[u8],
    sample_rate: u32,
) -> Result<SortedText> {
    sorter.sort_by(&BySampling, text, sample_rate)
}
