//! Sorts blocks, on the CPU or on a leased GPU.

use super::coded_transform::{CodedTransform, GpuSort, GpuSorted, Sorted};
use super::joint_gpus::JointGpus;
use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Result};
use crate::base::threads::{self, Threads};
use crate::bwt::{self, Bwt, ByteSums, CpuSorter, could_be_of};
use crate::coder::SliceLimits;
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::gpu;
use crate::options::Options;
#[cfg(test)]
use crate::options::events::Listener;
use crate::options::events::{Step, Timed};
use std::ops::RangeInclusive;
use std::time::Instant;

/// Bytes of the blocks that all leases of one GPU sort together. A block has too few slices to fill
/// a GPU, so several blocks are coded in hardly more time than one.
const LEASED: u64 = 256 << 20;
/// Minimum and maximum number of leases per GPU.
const LEASES: RangeInclusive<u64> = 4..=8;

fn leases(block_size: u64) -> usize {
    (LEASED / block_size.max(1)).clamp(*LEASES.start(), *LEASES.end()) as usize
}

/// Number of blocks that may be on a GPU, or wait for one to be opened, while threads filter
/// others.
pub(crate) fn blocks_on_gpus(block_size: u64, options: &Options) -> usize {
    let may_be = match options.device {
        Device::Cpu => false,
        Device::Auto => gpu::has_driver(),
        Device::Cuda(_) => gpu::is_built(),
    };
    if may_be { leases(block_size) } else { 0 }
}

/// Sorters on the CPU and on GPUs, shared by the workers.
pub(crate) struct BlockSorter {
    pub gpus: DevicePool<GpuSort>,
    pub(super) together: JointGpus,
    pub cpu: CpuSorter,
}

impl BlockSorter {
    /// Creates the sorters for up to `workers` blocks at a time, each of up to `block_size` bytes
    /// with samples at `sample_rate`. If `coded` is given, GPUs also code the blocks into slices of
    /// these limits.
    ///
    /// # Errors
    /// [`Error::Device`] if this build has no sorter for the device that is asked for.
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
        let make = move |number| gpu_sort(number, most, sample_rate, coded, threads);
        let opener = Opener::new(options.device, workers, leases(block_size), make)?;
        let rates = Rates { whole: coded.is_some(), ..Rates::SORT };
        let gpus = DevicePool::of(opener, rates, pool, options.run.listener.clone());
        gpus.announce(options.run.input_size);
        let ranks = options.run.ranks.clone();
        let together = JointGpus::new(options.device, ranks, coded.is_some());
        Ok(BlockSorter { gpus, together, cpu: CpuSorter::with(options.run.narrow) })
    }

    #[cfg(test)]
    pub(super) fn with(gpus: DevicePool<GpuSort>) -> Self {
        BlockSorter {
            gpus,
            together: JointGpus::new(Device::Cpu, None, false),
            cpu: CpuSorter::new(),
        }
    }

    /// Creates the sorters of GPUs that are open from the start and used for every block.
    #[cfg(test)]
    pub fn of(gpus: Vec<GpuSort>, listener: Listener) -> Self {
        BlockSorter::with(DevicePool::new(Opener::of(gpus), Rates::SORT, 4, listener))
    }

    /// Announces that a block of `len` bytes will be sorted when it has its turn. `is_alone` is
    /// true if it may be alone in its stream.
    pub fn expect(&self, len: usize, is_alone: bool) {
        if !self.together.take(len as u64, is_alone) {
            self.gpus.expect(len as u64);
        }
    }

    /// Lets go of the GPUs, since no more blocks come. This takes a tenth of a second.
    pub fn end(&self) {
        self.gpus.end();
    }

    /// Warns that a GPU was wrong, and uses none any more: the next error may not be found.
    pub fn give_up(&self, failure: &str) {
        self.gpus.give_up(failure);
        self.together.give_up();
    }

    /// Sorts a block. Several GPUs sort it if it is alone in its stream or no GPU alone has the
    /// memory for it. Otherwise, or if they fail, one GPU or the CPU sorts it, the latter on up to
    /// `threads` threads.
    ///
    /// The result of several GPUs is inverted on the CPU and compared with the block. It goes
    /// through more hands than the result of one GPU, and blocks that large are few.
    pub fn sort(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        is_alone: bool,
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

    /// Sorts a block on one GPU or on up to `threads` threads of the CPU. The CPU works in `pool`;
    /// a GPU is waited for outside of it.
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

    /// Sorts a block on one GPU. Returns `None` if the CPU is to sort it.
    fn sort_on_gpu(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &Threads,
    ) -> Result<Option<(Sorted, Vec<Timed>)>> {
        let lease = self.gpus.lease(block.len() as u64, threads);
        // The lease ends with this statement, before anything waits for the pool.
        let sorted = lease.and_then(|mut lease| lease.run(|sort| sort(block, sample_rate)));
        let Some((sorted, counts, steps)) = sorted.transpose()? else { return Ok(None) };
        if !self.could_be(&sorted, counts, block, pool) {
            self.give_up(WRONG);
            return Ok(None);
        }
        Ok(Some((sorted, steps)))
    }

    /// Returns true if the result of a GPU could be that of the block.
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

/// Returns true if the transform is inverted to the block.
fn restores(bwt: &Bwt, block: &[u8]) -> Result<bool> {
    match bwt.copy().and_then(bwt::invert) {
        Ok(restored) => Ok(restored == block),
        Err(Error::Format { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

const WRONG: &str = "a GPU gave a transform that is not the block's";

/// Does the check of [`could_be_of`] for a coded transform, with the byte counts that the GPU took
/// of it.
fn coded_could_be_of(coded: &CodedTransform, counts: Option<[u32; 256]>, block: &[u8]) -> bool {
    let CodedTransform { coded, sample_rate, samples } = coded;
    let rows = 1..=block.len() as u32;
    let size: u64 = coded.raw_sizes.iter().map(|&size| u64::from(size)).sum();
    size == block.len() as u64
        && counts.is_some_and(|counts| ByteSums::of_counts(&counts) == ByteSums::of(block))
        && samples.len() == block.len().div_ceil(*sample_rate as usize)
        && samples.iter().all(|row| rows.contains(row))
}

/// Creates a sorter on a GPU, with memory for blocks of the given size and sample rate. If `limits`
/// is given and there is memory, it has a coder too. Up to `threads` threads copy very large
/// blocks.
fn gpu_sort(
    number: u32,
    block_size: u32,
    sample_rate: u32,
    limits: Option<SliceLimits>,
    threads: usize,
) -> Result<GpuSort> {
    let mut sorter = gpu::GpuSorter::new(number)?;
    sorter.reserve(block_size, sample_rate)?;
    // The CPU codes larger blocks.
    let limits = limits.filter(|_| block_size <= gpu::MOST_BYTES);
    let mut coder = limits.and_then(|limits| {
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
            return sort_and_code(&mut sorter, encoder, *limits, sample_rate, number, began);
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

/// Sorts the sorter's input on GPU `number` and codes its transform there. The input's copying
/// began at `began`.
fn sort_and_code(
    sorter: &mut gpu::GpuSorter,
    encoder: &mut gpu::BwtEncoder,
    limits: SliceLimits,
    sample_rate: u32,
    number: u32,
    began: Instant,
) -> Result<GpuSorted> {
    let (encoded, samples) = sorter.sort_and_encode(sample_rate, encoder, limits)?;
    let samples = samples.to_vec();
    let counts = encoded.byte_counts;
    let coded = Instant::now();
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
