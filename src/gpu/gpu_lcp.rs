//! Builds the suffix array and the LCP array of a text on a GPU: copy in, sort, compare, copy out.
//!
//! The suffix array is copied to the host on a second stream while suffixes are compared, with 3
//! bytes per position if the text is short enough. The LCP array is copied as one byte per row,
//! followed by the values that do not fit in a byte.

mod row_chunks;

use super::gpu_sort::{ByDefault, GpuSort};
use super::interface::{LcpReport, LcpRows, LcpView, MOST_NARROW};
use super::lcp_chunk::LcpChunk;
use crate::base::error::{Error, Result};
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

/// Logarithm of the sample rate. It is so high that a text has only the few samples that every sort
/// makes.
const LOG_RATE: u32 = 30;

/// If fewer than one row in `LONG_ROWS` shares a long prefix with the row before it, all rows are
/// first compared by their first bytes.
const LONG_ROWS: u32 = 4;

/// Number of wanted rows copied before their count is known, which saves a second wait.
const FIRST_ROWS: u32 = 1 << 10;

/// Builds suffix arrays and LCP arrays on one GPU, on two streams of its own. Its memory grows to
/// fit the longest text and is kept.
#[derive(Debug)]
pub struct GpuLcpSorter {
    gpu: Gpu,
    /// The stream that copies all rows.
    copies: Gpu,
    chunks: RowChunks,
    sort: &'static dyn GpuSort,
    memory: GrowingArena,
    extra: ExtraArenas,
    /// The next text and its length.
    text: (PinnedBuffer<u8>, usize),
    /// The wanted rows of the last text.
    selected: RowsOnHost,
    marks: [CudaEvent; 3],
    report: LcpReport,
}

/// The arrays beside those of the steps. The steps follow each other and share `scratch`.
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
    /// Bytes of pinned memory through which all rows of a text are copied. A short text takes less.
    pub const PINNED: u64 = row_chunks::PINNED;

    /// Creates a sorter on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or if the GPU fails.
    pub fn new(number: u32) -> Result<Self> {
        Self::with(number, &ByDefault)
    }

    /// Creates a sorter on GPU `number`, which sorts by `sort`.
    ///
    /// # Errors
    /// As [`GpuLcpSorter::new`].
    pub fn with(number: u32, sort: &'static dyn GpuSort) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let copies = Gpu::open(number)?;
        let mark = || gpu.check(gpu.context().new_event(Some(CU_EVENT_DEFAULT)));
        let marks = [mark()?, mark()?, mark()?];
        Ok(GpuLcpSorter {
            chunks: RowChunks::new(&copies)?,
            gpu,
            copies,
            sort,
            memory: GrowingArena::default(),
            extra: ExtraArenas::default(),
            text: (PinnedBuffer::default(), 0),
            selected: RowsOnHost::default(),
            marks,
            report: LcpReport::default(),
        })
    }

    /// Returns memory for a text of `len` bytes, which is pinned if possible.
    ///
    /// # Errors
    /// [`Error::Io`] if the host has too little memory.
    pub fn input(&mut self, len: usize) -> Result<&mut [u8]> {
        self.text.1 = 0;
        let room = self.text.0.reserve(&self.gpu, len)?;
        self.text.1 = len;
        Ok(room)
    }

    /// Sorts the text of 1 to 2^31 - 1 bytes that [`GpuLcpSorter::input`] holds, and gives all its
    /// rows. A common prefix of two suffixes ends before the first byte below `least`.
    ///
    /// `receive` gets the rows in order, the whole suffix array first, while the next rows are
    /// being copied. They pass through [`GpuLcpSorter::PINNED`] bytes of pinned memory.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory or fails, and the errors of `receive`.
    /// The sorter can be used again, but after some failures every later call fails too.
    pub fn sort_input(
        &mut self,
        least: u8,
        mut receive: impl FnMut(LcpChunk) -> Result<()> + Send,
    ) -> Result<()> {
        self.run(least, Wanted::All(&mut receive))
    }

    /// Sorts the same text and gives only the wanted rows, in order. The others stay on the device.
    ///
    /// # Errors
    /// As [`GpuLcpSorter::sort_input`].
    pub fn select_rows(&mut self, least: u8, wanted: LcpRows) -> Result<LcpView<'_>> {
        self.run(least, Wanted::Rows(wanted))?;
        Ok(self.selected.view())
    }

    /// Statistics of the last text.
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
        let ms = |from: usize| {
            self.gpu
                .check(self.marks[from].elapsed_ms(&self.marks[from + 1]))
        };
        let sorting = ms(0)?;
        let lcp = ms(1)?;
        self.report = LcpReport {
            sorting,
            lcp,
            memory: self.memory.len() + self.extra.len(),
        };
        Ok(())
    }

    /// Copies, sorts, compares and copies back.
    fn sort_and_compare(&mut self, least: u8, wanted: Wanted) -> Result<()> {
        let n = u32::try_from(self.text.1)
            .ok()
            .filter(|n| (1..=MOST_NARROW).contains(n));
        let n = n.ok_or(Error::Usage("a text holds 1 to 2^31 - 1 bytes".into()))?;
        let gpu = &self.gpu;
        let scratch = scratch_size(gpu, self.sort, n)?;
        let TextArrays {
            text,
            sa,
            samples,
            rows,
            scratch,
        } = self
            .memory
            .fit(gpu, |arena| Ok(TextArrays::allocate(arena, n, scratch)))?;

        gpu.zero(text.part(n..n + TEXT_PADDING))?;
        self.text.0.upload(gpu, text.first(n))?;
        gpu.check(self.marks[0].record(gpu.stream()))?;
        let block = DeviceBlock {
            text,
            sa,
            whole_sa: true,
            rows,
            samples,
            log_rate: LOG_RATE,
        };
        // The kernel that this queues runs before the sort, and nothing waits for its result.
        let steps = LcpSteps::allocate(gpu, &mut ArenaAllocator::within(scratch), n)?;
        if let Wanted::All(_) = wanted {
            self.chunks.reserve(&self.copies, n)?;
        }
        let mut rounds = Vec::new();
        self.sort
            .run(gpu, scratch, block, &mut self.extra, &mut rounds)?;
        gpu.check(self.marks[1].record(gpu.stream()))?;

        // Suffixes left over by the first round share long prefixes.
        let differs_soon = rounds
            .first()
            .is_none_or(|&left| left < n / LONG_ROWS);
        let sorted = TextOnGpu {
            text,
            sa,
            rows,
            differs_soon,
            least,
        };
        let end = &self.marks[2];
        match wanted {
            Wanted::All(receive) => {
                let copies = &mut self.copies;
                let chunks = &mut self.chunks;
                all_rows(gpu, copies, &steps, sorted, end, chunks, receive)
            }
            Wanted::Rows(wanted) => {
                let selected = steps.select(gpu, sorted, wanted)?;
                gpu.check(end.record(gpu.stream()))?;
                self.selected.receive(gpu, selected)
            }
        }
    }
}

