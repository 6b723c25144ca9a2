//! `default`, the fastest suffix sort here: an alphabetic code, small groups sorted in shared
//! memory, and ranks of minimizers. `default_sort` says how these go together.

mod alphabetic_code;
mod code_keys;
mod default_sort;
mod list_refinement;
mod list_sort;
#[cfg(test)]
mod long_lists;
mod minimizer_doubling;
mod minimizers;
mod refine;
mod sparse_minimizers;
mod unsorted_groups;

pub use alphabetic_code::AlphabeticCode;
pub use default_sort::{DefaultSort, ExtraArenas, choose_minimizers};
pub use list_refinement::ListRefinement;
pub use list_sort::Unresolved;
pub use minimizer_doubling::MinimizerDoubling;
pub use minimizers::{rank_resolved, select_minimizers};
pub use unsorted_groups::{SortState, UnsortedGroups};
