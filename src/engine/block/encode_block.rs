//! Codes a raw block: filters, sort, slices, payload. FORMAT.md chapter 4.
//!
//! There are two stages, so that a pipeline can have many blocks sorted while few are coded:
//! [`BlockEncoder::sort`], on the CPU or a GPU, and [`BlockEncoder::code`]. A block of one repeated
//! byte is coded once; others like it differ only in their position.

use super::slice_facts::slice_facts;
use crate::base::allocation;
use crate::base::device::Device;
use crate::base::error::{Error, Flaw, Result};
use crate::base::tasks::Task;
use crate::base::threads::Threads;
use crate::bwt::{self, Bwt};
use crate::coder::{self, CodedBwt, Coding, Effort, SliceLimits};
use crate::engine::memory::Plan;
use crate::engine::raw::{Raw, RawBlock, Run, SequencesStart, Spare};
use crate::engine::sorters::{BlockSorter, CodedTransform, Sorted};
use crate::filter::sequence::{self, Contribution};
use crate::filter::{self, Filtered};
use crate::frame::{self, BlockHeader, BlockIndex, BlockKind, BwtPayload, CodedBlock, Shape};
use crate::options::Options;
use crate::options::events::{Listener, Step};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A block that was one run, in its coded form.
struct LastRun {
    run: Run,
    sequences: Option<SequencesStart>,
    block: CodedBlock,
}

/// State that all blocks of a stream share.
pub struct BlockEncoder {
    sorters: BlockSorter,
    pool: Threads,
    form: BlockForm,
    /// True if there is memory for only one block.
    one_by_one: bool,
    /// The sample rate of the blocks' index, if they get one.
    index: Option<u32>,
    /// Plan by which blocks are restored before they are given out, if they are to be verified.
    verify: Option<Plan>,
    /// The last block that was one run. Other blocks of that byte and length differ from it only in
    /// their position.
    last_run: Mutex<Option<LastRun>>,
    spare: Spare,
    listener: Listener,
}

/// Coding of a block's BWT.
#[derive(Clone, Copy, Debug)]
pub struct BlockForm {
    pub coding: Coding,
    pub limits: SliceLimits,
    pub indexed: bool,
}

impl BlockForm {
    /// Creates the form of blocks of up to `block_size` bytes. `indexed` is true if they are
    /// searched.
    pub fn new(block_size: u64, effort: Effort, indexed: bool) -> Self {
        let limits = match indexed {
            true => SliceLimits::searched(),
            false => SliceLimits::new(block_size as usize, effort),
        };
        BlockForm { coding: effort.into(), limits, indexed }
    }
}

/// Result of the first stage.
pub enum SortOutcome {
    Sorted(SortedBlockText),
    /// A block that is one run.
    CodedRun(CodedBlock),
}

/// A block between the sorter and the coder.
pub struct SortedBlockText {
    pub block: FilteredBlock,
    pub sorted: Sorted,
}

/// A block after its filters. Its text is kept in case the block must be stored.
pub struct FilteredBlock {
    pub filtered: Filtered,
    /// Its contribution to the index of a stream of sequences.
    pub sequences: Option<(sequence::Kind, Contribution)>,
    pub place: BlockPlace,
    pub raw_size: usize,
    pub checksum: u32,
}

impl FilteredBlock {
    fn copy(&self) -> Result<Self> {
        let Filtered { text, flags, side } = &self.filtered;
        let copied = |bytes: &[u8]| allocation::copied(bytes).ok_or(Flaw::NO_MEMORY);
        let filtered = Filtered { text: copied(text)?, flags: *flags, side: copied(side)? };
        Ok(FilteredBlock { filtered, sequences: self.sequences.clone(), ..*self })
    }
}

/// Position of a block in the stream, and whether it is the only one.
#[derive(Clone, Copy)]
pub struct BlockPlace {
    pub number: u64,
    pub offset: u64,
    pub alone: bool,
}

impl BlockEncoder {
    /// Creates the encoder for blocks of up to `block_size` bytes, as many at a time as the plan
    /// says.
    pub fn new(
        block_size: u64,
        plan: &Plan,
        pool: Threads,
        spare: Spare,
        options: &Options,
    ) -> Result<Self> {
        let sample_rate = sample_rate(block_size as usize, options.index);
        let indexed = options.index.is_some();
        let form = BlockForm::new(options.block_size(), options.effort, indexed);
        let on_gpu = (form.coding == Coding::StaticRans && !indexed).then_some(form.limits);
        let sorters =
            BlockSorter::new(plan.workers, block_size, sample_rate, on_gpu, &pool, options)?;
        Ok(BlockEncoder {
            sorters,
            pool,
            form,
            one_by_one: plan.depth == 1,
            index: options.index,
            verify: options.verify.then_some(*plan),
            last_run: Mutex::new(None),
            spare,
            listener: options.run.listener.clone(),
        })
    }

