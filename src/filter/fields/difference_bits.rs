//! Number of bits of differences. By it the best of many ways to predict numbers is found cheaply,
//! before its cost is estimated.

use super::numbers;

/// Yields the difference of each number to the last number beside the same key. `keys` are the
/// hashes of the keys.
pub(super) fn differences_by_key(
    own: &[Option<i64>],
    keys: &[u32],
) -> impl Iterator<Item = Option<i64>> {
    let bits = own.len().next_power_of_two().ilog2() + 1;
    let mut table = vec![None; 1 << bits];
    let mut before = 0;
    own.iter().zip(keys).map(move |(number, key)| {
        let last = &mut table[(key >> (32 - bits)) as usize];
        let base = last.unwrap_or(before);
        before = number.unwrap_or(base);
        *last = Some(before);
        number.map(|number| number - base)
    })
}

/// Sums the bits of differences. A value that is no number counts as 64 bits. `None` if the sum is
/// not less than `most`.
pub(super) fn bits(mut differences: impl Iterator<Item = Option<i64>>, most: u32) -> Option<u32> {
    let bits = |difference| u64::BITS - numbers::zigzag(difference).leading_zeros();
    differences.try_fold(0, |sum, difference| {
        Some(sum + difference.map_or(u64::BITS, bits)).filter(|&sum| sum < most)
    })
}

/// Returns the first of the ways with the fewest bits. `bits` returns the bits of a way if they are
/// less than its second argument.
pub(super) fn fewest<W: Copy>(
    ways: impl Iterator<Item = W>,
    mut bits: impl FnMut(W, u32) -> Option<u32>,
) -> Option<W> {
    let mut least = u32::MAX;
    let better = |way| {
        least = bits(way, least)?;
        Some(way)
    };
    ways.filter_map(better).last()
}
