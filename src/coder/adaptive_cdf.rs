//! Adaptive CDFs of symbols 0..=15, and the mean of two.
//!
//! An [`AdaptiveCdf`] holds the cumulative frequencies of 16 symbols and moves them towards every
//! symbol that is coded: by 1/n of the way after n symbols, down to a least rate. All 16 move in
//! one vector operation without a branch, so that all symbols cost the same. The first cumulative
//! frequency is always 0; its lane holds the adaptation rate instead, which falls by the operation
//! that moves the others: a rate r that goes towards 0 by r of the way becomes r - r^2, which is
//! nearly 1/(n + 1) where r was 1/n.
//!
//! A [`MeanCdf`] looks up two adaptive CDFs in two contexts and codes with their mean. One alone is
//! 1.5 % larger. Weights for the two, learnt as well, take a fifth of the time more and save
//! 0.15 %.
//!
//! Source: Giesen, "Models for adaptive arithmetic coding" (2015), with an adaptation rate per CDF.

use super::cdf_simd::CdfVector;
use super::rans::{SLOT_BITS, Slots};

const SLOTS: u16 = 1 << SLOT_BITS;
/// The slots that symbols share. Each has one slot besides, so that none is impossible.
const TOTAL: u16 = SLOTS - 16;

/// Lanes that lie within one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Aligned([i16; 16]);

/// The part of the way, in units of 2^-16, that a CDF moves for a symbol.
#[derive(Debug, Clone, Copy)]
pub struct AdaptationRate {
    /// That of a new CDF.
    pub first: i16,
    /// The rate does not fall below this one.
    pub least: i16,
}

/// `TARGETS[s][j]`: where symbol j begins in a CDF in which every symbol is s.
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

/// Lane j is where the slots of symbol j begin; lane 0 is the adaptation rate.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub struct AdaptiveCdf([i16; 16]);

impl AdaptiveCdf {
    /// Of 1024 symbols `shares[s]` are s.
    pub const fn of_shares(shares: &[u16; 16]) -> AdaptiveCdf {
        let (mut lanes, mut before) = ([0; 16], 0);
        let mut j = 1;
        while j < 16 {
            before += shares[j - 1] as i32;
            lanes[j] = ((TOTAL as i32 * before) >> 10) as i16 + j as i16;
            j += 1;
        }
        AdaptiveCdf(lanes)
    }

    /// The first 2^`bits` symbols, `bits` being 1 to 4, equally likely, and no others.
    pub const fn flat(bits: u32) -> AdaptiveCdf {
        let mut shares = [0; 16];
        let mut j = 0;
        while j < 1 << bits {
            shares[j] = 1024 >> bits;
            j += 1;
        }
        AdaptiveCdf::of_shares(&shares)
    }

    fn with_rate(mut self, rate: i16) -> AdaptiveCdf {
        self.0[0] = rate;
        self
    }
}

/// [`AdaptiveCdf::flat`] by the number of bits; 0 stands for 1.
static FLAT: [AdaptiveCdf; 5] = [
    AdaptiveCdf::flat(1),
    AdaptiveCdf::flat(1),
    AdaptiveCdf::flat(2),
    AdaptiveCdf::flat(3),
    AdaptiveCdf::flat(4),
];

/// The CDFs of N contexts.
#[derive(Clone, Debug)]
struct CdfSet<const N: usize> {
    cdfs: Box<[AdaptiveCdf; N]>,
    /// The least adaptation rate, in all lanes.
    least: Aligned,
}

impl<const N: usize> CdfSet<N> {
    /// CDF n begins as `start(n)`.
    fn new(start: impl Fn(usize) -> AdaptiveCdf, rate: AdaptationRate) -> Self {
        let cdfs = (0..N).map(|at| start(at).with_rate(rate.first)).collect::<Box<[AdaptiveCdf]>>();
        CdfSet { cdfs: cdfs.try_into().expect("N CDFs"), least: Aligned([rate.least; 16]) }
    }

    #[inline(always)]
    fn load<V: CdfVector>(&self, at: usize) -> V {
        V::load(&self.cdfs[at % N].0)
    }

    #[inline(always)]
    fn update<V: CdfVector>(&mut self, at: usize, loaded: V, target: V) {
        self.cdfs[at % N].0 = loaded.toward(target, V::load(&self.least.0)).store();
    }
}

/// The contexts of one symbol.
#[derive(Debug, Clone, Copy)]
pub struct ContextPair {
    pub first: usize,
    pub second: usize,
}

/// A model of one kind of symbols: the mean of two adaptive CDFs, one of A first contexts and one
/// of B second contexts.
#[derive(Clone, Debug)]
pub struct MeanCdf<const A: usize, const B: usize> {
    first: CdfSet<A>,
    second: CdfSet<B>,
}

