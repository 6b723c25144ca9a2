//! The size that a sample is coded in: what all choices between ways to store it go by.

use crate::base::error::Flaw;
use crate::base::tasks;
use crate::bwt::Sorter;
use crate::coder::{self, Coding, Effort, SliceLimits};

/// What static rANS makes of `text`, on the calling thread.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub fn coded_size(text: &[u8]) -> Result<usize, Flaw> {
    let bwt = Sorter::Cpu.sort(text, 1 << 16).map_err(|_| Flaw::NO_MEMORY)?;
    let limits = SliceLimits::new(bwt.bytes.len(), Effort::Default);
    let coding = Coding::StaticRans;
    Ok(coder::encode_slices_with(tasks::calling_thread, &bwt.bytes, limits, coding).size())
}
