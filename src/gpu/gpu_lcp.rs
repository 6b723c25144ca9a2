//! Text -> suffix array and LCP array on a GPU: copy in, sort, compare, copy out. The suffix array
//! is copied on a stream of its own while suffixes are compared, with 3 bytes for each where that
//! does; of the LCP array only a byte for each row is, and what does not fit a byte.

mod row_chunks;

use super::algorithm::AlgorithmBuffers;
use super::interface::{Algorithm, LcpReport, LcpRows, LcpView};
use super::lcp_chunk::LcpChunk;
use crate::error::{Error, Result};
use crate::gpu::block::DeviceBlock;
use crate::gpu::lcp::{LcpSteps, SelectedRows, TextOnGpu};
use crate::gpu::runtime::tuning::TEXT_PADDING;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, GrowingArena, PinnedBuffer, measure};
use crate::gpu::sort::ExtraArenas;
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use row_chunks::{Receiver, RowChunks};
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread;

/// No more samples than the one that a sort makes at least.
const LOG_RATE: u32 = 30;

/// First bytes are compared of all rows where less than one in so many has a long prefix in common
/// with the row before it.
const LONG_ROWS: u32 = 4;

/// Rows that are wanted and are copied before it is known how many there are: to wait once more
/// takes longer.
const FIRST_ROWS: u32 = 1 << 10;

/// Makes suffix arrays and LCP arrays on one GPU, on two streams of its own. Its memory grows with
/// the longest text and is kept.
#[derive(Debug)]
pub struct GpuLcpSorter {
    gpu: Gpu,
    /// The stream that copies all rows.
    copies: Gpu,
    chunks: RowChunks,
    algorithm: Algorithm,
    memory: GrowingArena,
    extra: ExtraArenas,
    /// The next text.
    text: (PinnedBuffer<u8>, usize),
    /// The rows that are wanted of the last.
    selected: RowsOnHost,
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
    /// Bytes of pinned memory that all rows of any text come through; those of a short one take
    /// less.
    pub const PINNED: u64 = row_chunks::PINNED;

    /// A sorter on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none, or no driver, or it fails.
    pub fn new(number: u32, algorithm: Algorithm) -> Result<Self> {
        let (gpu, copies) = (Gpu::open(number)?, Gpu::open(number)?);
        let mark = || gpu.check(gpu.context().new_event(Some(CU_EVENT_DEFAULT)));
        let marks = [mark()?, mark()?, mark()?];
        Ok(GpuLcpSorter {
            chunks: RowChunks::new(&copies)?,
            gpu,
            copies,
            algorithm,
            memory: GrowingArena::default(),
            extra: ExtraArenas::default(),
            text: (PinnedBuffer::default(), 0),
            selected: RowsOnHost::default(),
            marks,
            report: LcpReport::default(),
        })
    }

    /// Room for a text of `len` bytes in memory that is pinned if it can be.
    ///
    /// # Errors
    /// [`Error::Io`] where the host does not have it.
    pub fn input(&mut self, len: usize) -> Result<&mut [u8]> {
        self.text.1 = 0;
        let room = self.text.0.reserve(&self.gpu, len)?;
        self.text.1 = len;
        Ok(room)
    }

    /// All rows of the text that [`GpuLcpSorter::input`] holds, of 1 to 2^31 - 1 bytes. What
    /// suffixes have in common ends before bytes below `least`.
    ///
    /// `receive` is given the rows in their order, all of the suffix array first, while the next
    /// are on their way. They come through [`GpuLcpSorter::PINNED`] bytes of pinned memory.
    ///
    /// # Errors
    /// [`Error::Device`] where the memory of the GPU does not do, or the GPU fails; what `receive`
    /// gives. The sorter may be used again, though after some failures all that follows fails too.
    pub fn sort_input(
        &mut self,
        least: u8,
        mut receive: impl FnMut(LcpChunk) -> Result<()> + Send,
    ) -> Result<()> {
        self.run(least, Wanted::All(&mut receive))
    }

    /// Those rows that are wanted, in their order. The others need not leave the device.
    ///
    /// # Errors
    /// As [`GpuLcpSorter::sort_input`].
    pub fn select_rows(&mut self, least: u8, wanted: LcpRows) -> Result<LcpView<'_>> {
        self.run(least, Wanted::Rows(wanted))?;
        Ok(self.selected.view())
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

    fn run(&mut self, least: u8, wanted: Wanted) -> Result<()> {
        let done = self.sort_and_compare(least, wanted);
        self.copies.ended(self.gpu.ended(done))?;
        let ms = |from: usize| self.gpu.check(self.marks[from].elapsed_ms(&self.marks[from + 1]));
        let (sorting, lcp) = (ms(0)?, ms(1)?);
        self.report = LcpReport { sorting, lcp, memory: self.memory.len() + self.extra.len() };
        Ok(())
    }

