//! A block that is open for search, in the form that `memory_policy` has chosen: on disk, as an
//! index in memory, or as a text in memory.

use super::disk_block::{DiskBlock, UnopenedBlock};
use super::loaded_index::LoadedIndex;
use super::memory_policy::{self, DENSE, Form, Task};
use super::searched_block::SearchedBlock;
use super::slice_cache::SliceCache;
use crate::base::error::{Error, Flaw, Result};
use crate::bwt::Bwt;
use crate::options::events::Listener;
use std::borrow::Cow;
use std::ops::Range;

/// A block that is open for search.
pub(crate) enum OpenBlock<'a> {
    Indexed(OpenIndex<'a>),
    /// The searched text.
    Text(Vec<u8>),
}

/// The index of an open block.
pub(crate) enum OpenIndex<'a> {
    OnDisk(Box<DiskBlock<'a>>),
    InMemory(LoadedIndex),
}

/// The task for which a block is opened, and what it may use.
#[derive(Clone, Copy)]
pub(crate) struct BlockJob<'l> {
    pub task: Task,
    /// Bytes for its decoded slices.
    pub room: u64,
    /// Hears a warning if the memory does not suffice to decode the block.
    pub listener: Option<&'l Listener>,
}

impl BlockJob<'_> {
    /// Opens a block on disk. `shortage` is the reason why it is not decoded though that would pay.
    fn open_on_disk<'a>(
        &self,
        block: UnopenedBlock<'a>,
        shortage: Option<Error>,
    ) -> Result<OpenIndex<'a>> {
        let mut block = block.open()?;
        if let Task::Search { work, spent } = self.task {
            block.spent = spent + block.cost.on_disk(work);
        }
        if let Some((listener, shortage)) = self.listener.zip(shortage) {
            warn_of_search_on_disk(listener, &shortage);
        }
        Ok(OpenIndex::OnDisk(Box::new(block)))
    }

    /// Decodes a whole block. If the memory turns out not to suffice for a search, the block is
    /// opened on disk, if it can be.
    fn load_or_stay<'a>(&self, block: &'a dyn SearchedBlock) -> Result<OpenIndex<'a>> {
        let limit = match (load(block), self.task) {
            (Err(limit @ Error::Limit { .. }), Task::Search { .. }) => limit,
            (loaded, _) => return loaded.map(OpenIndex::InMemory),
        };
        match UnopenedBlock::read(block, self.room)? {
            Some(on_disk) => self.open_on_disk(on_disk, Some(limit)),
            None => Err(limit),
        }
    }
}

/// Warns that the memory does not suffice to decode a block.
fn warn_of_search_on_disk(listener: &Listener, limit: &Error) {
    listener.warn(format!(
        "{limit}; it is searched on disk, which may take many times as long"
    ));
}

impl<'a> OpenBlock<'a> {
    /// Opens a block for a job.
    pub(crate) fn open(block: &'a dyn SearchedBlock, job: BlockJob) -> Result<Self> {
        let on_disk = UnopenedBlock::read(block, job.room)?;
        let form = memory_policy::form(block, on_disk.as_ref().map(|of| &of.cost), job.task)?;
        match (form, on_disk) {
            (Form::OnDisk { shortage }, Some(on_disk)) => job
                .open_on_disk(on_disk, shortage)
                .map(OpenBlock::Indexed),
            (Form::Index, _) => job.load_or_stay(block).map(OpenBlock::Indexed),
            _ => block.restored_text().map(OpenBlock::Text),
        }
    }

    /// Gives a block on disk the decoded slices that were kept for it.
    pub(crate) fn with_slices(self, kept: SliceCache) -> Self {
        match self {
            OpenBlock::Indexed(OpenIndex::OnDisk(block)) => {
                OpenBlock::Indexed(OpenIndex::OnDisk(Box::new(block.with_slices(kept))))
            }
            block => block,
        }
    }

    /// Returns true if its index is in memory.
    pub(crate) fn has_loaded_index(&self) -> bool {
        matches!(self, OpenBlock::Indexed(OpenIndex::InMemory(_)))
    }

