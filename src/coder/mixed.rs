//! Kind 2 of segments, the smallest: run lengths and symbols as mixed decisions.
//!
//! The segment is a sequence of runs. For each, its symbol is coded by the way down the segment's
//! `tree`, and then its length, in decisions that a [`Mixer`] predicts from what was coded before:
//! for a symbol the symbols of the three runs before it and what was decided of late at the same node
//! after the same symbol, for a length how long runs of this symbol, and all runs, have been. There is no
//! move-to-front: coding symbols and not places is what finds the order in tables and signals, and
//! costs text nothing.
//!
//! Both directions are one function. Cost: about 25 ns per decision, of which text takes seven per
//! run; 4.7 MB of cells.

use super::binary::{Coder, Decoder, Encoder};
use super::mixing::{INPUTS, Mixer, Place, Shape};
use super::rle::{self, Run};
use super::tree::{INNER, Tree};
use crate::error::Flaw;

const SYMBOL: Shape = Shape {
    cells: [(8, 3), (8, 14), (16, 60), (18, 30), (16, 20), (16, 255), (18, 20)],
    sets: [256 * 3, 256, 1 << 12],
    refine: [256 * 3, 1 << 13],
};

const LENGTH: Shape = Shape {
    cells: [(16, 250), (16, 400), (16, 400), (16, 60), (16, 400), (16, 255), (16, 255)],
    sets: [256, 64, 256],
    refine: [1024, 4096],
};

/// Lengths less one below this are coded in unary.
const UNARY: u32 = 8;
/// The widest number that may follow.
const WIDTHS: u32 = 31;

/// The coded runs of `segment`, or `None` where they take more bytes.
pub fn encode(segment: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let tree = Tree::encode(segment, &mut out);
    let (mut model, mut coder) = (Model::new(), Encoder::new(&mut out));
    let mut pos = 0;
    while pos < segment.len() {
        let run = rle::read(segment, pos);
        pos += run.len as usize;
        model.run(&mut coder, &tree, run);
        if coder.len() >= segment.len() {
            return None;
        }
    }
    coder.finish();
    (out.len() < segment.len()).then_some(out)
}

