//! The map from a row to its first two symbols.
//!
//! The rows that start with one pair are neighbours, so the pair of a row is the last one that
//! starts at or before it. A table gives the pair of the first of each 2^shift rows; from there it
//! is rarely more than one step. The table stays in the second-level cache beside the random reads
//! of the walk.

use super::counters::Counters;
use crate::base::positions::Row;

/// Upper bound of the number of slots, which take 2 bytes each: more would not stay in the cache,
/// fewer would need more steps.
const MAX_SLOTS: usize = 1 << 17;

/// Base-2 logarithm of the minimum number of rows per slot, so that small blocks do not make more
/// slots than they use.
const MIN_SHIFT: u32 = 4;

pub(super) struct FirstSymbols<R> {
    shift: u32,
    /// `slots[s]`: the index of the pair of row `s << shift`.
    slots: Vec<u16>,
    /// The end (exclusive) of the rows of each pair, ascending. The last one is above all rows.
    ends: Vec<R>,
    symbols: Vec<[u8; 2]>,
}

impl<R: Row> FirstSymbols<R> {
    pub(super) fn new(counters: &Counters<R>) -> Self {
        let (ends, symbols) = present(counters);
        let rows = counters.rows();
        let mut shift = MIN_SHIFT;
        while rows >> shift >= MAX_SLOTS {
            shift += 1;
        }
        let mut slots = vec![0; (rows >> shift) + 2];
        let mut pair = 0;
        for (slot, row) in slots.iter_mut().zip((0u64..).step_by(1 << shift)) {
            while ends[pair].into() <= row {
                pair += 1;
            }
            *slot = pair as u16;
        }
        FirstSymbols {
            shift,
            slots,
            ends,
            symbols,
        }
    }

    /// The first two symbols of a row.
    ///
    /// # Safety
    /// `row` is a row of the block that the counters were made for, or the number after the last.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) unsafe fn of(&self, row: R) -> [u8; 2] {
        let slot = row.get() >> self.shift;
        debug_assert!(slot + 1 < self.slots.len());
        // SAFETY: there is a slot for each row and one behind them. A slot holds the index of a
        // pair, and the end of the last pair is above every row, so no step is made from the last
        // pair.
        unsafe {
            let mut pair = usize::from(*self.slots.get_unchecked(slot));
            // One step without a branch, since the branch would be unpredictable; more steps are
            // rare.
            pair += usize::from(*self.ends.get_unchecked(pair) <= row);
            if *self.ends.get_unchecked(pair) <= row {
                let last = usize::from(*self.slots.get_unchecked(slot + 1));
                pair = self.search(pair, last, row);
            }
            *self.symbols.get_unchecked(pair)
        }
    }

    /// The pair of `row`, from `first` to `last`, if a slot covers many. With linear steps, a block
    /// made for it could have every row step over thousands of pairs.
    #[cold]
    fn search(&self, first: usize, last: usize, row: R) -> usize {
        first + self.ends[first..last].partition_point(|&end| end <= row)
    }
}

/// The end and the symbols of each pair that occurs, in order of rows. The suffixes of length 0 and
/// 1 start with no pair; their rows are counted to a neighbour, since no walk of an intact BWT
/// leads there.
fn present<R: Row>(counters: &Counters<R>) -> (Vec<R>, Vec<[u8; 2]>) {
    let mut ends = Vec::new();
    let mut symbols = Vec::new();
    let mut last = None;
    let occurring = counters.symbols();
    // Plain loops: there may be 65536 pairs, even in a small block.
    for &x in &occurring {
        for &y in &occurring {
            let next = counters.pair_start([x, y]);
            if let Some((start, pair)) = last.replace((next, [x, y]))
                && start < next
            {
                ends.push(next);
                symbols.push(pair);
            }
        }
    }
    ends.push(R::ABOVE);
    symbols.extend(last.map(|(_, pair)| pair));
    (ends, symbols)
}
