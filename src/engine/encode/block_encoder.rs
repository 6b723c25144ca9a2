//! The encoder that all blocks of a stream share: who filters, sorts and codes which block when.

use super::block_groups::BlockGroups;
use super::block_sorter::{BlockSorter, blocks_on_gpus};
use super::code::code;
use super::filtered_block::{BlockForm, BlockPlace, FilteredBlock};
use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::base::tasks::TaskClock;
use crate::base::threads::Threads;
use crate::bwt;
use crate::coder::Coding;
use crate::engine::coded_transform::Sorted;
use crate::engine::decode;
use crate::engine::memory::Plan;
use crate::engine::pipeline::Work;
use crate::engine::raw::{Raw, RawBlock, Run, SequencesStart, Spare, line_feeds};
use crate::engine::turns::Turns;
use crate::filter::earlier_choices::EarlierChoices;
use crate::filter::{self, Filtered};
use crate::frame::{self, CodedBlock};
use crate::options::Options;
use crate::options::events::{Listener, Step};
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// State that all blocks of a stream share.
pub(crate) struct BlockEncoder {
    sorters: BlockSorter,
    pool: Threads,
    form: BlockForm,
    groups: BlockGroups,
    /// The blocks that are filtered and sorted, and those that are coded.
    sorting: Turns,
    coding: Turns,
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

/// A block that was one run, in its coded form.
struct LastRun {
    run: Run,
    sequences: Option<SequencesStart>,
    block: CodedBlock,
}

impl BlockEncoder {
    /// Plans the memory for blocks no larger than the first, and creates their encoder.
    pub(crate) fn planned(
        first: u64,
        pool: Threads,
        spare: Spare,
        options: &Options,
    ) -> Result<(Plan, Self)> {
        // A first block that is too large was not read to its end, so the error is that of a full
        // block.
        let is_too_large = first > options.largest_block();
        let block_size = if is_too_large {
            options.block_size()
        } else {
            first
        };
        let allowed = options
            .allowance()
            .beside(blocks_on_gpus(block_size, options));
        let plan = Plan::new(block_size, allowed, options.effort.into(), options.index)?;
        let encoder = BlockEncoder::new(block_size, &plan, pool, spare, options)?;
        Ok((plan, encoder))
    }

    /// Creates the encoder for blocks of up to `block_size` bytes, as many at a time as the plan
    /// says.
    pub(crate) fn new(
        block_size: u64,
        plan: &Plan,
        pool: Threads,
        spare: Spare,
        options: &Options,
    ) -> Result<Self> {
        let sample_rate = sample_rate(block_size as usize, options.index);
        let form = BlockForm::new(options);
        let on_gpu = (form.coding == Coding::StaticRans && !form.indexed).then_some(form.limits);
        let sorters = BlockSorter::new(
            plan.workers,
            block_size,
            sample_rate,
            on_gpu,
            &pool,
            options,
        )?;
        Ok(BlockEncoder {
            sorters,
            pool,
            form,
            groups: BlockGroups::new(options.block_size()),
            sorting: Turns::new(plan.workers),
            coding: Turns::new(plan.coders),
            one_by_one: plan.depth == 1,
            index: options.index,
            verify: options.verify.then_some(*plan),
            last_run: Mutex::new(None),
            spare,
            listener: options.run.listener.clone(),
        })
    }

    /// Codes a block.
    pub(crate) fn encode(&self, block: RawBlock) -> Result<CodedBlock> {
        let RawBlock {
            raw,
            number,
            offset,
            alone,
            sequences,
        } = block;
        let place = BlockPlace {
            number,
            offset,
            alone,
        };
        match raw {
            Raw::Bytes(bytes) => {
                let earlier = self.groups.earlier(number);
                self.encode_bytes(bytes, sequences, earlier, place)
            }
            Raw::Run(run) => self.encode_run(run, sequences, place),
        }
    }

    fn encode_run(
        &self,
        run: Run,
        sequences: Option<SequencesStart>,
        place: BlockPlace,
    ) -> Result<CodedBlock> {
        self.groups.pass(place.number);
        let from = Instant::now();
        let mut last = self
            .last_run
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref()
            && last.run == run
            && last.sequences == sequences
        {
            let mut block = last.block.clone();
            block.number = place.number;
            block.header.raw_offset = place.offset;
            self.listener.done(
                place.number,
                block.header.raw_size,
                [(Step::Code(Device::Cpu), from, Instant::now())],
            );
            self.sorting.pass();
            self.end_if_sorted();
            return Ok(block);
        }
        let bytes = run.to_bytes()?;
        self.sorters.expect(bytes.len(), place.alone);
        let block = self.encode_bytes(bytes, sequences, EarlierChoices::default(), place)?;
        *last = Some(LastRun {
            run,
            sequences,
            block: block.clone(),
        });
        Ok(block)
    }

    /// Filters, sorts and codes a block. A GPU may do the last two steps.
    fn encode_bytes(
        &self,
        bytes: Vec<u8>,
        sequences: Option<SequencesStart>,
        earlier: EarlierChoices,
        place: BlockPlace,
    ) -> Result<CodedBlock> {
        let turn = self.sorting.enter(place.number)?;
        let block = self.filtered(bytes, sequences, earlier, place)?;
        let text = &block.filtered.text;
        let rate = sample_rate(text.len(), self.index);
        let (sorted, steps) = self.sorters.sort(text, rate, place.alone)?;
        self.listener
            .done(place.number, text.len() as u64, steps);
        drop(turn);
        self.end_if_sorted();
        let _turn = self.coding.enter(place.number)?;
        self.coded(block, sorted)
    }

