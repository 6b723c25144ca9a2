//! Kind 2 of segments, the smallest: run lengths and symbols as mixed decisions.
//!
//! The segment is a sequence of runs. For each, its symbol is coded by the way down the segment's
//! `tree`, and then its length, in decisions that a [`Mixer`] predicts from what was coded before:
//! for a symbol the symbols of the three runs before it and what was decided of late at the same
//! node after the same symbol, for a length how long runs of this symbol, and all runs, have been.
//! There is no move-to-front: coding symbols and not places is what finds the order in tables and
//! signals, and costs text nothing.
//!
//! Both directions are one function. Cost: see [`Mixer`]; text takes six or seven decisions per
//! run. There are 5 MB of cells, of which text touches a fifth. Those of a symbol's first decisions
//! are asked for while the length before it is coded.

use super::cdf_simd::widest;
use super::logistic_mixer::{Mixer, Place};
use super::mixer_simd::{self, Eight};
use super::range_coder::{Coder, Decoder, Encoder};
use super::rle::{self, Run};
use super::symbol_tree::{INNER, Tree};
use crate::error::Flaw;

/// Cells, sets of both families and contexts of the refinement: 256 nodes, 3 cases and 4 or 2
/// histories, or 16 lengths and 256 symbols; 256 symbols and 16 nodes or lengths.
type Symbols = Mixer<7, { 1 << 21 }, { 1 << 12 }, { 1 << 12 }, { 1 << 11 }>;
type Lengths = Mixer<5, { 1 << 19 }, 256, 256, { 1 << 12 }>;

/// Two cells follow the last decisions at a node, one those after a symbol; the others what is
/// lasting.
const SYMBOL_LIMITS: [u16; 8] = [2, 14, 10, 15, 15, 15, 15, 15];
const LENGTH_LIMITS: [u16; 8] = [15; 8];

/// Lengths less one below this are coded in unary.
const UNARY: u32 = 8;
/// The widest number that may follow.
const WIDTHS: u32 = 31;

/// The coded runs of `segment`, or `None` where they take more bytes.
pub fn encode(segment: &[u8]) -> Option<Vec<u8>> {
    widest!(encode_with::<mixer_simd::mixer_avx2::Eight, mixer_simd::mixer_plain::Eight>(segment: &[u8]) -> Option<Vec<u8>>)
}

#[inline(always)]
fn encode_with<E: Eight>(segment: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let tree = Tree::encode(segment, &mut out);
    let (mut model, mut coder) = (Model::new(), Encoder::new(&mut out));
    let mut pos = 0;
    while pos < segment.len() {
        let run = rle::read(segment, pos);
        pos += run.len as usize;
        model.run::<E, _>(&mut coder, &tree, run);
        if coder.len() >= segment.len() {
            return None;
        }
    }
    coder.finish();
    (out.len() < segment.len()).then_some(out)
}

/// Fills `out` with the runs that `coded` holds.
pub fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    widest!(
        decode_with::<mixer_simd::mixer_avx2::Eight, mixer_simd::mixer_plain::Eight>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<E: Eight>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (tree, coded) = Tree::decode(coded)?;
    let (mut model, mut coder) = (Model::new(), Decoder::new(coded));
    let mut pos = 0;
    while pos < out.len() {
        let run = model.run::<E, _>(&mut coder, &tree, Run { symbol: 0, len: 1 });
        pos = rle::write(out, pos, run).ok_or(Flaw("a segment holds a run that does not fit"))?;
        if coder.is_exhausted() {
            return Err(Flaw("a segment's coded bytes end too early"));
        }
    }
    match coder.is_at_end() {
        true => Ok(()),
        false => Err(Flaw("a segment's coded bytes do not end where its runs do")),
    }
}

/// All that was coded so far, as far as it matters, and what was learnt from it.
struct Model {
    symbol: Symbols,
    length: Lengths,
    /// Symbols of the last three runs, the last one first.
    before: [u8; 3],
    /// The last eight decisions at each node, and those after each symbol.
    history: [u8; 256],
    after: Box<[[u8; 256]; 256]>,
    own: [Own; 256],
    /// Length classes of all runs, two bits each, and their average in sixteenths.
    classes: u8,
    average: u32,
    /// Runs so far.
    count: u32,
}

/// What is known of a symbol's runs.
#[derive(Debug, Clone, Copy, Default)]
struct Own {
    length: u8,
    classes: u8,
    average: u16,
    /// Which run was the last.
    last: u32,
}

impl Model {
    fn new() -> Self {
        Model {
            symbol: Mixer::new(SYMBOL_LIMITS),
            length: Mixer::new(LENGTH_LIMITS),
            before: [0; 3],
            history: [0; 256],
            after: Box::new([[0; 256]; 256]),
            own: [Own::default(); 256],
            classes: 0,
            average: 0,
            count: 0,
        }
    }

    /// Codes one run; a decoder's `run` may be any.
    #[inline(always)]
    fn run<E: Eight, C: Coder>(&mut self, coder: &mut C, tree: &Tree, run: Run) -> Run {
        let symbol = self.symbol::<E, C>(coder, tree, run.symbol);
        let next = contexts([symbol, self.before[0], self.before[1]]);
        for group in [0, 4] {
            self.symbol.fetch::<E>(Symbols::groups(next.map(|context| context ^ group)));
        }
        let len = 1 + self.length::<E, C>(coder, symbol, run.len - 1);
        self.add(Run { symbol, len });
        Run { symbol, len }
    }

