//! Decodes a coded block: slices, inverse, filters undone, everything checked. FORMAT.md chapter 4.
//!
//! There are two stages, as in [`super::encode_block`]: [`BlockDecoder::decode`] and
//! [`BlockDecoder::finish`], on the CPU or a GPU. [`BlockDecoder::restore`] is both in one. A block
//! that comes alone, or its transform, is done on the CPU by [`decode`], [`finish`] and
//! [`restore`].
//!
//! A block has one type for each of its states: [`CodedBlock`], [`Decoded`], [`Inverted`], raw
//! bytes with their checksum, raw bytes. The memory moves from one to the next: the text takes the
//! memory of the transform.

use super::decoded::{Content, Decoded, Origin, decode, decode_with};
use super::gpu_input;
use crate::base::allocation;
use crate::base::device::Device;
use crate::base::error::{Error, Flaw, Result};
use crate::base::tasks::Task;
use crate::base::threads::Threads;
use crate::bwt::{Bwt, CpuInverse};
use crate::engine::memory::{Plan, SideRoom};
use crate::engine::raw::{Raw, Run, Spare};
use crate::engine::sorters::{BlockInverter, InvertJob};
use crate::filter::{self, Filtered};
use crate::frame::{self, BlockHeader, BlockIndex, BlockKind, BwtPayload, CodedBlock, Shape};
use crate::options::Options;
use crate::options::events::{Listener, Step, Timed};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// State that all blocks of a stream share.
pub struct BlockDecoder {
    inverses: BlockInverter,
    pool: Threads,
    plan: Plan,
    /// Memory that blocks with large side structures may take.
    side_room: SideRoom,
    /// The last block that was found to be one run, in its coded form.
    last_run: Mutex<Option<(CodedBlock, Run)>>,
    spare: Spare,
    /// Bytes of the input, as far as is known.
    input_size: u64,
    /// Bytes of the blocks that have come: raw bytes that a GPU could restore, and coded bytes.
    came: [AtomicU64; 2],
    listener: Listener,
}

/// Result of the first stage.
pub enum DecodeOutcome {
    /// A decoded block; and its coded form, if that may be needed again.
    Decoded(Box<Decoded>, Option<CodedBlock>),
    /// A block that a GPU may decode and restore in one go.
    Coded(CodedBlock),
    /// A block whose coded form equals an earlier one's, which was this run.
    KnownRun(Run),
}

/// Maximum number of raw bytes per coded byte assumed for blocks that are still to come.
const MOST_ANNOUNCED: u64 = 16;

/// Minimum ratio of raw to coded bytes in a block that may be one run, the samples of an index
/// included.
const RUN_SHARE: usize = 32;

impl BlockDecoder {
    /// Creates the decoder for blocks of up to `block_size` bytes, and the plan that says how many
    /// are done at a time. `spare` has memory for the next block.
    pub fn new(
        block_size: u64,
        pool: Threads,
        spare: Spare,
        options: &Options,
    ) -> Result<(Plan, Self)> {
        let plan = options.plan_to_decode(block_size)?;
        let decoder = BlockDecoder {
            inverses: BlockInverter::new(plan.workers, block_size, &pool, options)?,
            pool,
            plan,
            side_room: plan.side_room(block_size),
            last_run: Mutex::new(None),
            spare,
            input_size: options.run.input_size,
            came: Default::default(),
            listener: options.run.listener.clone(),
        };
        Ok((plan, decoder))
    }

    /// Announces a block that has come, and will be decoded and restored when it has its turn.
    pub fn announce(&self, block: &CodedBlock) {
        let BlockHeader { kind, raw_size, coded_size, .. } = block.header;
        let is_bwt = matches!(kind, BlockKind::Bwt(_));
        // The other blocks are hardly all as small as a run.
        let raw = if is_bwt { raw_size.min(MOST_ANNOUNCED * coded_size) } else { 0 };
        let add = |sum: &AtomicU64, size| size + sum.fetch_add(size, Ordering::Relaxed);
        let [raw, coded] = [add(&self.came[0], raw), add(&self.came[1], coded_size)];
        self.inverses.gpus.announce((self.input_size as f64 * (raw as f64 / coded as f64)) as u64);
        if is_bwt {
            self.inverses.gpus.expect(raw_size);
        }
    }

