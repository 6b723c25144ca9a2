//! How far two places of a text are equal, for those who look for repeats.
//!
//! 32 bytes at a time, then 8, whose first difference a word tells. A memory access and few
//! instructions where little is equal, as at most places.

/// Bytes that are compared at once.
const PIECE: usize = 32;

/// The number of equal bytes at `a` and `b`, where `a < b`.
pub(super) fn common(text: &[u8], a: usize, b: usize) -> usize {
    let (one, two) = (&text[a..][..text.len() - b], &text[b..]);
    let pieces = one.as_chunks::<PIECE>().0.iter().zip(two.as_chunks::<PIECE>().0);
    let equal = PIECE * pieces.take_while(|(one, two)| one == two).count();
    let (one, two) = (&one[equal..], &two[equal..]);
    for (n, (one, two)) in one.as_chunks().0.iter().zip(two.as_chunks().0).enumerate() {
        let other = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*two);
        if other != 0 {
            return equal + 8 * n + other.trailing_zeros() as usize / 8;
        }
    }
    let words = one.len() / 8 * 8;
    let rest = one[words..].iter().zip(&two[words..]);
    equal + words + rest.take_while(|(one, two)| one == two).count()
}

/// The number of equal bytes at the ends of both.
pub(super) fn common_end(a: &[u8], b: &[u8]) -> usize {
    let least = a.len().min(b.len());
    let (a, b) = (&a[a.len() - least..], &b[b.len() - least..]);
    let pieces = a.as_rchunks::<PIECE>().1.iter().rev().zip(b.as_rchunks::<PIECE>().1.iter().rev());
    let equal = PIECE * pieces.take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..least - equal], &b[..least - equal]);
    let words = a.as_rchunks().1.iter().rev().zip(b.as_rchunks().1.iter().rev());
    for (n, (a, b)) in words.enumerate() {
        let other = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if other != 0 {
            return equal + 8 * n + other.leading_zeros() as usize / 8;
        }
    }
    let first = a.len() % 8;
    let rest = a[..first].iter().rev().zip(b[..first].iter().rev());
    equal + (a.len() - first) + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    #[test]
    fn equal_bytes_are_counted_from_both_ends() {
        let text = cases::random(200, 256);
        for equal in 0..=80 {
            let (mut changed, mut changed_end) = (text.clone(), text.clone());
            changed[100 + equal] ^= 1;
            changed_end[100 - equal - 1] ^= 1;
            let both = [&changed[100..], &text[100..]].concat();
            assert_eq!(common(&both, 0, 100), equal);
            assert_eq!(common_end(&changed_end[..100], &text[..100]), equal);
            assert_eq!(common_end(&text[100 - equal..100], &text[..100]), equal, "all of one");
        }
    }
}
