//! Context mixing, the smallest coding: bytes and run lengths as binary symbols.
//! FORMAT.md chapter 15.
//!
//! A slice is a sequence of runs. For each run, its byte is coded as the path down the slice's
//! `byte_tree`, then its length, in binary symbols that a [`Mixer`] predicts. A byte is predicted
//! from the bytes of the three runs before it, and from the last bits at the same node, overall and
//! after the same byte. A length is predicted from the lengths of earlier runs of this byte and of
//! all bytes. There is no move-to-front: bytes, unlike MTF ranks, show the order in tables and
//! signals, and text gets no larger.
//!
//! Both directions are one function. Cost: see [`Mixer`]; text takes six or seven binary symbols
//! per run. The estimates take 5 MB, of which text uses a fifth. The estimates of a byte's first
//! bits are prefetched while the length before it is coded.

use super::byte_tree::{ByteTree, INNER};
use super::logistic_mixer::{Mixer, MixerContext};
use super::mixer_simd::{MixerPlain, MixerVector};
use super::range_coder::{BinaryCoder, RangeDecoder, RangeEncoder};
use super::rle::{self, BwtRun};
use super::{ENDS_EARLY, LEFT_OVER};
use crate::base::error::Flaw;
use crate::base::simd_dispatch::widest;

/// The mixer of bytes. The parameters are the numbers of inputs, estimates, first and second sets
/// of weights, and APM contexts. First sets: 256 nodes, 3 cases and 4 histories; second sets: 16
/// lengths and 256 bytes; APM contexts: 256 nodes, 3 cases and 2 histories.
type ByteMixer = Mixer<7, { 1 << 21 }, { 1 << 12 }, { 1 << 12 }, { 1 << 11 }>;
/// The mixer of lengths. First sets: 16 nodes and 16 lengths; second sets: 256 bytes; APM contexts:
/// 256 bytes and 16 nodes.
type LengthMixer = Mixer<5, { 1 << 19 }, 256, 256, { 1 << 12 }>;

/// Limits of the counts of bytes' estimates, by input: the higher its limit, the slower an estimate
/// moves in the end. The first two inputs have the same context, the node, at two speeds.
const BYTE_LIMITS: [u16; 8] = [2, 14, 10, 15, 15, 15, 15, 15];
/// Limits of the counts of lengths' estimates, by input.
const LENGTH_LIMITS: [u16; 8] = [15; 8];

/// Lengths less one below this are coded in unary.
const UNARY: u32 = 8;
/// Number of exp-Golomb widths of longer ones.
const WIDTHS: u32 = 31;

/// The coded runs of `slice`, or `None` if they would not be shorter than the slice.
pub(super) fn encode(slice: &[u8]) -> Option<Vec<u8>> {
    widest!(
        encode_with::<super::mixer_simd::MixerAvx2, MixerPlain>(slice: &[u8]) -> Option<Vec<u8>>
    )
}

#[inline(always)]
fn encode_with<V: MixerVector>(slice: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let tree = ByteTree::encode(slice, &mut out);
    let mut model = MixingModel::new();
    let mut coder = RangeEncoder::new(&mut out);
    let mut pos = 0;
    while pos < slice.len() {
        let run = rle::read(slice, pos);
        pos += run.len as usize;
        model.run::<V, _>(&mut coder, &tree, run);
        if coder.len() >= slice.len() {
            return None;
        }
    }
    coder.finish();
    (out.len() < slice.len()).then_some(out)
}

/// Fills `out` with the runs coded in `coded`.
pub(super) fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    widest!(
        decode_with::<super::mixer_simd::MixerAvx2, MixerPlain>(coded: &[u8], out: &mut [u8])
            -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<V: MixerVector>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (tree, coded) = ByteTree::decode(coded)?;
    let mut model = MixingModel::new();
    let mut coder = RangeDecoder::new(coded);
    let mut pos = 0;
    while pos < out.len() {
        let run = model.run::<V, _>(&mut coder, &tree, BwtRun { byte: 0, len: 1 });
        pos = rle::write(out, pos, run)?;
        if coder.is_exhausted() {
            return Err(ENDS_EARLY);
        }
    }
    if coder.is_at_end() {
        Ok(())
    } else {
        Err(LEFT_OVER)
    }
}

