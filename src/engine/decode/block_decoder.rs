//! The decoder that all blocks of a stream share: who decodes and restores which block when.
//!
//! `device_blocks` has the blocks whose raw bytes go to the memory of a GPU.

mod device_blocks;

use super::block_inverter::{BlockInverter, LEASES};
use super::decoded::{Decoded, Inverted, Origin, decode_slices_on};
use super::gpu_input;
use super::inverting_gpu::{InvertJob, InvertingGpu};
use super::restore::{SideShare, check, restore};
use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::base::tasks::TaskClock;
use crate::base::threads::Threads;
use crate::engine::memory::{Plan, SideRoom};
use crate::engine::pipeline::Work;
use crate::engine::raw::{Raw, RestoredBlock, Run, Spare};
use crate::engine::turns::Turns;
use crate::frame::{BlockHeader, BlockKind, BwtPayload, CodedBlock};
use crate::options::Options;
use crate::options::events::{Listener, Step, Timed};
pub(super) use device_blocks::DevicePart;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// State that all blocks of a stream share.
pub(crate) struct BlockDecoder {
    inverter: BlockInverter,
    pool: Threads,
    plan: Plan,
    /// The blocks whose slices are decoded on the CPU, and those that are inverted and restored.
    decoding: Turns,
    restoring: Turns,
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

/// Maximum number of raw bytes per coded byte assumed for blocks that are still to come.
const MOST_ANNOUNCED: u64 = 16;

/// Minimum ratio of raw to coded bytes in a block that may be one run, the samples of an index
/// included.
const RUN_SHARE: usize = 32;

/// The raw bytes of a block, and its coded form if that may be needed again.
type Restored = (Vec<u8>, Option<CodedBlock>);

impl BlockDecoder {
    /// Creates the decoder for blocks of up to `block_size` bytes. `spare` has memory for the next
    /// block.
    pub(crate) fn new(
        block_size: u64,
        pool: Threads,
        spare: Spare,
        options: &Options,
    ) -> Result<Self> {
        let open = InvertingGpu::open;
        BlockDecoder::with_gpus(block_size, pool, spare, options, LEASES, open)
    }

    /// Creates the decoder like [`Self::new`], with `leases` leases per GPU. `open` is
    /// [`InvertingGpu::open`] or like it.
    pub(super) fn with_gpus(
        block_size: u64,
        pool: Threads,
        spare: Spare,
        options: &Options,
        leases: usize,
        open: impl Fn(u32, u64, usize) -> Result<InvertingGpu> + Send + Sync + 'static,
    ) -> Result<Self> {
        let plan = options.plan_to_decode(block_size)?;
        let workers = plan.workers;
        Ok(BlockDecoder {
            inverter: BlockInverter::new(workers, block_size, leases, open, &pool, options)?,
            pool,
            plan,
            decoding: Turns::new(plan.coders),
            restoring: Turns::new(plan.workers),
            side_room: plan.side_room(block_size),
            last_run: Mutex::new(None),
            spare,
            input_size: options.run.input_size,
            came: Default::default(),
            listener: options.run.listener.clone(),
        })
    }

    /// The number of blocks at a time.
    pub(crate) fn plan(&self) -> Plan {
        self.plan
    }

    /// Restores a block.
    pub(crate) fn decode(&self, block: CodedBlock) -> Result<RestoredBlock> {
        let raw = self.raw(block)?;
        let line_feeds = raw.line_feeds();
        Ok(RestoredBlock { raw, line_feeds })
    }

    fn raw(&self, block: CodedBlock) -> Result<Raw> {
        let from = Instant::now();
        if let Some(run) = self.known_run(&block) {
            self.listener.done(
                block.number,
                block.header.raw_size,
                [(Step::Check, from, Instant::now())],
            );
            self.note_decoded(&block.header, Duration::ZERO);
            self.restoring.pass();
            self.end_if_restored();
            return Ok(Raw::Run(run));
        }
        let may_go_to_gpu =
            self.inverter.gpus.has_gpus() && gpu_input::is_decoded_on_gpus(&block.header);
        let (bytes, coded) = match may_go_to_gpu {
            true => self.restore_coded(block)?,
            false => self.restore_decoded(block)?,
        };
        self.end_if_restored();
        let Some(run) = Run::of(&bytes) else {
            return Ok(Raw::Bytes(bytes));
        };
        self.spare.keep(bytes);
        if let Some(coded) = coded {
            let mut last = self
                .last_run
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *last = Some((coded, run));
        }
        Ok(Raw::Run(run))
    }