    /// Records that the threads have decoded a block that was expected, in `took` of one thread's
    /// time.
    fn decoded(&self, header: &BlockHeader, took: Duration) {
        if let BlockKind::Bwt(_) = header.kind {
            self.inverses.gpus.coded(header.raw_size, took);
        }
    }

    /// Lets go of the GPUs, since all blocks are restored.
    pub fn end_restoring(&self) {
        self.inverses.end();
    }

    /// Does both stages.
    pub fn restore(&self, block: CodedBlock) -> Result<Raw> {
        self.finish(self.decode(block)?)
    }

    /// Decodes a block's slices, unless a GPU may do that when it restores the block.
    pub fn decode(&self, block: CodedBlock) -> Result<DecodeOutcome> {
        let number = block.number;
        let from = Instant::now();
        if let Some(run) = self.known_run(&block) {
            self.listener.done(number, [(Step::Check, from, Instant::now())]);
            self.decoded(&block.header, Duration::ZERO);
            return Ok(DecodeOutcome::KnownRun(run));
        }
        if self.inverses.gpus.has_gpus() && gpu_input::is_decoded_on_gpus(&block.header) {
            return Ok(DecodeOutcome::Coded(block));
        }
        self.decode_on_cpu(block).map(|(decoded, coded)| DecodeOutcome::Decoded(decoded, coded))
    }

    fn decode_on_cpu(&self, block: CodedBlock) -> Result<(Box<Decoded>, Option<CodedBlock>)> {
        let number = block.number;
        let from = Instant::now();
        let may_be_run = block.payload.len() < block.header.raw_size as usize / RUN_SHARE;
        let mut took = Duration::ZERO;
        let execute = |tasks: Vec<Task>| took += self.pool.execute(tasks);
        let (decoded, coded) = decode_with(execute, block, &self.plan, &self.spare)?;
        self.decoded(&decoded.origin.header, took);
        self.listener.done(number, [(Step::Decode(Device::Cpu), from, Instant::now())]);
        // The coded block is kept to know a run again, and for the CPU in case a GPU restores it
        // wrongly.
        Ok((Box::new(decoded), coded.filter(|_| may_be_run || self.inverses.gpus.has_gpus())))
    }

