//! Accelerated sampling: what `bsp` on processors (`distributed`) and on GPUs (`gpu`) have in
//! common. Which positions are sorted first, at which level of the recursion, and what the paper
//! says that it costs.

mod difference_cover;
mod level;
mod sample;

pub use difference_cover::DifferenceCover;
pub use level::{Level, critical_round, levels};
pub use sample::SampledPositions;
