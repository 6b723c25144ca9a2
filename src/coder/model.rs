//! Adaptive models of symbols 0..=15, and blends of two of them.
//!
//! A [`Cell`] holds the cumulative frequencies of 16 symbols and moves them towards every symbol it
//! sees: by a half at first, by 1/128 once it has seen 63. All 16 move in one vector operation,
//! so a symbol costs the same whether it is likely or not, and nothing branches on it.
//!
//! A [`Blend`] looks two cells up, each by another context, and adds their frequencies, weighted.
//! The weight is learnt: after each symbol it moves towards the share that the second cell had in
//! the frequency which that symbol got (a step of expectation maximisation). Cost of a symbol: ~8
//! ns to decode, of which half is the wait from one symbol to the next through the context; ~6 to
//! encode.
//!
//! Source: the cell is that of Giesen's "Models for adaptive arithmetic coding" (2015), with a
//! count added.

use super::lanes::Lanes;
use super::rans::{SLOT_BITS, Slots};

const SLOTS: u16 = 1 << SLOT_BITS;
/// The frequencies of a cell sum to this; a blend adds 1 for each symbol, which makes 2^15.
const TOTAL: u16 = SLOTS - 16;
const ONE_EACH: [i16; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Weights are in units of 2^-16; those of both cells sum to 1. The bounds are those of the second
/// cell's.
const WEIGHT_START: u16 = 24 << 10;
const WEIGHT_LEAST: i32 = 1 << 10;
const WEIGHT_MOST: i32 = 62 << 10;
const WEIGHT_RATE: u32 = 5;

/// Shift by which a cell moves that has seen this many symbols: about 1/n.
const RATES: [u8; 64] = {
    let mut rates = [1; 64];
    let mut seen = 1;
    while seen < 64 {
        rates[seen] = match seen {
            ..4 => 2,
            4..9 => 3,
            9..19 => 4,
            19..38 => 5,
            38..63 => 6,
            _ => 7,
        };
        seen += 1;
    }
    rates
};

/// `TARGETS[s][j]`: the cumulative frequency in front of symbol j where every symbol is s.
const TARGETS: [[i16; 16]; 16] = {
    let mut targets = [[0; 16]; 16];
    let mut at = 0;
    while at < 256 {
        if at % 16 > at / 16 {
            targets[at / 16][at % 16] = TOTAL as i16;
        }
        at += 1;
    }
    targets
};

/// Cumulative frequencies of 16 symbols: lane j is the sum of those before j. Lane 0, always 0,
/// counts symbols instead.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub struct Cell([i16; 16]);

impl Cell {
    /// Each symbol takes a third of what those before it left.
    pub const FALLING: Cell = {
        let mut lanes = [0; 16];
        let mut j = 1;
        while j < 16 {
            lanes[j] = lanes[j - 1] + (TOTAL as i16 - lanes[j - 1]) / 3;
            j += 1;
        }
        Cell(lanes)
    };

    /// All 16 symbols equally likely.
    pub const FLAT: Cell = {
        let mut lanes = [0; 16];
        let mut j = 1;
        while j < 16 {
            lanes[j] = TOTAL as i16 / 16 * j as i16;
            j += 1;
        }
        Cell(lanes)
    };

    /// The cumulative frequencies in units of `weight`.
    #[inline(always)]
    fn share(&self, weight: u16) -> Lanes {
        Lanes::load(&self.0).share(weight).with_first(0)
    }

    #[inline(always)]
    fn update(&mut self, symbol: usize) {
        let seen = self.0[0];
        let rate = RATES[(seen & 63) as usize];
        let target = Lanes::load(&TARGETS[symbol & 15]);
        let moved = Lanes::load(&self.0).toward(target, rate);
        self.0 = moved.with_first(seen + i16::from(seen < 63)).store();
    }
}

/// Which cells, and which weight, to use for one symbol.
#[derive(Debug, Clone, Copy)]
pub struct Contexts {
    pub first: usize,
    pub second: usize,
    pub weight: usize,
}

/// Two sets of cells, A and B of them, and eight weights of the second.
#[derive(Debug)]
pub struct Blend<const A: usize, const B: usize> {
    first: Box<[Cell; A]>,
    second: Box<[Cell; B]>,
    weights: [u16; 8],
}

impl<const A: usize, const B: usize> Blend<A, B> {
    /// All cells begin as `start`.
    pub fn new(start: Cell) -> Self {
        Blend { first: boxed(start), second: boxed(start), weights: [WEIGHT_START; 8] }
    }

    /// The slots of `symbol`, which the model learns.
    #[inline(always)]
    pub fn encode(&mut self, at: Contexts, symbol: usize) -> Slots {
        let mixed = self.mix(at);
        self.learn(at, mixed, symbol)
    }

    /// The symbol that owns `slot`, and its slots.
    #[inline(always)]
    pub fn decode(&mut self, at: Contexts, slot: u32) -> (usize, Slots) {
        let mixed = self.mix(at);
        let symbol = mixed.starts.not_above(slot as i16) - 1;
        (symbol, self.learn(at, mixed, symbol))
    }

    #[inline(always)]
    fn mix(&self, at: Contexts) -> Mixed {
        let weight = self.weights[at.weight % 8];
        let first = self.first[at.first % A].share(weight.wrapping_neg());
        let second = self.second[at.second % B].share(weight);
        Mixed { starts: first.add(second).add(Lanes::load(&ONE_EACH)), second }
    }

    #[inline(always)]
    fn learn(&mut self, at: Contexts, mixed: Mixed, symbol: usize) -> Slots {
        let weight = &mut self.weights[at.weight % 8];
        let slots = spread(mixed.starts, SLOTS, symbol);
        let all_second = (u32::from(TOTAL) * u32::from(*weight)) >> 16;
        let share = (spread(mixed.second, all_second as u16, symbol).freq << 16) / slots.freq;
        let old = i32::from(*weight);
        *weight =
            (old + ((share as i32 - old) >> WEIGHT_RATE)).clamp(WEIGHT_LEAST, WEIGHT_MOST) as u16;
        self.first[at.first % A].update(symbol);
        self.second[at.second % B].update(symbol);
        slots
    }
}

/// Where each symbol's slots start, and what the second cell contributed to that.
#[derive(Clone, Copy)]
struct Mixed {
    starts: Lanes,
    second: Lanes,
}

fn boxed<const N: usize>(cell: Cell) -> Box<[Cell; N]> {
    vec![cell; N].into_boxed_slice().try_into().expect("N cells")
}

/// The slots of `symbol`, given where all symbols' start and where the last one's end.
#[inline(always)]
fn spread(starts: Lanes, end: u16, symbol: usize) -> Slots {
    let mut borders = [end as i16; 17];
    borders[..16].copy_from_slice(&starts.store());
    let start = u32::from(borders[symbol & 15] as u16);
    let next = u32::from(borders[(symbol & 15) + 1] as u16);
    Slots { start, freq: next - start }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Contexts = Contexts { first: 0, second: 0, weight: 0 };

    fn all_slots(blend: &Blend<1, 1>) -> Vec<Slots> {
        (0..16).map(|symbol| spread(blend.mix(AT).starts, SLOTS, symbol)).collect()
    }

    #[test]
    fn slots_are_never_empty_and_cover_all() {
        for start in [Cell::FALLING, Cell::FLAT] {
            for symbol in [0, 1, 7, 14, 15] {
                let mut blend = Blend::new(start);
                for _ in 0..3000 {
                    let slots = all_slots(&blend);
                    assert!(slots.iter().all(|s| s.freq > 0));
                    assert_eq!(slots.iter().map(|s| s.freq).sum::<u32>(), 1 << SLOT_BITS);
                    blend.encode(AT, symbol);
                }
                assert!(all_slots(&blend)[symbol].freq > 31_000);
            }
        }
    }

    #[test]
    fn decoding_learns_the_same() {
        let (mut left, mut right) =
            (Blend::<4, 2>::new(Cell::FLAT), Blend::<4, 2>::new(Cell::FLAT));
        for i in 0..20_000usize {
            let symbol = ((i * i) >> 3) % 16;
            let at = Contexts { first: i % 4, second: i / 7 % 2, weight: i % 8 };
            let slots = left.encode(at, symbol);
            assert_eq!(right.decode(at, slots.start), (symbol, slots));
            assert_eq!(left.weights, right.weights);
        }
    }
}
