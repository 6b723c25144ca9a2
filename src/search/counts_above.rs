//! Number of occurrences of each symbol above each slice of a block. With these counts, rank has to
//! decode only the slice that holds the row.
//!
//! Memory: 4 bytes per slice and symbol of the block, or 8 if the block is so large that counts
//! need 64 bits.

use crate::base::error::Flaw;
use crate::base::positions::{ByWidth, by_width};
use crate::fm_index::Row;
use crate::frame::BlockIndex;

/// Occurrences of each symbol above each slice, followed by those in the whole block.
pub(super) struct CountsAbove {
    /// The symbols of the block, ascending.
    symbols: Vec<u8>,
    /// For each byte, its index in `symbols`.
    numbers: [Option<u8>; 256],
    /// The counts of all symbols above the first slice, then above the next one, and so on.
    counts: ByWidth<Vec<u32>, Vec<u64>>,
}

impl CountsAbove {
    /// Adds up the counts of an index. `starts` holds the start of each slice and the end of the
    /// last one.
    ///
    /// # Errors
    /// A flaw if the counts of a slice do not add up to its size.
    pub(super) fn new(index: &BlockIndex, starts: &[u64], wide: bool) -> Result<Self, Flaw> {
        let symbols: Vec<u8> = index
            .counts
            .rows()
            .map(|(symbol, _)| symbol)
            .collect();
        let mut numbers = [None; 256];
        for (number, &symbol) in (0..=255).zip(&symbols) {
            numbers[usize::from(symbol)] = Some(number);
        }
        let counts = match wide {
            false => ByWidth::Narrow(accumulate(index, symbols.len(), starts)?),
            true => ByWidth::Wide(accumulate(index, symbols.len(), starts)?),
        };
        Ok(CountsAbove {
            symbols,
            numbers,
            counts,
        })
    }

    /// Occurrences of `c` above slice `k`.
    pub(super) fn get(&self, k: usize, c: u8) -> u64 {
        let Some(number) = self.numbers[usize::from(c)] else {
            return 0;
        };
        let at = k * self.symbols.len() + usize::from(number);
        by_width!(&self.counts, counts => counts[at].get() as u64)
    }

    /// Occurrences of each byte above slice `k`.
    pub(super) fn all(&self, k: usize) -> [u64; 256] {
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
    let sum = |counts: &[R]| {
        counts
            .iter()
            .map(|&count| count.into())
            .sum::<u64>()
    };
    if above
        .chunks_exact(symbols)
        .map(sum)
        .eq(starts.iter().copied())
    {
        return Ok(above);
    }
    Err(Flaw(
        "the index's counts do not add up to the block's slices",
    ))
}
