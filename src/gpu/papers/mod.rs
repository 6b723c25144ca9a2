//! Suffix sorting as published, for comparison, one file for each algorithm and one for each of its
//! kernel files. `skew-pd` is also one of the two ways of `default`.

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
