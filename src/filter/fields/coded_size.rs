//! Coded size of a sample, by which the ways to store it are compared.

use crate::base::error::Flaw;
use crate::base::tasks::Executor;
use crate::bwt::Sorter;
use crate::coder::{self, Coding, Effort, SliceLimits};

/// Returns the size of `text` once sorted and coded by static rANS, on the calling thread.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(crate) fn coded_size(text: &[u8]) -> Result<usize, Flaw> {
    let bwt = Sorter::Cpu
        .sort(text, 1 << 16)
        .map_err(|_| Flaw::NO_MEMORY)?;
    let limits = SliceLimits::new(bwt.bytes.len(), Effort::Default);
    let coding = Coding::StaticRans;
    Ok(coder::encode_slices_on(Executor::CALLING, &bwt.bytes, limits, coding).size())
}