/// The model state: the contexts after all runs so far, and the adaptive models.
struct MixingModel {
    byte_mixer: ByteMixer,
    length_mixer: LengthMixer,
    /// Bytes of the last three runs, the last one first.
    before: [u8; 3],
    /// The last eight bits at each node.
    history: [u8; 256],
    /// The last eight bits at each node after each byte.
    history_after: Box<[[u8; 256]; 256]>,
    own: [OwnRuns; 256],
    /// Quantised lengths of the last four runs, two bits each.
    lengths: u8,
    /// Moving average of all lengths, in sixteenths.
    average: u32,
    /// Number of runs so far.
    count: u32,
}

/// The state of one byte's runs.
#[derive(Debug, Clone, Copy, Default)]
struct OwnRuns {
    length: u8,
    lengths: u8,
    average: u16,
    /// Index of the byte's last run.
    last: u32,
}

impl MixingModel {
    fn new() -> Self {
        MixingModel {
            byte_mixer: Mixer::new(BYTE_LIMITS),
            length_mixer: Mixer::new(LENGTH_LIMITS),
            before: [0; 3],
            history: [0; 256],
            history_after: Box::new([[0; 256]; 256]),
            own: [OwnRuns::default(); 256],
            lengths: 0,
            average: 0,
            count: 0,
        }
    }

