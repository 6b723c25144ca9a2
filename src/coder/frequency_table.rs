//! A table of static rANS: the owner of each of 2^15 slots among 16 symbols. FORMAT.md section
//! 14.2.
//!
//! A weight is stored as a floating-point number of one byte, its [`Code`]: its four highest bits
//! and an exponent, so that it is exact to a sixteenth. Every symbol owns at least one slot, even
//! with weight 0, so any bytes make a valid table.

use super::rans::{PreparedSlots, SLOT_BITS, Slots};
use super::slot_search::SlotSearch;

/// Number of slots shared by weight; each symbol has one more.
const SHARED: u64 = (1 << SLOT_BITS) - 16;

/// A weight in one byte.
pub(super) type Code = u8;

/// The slots that each of 16 symbols owns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct FrequencyTable {
    /// The first slot of each symbol, and behind them 2^15.
    starts: [u16; 17],
}

impl FrequencyTable {
    /// The table of these weights.
    pub(super) fn new(codes: &[Code; 16]) -> Self {
        let weights = codes.map(weight);
        let all = weights.iter().sum::<u64>().max(1);
        let mut before = 0;
        let mut starts = [1 << SLOT_BITS; 17];
        for (symbol, weight) in weights.into_iter().enumerate() {
            starts[symbol] = (before * SHARED / all) as u16 + symbol as u16;
            before += weight;
        }
        FrequencyTable { starts }
    }

    /// The slots of a symbol.
    #[inline(always)]
    pub(super) fn slots(&self, symbol: usize) -> Slots {
        let [start, end] = [self.starts[symbol & 15], self.starts[(symbol & 15) + 1]];
        Slots {
            start: start.into(),
            freq: u32::from(end - start),
        }
    }

    /// The slots of all symbols.
    pub(super) fn prepared(&self) -> [PreparedSlots; 16] {
        std::array::from_fn(|symbol| self.slots(symbol).into())
    }

    /// Returns true if `slot` belongs to `symbol` or one above it.
    #[inline(always)]
    pub(super) fn reaches(&self, symbol: usize, slot: u32) -> bool {
        slot >= u32::from(self.starts[symbol])
    }

    /// The symbol that owns `slot`, and its slots.
    #[inline(always)]
    pub(super) fn find<S: SlotSearch>(&self, slot: u32) -> (u32, Slots) {
        let starts = self
            .starts
            .first_chunk()
            .expect("sixteen of seventeen");
        let symbol = S::not_above(starts, slot as u16).wrapping_sub(1);
        (symbol as u32, self.slots(symbol))
    }
}

/// The codes of counts, scaled so that the weights sum to about 2^15. Similar counts have equal
/// codes.
pub(super) fn codes(counts: &[u32; 16]) -> [Code; 16] {
    let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    counts.map(|count| match u64::from(count) << SLOT_BITS {
        0 => 0,
        scaled => to_code(((scaled + all / 2) / all).max(1) as u32),
    })
}

/// The code of a weight, rounded: weights below 16 are themselves.
pub(super) fn to_code(weight: u32) -> Code {
    let dropped = (weight.max(8).ilog2() - 3) as u64;
    let high = (u64::from(weight) + (1 << dropped >> 1)) >> dropped;
    (8 * dropped + high) as u8
}

/// The weight that a code stands for.
fn weight(code: Code) -> u64 {
    match code {
        ..16 => code.into(),
        _ => u64::from(8 + code % 8) << (code / 8 - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot_search::SearchBaseline;
    use super::*;

    fn tables() -> [FrequencyTable; 4] {
        let uneven = std::array::from_fn(|j| (j as u32 * 977) % 1000 * (j as u32 % 3));
        let one = std::array::from_fn(|j| u32::from(j == 3) * 5);
        let codes = [codes(&[0; 16]), codes(&uneven), codes(&one), [255; 16]];
        codes.map(|codes| FrequencyTable::new(&codes))
    }

    #[test]
    fn symbols_own_all_slots_in_order() {
        for table in tables() {
            let mut next = 0;
            for symbol in 0..16 {
                let Slots { start, freq } = table.slots(symbol);
                assert!(start == next && freq > 0);
                for slot in [start, start + freq - 1] {
                    let (found, slots) = table.find::<SearchBaseline>(slot);
                    assert_eq!((found as usize, slots), (symbol, Slots { start, freq }));
                }
                next = start + freq;
            }
            assert_eq!(next, 1 << SLOT_BITS);
        }
    }

    #[test]
    fn weights_survive_within_a_sixteenth() {
        for weight in (1..100).chain([1000, 12_345, 32_768, u32::MAX]) {
            let code = to_code(weight);
            let back = super::weight(code);
            assert!(
                back.abs_diff(weight.into()) * 16 <= weight.into(),
                "{weight}: {back}"
            );
            assert_eq!(to_code(back.min(u32::MAX.into()) as u32), code, "{weight}");
        }
        assert_eq!(to_code(0), 0);
    }

    #[test]
    fn shares_follow_the_counts() {
        let table = FrequencyTable::new(&codes(&std::array::from_fn(|j| 1 << j)));
        let freq = |symbol| table.slots(symbol).freq;
        assert!((16_000..17_000).contains(&freq(15)) && (3..12).contains(&freq(3)));
    }
}
