//! The probability of one decision, from several models whose predictions are mixed.
//!
//! Each of up to seven contexts has a cell, the probability that it has seen (see `eight`). They
//! are mixed on the logistic scale, `stretch(p) = ln(p / (1 - p))`: their weighted sum, squashed
//! back, is the prediction, and after the decision each weight moves by its input times the error.
//! The weights are the sum of three sets: two that are chosen by small contexts of their own, and
//! one for all. A [`Refinement`] then maps the prediction to what came of such predictions in one
//! more context.
//!
//! Everything is integers, so that all machines agree. Cost: 210 instructions per decision, some 60
//! cycles where the cells are in the cache and the decision was foreseen. Decisions that follow
//! each other run side by side up to a wrongly foreseen one; that is what `bit` is a branch for.
//!
//! Source: Mahoney, "Adaptive weighing of context models for lossless data compression" (2005).

use super::mixer_simd::{Eight, Weights};
use super::range_coder::Coder;

/// Probabilities on the logistic scale are in units of 1/256 and stay within this.
const MOST: i32 = 2047;
/// The lanes without a context.
const BIAS: u16 = 0x2000;
const WEIGHT_START: i32 = 42_000;

/// 65536 / (1 + exp(-k / 4)), rounded, for k from 0 to 32.
const LOGISTIC: [i32; 33] = [
    32768, 36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428,
    63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410,
    65438, 65459, 65476, 65489, 65500, 65508, 65514,
];

