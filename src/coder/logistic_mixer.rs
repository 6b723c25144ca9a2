//! The probability of a binary symbol: the mixed estimates of several contexts, and an APM stage.
//! FORMAT.md sections 15.2 and 15.3.
//!
//! Each of up to seven contexts has an estimate of the probability (see `mixer_simd`). They are
//! mixed on the logistic scale, `stretch(p) = log(p / (1 - p))`: their weighted sum, squashed back,
//! is the prediction. After the bit is known, each weight moves by its input times the error.
//! Inputs use binary logarithms and the prediction natural ones; the weights absorb the factor. A
//! weight is the sum of three sets: two are selected by small contexts of their own, and one is
//! common to all. An [`Apm`] then corrects the prediction by the outcomes of earlier such
//! predictions in one more context.
//!
//! All arithmetic is in integers, so that all machines agree. Cost: 210 instructions per binary
//! symbol, some 60 cycles if the estimates are in the cache and the processor predicts the bit. It
//! executes consecutive bits in parallel up to a mispredicted one; this is why the code branches on
//! the bit.
//!
//! Source: Mahoney, "Adaptive weighing of context models for lossless data compression" (2005); the
//! APM is that of lpaq.

use super::mixer_simd::{MixerVector, MixerWeights};
use super::range_coder::BinaryCoder;

/// Maximum absolute value of a prediction on the logistic scale, in units of 1/256. (Inputs use
/// binary logarithms, so they can be larger.)
const MAX_STRETCH: i32 = 2047;
/// Estimate of the lanes that have no context.
const BIAS: u16 = 0x2000;
const INITIAL_WEIGHT: i32 = 42_000;

/// 65536 / (1 + exp(-k / 4)), rounded, for k from 0 to 32.
const LOGISTIC: [i32; 33] = [
    32768, 36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428,
    63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410,
    65438, 65459, 65476, 65489, 65500, 65508, 65514,
];

/// The probability, in units of 2^-16, of a stretched one from -2047 to 2047: interpolated linearly
/// in [`LOGISTIC`].
const fn squash(stretched: i32) -> i32 {
    let size = stretched.abs();
    let at = (size >> 6) as usize;
    let part = size & 63;
    let p = LOGISTIC[at] + (((LOGISTIC[at + 1] - LOGISTIC[at]) * part) >> 6);
    if stretched < 0 { 65536 - p } else { p }
}

static SQUASH: [u16; 4096] = {
    let mut table = [0; 4096];
    let mut at = 1;
    while at < 4096 {
        table[at] = squash(at as i32 - 2048) as u16;
        at += 1;
    }
    table
};

/// The contexts of one binary symbol.
#[derive(Debug, Clone, Copy)]
pub(super) struct MixerContext<const INPUTS: usize> {
    /// For each input, the start of its group of eight estimates.
    pub groups: [u32; INPUTS],
    /// Index of the estimate in each group.
    pub member: usize,
    /// Indices of the first and of the second set of weights.
    pub sets: [usize; 2],
    /// The context of the APM stage.
    pub apm: usize,
}

/// All adaptive state of one kind of binary symbols. Sizes are powers of two; each input has an
/// eighth of the estimates.
#[derive(Debug)]
pub(super) struct Mixer<
    const INPUTS: usize,
    const ESTIMATES: usize,
    const FIRST: usize,
    const SECOND: usize,
    const APM_CONTEXTS: usize,
> {
    estimates: Box<[u16; ESTIMATES]>,
    limits: [u16; 8],
    first: Box<[MixerWeights; FIRST]>,
    second: Box<[MixerWeights; SECOND]>,
    common: MixerWeights,
    apm: Apm<APM_CONTEXTS>,
}

impl<
    const INPUTS: usize,
    const ESTIMATES: usize,
    const FIRST: usize,
    const SECOND: usize,
    const APM_CONTEXTS: usize,
