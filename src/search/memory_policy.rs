//! The policy on memory. [`form`] decides whether a block is searched on disk, by an index in
//! memory, or as text in memory.
//!
//! - **on disk**: The block has an index that the options trust. The task costs less there
//!   (`search_cost`), or memory does not suffice to decode the block.
//! - **index in memory**: The block holds the transform of its searched text. The task costs more
//!   on disk, or the block cannot be searched there.
//! - **text in memory**: The block does not hold that transform; or ranges of it are read, and that
//!   costs more on disk. A small part of the text is read by an index in memory.
//!
//! `form` is asked when a block is opened, and again before its rows are located, since their
//! number is not known earlier. So a block may come into memory in the middle of a search. It goes
//! back to disk only at the end of a batch, if there is no memory to keep it.
//!
//! In these cases a block is searched without asking `form`, or in another form than it chose:
//!
//! - An index that was kept from an earlier batch is used again without asking
//!   (`search_batch::Batch::open`).
//! - A block that turns out not to fit in memory is searched on disk, if it has an index
//!   (`open_block::BlockJob::load_or_stay`).
//! - A text in memory is scanned for each pattern; from [`MANY`] (200) patterns on, it is sorted
//!   into an index instead ([`is_scanned`], `find_in_block::OpenBlock::find`).
//! - The text of a block that is searched by its index is restored too, and scanned for some
//!   patterns: those with too many branches (`class_search`), and frequent ones of which only the
//!   first positions are wanted ([`text_is_scanned_first`]).
//!
//! Everything else follows from the form of a block:
//!
//! - A GPU searches the blocks whose index is in memory, if one was asked for or if it pays
//!   (`Session::lease`; `engine::device_pool` compares the times).
//! - An index in memory gets denser samples ([`gets_denser_samples`]) or its text ([`text_pays`],
//!   [`holds_with_text`]) if that pays and there is enough memory.
//! - `kept_blocks` keeps what fits in the shares below for the next batch.
//!
//! # Shares of the memory limit
//! | share | use |
//! |---|---|
//! | 1/4 | indexes that a `Searcher` keeps. A search of one batch keeps none |
//! | 1/2 of the rest | decoded slices of all blocks on disk |
//! | 1/64 | a batch of patterns, with the data beside them |
//! | 1/8 | searches or walks that advance together in a block on disk (`disk_batch`) |
//! | 1/16 | rows that are located together (`find_in_block`) |
//! | 1/8 | candidates that may turn out not to be matches (`section_search`) |
//! | 1/16 | layouts that are kept (`sections`) |
//! | 1/2 | the layout that is being read (`sequence_block`) |
//! | 1/4 | decoded slices of all blocks in which lines are found (`lines::line_blocks`) |
//! | 1/8 | tables of those blocks that stay open (`lines::line_blocks`) |
//!
//! `engine::memory` plans the memory for decoding a block. Results are checked against the limit
//! where they are made.

use super::loaded_index::LoadedIndex;
use super::search_cost::{self, BlockCost, SearchWork};
use super::searched_block::SearchedBlock;
use crate::base::error::{Error, Result};
use crate::engine::memory::Plan;
use crate::options::Options;

/// The form in which a block is searched.
pub(crate) enum Form {
    /// Its index is read from the file, and slices are decoded when they are asked for.
    OnDisk {
        /// The reason why the block is not decoded though that would pay: there is too little
        /// memory.
        shortage: Option<Error>,
    },
    /// It is decoded, and an FM-index is built.
    Index,
    /// It is restored.
    Text,
}

/// The task for which a block is opened.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// Patterns are searched, or rows are located. `spent` is the estimated cost of the work that
    /// was done on the block on disk before, in this search and in earlier ones.
    Search { work: SearchWork, spent: f64 },
    /// A few short patterns are looked up, which never pays for decoding the block.
    LookUp,
    /// `count` ranges of `size` bytes in all are read, of the searched text.
    TextRanges { size: u64, count: u64 },
    /// `count` ranges of `size` bytes in all are read, of the raw bytes.
    RawRanges { size: u64, count: u64 },
}

