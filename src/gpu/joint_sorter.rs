//! Text -> transform and samples by several GPUs together: a part of the text copied to each,
//! sorted, and a part of the rows copied back from each.

use super::distributed::{
    DeviceExchange, JointDoubling, KEY_BYTES, PartBytes, PeerBoard, PeerExchange, TextParts,
};
use super::interface::{JointReport, SortedText};
use super::nccl_processor::NcclProcessor;
use super::peers::Peers;
use super::runtime::kernel_structs::RowsView;
use super::runtime::tuning::{MOST_PROCESSORS, TEXT_PADDING};
use super::runtime::{ArenaAllocator, Array, Gpu, GrowingArena, NcclId, PinnedBuffer};
use crate::allocation;
use crate::error::{Error, Result};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{mem, thread};

/// Bytes of a GPU's part at most: rows there have 31 bits. Their sort takes 125 GB.
const MOST_OF_PART: u64 = 1 << 31;

/// Sorts texts on several GPUs together. The memory of each grows with the largest text and is
/// kept.
#[derive(Debug)]
pub struct JointSorter {
    numbers: Vec<u32>,
    gpus: Vec<Mutex<PartSorter>>,
    /// Arrays go by NCCL, and not from memory to memory.
    by_nccl: bool,
    report: JointReport,
}

/// One of the GPUs.
#[derive(Debug)]
struct PartSorter {
    gpu: Gpu,
    memory: GrowingArena,
    /// Its part of the text, and then its rows.
    bytes: PinnedBuffer<u8>,
}

/// The arrays around those of the algorithm.
#[derive(Clone, Copy)]
struct PartArrays<'m> {
    text: Array<'m, u8>,
    rows: Array<'m, u8>,
    sa: Array<'m, u64>,
    sample_positions: Array<'m, u64>,
    sample_rows: Array<'m, u32>,
    sample_count: Array<'m, u32>,
}

/// What is sorted, and what for.
#[derive(Clone, Copy)]
struct JointTask<'t> {
    text: &'t [u8],
    parts: TextParts,
    sample_rate: u32,
    whole_sa: bool,
}

/// What comes of one GPU, whose rows are in its pinned memory.
#[derive(Default)]
struct PartResult {
    sa: Vec<u64>,
    /// Pairs of a sampled position and its row, from 1, in any order.
    samples: Vec<(u64, u64)>,
    report: JointReport,
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

impl JointSorter {
    /// A sorter on the GPUs of these numbers. One that comes several times is so many processors.
    ///
    /// # Errors
    /// [`Error::Device`] where one is not there, or fails.
    pub fn new(numbers: &[u32]) -> Result<Self> {
        if !(1..=MOST_PROCESSORS as usize).contains(&numbers.len()) {
            let most = format!("1 to {MOST_PROCESSORS} GPUs sort a text together");
            return Err(Error::Usage(most.into()));
        }
        let open = |&number: &u32| {
            let (memory, bytes) = (GrowingArena::default(), PinnedBuffer::default());
            Ok(Mutex::new(PartSorter { gpu: Gpu::open(number)?, memory, bytes }))
        };
        let mut gpus: Vec<Mutex<PartSorter>> = numbers.iter().map(open).collect::<Result<_>>()?;
        let all: Vec<_> = gpus.iter_mut().filter_map(|part| part.get_mut().ok()).collect();
        for (part, other) in all.iter().flat_map(|p| all.iter().map(move |q| (p, q))) {
            part.gpu.let_read(&other.gpu);
        }
        let (numbers, report) = (numbers.to_vec(), JointReport::default());
        Ok(JointSorter { numbers, gpus, by_nccl: false, report })
    }

    /// Lets arrays go by NCCL, to whose network the GPUs join for each sort; each then comes once.
    #[must_use]
    pub fn by_nccl(mut self) -> Self {
        self.by_nccl = true;
        self
    }

    /// Takes the memory of the GPUs for texts of `n` bytes, if that is not done yet.
    ///
    /// # Errors
    /// [`Error::Device`] where a GPU does not have it, or the text is too large for so many.
    pub fn reserve(&mut self, n: u64, sample_rate: u32) -> Result<()> {
        let parts = TextParts::new(n, self.gpus.len());
        self.check(parts)?;
        let task = JointTask { text: &[], parts, sample_rate, whole_sa: false };
        for (number, part) in self.gpus.iter_mut().enumerate() {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).reserve(task, number)?;
        }
        Ok(())
    }

