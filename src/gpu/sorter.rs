//! Sorts a block into its BWT and samples on a GPU: copy in, sort, copy out.

use super::bwt_encoder::{BwtEncoder, EncodedSlices, SortedRows};
use super::gpu_sort::{ByDefault, GpuSort};
use super::interface::{MOST_BYTES, Report, SortedBlock, SortedBlockView};
use super::inverse_bwt::GpuInverse;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::coder::SliceLimits;
use crate::gpu::block::DeviceBlock;
use crate::gpu::runtime::tuning::TEXT_PADDING;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, GrowingArena, PinnedBuffer, measure};
use crate::gpu::sort::ExtraArenas;
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use std::time::{Duration, Instant};

/// Sorts blocks on one GPU, on its own stream. Its memory grows to fit the largest block and is
/// kept.
///
/// Several sorters can use one GPU at the same time: while one sorts, others copy.
#[derive(Debug)]
pub struct GpuSorter {
    gpu: Gpu,
    sort: &'static dyn GpuSort,
    memory: GrowingArena,
    extra: ExtraArenas,
    /// The block of the next sort and its length.
    block: (PinnedBuffer<u8>, usize),
    bytes: PinnedBuffer<u8>,
    samples: PinnedBuffer<u32>,
    marks: [CudaEvent; 2],
    /// An event, and its time on the host's clock.
    epoch: (CudaEvent, Instant),
    report: Report,
}

/// The host's side of a sort: the block, and memory for its BWT and samples.
struct HostBuffers<'b> {
    block: &'b [u8],
    bytes: &'b mut PinnedBuffer<u8>,
    samples: &'b mut PinnedBuffer<u32>,
}

/// The arrays beside those of the sort.
#[derive(Clone, Copy)]
struct SorterArrays<'m> {
    text: Array<'m, u8>,
    sa: Array<'m, u32>,
    samples: Array<'m, u32>,
    rows: Array<'m, u8>,
    /// The memory of the sort.
    work: Array<'m, u8>,
}

impl<'m> SorterArrays<'m> {
    /// Allocates the arrays for n suffixes, and `work` bytes for the sort.
    fn allocate(arena: &mut ArenaAllocator<'m>, n: u32, sample_rate: u32, work: usize) -> Self {
        let items = n as usize;
        SorterArrays {
            text: arena.array(items + TEXT_PADDING as usize),
            sa: arena.array(items),
            samples: arena.array(n.div_ceil(sample_rate) as usize),
            rows: arena.array(items + 1),
            work: arena.array(work),
        }
    }

    /// Queues a copy of the samples to the host. Waits only for the primary index, which it
    /// returns.
    fn copy_samples(&self, gpu: &Gpu, samples: &mut PinnedBuffer<u32>) -> Result<u32> {
        samples.reserve(gpu, self.samples.len() as usize)?;
        let primary = gpu.primary()?;
        if !(1..=self.sa.len()).contains(&primary) {
            return Err(Error::Device(
                "a GPU gave a primary index that is not a row".into(),
            ));
        }
        samples.download(gpu, self.samples, 0..self.samples.len())?;
        Ok(primary)
    }
}

impl GpuSorter {
    /// Creates a sorter on GPU `number`, which sorts each block by the fastest method for its kind.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or if the GPU fails.
    pub fn new(number: u32) -> Result<Self> {
        Self::with(number, &ByDefault)
    }

    /// Creates a sorter on GPU `number`, which sorts by `sort`.
    ///
    /// # Errors
    /// As [`GpuSorter::new`].
    pub fn with(number: u32, sort: &'static dyn GpuSort) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let mark = || gpu.check(gpu.context().new_event(Some(CU_EVENT_DEFAULT)));
        let marks = [mark()?, mark()?];
        let epoch = mark()?;
        gpu.check(epoch.record(gpu.stream()))?;
        gpu.wait()?;
        let epoch = (epoch, Instant::now());
        Ok(GpuSorter {
            gpu,
            sort,
            memory: GrowingArena::default(),
            extra: ExtraArenas::default(),
            block: (PinnedBuffer::default(), 0),
            bytes: PinnedBuffer::default(),
            samples: PinnedBuffer::default(),
            marks,
            epoch,
            report: Report::default(),
        })
    }

    /// Largest block that is sorted, in bytes.
    pub fn most_bytes(&self) -> u32 {
        self.sort.most_bytes()
    }

