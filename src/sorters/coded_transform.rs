//! A transform that is coded: what a GPU that does a whole block gives or takes in the place of the
//! transform itself.

use crate::bwt::Bwt;
use crate::coder::CodedBwt;

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