    /// Takes the checksum and applies the filters. A search looks in the raw bytes or in sequences,
    /// so an indexed block gets no filter but the one that separates sequences.
    fn filtered(
        &self,
        bytes: Vec<u8>,
        sequences: Option<SequencesStart>,
        earlier: EarlierChoices,
        place: BlockPlace,
    ) -> Result<FilteredBlock> {
        let raw_size = bytes.len();
        let checksum = self.pool.install(|| frame::raw_checksum(&bytes));
        let line_feeds = line_feeds(&bytes);
        let with = |filtered, sequences| FilteredBlock {
            filtered,
            sequences,
            place,
            raw_size,
            checksum,
            line_feeds,
        };
        match (self.index, sequences) {
            (Some(_), None) => Ok(with(Filtered::unchanged(bytes), None)),
            (Some(_), Some(SequencesStart { kind, state })) => {
                let from = Instant::now();
                let separate = || filter::separate(bytes, kind, state);
                let (filtered, adds) = self.pool.install(separate)?;
                self.tell_filter(place, &filtered, from);
                Ok(with(filtered, Some((kind, adds))))
            }
            (None, _) => {
                let from = Instant::now();
                let filtered = filter::filter_but_last(bytes, earlier, &self.pool)?;
                // The sorters' workspace is freed to make room for the match finder.
                if filtered.is_repetitive() {
                    self.sorters.cpu.free();
                }
                let filtered = filter::deduplicate(filtered, &self.pool)?;
                self.tell_filter(place, &filtered, from);
                Ok(with(filtered, None))
            }
        }
    }

    /// Reports that a block was filtered.
    fn tell_filter(&self, place: BlockPlace, filtered: &Filtered, from: Instant) {
        let text_size = filtered.text.len() as u64;
        let step = (Step::Filter, from, Instant::now());
        self.listener
            .done(place.number, text_size, [step]);
    }

    /// Codes a block's slices and puts it together. A transform that a GPU has coded is only put
    /// together.
    fn coded(&self, block: FilteredBlock, sorted: Sorted) -> Result<CodedBlock> {
        let raw_size = block.raw_size as u64;
        let text_size = block.filtered.text.len() as u64;
        let number = block.place.number;
        let is_coded = matches!(sorted, Sorted::Coded(_));
        let copy = self.verify.map(|_| block.copy()).transpose()?;
        let clock = TaskClock::default();
        let code = || {
            if self.one_by_one {
                // The sorter's workspace is freed to make room for the symbols.
                self.sorters.cpu.free();
            }
            code(
                block,
                sorted,
                self.form,
                self.pool.executor().timed(&clock),
                &self.spare,
            )
        };
        let block = match is_coded {
            true => code()?,
            false => self
                .listener
                .time(number, text_size, Step::Code(Device::Cpu), code)?,
        };
        self.sorters.gpus.coded(raw_size, clock.read());
        match copy {
            Some(copy) => self
                .listener
                .time(number, raw_size, Step::Check, || self.checked(block, copy)),
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
        self.sorters
            .give_up(&format!("block {number} was sorted or coded wrongly"));
        drop(block);
        let text = &filtered.filtered.text;
        let rate = sample_rate(text.len(), self.index);
        let sorted = self
            .sorters
            .sort_again(text, rate, filtered.place.alone)?;
        // The sorter's workspace is freed, since the check needs its room.
        self.sorters.cpu.free();
        let sorted = Sorted::Bwt(sorted);
        let block = code(
            filtered,
            sorted,
            self.form,
            self.pool.executor(),
            &self.spare,
        )?;
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
        let Some(plan) = &self.verify else {
            return Ok(None);
        };
        match self
            .pool
            .install(|| decode::restore(block.clone(), plan))
        {
            Err(Error::Format { what, .. }) => Ok(Some(what)),
            restored => restored.map(|_| None),
        }
    }

    /// Lets go of the GPUs once all blocks are sorted, while the last of them are still being coded
    /// and written. That takes a tenth of a second.
    fn end_if_sorted(&self) {
        if self.sorting.are_over() {
            self.sorters.gpus.end();
        }
    }
}

impl Work for BlockEncoder {
    type Item = RawBlock;
    type Done = CodedBlock;
    type Error = Error;

    fn announce(&self, block: &RawBlock) {
        self.sorting.announce();
        // An indexed block has no slots.
        if self.index.is_none() {
            self.groups.announce(block.number);
        }
        if let Raw::Bytes(bytes) = &block.raw {
            self.sorters.expect(bytes.len(), block.alone);
        }
    }

    fn work(&self, block: RawBlock) -> Result<CodedBlock> {
        self.encode(block)
    }

    fn close(&self) {
        self.sorting.close();
        self.end_if_sorted();
    }

    fn abandon(&self) {
        self.sorting.abandon();
        self.groups.abandon();
        self.coding.abandon();
    }
}

/// Returns the sample rate of a text of `len` bytes, given the rate of its index.
fn sample_rate(len: usize, index: Option<u32>) -> u32 {
    let usual = bwt::sample_rate(len);
    // At rate 0 an index is for counting alone and needs no more samples than the inverse.
    index
        .filter(|&rate| rate > 0)
        .map_or(usual, |rate| rate.min(usual))
}

#[cfg(test)]
mod tests;
