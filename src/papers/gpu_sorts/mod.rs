//! Published suffix sorts on one GPU.
//!
//! | file | job |
//! |---|---|
//! | `ls` | prefix doubling (GPU-LS) |
//! | `packed_symbols` | the first keys of `ls` |
//! | `rank_groups` | the ranks and groups of `ls` |
//! | `binned_sort` | segmented sort of `ls`, which picks a method by size |
//! | `segmented_merge` | segmented sort by merging |
//! | `skew` | the skew algorithm with recursion |
//! | `skew_steps` | the steps of `skew` |
//! | `skew_pd_alone` | the skew algorithm with prefix doubling, for all texts |
//! | `sa_to_bwt` | suffix array -> BWT and samples |

mod binned_sort;
mod ls;
mod packed_symbols;
mod rank_groups;
mod sa_to_bwt;
mod segmented_merge;
mod skew;
mod skew_pd_alone;
mod skew_steps;
#[cfg(test)]
mod tests;

pub(super) use ls::ByLs;
pub(super) use skew::BySkew;
pub(super) use skew_pd_alone::BySkewPd;