/// The rates of first and second CDFs that begin as [`AdaptiveCdf::flat`].
const FLAT_RATES: [AdaptationRate; 2] =
    [AdaptationRate { first: 8738, least: 512 }, AdaptationRate { first: 4096, least: 512 }];

impl<const A: usize, const B: usize> MeanCdf<A, B> {
    /// CDFs begin as [`AdaptiveCdf::flat`], of as many bits as these give for each context.
    pub fn flat(first: impl Fn(usize) -> usize, second: impl Fn(usize) -> usize) -> Self {
        let flat = |bits: usize| FLAT[bits.clamp(1, 4)];
        MeanCdf::new(|at| flat(first(at)), |at| flat(second(at)), FLAT_RATES)
    }

    /// CDFs begin as these give for each context.
    pub fn new(
        first: impl Fn(usize) -> AdaptiveCdf,
        second: impl Fn(usize) -> AdaptiveCdf,
        [of_first, of_second]: [AdaptationRate; 2],
    ) -> Self {
        MeanCdf { first: CdfSet::new(first, of_first), second: CdfSet::new(second, of_second) }
    }

    /// The slots of `symbol`, which the model learns.
    #[inline(always)]
    pub fn encode<V: CdfVector>(&mut self, at: ContextPair, symbol: usize) -> Slots {
        let loaded = self.load::<V>(at);
        let slots = slots_of(starts(loaded), symbol);
        self.learn(at, loaded, symbol);
        slots
    }

    /// The symbol that owns `slot`, which the model learns, and its slots.
    #[inline(always)]
    pub fn decode<V: CdfVector>(&mut self, at: ContextPair, slot: u32) -> (usize, Slots) {
        let loaded = self.load::<V>(at);
        let starts = starts(loaded);
        let symbol = starts.not_above(slot as i16) - 1;
        let slots = slots_of(starts, symbol);
        self.learn(at, loaded, symbol);
        (symbol, slots)
    }

    #[inline(always)]
    fn load<V: CdfVector>(&self, at: ContextPair) -> [V; 2] {
        [self.first.load(at.first), self.second.load(at.second)]
    }

    /// Moves the CDFs, which hold `first` and `second`, towards `symbol`.
    #[inline(always)]
    fn learn<V: CdfVector>(&mut self, at: ContextPair, [first, second]: [V; 2], symbol: usize) {
        let target = V::load(&TARGETS[symbol & 15].0);
        self.first.update(at.first, first, target);
        self.second.update(at.second, second, target);
    }
}

/// Where each symbol's slots start: the mean of both CDFs.
#[inline(always)]
fn starts<V: CdfVector>([first, second]: [V; 2]) -> V {
    first.mean(second).without_first()
}

/// The slots of `symbol`, given where all symbols' start.
#[inline(always)]
fn slots_of<V: CdfVector>(starts: V, symbol: usize) -> Slots {
    // Aligned: a load from a store that crosses a cache line waits for it.
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
    use crate::coder::cdf_simd::CdfBaseline;

    /// All but one in a hundred the same.
    const HEAVY: [u16; 16] = [1016, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8];
    const AT: ContextPair = ContextPair { first: 0, second: 0 };

    fn all_slots(model: &MeanCdf<1, 1>) -> Vec<Slots> {
        (0..16).map(|symbol| slots_of(starts(model.load::<CdfBaseline>(AT)), symbol)).collect()
    }

    #[test]
    fn slots_are_never_empty_and_cover_all() {
        for start in [
            AdaptiveCdf::of_shares(&[64; 16]),
            AdaptiveCdf::of_shares(&HEAVY),
            AdaptiveCdf::flat(1),
        ] {
            for symbol in [0, 1, 7, 14, 15] {
                cover_all(start, symbol);
            }
        }
    }

    fn cover_all(start: AdaptiveCdf, symbol: usize) {
        let mut model = MeanCdf::<1, 1>::new(|_| start, |_| start, FLAT_RATES);
        for _ in 0..3000 {
            let slots = all_slots(&model);
            assert!(slots.iter().all(|s| s.freq > 0));
            assert_eq!(slots.iter().map(|s| s.freq).sum::<u32>(), 1 << SLOT_BITS);
            model.encode::<CdfBaseline>(AT, symbol);
        }
        assert!(all_slots(&model)[symbol].freq > 31_000);
    }

    #[test]
    fn decoding_learns_the_same() {
        let (mut left, mut right) =
            (MeanCdf::<4, 2>::flat(|_| 4, |_| 3), MeanCdf::<4, 2>::flat(|_| 4, |_| 3));
        for i in 0..20_000usize {
            let symbol = ((i * i) >> 3) % 16;
            let at = ContextPair { first: i % 4, second: i / 7 % 2 };
            let slots = left.encode::<CdfBaseline>(at, symbol);
            assert_eq!(right.decode::<CdfBaseline>(at, slots.start), (symbol, slots));
        }
    }
}
