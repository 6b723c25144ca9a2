//! The size that a sample is coded in: what all choices between ways to store it go by.

use crate::bwt::Sorter;
use crate::coder::{self, Coding, SliceLimits};
use crate::error::Flaw;

/// What static rANS makes of `text`, on the calling thread.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub fn coded_size(text: &[u8]) -> Result<usize, Flaw> {
    let bwt = Sorter::Cpu.sort(text, 1 << 16).map_err(|_| Flaw::NO_MEMORY)?;
    let limits = SliceLimits::new(bwt.bytes.len(), Coding::StaticRans);
    let here = |tasks: Vec<coder::Task>| tasks.into_iter().for_each(|task| task());
    Ok(coder::encode_slices_with(here, &bwt.bytes, limits, Coding::StaticRans).size())
}
