//! Sorts blocks, on the CPU or on a leased GPU.

use super::coded_transform::{CodedTransform, GpuSort, GpuSorted, Sorted};
use super::joint_gpus::JointGpus;
use crate::bwt::{self, Bwt, ByteSums, CpuSorter, could_be_of};
use crate::coder::SliceLimits;
use crate::device::{Device, GpuSet};
use crate::device_pool::{DevicePool, Opener, Rates};
use crate::error::{Error, Result};
#[cfg(test)]
use crate::events::Listener;
use crate::events::{Step, Timed};
use crate::gpu::{self, Algorithm};
use crate::options::Options;
use crate::threads::{self, Threads};
use std::ops::RangeInclusive;
use std::time::Instant;

/// Leases of each GPU: for blocks of so many bytes together, within these bounds. A block's slices
/// are too few for a whole GPU, so that several blocks are coded in hardly more time than one.
const LEASED: u64 = 256 << 20;
const LEASES: RangeInclusive<u64> = 4..=8;

fn leases(block_size: u64) -> usize {
    (LEASED / block_size.max(1)).clamp(*LEASES.start(), *LEASES.end()) as usize
}

/// How many blocks may be on a GPU, or wait for one that is opened, while threads filter others.
pub(crate) fn blocks_on_gpus(block_size: u64, options: &Options) -> usize {
    let may_be = match options.device {
        Device::Cpu => false,
        Device::Auto => gpu::has_driver(),
        Device::Cuda(_) => gpu::is_built(),
    };
    if may_be { leases(block_size) } else { 0 }
}

/// All that sorts, shared by the workers.
pub(crate) struct BlockSorter {
    pub gpus: DevicePool<GpuSort>,
    pub(super) together: JointGpus,
    pub cpu: CpuSorter,
}

impl BlockSorter {
    /// For up to `workers` blocks at a time, of up to `block_size` bytes with samples at
    /// `sample_rate`. GPUs code them too where `coded` says how.
    ///
    /// # Errors
    /// [`Error::Device`] where this build has no sorter for the device that
    /// is asked for.
    pub fn new(
        workers: usize,
        block_size: u64,
        sample_rate: u32,
        coded: Option<SliceLimits>,
        pool: &Threads,
        options: &Options,
    ) -> Result<Self> {
        // Larger blocks go to the CPU.
        let most = block_size.min(gpu::MOST_SORTED.into()) as u32;
        let threads = options.thread_count();
        let make = move |number| gpu_sort(number, most, (sample_rate, coded), threads);
        let opener = Opener::new(options.device, workers, leases(block_size), make)?;
        let rates = Rates { whole: coded.is_some(), ..Rates::SORT };
        let gpus = DevicePool::of(opener, rates, pool, options.listener.clone());
        gpus.announce(options.input_size);
        let ranks = options.ranks.clone();
        let together = JointGpus::new(options.device, ranks, coded.is_some());
        Ok(BlockSorter { gpus, together, cpu: CpuSorter::with(options.narrow) })
    }

    #[cfg(test)]
    pub(super) fn with(gpus: DevicePool<GpuSort>) -> Self {
        BlockSorter {
            gpus,
            together: JointGpus::new(Device::Cpu, None, false),
            cpu: CpuSorter::new(),
        }
    }

    /// Of GPUs that are open at once and used whatever the block.
    #[cfg(test)]
    pub fn of(gpus: Vec<GpuSort>, listener: Listener) -> Self {
        BlockSorter::with(DevicePool::new(Opener::of(gpus), Rates::SORT, 4, listener))
    }

    /// A block of `len` bytes, which may be alone in its stream, will be sorted when it has its
    /// turn.
    pub fn expect(&self, len: usize, is_alone: bool) {
        if !self.together.take(len as u64, is_alone) {
            self.gpus.expect(len as u64);
        }
    }

    /// No more blocks come: lets go of the GPUs, which takes a tenth of a second.
    pub fn end(&self) {
        self.gpus.end();
    }

    /// A GPU was wrong, which may not be found the next time: says so, and uses none any more.
    pub fn give_up(&self, failure: &str) {
        self.gpus.give_up(failure);
        self.together.give_up();
    }

    /// Sorts a block: on several GPUs where it is alone in its stream or no GPU alone has the
    /// memory for it; on one or on the CPU otherwise, and where they fail.
    ///
    /// What they give is inverted on the CPU and compared with the block: it goes through more
    /// hands than what one GPU sorts, and blocks that large are few.
    pub fn sort(
        &self,
        block: &[u8],
        sample_rate: u32,
        (threads, is_alone): (usize, bool),
        pool: &Threads,
    ) -> Result<(Sorted, Vec<Timed>)> {
        if self.together.take(block.len() as u64, is_alone) {
            match self.together.sort(block, sample_rate) {
                Ok(Some((sorted, steps))) if pool.install(|| restores(&sorted, block))? => {
                    return Ok((Sorted::Bwt(sorted), steps));
                }
                Ok(Some(_)) => self.give_up(WRONG),
                Ok(None) => (),
                Err(Error::Device(failure)) => self.gpus.warn_of_several(&failure),
                Err(other) => return Err(other),
            }
        }
        self.sort_on_one(block, sample_rate, threads, pool)
    }