    /// Announces a block that has come, and will be sorted when it has its turn.
    pub fn announce(&self, block: &RawBlock) {
        if let Raw::Bytes(bytes) = &block.raw {
            self.sorters.expect(bytes.len(), block.alone);
        }
    }

    /// Lets go of the GPUs, since all blocks are sorted.
    pub fn end_sorting(&self) {
        self.sorters.end();
    }

    /// Does both stages.
    pub fn encode(&self, block: RawBlock) -> Result<CodedBlock> {
        self.code(self.sort(block)?)
    }

    /// Filters and sorts a block.
    pub fn sort(
        &self,
        RawBlock { raw, number, offset, alone, sequences }: RawBlock,
    ) -> Result<SortOutcome> {
        let place = BlockPlace { number, offset, alone };
        match raw {
            Raw::Bytes(bytes) => self.sort_bytes(bytes, sequences, place).map(SortOutcome::Sorted),
            Raw::Run(run) => self.code_run(run, sequences, place).map(SortOutcome::CodedRun),
        }
    }

    fn code_run(
        &self,
        run: Run,
        sequences: Option<SequencesStart>,
        place: BlockPlace,
    ) -> Result<CodedBlock> {
        let from = Instant::now();
        let mut last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref()
            && last.run == run
            && last.sequences == sequences
        {
            let mut block = last.block.clone();
            (block.number, block.header.raw_offset) = (place.number, place.offset);
            self.listener.done(place.number, [(Step::Code(Device::Cpu), from, Instant::now())]);
            return Ok(block);
        }
        let bytes = run.to_bytes()?;
        self.sorters.expect(bytes.len(), place.alone);
        let block = self.code_sorted(self.sort_bytes(bytes, sequences, place)?)?;
        *last = Some(LastRun { run, sequences, block: block.clone() });
        Ok(block)
    }

    /// Codes a block's slices and puts it together.
    pub fn code(&self, block: SortOutcome) -> Result<CodedBlock> {
        match block {
            SortOutcome::Sorted(sorted) => self.code_sorted(sorted),
            SortOutcome::CodedRun(block) => Ok(block),
        }
    }

    fn sort_bytes(
        &self,
        bytes: Vec<u8>,
        sequences: Option<SequencesStart>,
        place: BlockPlace,
    ) -> Result<SortedBlockText> {
        let raw_size = bytes.len();
        let checksum = self.pool.install(|| frame::raw_checksum(&bytes));
        let (filtered, sequences) = self.filtered(bytes, sequences, place.number)?;
        let sample_rate = sample_rate(filtered.text.len(), self.index);
        let threads = if place.alone { self.pool.count() } else { 1 };
        let (sorted, steps) =
            self.sorters.sort(&filtered.text, sample_rate, threads, place.alone, &self.pool)?;
        self.listener.done(place.number, steps);
        let block = FilteredBlock { filtered, sequences, place, raw_size, checksum };
        Ok(SortedBlockText { block, sorted })
    }

    /// Applies the filters. A search looks in the raw bytes or in sequences, so an indexed block
    /// gets no filter but the one that separates sequences.
    fn filtered(
        &self,
        block: Vec<u8>,
        sequences: Option<SequencesStart>,
        number: u64,
    ) -> Result<(Filtered, Option<(sequence::Kind, Contribution)>), Flaw> {
        if self.index.is_some() {
            let Some(SequencesStart { kind, state }) = sequences else {
                return Ok((Filtered::unchanged(block), None));
            };
            return self.listener.time(number, Step::Filter, || {
                let (filtered, adds) =
                    self.pool.install(|| filter::separate(block, kind, state))?;
                Ok((filtered, Some((kind, adds))))
            });
        }
        let filtered = self.listener.time(number, Step::Filter, || {
            let block = filter::filter_but_last(block, &self.pool)?;
            // The sorters' workspace is freed to make room for the match finder.
            if block.is_repetitive() {
                self.sorters.cpu.free();
            }
            filter::deduplicate(block, &self.pool)
        })?;
        Ok((filtered, None))
    }

    fn code_sorted(&self, sorted: SortedBlockText) -> Result<CodedBlock> {
        let SortedBlockText { block: FilteredBlock { raw_size, place, .. }, .. } = sorted;
        let number = place.number;
        let is_coded = matches!(sorted.sorted, Sorted::Coded(_));
        let copy = self.verify.map(|_| sorted.block.copy()).transpose()?;
        let code = || {
            if self.one_by_one {
                // The sorter's workspace is freed to make room for the symbols.
                self.sorters.cpu.free();
            }
            code(sorted, self.form, &self.pool, &self.spare)
        };
        // A transform that a GPU has coded is only put together here.
        let (block, took) = match is_coded {
            true => code()?,
            false => self.listener.time(number, Step::Code(Device::Cpu), code)?,
        };
        self.sorters.gpus.coded(raw_size as u64, took);
        match copy {
            Some(copy) => self.listener.time(number, Step::Check, || self.checked(block, copy)),
            None => Ok(block),
        }
    }