    /// Codes one run; a decoder may pass any `run`.
    #[inline(always)]
    fn run<V: MixerVector, C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        tree: &ByteTree,
        run: BwtRun,
    ) -> BwtRun {
        let byte = self.byte::<V, C>(coder, tree, run.byte);
        let next = byte_contexts([byte, self.before[0], self.before[1]]);
        for group in [0, 4] {
            self.byte_mixer
                .prefetch::<V>(ByteMixer::groups(next.map(|context| context ^ group)));
        }
        let len = 1 + self.length::<V, C>(coder, byte, run.len - 1);
        self.add(BwtRun { byte, len });
        BwtRun { byte, len }
    }

    #[inline(always)]
    fn byte<V: MixerVector, C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        tree: &ByteTree,
        byte: u8,
    ) -> u8 {
        let last = self.before[0];
        let contexts = byte_contexts(self.before);
        let after = &mut self.history_after[usize::from(last)];
        let last_two_lengths = usize::from(self.lengths & 15) << 8;
        let mut groups = [0; 7];
        let mut code = tree.root;
        // True while the last run's byte is below this node: it cannot come again.
        let mut excluded = self.count > 0;
        while code >= INNER {
            let node = tree.node(code);
            let group = u32::from(node.group);
            if node.heap_index == 1 {
                groups = ByteMixer::groups(contexts.map(|context| context ^ group));
            }
            let side = last >= node.split;
            if excluded && node.children[usize::from(side)] == u16::from(last) {
                excluded = false;
                code = node.children[usize::from(!side)];
                continue;
            }
            let at = usize::from(code - INNER) & 255;
            let history = &mut self.history[at];
            let after = &mut after[at];
            groups[5] = ByteMixer::group(5, u32::from(*after) << 7 ^ group);
            let case = 3 * at + (usize::from(excluded) << usize::from(side));
            let context = MixerContext {
                groups,
                member: usize::from(node.heap_index & 7),
                sets: [
                    case << 2 | usize::from(*history & 3),
                    last_two_lengths | usize::from(last),
                ],
                apm: case << 1 | usize::from(*history & 1),
            };
            let bit = self
                .byte_mixer
                .code::<V, C>(coder, &context, byte >= node.split);
            *history = *history << 1 | u8::from(bit);
            *after = *after << 1 | u8::from(bit);
            excluded &= bit == side;
            code = node.children[usize::from(bit)];
        }
        code as u8
    }

    /// Codes a run length less one.
    #[inline(always)]
    fn length<V: MixerVector, C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        byte: u8,
        number: u32,
    ) -> u32 {
        let contexts = LengthContexts::of(self, byte);
        for k in 0..UNARY {
            if self.length_bit::<V, C>(coder, &contexts, k, number == k) {
                return k;
            }
        }
        let shifted = number.wrapping_sub(UNARY - 1).max(1);
        let mut width = 0;
        while width < WIDTHS - 1
            && !self.length_bit::<V, C>(coder, &contexts, UNARY + width, shifted.ilog2() == width)
        {
            width += 1;
        }
        let mut value = 1;
        for bit in (0..width).rev() {
            let prefix = if width - bit > 5 { 0 } else { value };
            let node = 64 + (width << 5) + prefix;
            value = value << 1
                | u32::from(self.length_bit::<V, C>(
                    coder,
                    &contexts,
                    node,
                    shifted >> bit & 1 == 1,
                ));
        }
        value + UNARY - 1
    }

    #[inline(always)]
    fn length_bit<V: MixerVector, C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        known: &LengthContexts,
        node: u32,
        bit: bool,
    ) -> bool {
        let low = node.min(15) as usize;
        let eight = (node >> 3) * 0x1357;
        let context = MixerContext {
            groups: LengthMixer::groups(known.contexts.map(|context| context ^ eight)),
            member: node as usize & 7,
            sets: [low << 4 | known.length, known.byte],
            apm: known.byte << 4 | low,
        };
        self.length_mixer
            .code::<V, C>(coder, &context, bit)
    }

    fn add(&mut self, run: BwtRun) {
        let [c1, c2, _] = self.before;
        self.before = [run.byte, c1, c2];
        let quantised = run.len.ilog2().min(3) as u8;
        let number = 16 * (run.len - 1).min(40);
        self.lengths = self.lengths << 2 | quantised;
        self.average = (7 * self.average + number) >> 3;
        let own = &mut self.own[usize::from(run.byte)];
        own.average = ((3 * u32::from(own.average) + number) >> 2) as u16;
        own.lengths = own.lengths << 2 | quantised;
        own.length = run.len.min(255) as u8;
        own.last = self.count;
        self.count += 1;
    }
}

/// The contexts that all binary symbols of one length share.
struct LengthContexts {
    contexts: [u32; 5],
    byte: usize,
    /// The byte's last length, up to 15.
    length: usize,
}

impl LengthContexts {
    #[inline(always)]
    fn of(model: &MixingModel, byte: u8) -> Self {
        let own = model.own[usize::from(byte)];
        let quantised = |average: u32| (average + 1).ilog2().min(7);
        let average = quantised(own.average.into());
        let all = quantised(model.average);
        let gap = (model.count - own.last).max(1).ilog2().min(15);
        let length = u32::from(own.length.min(15));
        let contexts = [
            byte.into(),
            average << 7 | all << 4 | length,
            average << 7 | all << 4 | gap,
            u32::from(own.lengths) << 4 | gap,
            u32::from(model.lengths) << 3 | average,
        ];
        LengthContexts {
            contexts,
            byte: byte.into(),
            length: length as usize,
        }
    }
}

/// The contexts of a byte after three others; the sixth depends on the node.
#[inline(always)]
fn byte_contexts([c1, c2, c3]: [u8; 3]) -> [u32; 7] {
    let two = hash(u32::from(c2) << 8 | u32::from(c1));
    let three = hash(two ^ u32::from(c3));
    [
        0,
        0,
        u32::from(c1) << 7,
        two >> 17,
        u32::from(c2) << 7,
        0,
        three >> 17,
    ]
}

fn hash(context: u32) -> u32 {
    context.wrapping_add(1).wrapping_mul(0x9E37_79B1)
}
