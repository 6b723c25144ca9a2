//! Content-defined positions, as in content-defined chunking: repeats have the same ones.
//!
//! A position is chosen by the 8 bytes behind it, in 0.3 ns a byte: a weighted sum of them is taken
//! for many positions at once. [`hash`] then makes a key of the bytes there.

/// Calls `visit` with the chosen positions, one in 2^`BITS`, each at least `apart` bytes after the
/// last, 64 at most, and with `behind` more bytes behind it.
pub(super) fn for_each<const BITS: u32>(
    text: &[u8],
    apart: usize,
    behind: usize,
    mut visit: impl FnMut(usize),
) {
    let mut next = 0;
    for start in (0..text.len().saturating_sub(SPAN + behind)).step_by(SPAN) {
        // Of known size, so that vector code does many positions at once.
        let bytes = text[start..][..SPAN + 8].try_into().expect("as long");
        if is_run_without::<BITS>(bytes) {
            continue;
        }
        let mut chosen = chosen::<BITS>(bytes) & u64::MAX << usize::saturating_sub(next, start);
        while chosen != 0 {
            let n = chosen.trailing_zeros() as usize;
            visit(start + n);
            next = start + n + apart;
            chosen &= u64::MAX.checked_shl((n + apart) as u32).unwrap_or(0);
        }
    }
}

/// Positions that are looked at together.
const SPAN: usize = 64;

/// Whether these are all one byte, a run of which has no such positions.
fn is_run_without<const BITS: u32>(bytes: &[u8; SPAN + 8]) -> bool {
    let sum = bytes[0].wrapping_neg();
    bytes[..8] == bytes[SPAN..]
        && *bytes == [bytes[0]; SPAN + 8]
        && (sum ^ CHOSEN as u8) >> (8 - BITS) != 0
}

/// A bit for each position that is chosen.
fn chosen<const BITS: u32>(bytes: &[u8; SPAN + 8]) -> u64 {
    let mut sums = [0_u8; SPAN];
    for shift in 0..8 {
        for n in 0..SPAN {
            sums[n] = (sums[n] << 1).wrapping_add(bytes[n + shift]);
        }
    }
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = ONES * 0x7F;
    let mask = ONES * (0xFF << (8 - BITS) & 0xFF);
    sums.chunks_exact(8).rev().fold(0, |chosen, part| {
        let sums = u64::from_le_bytes(part.try_into().expect("8"));
        let other = (sums ^ (ONES * CHOSEN)) & mask;
        // 1 in each byte that is 0, then these 8 bits side by side.
        let zero = (!(other | ((other & LOW) + LOW)) >> 7) & ONES;
        chosen << 8 | zero.wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// The weighted sum of 8 bytes at a chosen position, or its upper bits; any number would do.
const CHOSEN: u64 = 0x5A;

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
