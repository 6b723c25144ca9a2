//! Moves of a few bytes. Values are short as a rule: what is moved has a fixed size, and what was
//! too much is taken off again.

use std::ops::Range;

/// Most values have no more bytes.
pub(super) const USUAL: usize = 16;

/// Bytes that are counted together.
const CHUNK: usize = 64;

/// Appends a range of `bytes`.
#[inline(always)]
pub(super) fn push_bytes(bytes: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
    let (len, before) = (range.len(), out.len());
    match bytes[range.start..].first_chunk::<USUAL>() {
        Some(usual) if len <= USUAL => {
            out.extend_from_slice(usual);
            out.truncate(before + len);
        }
        _ => out.extend_from_slice(&bytes[range]),
    }
}

/// Appends the first `len` of `bytes` to a block of at most `size` bytes, if there is room.
#[inline(always)]
pub(super) fn push_first(bytes: &[u8], len: usize, block: &mut Vec<u8>, size: usize) -> Option<()> {
    let (before, room) = (block.len(), size - block.len());
    match bytes.first_chunk::<USUAL>() {
        Some(usual) if len <= USUAL && USUAL <= room => {
            block.extend_from_slice(usual);
            block.truncate(before + len);
        }
        _ if len <= room => block.extend_from_slice(&bytes[..len]),
        _ => return None,
    }
    Some(())
}

/// Appends a range of the block itself, if there is room.
#[inline(always)]
pub(super) fn push_within(range: Range<usize>, block: &mut Vec<u8>, size: usize) -> Option<()> {
    let (len, before, room) = (range.len(), block.len(), size - block.len());
    if len <= USUAL && USUAL <= room && range.start + USUAL <= before {
        block.extend_from_within(range.start..range.start + USUAL);
        block.truncate(before + len);
    } else if len <= room {
        block.extend_from_within(range);
    } else {
        return None;
    }
    Some(())
}

/// The place of the first line end.
#[inline(always)]
pub(super) fn line_end(bytes: &[u8]) -> Option<usize> {
    const ONES: u128 = u128::MAX / 255;
    if let Some(usual) = bytes.first_chunk::<USUAL>() {
        let others = u128::from_le_bytes(*usual) ^ (ONES * b'\n' as u128);
        // The high bit of the first byte that is 0, and of none before it.
        let zeros = others.wrapping_sub(ONES) & !others & (ONES << 7);
        if zeros != 0 {
            return Some(zeros.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr(b'\n', bytes)
}

/// The bytes that the first `count` lines take with their ends.
pub(super) fn lines(bytes: &[u8], count: usize) -> Option<usize> {
    let (mut passed, mut left) = (0, count);
    while let Some(chunk) = bytes[passed..].first_chunk::<CHUNK>() {
        let ends: u8 = chunk.iter().map(|&byte| u8::from(byte == b'\n')).sum();
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
        for (start, len, size) in (0..40).flat_map(|n| (0..20).map(move |len| (n, len, 30 + n * 2)))
        {
            let (mut all, range) = (bytes[..30].to_vec(), start..start + len);
            push_bytes(&bytes, range.clone(), &mut all);
            assert_eq!(all, [&bytes[..30], &bytes[range.clone()]].concat());
            let mut first = bytes[..30].to_vec();
            let fits = push_first(&bytes[start..], len, &mut first, size).is_some();
            assert_eq!(
                (fits, &first[..]),
                (30 + len <= size, &all[..if fits { 30 + len } else { 30 }])
            );
            let mut within = bytes[..50].to_vec();
            let fits = push_within(
                range.start.min(30)..range.start.min(30) + len,
                &mut within,
                size.max(50),
            );
            assert_eq!(fits.is_some(), 50 + len <= size.max(50));
            assert!(
                within.len() == 50 || within[50..] == bytes[start.min(30)..start.min(30) + len]
            );
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
        let bytes: Vec<u8> = (0..700_u32).map(|n| (n * 7919 % 97 % 7) as u8 + b'\n').collect();
        let ends = memchr::memchr_iter(b'\n', &bytes).map(|end| end + 1);
        let passed: Vec<usize> = [0].into_iter().chain(ends).collect();
        assert!(passed.len() > 100);
        for count in 0..passed.len() + 70 {
            assert_eq!(lines(&bytes, count), passed.get(count).copied());
        }
    }
}