    fn check(&self, parts: TextParts) -> Result<()> {
        if parts.size() <= MOST_OF_PART {
            return Ok(());
        }
        let (n, gpus) = (parts.len(), self.gpus.len());
        Err(Error::Device(format!("{n} bytes are too many for {gpus} GPUs").into()))
    }

    /// Sorts a text of 1 byte and more. `sample_rate` is a power of two.
    ///
    /// # Errors
    /// [`Error::Device`] where the memory of the GPUs does not do, or one of them fails. The sorter
    /// may be used again, though after some failures all that follows fails too.
    pub fn sort(&mut self, text: &[u8], sample_rate: u32) -> Result<SortedText> {
        let results = self.run(text, sample_rate, false)?;
        let no_memory = || Error::out_of_memory("there is no memory for a transform");
        let mut bytes = allocation::zeroed(text.len()).ok_or_else(no_memory)?;
        let len = text.len().div_ceil(sample_rate as usize);
        let mut samples = allocation::zeroed(len).ok_or_else(no_memory)?;
        for (position, row) in results.iter().flat_map(|result| &result.samples) {
            samples[(*position / u64::from(sample_rate)) as usize] = *row;
        }
        if !samples.iter().all(|row| (1..=text.len() as u64).contains(row)) {
            return Err(Error::Device("GPUs gave a sample that is no row".into()));
        }
        bytes[0] = text[text.len() - 1];
        let parts = TextParts::new(text.len() as u64, self.gpus.len());
        self.copy_rows(&mut bytes[1..], samples[0] - 1, parts);
        Ok(SortedText { bytes, samples })
    }

    /// The suffix array of a text, without the empty suffix.
    ///
    /// # Errors
    /// As [`JointSorter::sort`].
    pub fn suffix_array(&mut self, text: &[u8]) -> Result<Vec<u64>> {
        let results = self.run(text, 1 << 30, true)?;
        Ok(results.into_iter().flat_map(|result| result.sa).collect())
    }

    /// How the last sort went.
    pub fn report(&self) -> &JointReport {
        &self.report
    }

    /// Makes the launch of a GPU after its next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&mut self, gpu: usize, launches: u32) {
        self.gpus[gpu].get_mut().unwrap().gpu.fail_after(launches);
    }

    fn run(&mut self, text: &[u8], sample_rate: u32, whole_sa: bool) -> Result<Vec<PartResult>> {
        if text.is_empty() || !sample_rate.is_power_of_two() {
            let what = "GPUs sort texts of a byte and more, with a power of two as sample rate";
            return Err(Error::Usage(what.into()));
        }
        let parts = TextParts::new(text.len() as u64, self.gpus.len());
        self.check(parts)?;
        let task = JointTask { text, parts, sample_rate, whole_sa };
        let count = self.gpus.len();
        let part = |number: usize| self.gpus[number].lock().unwrap_or_else(PoisonError::into_inner);
        let results = if self.by_nccl {
            let id = NcclId::new()?;
            Peers::run(count, |number, peers| {
                let gpu = self.numbers[number];
                let mut exchange = NcclProcessor::join(gpu, id, (number, count), peers)?;
                let result = part(number).sort(task, &mut exchange)?;
                peers.finish(count).map(|()| result)
            })?
        } else {
            let board = PeerBoard::new(count);
            Peers::run(count, |number, peers| {
                part(number).sort(task, &mut PeerExchange::new(number, &board, peers))
            })?
        };
        self.report = JointReport::default();
        results.iter().for_each(|result| self.report.add(&result.report));
        Ok(results)
    }

    /// Copies the rows of all GPUs, from their pinned memory, but for the one of the whole text.
    fn copy_rows(&self, mut bytes: &mut [u8], primary: u64, parts: TextParts) {
        thread::scope(|scope| {
            for (number, part) in self.gpus.iter().enumerate() {
                let rows = parts.range(number);
                let has_primary = rows.contains(&primary);
                let len = (rows.end - rows.start) as usize;
                let (own, rest) =
                    mem::take(&mut bytes).split_at_mut(len - usize::from(has_primary));
                bytes = rest;
                let copy = move || {
                    let part = part.lock().unwrap_or_else(PoisonError::into_inner);
                    let from = part.bytes.first(len);
                    let split = if has_primary { (primary - rows.start) as usize } else { len };
                    own[..split].copy_from_slice(&from[..split]);
                    own[split..].copy_from_slice(&from[split + usize::from(has_primary)..]);
                };
                if len > 0 {
                    scope.spawn(copy);
                }
            }
        });
    }
}