    /// Bytes of the text. The searched text may be only the first part of it.
    pub(crate) fn text_size(&self) -> usize {
        match self {
            OpenBlock::Indexed(OpenIndex::OnDisk(block)) => block.text_size(),
            OpenBlock::Indexed(OpenIndex::InMemory(index)) => index.len(),
            OpenBlock::Text(text) => text.len(),
        }
    }

    /// Returns a range of the text. The range must be within it.
    pub(crate) fn extract(&self, range: Range<usize>) -> Result<Cow<'_, [u8]>> {
        match self {
            OpenBlock::Indexed(OpenIndex::OnDisk(block)) => Ok(block.extract(range)?.into()),
            OpenBlock::Indexed(OpenIndex::InMemory(index)) => Ok(index.extract(range)?.into()),
            OpenBlock::Text(text) => Ok(text[range].into()),
        }
    }
}

/// Decodes a whole block that holds the transform of its searched text, and builds the index.
/// Restores and checks the block if it has no index that is trusted.
fn load(block: &dyn SearchedBlock) -> Result<LoadedIndex> {
    let file = block.file();
    let no_transform = || file.flaw(Flaw("the block has no transform"));
    let index = |bwt| LoadedIndex::new(bwt, file.options.run.narrow).map_err(|e| file.locate(e));
    if block.trusted_index()?.is_some() {
        return file
            .decoded_for_index(|decoded| index(decoded.into_bwt().ok_or_else(no_transform)?));
    }
    file.decoded(|decoded| {
        let bwt = Bwt::copy(decoded.bwt().ok_or_else(no_transform)?)?;
        let restore = || file.finish(decoded).map(drop);
        let (restored, index) = match memory_policy::is_restored_with_index(block) {
            true => rayon::join(restore, || index(bwt)),
            false => (restore(), index(bwt)),
        };
        restored.and(index)
    })
}

impl<'a> OpenIndex<'a> {
    /// Prepares an index for locating `rows` rows. A block on disk is decoded if that pays. An
    /// index in memory gets denser samples if that pays and there is memory while
    /// `side_by_side` blocks are searched.
    pub(crate) fn ready_for(
        self,
        block: &'a dyn SearchedBlock,
        rows: u64,
        side_by_side: u64,
        listener: &Listener,
    ) -> Result<Self> {
        let ready = match self {
            OpenIndex::OnDisk(on_disk) => on_disk_or_loaded(on_disk, block, rows, listener)?,
            in_memory => in_memory,
        };
        let file = block.file();
        match ready {
            OpenIndex::InMemory(index)
                if memory_policy::gets_denser_samples(&index, rows, side_by_side, file.options) =>
            {
                let denser = index
                    .with_sample_rate(DENSE)
                    .map_err(|e| file.locate(e))?;
                Ok(OpenIndex::InMemory(denser))
            }
            ready => Ok(ready),
        }
    }

    /// The mean number of steps from a row to a sampled one.
    pub(crate) fn steps_to_sample(&self) -> u64 {
        match self {
            OpenIndex::OnDisk(block) => block.cost.steps_to_sample,
            OpenIndex::InMemory(index) => index.steps_to_sample(),
        }
    }
}

/// Leaves a block on disk for locating `rows` rows, or decodes it.
fn on_disk_or_loaded<'a>(
    mut on_disk: Box<DiskBlock<'a>>,
    block: &'a dyn SearchedBlock,
    rows: u64,
    listener: &Listener,
) -> Result<OpenIndex<'a>> {
    let cost = on_disk.cost;
    let work = cost.locating(rows);
    let task = Task::Search {
        work,
        spent: on_disk.spent,
    };
    if let Form::OnDisk { shortage } = memory_policy::form(block, Some(&cost), task)? {
        if let Some(shortage) = shortage {
            warn_of_search_on_disk(listener, &shortage);
        }
        on_disk.spent += cost.on_disk(work);
        return Ok(OpenIndex::OnDisk(on_disk));
    }
    // The decoded slices are dropped before the block is restored, to save memory.
    drop(on_disk);
    BlockJob {
        task,
        room: cost.room,
        listener: Some(listener),
    }
    .load_or_stay(block)
}
