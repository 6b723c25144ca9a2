//! Adaptive models of symbols 0..=15, alone or two at a time.
//!
//! A [`Cell`] holds where the slots of 16 symbols begin and moves these borders towards every
//! symbol it sees, by the nth part of the way after n symbols, down to a least part. All 16 move in
//! one vector operation, so a symbol costs the same whether it is likely or not, and nothing
//! branches on it. The first border is always 0; its lane holds the part instead, which falls by
//! the same operation as the borders move: a rate r that goes towards 0 by r of the way becomes r -
//! r^2, which is 1/(n + 1) where r was 1/n, nearly.
//!
//! A [`Blend`] looks two cells up, each by another context, and takes the mean of their borders.
//! One alone is 1.5 % larger. To learn how much to trust each of the two takes a fifth of the time
//! more and saves 0.15 %.
//!
//! Source: the cell is that of Giesen's "Models for adaptive arithmetic coding" (2015), with a
//! rate of its own.

use super::cdf_simd::Lanes;
use super::rans::{SLOT_BITS, Slots};

const SLOTS: u16 = 1 << SLOT_BITS;
/// What symbols share in a cell. Each has one slot besides, so that none is impossible.
const TOTAL: u16 = SLOTS - 16;

/// Lanes that lie within one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Aligned([i16; 16]);

/// By what part of the way, in units of 2^-16, cells move that are new, and those that have seen
/// much.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub first: i16,
    pub least: i16,
}

/// `TARGETS[s][j]`: where symbol j begins in a cell in which every symbol is s.
static TARGETS: [Aligned; 16] = {
    let mut targets = [const { Aligned([0; 16]) }; 16];
    let mut at = 0;
    while at < 256 {
        let (s, j) = (at / 16, at % 16);
        targets[s].0[j] = (if j > s { TOTAL as usize + j } else { j }) as i16;
        at += 1;
    }
    targets
};

/// Lane j is where the slots of symbol j begin; lane 0 is the rate.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub struct Cell([i16; 16]);

impl Cell {
    /// Of 1024 symbols `shares[s]` are s.
    pub const fn of_shares(shares: &[u16; 16]) -> Cell {
        let (mut lanes, mut before) = ([0; 16], 0);
        let mut j = 1;
        while j < 16 {
            before += shares[j - 1] as i32;
            lanes[j] = ((TOTAL as i32 * before) >> 10) as i16 + j as i16;
            j += 1;
        }
        Cell(lanes)
    }

    /// The first 2^`bits` symbols, `bits` being 1 to 4, equally likely, and no others.
    pub const fn flat(bits: u32) -> Cell {
        let mut shares = [0; 16];
        let mut j = 0;
        while j < 1 << bits {
            shares[j] = 1024 >> bits;
            j += 1;
        }
        Cell::of_shares(&shares)
    }

    fn with_rate(mut self, rate: i16) -> Cell {
        self.0[0] = rate;
        self
    }
}

/// By their bits.
static FLAT: [Cell; 5] =
    [Cell::flat(1), Cell::flat(1), Cell::flat(2), Cell::flat(3), Cell::flat(4)];

/// N cells of one pace.
#[derive(Clone, Debug)]
struct Cells<const N: usize> {
    cells: Box<[Cell; N]>,
    /// The least rate, in all lanes.
    least: Aligned,
}

impl<const N: usize> Cells<N> {
    /// Cell n begins as `start(n)`.
    fn new(start: impl Fn(usize) -> Cell, pace: Pace) -> Self {
        let cells = (0..N).map(|at| start(at).with_rate(pace.first)).collect::<Box<[Cell]>>();
        Cells { cells: cells.try_into().expect("N cells"), least: Aligned([pace.least; 16]) }
    }

    #[inline(always)]
    fn load<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.cells[at % N].0)
    }

    #[inline(always)]
    fn update<L: Lanes>(&mut self, at: usize, loaded: L, target: L) {
        self.cells[at % N].0 = loaded.toward(target, L::load(&self.least.0)).store();
    }
}

/// Which cells to use for one symbol.
#[derive(Debug, Clone, Copy)]
pub struct Contexts {
    pub first: usize,
    pub second: usize,
}

/// Two sets of cells, A and B of them, of which the second is used where they are paired.
#[derive(Clone, Debug)]
pub struct Blend<const A: usize, const B: usize> {
    first: Cells<A>,
    second: Cells<B>,
}

