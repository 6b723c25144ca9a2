//! Adaptive models of symbols 0..=15, and blends of two of them.
//!
//! A [`Cell`] holds the cumulative frequencies of 16 symbols and moves them towards every symbol it
//! sees: by a half at first, by 1/128 once it has seen 63. All 16 move in one vector operation,
//! so a symbol costs the same whether it is likely or not, and nothing branches on it.
//!
//! A [`Blend`] looks two cells up, each by another context, and adds their frequencies, weighted.
//! The weight is one half, or learnt: after each symbol it moves towards the share that the second
//! cell had in the frequency which that symbol got (a step of expectation maximisation). Learning
//! takes a fifth of the coder's time, for its division, and saves 0.4 % of the bytes.
//!
//! A symbol is decoded in some 45 cycles, most of them the wait from one symbol to the next: its
//! context leads to the cells, these to the symbol, and that to the next context.
//!
//! Source: the cell is that of Giesen's "Models for adaptive arithmetic coding" (2015), with a
//! count added.

use super::lanes::Lanes;
use super::rans::{SLOT_BITS, Slots};

const SLOTS: u16 = 1 << SLOT_BITS;
/// The frequencies of a cell sum to this; a blend adds 1 for each symbol, which makes 2^15.
const TOTAL: u16 = SLOTS - 16;
static ONE_EACH: Aligned = Aligned([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

/// Lanes that lie within one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Aligned([i16; 16]);

/// Weights are in units of 2^-16; those of both cells sum to 1. The bounds are those of the second
/// cell's.
const WEIGHT_START: u16 = 24 << 10;
const WEIGHT_LEAST: i32 = 1 << 10;
const WEIGHT_MOST: i32 = 62 << 10;
const WEIGHT_RATE: u32 = 5;

/// Shift by which a cell moves that has seen this many symbols: about 1/n.
static RATES: [u8; 256] = {
    let mut rates = [1; 256];
    let mut seen = 1;
    while seen < 256 {
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

/// The count after this one.
static MORE: [u8; 256] = {
    let mut more = [63; 256];
    let mut seen = 0;
    while seen < 63 {
        more[seen] = seen as u8 + 1;
        seen += 1;
    }
    more
};

/// `TARGETS[s][j]`: the cumulative frequency in front of symbol j where every symbol is s.
static TARGETS: [Aligned; 16] = {
    let mut targets = [const { Aligned([0; 16]) }; 16];
    let mut at = 0;
    while at < 256 {
        if at % 16 > at / 16 {
            targets[at / 16].0[at % 16] = TOTAL as i16;
        }
        at += 1;
    }
    targets
};

/// Cumulative frequencies of 16 symbols: lane j is the sum of those before j.
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
}

/// N cells, and how many symbols each has seen, up to 63.
#[derive(Debug)]
struct Cells<const N: usize> {
    cells: Box<[Cell; N]>,
    seen: Box<[u8; N]>,
}

impl<const N: usize> Cells<N> {
    fn new(start: Cell) -> Self {
        Cells { cells: boxed(start), seen: boxed(0) }
    }

    #[inline(always)]
    fn load<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.cells[at % N].0)
    }

    #[inline(always)]
    fn update<L: Lanes>(&mut self, at: usize, target: L) {
        let seen = &mut self.seen[at % N];
        let rate = RATES[usize::from(*seen)];
        *seen = MORE[usize::from(*seen)];
        let cell = &mut self.cells[at % N].0;
        *cell = L::load(cell).toward(target, rate).store();
    }
}

/// Which cells, and which weight, to use for one symbol.
#[derive(Debug, Clone, Copy)]
pub struct Contexts {
    pub first: usize,
    pub second: usize,
    pub weight: usize,
}

/// Two sets of cells, A and B of them, and eight weights of the second: learnt, or one half each.
#[derive(Debug)]
pub struct Blend<const A: usize, const B: usize, const LEARNS: bool> {
    first: Cells<A>,
    second: Cells<B>,
    weights: [u16; 8],
}

impl<const A: usize, const B: usize, const LEARNS: bool> Blend<A, B, LEARNS> {
    /// All cells begin as `start`.
    pub fn new(start: Cell) -> Self {
        Blend { first: Cells::new(start), second: Cells::new(start), weights: [WEIGHT_START; 8] }
    }

    /// The slots of `symbol`, which the model learns.
    #[inline(always)]
    pub fn encode<L: Lanes>(&mut self, at: Contexts, symbol: usize) -> Slots {
        let mixed = self.mix::<L>(at);
        self.learn(at, mixed, symbol)
    }

    /// The symbol that owns `slot`, and its slots.
    #[inline(always)]
    pub fn decode<L: Lanes>(&mut self, at: Contexts, slot: u32) -> (usize, Slots) {
        let mixed = self.mix::<L>(at);
        let symbol = mixed.starts.not_above(slot as i16) - 1;
        (symbol, self.learn(at, mixed, symbol))
    }

    #[inline(always)]
    fn mix<L: Lanes>(&self, at: Contexts) -> Mixed<L> {
        let (first, second): (L, L) = (self.first.load(at.first), self.second.load(at.second));
        let (first, second) = if LEARNS {
            let weight = self.weights[at.weight % 8];
            (first.share(weight.wrapping_neg()), second.share(weight))
        } else {
            (first.half(), second.half())
        };
        Mixed { starts: first.add(second).add(L::load(&ONE_EACH.0)), second }
    }

    #[inline(always)]
    fn learn<L: Lanes>(&mut self, at: Contexts, mixed: Mixed<L>, symbol: usize) -> Slots {
        let slots = spread(mixed.starts, SLOTS, symbol);
        if LEARNS {
            self.learn_weight(at.weight % 8, mixed.second, symbol, slots.freq);
        }
        let target = L::load(&TARGETS[symbol & 15].0);
        self.first.update(at.first, target);
        self.second.update(at.second, target);
        slots
    }

    #[inline(always)]
    fn learn_weight<L: Lanes>(&mut self, at: usize, second: L, symbol: usize, freq: u32) {
        let weight = &mut self.weights[at];
        let all_second = (u32::from(TOTAL) * u32::from(*weight)) >> 16;
        let share = (spread(second, all_second as u16, symbol).freq << 16) / freq;
        let old = i32::from(*weight);
        *weight =
            (old + ((share as i32 - old) >> WEIGHT_RATE)).clamp(WEIGHT_LEAST, WEIGHT_MOST) as u16;
    }
}

/// Where each symbol's slots start, and what the second cell contributed to that.
#[derive(Clone, Copy)]
struct Mixed<L> {
    starts: L,
    second: L,
}

fn boxed<T: Copy + std::fmt::Debug, const N: usize>(value: T) -> Box<[T; N]> {
    vec![value; N].into_boxed_slice().try_into().expect("N values")
}

/// The slots of `symbol`, given where all symbols' start and where the last one's end.
#[inline(always)]
fn spread<L: Lanes>(starts: L, end: u16, symbol: usize) -> Slots {
    // Aligned: a load out of a store that crosses a cache line waits for it.
    #[repr(align(64))]
    struct Borders([i16; 32]);
    let mut borders = Borders([end as i16; 32]);
    borders.0[..16].copy_from_slice(&starts.store());
    let start = u32::from(borders.0[symbol & 15] as u16);
    let next = u32::from(borders.0[(symbol & 15) + 1] as u16);
    Slots { start, freq: next - start }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coder::lanes::Usual;

    const AT: Contexts = Contexts { first: 0, second: 0, weight: 0 };

    fn all_slots<const LEARNS: bool>(blend: &Blend<1, 1, LEARNS>) -> Vec<Slots> {
        (0..16).map(|symbol| spread(blend.mix::<Usual>(AT).starts, SLOTS, symbol)).collect()
    }

    #[test]
    fn slots_are_never_empty_and_cover_all() {
        for start in [Cell::FALLING, Cell::FLAT] {
            for symbol in [0, 1, 7, 14, 15] {
                cover_all::<true>(start, symbol);
                cover_all::<false>(start, symbol);
            }
        }
    }

    fn cover_all<const LEARNS: bool>(start: Cell, symbol: usize) {
        let mut blend = Blend::<1, 1, LEARNS>::new(start);
        for _ in 0..3000 {
            let slots = all_slots(&blend);
            assert!(slots.iter().all(|s| s.freq > 0));
            assert_eq!(slots.iter().map(|s| s.freq).sum::<u32>(), 1 << SLOT_BITS);
            blend.encode::<Usual>(AT, symbol);
        }
        assert!(all_slots(&blend)[symbol].freq > 31_000);
    }

    #[test]
    fn decoding_learns_the_same() {
        let (mut left, mut right) =
            (Blend::<4, 2, true>::new(Cell::FLAT), Blend::<4, 2, true>::new(Cell::FLAT));
        for i in 0..20_000usize {
            let symbol = ((i * i) >> 3) % 16;
            let at = Contexts { first: i % 4, second: i / 7 % 2, weight: i % 8 };
            let slots = left.encode::<Usual>(at, symbol);
            assert_eq!(right.decode::<Usual>(at, slots.start), (symbol, slots));
            assert_eq!(left.weights, right.weights);
        }
    }
}
