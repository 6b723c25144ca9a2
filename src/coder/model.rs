//! Adaptive models of symbols 0..=15, alone or two at a time.
//!
//! A [`Cell`] holds the cumulative frequencies of 16 symbols and moves them towards every symbol it
//! sees: by 1/8 or 1/16 at first, by 1/128 once it has seen 63. All 16 move in one vector operation,
//! so a symbol costs the same whether it is likely or not, and nothing branches on it.
//!
//! A [`Blend`] looks two cells up, each by another context, and takes the mean of their frequencies. One alone
//! is 1.5 % larger. To learn how much to trust each of the two takes a fifth of the time more and saves 0.4 %.
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

/// How many symbols a new cell counts as seen: second contexts are fewer, and their starts fit better.
const SEEN_FIRST: u8 = 4;
const SEEN_SECOND: u8 = 13;

/// Shift by which a cell moves that has seen this many symbols: about 1/n.
static RATES: [u8; 256] = {
    let mut rates = [3; 256];
    let mut seen = 9;
    while seen < 256 {
        rates[seen] = match seen {
            ..19 => 4,
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
    /// Of 256 symbols `shares[s]` are s.
    pub const fn of_shares(shares: &[u8; 16]) -> Cell {
        let (mut lanes, mut before) = ([0; 16], 0);
        let mut j = 1;
        while j < 16 {
            before += shares[j - 1] as i32;
            lanes[j] = ((TOTAL as i32 * before) >> 8) as i16;
            j += 1;
        }
        Cell(lanes)
    }

    /// The first 2^`bits` symbols, `bits` being 1 to 4, equally likely, and no others.
    pub const fn flat(bits: u32) -> Cell {
        let mut shares = [0; 16];
        let mut j = 0;
        while j < 1 << bits {
            shares[j] = (256 >> bits) as u8;
            j += 1;
        }
        Cell::of_shares(&shares)
    }
}

/// By their bits.
static FLAT: [Cell; 5] =
    [Cell::flat(1), Cell::flat(1), Cell::flat(2), Cell::flat(3), Cell::flat(4)];

/// N cells, and how many symbols each has seen, up to 63.
#[derive(Debug)]
struct Cells<const N: usize> {
    cells: Box<[Cell; N]>,
    seen: Box<[u8; N]>,
}

impl<const N: usize> Cells<N> {
    /// Cell n begins as `start(n)`, and as if it had seen so many symbols.
    fn new(start: impl Fn(usize) -> Cell, seen: u8) -> Self {
        Cells { cells: boxed(start), seen: boxed(|_| seen) }
    }

    #[inline(always)]
    fn load<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.cells[at % N].0)
    }

    #[inline(always)]
    fn update<L: Lanes>(&mut self, at: usize, loaded: L, target: L) {
        let seen = &mut self.seen[at % N];
        let rate = RATES[usize::from(*seen)];
        *seen = MORE[usize::from(*seen)];
        self.cells[at % N].0 = loaded.toward(target, rate).store();
    }
}

/// Which cells to use for one symbol.
#[derive(Debug, Clone, Copy)]
pub struct Contexts {
    pub first: usize,
    pub second: usize,
}

/// Two sets of cells, A and B of them, of which the second is used where they are paired.
#[derive(Debug)]
pub struct Blend<const A: usize, const B: usize> {
    first: Cells<A>,
    second: Cells<B>,
}

impl<const A: usize, const B: usize> Blend<A, B> {
    /// Cells begin as [`Cell::flat`], of as many bits as these say of each one's index.
    pub fn flat(first: impl Fn(usize) -> usize, second: impl Fn(usize) -> usize) -> Self {
        Blend {
            first: Cells::new(|at| FLAT[first(at).clamp(1, 4)], SEEN_FIRST),
            second: Cells::new(|at| FLAT[second(at).clamp(1, 4)], SEEN_SECOND),
        }
    }

    /// Cells begin by the level that their context holds, from bit 0 on in the first ones and from bit `shift` on in the second.
    pub fn by_level(starts: &[Cell; 8], shift: usize) -> Self {
        Blend {
            first: Cells::new(|at| starts[at % 8], SEEN_FIRST),
            second: Cells::new(|at| starts[(at >> shift) % 8], SEEN_SECOND),
        }
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
    first.half().add(second.half()).add(L::load(&ONE_EACH.0))
}

fn boxed<T: std::fmt::Debug, const N: usize>(value: impl Fn(usize) -> T) -> Box<[T; N]> {
    (0..N).map(value).collect::<Box<[T]>>().try_into().expect("N values")
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
    use crate::coder::lanes::Usual;

    /// All but one in a hundred the same.
    const HEAVY: [u8; 16] = [254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    const AT: Contexts = Contexts { first: 0, second: 0 };

    fn all_slots(blend: &Blend<1, 1>) -> Vec<Slots> {
        (0..16).map(|symbol| spread(starts(blend.load::<Usual>(AT)), symbol)).collect()
    }

    #[test]
    fn slots_are_never_empty_and_cover_all() {
        for start in [Cell::of_shares(&[16; 16]), Cell::of_shares(&HEAVY), Cell::flat(1)] {
            for symbol in [0, 1, 7, 14, 15] {
                cover_all(start, symbol);
            }
        }
    }

    fn cover_all(start: Cell, symbol: usize) {
        let mut blend = Blend::<1, 1>::by_level(&[start; 8], 0);
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
