//! Filters: reversible changes of a block before the sort, if they make it smaller. FORMAT.md
//! chapter 12.
//!
//! raw block -> [`filter_but_last`], [`deduplicate`] -> text -> sort ... invert -> text -> [`undo`]
//! -> raw block; [`apply`] is both steps at once, for tests. Each filter looks for its own kind of
//! data and leaves everything else alone. For a block without any such data, this takes 1 to 2 % of
//! the block's time, and the search for long-range matches 3 %:
//!
//! | filter | kind of data | what it does |
//! |---|---|---|
//! | [`sequence`] | FASTA; FASTQ with an index or that is no fields | residues first, then headers and qualities |
//! | [`fields`] | logs, tables, and reads (FASTQ) | values of a slot first, column after column |
//! | `regions`: `delta` | tables, images, sound | differences and transposition |
//! | `regions`: `bcj` | machine code | absolute targets of branches |
//! | `matches` | many versions of one text; long repeats and long runs in anything | deduplication |
//!
//! | file | job |
//! |---|---|
//! | `detect_regions`, `likeness`, `order1` | finding the regions, by samples |
//! | `match_finder`, `keyed_positions` | the matches of a text that repeats itself as a whole |
//! | `long_range`, `last_seen` | the matches of any other text |
//! | `long_runs` | runs of one byte, as matches |
//! | `fields_or_repeats` | the choice between two filters for lines that repeat each other |
//! | `comes_back` | the check of a filter whose parameters have many forms |
//! | `earlier_choices` | slots and forms of earlier blocks, which a block of lines may take over |
//!
//! Filters are tried in the order of the first table, but FASTQ's sequences after fields. Undoing
//! all of them takes as long as a few passes over the block. A block of sequences is never a block
//! of fields.
//!
//! # To add a filter
//!
//! Numbers, lists and other columns of lines are a form of [`fields`], whose page has the steps,
//! and not a filter. For other data, take these steps in this order:
//!
//! 1. **Its kind.** A filter that changes part of a block and keeps its size is a `RegionKind` in
//!    `regions`, which changes large regions of `Records` by all threads. Any other filter needs an
//!    id: the next number, and a bit of `Features`. An index is of the text, so no filter but
//!    [`sequence`] may be combined with one.
//! 2. **`format/FORMAT.md`**, before the code: chapters 4, 12 and 16, and an example of its bytes.
//!    `tests/conformance/page.rs` decodes and counts the examples. The draft changes too:
//!    "Places of the draft" in `CONTRIBUTING.md` lists where it is written.
//! 3. **`format/decoder.py`**: `FILTERS`, `undo_filters`, `undo_regions`.
//! 4. **A file here**: both directions, as functions on slices, with a round-trip test. The rules
//!    for it are below.
//! 5. **The choice.** `detect_regions` finds the data of a region by the middles of chunks, and
//!    tries out `Records` on samples; a filter for tables or sound competes with them there. Any
//!    other filter gets its id below, its turn in [`filter_but_last`], and an arm in [`undo`].
//! 6. **`tests/common/cases.rs`**: data of its kind in `cases::filtered`, which many tests try. At
//!    the same index, a name in `FILTERED` of `tests/conformance/valid.rs`, which writes the file.
//! 7. **`tests/alone/damaged/sources.rs`**: a small block with this filter.
//! 8. **`tests/conformance/invalid/filters.rs`**: the parameters that a decoder rejects. The kind
//!    of region that is unknown there becomes the next one, and so does the Filter_Id in
//!    `tests/conformance/unsupported.rs`.
//! 9. **`tests/common/mutation/parts.rs`**: its parameters in `side_fields`.
//! 10. **`tests/common/targets/filters.rs`**: a region has its tag and 5 bytes of parameters there,
//!     and any other filter a function in `src/internals.rs`. The page of that function says what a
//!     sixth choice would break.
//! 11. **`fuzz/seeds/filters`**: seven bytes of choices, which that page explains, and data.
//! 12. **All committed files**: `just bless`.
//! 13. **`benches/results`**: a note with its gain and its cost, by `cargo bench --bench filter`
//!     and by the sizes of files without such data.
//!
//! `cargo test --test tidy` checks the rules of the sources. These are the rules for a filter:
//!
//! - It takes at most 6 bytes of memory per byte (`WORKING` in `src/engine/memory/block_need.rs`),
//!   including the block, and 2 to be undone.
//! - Choices are made in integers, or in floats that every machine rounds alike. The text is the
//!   same for any number of threads. It depends on the block alone, and on the choices of earlier
//!   blocks that the caller names by their numbers (`earlier_choices`).
//! - [`undo`] restores every byte of any block. For any text and parameters, its time and memory
//!   are bounded by the block's size; the fuzz target `filters` tests this.
//! - A filter whose parameters have many forms is undone and compared ([`comes_back()`]).