/// Fills `out` with the runs that `coded` holds.
pub fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (tree, coded) = Tree::decode(coded)?;
    let (mut model, mut coder) = (Model::new(), Decoder::new(coded));
    let mut pos = 0;
    while pos < out.len() {
        let run = model.run(&mut coder, &tree, Run { symbol: 0, len: 1 });
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
    symbol: Mixer,
    length: Mixer,
    /// Symbols of the last three runs, the last one first.
    before: [u8; 3],
    /// The last eight decisions at each node, and those after each symbol.
    history: [u8; 256],
    after: Box<[u8]>,
    own: [Own; 256],
    /// Length classes of the last runs of a symbol after another one.
    pairs: Box<[u8]>,
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
            symbol: Mixer::new(&SYMBOL),
            length: Mixer::new(&LENGTH),
            before: [0; 3],
            history: [0; 256],
            after: vec![0; 1 << 16].into_boxed_slice(),
            own: [Own::default(); 256],
            pairs: vec![0; 1 << 16].into_boxed_slice(),
            classes: 0,
            average: 0,
            count: 0,
        }
    }

    /// Codes one run; a decoder's `run` may be any.
    fn run<C: Coder>(&mut self, coder: &mut C, tree: &Tree, run: Run) -> Run {
        let symbol = self.symbol(coder, tree, run.symbol);
        let len = 1 + self.length(coder, symbol, run.len - 1);
        self.add(Run { symbol, len });
        Run { symbol, len }
    }

    fn symbol<C: Coder>(&mut self, coder: &mut C, tree: &Tree, symbol: u8) -> u8 {
        let [c1, c2, c3] = self.before;
        let two = hash(u32::from(c2) << 8 | u32::from(c1));
        let three = hash(two ^ u32::from(c3));
        let (c1, c2) = (u32::from(c1) << 8, u32::from(c2) << 8);
        // Of the last two runs.
        let lengths = usize::from(self.classes & 15) << 8;
        let mut way = tree.root;
        // Whether the last run's symbol is still to be met on this way: it cannot come again.
        let mut met = self.count > 0;
        let mut depth = 0;
        while way >= INNER {
            let node = tree.node(way);
            let side = self.before[0] >= node.split;
            if met && node.children[usize::from(side)] == u16::from(self.before[0]) {
                met = false;
                way = node.children[usize::from(!side)];
                continue;
            }
            let at = u32::from(way - INNER);
            let history = &mut self.history[at as usize & 255];
            let after = &mut self.after[(c1 | at & 255) as usize];
            let (recent, excluded) = (u32::from(*history), usize::from(met) << usize::from(side));
            let set = at as usize * 3 + excluded;
            let place = Place {
                cells: [
                    at,
                    at,
                    c1 | at,
                    (two >> 14) ^ at,
                    c2 | at,
                    u32::from(*after) << 8 | at,
                    (three >> 14) ^ at,
                ],
                sets: [
                    set,
                    depth << 4 | recent as usize & 15,
                    lengths | usize::from(self.before[0]),
                ],
                refine: [set, ((recent & 31) << 8 | at) as usize],
            };
            let bit = self.symbol.code(coder, &place, symbol >= node.split);
            *history = *history << 1 | u8::from(bit);
            *after = *after << 1 | u8::from(bit);
            met &= bit == side;
            way = node.children[usize::from(bit)];
            depth = (depth + 1).min(15);
        }
        way as u8
    }

    /// Codes the number of a length less one.
    fn length<C: Coder>(&mut self, coder: &mut C, symbol: u8, number: u32) -> u32 {
        let known = Known::of(self, symbol);
        for k in 0..UNARY {
            if self.decide(coder, &known, k, number == k) {
                return k;
            }
        }
        let shifted = number.wrapping_sub(UNARY - 1).max(1);
        let mut width = 0;
        while width < WIDTHS - 1
            && !self.decide(coder, &known, UNARY + width, shifted.ilog2() == width)
        {
            width += 1;
        }
        let mut value = 1;
        for bit in (0..width).rev() {
            let prefix = if width - bit > 5 { 0 } else { value };
            let node = 64 + (width << 5) + prefix;
            value =
                value << 1 | u32::from(self.decide(coder, &known, node, shifted >> bit & 1 == 1));
        }
        value + UNARY - 1
    }

    #[inline(always)]
    fn decide<C: Coder>(&mut self, coder: &mut C, known: &Known, node: u32, bit: bool) -> bool {
        let low = node.min(15) as usize;
        let place = Place {
            cells: known.cells.map(|cell| cell.wrapping_add(node)),
            sets: [low << 4 | known.length, known.averages, known.symbol],
            refine: [(node.min(127) as usize) << 3 | known.average, known.symbol << 4 | low],
        };
        self.length.code(coder, &place, bit)
    }

    fn add(&mut self, run: Run) {
        let [c1, c2, _] = self.before;
        self.before = [run.symbol, c1, c2];
        let class = run.len.ilog2().min(3) as u8;
        let number = 16 * (run.len - 1).min(40);
        let pair = &mut self.pairs[usize::from(c1) << 8 | usize::from(run.symbol)];
        *pair = *pair << 2 | class;
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
    cells: [u32; INPUTS],
    symbol: usize,
    /// The symbol's last length, up to 15; levels of its average, and of both averages.
    length: usize,
    average: usize,
    averages: usize,
}

impl Known {
    #[inline(always)]
    fn of(model: &Model, symbol: u8) -> Self {
        let c1 = u32::from(model.before[0]);
        let own = model.own[usize::from(symbol)];
        let level = |average: u32| (average + 1).ilog2().min(7);
        let averages = level(own.average.into()) << 3 | level(model.average);
        let gap = (model.count - own.last).max(1).ilog2().min(15);
        let length = u32::from(own.length.min(15));
        let (average, symbol) = (averages >> 3, u32::from(symbol));
        let pair = u32::from(model.pairs[(c1 << 8 | symbol) as usize]);
        let cells = [
            spread(0, symbol),
            spread(1, averages << 4 | length),
            spread(2, averages << 4 | gap),
            spread(6, c1 << 8 | symbol),
            spread(3, u32::from(own.classes) << 4 | gap),
            spread(4, u32::from(model.classes) << 3 | average),
            spread(5, pair << 3 | average),
        ];
        Known {
            cells,
            symbol: symbol as usize,
            length: length as usize,
            average: average as usize,
            averages: averages as usize,
        }
    }
}

/// The first of 2^16 cells for a context; neighbours hold its next nodes.
fn spread(input: u32, context: u32) -> u32 {
    hash(context << 3 | input) >> 16 & !15
}

fn hash(context: u32) -> u32 {
    context.wrapping_add(1).wrapping_mul(0x9E37_79B1)
}
