//! Suffix array -> BWT, for sorts that give the rows and nothing else.

use crate::bwt::Bwt;

/// Makes the BWT of a text of at least one byte from the positions of its suffixes in order,
/// without the empty suffix.
pub(super) fn rows_to_bwt(
    text: &[u8],
    suffixes: impl Iterator<Item = u64>,
    sample_rate: u32,
) -> Bwt {
    let rate = sample_rate as usize;
    let mut bytes = Vec::with_capacity(text.len());
    let mut samples = vec![0; text.len().div_ceil(rate)];
    bytes.extend(text.last());
    for (row, position) in (1..).zip(suffixes) {
        let position = position as usize;
        if position > 0 {
            bytes.push(text[position - 1]);
        }
        if position.is_multiple_of(rate) {
            samples[position / rate] = row;
        }
    }
    Bwt {
        bytes,
        sample_rate,
        samples,
    }
}