    /// Copies, sorts, compares and copies back.
    fn sort_and_compare(&mut self, least: u8, wanted: Wanted) -> Result<()> {
        let n = u32::try_from(self.text.1).ok().filter(|n| (1..=i32::MAX as u32).contains(n));
        let n = n.ok_or(Error::Usage("a text holds 1 to 2^31 - 1 bytes".into()))?;
        let gpu = &self.gpu;
        let scratch = scratch_size(gpu, self.algorithm, n)?;
        let TextArrays { text, sa, samples, rows, scratch } =
            self.memory.fit(gpu, |arena| Ok(TextArrays::allocate(arena, n, scratch)))?;

        gpu.zero(text.part(n..n + TEXT_PADDING))?;
        self.text.0.upload(gpu, text.first(n))?;
        gpu.check(self.marks[0].record(gpu.stream()))?;
        let block = DeviceBlock { text, sa, whole_sa: true, rows, samples, log_rate: LOG_RATE };
        let mut within = ArenaAllocator::within(scratch);
        let buffers = AlgorithmBuffers::allocate(self.algorithm, gpu, &mut within, n)?;
        // Nothing waits for this where it is done before the sort is.
        let steps = LcpSteps::allocate(gpu, &mut ArenaAllocator::within(scratch), n)?;
        if let Wanted::All(_) = wanted {
            self.chunks.reserve(&self.copies, n)?;
        }
        let mut rounds = Vec::new();
        buffers.run(gpu, block, &mut self.extra, &mut rounds)?;
        gpu.check(self.marks[1].record(gpu.stream()))?;

        // What the first round leaves has much in common.
        let differs_soon = rounds.first().is_none_or(|&left| left < n / LONG_ROWS);
        let sorted = TextOnGpu { text, sa, rows, differs_soon };
        let end = &self.marks[2];
        match wanted {
            Wanted::All(receive) => {
                let streams = (gpu, &mut self.copies);
                all_rows(streams, &steps, (sorted, least), end, &mut self.chunks, receive)
            }
            Wanted::Rows(wanted) => {
                let selected = steps.select(gpu, (sorted, least), wanted)?;
                gpu.check(end.record(gpu.stream()))?;
                self.selected.receive(gpu, selected)
            }
        }
    }
}

/// Rows that were wanted: how many, their suffixes, their values. The last two begin `room` apart.
#[derive(Debug, Default)]
struct RowsOnHost {
    memory: PinnedBuffer<u32>,
    room: u32,
}

impl RowsOnHost {
    /// Copies them and waits for them.
    fn receive(&mut self, gpu: &Gpu, rows: SelectedRows) -> Result<()> {
        self.copy(gpu, rows, FIRST_ROWS.min(rows.lcp.len()))?;
        match self.count() {
            count if count > self.room => self.copy(gpu, rows, count),
            _ => Ok(()),
        }
    }

    /// Copies the first of them, or what stands there.
    fn copy(&mut self, gpu: &Gpu, rows: SelectedRows, first: u32) -> Result<()> {
        self.room = first;
        self.memory.reserve(gpu, 1 + 2 * first as usize)?;
        self.memory.download(gpu, rows.count, 0..1)?;
        self.memory.download(gpu, rows.suffixes.first(first), 1..1 + first)?;
        self.memory.download(gpu, rows.lcp.first(first), 1 + first..1 + 2 * first)?;
        gpu.wait()
    }

    fn count(&self) -> u32 {
        self.memory.first(1)[0]
    }

    fn view(&self) -> LcpView<'_> {
        let (room, count) = (self.room as usize, self.count() as usize);
        let (suffixes, lcp) = self.memory.first(1 + 2 * room)[1..].split_at(room);
        LcpView { suffixes: &suffixes[..count], lcp: &lcp[..count] }
    }
}

/// The rows that leave the device.
enum Wanted<'r> {
    /// All of them, and who takes them.
    All(&'r mut Receiver<'r>),
    Rows(LcpRows),
}

/// Compares the suffixes of a text while the suffix array is copied, and the LCP array behind it.
fn all_rows(
    (gpu, copies): (&Gpu, &mut Gpu),
    steps: &LcpSteps,
    (sorted, least): (TextOnGpu, u8),
    end: &CudaEvent,
    chunks: &mut RowChunks,
    receive: &mut Receiver,
) -> Result<()> {
    let n = sorted.sa.len();
    copies.wait_for(gpu)?;
    // Before all comparing, or it would come to its turn behind that.
    let suffixes = steps.pack(copies, sorted.sa)?;
    let begun = steps.begin(gpu, sorted, least)?;
    // By this thread, since the other takes longer to start.
    chunks.begin(copies, n, suffixes)?;
    let (is_made, made) = channel();
    thread::scope(|scope| {
        // Comparing waits for the device now and then, copies must not.
        let (copies, chunks, receive) = (&mut *copies, &mut *chunks, &mut *receive);
        let copied = scope.spawn(move || chunks.finish(copies, (n, suffixes), &made, receive));
        // It ends too when the sender is gone; if it has ended before, nobody listens.
        let compare = move || -> Result<()> {
            let common = steps.compare(gpu, begun, sorted, least)?;
            let split = steps.split(gpu, sorted.sa, common)?;
            gpu.check(end.record(gpu.stream()))?;
            let _ = is_made.send((split, gpu.read(split.counts)?));
            Ok(())
        };
        let compared = compare();
        drop(compare);
        copied.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        compared
    })
}

/// Bytes that sorting takes, or what follows it.
fn scratch_size(gpu: &Gpu, algorithm: Algorithm, n: u32) -> Result<usize> {
    let sorting = measure(|arena| AlgorithmBuffers::allocate(algorithm, gpu, arena, n))?;
    Ok(sorting.max(measure(|arena| LcpSteps::allocate(gpu, arena, n))?))
}

#[cfg(test)]
mod tests;