> Mixer<INPUTS, ESTIMATES, FIRST, SECOND, APM_CONTEXTS>
{
    /// A mixer whose counts of estimates go up to `limits`, by input.
    pub(super) fn new(limits: [u16; 8]) -> Self {
        let weights = MixerWeights([INITIAL_WEIGHT; 8]);
        Mixer {
            estimates: boxed(0),
            limits,
            first: boxed(weights),
            second: boxed(weights),
            common: weights,
            apm: Apm::new(),
        }
    }

    /// The start of group `number` of input `input`.
    #[inline(always)]
    pub(super) fn group(input: usize, number: u32) -> u32 {
        let each = ESTIMATES as u32 / 8;
        (input as u32 * each) | (number << 3) & (each - 1)
    }

    /// Does [`Mixer::group`] for all inputs.
    #[inline(always)]
    pub(super) fn groups(numbers: [u32; INPUTS]) -> [u32; INPUTS] {
        std::array::from_fn(|k| Self::group(k, numbers[k]))
    }

    /// Prefetches estimates that will be used soon.
    #[inline(always)]
    pub(super) fn prefetch<V: MixerVector>(&self, groups: [u32; INPUTS]) {
        let estimate = |group| &self.estimates[group as usize & (ESTIMATES - 1)];
        groups
            .into_iter()
            .for_each(|group| V::prefetch(estimate(group)));
    }

    /// Codes one binary symbol and learns from it.
    #[inline(always)]
    pub(super) fn code<V: MixerVector, C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        at: &MixerContext<INPUTS>,
        bit: bool,
    ) -> bool {
        let mut estimates = [BIAS; 8];
        for (estimate, group) in estimates.iter_mut().zip(at.groups) {
            *estimate = self.estimates[(group as usize + at.member) & (ESTIMATES - 1)];
        }
        let estimates = V::load(estimates);
        let inputs = estimates.stretched();
        let first = &self.first[at.sets[0] & (FIRST - 1)];
        let second = &self.second[at.sets[1] & (SECOND - 1)];
        let sum = inputs.dot_product([first, second, &self.common]) >> 14;
        let stretched = sum.clamp(-MAX_STRETCH, MAX_STRETCH);
        let mix = Mix {
            stretched,
            p1: SQUASH[(stretched + 2048) as usize & 4095],
        };
        let corrected = self.apm.corrected(at.apm, stretched);
        // From 11 to 65524, since neither term reaches 0 or 65536.
        if coder.code(bit, (u32::from(mix.p1) + corrected) >> 1) {
            self.learn::<V, true>(at, estimates, inputs, mix);
            true
        } else {
            self.learn::<V, false>(at, estimates, inputs, mix);
            false
        }
    }

    #[inline(always)]
    fn learn<V: MixerVector, const BIT: bool>(
        &mut self,
        at: &MixerContext<INPUTS>,
        estimates: V,
        inputs: V,
        mix: Mix,
    ) {
        let error = ((i32::from(BIT) << 15) - i32::from(mix.p1 >> 1)) as i16;
        let first = &mut self.first[at.sets[0] & (FIRST - 1)];
        let second = &mut self.second[at.sets[1] & (SECOND - 1)];
        inputs.train(error, [first, second, &mut self.common]);
        self.apm.learn(at.apm, mix.stretched, BIT);
        let updated = estimates
            .updated(BIT, V::load(self.limits))
            .store();
        for (estimate, group) in updated.into_iter().zip(at.groups) {
            self.estimates[(group as usize + at.member) & (ESTIMATES - 1)] = estimate;
        }
    }
}

/// The mixed probability of a 1, on the logistic scale and in units of 2^-16.
#[derive(Debug, Clone, Copy)]
struct Mix {
    stretched: i32,
    p1: u16,
}

fn boxed<T: Clone, const N: usize>(one: T) -> Box<[T; N]> {
    let many: Result<Box<[T; N]>, _> = vec![one; N].into_boxed_slice().try_into();
    many.unwrap_or_else(|_| unreachable!("there are as many"))
}

/// An adaptive probability map: for each context a function from the mixed probability to the
/// observed one, by 33 points from -2048 to 2048 on the logistic scale.
#[derive(Debug)]
struct Apm<const CONTEXTS: usize>(Box<[[u16; 33]; CONTEXTS]>);

impl<const CONTEXTS: usize> Apm<CONTEXTS> {
    const RATE: u32 = 7;

    fn new() -> Self {
        let point = |k| squash((k as i32 * 128 - 2048).clamp(-MAX_STRETCH, MAX_STRETCH)) as u16;
        Apm(boxed(std::array::from_fn(point)))
    }

    /// The index of the point below, and the distance to it in units of 2^-7 of a step.
    #[inline(always)]
    fn position(stretched: i32) -> (usize, u32) {
        let position = (stretched + 2048) as u32;
        ((position >> 7 & 31) as usize, position & 127)
    }

    #[inline(always)]
    fn corrected(&self, context: usize, stretched: i32) -> u32 {
        let (low, part) = Self::position(stretched);
        let points = &self.0[context & (CONTEXTS - 1)];
        (u32::from(points[low]) * (128 - part) + u32::from(points[low + 1]) * part) >> 7
    }

    /// Moves the nearest point.
    #[inline(always)]
    fn learn(&mut self, context: usize, stretched: i32, bit: bool) {
        let (low, part) = Self::position(stretched);
        let p1 = &mut self.0[context & (CONTEXTS - 1)][low + (part >> 6) as usize];
        if bit {
            *p1 += (65535 - *p1) >> Self::RATE;
        } else {
            *p1 -= *p1 >> Self::RATE;
        }
    }
}