mod bcj;
mod comes_back;
mod delta;
mod detect_regions;
pub(crate) mod earlier_choices;
pub(crate) mod fields;
mod fields_or_repeats;
mod keyed_positions;
mod last_seen;
mod likeness;
mod long_range;
mod long_runs;
pub(crate) mod match_finder;
pub(crate) mod matches;
mod order1;
pub(crate) mod regions;
pub(crate) mod sequence;
#[cfg(test)]
mod tests;

use crate::base::content_defined::{CommonPositions, Look};
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::base::threads::Threads;
#[cfg(test)]
use crate::cases;
use comes_back::comes_back;
use earlier_choices::EarlierChoices;
use fields::SideMemory;
use sequence::{BlockRecords, Contribution, Kind, Layout, LineState};
use std::iter;
use std::sync::Arc;

/// Ids of filters in a file.
pub(crate) const SEQUENCES: u8 = 1;
pub(crate) const REGIONS: u8 = 2;
pub(crate) const MATCHES: u8 = 3;
pub(crate) const FIELDS: u8 = 4;

/// Ids from this one on belong to no filter, of any version.
pub(crate) const MOST_IDS: u8 = 128;

/// Returns true if this version has a filter with this id.
pub(crate) fn is_known(id: u8) -> bool {
    (SEQUENCES..=FIELDS).contains(&id)
}

/// Minimum size in bytes of a block that is filtered.
const LEAST_BLOCK: usize = if cfg!(fuzzing) { 1 << 10 } else { 32 << 10 };

/// Maximum size in bytes of a text that is searched for long-range matches, whose numbers have 32
/// bits. The sort alone brings the repeats of larger texts together.
const MOST_SEARCHED: usize = u32::MAX as usize;

/// A block ready to be sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filtered {
    /// The bytes that are sorted: at least 1, and no more than the block had.
    pub text: Vec<u8>,
    /// The filters in the order in which they were applied; none if the text is the block.
    pub steps: Vec<Step>,
}

/// A filter that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Id of the filter.
    pub filter: u8,
    /// Bytes after the filter was applied.
    pub output_size: usize,
    /// The parameters that [`undo`] needs besides these bytes.
    pub side: Vec<u8>,
}

impl Filtered {
    /// `block` without filters.
    pub fn unchanged(block: Vec<u8>) -> Self {
        Filtered {
            text: block,
            steps: Vec::new(),
        }
    }

    /// The text of one filter, with its parameters.
    pub fn by(filter: u8, text: Vec<u8>, side: Vec<u8>) -> Self {
        let mut filtered = Filtered::unchanged(text);
        filtered.push(filter, side);
        filtered
    }

    /// Notes that a filter made the text.
    fn push(&mut self, filter: u8, side: Vec<u8>) {
        self.steps.push(Step {
            filter,
            output_size: self.text.len(),
            side,
        });
    }

    /// Returns true if a filter was applied.
    pub(crate) fn has(&self, filter: u8) -> bool {
        self.steps
            .iter()
            .any(|step| step.filter == filter)
    }

    /// The part of the text that is searched if the block has an index.
    pub(crate) fn searched(&self) -> Result<&[u8], Flaw> {
        match &self.steps[..] {
            [step] if step.filter == SEQUENCES => {
                let size = sequence_size(&step.side, self.text.len() as u64)?;
                Ok(&self.text[..size as usize])
            }
            _ => Ok(&self.text),
        }
    }
}

/// Applies the filters that suit `block`, on the calling thread.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub fn apply(block: Vec<u8>) -> Result<Filtered, Flaw> {
    deduplicate(
        filter_but_last(block, EarlierChoices::default(), &Threads::Calling)?,
        &Threads::Calling,
    )
}

