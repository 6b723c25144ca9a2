//! The inverse BWT, in steps that queue work.

mod lf_mapping;

pub use lf_mapping::{InverseArrays, InverseShape, InverseSteps};
