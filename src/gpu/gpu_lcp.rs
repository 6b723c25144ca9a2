//! Text -> suffix array and LCP array on a GPU: copy in, sort, compare, copy out. The suffix array
//! is copied on a stream of its own while suffixes are compared.

use super::algorithm::AlgorithmBuffers;
use super::interface::{Algorithm, LcpReport, LcpRows, LcpView};
use crate::error::{Error, Result};
use crate::gpu::block::DeviceBlock;
use crate::gpu::lcp::{LcpSteps, TextOnGpu};
use crate::gpu::runtime::tuning::TEXT_PADDING;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, GrowingArena, PinnedBuffer};
use crate::gpu::sort::ExtraArenas;
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;

/// No more samples than the one that a sort makes at least.
const LOG_RATE: u32 = 30;

/// Makes suffix arrays and LCP arrays on one GPU, on two streams of its own. Its memory grows with
/// the longest text and is kept.
#[derive(Debug)]
pub struct GpuLcpSorter {
    gpu: Gpu,
    /// The stream that copies the suffix array.
    copies: Gpu,
    algorithm: Algorithm,
    memory: GrowingArena,
    extra: ExtraArenas,
    /// The next text.
    text: (PinnedBuffer<u8>, usize),
    suffixes: PinnedBuffer<u32>,
    lcp: PinnedBuffer<u32>,
    marks: [CudaEvent; 3],
    report: LcpReport,
}

/// The arrays around those of the steps, which come one after the other in `scratch`.
struct TextArrays<'m> {
    text: Array<'m, u8>,
    sa: Array<'m, u32>,
    samples: Array<'m, u32>,
    rows: Array<'m, u8>,
    scratch: Array<'m, u8>,
}

impl<'m> TextArrays<'m> {
    fn allocate(arena: &mut ArenaAllocator<'m>, n: u32, scratch: usize) -> Self {
        let items = n as usize;
        TextArrays {
            text: arena.array(items + TEXT_PADDING as usize),
            sa: arena.array(items),
            samples: arena.array(n.div_ceil(1 << LOG_RATE) as usize),
            rows: arena.array(items + 1),
            scratch: arena.array(scratch),
        }
    }
}

impl GpuLcpSorter {
    /// A sorter on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none, or no driver, or it fails.
    pub fn new(number: u32, algorithm: Algorithm) -> Result<Self> {
        let (gpu, copies) = (Gpu::open(number)?, Gpu::open(number)?);
        let mark = || gpu.check(gpu.context().new_event(Some(CU_EVENT_DEFAULT)));
        let marks = [mark()?, mark()?, mark()?];
        Ok(GpuLcpSorter {
            gpu,
            copies,
            algorithm,
            memory: GrowingArena::default(),
            extra: ExtraArenas::default(),
            text: (PinnedBuffer::default(), 0),
            suffixes: PinnedBuffer::default(),
            lcp: PinnedBuffer::default(),
            marks,
            report: LcpReport::default(),
        })
    }

    /// Room for a text of `len` bytes in pinned memory.
    ///
    /// # Errors
    /// [`Error::Device`] where there is not so much memory that can be pinned.
    pub fn input(&mut self, len: usize) -> Result<&mut [u8]> {
        self.text.1 = 0;
        let room = self.text.0.reserve(&self.gpu, len)?;
        self.text.1 = len;
        Ok(room)
    }

