//! `default`, the fastest suffix sort of bwz: an alphabetic code, small groups sorted in shared
//! memory, and ranks of minimizers; or the skew algorithm with prefix doubling. `default_sort`
//! explains how these fit together.
//!
//! | file | job |
//! |---|---|
//! | `alphabetic_code` | the code by which suffixes are first sorted |
//! | `code_keys` | the first keys of all suffixes |
//! | `unsorted_groups` | lists of unresolved suffixes, levels of minimizers, the state of a sort |
//! | `refine` | splits sorted lists into groups, and sorts the small ones in shared memory |
//! | `minimizers` | chooses minimizers, makes keys from their ranks |
//! | `sparse_minimizers` | a sparse level, chosen among the minimizers |
//! | `list_sort` | sorts a list by new keys |
//! | `list_refinement` | refines a list round by round |
//! | `minimizer_doubling` | ranks minimizers by prefix doubling |
//! | `skew_cover` | sizes in the skew algorithm |
//! | `cover_groups` | the prefix doubling of `skew_pd` |
//! | `cover_merge` | the last steps of `skew_pd` |
//! | `skew_pd` | the skew algorithm with prefix doubling |
//! | `default_sort` | the whole sort |
//! | `long_lists` | tests of the kernels at the end of the longest lists |

mod alphabetic_code;
mod code_keys;
mod cover_groups;
mod cover_merge;
mod default_sort;
mod list_refinement;
mod list_sort;
#[cfg(test)]
mod long_lists;
mod minimizer_doubling;
mod minimizers;
mod refine;
mod skew_cover;
mod skew_pd;
mod sparse_minimizers;
mod unsorted_groups;

pub(crate) use alphabetic_code::AlphabeticCode;
pub(crate) use default_sort::{DefaultSort, ExtraArenas, choose_minimizers};
pub(crate) use list_refinement::ListRefinement;
pub(crate) use list_sort::Unresolved;
pub(crate) use minimizer_doubling::{MinimizerDoubling, SelectedMinimizers};
pub(crate) use minimizers::{rank_resolved, select_minimizers};
pub(crate) use skew_cover::{cover_len, mod1_len, splits_for};
pub(crate) use skew_pd::SkewPd;
pub(crate) use unsorted_groups::{SortState, UnsortedGroups};
