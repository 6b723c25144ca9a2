//! The parts of a file that are each searched as one text. A frame of sequences is one section,
//! searched by sequence. Consecutive other frames form one section, searched by their bytes.
//!
//! A position in a section counts the bytes of its blocks' searched texts, one after the other. It
//! starts from the raw offset at which the section begins. In a section searched by bytes, a
//! position is a raw offset. Sequences are no longer than the raw bytes that hold them, so
//! positions of different sections never coincide.

use super::byte_block::ByteBlock;
use super::file_block::FileBlock;
use super::searched_block::SearchedBlock;
use super::sequence_block::{CONTRADICTION, SequenceBlock, TableEntry};
use super::shared_input::SharedInput;
use crate::base::error::{Flaw, Result};
use crate::base::shortage;
use crate::engine::decode::SliceGpus;
use crate::filter::sequence::Layout;
use crate::frame::contents::{self, Contents};
use crate::frame::{BlockHeader, SequencesTable};
use crate::options::Options;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Blocks that are searched as one text.
pub(crate) enum Section<'a> {
    Bytes(Vec<ByteBlock<'a>>),
    Sequences(SequenceSection<'a>),
}

/// The blocks of a frame of sequences.
pub(crate) struct SequenceSection<'a> {
    pub blocks: Vec<SequenceBlock<'a>>,
}

/// Kept layouts may use 1/16 of the memory limit.
const LAYOUTS_SHARE: u64 = 16;

/// Bytes of memory per block that is searched, even if it is small: its information and its entry
/// in the tables of the file.
const OF_BLOCK: u64 = 1400;

/// Cache of the layouts of blocks, by block number, as far as there is memory. A caller that goes
/// through positions in order reads each layout once.
#[derive(Default)]
pub(crate) struct Layouts {
    all: HashMap<u64, Layout>,
    size: u64,
    /// The tables of sequences of all frames, restored from their blocks. Empty until a table of
    /// the file is found to contradict its blocks.
    pub restored: Vec<Option<SequencesTable>>,
    /// True if a table of records contradicts its blocks: names then come from the blocks.
    pub names_from_blocks: bool,
    /// True if all tables were compared with their blocks.
    pub are_tables_checked: bool,
}

impl Layouts {
    /// The layout of a block, if it is kept.
    pub(crate) fn kept(&self, number: u64) -> Option<&Layout> {
        self.all.get(&number)
    }

    /// Keeps a layout. Drops all others first if they do not fit in `most` bytes together.
    fn keep(&mut self, number: u64, layout: Layout, most: u64) {
        let size = layout.size() as u64;
        if self.size + size > most {
            self.all.clear();
            self.size = 0;
        }
        self.size += size;
        self.all.insert(number, layout);
    }
}

/// Returns the sections of a file. Reads no block but the last of each frame of sequences, whose
/// records the frame's table does not count.
pub(crate) fn sections<'a>(
    input: &'a SharedInput<'a>,
    contents: &'a Contents,
    options: &'a Options,
    layouts: &Layouts,
) -> Result<Vec<Section<'a>>> {
    contents.check_supported()?;
    let count = contents.blocks.len() as u64;
    shortage::check(
        count.saturating_mul(OF_BLOCK),
        options.memory_limit(),
        || format!("a search of {count} blocks"),
    )?;
    let mut all: Vec<Section> = Vec::new();
    let mut infos = (0..).zip(&contents.blocks);
    for (n, frame) in contents.frames.iter().enumerate() {
        let table = match layouts.restored.get(n) {
            Some(restored) => restored,
            None if frame.lacks_sequences => {
                return Err(CONTRADICTION.at(None, frame.coded.start));
            }
            None => &frame.sequences,
        };
        let blocks: Vec<FileBlock> = infos
            .by_ref()
            .take(frame.blocks as usize)
            .map(|(number, info)| FileBlock::new(input, info, number, options))
            .collect();
        if let Some(table) = table {
            let section = SequenceSection::new(blocks, table, frame.raw.start)?;
            all.push(Section::Sequences(section));
            continue;
        }
        let blocks = blocks.into_iter().map(|file| ByteBlock { file });
        match all.last_mut() {
            Some(Section::Bytes(before)) => before.extend(blocks),
            _ => all.push(Section::Bytes(blocks.collect())),
        }
    }
    Ok(all)
}

/// Checks that the headers of each frame's blocks agree with the stream checksum in its footer. A
/// search that reads all blocks does so; one that reads a few of them does not.
pub(crate) fn check_streams(
    input: &SharedInput,
    contents: &Contents,
    options: &Options,
) -> Result<()> {
    let mut infos = (0..).zip(&contents.blocks);
    for frame in &contents.frames {
        let headers: Vec<BlockHeader> = infos
            .by_ref()
            .take(frame.blocks as usize)
            .map(|(number, info)| FileBlock::new(input, info, number, options).header())
            .collect::<Result<_>>()?;
        contents::check_stream(frame, &headers)?;
    }
    Ok(())
}