    /// Sorts a block on one GPU or on up to `threads` threads of the CPU. The latter happens in
    /// `pool`; a GPU is waited for outside of it.
    pub fn sort_on_one(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &Threads,
    ) -> Result<(Sorted, Vec<Timed>)> {
        if let Some(sorted) = self.sort_on_gpu(block, sample_rate, threads, pool)? {
            return Ok(sorted);
        }
        pool.install(|| {
            let from = Instant::now();
            let bwt = self.cpu.sort_on(threads, block, sample_rate);
            self.gpus.done_on_cpu(block.len() as u64, threads, from.elapsed());
            Ok((Sorted::Bwt(bwt?), vec![(Step::Sort(Device::Cpu), from, Instant::now())]))
        })
    }

    /// `None` where the CPU is to sort it.
    fn sort_on_gpu(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &Threads,
    ) -> Result<Option<(Sorted, Vec<Timed>)>> {
        let lease = self.gpus.lease(block.len() as u64, threads);
        // The lease ends with this, before anything waits for the pool.
        let sorted = lease.and_then(|mut lease| lease.run(|sort| sort(block, sample_rate)));
        let Some((sorted, counts, steps)) = sorted.transpose()? else { return Ok(None) };
        if !self.could_be(&sorted, counts, block, pool) {
            self.give_up(WRONG);
            return Ok(None);
        }
        Ok(Some((sorted, steps)))
    }

    /// Whether what a GPU gave could be the block's.
    fn could_be(
        &self,
        sorted: &Sorted,
        counts: Option<[u32; 256]>,
        block: &[u8],
        pool: &Threads,
    ) -> bool {
        pool.install(|| match sorted {
            Sorted::Bwt(bwt) => could_be_of(bwt, block),
            Sorted::Coded(coded) => coded_could_be_of(coded, counts, block),
        })
    }
}

/// Whether a block is what its transform is inverted to.
fn restores(bwt: &Bwt, block: &[u8]) -> Result<bool> {
    match bwt.copy().and_then(bwt::invert) {
        Ok(restored) => Ok(restored == block),
        Err(Error::Format { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

const WRONG: &str = "a GPU gave a transform that is not the block's";

/// As [`could_be_of`], of a transform that is coded, with the bytes that were counted in it.
fn coded_could_be_of(coded: &CodedTransform, counts: Option<[u32; 256]>, block: &[u8]) -> bool {
    let CodedTransform { coded, sample_rate, samples } = coded;
    let rows = 1..=block.len() as u32;
    let size: u64 = coded.raw_sizes.iter().map(|&size| u64::from(size)).sum();
    size == block.len() as u64
        && counts.is_some_and(|counts| ByteSums::of_counts(&counts) == ByteSums::of(block))
        && samples.len() == block.len().div_ceil(*sample_rate as usize)
        && samples.iter().all(|row| rows.contains(row))
}

/// A sorter on a GPU, with memory for blocks of the size and sample rate given, and a coder where
/// it is to code and there is memory for that. Up to so many threads copy very large blocks.
fn gpu_sort(
    number: u32,
    block_size: u32,
    (sample_rate, coded): (u32, Option<SliceLimits>),
    threads: usize,
) -> Result<GpuSort> {
    let mut sorter = gpu::GpuSorter::new(number, Algorithm::Default)?;
    sorter.reserve(block_size, sample_rate)?;
    // What is larger the CPU codes.
    let coded = coded.filter(|_| block_size <= gpu::MOST_BYTES);
    let mut coder = coded.and_then(|limits| {
        let mut encoder = gpu::BwtEncoder::new(number).ok()?;
        encoder.reserve(block_size, limits).ok().map(|()| (encoder, limits))
    });
    if coder.is_none() {
        sorter.reserve_output(block_size)?;
    }
    Ok(Box::new(move |block, sample_rate| {
        let began = Instant::now();
        threads::copy(sorter.input(block.len())?, block, threads);
        if let Some((encoder, limits)) = &mut coder {
            return sort_and_code(&mut sorter, encoder, *limits, sample_rate, (number, began));
        }
        let sorted = sorter.sort_input(sample_rate)?;
        let mut bytes = bwt::zeroed(block.len())?;
        threads::copy(&mut bytes, sorted.bytes, threads);
        let samples = bwt::wide(sorted.samples.to_vec());
        let ended = Instant::now();
        let [_, from, to, _] = sorter.report().times.unwrap_or([began, began, ended, ended]);
        let steps = vec![
            (Step::CopyIn, began, from),
            (Step::Sort(Device::Cuda(GpuSet::one(number))), from, to),
            (Step::CopyOut, to, ended),
        ];
        Ok((Sorted::Bwt(Bwt { bytes, sample_rate, samples }), None, steps))
    }))
}

/// Sorts the sorter's input on GPU `number` and codes its transform there. It was copied since
/// `began`.
fn sort_and_code(
    sorter: &mut gpu::GpuSorter,
    encoder: &mut gpu::BwtEncoder,
    limits: SliceLimits,
    sample_rate: u32,
    (number, began): (u32, Instant),
) -> Result<GpuSorted> {
    let (encoded, samples) = sorter.sort_and_encode(sample_rate, encoder, limits)?;
    let (samples, counts, coded) = (samples.to_vec(), encoded.byte_counts, Instant::now());
    let transform = CodedTransform { coded: encoder.take(encoded)?, sample_rate, samples };
    let [_, from, to, _] = sorter.report().times.unwrap_or([began, began, coded, coded]);
    let gpu = Device::Cuda(GpuSet::one(number));
    let steps = vec![
        (Step::CopyIn, began, from),
        (Step::Sort(gpu), from, to),
        (Step::Code(gpu), to, coded),
        (Step::CopyOut, coded, Instant::now()),
    ];
    Ok((Sorted::Coded(transform), Some(counts), steps))
}
