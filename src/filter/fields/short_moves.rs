//! Fast moves of a few bytes.
//!
//! Most values are short. A move copies a fixed number of bytes, and then drops the excess.

use std::ops::Range;

/// Number of bytes of a short move. Most values have no more.
pub(super) const USUAL: usize = 16;

/// Number of bytes in which line ends are counted together.
const CHUNK: usize = 64;

/// Appends a range of `bytes`.
#[inline(always)]
pub(super) fn push_bytes(bytes: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
    let len = range.len();
    let before = out.len();
    match bytes[range.start..].first_chunk::<USUAL>() {
        Some(usual) if len <= USUAL => {
            out.extend_from_slice(usual);
            out.truncate(before + len);
        }
        _ => out.extend_from_slice(&bytes[range]),
    }
}

/// Returns the position of the first line end.
#[inline(always)]
pub(super) fn line_end(bytes: &[u8]) -> Option<usize> {
    const ONES: u128 = u128::MAX / 255;
    if let Some(usual) = bytes.first_chunk::<USUAL>() {
        let others = u128::from_le_bytes(*usual) ^ (ONES * b'\n' as u128);
        // The high bit of the first zero byte is set, and that of no byte before it.
        let zeros = others.wrapping_sub(ONES) & !others & (ONES << 7);
        if zeros != 0 {
            return Some(zeros.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr(b'\n', bytes)
}

/// Returns the number of bytes of the first `count` lines with their ends.
pub(super) fn lines(bytes: &[u8], count: usize) -> Option<usize> {
    let mut passed = 0;
    let mut left = count;
    while let Some(chunk) = bytes[passed..].first_chunk::<CHUNK>() {
        let ends: u8 = chunk
            .iter()
            .map(|&byte| u8::from(byte == b'\n'))
            .sum();
        if usize::from(ends) >= left {
            break;
        }
        (passed, left) = (passed + CHUNK, left - usize::from(ends));
    }
    for _ in 0..left {
        passed += line_end(&bytes[passed..])? + 1;
    }
    Some(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_those_of_slices() {
        let bytes: Vec<u8> = (0..60).collect();
        for (start, len) in (0..40).flat_map(|n| (0..20).map(move |len| (n, len))) {
            let mut all = bytes[..30].to_vec();
            let range = start..start + len;
            push_bytes(&bytes, range.clone(), &mut all);
            assert_eq!(all, [&bytes[..30], &bytes[range]].concat());
        }
    }

    #[test]
    fn line_ends_are_the_first() {
        for (before, behind) in (0..40).flat_map(|n| (0..20).map(move |m| (n, m))) {
            let bytes = [&vec![b'\n' + 1; before][..], b"\n", &vec![b'\n'; behind]].concat();
            assert_eq!(line_end(&bytes), Some(before));
            assert_eq!(line_end(&bytes[..before]), None);
        }
        assert_eq!(line_end(&[0x8A, 0x0B, 0x09, 0x0A, 0x0A].repeat(4)), Some(3));
    }

    #[test]
    fn lines_are_passed_together() {
        let bytes: Vec<u8> = (0..700_u32)
            .map(|n| (n * 7919 % 97 % 7) as u8 + b'\n')
            .collect();
        let ends = memchr::memchr_iter(b'\n', &bytes).map(|end| end + 1);
        let passed: Vec<usize> = [0].into_iter().chain(ends).collect();
        assert!(passed.len() > 100);
        for count in 0..passed.len() + 70 {
            assert_eq!(lines(&bytes, count), passed.get(count).copied());
        }
    }
}
