//! The inverse BWT, in steps that queue work.
//!
//! | file | job |
//! |---|---|
//! | `lf_mapping` | counts and ranks of the BWT, walks by the LF mapping, the text put in place |

mod lf_mapping;

pub(super) use lf_mapping::{InverseArrays, InverseShape, InverseSteps, RowWidth};
