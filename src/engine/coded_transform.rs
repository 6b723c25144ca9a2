//! The transform of a block's text, as the sort gives it: bytes, or slices that a GPU has coded.

use crate::bwt::Bwt;
use crate::coder::CodedBwt;

/// A coded transform, which a GPU that does a whole block gives or takes in place of the bytes. `S`
/// is a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodedTransform<S = Vec<u8>> {
    pub coded: CodedBwt<S>,
    pub sample_rate: u32,
    /// Row samples, as in [`Bwt::samples`].
    pub samples: Vec<u64>,
}

/// Result of sorting a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sorted {
    Bwt(Bwt),
    Coded(CodedTransform),
}
