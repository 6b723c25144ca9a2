//! Suffix sorting algorithms as published, for comparison. `skew-pd` is also one of the two methods
//! of `default`.
//!
//! | file | job |
//! |---|---|
//! | `ls` | prefix doubling (GPU-LS) |
//! | `packed_symbols` | the first keys of `ls` |
//! | `rank_groups` | the ranks and groups of `ls` |
//! | `skew` | the skew algorithm with recursion |
//! | `skew_steps` | the steps of `skew` |
//! | `skew_pd` | the skew algorithm with prefix doubling |
//! | `cover_groups` | the prefix doubling of `skew_pd` |
//! | `cover_merge` | the last steps of `skew_pd` |

mod cover_groups;
mod cover_merge;
mod ls;
mod packed_symbols;
mod rank_groups;
mod skew;
mod skew_pd;
mod skew_steps;

pub use ls::Ls;
pub use skew::Skew;
pub use skew_pd::SkewPd;
