//! A coded block becomes a raw one: segments, inverse, filters undone, everything checked.
//! FORMAT.md section 4.
//!
//! Two stages, as in [`super::encode_block`]: [`BlockDecoder::decode`] and [`BlockDecoder::finish`], on
//! the CPU or a GPU. Those who read one block alone, or search its transform, use [`decode`] and
//! [`restore_decoded`] on the CPU.

use crate::allocation;
use crate::bwt::{self, Bwt, InverseBwt};
use crate::coder;
use crate::error::{Flaw, Result};
use crate::events::{Listener, Step};
use crate::filter::{self, Filtered};
use crate::frame::{BlockHeader, BwtPayload, CodedBlock, Index, Kind, Shape, checksum_holds};
use crate::memory::{Plan, Shortage};
use crate::options::Options;
use crate::raw::{Raw, Run};
use crate::sorters::Inverses;
use crate::threads::Threads;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// What all blocks of a stream share on their way.
pub struct BlockDecoder {
    inverses: Inverses,
    pool: Threads,
    /// Why segments with large models are refused, if they are.
    shortage: Option<Shortage>,
    /// The last block that turned out to be one run, as it was coded.
    last_run: Mutex<Option<(CodedBlock, Run)>>,
    listener: Listener,
}

/// What the first stage hands to the second.
pub enum Half {
    /// With the block as it was coded, where that is worth keeping.
    Decoded(Box<Decoded>, Option<CodedBlock>),
    /// A block that is coded like one before, which was this.
    Known(Run),
}

/// A run takes less than one byte in so many, the samples of an index included.
const RUN_SHARE: usize = 32;

impl BlockDecoder {
    /// With the plan for blocks of up to `block_size` bytes, as many at a time as it says.
    pub fn new(block_size: u32, pool: Threads, options: &Options) -> Result<(Plan, Self)> {
        let plan = options.plan_to_decode(block_size)?;
        let decoder = BlockDecoder {
            inverses: Inverses::new(plan.workers, block_size, options)?,
            pool,
            shortage: plan.shortage,
            last_run: Mutex::new(None),
            listener: options.listener().clone(),
        };
        Ok((plan, decoder))
    }

    /// A block has come and will be decoded and restored when it has its turn.
    pub fn expect(&self, block: &CodedBlock) {
        if let Kind::Bwt(_) = block.header.kind {
            self.inverses.expect(block.header.raw_size);
        }
    }

    /// Both stages.
    pub fn restore(&self, block: CodedBlock) -> Result<Raw> {
        self.finish(self.decode(block)?)
    }

    /// Decodes a block's segments.
    pub fn decode(&self, block: CodedBlock) -> Result<Half> {
        let (offset, from) = (block.header.raw_offset, Instant::now());
        if let Some(run) = self.known_run(&block) {
            self.listener.done(offset, [(Step::Check, from, Instant::now())]);
            return Ok(Half::Known(run));
        }
        let may_be_run = block.payload.len() < block.header.raw_size as usize / RUN_SHARE;
        let coded = may_be_run.then(|| block.clone());
        let decoded = decode_with(block, self.shortage, |log, segments, bwt| {
            self.decode_segments(log, segments, bwt)
        })?;
        self.listener.done(offset, [(Step::Decode, from, Instant::now())]);
        Ok(Half::Decoded(Box::new(decoded), coded))
    }

    /// What the last run was, if this block differs from it in its place alone.
    fn known_run(&self, block: &CodedBlock) -> Option<Run> {
        let last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, run) = last.as_ref()?;
        let header = BlockHeader { raw_offset: known.header.raw_offset, ..block.header };
        (header == known.header && block.payload == known.payload).then_some(*run)
    }

    /// Restores a block and checks it.
    pub fn finish(&self, half: Half) -> Result<Raw> {
        match half {
            Half::Known(run) => Ok(Raw::Run(run)),
            Half::Decoded(decoded, coded) => {
                let raw = Raw::from(self.restore_decoded(*decoded)?);
                if let (Raw::Run(run), Some(coded)) = (&raw, coded) {
                    let mut last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
                    *last = Some((coded, *run));
                }
                Ok(raw)
            }
        }
    }

    fn decode_segments(&self, log: u8, segments: &[&[u8]], bwt: &mut [u8]) -> Result<(), Flaw> {
        let flaw = OnceLock::new();
        let pairs = coder::pairs_to_decode(log, segments, bwt)?;
        self.pool.each(pairs, |pair| coder::decode_unless(&flaw, pair));
        flaw.into_inner().map_or(Ok(()), Err)
    }

    fn restore_decoded(&self, decoded: Decoded) -> Result<Vec<u8>> {
        let (offset, mut steps) = (decoded.block.header.raw_offset, Vec::new());
        let restored = invert(decoded, |bwt| {
            let (text, timed) = self.inverses.invert(bwt, &self.pool)?;
            steps = timed;
            Ok(text)
        })?;
        let from = Instant::now();
        let raw = self.pool.install(|| check(restored))?;
        steps.push((Step::Check, from, Instant::now()));
        self.listener.done(offset, steps);
        Ok(raw)
    }
}

