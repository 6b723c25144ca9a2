//! Decoded slices of a block on disk, and a cache of them. Each slice has counts, so that a rank
//! reads only a small part of it.
//!
//! The cache keeps the slices that come first, until it is full. A batch of patterns asks for
//! slices all over the block, again and again. Its oldest slices are as likely to be wanted as the
//! newest, and the first steps of all searches ask for the same few. The last few slices are kept
//! in addition, whatever their size, since some walks stay in one slice.

use crate::bwt;
use crate::fm_index::IndexLayout;
use std::collections::{HashMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Bytes of a piece, per symbol of the block. A piece is the part of a slice from one row of counts
/// to the next; a rank reads half a piece on average. The counts add up to an eighth to the memory
/// of a slice, or a fourth if the block has all 256 symbols.
const PIECE_PER_SYMBOL: usize = 32;
/// Range of the size of a piece in bytes.
const PIECE: RangeInclusive<usize> = 1 << 8..=1 << 12;

/// The symbols that occur in a block.
#[derive(Debug)]
pub(crate) struct BlockSymbols {
    symbols: Vec<u8>,
    /// For each symbol, its index in `symbols`.
    numbers: [u8; 256],
    /// Bytes from one row of counts to the next.
    piece: usize,
}

impl BlockSymbols {
    pub(crate) fn new(symbols: Vec<u8>) -> Self {
        let mut numbers = [0; 256];
        for (n, &symbol) in symbols.iter().enumerate() {
            numbers[usize::from(symbol)] = n as u8;
        }
        let piece = (PIECE_PER_SYMBOL * symbols.len()).next_power_of_two();
        let piece = piece.clamp(*PIECE.start(), *PIECE.end());
        BlockSymbols {
            symbols,
            numbers,
            piece,
        }
    }
}

/// A decoded slice.
#[derive(Debug)]
pub(crate) enum DecodedSlice {
    /// A slice of few distinct symbols, packed into as many bits as they need.
    Packed(Box<IndexLayout<u32>>),
    Counted(CountedBytes),
}

/// The plain bytes of a slice, with counts.
#[derive(Debug)]
pub(crate) struct CountedBytes {
    bytes: Vec<u8>,
    /// Occurrences of each symbol of the block before each piece: those of all symbols before the
    /// first piece, then before the next one, and so on.
    above: Vec<u32>,
}

/// Minimum size in bytes of a slice that is packed. In a shorter one, the tables of fixed size
/// would take much of the memory.
const LEAST_PACKED: usize = 1 << 14;

impl DecodedSlice {
    /// Packs the bytes of a slice or adds counts to them. Returns the slice, and the number of
    /// occurrences of each byte.
    pub(crate) fn new(bytes: Vec<u8>, symbols: &BlockSymbols) -> (Self, [u32; 256]) {
        let mut counts = [0; 256];
        bwt::count(&bytes, &mut counts);
        if let Some(packed) = Self::packed(&bytes, &counts) {
            return (packed, counts);
        }
        counts = [0; 256];
        let mut above =
            Vec::with_capacity(bytes.len().div_ceil(symbols.piece) * symbols.symbols.len());
        for piece in bytes.chunks(symbols.piece) {
            above.extend(
                symbols
                    .symbols
                    .iter()
                    .map(|&symbol| counts[usize::from(symbol)]),
            );
            bwt::count(piece, &mut counts);
        }
        (DecodedSlice::Counted(CountedBytes { bytes, above }), counts)
    }

    fn packed(bytes: &[u8], counts: &[u32; 256]) -> Option<Self> {
        if bytes.len() < LEAST_PACKED {
            return None;
        }
        let packed = IndexLayout::packed(bytes, &counts.map(u64::from))?;
        Some(DecodedSlice::Packed(Box::new(packed)))
    }

    /// The byte at an offset.
    pub(crate) fn byte(&self, at: usize) -> u8 {
        match self {
            DecodedSlice::Packed(packed) => packed.byte(at),
            DecodedSlice::Counted(slice) => slice.bytes[at],
        }
    }

    /// Occurrences of `c`, a symbol of the block, before an offset in the slice.
    pub(crate) fn rank(&self, symbols: &BlockSymbols, c: u8, at: usize) -> u64 {
        match self {
            DecodedSlice::Packed(packed) => packed.rank(c, at).into(),
            DecodedSlice::Counted(slice) => slice.rank(symbols, c, at),
        }
    }

    /// Size in memory in bytes.
    fn size(&self) -> u64 {
        let size = match self {
            DecodedSlice::Packed(packed) => packed.size() + OF_PACKED,
            DecodedSlice::Counted(slice) => slice.bytes.len() + 4 * slice.above.len(),
        };
        size as u64
    }
}

/// Bytes of memory of a packed slice in addition to its bits: its codes and the containing
/// structures.
const OF_PACKED: usize = 512;

impl CountedBytes {
    fn rank(&self, symbols: &BlockSymbols, c: u8, at: usize) -> u64 {
        let number = usize::from(symbols.numbers[usize::from(c)]);
        let row = at / symbols.piece;
        let above = self.above[row * symbols.symbols.len() + number];
        let piece = &self.bytes[row * symbols.piece..at];
        u64::from(above) + memchr::memchr_iter(c, piece).count() as u64
    }
}

/// Number of slices kept in addition to those that fit in the budget.
pub(super) const KEPT: usize = 4;

/// Decoded slices by their numbers.
#[derive(Debug)]
pub(crate) struct SliceCache {
    slices: HashMap<usize, Arc<DecodedSlice>>,
    /// Numbers of the slices kept beyond the budget, the oldest first.
    last: VecDeque<usize>,
    /// Bytes of the slices within the budget.
    size: u64,
    /// Maximum bytes of the slices within the budget.
    room: u64,
}

impl SliceCache {
    /// Creates a cache for slices of up to `room` bytes in all.
    pub(crate) fn new(room: u64) -> Self {
        SliceCache {
            slices: HashMap::new(),
            last: VecDeque::new(),
            size: 0,
            room,
        }
    }

    /// Returns the cache with another budget. Keeps as many slices as fit.
    pub(crate) fn with_room(mut self, room: u64) -> Self {
        for k in self.last.drain(..) {
            self.slices.remove(&k);
        }
        if self.size > room {
            let mut numbers: Vec<usize> = self.slices.keys().copied().collect();
            numbers.sort_unstable();
            while self.size > room
                && let Some(slice) = numbers.pop().and_then(|k| self.slices.remove(&k))
            {
                self.size -= slice.size();
            }
        }
        self.room = room;
        self
    }

    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    /// Bytes of the slices within the budget.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn get(&self, k: usize) -> Option<Arc<DecodedSlice>> {
        self.slices.get(&k).map(Arc::clone)
    }

    pub(crate) fn keep(&mut self, k: usize, slice: &Arc<DecodedSlice>) {
        if self.slices.insert(k, Arc::clone(slice)).is_some() {
            return;
        }
        if self.size + slice.size() <= self.room {
            self.size += slice.size();
            return;
        }
        self.last.push_back(k);
        if self.last.len() > KEPT
            && let Some(oldest) = self.last.pop_front()
        {
            self.slices.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    fn slice(bytes: Vec<u8>) -> DecodedSlice {
        DecodedSlice::new(bytes, &BlockSymbols::new((0..=255).collect())).0
    }

    #[test]
    fn ranks_are_those_of_plain_counting() {
        for last in [9, 100, 255] {
            let symbols = BlockSymbols::new((0..5).chain(9..=last).collect());
            let piece = symbols.piece;
            assert!(PIECE.contains(&piece) && piece.is_power_of_two());
            for size in [1, piece - 1, piece, piece + 1, 3 * piece, 3 * piece + 77] {
                let bytes = cases::random(size, 5);
                let (slice, counts) = DecodedSlice::new(bytes.clone(), &symbols);
                for c in [0, 3, 4, 9] {
                    let naive = |at: usize| bytes[..at].iter().filter(|&&b| b == c).count() as u64;
                    let places = [0, 1, piece - 1, piece, piece + 1, 2 * piece, size - 1];
                    for at in places.into_iter().filter(|&at| at < size) {
                        assert_eq!(slice.rank(&symbols, c, at), naive(at), "{c} before {at}");
                        assert_eq!(slice.byte(at), bytes[at]);
                    }
                    assert_eq!(u64::from(counts[usize::from(c)]), naive(size));
                }
            }
        }
    }

    #[test]
    fn slices_of_few_symbols_are_packed() {
        let symbols = BlockSymbols::new((0..20).collect());
        for alphabet in [1, 2, 4, 5, 8] {
            let bytes = cases::random(60_000, alphabet);
            let (slice, counts) = DecodedSlice::new(bytes.clone(), &symbols);
            assert!(matches!(slice, DecodedSlice::Packed(_)));
            assert!(slice.size() < if alphabet > 4 { 34_000 } else { 20_000 });
            for c in 0..20 {
                let naive = |at: usize| bytes[..at].iter().filter(|&&b| b == c).count() as u64;
                for at in [0, 1, 63, 223, 224, 40_001, 59_999] {
                    assert_eq!(slice.rank(&symbols, c, at), naive(at), "{c} before {at}");
                    assert_eq!(slice.byte(at), bytes[at]);
                }
                assert_eq!(u64::from(counts[usize::from(c)]), naive(60_000));
            }
        }
        let of_many = DecodedSlice::new(cases::random(60_000, 20), &symbols).0;
        assert!(matches!(of_many, DecodedSlice::Counted(_)));
    }

    #[test]
    fn another_room_takes_as_many_as_fit() {
        let one = Arc::new(slice(vec![7; 1000]));
        let mut cache = SliceCache::new(10 * one.size());
        (0..30).for_each(|k| cache.keep(k, &one));
        let mut cache = cache.with_room(4 * one.size() + 5);
        assert_eq!(cache.size(), 4 * one.size());
        assert!(
            (0..30)
                .filter(|&k| cache.get(k).is_some())
                .eq(0..4)
        );
        // The budget is used up, and the last few are kept again.
        (20..30).for_each(|k| cache.keep(k, &one));
        assert!(
            (0..30)
                .filter(|&k| cache.get(k).is_some())
                .eq((0..4).chain(26..30))
        );
        assert_eq!(cache.with_room(u64::MAX).size(), 4 * one.size());
    }

    #[test]
    fn the_first_are_kept_and_the_last_few() {
        let one = Arc::new(slice(vec![7; 1000]));
        let mut cache = SliceCache::new(10 * one.size() + 5);
        for k in 0..30 {
            cache.keep(k, &one);
            cache.keep(k, &one);
            assert!(cache.get(k).is_some());
        }
        let kept: Vec<usize> = (0..30)
            .filter(|&k| cache.get(k).is_some())
            .collect();
        assert!(kept.into_iter().eq((0..10).chain(26..30)));
    }
}
