//! The LCP array of a sorted text in device memory, range minima, and longest common extensions.
//!
//! | file | job |
//! |---|---|
//! | `irreducible` | comparisons of suffixes with their predecessors |
//! | `lcp_rows` | the LCP array made from these, and its wanted rows |
//! | `lcp_steps` | both, one after the other |
//! | `device_minima` | range minima, and longest common extensions of positions |

mod device_minima;
mod irreducible;
mod lcp_rows;
mod lcp_steps;

pub(super) use device_minima::DeviceMinima;
pub(super) use lcp_rows::SplitLcp;
pub(super) use lcp_steps::{LcpSteps, SelectedRows, SuffixRows, TextOnGpu};
