//! occ(c, at): how often byte c stands among the first `at` bytes of a transform; the one question
//! that search asks.
//!
//! Two layouts answer it, chosen by the alphabet: [`Planes`] puts counters and bit planes of few
//! symbols into one cache line, so that an answer costs one miss; [`Counted`] keeps the bytes as
//! they are beside a table of counters, so that it costs two. Both are flat arrays of integers
//! without pointers: a GPU can hold them as they stand.

use super::bit_sliced_rank::Planes;
use super::byte_rank::Counted;
use crate::error::{Error, Result};

/// What the searches need of a layout. `at` is at most the number n of bytes, below n for
/// [`Occ::byte`].
pub trait Occ: Sync {
    /// Occurrences of `c`, which occurs somewhere, among the first `at` bytes.
    fn occ(&self, c: u8, at: usize) -> u32;

    /// Both ends of an interval at once, `lo <= hi`: they often lie in one cache line.
    fn occ_pair(&self, c: u8, lo: usize, hi: usize) -> (u32, u32);

    /// The byte at a place.
    fn byte(&self, at: usize) -> u8;

    /// Has the lines fetched that `occ(c, at)` will read.
    fn prefetch(&self, c: u8, at: usize);

    /// Has the line fetched that `byte(at)` will read.
    fn prefetch_byte(&self, at: usize);

    /// Bytes of memory.
    fn size(&self) -> usize;
}

/// The layout of one transform.
#[derive(Debug)]
pub enum Layout {
    Two(Planes<2>),
    Three(Planes<3>),
    Four(Planes<4>),
    Counted(Counted),
}

/// One symbol of so many may be a rare one, which [`Planes`] keeps in lists.
const RARE: u64 = 512;

impl Layout {
    /// The smallest that suits `bytes`, in which byte c occurs `counts[c]` times.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no memory.
    pub fn new(bytes: Vec<u8>, counts: &[u32; 256]) -> Result<Self> {
        let mut by_count: Vec<u8> = (0..=255).collect();
        by_count.sort_by_key(|&c| std::cmp::Reverse(counts[usize::from(c)]));
        let fits = |planes: u32| {
            let rest = by_count[1 << planes..].iter().map(|&c| u64::from(counts[usize::from(c)]));
            rest.sum::<u64>() * RARE <= bytes.len() as u64
        };
        let sigma = counts.iter().filter(|&&count| count > 0).count();
        Ok(match () {
            () if fits(2) => Layout::Two(Planes::new(&bytes, &by_count)?),
            () if fits(3) => Layout::Three(Planes::new(&bytes, &by_count)?),
            () if fits(4) => Layout::Four(Planes::new(&bytes, &by_count)?),
            () => Layout::Counted(Counted::new(bytes, &by_count, sigma)?),
        })
    }
}

pub(super) fn no_memory() -> Error {
    Error::out_of_memory("there is not enough memory for a search index")
}

/// Calls a generic function with the layout there is.
macro_rules! with_layout {
    ($layout:expr, $occ:ident => $work:expr) => {
        match $layout {
            $crate::fm_index::layout::Layout::Two($occ) => $work,
            $crate::fm_index::layout::Layout::Three($occ) => $work,
            $crate::fm_index::layout::Layout::Four($occ) => $work,
            $crate::fm_index::layout::Layout::Counted($occ) => $work,
        }
    };
}
pub(super) use with_layout;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    fn counts(bytes: &[u8]) -> [u32; 256] {
        let mut counts = [0; 256];
        bytes.iter().for_each(|&c| counts[usize::from(c)] += 1);
        counts
    }

    /// Compares a layout with plain counting at every place.
    fn check(name: &str, bytes: &[u8], occ: &impl Occ) {
        let mut seen = [0u32; 256];
        let present: Vec<u8> = (0..=255).filter(|c| bytes.contains(c)).collect();
        let mut before = seen;
        for at in 0..=bytes.len() {
            for &c in &present {
                assert_eq!(occ.occ(c, at), seen[usize::from(c)], "{name}: occ({c}, {at})");
                let lo = at / 2 + at / 4;
                let pair = occ.occ_pair(c, lo, at);
                assert_eq!(pair, (occ.occ(c, lo), seen[usize::from(c)]), "{name}: {c} {at}");
            }
            if let Some(&c) = bytes.get(at) {
                assert_eq!(occ.byte(at), c, "{name}: byte {at}");
                before[usize::from(c)] += 1;
            }
            seen = before;
        }
    }

    #[test]
    fn every_layout_counts_as_plain_counting_does() {
        let mut texts = cases::shapes(1500);
        texts.push(("DNA with rare others".into(), rare_others(3000)));
        texts.push(("text of 5000".into(), cases::text(5000)));
        for (name, bytes) in texts.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let counts = counts(&bytes);
            let layout = Layout::new(bytes.clone(), &counts).unwrap();
            with_layout!(&layout, occ => check(&name, &bytes, occ));
            let mut by_count: Vec<u8> = (0..=255).collect();
            by_count.sort_by_key(|&c| std::cmp::Reverse(counts[usize::from(c)]));
            let sigma = counts.iter().filter(|&&count| count > 0).count();
            check(&name, &bytes, &Counted::new(bytes.clone(), &by_count, sigma).unwrap());
            // However many are rare, the lists are right.
            check(&name, &bytes, &Planes::<2>::new(&bytes, &by_count).unwrap());
            check(&name, &bytes, &Planes::<3>::new(&bytes, &by_count).unwrap());
            check(&name, &bytes, &Planes::<4>::new(&bytes, &by_count).unwrap());
        }
    }

    fn rare_others(size: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            cases::random(size, 4).iter().map(|&b| b"ACGT"[usize::from(b)]).collect();
        bytes[0] = b'>';
        bytes[size / 2..size / 2 + 3].copy_from_slice(b"NN\n");
        bytes
    }

    #[test]
    fn the_alphabet_chooses_the_layout() {
        let layout = |bytes: Vec<u8>| {
            let counts = counts(&bytes);
            Layout::new(bytes, &counts).unwrap()
        };
        assert!(matches!(layout(cases::random(9000, 4)), Layout::Two(_)));
        assert!(matches!(layout(rare_others(9000)), Layout::Two(_)));
        assert!(matches!(layout(cases::random(9000, 5)), Layout::Three(_)));
        assert!(matches!(layout(cases::random(9000, 16)), Layout::Four(_)));
        assert!(matches!(layout(cases::text(9000)), Layout::Counted(_)));
    }

    #[test]
    fn counters_survive_the_border_of_a_superblock() {
        for alphabet in [4, 8, 16, 17, 256] {
            let bytes = cases::random(140_000, alphabet);
            let layout = Layout::new(bytes.clone(), &counts(&bytes)).unwrap();
            for at in [65_535, 65_536, 65_537, 131_071, 131_072, 139_999, 140_000] {
                let naive = bytes[..at].iter().filter(|&&c| c == 3).count() as u32;
                assert_eq!(with_layout!(&layout, occ => occ.occ(3, at)), naive, "{alphabet} {at}");
            }
        }
    }
}
