//! The bits of differences of numbers: they tell which of many ways to predict numbers is worth a
//! closer look.

use super::numbers;

/// The differences of numbers to the last that stood beside the same key,
/// whose hashes are `keys`.
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

/// The bits of differences, and of what is no number, where they are less than `most`.
pub(super) fn bits(mut differences: impl Iterator<Item = Option<i64>>, most: u32) -> Option<u32> {
    let bits = |difference| u64::BITS - numbers::zigzag(difference).leading_zeros();
    differences.try_fold(0, |sum, difference| {
        Some(sum + difference.map_or(u64::BITS, bits)).filter(|&sum| sum < most)
    })
}

/// The first of the ways that leave the fewest bits. `bits` gives these where they are less than
/// its second argument.
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
