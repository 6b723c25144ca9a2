//! Records of a file that is searched by sequence: the place of a base, and the bases of a range.
//!
//! The names and lengths of records come from the table of records (`record_tables`). Finding a
//! place needs the layout of its block. Reading bases needs the slices that hold them.

use super::block_ranges;
use super::file_block::FileBlock;
use super::file_search::FileSearch;
use super::record_info::RecordInfo;
use super::record_tables::{have_names, headers_if_like};
use super::searched_block::SearchedBlock;
use super::sections::{Layouts, OUTSIDE, Section, SequenceSection, layout, sections};
use super::sequence_block::{CONTRADICTION, SequenceBlock};
use super::shared_input::SharedInput;
use crate::base::error::{Error, Flaw, Result};
use crate::engine::thread_pool;
use crate::filter::sequence::Base;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// The place of a byte of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Raw offset of the byte.
    pub offset: u64,
    /// If the byte is a base of a record: the number of the record in the file, and the number of
    /// the base in the record, both from 0.
    pub base: Option<(u64, u64)>,
}

impl FileSearch<'_> {
    /// The places of the bytes at some raw offsets.
    pub(crate) fn places(&mut self, offsets: &[u64]) -> Result<Vec<Place>> {
        self.with_sound_tables(|file| file.places_by_tables(offsets))
    }

    fn places_by_tables(&mut self, offsets: &[u64]) -> Result<Vec<Place>> {
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        sections
            .iter()
            .filter_map(Section::sequences)
            .try_for_each(SequenceSection::check)?;
        let mut before = Vec::new();
        let mut records = 0;
        for section in &sections {
            before.push(records);
            if let Some(last) = section
                .sequences()
                .and_then(|section| section.blocks.last())
            {
                let begin = layout(last, self.layouts)?.records() as u64;
                records += last.entry.map_or(0, |entry| entry.records_before) + begin;
            }
        }
        let mut place = |offset: u64| -> Result<Place> {
            let n = sections.partition_point(|section| section.raw_end() <= offset);
            let base = match sections.get(n).and_then(Section::sequences) {
                None => None,
                Some(section) => base(section, offset, self.layouts)?,
            };
            Ok(Place {
                offset,
                base: base.map(|(record, base)| (before[n] + record, base)),
            })
        };
        // In order of offset, so that each layout is read once.
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.par_sort_unstable_by_key(|&n| offsets[n]);
        let mut places = vec![
            Place {
                offset: 0,
                base: None
            };
            offsets.len()
        ];
        for n in order {
            places[n] = place(offsets[n])?;
        }
        Ok(places)
    }

    /// Returns the raw offset behind each stretch. A stretch is given by the raw offset of its
    /// start and its length. The length is a number of bases if a base is at the start; otherwise
    /// it is a number of bytes.
    pub(crate) fn ends(&mut self, stretches: &[(u64, u64)]) -> Result<Vec<u64>> {
        self.with_sound_tables(|file| file.ends_by_tables(stretches))
    }

    fn ends_by_tables(&mut self, stretches: &[(u64, u64)]) -> Result<Vec<u64>> {
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        sections
            .iter()
            .filter_map(Section::sequences)
            .try_for_each(SequenceSection::check)?;
        let mut ends: Vec<u64> = stretches
            .iter()
            .map(|(start, len)| start.saturating_add(*len))
            .collect();
        // In order of offset, so that each layout is read once. Collects the last base of each
        // stretch, by section.
        let mut order: Vec<usize> = (0..stretches.len())
            .filter(|&n| stretches[n].1 > 0)
            .collect();
        order.par_sort_unstable_by_key(|&n| stretches[n].0);
        let mut last = vec![(Vec::new(), Vec::new()); sections.len()];
        for n in order {
            let (start, len) = stretches[n];
            let of = sections.partition_point(|section| section.raw_end() <= start);
            let Some(section) = sections.get(of).and_then(Section::sequences) else {
                continue;
            };
            if let Some(position) = position(section, start, self.layouts)? {
                last[of].0.push(n);
                last[of].1.push(position.saturating_add(len - 1));
            }
        }
        for (section, (numbers, positions)) in sections.iter().zip(last) {
            let Some(section) = section.sequences() else {
                continue;
            };
            let mut offsets = [positions];
            section.raw_offsets(&mut offsets, self.layouts)?;
            for (n, offset) in numbers.into_iter().zip(&offsets[0]) {
                ends[n] = offset + 1;
            }
        }
        *self.cost += input.cost();
        Ok(ends)
    }

    /// Returns bases of records, as they are in the file. Returns `None` if a block contradicts one
    /// of the `unchecked` records. A block is opened once for all of them.
    pub(crate) fn bases(
        &mut self,
        wanted: &[(&RecordInfo, Range<u64>)],
        unchecked: &[&RecordInfo],
    ) -> Result<Option<Vec<Vec<u8>>>> {
        self.with_sound_tables(|file| file.bases_by_tables(wanted, unchecked))
    }

    fn bases_by_tables(
        &mut self,
        wanted: &[(&RecordInfo, Range<u64>)],
        unchecked: &[&RecordInfo],
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let mut size = 0;
        for (record, Range { start, end }) in wanted {
            if start > end || *end > record.length {
                let length = record.length;
                let what =
                    format!("bases {start}..{end} are not within the {length} of the record");
                return Err(Error::Usage(what.into()));
            }
            self.options
                .check_output(size, end - start, || "the regions".to_owned())?;
            size += end - start;
        }
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let pool = thread_pool::pool(self.options)?;
        let mut bases = vec![Vec::new(); wanted.len()];
        // For each record, its number in the next block and how many of its bases come before.
        let mut reached: Vec<_> = wanted
            .iter()
            .map(|(record, _)| (record.number, 0))
            .collect();
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        for section in &sections {
            let Section::Sequences(section) = section else {
                for block in section.blocks() {
                    check_ended(block.file(), wanted, &reached)?;
                }
                continue;
            };
            for block in &section.blocks {
                let here = unchecked
                    .iter()
                    .filter(|record| record.block == block.file.number);
                let here: Vec<&RecordInfo> = here.copied().collect();
                let Some(mut ranges) = headers_if_like(&here, block, self.layouts)? else {
                    return Ok(None);
                };
                // The records agree with the block, so their numbers are those of records in it.
                let pieces = pieces(block, wanted, &mut reached, self.layouts)?;
                ranges.extend(pieces.iter().map(|(_, range)| range.clone()));
                if ranges.is_empty() {
                    continue;
                }
                let mut texts = pool.install(|| block_ranges::texts(block, &ranges))?;
                let layout = layout(block, self.layouts)?;
                let bases_of = texts.split_off(here.len());
                if !have_names(&here, &texts, layout) {
                    return Ok(None);
                }
                for ((n, range), mut text) in pieces.into_iter().zip(bases_of) {
                    for small in layout.small(range.clone()) {
                        let small = small.start - range.start..small.end - range.start;
                        text[small].make_ascii_lowercase();
                    }
                    bases[n].append(&mut text);
                }
            }
        }
        *self.cost += input.cost();
        Ok(Some(bases))
    }
}