/// If less than 1/16 of a block is wanted, its text is not restored. The index gives single bytes,
/// at a higher cost per byte.
const INDEX_FOR_RANGES: u64 = 16;

/// Decides in which form a block is searched for a task.
///
/// `on_disk` is the cost of the block on disk. It is `None` if the block cannot be there: it has no
/// index, or the options do not trust the index. Such a block is decoded as a whole, restored and
/// checked, whatever the task.
pub(crate) fn form(
    block: &dyn SearchedBlock,
    on_disk: Option<&BlockCost>,
    task: Task,
) -> Result<Form> {
    let Some(cost) = on_disk else {
        return Ok(match (task, block.transform()?) {
            (Task::Search { .. }, Some(_)) => Form::Index,
            _ => Form::Text,
        });
    };
    let cheaper_on_disk = match task {
        Task::Search { work, spent } => cost.pays_on_disk(work, spent),
        Task::LookUp => true,
        Task::TextRanges { size, count } | Task::RawRanges { size, count } => {
            cost.pays_for_ranges(size, count)
        }
    };
    Ok(match task {
        _ if cheaper_on_disk => Form::OnDisk { shortage: None },
        Task::Search { .. } => match block.file().shortage_of_index() {
            Some(limit) => Form::OnDisk {
                shortage: Some(limit),
            },
            None => Form::Index,
        },
        Task::TextRanges { size, .. } if size <= block.file().raw_size() / INDEX_FOR_RANGES => {
            Form::Index
        }
        _ => Form::Text,
    })
}

/// Divisor of the memory limit for the indexes that a `Searcher` keeps.
const KEPT_SHARE: u64 = 4;

/// Bytes for the indexes that a `Searcher` keeps.
pub(crate) fn room_for_kept_blocks(options: &Options) -> u64 {
    options.memory_limit() / KEPT_SHARE
}

/// Maximum memory of a decoded block that is kept, in bytes per byte of the block.
const KEPT_BYTES: u64 = 4;

/// Maximum memory of the index of a block of `size` bytes, in bytes.
pub(crate) fn kept_size(size: u64) -> u64 {
    size.saturating_mul(KEPT_BYTES)
}

/// Number of blocks of up to `largest` bytes that may be searched at a time in `memory` bytes. It
/// is 1 even if memory does not allow one, since a block is refused only when it must be decoded.
pub(crate) fn side_by_side(largest: u64, memory: u64, options: &Options) -> usize {
    let mut allowed = options.allowance();
    allowed.memory = memory;
    Plan::to_decode(largest, allowed).map_or(1, |plan| plan.workers)
}

/// Returns true if a block can be decoded only if `kept` bytes of kept slices are dropped.
pub(crate) fn wants_room(block: &dyn SearchedBlock, kept: u64) -> bool {
    let allowed = block.file().options.allowance();
    let fits_in = |memory| {
        let mut allowed = block.file().options.allowance();
        allowed.memory = memory;
        Plan::to_index(block.file().raw_size(), allowed).is_ok()
    };
    fits_in(allowed.memory) && !fits_in(allowed.memory.saturating_sub(kept))
}

/// The part of `memory` bytes that decoded slices may take.
pub(crate) fn room_for_slices(memory: u64) -> u64 {
    memory / 2
}

/// Bytes for decoded slices while ranges are read. Walks hardly ever come to a slice twice.
const ROOM_FOR_RANGES: u64 = 2 << 20;

/// Bytes for the decoded slices of a block while ranges of it are read.
pub(crate) fn room_for_ranges(options: &Options) -> u64 {
    room_for_slices(options.memory_limit()).min(ROOM_FOR_RANGES)
}

/// A batch of patterns may use 1/64 of the memory limit. Several batches are in progress at a time
/// if they are read and printed while others are searched.
const BATCH_SHARE: u64 = 64;

