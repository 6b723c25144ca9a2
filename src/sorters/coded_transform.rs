//! A transform that is coded: what a GPU that does a whole block gives or takes in the place of the
//! transform itself.

use crate::bwt::Bwt;
use crate::coder::CodedBwt;
use crate::error::Result;
use crate::events::Timed;

/// A coded transform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodedTransform {
    pub coded: CodedBwt,
    pub sample_rate: u32,
    /// As [`Bwt::samples`].
    pub samples: Vec<u32>,
}

/// What the sort of a block gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sorted {
    Bwt(Bwt),
    Coded(CodedTransform),
}

/// Sorts blocks on a GPU, with the given sample rate, and says when each step was done.
pub(crate) type GpuSort = Box<dyn FnMut(&[u8], u32) -> Result<GpuSorted> + Send>;

/// What a GPU gives: the transform, coded or not, how often each byte occurs in it where it is
/// coded, and the steps.
pub(crate) type GpuSorted = (Sorted, Option<[u32; 256]>, Vec<Timed>);
