//! The layouts in which a BWT is searched, chosen by its alphabet.
//!
//! [`BitSlicedRank`] puts counters and the bits of the codes of few symbols into one cache line, so
//! that a rank costs one miss. [`ByteRank`] keeps the bytes as they are beside a table of counters,
//! so that a rank costs two. Both are flat arrays of integers without pointers, which a GPU can
//! hold unchanged. `benches/results/2026-11-index-layouts.md` compares them.

use super::bit_sliced_rank::BitSlicedRank;
use super::byte_rank::ByteRank;
use super::rank::Rank;
use crate::base::error::Result;
use crate::base::positions::Row;

/// The layout of one BWT.
#[derive(Debug)]
pub(crate) enum IndexLayout<R> {
    Two(BitSlicedRank<R, 2>),
    Three(BitSlicedRank<R, 3>),
    Four(BitSlicedRank<R, 4>),
    Bytes(ByteRank<R>),
}

/// One byte in this many may be a rare symbol, which [`BitSlicedRank`] keeps in lists.
const RARE: u64 = 512;

/// All symbols, the most frequent first, of which `sigma` occur.
struct Alphabet {
    by_count: Vec<u8>,
    sigma: usize,
    /// Bits of a code, where the symbols that have none are rare.
    planes: Option<u32>,
}

impl Alphabet {
    fn new(len: usize, counts: &[u64; 256]) -> Self {
        let mut by_count: Vec<u8> = (0..=255).collect();
        by_count.sort_by_key(|&c| std::cmp::Reverse(counts[usize::from(c)]));
        let fits = |planes: &u32| {
            let rest = by_count[1 << planes..]
                .iter()
                .map(|&c| counts[usize::from(c)]);
            rest.sum::<u64>() * RARE <= len as u64
        };
        let planes = (2..=4).find(fits);
        let sigma = counts.iter().filter(|&&count| count > 0).count();
        Alphabet {
            by_count,
            sigma,
            planes,
        }
    }
}

impl<R: Row> IndexLayout<R> {
    /// The smallest layout that suits `bytes`, in which byte c occurs `counts[c]` times.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if there is no memory.
    pub(crate) fn new(bytes: Vec<u8>, counts: &[u64; 256]) -> Result<Self> {
        let Alphabet {
            by_count,
            sigma,
            planes,
        } = Alphabet::new(bytes.len(), counts);
        Ok(match planes {
            Some(2) => IndexLayout::Two(BitSlicedRank::new(&bytes, &by_count, sigma)?),
            Some(3) => IndexLayout::Three(BitSlicedRank::new(&bytes, &by_count, sigma)?),
            Some(_) => IndexLayout::Four(BitSlicedRank::new(&bytes, &by_count, sigma)?),
            None => IndexLayout::Bytes(ByteRank::new(bytes, &by_count, sigma)?),
        })
    }

    /// A bit-sliced layout, if it takes at most half as much memory as the bytes. `None` if there
    /// are too many symbols, or no memory.
    pub(crate) fn packed(bytes: &[u8], counts: &[u64; 256]) -> Option<Self> {
        let Alphabet {
            by_count,
            sigma,
            planes,
        } = Alphabet::new(bytes.len(), counts);
        match planes? {
            2 => BitSlicedRank::new(bytes, &by_count, sigma)
                .ok()
                .map(IndexLayout::Two),
            3 => BitSlicedRank::new(bytes, &by_count, sigma)
                .ok()
                .map(IndexLayout::Three),
            _ => None,
        }
    }

    /// How often `c`, which need not occur, stands before a place.
    pub(crate) fn rank(&self, c: u8, at: usize) -> R {
        with_layout!(self, rank => rank.rank(c, at))
    }

    /// The byte at a place.
    pub(crate) fn byte(&self, at: usize) -> u8 {
        with_layout!(self, rank => rank.byte(at))
    }

    /// Bytes of memory.
    pub(crate) fn size(&self) -> usize {
        with_layout!(self, rank => rank.size())
    }
}