impl PartSorter {
    fn reserve(&mut self, task: JointTask, number: usize) -> Result<()> {
        let needed = measure(&self.gpu, task, number)?;
        if self.memory.grow(&self.gpu, needed).is_err() {
            let [needed, free] = [needed, self.gpu.free_memory()?].map(|bytes| bytes as f64 / 1e9);
            return Err(Error::Device(format!(
                "a part of {} bytes takes {needed:.1} GB of a GPU's memory, of which {free:.1} are free",
                task.parts.size()
            ).into()));
        }
        Ok(())
    }

    fn sort(&mut self, task: JointTask, exchange: &mut impl DeviceExchange) -> Result<PartResult> {
        let done = self.sort_part(task, exchange);
        if done.is_err() {
            // Nothing of it may still be at work when the next sort begins. What that says adds
            // nothing.
            let _ = self.gpu.wait();
        }
        done
    }

    fn sort_part(
        &mut self,
        task: JointTask,
        exchange: &mut impl DeviceExchange,
    ) -> Result<PartResult> {
        let (number, began) = (exchange.number(), Instant::now());
        let range = task.parts.range(number);
        let (own, first) = ((range.end - range.start) as usize, range.start as usize);
        let end = task.text.len().min(range.end as usize + KEY_BYTES as usize);
        self.reserve(task, number)?;
        let (gpu, available) = (&self.gpu, &task.text[first..end]);
        let mut arena = self.memory.allocator(gpu, measure(gpu, task, number)?)?;
        let arrays = PartArrays::allocate(&mut arena, task, number);
        let buffers = JointDoubling::allocate(gpu, &mut arena, task.parts, number)?;
        self.bytes.reserve(gpu, available.len())?.copy_from_slice(available);
        let copied = available.len() as u32;
        gpu.zero(arrays.text.rest(copied))?;
        gpu.zero(arrays.sample_count)?;
        if copied > 0 {
            self.bytes.upload(gpu, arrays.text.first(copied))?;
        }
        gpu.wait()?;
        let before = if first > 0 && own > 0 { task.text[first - 1] } else { 0 };
        let part = PartBytes { bytes: arrays.text, available: copied, before, first: range.start };
        let (mut left, from) = (Vec::new(), Instant::now());
        buffers.run(gpu, exchange, part, arrays.view(task), &mut left)?;
        gpu.wait()?;
        let sorting = from.elapsed();
        self.bytes.reserve(gpu, own)?;
        self.bytes.download(gpu, arrays.rows, 0..own as u32)?;
        let sa = if task.whole_sa && own > 0 { gpu.read(arrays.sa)? } else { Vec::new() };
        let samples = read_samples(gpu, arrays, range.start)?;
        gpu.wait()?;
        let (memory, transferred) = (self.memory.len(), exchange.transferred());
        let report = JointReport { whole: began.elapsed(), sorting, transferred, memory, left };
        Ok(PartResult { sa, samples, report })
    }
}

/// The sampled positions and their rows, from 1, given the first row of this GPU.
fn read_samples(gpu: &Gpu, arrays: PartArrays, first_row: u64) -> Result<Vec<(u64, u64)>> {
    let count = gpu.read(arrays.sample_count)?[0];
    if count == 0 {
        return Ok(Vec::new());
    }
    if count > arrays.sample_rows.len() {
        return Err(Error::Device("a GPU gave more samples than there are".into()));
    }
    let positions = gpu.read(arrays.sample_positions.first(count))?;
    let rows = gpu.read(arrays.sample_rows.first(count))?;
    let row = |row: u32| first_row + u64::from(row) + 1;
    Ok(positions.into_iter().zip(rows.into_iter().map(row)).collect())
}

/// Bytes of device memory that a GPU takes.
fn measure(gpu: &Gpu, task: JointTask, number: usize) -> Result<usize> {
    let mut measure = ArenaAllocator::measuring();
    PartArrays::allocate(&mut measure, task, number);
    JointDoubling::allocate(gpu, &mut measure, task.parts, number)?;
    Ok(measure.used())
}

#[cfg(test)]
mod tests;
