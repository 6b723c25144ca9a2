//! Sizes in the skew algorithm, which sorts the suffixes of its cover first: those at positions
//! that are no multiples of 3. `skew-pd` and `skew` (in `papers`) share them.

use crate::gpu::runtime::tuning::TILE;

/// Number of cover indices of the first kind in a text of n symbols: as many as there are multiples
/// of 3 below n.
pub(crate) fn mod1_len(n: u32) -> u32 {
    n.div_ceil(3)
}

/// Number of cover indices in a text of n symbols.
pub(crate) fn cover_len(n: u32) -> u32 {
    mod1_len(n) + n / 3
}

/// Number of starts of tiles, and the end, in a merge of `items` items.
pub(crate) fn splits_for(items: u32) -> usize {
    items.div_ceil(TILE) as usize + 1
}