/// Applies to a block of a stream of sequences the one filter that may be combined with an index.
/// Also gives the block's contribution to the stream; the block begins in the state `start`. The
/// block has no filter if that would make it larger.
pub(crate) fn separate(
    block: Vec<u8>,
    kind: Kind,
    start: LineState,
) -> Result<(Filtered, Contribution), Flaw> {
    let (text, layout) = sequence::split(&block, kind, start)?;
    let mut contribution = layout.contribution(start);
    contribution.listed = BlockRecords::listed(&layout, &text, start.is_in_head()).map(Arc::new);
    if !text.is_empty()
        && text.len() <= block.len()
        && let Some(side) = written(&layout, block.len())?
    {
        return Ok((Filtered::by(SEQUENCES, text, side), contribution));
    }
    Ok((Filtered::unchanged(block), contribution))
}

/// The layout of the sequences of a block of `size` bytes as parameters, if a decoder accepts them.
fn written(layout: &Layout, size: usize) -> Result<Option<Vec<u8>>, Flaw> {
    if !layout.is_small() {
        return Ok(None);
    }
    let mut side = Vec::new();
    layout.write(&mut side);
    let read = Layout::read(&mut &side[..], size);
    Ok(comes_back(layout, read)?.then_some(side))
}

/// Number of bytes of the text that are searched, from the parameters of the filter for sequences.
pub(crate) fn sequence_size(mut side: &[u8], text_size: u64) -> Result<u64, Flaw> {
    match leb128::read(&mut side)? as u64 {
        size if size <= text_size => Ok(size),
        _ => Err(Flaw("the sequences of a block are larger than its text")),
    }
}

/// A block with all filters applied but the last.
#[derive(Debug)]
pub(crate) struct Undeduplicated {
    filtered: Filtered,
    repeats: RepeatsSearch,
}

/// The extent of the search for long-range matches.
#[derive(Debug)]
enum RepeatsSearch {
    None,
    /// The common positions are known in most of the text.
    Some(CommonPositions),
    /// The text repeats itself as a whole.
    Everywhere,
}

impl Undeduplicated {
    /// Returns true if the text repeats itself as a whole. [`deduplicate`] then takes up to 4 bytes
    /// of memory per byte, including its input and its output.
    pub(crate) fn is_repetitive(&self) -> bool {
        matches!(self.repeats, RepeatsSearch::Everywhere)
    }
}

/// Applies the filters that suit `block`, but not the last, which is [`deduplicate`]. The caller is
/// not a thread of the `pool`.
pub(crate) fn filter_but_last(
    block: Vec<u8>,
    mut earlier: EarlierChoices,
    pool: &Threads,
) -> Result<Undeduplicated, Flaw> {
    let mut filtered = Filtered::unchanged(block);
    if filtered.text.len() < LEAST_BLOCK {
        return Ok(Undeduplicated {
            filtered,
            repeats: RepeatsSearch::None,
        });
    }
    let kind = sequence::detect(&filtered.text);
    if kind == Some(Kind::Fasta) {
        earlier = EarlierChoices::default();
        separate_sequences(&mut filtered, Kind::Fasta, pool)?;
    }
    let is_large = filtered.text.len() > MOST_SEARCHED;
    let look_at = |text: &[u8]| match is_large {
        true => Ok(Look::default()),
        false => Look::at(text, pool).ok_or(Flaw::NO_MEMORY),
    };
    let mut look = look_at(&filtered.text)?;
    let mut whole_lines = None;
    let apart = if filtered.steps.is_empty() {
        earlier.take_apart(&filtered.text, look.is_repetitive, pool)?
    } else {
        None
    };
    if let Some(apart) = apart {
        filtered = Filtered::by(FIELDS, apart.text, apart.side);
        // Columns have their final form. A sample does not tell how much a column would lose of its
        // similarity to others.
        whole_lines = Some(apart.whole_lines);
        look = if look.is_repetitive {
            look_at(&filtered.text)?
        } else {
            Look::default()
        };
    }
    // Reads are best as fields. If they cannot be, their bases are separated from the names.
    if kind == Some(Kind::Fastq) && filtered.steps.is_empty() {
        separate_sequences(&mut filtered, Kind::Fastq, pool)?;
        if filtered.has(SEQUENCES) {
            look.positions = CommonPositions::default();
        }
    }
    let Look {
        is_repetitive,
        mut positions,
    } = look;
    let text = &mut filtered.text;
    let searched = whole_lines.unwrap_or(0..text.len());
    // Repeats of code have the same relative targets, not the same absolute ones.
    let regions = detect_regions::detect(text, searched, !is_repetitive, pool);
    if !regions.is_empty() {
        let mut side = Vec::new();
        regions::encode(text, &regions, &mut side, pool)?;
        regions::changed(&regions).for_each(|range| positions.forget(range));
        filtered.push(REGIONS, side);
    }
    let repeats = match is_repetitive {
        _ if is_large => RepeatsSearch::None,
        true => RepeatsSearch::Everywhere,
        false => RepeatsSearch::Some(positions),
    };
    Ok(Undeduplicated { filtered, repeats })
}