/// Maximum bytes of a batch if decoded blocks are kept. A larger batch would not save time.
const LARGEST_BATCH: u64 = 64 << 20;
/// Maximum bytes of a batch if each batch decodes the blocks again.
const LARGEST_ANEW: u64 = 256 << 20;

/// Bytes for a batch of patterns. `are_kept` is true if all decoded blocks are kept.
pub(crate) fn batch_size(options: &Options, are_kept: bool) -> u64 {
    let largest = if are_kept {
        LARGEST_BATCH
    } else {
        LARGEST_ANEW
    };
    (options.memory_limit() / BATCH_SHARE).min(largest)
}

/// Number of patterns from which sorting a text is faster than scanning it for each pattern.
pub(crate) const MANY: usize = 200;

/// Returns true if a text in memory is scanned for each of `patterns` patterns, rather than sorted
/// into an index.
pub(crate) fn is_scanned(text: &[u8], patterns: usize) -> bool {
    patterns < MANY || text.is_empty()
}

/// Bytes of memory per byte of a block that is restored while its index is built.
const RESTORED_WITH_INDEX: u64 = 12;

/// Returns true if a block is restored and its index is built at the same time. As many blocks as
/// there are threads may be loaded together.
pub(crate) fn is_restored_with_index(block: &dyn SearchedBlock) -> bool {
    let options = block.file().options;
    let each = RESTORED_WITH_INDEX * options.thread_count() as u64;
    block.file().raw_size().saturating_mul(each) <= options.memory_limit()
}

/// Bytes of memory per byte of a block that is restored from its index, in addition to the index.
const RESTORING: u64 = 8;

/// Returns true if there is memory to restore `side_by_side` blocks at a time, each with an index
/// like this.
pub(crate) fn may_be_restored(index: &LoadedIndex, side_by_side: u64, options: &Options) -> bool {
    let restored = RESTORING.saturating_mul(index.len() as u64);
    let needed = (index.size() as u64).saturating_add(restored);
    needed.saturating_mul(side_by_side) <= options.memory_limit()
}

/// Sample rate of an index in memory for locating many positions or for counting by the text.
pub(crate) const DENSE: u32 = 8;

/// Returns true if an index gets samples at the rate [`DENSE`] before `rows` rows are located: the
/// block is restored for that.
pub(crate) fn gets_denser_samples(
    index: &LoadedIndex,
    rows: u64,
    side_by_side: u64,
    options: &Options,
) -> bool {
    rows * index.steps_to_sample() > index.len() as u64
        && may_be_restored(index, side_by_side, options)
}

/// Bytes of a block that are restored in the time of one step from a row to a sampled one.
const RESTORED_PER_STEP: u64 = 1;

/// Returns true if a block is restored because locating all rows of some patterns, of which only
/// the first positions are wanted, would take `steps` steps.
pub(crate) fn text_is_scanned_first(block: &dyn SearchedBlock, steps: u64) -> bool {
    steps > block.size() as u64 / RESTORED_PER_STEP
}

/// Returns true if the index of a block is small enough to be kept with its text.
pub(crate) fn holds_with_text(index: &LoadedIndex) -> bool {
    let most = kept_size(index.len() as u64);
    index
        .size_with_text(DENSE)
        .is_some_and(|size| size as u64 <= most)
}

/// The symbols of the patterns of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PatternSymbols {
    /// Symbols of all patterns that are expected, or 0 if that is not known.
    pub expected: u64,
    /// Symbols of the patterns that have come so far.
    pub come: u64,
}

impl PatternSymbols {
    /// Returns true if the expected patterns pay for the index in memory of a block of `size`
    /// bytes, whatever its coding.
    pub(crate) fn surely_pay(&self, size: u64) -> bool {
        search_cost::surely_in_memory(self.expected, size)
    }
}

