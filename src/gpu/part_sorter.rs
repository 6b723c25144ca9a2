//! One GPU's part in a sort by several GPUs: its text is copied in, sorted, and its rows copied
//! out.

use crate::base::error::{Error, Result};
use crate::gpu::distributed::{
    DeviceExchange, JointSort, OwnPart, PartBytes, PeerExchange, RangeMemory, RangeTask,
    SortedRange, sort_range,
};
use crate::gpu::interface::{JointReport, MOST_SORTED};
use crate::gpu::runtime::kernel_structs::RowsView;
use crate::gpu::runtime::tuning::TEXT_PADDING;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, GrowingArena, PinnedBuffer, measure};
use crate::gpu::text_parts::{KEY_BYTES, PartRows, PartText, TextParts};
use std::ops::Range;
use std::time::Instant;

/// Maximum number of bytes in a part. Row numbers within a part, and positions in its bytes and
/// those behind them, have 32 bits.
const MOST_OF_PART: u64 = MOST_SORTED as u64 - KEY_BYTES;

/// One of the GPUs that sort together.
#[derive(Debug)]
pub(super) struct PartSorter {
    gpu: Gpu,
    memory: GrowingArena,
    /// The whole text, for sorting a range of its suffixes.
    text: GrowingArena,
    ranges: RangeMemory,
    /// The GPU's part of the text, and later its rows.
    bytes: PinnedBuffer<u8>,
}

/// The arrays beside those of the sort.
#[derive(Clone, Copy)]
struct PartArrays<'m> {
    text: Array<'m, u8>,
    rows: Array<'m, u8>,
    sa: Array<'m, u64>,
    sample_positions: Array<'m, u64>,
    sample_rows: Array<'m, u32>,
    sample_count: Array<'m, u32>,
}

/// Task that all GPUs share.
#[derive(Clone, Copy)]
pub(super) struct JointTask {
    pub parts: TextParts,
    pub sample_rate: u32,
    pub whole_sa: bool,
}

/// Result of one GPU. The bytes of its rows stay in its pinned memory.
pub(super) struct PartResult {
    pub sa: Vec<u64>,
    pub rows: Range<u64>,
    /// Pairs of a sampled position and its row, from 1, in any order.
    pub samples: Vec<(u64, u64)>,
    pub report: JointReport,
}

impl<'m> PartArrays<'m> {
    fn allocate(arena: &mut ArenaAllocator<'m>, task: JointTask, number: usize) -> Self {
        let own = task.parts.part_len(number) as usize;
        let samples = own.min(task.parts.len().div_ceil(task.sample_rate.into()) as usize);
        PartArrays {
            text: arena.array(own + KEY_BYTES as usize + TEXT_PADDING as usize),
            rows: arena.array(own),
            sa: arena.array(if task.whole_sa { own } else { 0 }),
            sample_positions: arena.array(samples),
            sample_rows: arena.array(samples),
            sample_count: arena.array(1),
        }
    }

    fn view(&self, task: JointTask) -> RowsView {
        RowsView {
            bytes: self.rows.address(),
            sa: if task.whole_sa { self.sa.address() } else { 0 },
            sample_positions: self.sample_positions.address(),
            sample_rows: self.sample_rows.address(),
            sample_count: self.sample_count.address(),
            rate_mask: u64::from(task.sample_rate) - 1,
        }
    }
}

impl PartSorter {
    pub(super) fn open(number: u32) -> Result<Self> {
        let memory = GrowingArena::default();
        let text = GrowingArena::default();
        let ranges = RangeMemory::default();
        let bytes = PinnedBuffer::default();
        Ok(PartSorter {
            gpu: Gpu::open(number)?,
            memory,
            text,
            ranges,
            bytes,
        })
    }

    /// Lets another GPU read the memory of this one. Returns false if it cannot.
    pub(super) fn let_read(&self, other: &PartSorter) -> bool {
        self.gpu.let_read(&other.gpu)
    }

    /// The rows of the last sort, which must be the one that gave `result`.
    pub(super) fn rows<'r>(&'r self, result: &'r PartResult) -> PartRows<'r> {
        let rows = result.rows.clone();
        let bytes = self.bytes.first((rows.end - rows.start) as usize);
        PartRows {
            rows,
            bytes,
            samples: &result.samples,
        }
    }

