//! Places that the text itself chooses (content-defined, as in rsync and its heirs), so that copies choose the same ones.
//!
//! A place is chosen by the 8 bytes behind it, in 0.3 ns a byte: a weighted sum of them is taken for many places at
//! once. [`hash`] then makes a key of what stands there.

/// Calls `visit` with the chosen places, one in 2^`BITS`, each at least `apart` bytes after the last and with
/// `behind` more bytes behind it.
pub(super) fn for_each<const BITS: u32>(
    text: &[u8],
    apart: usize,
    behind: usize,
    mut visit: impl FnMut(usize),
) {
    const SPAN: usize = 64;
    let chosen = |sum: u8| sum >> (8 - BITS) == CHOSEN >> (8 - BITS);
    let mut next = 0;
    let spans = (0..text.len().saturating_sub(SPAN + behind)).step_by(SPAN);
    for start in spans {
        // Of known size, so that it is done for many places at once.
        let bytes: &[u8; SPAN + 8] = text[start..][..SPAN + 8].try_into().expect("as long");
        let mut sums = [0_u8; SPAN];
        for shift in 0..8 {
            for n in 0..SPAN {
                sums[n] = (sums[n] << 1).wrapping_add(bytes[n + shift]);
            }
        }
        for (n, part) in sums.chunks_exact(8).enumerate() {
            if part.iter().fold(true, |none, sum| none & !chosen(*sum)) {
                continue;
            }
            for (m, sum) in part.iter().enumerate() {
                let at = start + 8 * n + m;
                if chosen(*sum) && at >= next {
                    visit(at);
                    next = at + apart;
                }
            }
        }
    }
}

/// What the weighted sum of 8 bytes is where an anchor is, or its upper bits; any number would do.
const CHOSEN: u8 = 0x5A;

/// Mixes a key of whole words of 8 bytes; the high bits are the best.
pub(super) fn hash(key: &[u8]) -> u64 {
    let words = key.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8")));
    let mixed = words.fold(0_u64, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(MIX);
        hash ^ hash >> 29
    });
    mixed.wrapping_mul(MIX)
}

/// 2^64 by the golden ratio.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