/// Both stages in one, on the CPU, for a block that comes alone.
pub fn restore(block: CodedBlock, shortage: Option<Shortage>) -> Result<Vec<u8>> {
    restore_decoded(decode(block, shortage)?, &InverseBwt::new())
}

/// A block on its way from the segment decoders to the inverse; its header stays to say what must
/// come out.
pub struct Decoded {
    pub block: CodedBlock,
    /// The transform of the block's text, and the index where there is one; a stored block has
    /// neither.
    pub bwt: Option<Bwt>,
    pub index: Option<Index>,
    /// What the filters need.
    side: Vec<u8>,
}

impl Decoded {
    /// Whether the transform is not of the raw bytes but of what filters made of them.
    pub fn is_filtered(&self) -> bool {
        matches!(self.block.header.kind, Kind::Bwt(Shape { filters: 1.., .. }))
    }
}

/// Decodes a block's segments side by side on the current rayon pool; with a `shortage`, none that
/// need large models.
pub fn decode(block: CodedBlock, shortage: Option<Shortage>) -> Result<Decoded> {
    decode_with(block, shortage, |log, segments, bwt| coder::decode_segments(log, segments, bwt))
}

/// The same by what decodes segments, given the logarithm of their size and the place for them.
fn decode_with(
    mut block: CodedBlock,
    shortage: Option<Shortage>,
    decode_segments: impl FnOnce(u8, &[&[u8]], &mut [u8]) -> Result<(), Flaw>,
) -> Result<Decoded> {
    block.check_payload().map_err(|flaw| block.error(flaw))?;
    let Kind::Bwt(shape) = block.header.kind else {
        return Ok(Decoded { block, bwt: None, index: None, side: Vec::new() });
    };
    let raw_size = block.header.raw_size;
    let parts = BwtPayload::from_bytes(&block.payload, raw_size, shape);
    let parts = parts.map_err(|flaw| block.error(flaw))?;
    if let Some(shortage) = shortage
        && parts.segments.iter().any(|segment| coder::needs_large_models(segment))
    {
        let what = format!("a block of {raw_size} bytes coded with --best");
        return Err(shortage.error(what).at(block.number, block.offset));
    }
    let (text_size, side) = match parts.filtered {
        Some(filtered) => {
            let side = allocation::copied(filtered.side).ok_or(Flaw::NO_MEMORY)?;
            (filtered.text_size, side)
        }
        None => (raw_size, Vec::new()),
    };
    let BwtPayload { samples, index, segments, .. } = parts;
    let mut bytes = bwt::zeroed(text_size as usize)?;
    decode_segments(shape.segment_size_log, &segments, &mut bytes)
        .and_then(|()| match &index {
            Some(index) => index.check(&segments, &bytes, shape.segment_size_log),
            None => Ok(()),
        })
        .map_err(|flaw| block.error(flaw))?;
    let bwt = Bwt { bytes, sample_rate: 1 << shape.sample_rate_log, samples };
    block.payload = Vec::new();
    Ok(Decoded { block, bwt: Some(bwt), index, side })
}

/// Restores the block on the CPU and checks it.
pub fn restore_decoded(decoded: Decoded, inverse: &InverseBwt) -> Result<Vec<u8>> {
    check(invert(decoded, |bwt| inverse.invert(bwt))?)
}

/// Puts the text in the place of the payload, where a stored block has it.
fn invert(mut decoded: Decoded, inverse: impl FnOnce(Bwt) -> Result<Vec<u8>>) -> Result<Decoded> {
    if let Some(bwt) = decoded.bwt.take() {
        let CodedBlock { number, offset, .. } = decoded.block;
        decoded.block.payload = inverse(bwt).map_err(|e| e.at(number, offset))?;
    }
    Ok(decoded)
}

/// Restores the block from the text that [`invert`] gives, and checks it.
fn check(Decoded { block, index, side, .. }: Decoded) -> Result<Vec<u8>> {
    let (number, offset, header) = (block.number, block.offset, block.header);
    let located = |flaw: Flaw| flaw.at(Some(number), offset);
    let mut raw = block.payload;
    if let Kind::Bwt(Shape { filters: flags @ 1.., .. }) = header.kind {
        let filtered = Filtered { text: raw, flags, side };
        raw = filter::undo(filtered, header.raw_size as usize).map_err(located)?;
    }
    if checksum_holds(header.raw_checksum, &raw) {
        let sound = index.map_or(Ok(()), |index| index.check_edges(&raw));
        return sound.map(|()| raw).map_err(located);
    }
    Err(Flaw("the checksum of the block's restored bytes is wrong").at(Some(number), offset))
}
