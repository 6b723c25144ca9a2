//! How often each symbol occurs above each slice of a block: all that rank needs of the slices that
//! are not decoded. 4 bytes per slice and symbol of the block, or 8 where the block is so large
//! that counts need 64 bits.

use crate::base::error::Flaw;
use crate::base::positions::{ByWidth, by_width};
use crate::fm_index::Row;
use crate::frame::BlockIndex;

/// Occurrences of each symbol above each slice, and behind the last one, in all.
pub struct CountsAbove {
    /// The symbols of the block, ascending, and of each byte which of them it is.
    symbols: Vec<u8>,
    numbers: [Option<u8>; 256],
    /// Those of all symbols above the first slice, then above the next.
    counts: ByWidth<Vec<u32>, Vec<u64>>,
}

impl CountsAbove {
    /// Sums up those of an index; checks that each slice is as full as it must be, given where
    /// slices start and the last one ends.
    pub fn new(index: &BlockIndex, starts: &[u64], wide: bool) -> Result<Self, Flaw> {
        let symbols: Vec<u8> = index.counts.rows().map(|(symbol, _)| symbol).collect();
        let mut numbers = [None; 256];
        for (number, &symbol) in (0..=255).zip(&symbols) {
            numbers[usize::from(symbol)] = Some(number);
        }
        let counts = match wide {
            false => ByWidth::Narrow(accumulate(index, symbols.len(), starts)?),
            true => ByWidth::Wide(accumulate(index, symbols.len(), starts)?),
        };
        Ok(CountsAbove { symbols, numbers, counts })
    }

    /// Occurrences of `c` above slice `k`.
    pub fn get(&self, k: usize, c: u8) -> u64 {
        let Some(number) = self.numbers[usize::from(c)] else { return 0 };
        let at = k * self.symbols.len() + usize::from(number);
        by_width!(&self.counts, counts => counts[at].get() as u64)
    }

    /// Occurrences of each byte above slice `k`.
    pub fn all(&self, k: usize) -> [u64; 256] {
        let mut all = [0; 256];
        for &symbol in &self.symbols {
            all[usize::from(symbol)] = self.get(k, symbol);
        }
        all
    }
}

fn accumulate<R: Row>(index: &BlockIndex, symbols: usize, starts: &[u64]) -> Result<Vec<R>, Flaw> {
    let mut above = vec![R::default(); symbols * starts.len()];
    for (number, (_, counts)) in index.counts.rows().enumerate() {
        let mut sum = 0;
        for (k, &count) in counts.iter().enumerate() {
            sum += count as usize;
            above[(k + 1) * symbols + number] = R::new(sum.min(R::ABOVE.get()));
        }
    }
    let sum = |counts: &[R]| counts.iter().map(|&count| count.into()).sum::<u64>();
    if above.chunks_exact(symbols).map(sum).eq(starts.iter().copied()) {
        return Ok(above);
    }
    Err(Flaw("the index's counts do not add up to the block's slices"))
}
