//! Accelerated sampling, as far as `bsp` on processors (`distributed`) and on GPUs (`gpu_sampling`)
//! share it.
//!
//! | file | job |
//! |---|---|
//! | `difference_cover` | the residues whose positions are sorted first |
//! | `sample` | the positions of the sample, and their order in the string of the next level |
//! | `level` | the levels of the recursion, and their cost according to the paper |

mod difference_cover;
mod level;
mod sample;

pub(super) use difference_cover::DifferenceCover;
pub use level::{Level, critical_round, levels};
pub(super) use sample::SampledPositions;
