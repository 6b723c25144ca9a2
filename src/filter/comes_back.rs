//! Check that a filter's output is restored to its input, before the input is gone.

use crate::base::error::Flaw;
use std::borrow::Borrow;

/// Returns true if a filter's output is restored to its input. If not, that is a defect of bwz, and
/// the block is stored without the filter: a decoder would find the defect when the original may be
/// gone.
pub(super) fn comes_back<T: PartialEq + ?Sized, U: Borrow<T>>(
    was: &T,
    restored: Result<U, Flaw>,
) -> Result<bool, Flaw> {
    let same = match restored {
        Err(Flaw::NO_MEMORY) => return Err(Flaw::NO_MEMORY),
        Err(_) => false,
        Ok(restored) => restored.borrow() == was,
    };
    debug_assert!(same, "what a filter has written does not come back");
    Ok(same)
}