/// Separates sequences if that makes the block smaller.
fn separate_sequences(block: &mut Filtered, kind: Kind, pool: &Threads) -> Result<(), Flaw> {
    let start = LineState::guess(&block.text, kind);
    let (text, layout) = pool.install(|| sequence::split(&block.text, kind, start))?;
    if let Some(parameters) = written(&layout, block.text.len())?
        && text.len() + parameters.len() < block.text.len()
    {
        *block = Filtered::by(SEQUENCES, text, parameters);
    }
    Ok(())
}

/// Removes long-range matches and long runs from the text.
pub(crate) fn deduplicate(block: Undeduplicated, pool: &Threads) -> Result<Filtered, Flaw> {
    let Undeduplicated {
        mut filtered,
        repeats,
    } = block;
    let found = match repeats {
        RepeatsSearch::None => None,
        RepeatsSearch::Some(known) => {
            let others = long_range::find(&filtered.text, &known, pool)?;
            pool.install(|| long_runs::add(&filtered.text, others))
        }
        RepeatsSearch::Everywhere => match match_finder::find(&filtered.text, pool)? {
            None => pool.install(|| long_runs::add(&filtered.text, None)),
            found => found,
        },
    };
    if let Some(found) = found {
        let mut side = Vec::new();
        pool.install(|| matches::encode(&mut filtered.text, &found, &mut side));
        filtered.push(MATCHES, side);
    }
    Ok(filtered)
}

/// Restores the block of `size` bytes.
///
/// # Errors
/// A [`Flaw`] if the parts do not fit each other. Any parts are handled without a panic, in time
/// and memory bounded by `size`.
pub fn undo(filtered: Filtered, size: usize) -> Result<Vec<u8>, Flaw> {
    undo_on(filtered, size, &Threads::Calling, |_| Ok(u64::MAX))
}

/// Does [`undo`] with the threads of the `pool`, of which the caller is none. The side structures
/// of a block may take as many bytes as `side_room` returns. It is called with `None` before there
/// are any, and again with the bytes needed if that is more.
pub(crate) fn undo_on<E: From<Flaw>>(
    filtered: Filtered,
    size: usize,
    pool: &Threads,
    mut side_room: impl FnMut(Option<u64>) -> Result<u64, E>,
) -> Result<Vec<u8>, E> {
    let Filtered { mut text, steps } = filtered;
    let inputs = iter::once(size).chain(steps.iter().map(|step| step.output_size));
    let inputs: Vec<usize> = inputs.take(steps.len()).collect();
    for (step, size) in steps.into_iter().zip(inputs).rev() {
        let mut rest = &step.side[..];
        let side = &mut rest;
        match step.filter {
            MATCHES => text = pool.install(|| matches::decode(&text, side, size))?,
            REGIONS => regions::decode(&mut text, side, pool)?,
            FIELDS => text = put_fields_together(&text, side, size, pool, &mut side_room)?,
            SEQUENCES => {
                let layout = Layout::read(side, size)?;
                text = pool.install(|| sequence::join(text, &layout))?;
            }
            _ => return Err(Flaw("a filter of a block is not known").into()),
        }
        if text.len() != size || !rest.is_empty() {
            return Err(WRONG_SIZE.into());
        }
    }
    match text.len() == size {
        true => Ok(text),
        false => Err(WRONG_SIZE.into()),
    }
}

const WRONG_SIZE: Flaw = Flaw("the filters of a block do not restore as many bytes as it has");

/// Puts a block of fields together, and starts again each time that its side structures need more
/// room than was allowed.
fn put_fields_together<E: From<Flaw>>(
    text: &[u8],
    side: &mut &[u8],
    size: usize,
    pool: &Threads,
    mut side_room: impl FnMut(Option<u64>) -> Result<u64, E>,
) -> Result<Vec<u8>, E> {
    let mut allowed = side_room(None)?;
    loop {
        let mut rest = *side;
        let mut memory = SideMemory::new(allowed);
        let done = pool.install(|| fields::put_together_in(text, &mut rest, size, &mut memory));
        if let Some(needed) = memory.needed() {
            allowed = side_room(Some(needed))?;
            continue;
        }
        *side = rest;
        return Ok(done?);
    }
}