/// The probability, in units of 2^-16, of a stretched one from -2047 to 2047: straight lines
/// between the points of [`LOGISTIC`].
const fn squash(stretched: i32) -> i32 {
    let size = stretched.abs();
    let (at, part) = ((size >> 6) as usize, size & 63);
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

/// Where a decision stands.
#[derive(Debug, Clone, Copy)]
pub struct Place<const INPUTS: usize> {
    /// For each input where its group of eight cells starts, and which of them it is.
    pub groups: [u32; INPUTS],
    pub cell: usize,
    /// A set of weights of the first and of the second family.
    pub sets: [usize; 2],
    /// A context of the refinement.
    pub refine: usize,
}

/// All that one kind of decisions learns. Sizes are powers of two; each input has an eighth of the
/// cells.
#[derive(Debug)]
pub struct Mixer<
    const INPUTS: usize,
    const CELLS: usize,
    const FIRST: usize,
    const SECOND: usize,
    const REFINE: usize,
> {
    cells: Box<[u16; CELLS]>,
    limits: [u16; 8],
    first: Box<[Weights; FIRST]>,
    second: Box<[Weights; SECOND]>,
    common: Weights,
    refine: Refinement<REFINE>,
}

impl<
    const INPUTS: usize,
    const CELLS: usize,
    const FIRST: usize,
    const SECOND: usize,
    const REFINE: usize,
> Mixer<INPUTS, CELLS, FIRST, SECOND, REFINE>
{
    /// `limits` are those of the inputs' cells.
    pub fn new(limits: [u16; 8]) -> Self {
        let start = Weights([WEIGHT_START; 8]);
        Mixer {
            cells: boxed(0),
            limits,
            first: boxed(start),
            second: boxed(start),
            common: start,
            refine: Refinement::new(),
        }
    }

    /// Where group `number` of input `input` starts.
    #[inline(always)]
    pub fn group(input: usize, number: u32) -> u32 {
        let each = CELLS as u32 / 8;
        (input as u32 * each) | (number << 3) & (each - 1)
    }

    /// [`Mixer::group`] for all inputs.
    #[inline(always)]
    pub fn groups(numbers: [u32; INPUTS]) -> [u32; INPUTS] {
        std::array::from_fn(|k| Self::group(k, numbers[k]))
    }

    /// Asks for cells that are to be used soon.
    #[inline(always)]
    pub fn fetch<E: Eight>(&self, groups: [u32; INPUTS]) {
        groups.into_iter().for_each(|group| E::fetch(&self.cells[group as usize & (CELLS - 1)]));
    }

    /// Codes one decision and learns from it.
    #[inline(always)]
    pub fn code<E: Eight, C: Coder>(
        &mut self,
        coder: &mut C,
        at: &Place<INPUTS>,
        bit: bool,
    ) -> bool {
        let mut cells = [BIAS; 8];
        for (cell, group) in cells.iter_mut().zip(at.groups) {
            *cell = self.cells[(group as usize + at.cell) & (CELLS - 1)];
        }
        let cells = E::load(cells);
        let inputs = cells.stretched();
        let first = &self.first[at.sets[0] & (FIRST - 1)];
        let second = &self.second[at.sets[1] & (SECOND - 1)];
        let mixed = (inputs.mixed([first, second, &self.common]) >> 14).clamp(-MOST, MOST);
        let guess = Guess { mixed, p: SQUASH[(mixed + 2048) as usize & 4095] };
        let refined = self.refine.refine(at.refine, mixed);
        // From 11 to 65524, by the ends of both.
        if coder.code(bit, (u32::from(guess.p) + refined) >> 1) {
            self.learn::<E, true>(at, cells, inputs, guess);
            true
        } else {
            self.learn::<E, false>(at, cells, inputs, guess);
            false
        }
    }

    #[inline(always)]
    fn learn<E: Eight, const BIT: bool>(
        &mut self,
        at: &Place<INPUTS>,
        cells: E,
        inputs: E,
        guess: Guess,
    ) {
        let error = ((i32::from(BIT) << 15) - i32::from(guess.p >> 1)) as i16;
        let first = &mut self.first[at.sets[0] & (FIRST - 1)];
        let second = &mut self.second[at.sets[1] & (SECOND - 1)];
        inputs.train(error, [first, second, &mut self.common]);
        self.refine.learn(at.refine, guess.mixed, BIT);
        let learnt = cells.learnt(BIT, E::load(self.limits)).store();
        for (cell, group) in learnt.into_iter().zip(at.groups) {
            self.cells[(group as usize + at.cell) & (CELLS - 1)] = cell;
        }
    }
}

/// What was mixed, and the probability that it stands for.
#[derive(Debug, Clone, Copy)]
struct Guess {
    mixed: i32,
    p: u16,
}

fn boxed<T: Clone, const N: usize>(one: T) -> Box<[T; N]> {
    let many: Result<Box<[T; N]>, _> = vec![one; N].into_boxed_slice().try_into();
    many.unwrap_or_else(|_| unreachable!("there are as many"))
}

/// For each context a map from predictions to what came of them: 33 points from -2048 to 2048.
#[derive(Debug)]
struct Refinement<const CONTEXTS: usize>(Box<[[u16; 33]; CONTEXTS]>);

impl<const CONTEXTS: usize> Refinement<CONTEXTS> {
    const RATE: u32 = 7;

    fn new() -> Self {
        let point = |k| squash((k as i32 * 128 - 2048).clamp(-MOST, MOST)) as u16;
        Refinement(boxed(std::array::from_fn(point)))
    }

    /// The point below, and the part of the way to the next one in units of 2^-7.
    #[inline(always)]
    fn place(mixed: i32) -> (usize, u32) {
        let place = (mixed + 2048) as u32;
        ((place >> 7 & 31) as usize, place & 127)
    }

    #[inline(always)]
    fn refine(&self, context: usize, mixed: i32) -> u32 {
        let (low, part) = Self::place(mixed);
        let points = &self.0[context & (CONTEXTS - 1)];
        (u32::from(points[low]) * (128 - part) + u32::from(points[low + 1]) * part) >> 7
    }

    /// Moves the point that is nearest.
    #[inline(always)]
    fn learn(&mut self, context: usize, mixed: i32, bit: bool) {
        let (low, part) = Self::place(mixed);
        let p = &mut self.0[context & (CONTEXTS - 1)][low + (part >> 6) as usize];
        if bit {
            *p += (65535 - *p) >> Self::RATE;
        } else {
            *p -= *p >> Self::RATE;
        }
    }
}