    /// Allocates the memory that every block of up to `n` bytes needs, unless this is done already.
    /// Host memory for the BWT is not included ([`GpuSorter::reserve_output`]). Some blocks need
    /// more, which is allocated when they come.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory, [`Error::Io`] if the host has. The GPU's
    /// memory is allocated first, all of it or none.
    pub fn reserve(&mut self, n: u32, sample_rate: u32) -> Result<()> {
        let gpu = &self.gpu;
        let sort = self.sort;
        let needed = measure(|arena| allocate(gpu, sort, arena, n, sample_rate))?;
        if self.memory.grow(&self.gpu, needed).is_err() {
            let [needed, free] = [needed, self.gpu.free_memory()?].map(|bytes| bytes as f64 / 1e9);
            return Err(Error::Device(format!(
                "to sort {n} bytes takes {needed:.1} GB of the GPU's memory, of which {free:.1} are free"
            ).into()));
        }
        self.input(n as usize)?;
        self.samples
            .reserve(&self.gpu, n.div_ceil(sample_rate) as usize)
            .map(drop)
    }

    /// Allocates host memory for BWTs of up to `n` bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if the host has too little memory.
    pub fn reserve_output(&mut self, n: u32) -> Result<()> {
        self.bytes
            .reserve(&self.gpu, n as usize)
            .map(drop)
    }

    /// Sorts a block of 1 to [`GpuSorter::most_bytes`] bytes. `sample_rate` is a power of two.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory or fails. The sorter can be used again,
    /// but after some failures every later call fails too.
    pub fn sort(&mut self, block: &[u8], sample_rate: u32) -> Result<SortedBlock> {
        self.input(block.len())?.copy_from_slice(block);
        let SortedBlockView { bytes, samples } = self.sort_input(sample_rate)?;
        Ok(SortedBlock {
            bytes: copied(bytes)?,
            samples: copied(samples)?,
        })
    }

    /// Returns memory for a block of `len` bytes, pinned if possible, which
    /// [`GpuSorter::sort_input`] sorts. Filling it directly saves the copy that [`GpuSorter::sort`]
    /// makes.
    ///
    /// # Errors
    /// [`Error::Io`] if the host has too little memory.
    pub fn input(&mut self, len: usize) -> Result<&mut [u8]> {
        self.block.1 = 0;
        let room = self.block.0.reserve(&self.gpu, len)?;
        self.block.1 = len;
        Ok(room)
    }