    #[cfg(test)]
    pub(super) fn fail_after(&self, launches: u32) {
        self.gpu.fail_after(launches);
    }

    /// Sorts a range of the suffixes.
    pub(super) fn sort_range(
        &mut self,
        task: JointTask,
        text: PartText,
        exchange: &mut PeerExchange,
    ) -> Result<PartResult> {
        let done = self.sort_range_part(task, text, exchange);
        self.gpu.ended(done)
    }

    /// Frees the memory for ranges.
    pub(super) fn forget_ranges(&mut self) {
        (self.text, self.ranges) = Default::default();
    }

    /// Frees all device memory.
    pub(super) fn free(&mut self) -> Result<()> {
        self.forget_ranges();
        self.memory = GrowingArena::default();
        self.gpu.wait()
    }

    fn sort_range_part(
        &mut self,
        task: JointTask,
        text: PartText,
        exchange: &mut PeerExchange,
    ) -> Result<PartResult> {
        let number = exchange.number();
        let began = Instant::now();
        let n = task.parts.len() as u32;
        let own = &text.bytes[..task.parts.part_len(number) as usize];
        let gpu = &self.gpu;
        let size = n as usize + TEXT_PADDING as usize;
        let text: Array<u8> = self.text.allocator(gpu, size)?.array(size);
        let lens = (0..exchange.count()).map(|gpu| task.parts.part_len(gpu) as u32);
        let mut parts = text.parts(&lens.collect::<Vec<_>>());
        self.bytes
            .reserve(gpu, own.len())?
            .copy_from_slice(own);
        gpu.zero(text.rest(n))?;
        if !own.is_empty() {
            self.bytes.upload(gpu, parts[number])?;
        }
        gpu.wait()?;
        let from = Instant::now();
        let mut sent = vec![parts[number]; exchange.count()];
        // Its own part is there already, so the copy to itself is empty.
        (sent[number], parts[number]) = (text.first(0), text.first(0));
        exchange.all_to_all(gpu, &sent, &parts)?;
        let log_rate = task.sample_rate.ilog2();
        let mut left = Vec::new();
        let sorted = RangeTask {
            text,
            n,
            log_rate,
            whole_sa: task.whole_sa,
        };
        let sorted = sort_range(gpu, exchange, sorted, &mut self.ranges, &mut left)?;
        gpu.wait()?;
        let sorting = from.elapsed();
        let SortedRange {
            first_row,
            rows,
            sa,
            samples,
        } = sorted;
        self.bytes.reserve(gpu, rows.len() as usize)?;
        self.bytes.download(gpu, rows, 0..rows.len())?;
        let with_sa = task.whole_sa && rows.len() > 0;
        let sa = if with_sa { gpu.read(sa)? } else { Vec::new() };
        let samples = gpu.read(samples)?;
        gpu.wait()?;
        let rows = first_row.into()..u64::from(first_row) + u64::from(rows.len());
        let position = |number: usize| number as u64 * u64::from(task.sample_rate);
        let row = |row: u32| u64::from(first_row) + u64::from(row);
        let samples = samples
            .into_iter()
            .enumerate()
            .filter(|(_, row)| *row > 0);
        let samples = samples
            .map(|(n, own)| (position(n), row(own)))
            .collect();
        let sa = sa.into_iter().map(u64::from).collect();
        let memory = self.text.len() + self.ranges.len();
        let transferred = exchange.transferred();
        let report = JointReport {
            whole: began.elapsed(),
            sorting,
            transferred,
            memory,
            left,
        };
        Ok(PartResult {
            sa,
            rows,
            samples,
            report,
        })
    }