/// Returns true if adding the text to an index of `len` bytes pays, for the patterns still to come.
/// The text would have saved `saved` steps so far.
pub(crate) fn text_pays(len: u64, saved: u64, symbols: PatternSymbols) -> bool {
    search_cost::text_pays(len, saved, symbols.come, symbols.expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::frame::contents::Contents;
    use crate::search::byte_block::ByteBlock;
    use crate::search::disk_block::UnopenedBlock;
    use crate::search::file_block::FileBlock;
    use crate::search::shared_input::SharedInput;
    use std::io::Cursor;
    use std::sync::Mutex;

    /// Calls `check` with the only block of a file, and with its cost on disk.
    fn with_block(
        raw: &[u8],
        written: &Options,
        read: &Options,
        check: impl FnOnce(&dyn SearchedBlock, Option<&BlockCost>),
    ) {
        let mut file = Vec::new();
        crate::compress(raw, &mut file, written).unwrap();
        let mut file = Cursor::new(file);
        let contents = Contents::read(&mut file, u64::MAX).unwrap();
        let file = Mutex::new(file);
        let input = SharedInput::new(&file);
        let file = FileBlock::new(&input, &contents.blocks[0], 0, read);
        let block = ByteBlock { file };
        let on_disk = UnopenedBlock::read(&block, 1 << 20).unwrap();
        check(&block, on_disk.as_ref().map(|of| &of.cost));
    }

    fn patterns(count: u64) -> Task {
        let work = SearchWork {
            queries: 2 * 20 * count,
            rounds: 20,
            ..SearchWork::default()
        };
        Task::Search { work, spent: 0.0 }
    }

    fn is_on_disk(form: &Form) -> bool {
        matches!(form, Form::OnDisk { shortage: None })
    }

    #[test]
    fn a_block_with_an_index_is_decoded_if_that_pays_and_fits() {
        let raw = cases::dna(900_000);
        let options = Options::new().index(16).unwrap();
        with_block(&raw, &options, &options, |block, cost| {
            let form = |task| form(block, cost, task).unwrap();
            assert!(is_on_disk(&form(patterns(0))) && is_on_disk(&form(Task::LookUp)));
            assert!(matches!(form(patterns(1_000_000)), Form::Index));
            let work = SearchWork::default();
            assert!(is_on_disk(&form(Task::Search {
                work,
                spent: f64::INFINITY
            })));
            let text = |size| form(Task::TextRanges { size, count: 1 });
            assert!(is_on_disk(&text(1)));
            assert!(matches!(text(40_000), Form::Index));
            assert!(matches!(text(900_000), Form::Text));
            assert!(is_on_disk(&form(Task::RawRanges { size: 1, count: 1 })));
            assert!(matches!(
                form(Task::RawRanges {
                    size: 40_000,
                    count: 1
                }),
                Form::Text
            ));
        });
        with_block(
            &raw,
            &options,
            &options.clone().memory(1 << 20),
            |block, cost| {
                let form = |task| form(block, cost, task).unwrap();
                assert!(is_on_disk(&form(patterns(0))));
                assert!(matches!(
                    form(patterns(1_000_000)),
                    Form::OnDisk { shortage: Some(_) }
                ));
            },
        );
    }

    #[test]
    fn a_block_without_a_trusted_index_is_decoded() {
        let raw = cases::dna(900_000);
        let indexed = Options::new().index(16).unwrap();
        let verified = indexed.clone().verify(true);
        let ranges = Task::TextRanges { size: 1, count: 1 };
        for (written, read) in [(&Options::new(), &indexed), (&indexed, &verified)] {
            with_block(&raw, written, read, |block, cost| {
                assert!(cost.is_none());
                let has_transform = block.transform().unwrap().is_some();
                assert_eq!(
                    matches!(form(block, cost, patterns(0)).unwrap(), Form::Index),
                    has_transform
                );
                assert!(matches!(form(block, cost, ranges).unwrap(), Form::Text));
                assert!(matches!(
                    form(block, cost, Task::LookUp).unwrap(),
                    Form::Text
                ));
            });
        }
        // A stored block has no transform.
        let random = cases::random(1000, 256);
        with_block(&random, &Options::new(), &indexed, |block, cost| {
            assert!(matches!(
                form(block, cost, patterns(1_000_000)).unwrap(),
                Form::Text
            ));
        });
    }
}