    /// Sorts the block that [`GpuSorter::input`] holds.
    ///
    /// # Errors
    /// As [`GpuSorter::sort`].
    pub fn sort_input(&mut self, sample_rate: u32) -> Result<SortedBlockView<'_>> {
        self.run(sample_rate, false, |gpu, host, arrays| {
            let HostBuffers {
                block,
                bytes,
                samples,
            } = host;
            let room = bytes.reserve(gpu, block.len())?;
            room[0] = block[block.len() - 1];
            // The row of the whole text is left out.
            let n = arrays.sa.len();
            let primary = arrays.copy_samples(gpu, samples)?;
            bytes.download(gpu, arrays.rows.part(1..primary), 1..primary)?;
            bytes.download(gpu, arrays.rows.part(primary + 1..n + 1), primary..n)?;
            gpu.wait()
        })?;
        let len = self.block.1;
        let samples = self
            .samples
            .first(len.div_ceil(sample_rate as usize));
        Ok(SortedBlockView {
            bytes: self.bytes.first(len),
            samples,
        })
    }

    /// Allocates what `encoder` needs beside this sorter to encode blocks of up to `n` bytes.
    ///
    /// # Errors
    /// Those of [`BwtEncoder::reserve`].
    pub fn reserve_encoder(
        &self,
        encoder: &mut BwtEncoder,
        n: u32,
        limits: SliceLimits,
    ) -> Result<()> {
        encoder.reserve_beside(self.sort.memory(&self.gpu, n)?, n, limits)
    }

    /// Sorts the block that [`Self::input`] holds, and encodes its BWT with `encoder`, which must
    /// be on the same GPU and works in the memory of the sort, which is over. The encoder keeps the
    /// slices, which [`BwtEncoder::take`] gives. The BWT does not leave the device. The block has
    /// at most [`MOST_BYTES`] bytes.
    ///
    /// # Errors
    /// As [`Self::sort`].
    pub fn sort_and_encode(
        &mut self,
        sample_rate: u32,
        encoder: &mut BwtEncoder,
        limits: SliceLimits,
    ) -> Result<(EncodedSlices, &[u32])> {
        if self.block.1 > MOST_BYTES as usize {
            let what = format!("a GPU codes blocks of up to {MOST_BYTES} bytes");
            return Err(Error::Usage(what.into()));
        }
        let encoded = self.run(sample_rate, false, |gpu, host, arrays| {
            let HostBuffers { block, samples, .. } = host;
            let primary = arrays.copy_samples(gpu, samples)?;
            gpu.wait()?;
            let sorted = SortedRows {
                rows: arrays.rows,
                primary,
                last: block[block.len() - 1],
            };
            encoder.encode_rows(sorted, arrays.work, limits)
        })?;
        let samples = self
            .samples
            .first(self.block.1.div_ceil(sample_rate as usize));
        Ok((encoded, samples))
    }

    /// The suffix array of a block, without the empty suffix.
    ///
    /// # Errors
    /// As [`GpuSorter::sort`].
    pub fn suffix_array(&mut self, block: &[u8]) -> Result<Vec<u32>> {
        self.input(block.len())?.copy_from_slice(block);
        self.run(1 << 30, true, |gpu, _, arrays| gpu.read(arrays.sa))
    }

    /// Lends the memory of this sorter, on the device and pinned, to an inverse on the same GPU
    /// while `work` runs. The sorter holds no block afterwards.
    ///
    /// A sort takes more memory than an inverse, so both together take no more than the sort.
    pub fn lend_to<T>(
        &mut self,
        inverse: &mut GpuInverse,
        work: impl FnOnce(&mut GpuInverse) -> T,
    ) -> T {
        self.block.1 = 0;
        inverse.swap_memory(&mut self.memory, &mut self.block.0);
        let done = work(inverse);
        inverse.swap_memory(&mut self.memory, &mut self.block.0);
        done
    }

    /// Statistics of the last sort.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.gpu.fail_after(launches);
    }

    /// Makes the GPU report no free memory, except for allocations that the sort cannot do without.
    #[cfg(test)]
    pub fn make_scarce(&self) {
        self.gpu.make_scarce();
    }

    /// Sorts the input, and calls `finish` with the arrays on the device.
    fn run<T>(
        &mut self,
        sample_rate: u32,
        whole_sa: bool,
        finish: impl FnOnce(&Gpu, HostBuffers, SorterArrays) -> Result<T>,
    ) -> Result<T> {
        let most = self.sort.most_bytes();
        let n = u32::try_from(self.block.1)
            .ok()
            .filter(|n| (1..=most).contains(n));
        let no_block = || Error::Usage(format!("a block on a GPU holds 1 to {most} bytes").into());
        let n = n.ok_or_else(no_block)?;
        let gpu = &self.gpu;
        let stream = self.gpu.stream();
        let began = Instant::now();
        let mut rounds = Vec::new();
        let work = || {
            let sort = self.sort;
            let arrays = self
                .memory
                .fit(gpu, |arena| allocate(gpu, sort, arena, n, sample_rate))?;
            let SorterArrays {
                text,
                sa,
                samples,
                rows,
                work,
            } = arrays;
            gpu.zero(text.rest(n))?;
            self.block.0.upload(gpu, text.first(n))?;
            gpu.reset_primary();
            gpu.check(self.marks[0].record(stream))?;
            let log_rate = sample_rate.ilog2();
            let block = DeviceBlock {
                text,
                sa,
                whole_sa,
                rows,
                samples,
                log_rate,
            };
            sort.run(gpu, work, block, &mut self.extra, &mut rounds)?;
            gpu.check(self.marks[1].record(stream))?;
            let block = self.block.0.first(self.block.1);
            let bytes = &mut self.bytes;
            let samples = &mut self.samples;
            finish(
                gpu,
                HostBuffers {
                    block,
                    bytes,
                    samples,
                },
                arrays,
            )
        };
        let done = gpu.ended(work())?;
        let milliseconds = gpu.check(self.marks[0].elapsed_ms(&self.marks[1]))?;
        let memory = self.memory.len() + self.extra.len();
        let times = Some([began, self.passed(0)?, self.passed(1)?, Instant::now()]);
        self.report = Report {
            times,
            memory,
            milliseconds,
            rounds,
        };
        Ok(done)
    }

    /// Time at which the GPU passed a mark, on the host's clock.
    fn passed(&self, mark: usize) -> Result<Instant> {
        let (epoch, at) = &self.epoch;
        let after = self
            .gpu
            .check(epoch.elapsed_ms(&self.marks[mark]))?;
        Ok(*at + Duration::from_secs_f32(after.max(0.0) / 1e3))
    }
}

/// Allocates the arrays for n suffixes, and the memory of the sort.
fn allocate<'m>(
    gpu: &Gpu,
    sort: &dyn GpuSort,
    arena: &mut ArenaAllocator<'m>,
    n: u32,
    sample_rate: u32,
) -> Result<SorterArrays<'m>> {
    let work = sort.memory(gpu, n)?;
    Ok(SorterArrays::allocate(arena, n, sample_rate, work))
}

/// A copy of the items, or an error if the host has too little memory.
fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let no_memory = || Error::out_of_memory("for a transform");
    allocation::copied(items).ok_or_else(no_memory)
}

#[cfg(test)]
mod tests;
