//! Coded transforms, which a GPU that does a whole block gives or takes instead of the transform
//! itself.

use crate::base::error::Result;
use crate::bwt::Bwt;
use crate::coder::CodedBwt;
use crate::options::events::Timed;

/// A coded transform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodedTransform {
    pub coded: CodedBwt,
    pub sample_rate: u32,
    /// Row samples, as in [`Bwt::samples`].
    pub samples: Vec<u32>,
}

/// Result of sorting a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sorted {
    Bwt(Bwt),
    Coded(CodedTransform),
}

/// Sorts a block on a GPU with the given sample rate, and says when each step was done.
pub(crate) type GpuSort = Box<dyn FnMut(&[u8], u32) -> Result<GpuSorted> + Send>;

/// Result of a GPU: the transform, coded or not; if it is coded, how often each byte occurs in it;
/// and the steps.
pub(crate) type GpuSorted = (Sorted, Option<[u32; 256]>, Vec<Timed>);