    /// Returns the run of `last_run` if this block equals that one in all but its position.
    fn known_run(&self, block: &CodedBlock) -> Option<Run> {
        let last = self
            .last_run
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (known, run) = last.as_ref()?;
        let header = BlockHeader {
            raw_offset: known.header.raw_offset,
            ..block.header
        };
        (header == known.header && block.payload == known.payload).then_some(*run)
    }

    /// Decodes a block's slices on the CPU. A GPU or the CPU inverts it. If the GPU did that
    /// wrongly, the CPU restores the block.
    fn restore_decoded(&self, block: CodedBlock) -> Result<Restored> {
        let number = block.number;
        let turn = self.decoding.enter(number)?;
        let (decoded, coded) = self.decoded_on_cpu(block)?;
        drop(turn);
        let _turn = self.restoring.enter(number)?;
        let mut steps = Vec::new();
        let inverted = decoded.invert(|bwt| {
            let (text, timed) = self.inverter.invert(bwt)?;
            steps = timed;
            Ok(text)
        })?;
        let on_gpu = steps
            .iter()
            .any(|(step, ..)| matches!(step, Step::Invert(Device::Cuda(_))));
        self.tell(&inverted, steps);
        let bytes = match (self.checked(inverted), &coded) {
            (Err(Error::Format { .. }), Some(coded)) if on_gpu => self.restore_on_cpu(coded),
            (checked, _) => checked,
        };
        Ok((bytes?, coded))
    }

    /// Restores a block that a GPU decodes and inverts, if a GPU is done first and all is well.
    /// Otherwise the CPU does both.
    fn restore_coded(&self, block: CodedBlock) -> Result<Restored> {
        let _turn = self.restoring.enter(block.number)?;
        let threads = self.inverter.threads();
        if let Some((inverted, steps)) = self.invert_coded(&block, threads)? {
            self.note_decoded(&block.header, Duration::ZERO);
            self.tell(&inverted, steps);
            let bytes = match self.checked(inverted) {
                Err(Error::Format { .. }) => self.restore_on_cpu(&block),
                checked => checked,
            };
            return Ok((bytes?, Some(block)));
        }
        self.restore_after_gpus(block, threads)
    }

    /// Restores a block on the CPU for which no GPU could be had when it was compared with
    /// `threads` threads. The GPUs were asked once, and are not asked again.
    fn restore_after_gpus(&self, block: CodedBlock, threads: usize) -> Result<Restored> {
        let (decoded, coded) = self.decoded_on_cpu(block)?;
        let mut steps = Vec::new();
        let inverted = decoded.invert(|bwt| {
            let (text, timed) = self.inverter.invert_on_cpu(bwt, threads)?;
            steps = timed;
            Ok(text)
        })?;
        self.tell(&inverted, steps);
        Ok((self.checked(inverted)?, coded))
    }

    fn decoded_on_cpu(&self, block: CodedBlock) -> Result<(Decoded, Option<CodedBlock>)> {
        let number = block.number;
        let from = Instant::now();
        let may_be_run = block.payload.len() < block.header.raw_size as usize / RUN_SHARE;
        let clock = TaskClock::default();
        let on = self.pool.executor().timed(&clock);
        let (decoded, coded) = decode_slices_on(on, block, &self.plan, &self.spare)?;
        self.note_decoded(&decoded.origin.header, clock.read());
        self.listener.done(
            number,
            decoded.text_size(),
            [(Step::Decode(Device::Cpu), from, Instant::now())],
        );
        // The coded block is kept to know a run again, and for the CPU in case a GPU restores it
        // wrongly.
        Ok((
            decoded,
            coded.filter(|_| may_be_run || self.inverter.gpus.has_gpus()),
        ))
    }