    /// Returns the run of `last_run` if this block equals that one in all but its position.
    fn known_run(&self, block: &CodedBlock) -> Option<Run> {
        let last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, run) = last.as_ref()?;
        let header = BlockHeader { raw_offset: known.header.raw_offset, ..block.header };
        (header == known.header && block.payload == known.payload).then_some(*run)
    }

    /// Inverts a block's transform, undoes its filters and checks the bytes.
    pub fn finish(&self, stage: DecodeOutcome) -> Result<Raw> {
        let (bytes, coded) = match stage {
            DecodeOutcome::KnownRun(run) => return Ok(Raw::Run(run)),
            DecodeOutcome::Coded(block) => self.finish_coded(block)?,
            DecodeOutcome::Decoded(block, coded) => (self.finish_decoded(*block, &coded)?, coded),
        };
        let Some(run) = Run::of(&bytes) else { return Ok(Raw::Bytes(bytes)) };
        self.spare.keep(bytes);
        if let Some(coded) = coded {
            let mut last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some((coded, run));
        }
        Ok(Raw::Run(run))
    }

    /// Returns the bytes of a decoded block. If a GPU restored it wrongly, the CPU restores it.
    fn finish_decoded(&self, decoded: Decoded, coded: &Option<CodedBlock>) -> Result<Vec<u8>> {
        let inverse = |bwt| self.inverses.invert(bwt, &self.pool);
        match (self.finish_with(inverse, decoded), coded) {
            ((Err(Error::Format { .. }), true), Some(coded)) => self.restore_on_cpu(coded),
            ((restored, _), _) => restored,
        }
    }

    /// Returns the bytes of a block that a GPU decodes and inverts, if a GPU is done first and all
    /// is well. Otherwise the CPU decodes it.
    fn finish_coded(&self, block: CodedBlock) -> Result<(Vec<u8>, Option<CodedBlock>)> {
        let threads = self.inverses.threads(&self.pool);
        let Some((inverted, mut steps)) = self.invert_coded(&block, threads)? else {
            // The GPUs were asked once, and are not asked again.
            let (decoded, coded) = self.decode_on_cpu(block)?;
            let inverse = |bwt| self.inverses.invert_on_cpu(bwt, threads, &self.pool);
            return Ok((self.finish_with(inverse, *decoded).0?, coded));
        };
        self.decoded(&block.header, Duration::ZERO);
        match self.checked(inverted, &mut steps) {
            Err(Error::Format { .. }) => {
                self.restore_on_cpu(&block).map(|bytes| (bytes, Some(block)))
            }
            Err(e) => Err(e),
            Ok(bytes) => {
                self.listener.done(block.number, steps);
                Ok((bytes, Some(block)))
            }
        }
    }

    /// Decodes and inverts a block on a GPU. Returns `None` if the CPU is to restore it, on
    /// `threads` threads.
    fn invert_coded(
        &self,
        block: &CodedBlock,
        threads: usize,
    ) -> Result<Option<(Inverted, Vec<Timed>)>> {
        let raw_size = block.header.raw_size;
        let lease = self.inverses.gpus.lease(raw_size, threads);
        let Some(mut lease) = lease else { return Ok(None) };
        // This is not done in the pool, since the GPU would wait for it.
        let Some((shape, parts)) = BwtPayload::of(block)? else { return Ok(None) };
        let transform = gpu_input::coded_transform(shape, &parts);
        let side = allocation::copied(parts.side()).ok_or(Flaw::NO_MEMORY)?;
        let mut text = self.spare.take_len(parts.text_size(raw_size) as usize)?;
        let origin = Origin::of(block);
        match lease.run(|invert| invert(InvertJob::Coded(&transform, &mut text))) {
            Some(Ok(steps)) => Ok(Some((Inverted { origin, text, index: None, side }, steps))),
            // The CPU examines damaged blocks.
            _ => {
                self.spare.keep(text);
                Ok(None)
            }
        }
    }

    /// Restores a block on the CPU after a GPU restored it wrongly, and warns if the CPU finds it
    /// sound.
    fn restore_on_cpu(&self, coded: &CodedBlock) -> Result<Vec<u8>> {
        let bytes = self.pool.install(|| restore(coded.clone(), &self.plan))?;
        self.inverses.gpus.warn(&format!("a GPU restored block {} wrongly", coded.number));
        Ok(bytes)
    }

    /// Returns the checked bytes of a block that `inverse` inverts, and whether that was a GPU's.
    fn finish_with(
        &self,
        inverse: impl FnOnce(Bwt) -> Result<(Vec<u8>, Vec<Timed>)>,
        decoded: Decoded,
    ) -> (Result<Vec<u8>>, bool) {
        let number = decoded.origin.number;
        let mut steps = Vec::new();
        let restored = invert(decoded, |bwt| {
            let (text, timed) = inverse(bwt)?;
            steps = timed;
            Ok(text)
        });
        let on_gpu = steps.iter().any(|(step, ..)| matches!(step, Step::Invert(Device::Cuda(_))));
        let raw = restored.and_then(|inverted| self.checked(inverted, &mut steps));
        if raw.is_ok() {
            self.listener.done(number, steps);
        }
        (raw, on_gpu)
    }

    /// Undoes the filters and checks the raw bytes. Adds the steps to `steps`.
    fn checked(&self, inverted: Inverted, steps: &mut Vec<Timed>) -> Result<Vec<u8>> {
        let began = Instant::now();
        let filtered = inverted.is_filtered();
        let raw_size = inverted.origin.header.raw_size;
        let mut share = SideShare::new(&self.plan, raw_size);
        let mut guest = self.side_room.enter();
        let (origin, raw) = unfilter(inverted, &self.pool, |needed| {
            share.next(needed, || self.inverses.free_tables(), || Some(guest.take_all()))
        })?;
        drop(guest);
        let from = Instant::now();
        let raw = self.pool.install(|| check(&origin, raw))?;
        steps.extend(filtered.then_some((Step::Unfilter, began, from)));
        steps.push((Step::Check, from, Instant::now()));
        Ok(raw)
    }
}

/// Does both stages on the CPU, for a block that comes alone.
pub fn restore(block: CodedBlock, plan: &Plan) -> Result<Vec<u8>> {
    finish(decode(block, plan)?, &CpuInverse::new(plan.narrow), plan)
}

/// A block between the inverse and the filters. Its text is the raw bytes if there are no filters.
struct Inverted {
    origin: Origin,
    text: Vec<u8>,
    index: Option<BlockIndex>,
    side: Vec<u8>,
}