    /// All rows of the text that [`GpuLcpSorter::input`] holds, of 1 to 2^31 - 1 bytes. What
    /// suffixes have in common ends before bytes below `least`.
    ///
    /// # Errors
    /// [`Error::Device`] where the memory of the GPU does not do, or the GPU fails. The sorter may
    /// be used again, though after some failures all that follows fails too.
    pub fn sort_input(&mut self, least: u8) -> Result<LcpView<'_>> {
        self.rows(least, None)
    }

    /// Those rows that are wanted, in their order. The others need not leave the device.
    ///
    /// # Errors
    /// As [`GpuLcpSorter::sort_input`].
    pub fn select_rows(&mut self, least: u8, wanted: LcpRows) -> Result<LcpView<'_>> {
        self.rows(least, Some(wanted))
    }

    /// How the last text went.
    pub fn report(&self) -> &LcpReport {
        &self.report
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.gpu.fail_after(launches);
    }

    fn rows(&mut self, least: u8, wanted: Option<LcpRows>) -> Result<LcpView<'_>> {
        let count = self.run(least, wanted).inspect_err(|_| {
            // Nothing of it may still be at work when the next begins. What that says adds nothing.
            let _ = (self.gpu.wait(), self.copies.wait());
        })?;
        let ms = |from: usize| self.gpu.check(self.marks[from].elapsed_ms(&self.marks[from + 1]));
        let (sorting, lcp) = (ms(0)?, ms(1)?);
        self.report = LcpReport { sorting, lcp, memory: self.memory.len() + self.extra.len() };
        Ok(LcpView { suffixes: self.suffixes.first(count), lcp: self.lcp.first(count) })
    }

    /// Copies, sorts, compares and copies back; gives how many rows that is.
    fn run(&mut self, least: u8, wanted: Option<LcpRows>) -> Result<usize> {
        let n = u32::try_from(self.text.1).ok().filter(|n| (1..=i32::MAX as u32).contains(n));
        let n = n.ok_or(Error::Usage("a text holds 1 to 2^31 - 1 bytes".into()))?;
        let (gpu, copies) = (&self.gpu, &self.copies);
        let scratch = scratch_size(gpu, self.algorithm, n)?;
        let mut measure = ArenaAllocator::measuring();
        TextArrays::allocate(&mut measure, n, scratch);
        let mut arena = self.memory.allocator(gpu, measure.used())?;
        let TextArrays { text, sa, samples, rows, scratch } =
            TextArrays::allocate(&mut arena, n, scratch);

        gpu.zero(text.part(n..n + TEXT_PADDING))?;
        self.text.0.upload(gpu, text.first(n))?;
        gpu.check(self.marks[0].record(gpu.stream()))?;
        let block = DeviceBlock { text, sa, whole_sa: true, rows, samples, log_rate: LOG_RATE };
        let mut within = ArenaAllocator::within(scratch);
        let buffers = AlgorithmBuffers::allocate(self.algorithm, gpu, &mut within, n)?;
        buffers.run(gpu, block, &mut self.extra, &mut Vec::new())?;
        gpu.check(self.marks[1].record(gpu.stream()))?;

        let steps = LcpSteps::allocate(gpu, &mut ArenaAllocator::within(scratch), n)?;
        let sorted = TextOnGpu { text, sa, rows };
        if wanted.is_none() {
            copies.wait_for(gpu)?;
            self.suffixes.reserve(gpu, n as usize)?;
            self.suffixes.download(copies, sa, 0..n)?;
        }
        let mut lcp = steps.lcp(gpu, sorted, least)?;
        if let Some(wanted) = wanted {
            let [suffixes, values] = steps.select(gpu, sorted, wanted)?;
            self.suffixes.reserve(gpu, suffixes.len() as usize)?;
            self.suffixes.download(gpu, suffixes, 0..suffixes.len())?;
            lcp = values;
        }
        gpu.check(self.marks[2].record(gpu.stream()))?;
        self.lcp.reserve(gpu, lcp.len() as usize)?;
        self.lcp.download(gpu, lcp, 0..lcp.len())?;
        gpu.wait()?;
        copies.wait()?;
        Ok(lcp.len() as usize)
    }
}

/// Bytes that sorting takes, or what follows it.
fn scratch_size(gpu: &Gpu, algorithm: Algorithm, n: u32) -> Result<usize> {
    let (mut sorting, mut steps) = (ArenaAllocator::measuring(), ArenaAllocator::measuring());
    AlgorithmBuffers::allocate(algorithm, gpu, &mut sorting, n)?;
    LcpSteps::allocate(gpu, &mut steps, n)?;
    Ok(sorting.used().max(steps.used()))
}

#[cfg(test)]
mod tests;
