//! A fast check that no record has a given name, without reading all header lines.
//!
//! A header line is part of the text of its block. If the bytes of a name occur nowhere in that
//! text, no record of the block has the name; the block's index shows that with one search.

use super::block_ranges;
use super::file_search::FileSearch;
use super::sections::{Section, layout, sections};
use super::shared_input::SharedInput;
use crate::base::error::Result;
use crate::engine::thread_pool;
use crate::filter::sequence;
use std::sync::Mutex;

impl FileSearch<'_> {
    /// Returns true if certainly no record has any of these names. Searches the index of each
    /// block. The answer is false if a block has no index or ends within a header, or if a name is
    /// empty.
    pub(crate) fn are_absent(&mut self, names: &[&[u8]]) -> Result<bool> {
        self.with_sound_tables(|file| file.are_absent_by_index(names))
    }

    fn are_absent_by_index(&mut self, names: &[&[u8]]) -> Result<bool> {
        if self.options.verify || names.iter().any(|name| name.is_empty()) {
            return Ok(false);
        }
        let mapped: Vec<Vec<u8>> = names
            .iter()
            .map(|name| sequence::mapped(name))
            .collect();
        let pool = thread_pool::pool(self.options)?;
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        let by_sequence = sections.iter().filter_map(Section::sequences);
        let mut are_absent = true;
        for block in by_sequence.flat_map(|section| &section.blocks) {
            let is_torn = layout(block, self.layouts)?.ends_in_header(true);
            are_absent = !is_torn && pool.install(|| block_ranges::has_none(block, &mapped))?;
            if !are_absent {
                break;
            }
        }
        *self.cost += input.cost();
        Ok(are_absent)
    }
}