    /// Decodes and inverts a block on a GPU. Returns `None` if the CPU is to restore it, on
    /// `threads` threads.
    fn invert_coded(
        &self,
        block: &CodedBlock,
        threads: usize,
    ) -> Result<Option<(Inverted, Vec<Timed>)>> {
        let raw_size = block.header.raw_size;
        let lease = self.inverter.gpus.lease(raw_size, threads);
        let Some(mut lease) = lease else {
            return Ok(None);
        };
        // This is not done in the pool, since the GPU would wait for it.
        let Some((shape, parts)) = BwtPayload::of(block)? else {
            return Ok(None);
        };
        let transform = gpu_input::coded_transform(shape, &parts);
        let steps = parts.steps()?;
        let mut text = self
            .spare
            .take_len(parts.text_size(raw_size) as usize)?;
        let origin = Origin::of(block);
        match lease.run(|gpu| gpu.invert(InvertJob::Coded(&transform, &mut text))) {
            Some(Ok(timed)) => Ok(Some((
                Decoded {
                    origin,
                    text,
                    index: None,
                    steps,
                },
                timed,
            ))),
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
        let bytes = self
            .pool
            .install(|| restore(coded.clone(), &self.plan))?;
        self.inverter
            .gpus
            .warn(&format!("a GPU restored block {} wrongly", coded.number));
        Ok(bytes)
    }

    /// Reports the steps in which a block was inverted.
    fn tell(&self, inverted: &Inverted, steps: Vec<Timed>) {
        let text_size = inverted.text.len() as u64;
        self.listener
            .done(inverted.origin.number, text_size, steps);
    }

    /// Undoes the filters and checks the raw bytes.
    fn checked(&self, inverted: Inverted) -> Result<Vec<u8>> {
        let began = Instant::now();
        let filtered = inverted.is_filtered();
        let raw_size = inverted.origin.header.raw_size;
        let mut share = SideShare::new(&self.plan, raw_size);
        let mut guest = self.side_room.enter();
        let (origin, raw) = inverted.unfilter(&self.pool, |needed| {
            share.next(
                needed,
                || self.inverter.cpu.free_tables(),
                || Some(guest.take_all()),
            )
        })?;
        drop(guest);
        let from = Instant::now();
        let raw = self.pool.install(|| check(&origin, raw))?;
        let unfiltered = filtered.then_some((Step::Unfilter, began, from));
        let checked = (Step::Check, from, Instant::now());
        let steps = unfiltered.into_iter().chain([checked]);
        self.listener.done(origin.number, raw_size, steps);
        Ok(raw)
    }

    /// Records that the threads have decoded a block that was expected, in `took` of one thread's
    /// time.
    fn note_decoded(&self, header: &BlockHeader, took: Duration) {
        if let BlockKind::Bwt(_) = header.kind {
            self.inverter.gpus.coded(header.raw_size, took);
        }
    }

    /// Lets go of the GPUs once all blocks are restored, while the last of them are being written.
    fn end_if_restored(&self) {
        if self.restoring.are_over() {
            self.inverter.gpus.end();
        }
    }
}

impl Work for BlockDecoder {
    type Item = CodedBlock;
    type Done = RestoredBlock;
    type Error = Error;

    fn announce(&self, block: &CodedBlock) {
        self.restoring.announce();
        let BlockHeader {
            kind,
            raw_size,
            coded_size,
            ..
        } = block.header;
        let is_bwt = matches!(kind, BlockKind::Bwt(_));
        // The other blocks are hardly all as small as a run.
        let raw = if is_bwt {
            raw_size.min(MOST_ANNOUNCED * coded_size)
        } else {
            0
        };
        let add = |sum: &AtomicU64, size| size + sum.fetch_add(size, Ordering::Relaxed);
        let [raw, coded] = [add(&self.came[0], raw), add(&self.came[1], coded_size)];
        self.inverter
            .gpus
            .announce((self.input_size as f64 * (raw as f64 / coded as f64)) as u64);
        if is_bwt {
            self.inverter.gpus.expect(raw_size);
        }
    }

    fn work(&self, block: CodedBlock) -> Result<RestoredBlock> {
        self.decode(block)
    }

    fn close(&self) {
        self.restoring.close();
        self.end_if_restored();
    }

    fn abandon(&self) {
        self.decoding.abandon();
        self.restoring.abandon();
    }
}

#[cfg(test)]
mod tests;