    /// Returns a block that restores to its raw bytes. If this one does not, the CPU codes it
    /// again, and the result is checked too.
    fn checked(&self, block: CodedBlock, filtered: FilteredBlock) -> Result<CodedBlock> {
        if self.flaw(&block)?.is_none() {
            return Ok(block);
        }
        let number = block.number;
        self.sorters.give_up(&format!("block {number} was sorted or coded wrongly"));
        drop(block);
        let text = &filtered.filtered.text;
        let rate = sample_rate(text.len(), self.index);
        let threads = if filtered.place.alone { self.pool.count() } else { 1 };
        let sorted = self.pool.install(|| self.sorters.cpu.sort_on(threads, text, rate))?;
        // The sorter's workspace is freed, since the check needs its room.
        self.sorters.cpu.free();
        let sorted = SortedBlockText { block: filtered, sorted: Sorted::Bwt(sorted) };
        let (block, _) = code(sorted, self.form, &self.pool, &self.spare)?;
        match self.flaw(&block)? {
            None => Ok(block),
            Some(what) => Err(Error::Device(
                format!(
                    "block {number} is not restored to its input ({what}), not even by the CPU: \
                     the memory of this machine is faulty, or bwz has a defect; nothing of the \
                     block was written"
                )
                .into(),
            )),
        }
    }

    /// Restores a block on the CPU and returns its flaw, if any. Its header has the checksum of the
    /// raw bytes.
    fn flaw(&self, block: &CodedBlock) -> Result<Option<Cow<'static, str>>> {
        let Some(plan) = &self.verify else { return Ok(None) };
        match self.pool.install(|| super::restore(block.clone(), plan)) {
            Err(Error::Format { what, .. }) => Ok(Some(what)),
            restored => restored.map(|_| None),
        }
    }
}

/// Returns the sample rate of a text of `len` bytes, given the rate of its index.
fn sample_rate(len: usize, index: Option<u32>) -> u32 {
    let usual = bwt::sample_rate(len);
    // At rate 0 an index is for counting alone and needs no more samples than the inverse.
    index.filter(|&rate| rate > 0).map_or(usual, |rate| rate.min(usual))
}

/// Codes a block's slices side by side, or stores the block if that is not longer. Also returns the
/// time that this took, summed over all threads.
pub fn code(
    sorted: SortedBlockText,
    BlockForm { coding, limits, indexed }: BlockForm,
    pool: &Threads,
    spare: &Spare,
) -> Result<(CodedBlock, Duration)> {
    let SortedBlockText { block, sorted } = sorted;
    let FilteredBlock { filtered, sequences, place, raw_size, checksum } = block;
    let took = Cell::new(Duration::ZERO);
    let execute = |tasks: Vec<Task>| took.set(took.get() + pool.execute(tasks));
    let mut index = None;
    let (coded, sample_rate, samples) = match sorted {
        Sorted::Coded(CodedTransform { coded, sample_rate, samples }) => {
            (coded, sample_rate, bwt::wide(samples))
        }
        Sorted::Bwt(Bwt { bytes, sample_rate, samples }) => {
            let by_sequence = indexed && filtered.flags == filter::SEQUENCES;
            let limits = match (by_sequence, coding) {
                (true, Coding::StaticRans) => SliceLimits::of_sequences(bytes.len()),
                _ => limits,
            };
            let coded = coder::encode_slices_with(execute, &bytes, limits, coding);
            if indexed {
                let facts = slice_facts(execute, &bytes, &coded.raw_sizes, &coded.slices);
                index = Some(BlockIndex::new(filtered.searched()?, samples[0], &facts));
            }
            // The BWT is freed before the payload is built, since that is the peak of memory.
            (coded, sample_rate, samples)
        }
    };
    let CodedBwt { models, raw_sizes, slices } = coded;
    let text_size = filtered.text.len() as u64;
    let payload = BwtPayload {
        tables: None,
        filtered: (filtered.flags != 0)
            .then_some(frame::FilterFields { text_size, side: &filtered.side }),
        samples,
        raw_sizes,
        index,
        models: &models,
        slices: slices.iter().map(Vec::as_slice).collect(),
    }
    .to_bytes(coding)?;
    drop(slices);
    let filters = filtered.flags;
    let sample_rate_log = sample_rate.ilog2() as u8;
    let (kind, payload) = if payload.len() < raw_size {
        spare.keep(filtered.text);
        let tables = false;
        (BlockKind::Bwt(Shape { filters, sample_rate_log, coding, indexed, tables }), payload)
    } else {
        drop(payload);
        (BlockKind::Stored, filter::undo(filtered, raw_size)?)
    };
    let header = BlockHeader {
        kind,
        raw_size: raw_size as u64,
        coded_size: payload.len() as u64,
        raw_checksum: checksum,
        raw_offset: place.offset,
        payload_checksum: crc32fast::hash(&payload),
    };
    Ok((CodedBlock { header, payload, sequences, number: place.number, offset: 0 }, took.get()))
}

#[cfg(test)]
mod tests;
