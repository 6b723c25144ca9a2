//! The probability of one decision, from several models whose predictions are mixed.
//!
//! Each of seven contexts has a [`Cell`], the probability that it has seen. They are mixed on the
//! logistic scale, `stretch(p) = ln(p / (1 - p))`: their weighted sum, squashed back, is the
//! prediction, and after the decision each weight moves by its input times the error. The weights
//! are the sum of three sets, which are chosen by small contexts of their own. Two [`Refinement`]s
//! then map the prediction to what came of such predictions in two more contexts.
//!
//! Everything is integers, so that all machines agree. Cost: about 25 ns per decision.
//!
//! Source: Mahoney, "Adaptive weighing of context models for lossless data compression" (2005).

use super::binary::{Coder, ONE};
use super::lanes::Eight;

/// How many contexts each decision has; the eighth input is constant.
pub const INPUTS: usize = 7;
/// How many sets of weights are added up.
const SETS: usize = 3;

/// Stretched probabilities are in units of 1/256 and stay within this.
const MOST: i32 = 2047;
const BIAS: i16 = 256;
/// Weights are in units of 2^-20.
const WEIGHT_START: i32 = 60_000;
/// Probabilities stay this far from 0 and 1.
const LEAST: u32 = 24;

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

/// By the upper 12 bits of a probability: the largest stretched value that [`squash`] puts at or
/// below its middle.
static STRETCH: [i16; 4096] = {
    let mut table = [0; 4096];
    let mut at = 0;
    let mut stretched = -MOST;
    while at < 4096 {
        while stretched < MOST && squash(stretched + 1) <= (at as i32) * 16 + 8 {
            stretched += 1;
        }
        table[at] = stretched as i16;
        at += 1;
    }
    table
};

/// A probability that follows its decisions: by 1/n at first, by 1/limit later.
///
/// 22 bits of probability, less a half, above 10 bits of count, so that 0 is a new cell.
#[derive(Debug, Clone, Copy, Default)]
struct Cell(u32);

/// `RATES[n]` is 2^16 / (n + 1.6).
static RATES: [u16; 512] = {
    let mut rates = [0; 512];
    let mut n = 0;
    while n < 512 {
        rates[n] = (655_360 / (10 * n + 16)) as u16;
        n += 1;
    }
    rates
};

impl Cell {
    #[inline(always)]
    fn stretched(self) -> i16 {
        STRETCH[(self.0 >> 20 ^ 0x800) as usize]
    }

    #[inline(always)]
    fn learn(&mut self, bit: bool, limit: u16) {
        let seen = self.0 & 511;
        let p = i64::from((self.0 ^ 0x8000_0000) >> 10);
        let target = if bit { (1 << 22) - 1 } else { 0 };
        let moved = p + (((target - p) * i64::from(RATES[seen as usize])) >> 16);
        let more = u32::from(seen < u32::from(limit));
        self.0 = ((moved as u32) << 10 ^ 0x8000_0000) | (seen + more);
    }
}

/// Where a decision stands.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// One cell for each input, below the number of cells of that input.
    pub cells: [u32; INPUTS],
    /// One set of weights for each of three families.
    pub sets: [usize; SETS],
    /// One context for each refinement.
    pub refine: [usize; 2],
}

/// The sizes of a [`Mixer`].
#[derive(Debug)]
pub struct Shape {
    /// For each input the binary logarithm of its number of cells, and the limit of their counts.
    pub cells: [(u32, u16); INPUTS],
    pub sets: [usize; SETS],
    pub refine: [usize; 2],
}

/// All that one kind of decisions learns.
#[derive(Debug)]
pub struct Mixer {
    cells: [Box<[Cell]>; INPUTS],
    limits: [u16; INPUTS],
    sets: [Vec<Eight>; SETS],
    refine: [Refinement; 2],
}

impl Mixer {
    pub fn new(shape: &Shape) -> Self {
        Mixer {
            cells: shape.cells.map(|(log, _)| vec![Cell(0); 1 << log].into_boxed_slice()),
            limits: shape.cells.map(|(_, limit)| limit),
            sets: shape.sets.map(|count| vec![Eight::all(WEIGHT_START); count]),
            refine: shape.refine.map(Refinement::new),
        }
    }

    /// Codes one decision and learns from it.
    #[inline(always)]
    pub fn code<C: Coder>(&mut self, coder: &mut C, at: &Place, bit: bool) -> bool {
        let mut inputs = [BIAS; 8];
        let slots: [usize; INPUTS] =
            std::array::from_fn(|k| at.cells[k] as usize & (self.cells[k].len() - 1));
        for ((input, cells), &slot) in inputs.iter_mut().zip(&self.cells).zip(&slots) {
            *input = cells[slot].stretched();
        }
        let weights =
            self.sets[0][at.sets[0]].add(self.sets[1][at.sets[1]]).add(self.sets[2][at.sets[2]]);
        let mixed = (weights.dot(&inputs) >> 14).clamp(-MOST, MOST);
        let p = u32::from(SQUASH[(mixed + 2048) as usize]);
        let refined = [0, 1].map(|k| self.refine[k].refine(at.refine[k], mixed));
        let sum = 2 * p + refined[0].p + refined[1].p;
        let bit = coder.code(bit, (sum >> 2).clamp(LEAST, ONE - LEAST));

        let error = ((i32::from(bit) << 15) - (p >> 1) as i32) as i16;
        let step = Eight::products(&inputs, error);
        for (family, &set) in self.sets.iter_mut().zip(&at.sets) {
            family[set] = family[set].add(step);
        }
        for (refinement, refined) in self.refine.iter_mut().zip(refined) {
            refinement.learn(refined.at, bit);
        }
        for ((cells, &slot), &limit) in self.cells.iter_mut().zip(&slots).zip(&self.limits) {
            cells[slot].learn(bit, limit);
        }
        bit
    }
}

/// For each context a map from predictions to what came of them: 33 points from -2048 to 2048.
#[derive(Debug)]
struct Refinement(Box<[[u16; 33]]>);

struct Refined {
    p: u32,
    /// The context and the point that was nearest.
    at: (usize, usize),
}

impl Refinement {
    const RATE: u32 = 6;

    fn new(contexts: usize) -> Self {
        let start =
            std::array::from_fn(|k| squash((k as i32 * 128 - 2048).clamp(-MOST, MOST)) as u16);
        Refinement(vec![start; contexts].into_boxed_slice())
    }

    #[inline(always)]
    fn refine(&self, context: usize, stretched: i32) -> Refined {
        let place = (stretched + 2048) as u32;
        let (low, part) = ((place >> 7) as usize, place & 127);
        let points = &self.0[context];
        let p = (u32::from(points[low]) * (128 - part) + u32::from(points[low + 1]) * part) >> 7;
        Refined { p, at: (context, low + (part >> 6) as usize) }
    }

    #[inline(always)]
    fn learn(&mut self, (context, point): (usize, usize), bit: bool) {
        let p = &mut self.0[context][point];
        if bit {
            *p += (65535 - *p) >> Self::RATE;
        } else {
            *p -= *p >> Self::RATE;
        }
    }
}