impl<'a> Section<'a> {
    /// The section, if it is searched by sequence.
    pub(crate) fn sequences(&self) -> Option<&SequenceSection<'a>> {
        match self {
            Section::Bytes(_) => None,
            Section::Sequences(section) => Some(section),
        }
    }

    /// The blocks, in order.
    pub(crate) fn blocks(&self) -> Vec<&dyn SearchedBlock> {
        match self {
            Section::Bytes(blocks) => blocks.iter().map(|block| block as _).collect(),
            Section::Sequences(section) => section
                .blocks
                .iter()
                .map(|block| block as _)
                .collect(),
        }
    }

    /// Lets GPUs decode the blocks.
    pub(crate) fn set_decoders(&mut self, gpus: &Arc<SliceGpus>) {
        match self {
            Section::Bytes(blocks) => {
                blocks
                    .iter_mut()
                    .for_each(|block| block.file.gpus = Some(Arc::clone(gpus)));
            }
            Section::Sequences(SequenceSection { blocks }) => {
                blocks
                    .iter_mut()
                    .for_each(|block| block.file.gpus = Some(Arc::clone(gpus)));
            }
        }
    }

    /// Raw offset just behind the section.
    pub(crate) fn raw_end(&self) -> u64 {
        let last = match self {
            Section::Bytes(blocks) => blocks.last().map(|block| &block.file),
            Section::Sequences(section) => section.blocks.last().map(|block| &block.file),
        };
        last.map_or(0, |file| file.info.raw.end)
    }
}

impl<'a> SequenceSection<'a> {
    /// Makes the blocks of a frame a section, according to the frame's table. The section begins at
    /// `position`.
    fn new(files: Vec<FileBlock<'a>>, table: &SequencesTable, mut position: u64) -> Result<Self> {
        let mut blocks = Vec::with_capacity(files.len());
        for (n, file) in files.into_iter().enumerate() {
            let here = &table.blocks[n];
            let next = table.blocks.get(n + 1);
            let entry = TableEntry {
                records_before: here.records_before,
                continued: here.continued,
                records: next.map(|next| {
                    next.records_before
                        .saturating_sub(here.records_before)
                }),
                residues: here.residues,
            };
            let block = SequenceBlock::new(file, table.kind, here.start, Some(entry), position)?;
            position = block.section_range().end;
            blocks.push(block);
        }
        Ok(SequenceSection { blocks })
    }

    /// Compares the sizes of all blocks with the table. Its sums, which give positions and the
    /// numbers of records, are right only if all of its entries are.
    pub(crate) fn check(&self) -> Result<()> {
        self.blocks
            .iter()
            .try_for_each(SequenceBlock::check)
    }

    /// The block that holds a position.
    fn block_at(&self, position: u64) -> Option<&SequenceBlock<'a>> {
        let n = self
            .blocks
            .partition_point(|block| block.section_range().end <= position);
        self.blocks.get(n)
    }

    /// Replaces positions by raw offsets. Works in order of position, so that each layout is read
    /// once.
    pub(crate) fn raw_offsets(&self, all: &mut [Vec<u64>], layouts: &mut Layouts) -> Result<()> {
        let mut positions: Vec<&mut u64> = all.iter_mut().flatten().collect();
        positions.par_sort_unstable();
        for position in positions {
            let Some(block) = self.block_at(*position) else {
                continue;
            };
            let at = (*position - block.section_range().start) as usize;
            let offset = layout(block, layouts)?.raw_offset(at);
            let offset = offset.ok_or_else(|| block.file.flaw(OUTSIDE))?;
            *position = block.file.info.raw.start + offset as u64;
        }
        Ok(())
    }

    /// Returns the letters of `pattern`, by index, whose case differs from the text at `position`.
    pub(crate) fn case_differs(
        &self,
        pattern: &[u8],
        position: u64,
        layouts: &mut Layouts,
    ) -> Result<Vec<usize>> {
        let mut small = vec![false; pattern.len()];
        let end = position + pattern.len() as u64;
        let mut at = position;
        while at < end
            && let Some(block) = self.block_at(at)
        {
            let start = block.section_range().start;
            let to = end.min(block.section_range().end);
            let range = (at - start) as usize..(to - start) as usize;
            for stretch in layout(block, layouts)?.small(range.clone()) {
                let shift = (at - position) as usize;
                let from = stretch.start - range.start + shift;
                small[from..from + stretch.len()].fill(true);
            }
            at = to;
        }
        let pairs = pattern.iter().zip(small).enumerate();
        let differ = pairs
            .filter(|(_, (c, small))| c.is_ascii_alphabetic() && c.is_ascii_lowercase() != *small);
        Ok(differ.map(|(n, _)| n).collect())
    }
}

pub(crate) const OUTSIDE: Flaw = Flaw("the block's index finds sequences where it has none");

/// Returns the layout of a block. Reads it if it is not kept.
pub(crate) fn layout<'l>(block: &SequenceBlock, layouts: &'l mut Layouts) -> Result<&'l Layout> {
    let FileBlock {
        number, options, ..
    } = block.file;
    if !layouts.all.contains_key(&number) {
        let most = options.memory_limit() / LAYOUTS_SHARE;
        let read = block.layout()?;
        block.check_against_table(&read)?;
        layouts.keep(number, read, most);
    }
    Ok(&layouts.all[&number])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::sequence::{self, Kind, LineState};

    #[test]
    fn layouts_take_no_more_than_their_part_of_the_memory() {
        let (_, layout) =
            sequence::split(b">a\nACgt\nAC\n", Kind::Fasta, LineState::default()).unwrap();
        let size = layout.size() as u64;
        let mut layouts = Layouts::default();
        for number in 0..10 {
            layouts.keep(number, layout.clone(), 3 * size);
            assert!(layouts.size <= 3 * size && layouts.all.contains_key(&number));
            assert_eq!(layouts.size, size * layouts.all.len() as u64);
        }
        // The layout in use is kept, however large it is.
        layouts.keep(10, layout, 0);
        assert_eq!(layouts.all.len(), 1);
    }
}