/// The wanted rows: their number, their suffixes and their values. The suffixes begin at word 1,
/// the values `room` words later.
#[derive(Debug, Default)]
struct RowsOnHost {
    memory: PinnedBuffer<u32>,
    room: u32,
}

impl RowsOnHost {
    /// Copies the rows and waits for them.
    fn receive(&mut self, gpu: &Gpu, rows: SelectedRows) -> Result<()> {
        self.copy(gpu, rows, FIRST_ROWS.min(rows.lcp.len()))?;
        match self.count() {
            count if count > self.room => self.copy(gpu, rows, count),
            _ => Ok(()),
        }
    }

    /// Copies the first `first` rows. Behind the last wanted row it copies whatever the memory
    /// holds.
    fn copy(&mut self, gpu: &Gpu, rows: SelectedRows, first: u32) -> Result<()> {
        self.room = first;
        self.memory.reserve(gpu, 1 + 2 * first as usize)?;
        self.memory.download(gpu, rows.count, 0..1)?;
        self.memory
            .download(gpu, rows.suffixes.first(first), 1..1 + first)?;
        self.memory
            .download(gpu, rows.lcp.first(first), 1 + first..1 + 2 * first)?;
        gpu.wait()
    }

    fn count(&self) -> u32 {
        self.memory.first(1)[0]
    }

    fn view(&self) -> LcpView<'_> {
        let room = self.room as usize;
        let count = self.count() as usize;
        let (suffixes, lcp) = self.memory.first(1 + 2 * room)[1..].split_at(room);
        LcpView {
            suffixes: &suffixes[..count],
            lcp: &lcp[..count],
        }
    }
}

/// Selection of the rows that leave the device.
enum Wanted<'r> {
    /// All rows, with the function that receives them.
    All(&'r mut Receiver<'r>),
    Rows(LcpRows),
}

/// Compares the suffixes of a text while the suffix array is copied, and then copies the LCP array.
fn all_rows(
    gpu: &Gpu,
    copies: &mut Gpu,
    steps: &LcpSteps,
    sorted: TextOnGpu,
    end: &CudaEvent,
    chunks: &mut RowChunks,
    receive: &mut Receiver,
) -> Result<()> {
    let n = sorted.sa.len();
    copies.wait_for(gpu)?;
    // Queued before the comparisons, or it would only run after them.
    let suffixes = steps.pack(copies, sorted.sa)?;
    let begun = steps.begin(gpu, sorted)?;
    // Done by this thread, since the other one takes longer to start.
    chunks.begin(copies, n, suffixes)?;
    let (is_made, made) = channel();
    thread::scope(|scope| {
        // Comparing waits for the device now and then, and the copies must go on meanwhile.
        let copies = &mut *copies;
        let chunks = &mut *chunks;
        let receive = &mut *receive;
        let copied = scope.spawn(move || chunks.finish(copies, n, suffixes, &made, receive));
        // The copying thread also ends when the sender is dropped. A failed send is ignored: the
        // thread has ended already, and its own error is reported.
        let compare = move || -> Result<()> {
            let common = steps.compare(gpu, begun, sorted)?;
            let split = steps.split(gpu, sorted.sa, common)?;
            gpu.check(end.record(gpu.stream()))?;
            let _ = is_made.send((split, gpu.read(split.counts)?));
            Ok(())
        };
        let compared = compare();
        drop(compare);
        copied
            .join()
            .unwrap_or_else(|panic| resume_unwind(panic))?;
        compared
    })
}

/// Bytes of scratch memory for sorting or for the steps that follow it, whichever take more.
fn scratch_size(gpu: &Gpu, sort: &dyn GpuSort, n: u32) -> Result<usize> {
    Ok(sort
        .memory(gpu, n)?
        .max(measure(|arena| LcpSteps::allocate(gpu, arena, n))?))
}

#[cfg(test)]
mod tests;
