//! The part of a batch that the CPU does too when a GPU has done all of it: every 64th item, and at
//! least 16.
//!
//! A GPU that fails does not get one item of millions wrong, but many of one kind, or all of one
//! kernel's.

/// Minimum number of items, if there are as many.
const LEAST: usize = 16;
/// Maximum distance of items.
const MOST_APART: usize = 64;

/// Numbers of the items, among `count`, that the CPU does too.
pub(crate) fn spots(count: usize) -> impl ExactSizeIterator<Item = usize> {
    (0..count).step_by((count / LEAST).clamp(1, MOST_APART))
}

#[cfg(test)]
mod tests {
    use super::spots;

    #[test]
    fn few_items_are_all_done_and_many_in_part() {
        for count in 0..=16 {
            assert!(spots(count).eq(0..count));
        }
        for count in 17..2000 {
            let chosen = spots(count).len();
            assert!(chosen >= 16 && chosen >= count / 64, "{chosen} of {count}");
        }
        assert_eq!(spots(64_000).len(), 1000);
    }
}
