//! Decoded slices of a block that stays on disk: each with counts, so that a rank reads little of
//! it, and a cache of them.
//!
//! The cache keeps what comes first, until it is full. A batch of patterns asks for slices all over
//! the block again and again, of which the oldest are as likely to be wanted as the newest, and the
//! first steps of all searches ask for the same few. Beside them the last few slices are kept
//! whatever their size: some walks stay in one.

use crate::bwt;
use std::collections::{HashMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Bytes from one row of counts to the next, per symbol of the block and in all. A rank reads half
/// of them; the counts take up to an eighth of the slice's own memory, and a fourth where a block
/// has all 256 symbols.
const PIECE_PER_SYMBOL: usize = 32;
const PIECE: RangeInclusive<usize> = 1 << 8..=1 << 12;

/// The symbols that occur in a block.
#[derive(Debug)]
pub struct BlockSymbols {
    symbols: Vec<u8>,
    /// Of each of them, which it is.
    numbers: [u8; 256],
    /// Bytes from one row of counts to the next.
    piece: usize,
}

impl BlockSymbols {
    pub fn new(symbols: Vec<u8>) -> Self {
        let mut numbers = [0; 256];
        for (n, &symbol) in symbols.iter().enumerate() {
            numbers[usize::from(symbol)] = n as u8;
        }
        let piece = (PIECE_PER_SYMBOL * symbols.len()).next_power_of_two();
        let piece = piece.clamp(*PIECE.start(), *PIECE.end());
        BlockSymbols { symbols, numbers, piece }
    }
}

/// A slice that is decoded.
#[derive(Debug)]
pub struct DecodedSlice {
    bytes: Vec<u8>,
    /// Of each symbol of the block, its occurrences above each piece: all symbols of the first
    /// piece, then all of the next.
    above: Vec<u32>,
}

impl DecodedSlice {
    /// Takes the bytes of a slice and counts them; gives how often each occurs.
    pub fn new(bytes: Vec<u8>, symbols: &BlockSymbols) -> (Self, [u32; 256]) {
        let mut counts = [0; 256];
        let mut above =
            Vec::with_capacity(bytes.len().div_ceil(symbols.piece) * symbols.symbols.len());
        for piece in bytes.chunks(symbols.piece) {
            above.extend(symbols.symbols.iter().map(|&symbol| counts[usize::from(symbol)]));
            bwt::count(piece, &mut counts);
        }
        (DecodedSlice { bytes, above }, counts)
    }

    /// The byte at a place.
    pub fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    /// Occurrences of `c`, which occurs in the block, among the bytes before a place in the slice.
    pub fn rank(&self, symbols: &BlockSymbols, c: u8, at: usize) -> u64 {
        let number = usize::from(symbols.numbers[usize::from(c)]);
        let row = at / symbols.piece;
        let above = self.above[row * symbols.symbols.len() + number];
        let piece = &self.bytes[row * symbols.piece..at];
        u64::from(above) + memchr::memchr_iter(c, piece).count() as u64
    }

    /// Bytes of memory.
    fn size(&self) -> u64 {
        (self.bytes.len() + 4 * self.above.len()) as u64
    }
}

/// Slices beyond those that there is room for.
pub const KEPT: usize = 4;

/// Decoded slices by their numbers.
#[derive(Debug)]
pub struct SliceCache {
    slices: HashMap<usize, Arc<DecodedSlice>>,
    /// Of those beyond the room, the oldest first.
    last: VecDeque<usize>,
    /// Bytes that are left.
    room: u64,
}

impl SliceCache {
    /// For slices of so many bytes in all.
    pub fn new(room: u64) -> Self {
        SliceCache { slices: HashMap::new(), last: VecDeque::new(), room }
    }

    pub fn get(&self, k: usize) -> Option<Arc<DecodedSlice>> {
        self.slices.get(&k).map(Arc::clone)
    }

    pub fn keep(&mut self, k: usize, slice: &Arc<DecodedSlice>) {
        if self.slices.insert(k, Arc::clone(slice)).is_some() {
            return;
        }
        if let Some(left) = self.room.checked_sub(slice.size()) {
            self.room = left;
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
    fn the_first_are_kept_and_the_last_few() {
        let one = Arc::new(slice(vec![7; 1000]));
        let mut cache = SliceCache::new(10 * one.size() + 5);
        for k in 0..30 {
            cache.keep(k, &one);
            cache.keep(k, &one);
            assert!(cache.get(k).is_some());
        }
        let kept: Vec<usize> = (0..30).filter(|&k| cache.get(k).is_some()).collect();
        assert!(kept.into_iter().eq((0..10).chain(26..30)));
    }
}