/// Those of cells that begin as [`Cell::flat`].
const FLAT_PACES: [Pace; 2] = [Pace { first: 8738, least: 512 }, Pace { first: 4096, least: 512 }];

impl<const A: usize, const B: usize> Blend<A, B> {
    /// Cells begin as [`Cell::flat`], of as many bits as these say of each one's index.
    pub fn flat(first: impl Fn(usize) -> usize, second: impl Fn(usize) -> usize) -> Self {
        let flat = |bits: usize| FLAT[bits.clamp(1, 4)];
        Blend::new(|at| flat(first(at)), |at| flat(second(at)), FLAT_PACES)
    }

    /// Cells begin as these say of each one's index.
    pub fn new(
        first: impl Fn(usize) -> Cell,
        second: impl Fn(usize) -> Cell,
        [of_first, of_second]: [Pace; 2],
    ) -> Self {
        Blend { first: Cells::new(first, of_first), second: Cells::new(second, of_second) }
    }

    /// The slots of `symbol`, which the model learns.
    #[inline(always)]
    pub fn encode<L: Lanes>(&mut self, at: Contexts, symbol: usize) -> Slots {
        let loaded = self.load::<L>(at);
        let slots = spread(starts(loaded), symbol);
        self.learn(at, loaded, symbol);
        slots
    }

    /// The symbol that owns `slot`, and its slots.
    #[inline(always)]
    pub fn decode<L: Lanes>(&mut self, at: Contexts, slot: u32) -> (usize, Slots) {
        let loaded = self.load::<L>(at);
        let starts = starts(loaded);
        let symbol = starts.not_above(slot as i16) - 1;
        let slots = spread(starts, symbol);
        self.learn(at, loaded, symbol);
        (symbol, slots)
    }

    #[inline(always)]
    fn load<L: Lanes>(&self, at: Contexts) -> [L; 2] {
        [self.first.load(at.first), self.second.load(at.second)]
    }

    /// Moves the cells, of which these are the contents, towards `symbol`.
    #[inline(always)]
    fn learn<L: Lanes>(&mut self, at: Contexts, [first, second]: [L; 2], symbol: usize) {
        let target = L::load(&TARGETS[symbol & 15].0);
        self.first.update(at.first, first, target);
        self.second.update(at.second, second, target);
    }
}

/// Where each symbol's slots start: the mean of both cells.
#[inline(always)]
fn starts<L: Lanes>([first, second]: [L; 2]) -> L {
    first.mean(second).without_first()
}

/// The slots of `symbol`, given where all symbols' start.
#[inline(always)]
fn spread<L: Lanes>(starts: L, symbol: usize) -> Slots {
    // Aligned: a load out of a store that crosses a cache line waits for it.
    #[repr(align(64))]
    struct Borders([i16; 32]);
    let mut borders = Borders([SLOTS as i16; 32]);
    borders.0[..16].copy_from_slice(&starts.store());
    let [start, next] = [0, 1].map(|more| u32::from(borders.0[(symbol & 15) + more] as u16));
    Slots { start, freq: next - start }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coder::cdf_simd::Usual;

    /// All but one in a hundred the same.
    const HEAVY: [u16; 16] = [1016, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8];
    const AT: Contexts = Contexts { first: 0, second: 0 };

    fn all_slots(blend: &Blend<1, 1>) -> Vec<Slots> {
        (0..16).map(|symbol| spread(starts(blend.load::<Usual>(AT)), symbol)).collect()
    }

    #[test]
    fn slots_are_never_empty_and_cover_all() {
        for start in [Cell::of_shares(&[64; 16]), Cell::of_shares(&HEAVY), Cell::flat(1)] {
            for symbol in [0, 1, 7, 14, 15] {
                cover_all(start, symbol);
            }
        }
    }

    fn cover_all(start: Cell, symbol: usize) {
        let mut blend = Blend::<1, 1>::new(|_| start, |_| start, FLAT_PACES);
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
            (Blend::<4, 2>::flat(|_| 4, |_| 3), Blend::<4, 2>::flat(|_| 4, |_| 3));
        for i in 0..20_000usize {
            let symbol = ((i * i) >> 3) % 16;
            let at = Contexts { first: i % 4, second: i / 7 % 2 };
            let slots = left.encode::<Usual>(at, symbol);
            assert_eq!(right.decode::<Usual>(at, slots.start), (symbol, slots));
        }
    }
}