/// Returns true if bases of a range of a record are in a block or behind it. The bases from number
/// `start` on have not been reached before the block.
fn goes_on(file: &FileBlock, record: &RecordInfo, range: &Range<u64>, start: u64) -> bool {
    file.number >= record.block && start < range.end
}

/// Checks that no wanted range goes on in a block without sequences.
fn check_ended(
    file: &FileBlock,
    wanted: &[(&RecordInfo, Range<u64>)],
    reached: &[(usize, u64)],
) -> Result<()> {
    let mut all = wanted.iter().zip(reached);
    match all.any(|((record, range), (_, start))| goes_on(file, record, range, *start)) {
        true => Err(file.flaw(Flaw("the block has no sequences"))),
        false => Ok(()),
    }
}

/// Returns the parts of the wanted bases that are in a block: the number of the wanted range, and
/// the part's range in the text.
fn pieces(
    block: &SequenceBlock,
    wanted: &[(&RecordInfo, Range<u64>)],
    reached: &mut [(usize, u64)],
    layouts: &mut Layouts,
) -> Result<Vec<(usize, Range<usize>)>> {
    let mut pieces = Vec::new();
    for (n, ((record, range), (number, start))) in wanted.iter().zip(reached).enumerate() {
        if !goes_on(&block.file, record, range, *start) {
            continue;
        }
        let part = layout(block, layouts)?
            .record(*number)
            .ok_or_else(|| block.file.flaw(OUTSIDE))?;
        let end = *start + part.residues.len() as u64;
        let within = |base: u64| part.residues.start + (base.clamp(*start, end) - *start) as usize;
        let piece = within(range.start)..within(range.end);
        if !piece.is_empty() {
            pieces.push((n, piece));
        }
        (*number, *start) = (0, end);
    }
    Ok(pieces)
}

/// The record and the base at a raw offset of a section, both by number.
fn base(
    section: &SequenceSection,
    offset: u64,
    layouts: &mut Layouts,
) -> Result<Option<(u64, u64)>> {
    let n = section
        .blocks
        .partition_point(|block| block.file.info.raw.end <= offset);
    let Some(block) = section.blocks.get(n) else {
        return Ok(None);
    };
    let layout = layout(block, layouts)?;
    let position = layout.text_position((offset - block.file.info.raw.start) as usize);
    let Some(Base { record, offset }) = position.and_then(|at| layout.base(at)) else {
        return Ok(None);
    };
    let before = block
        .entry
        .map_or(0, |entry| entry.records_before);
    let number = (before + record as u64).checked_sub(1);
    let continued = if record == 0 { continued(block) } else { 0 };
    if continued > 0 {
        check_continued(section, n, layouts)?;
    }
    Ok(number.map(|number| (number, continued + offset as u64)))
}

/// The position in a section of the base at a raw offset.
fn position(section: &SequenceSection, offset: u64, layouts: &mut Layouts) -> Result<Option<u64>> {
    let n = section
        .blocks
        .partition_point(|block| block.file.info.raw.end <= offset);
    let Some(block) = section.blocks.get(n) else {
        return Ok(None);
    };
    let at = layout(block, layouts)?.text_position((offset - block.file.info.raw.start) as usize);
    Ok(at.map(|at| block.section_range().start + at as u64))
}

/// Compares the number of bases before block `n`, of the record that continues in it, with the
/// block before it.
fn check_continued(section: &SequenceSection, n: usize, layouts: &mut Layouts) -> Result<()> {
    let Some(before) = n.checked_sub(1).map(|n| &section.blocks[n]) else {
        return Err(section.blocks[n].file.flaw(CONTRADICTION));
    };
    let adds = before.contribution(layout(before, layouts)?);
    let earlier = if adds.records == 0 {
        continued(before)
    } else {
        0
    };
    match adds.of_last + earlier == continued(&section.blocks[n]) {
        true => Ok(()),
        false => Err(section.blocks[n].file.flaw(CONTRADICTION)),
    }
}

/// Number of bases before a block of the record that continues in it, according to the table.
fn continued(block: &SequenceBlock) -> u64 {
    block.entry.map_or(0, |entry| entry.continued)
}