    #[inline(always)]
    fn symbol<E: Eight, C: Coder>(&mut self, coder: &mut C, tree: &Tree, symbol: u8) -> u8 {
        let last = self.before[0];
        let contexts = contexts(self.before);
        let after = &mut self.after[usize::from(last)];
        // Of the last two runs.
        let lengths = usize::from(self.classes & 15) << 8;
        let mut groups = [0; 7];
        let mut way = tree.root;
        // Whether the last run's symbol is still to be met on this way: it cannot come again.
        let mut met = self.count > 0;
        while way >= INNER {
            let node = tree.node(way);
            let group = u32::from(node.group);
            if node.place == 1 {
                groups = Symbols::groups(contexts.map(|context| context ^ group));
            }
            let side = last >= node.split;
            if met && node.children[usize::from(side)] == u16::from(last) {
                met = false;
                way = node.children[usize::from(!side)];
                continue;
            }
            let at = usize::from(way - INNER) & 255;
            let (recent, after) = (&mut self.history[at], &mut after[at]);
            groups[5] = Symbols::group(5, u32::from(*after) << 7 ^ group);
            let case = 3 * at + (usize::from(met) << usize::from(side));
            let place = Place {
                groups,
                cell: usize::from(node.place & 7),
                sets: [case << 2 | usize::from(*recent & 3), lengths | usize::from(last)],
                refine: case << 1 | usize::from(*recent & 1),
            };
            let bit = self.symbol.code::<E, C>(coder, &place, symbol >= node.split);
            *recent = *recent << 1 | u8::from(bit);
            *after = *after << 1 | u8::from(bit);
            met &= bit == side;
            way = node.children[usize::from(bit)];
        }
        way as u8
    }

    /// Codes the number of a length less one.
    #[inline(always)]
    fn length<E: Eight, C: Coder>(&mut self, coder: &mut C, symbol: u8, number: u32) -> u32 {
        let known = Known::of(self, symbol);
        for k in 0..UNARY {
            if self.decide::<E, C>(coder, &known, k, number == k) {
                return k;
            }
        }
        let shifted = number.wrapping_sub(UNARY - 1).max(1);
        let mut width = 0;
        while width < WIDTHS - 1
            && !self.decide::<E, C>(coder, &known, UNARY + width, shifted.ilog2() == width)
        {
            width += 1;
        }
        let mut value = 1;
        for bit in (0..width).rev() {
            let prefix = if width - bit > 5 { 0 } else { value };
            let node = 64 + (width << 5) + prefix;
            value = value << 1
                | u32::from(self.decide::<E, C>(coder, &known, node, shifted >> bit & 1 == 1));
        }
        value + UNARY - 1
    }

    #[inline(always)]
    fn decide<E: Eight, C: Coder>(
        &mut self,
        coder: &mut C,
        known: &Known,
        node: u32,
        bit: bool,
    ) -> bool {
        let low = node.min(15) as usize;
        let eight = (node >> 3) * 0x1357;
        let place = Place {
            groups: Lengths::groups(known.contexts.map(|context| context ^ eight)),
            cell: node as usize & 7,
            sets: [low << 4 | known.length, known.symbol],
            refine: known.symbol << 4 | low,
        };
        self.length.code::<E, C>(coder, &place, bit)
    }

    fn add(&mut self, run: Run) {
        let [c1, c2, _] = self.before;
        self.before = [run.symbol, c1, c2];
        let class = run.len.ilog2().min(3) as u8;
        let number = 16 * (run.len - 1).min(40);
        self.classes = self.classes << 2 | class;
        self.average = (7 * self.average + number) >> 3;
        let own = &mut self.own[usize::from(run.symbol)];
        own.average = ((3 * u32::from(own.average) + number) >> 2) as u16;
        own.classes = own.classes << 2 | class;
        own.length = run.len.min(255) as u8;
        own.last = self.count;
        self.count += 1;
    }
}

/// What the decisions of one length have in common.
struct Known {
    contexts: [u32; 5],
    symbol: usize,
    /// The symbol's last length, up to 15.
    length: usize,
}

impl Known {
    #[inline(always)]
    fn of(model: &Model, symbol: u8) -> Self {
        let own = model.own[usize::from(symbol)];
        let level = |average: u32| (average + 1).ilog2().min(7);
        let (average, all) = (level(own.average.into()), level(model.average));
        let gap = (model.count - own.last).max(1).ilog2().min(15);
        let length = u32::from(own.length.min(15));
        let contexts = [
            symbol.into(),
            average << 7 | all << 4 | length,
            average << 7 | all << 4 | gap,
            u32::from(own.classes) << 4 | gap,
            u32::from(model.classes) << 3 | average,
        ];
        Known { contexts, symbol: symbol.into(), length: length as usize }
    }
}

/// The numbers of the first groups of a symbol after three others; the sixth depends on the node.
#[inline(always)]
fn contexts([c1, c2, c3]: [u8; 3]) -> [u32; 7] {
    let two = hash(u32::from(c2) << 8 | u32::from(c1));
    let three = hash(two ^ u32::from(c3));
    [0, 0, u32::from(c1) << 7, two >> 17, u32::from(c2) << 7, 0, three >> 17]
}

fn hash(context: u32) -> u32 {
    context.wrapping_add(1).wrapping_mul(0x9E37_79B1)
}
