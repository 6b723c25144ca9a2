//! Lengths of common prefixes and suffixes of two texts, for searches for repeats.
//!
//! 32 bytes are compared at a time, then 8 as one word, from which the first difference follows. At
//! most positions few bytes are equal. Then this takes a memory access and few instructions.

/// Bytes that are compared together.
const PIECE: usize = 32;

/// The length of the common prefix.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let least = a.len().min(b.len());
    let a = &a[..least];
    let b = &b[..least];
    let pieces = a
        .as_chunks::<PIECE>()
        .0
        .iter()
        .zip(b.as_chunks::<PIECE>().0);
    let equal = PIECE * pieces.take_while(|(a, b)| a == b).count();
    let a = &a[equal..];
    let b = &b[equal..];
    for (n, (a, b)) in a
        .as_chunks()
        .0
        .iter()
        .zip(b.as_chunks().0)
        .enumerate()
    {
        let other = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if other != 0 {
            return equal + 8 * n + other.trailing_zeros() as usize / 8;
        }
    }
    let words = a.len() / 8 * 8;
    let rest = a[words..].iter().zip(&b[words..]);
    equal + words + rest.take_while(|(a, b)| a == b).count()
}

/// The length of the common suffix.
pub(crate) fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let least = a.len().min(b.len());
    let a = &a[a.len() - least..];
    let b = &b[b.len() - least..];
    let pieces = a
        .as_rchunks::<PIECE>()
        .1
        .iter()
        .rev()
        .zip(b.as_rchunks::<PIECE>().1.iter().rev());
    let equal = PIECE * pieces.take_while(|(a, b)| a == b).count();
    let a = &a[..least - equal];
    let b = &b[..least - equal];
    let words = a
        .as_rchunks()
        .1
        .iter()
        .rev()
        .zip(b.as_rchunks().1.iter().rev());
    for (n, (a, b)) in words.enumerate() {
        let other = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if other != 0 {
            return equal + 8 * n + other.leading_zeros() as usize / 8;
        }
    }
    let first = a.len() % 8;
    let rest = a[..first]
        .iter()
        .rev()
        .zip(b[..first].iter().rev());
    equal + (a.len() - first) + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn equal_bytes_are_counted_from_both_ends() {
        let text = cases::random(200, 256);
        for equal in 0..=80 {
            let mut changed = text.clone();
            let mut changed_end = text.clone();
            changed[100 + equal] ^= 1;
            changed_end[100 - equal - 1] ^= 1;
            assert_eq!(common_prefix(&changed[100..], &text[100..]), equal);
            assert_eq!(
                common_prefix(&text[100..100 + equal], &text[100..]),
                equal,
                "all of one"
            );
            assert_eq!(common_suffix(&changed_end[..100], &text[..100]), equal);
            assert_eq!(
                common_suffix(&text[100 - equal..100], &text[..100]),
                equal,
                "all of one"
            );
        }
    }
}