/// Calls a generic function with the layout that the index has.
macro_rules! with_layout {
    ($layout:expr, $rank:ident => $work:expr) => {
        match $layout {
            $crate::fm_index::layout::IndexLayout::Two($rank) => $work,
            $crate::fm_index::layout::IndexLayout::Three($rank) => $work,
            $crate::fm_index::layout::IndexLayout::Four($rank) => $work,
            $crate::fm_index::layout::IndexLayout::Bytes($rank) => $work,
        }
    };
}
pub(super) use with_layout;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    fn counts(bytes: &[u8]) -> [u64; 256] {
        let mut counts = [0; 256];
        bytes
            .iter()
            .for_each(|&c| counts[usize::from(c)] += 1);
        counts
    }

    /// Compares a layout with plain counting at every index.
    fn check<R: Row>(name: &str, bytes: &[u8], ranks: &impl Rank<R>) {
        let mut seen = [R::default(); 256];
        let present: Vec<u8> = (0..=255).filter(|c| bytes.contains(c)).collect();
        let mut before = seen;
        let mut copied = vec![0; bytes.len()];
        ranks.copy_to(&mut copied);
        assert_eq!(copied, bytes, "{name}");
        for at in 0..=bytes.len() {
            for &c in &present {
                assert_eq!(
                    ranks.rank(c, at),
                    seen[usize::from(c)],
                    "{name}: rank({c}, {at})"
                );
                let lo = at / 2 + at / 4;
                let pair = ranks.rank_pair(c, lo, at);
                assert_eq!(
                    pair,
                    (ranks.rank(c, lo), seen[usize::from(c)]),
                    "{name}: {c} {at}"
                );
            }
            if let Some(&c) = bytes.get(at) {
                assert_eq!(ranks.byte(at), c, "{name}: byte {at}");
                before[usize::from(c)] += R::from(1);
            }
            seen = before;
        }
    }

    #[test]
    fn every_layout_counts_as_plain_counting_does() {
        layouts_count::<u32>();
        layouts_count::<u64>();
    }

    fn layouts_count<R: Row>() {
        let mut texts = cases::shapes(1500);
        texts.push(("DNA with rare others".into(), rare_others(3000)));
        texts.push(("text of 5000".into(), cases::text(5000)));
        for (name, bytes) in texts
            .into_iter()
            .filter(|(_, bytes)| !bytes.is_empty())
        {
            let counts = counts(&bytes);
            let layout = IndexLayout::<R>::new(bytes.clone(), &counts).unwrap();
            with_layout!(&layout, ranks => check(&name, &bytes, ranks));
            let mut by_count: Vec<u8> = (0..=255).collect();
            by_count.sort_by_key(|&c| std::cmp::Reverse(counts[usize::from(c)]));
            let sigma = counts.iter().filter(|&&count| count > 0).count();
            check(
                &name,
                &bytes,
                &ByteRank::<R>::new(bytes.clone(), &by_count, sigma).unwrap(),
            );
            // The lists are right for any number of rare symbols.
            check(
                &name,
                &bytes,
                &BitSlicedRank::<R, 2>::new(&bytes, &by_count, sigma).unwrap(),
            );
            check(
                &name,
                &bytes,
                &BitSlicedRank::<R, 3>::new(&bytes, &by_count, sigma).unwrap(),
            );
            check(
                &name,
                &bytes,
                &BitSlicedRank::<R, 4>::new(&bytes, &by_count, sigma).unwrap(),
            );
        }
    }

    fn rare_others(size: usize) -> Vec<u8> {
        let mut bytes = cases::dna(size);
        bytes[0] = b'>';
        bytes[size / 2..size / 2 + 3].copy_from_slice(b"NN\n");
        bytes
    }

    #[test]
    fn the_alphabet_chooses_the_layout() {
        let layout = |bytes: Vec<u8>| {
            let counts = counts(&bytes);
            IndexLayout::<u32>::new(bytes, &counts).unwrap()
        };
        assert!(matches!(
            layout(cases::random(9000, 4)),
            IndexLayout::Two(_)
        ));
        assert!(matches!(layout(rare_others(9000)), IndexLayout::Two(_)));
        assert!(matches!(
            layout(cases::random(9000, 5)),
            IndexLayout::Three(_)
        ));
        assert!(matches!(
            layout(cases::random(9000, 16)),
            IndexLayout::Four(_)
        ));
        assert!(matches!(layout(cases::text(9000)), IndexLayout::Bytes(_)));
    }

    #[test]
    fn counters_survive_the_border_of_a_super_block() {
        for alphabet in [4, 8, 16, 17, 256] {
            let bytes = cases::random(140_000, alphabet);
            let layout = IndexLayout::<u32>::new(bytes.clone(), &counts(&bytes)).unwrap();
            for at in [65_535, 65_536, 65_537, 131_071, 131_072, 139_999, 140_000] {
                let naive = bytes[..at].iter().filter(|&&c| c == 3).count() as u32;
                assert_eq!(
                    with_layout!(&layout, ranks => ranks.rank(3, at)),
                    naive,
                    "{alphabet} {at}"
                );
            }
        }
    }
}