impl Inverted {
    fn is_filtered(&self) -> bool {
        matches!(self.origin.header.kind, BlockKind::Bwt(Shape { filters: 1.., .. }))
    }
}

/// Inverts a block's transform, undoes its filters and checks the bytes, on the CPU, within a
/// block's share of the plan's memory.
pub fn finish(decoded: Decoded, inverse: &CpuInverse, plan: &Plan) -> Result<Vec<u8>> {
    let mut share = SideShare::new(plan, decoded.origin.header.raw_size);
    let inverted = invert(decoded, |bwt| inverse.invert(bwt))?;
    // It does not wait for other blocks, since their threads may be its own.
    let side_room = |needed| share.next(needed, || inverse.free_tables(), || None);
    let (origin, raw) = unfilter(inverted, &Threads::Calling, side_room)?;
    check(&origin, raw)
}

/// Memory that the side structures of one block may take.
struct SideShare<'p> {
    plan: &'p Plan,
    raw_size: u64,
    /// Number of times that more memory was needed.
    asked: usize,
}

impl<'p> SideShare<'p> {
    fn new(plan: &'p Plan, raw_size: u64) -> Self {
        SideShare { plan, raw_size, asked: 0 }
    }

    /// Returns the number of bytes that the side structures may take. At first it is the plan's
    /// share. If more are `needed`, the inverse frees its tables, and their bytes are added. If
    /// these are not enough, it is all that can be had.
    ///
    /// # Errors
    /// [`Error::Limit`] if none of these is enough.
    fn next(
        &mut self,
        needed: Option<u64>,
        free_tables: impl FnOnce(),
        take_all: impl FnOnce() -> Option<u64>,
    ) -> Result<u64> {
        let Some(needed) = needed else { return Ok(self.plan.side_share) };
        self.asked += 1;
        let more = match self.asked {
            1 => {
                free_tables();
                Some(self.plan.side_share + Plan::freed_for_side(self.raw_size))
            }
            // The block's text and its raw bytes are part of it.
            2 => take_all().map(|all| all.saturating_sub(2 * self.raw_size)),
            _ => None,
        };
        more.ok_or_else(|| self.plan.side_shortage(self.raw_size, needed))
    }
}

/// Inverts the transform; a stored block has none.
fn invert(
    Decoded { origin, content }: Decoded,
    inverse: impl FnOnce(Bwt) -> Result<Vec<u8>>,
) -> Result<Inverted> {
    let (text, index, side) = match content {
        Content::Stored(raw) => (raw, None, Vec::new()),
        Content::Bwt { bwt, index, side } => {
            (inverse(bwt).map_err(|e| e.at(origin.number, origin.offset))?, index, side)
        }
    };
    Ok(Inverted { origin, text, index, side })
}

/// Undoes the filters. The caller must not be a thread of the `pool`. The bytes are not checked
/// yet. `side_room` is described in [`filter::undo_on`].
fn unfilter(
    inverted: Inverted,
    pool: &Threads,
    side_room: impl FnMut(Option<u64>) -> Result<u64>,
) -> Result<(Origin, Vec<u8>)> {
    let Inverted { origin, text, index, side } = inverted;
    let header = &origin.header;
    let sound = index.as_ref().map_or(Ok(()), |index| {
        let flags = if let BlockKind::Bwt(shape) = header.kind { shape.filters } else { 0 };
        let searched = filter::searched_size(flags, &side, text.len() as u64)?;
        index.check_edges(&text[..searched as usize])
    });
    sound.map_err(|flaw| origin.error(flaw))?;
    let raw = match header.kind {
        BlockKind::Bwt(Shape { filters: flags @ 1.., .. }) => {
            let filtered = Filtered { text, flags, side };
            let undone = filter::undo_on(filtered, header.raw_size as usize, pool, side_room);
            undone.map_err(|e: Error| e.at(origin.number, origin.offset))?
        }
        _ => text,
    };
    Ok((origin, raw))
}

/// Checks the raw bytes.
fn check(origin: &Origin, raw: Vec<u8>) -> Result<Vec<u8>> {
    if !frame::raw_checksum_holds(origin.header.raw_checksum, &raw) {
        return Err(origin.error(Flaw("the checksum of the block's restored bytes is wrong")));
    }
    Ok(raw)
}

#[cfg(test)]
mod tests;