    fn reserve(&mut self, sort: &impl JointSort, task: JointTask, number: usize) -> Result<()> {
        let n = task.parts.len();
        let size = task.parts.size();
        if size > MOST_OF_PART {
            let what = format!("{n} bytes are too many for GPUs that get {size} each");
            return Err(Error::Device(what.into()));
        }
        let needed = measure(|arena| allocate(&self.gpu, sort, arena, task, number))?;
        if self.memory.grow(&self.gpu, needed).is_err() {
            let [needed, free] = [needed, self.gpu.free_memory()?].map(|bytes| bytes as f64 / 1e9);
            return Err(Error::Device(format!(
                "a part of {} bytes takes {needed:.1} GB of a GPU's memory, of which {free:.1} are free",
                task.parts.size()
            ).into()));
        }
        Ok(())
    }

    /// Sorts a part of the text by `sort`, together with the other GPUs.
    pub(super) fn sort(
        &mut self,
        sort: &impl JointSort,
        task: JointTask,
        text: PartText,
        exchange: &mut impl DeviceExchange,
    ) -> Result<PartResult> {
        let done = self.sort_part(sort, task, text, exchange);
        self.gpu.ended(done)
    }

    fn sort_part(
        &mut self,
        sort: &impl JointSort,
        task: JointTask,
        text: PartText,
        exchange: &mut impl DeviceExchange,
    ) -> Result<PartResult> {
        let number = exchange.number();
        let began = Instant::now();
        let range = task.parts.range(number);
        let own = (range.end - range.start) as usize;
        self.reserve(sort, task, number)?;
        let gpu = &self.gpu;
        let available = text.bytes;
        let (arrays, memory) = self
            .memory
            .fit(gpu, |arena| allocate(gpu, sort, arena, task, number))?;
        self.bytes
            .reserve(gpu, available.len())?
            .copy_from_slice(available);
        let copied = available.len() as u32;
        gpu.zero(arrays.text.rest(copied))?;
        gpu.zero(arrays.sample_count)?;
        if copied > 0 {
            self.bytes
                .upload(gpu, arrays.text.first(copied))?;
        }
        gpu.wait()?;
        let before = text.before;
        let first = range.start;
        let bytes = PartBytes {
            bytes: arrays.text,
            available: copied,
            before,
            first,
        };
        let part = OwnPart {
            parts: task.parts,
            bytes,
            rows: arrays.view(task),
        };
        let mut left = Vec::new();
        let from = Instant::now();
        sort.run(gpu, memory, exchange, part, &mut left)?;
        gpu.wait()?;
        let sorting = from.elapsed();
        self.bytes.reserve(gpu, own)?;
        self.bytes
            .download(gpu, arrays.rows, 0..own as u32)?;
        let sa = if task.whole_sa && own > 0 {
            gpu.read(arrays.sa)?
        } else {
            Vec::new()
        };
        let samples = read_samples(gpu, arrays, range.start)?;
        gpu.wait()?;
        let memory = self.memory.len();
        let transferred = exchange.transferred();
        let report = JointReport {
            whole: began.elapsed(),
            sorting,
            transferred,
            memory,
            left,
        };
        Ok(PartResult {
            sa,
            rows: range,
            samples,
            report,
        })
    }
}

/// The sampled positions and their rows, counted from 1. `first_row` is the first row of this GPU.
fn read_samples(gpu: &Gpu, arrays: PartArrays, first_row: u64) -> Result<Vec<(u64, u64)>> {
    let count = gpu.read(arrays.sample_count)?[0];
    if count == 0 {
        return Ok(Vec::new());
    }
    if count > arrays.sample_rows.len() {
        return Err(Error::Device(
            "a GPU gave more samples than there are".into(),
        ));
    }
    let positions = gpu.read(arrays.sample_positions.first(count))?;
    let rows = gpu.read(arrays.sample_rows.first(count))?;
    let row = |row: u32| first_row + u64::from(row) + 1;
    Ok(positions
        .into_iter()
        .zip(rows.into_iter().map(row))
        .collect())
}

/// Allocates all arrays that a GPU needs.
fn allocate<'m>(
    gpu: &Gpu,
    sort: &impl JointSort,
    arena: &mut ArenaAllocator<'m>,
    task: JointTask,
    number: usize,
) -> Result<(PartArrays<'m>, Array<'m, u8>)> {
    let arrays = PartArrays::allocate(arena, task, number);
    Ok((arrays, arena.array(sort.memory(gpu, task.parts, number)?)))
}
