//! The parts of a file that are searched each as one text: a frame of sequences by its sequences,
//! all other frames that follow each other by their bytes.
//!
//! A position in a section counts in the searched texts of its blocks, one behind the other, from
//! the raw offset at which the section begins. For bytes it is a raw offset. Sequences are no
//! longer than the raw bytes that they stand in, so positions of sections do not meet.

use super::file_block::FileBlock;
use super::shared_input::SharedInput;
use crate::base::error::Error;
use crate::base::error::{Flaw, Result};
use crate::base::shortage;
use crate::engine::sorters::SliceGpus;
use crate::filter::sequence::Layout;
use crate::frame::SequencesTable;
use crate::frame::contents::{self, Contents};
use crate::options::Options;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Blocks that are searched as one text.
pub(crate) struct Section<'a> {
    pub blocks: Vec<FileBlock<'a>>,
    /// Whether it is searched by sequence.
    pub by_sequence: bool,
}

/// Layouts take up to one part of so many of the memory.
const LAYOUTS_SHARE: u64 = 16;

/// Bytes of memory for a block that is searched, however small it is: what is known of it, and
/// where it stands in the file.
const OF_BLOCK: u64 = 1400;

/// The layouts of blocks, by their numbers, as far as there is room: whoever goes from block to
/// block reads each once.
#[derive(Default)]
pub(crate) struct Layouts {
    all: HashMap<u64, Layout>,
    size: u64,
    /// The tables of sequences of all frames as their blocks have them, once a table of the file
    /// was found to contradict its blocks.
    pub restored: Vec<Option<SequencesTable>>,
    /// A table of records was found to contradict its blocks: names come from these.
    pub names_from_blocks: bool,
    /// All tables were compared with their blocks.
    pub are_tables_checked: bool,
}

impl Layouts {
    /// The layout of a block, if it is kept.
    pub fn kept(&self, number: u64) -> Option<&Layout> {
        self.all.get(&number)
    }

    /// Keeps a layout, and no others if all do not fit into `most` bytes.
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

/// The sections of a file. It is checked that the blocks of each frame make up the stream whose
/// checksum its footer has, as far as their headers tell.
pub(crate) fn sections<'a>(
    input: &'a SharedInput<'a>,
    contents: &'a Contents,
    options: &'a Options,
    layouts: &Layouts,
) -> Result<Vec<Section<'a>>> {
    let count = contents.blocks.len() as u64;
    shortage::check(count.saturating_mul(OF_BLOCK), options.memory_limit(), || {
        format!("a search of {count} blocks")
    })?;
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
        let mut blocks = infos
            .by_ref()
            .take(frame.blocks as usize)
            .map(|(number, info)| FileBlock::new(input, info, number, options))
            .collect::<Result<Vec<_>>>()?;
        contents::check_stream(frame, blocks.iter().map(|block| &block.header))?;
        let mut position = frame.raw.start;
        for (n, block) in blocks.iter_mut().enumerate() {
            if let Some(sequences) = table {
                let here = &sequences.blocks[n];
                let records = sequences
                    .blocks
                    .get(n + 1)
                    .map(|next| next.records_before.saturating_sub(here.records_before));
                let size = records.map(|records| here.residues.saturating_add(records));
                position = block.search_sequences(sequences.kind, here.start, size, position)?;
                block.records_before = Some(here.records_before);
                block.continued = here.continued;
                block.adds = Some((records, here.residues));
            }
        }
        match (all.last_mut(), table) {
            (Some(Section { by_sequence: false, blocks: before }), None) => before.extend(blocks),
            (_, sequences) => all.push(Section { blocks, by_sequence: sequences.is_some() }),
        }
    }
    Ok(all)
}

impl Section<'_> {
    /// The same, with blocks that are decoded on GPUs.
    pub fn decoded_by(mut self, gpus: &Arc<SliceGpus>) -> Self {
        self.blocks.iter_mut().for_each(|block| block.gpus = Some(Arc::clone(gpus)));
        self
    }

    /// The raw offset behind it.
    pub fn raw_end(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.info.raw.end)
    }

    /// The block that holds a position.
    fn block_at(&self, position: u64) -> Option<&FileBlock<'_>> {
        let n = self.blocks.partition_point(|block| block.searched.end <= position);
        self.blocks.get(n)
    }

    /// Makes raw offsets of positions, from block to block.
    pub fn raw_offsets(&self, all: &mut [Vec<u64>], layouts: &mut Layouts) -> Result<()> {
        let mut positions: Vec<&mut u64> = all.iter_mut().flatten().collect();
        positions.par_sort_unstable();
        for position in positions {
            let Some(block) = self.block_at(*position).filter(|_| self.by_sequence) else {
                continue;
            };
            let at = (*position - block.searched.start) as usize;
            let offset = layout(block, layouts)?.raw_offset(at);
            let offset = offset.ok_or_else(|| block.flaw(OUTSIDE))?;
            *position = block.info.raw.start + offset as u64;
        }
        Ok(())
    }

    /// The letters of `pattern` that are of another case where it was found.
    pub fn case_differs(
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
            let start = block.searched.start;
            let to = end.min(block.searched.end);
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

/// The flaw of a table of sequences that is not that of the blocks.
pub(crate) const CONTRADICTION: Flaw =
    Flaw("the block's sequences are not those of the frame's table");

/// True if an error is that a table contradicts its blocks.
pub(crate) fn is_contradiction(error: &Error) -> bool {
    matches!(error, Error::Format { what, .. } if *what == CONTRADICTION.0)
}

pub(crate) const OUTSIDE: Flaw = Flaw("the block's index finds sequences where it has none");

/// The layout of a block, which is read if it is not kept.
pub(crate) fn layout<'l>(block: &FileBlock, layouts: &'l mut Layouts) -> Result<&'l Layout> {
    if !layouts.all.contains_key(&block.number) {
        let most = block.options.memory_limit() / LAYOUTS_SHARE;
        let read = block.layout()?;
        block.check_against_table(&read)?;
        layouts.keep(block.number, read, most);
    }
    Ok(&layouts.all[&block.number])
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
        // The one that is in use is kept, however large.
        layouts.keep(10, layout, 0);
        assert_eq!(layouts.all.len(), 1);
    }
}
