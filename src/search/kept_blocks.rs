//! Parts of blocks that stay in memory from one batch to the next: indexes of decoded blocks, and
//! decoded slices of blocks on disk. They take a share of the memory limit (`memory_policy`).

use super::loaded_index::LoadedIndex;
use super::memory_policy::{self, DENSE, PatternSymbols};
use super::slice_cache::SliceCache;
use crate::frame::contents::Contents;
use std::collections::BTreeMap;

/// Kept parts of the blocks of a file, by block number, and what was spent on the blocks.
pub(crate) struct KeptBlocks {
    /// Indexes of blocks in memory.
    indexes: BTreeMap<u64, LoadedIndex>,
    /// Decoded slices of blocks on disk.
    slices: BTreeMap<u64, SliceCache>,
    /// Estimated cost of all searches so far in each block on disk.
    spent: BTreeMap<u64, f64>,
    /// Number of steps that the text of each block in memory would have saved so far. `None` if
    /// adding the text failed.
    saved_by_text: BTreeMap<u64, Option<u64>>,
    /// Raw bytes of the file.
    raw_size: u64,
    /// Number of blocks of the file.
    blocks: u64,
    symbols: PatternSymbols,
    /// Memory budget for indexes, in bytes.
    budget: u64,
    /// Bytes of the budget not yet used.
    room: u64,
}

impl KeptBlocks {
    /// Keeps indexes of up to `budget` bytes.
    pub(crate) fn new(budget: u64) -> Self {
        KeptBlocks {
            indexes: BTreeMap::new(),
            slices: BTreeMap::new(),
            spent: BTreeMap::new(),
            saved_by_text: BTreeMap::new(),
            raw_size: u64::MAX,
            blocks: u64::MAX,
            symbols: PatternSymbols::default(),
            budget,
            room: budget,
        }
    }

    /// Announces patterns of `symbols` symbols in all.
    pub(crate) fn expect(&mut self, symbols: u64) {
        self.symbols.expected = symbols;
    }

    /// Records that patterns of `symbols` symbols have come for a file.
    pub(crate) fn have_come(&mut self, symbols: u64, file: &Contents) {
        self.symbols.come += symbols;
        self.raw_size = file.raw_size();
        self.blocks = file.blocks.len() as u64;
    }

    pub(crate) fn symbols(&self) -> PatternSymbols {
        self.symbols
    }

    /// Memory budget for indexes, in bytes.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Returns true if all decoded blocks of a file of `raw_size` bytes fit in the budget.
    pub(crate) fn hold_all(&self, raw_size: u64) -> bool {
        memory_policy::kept_size(raw_size) <= self.budget
    }

    /// Returns the estimated cost of all searches so far of a block on disk. Decoding the block now
    /// pays only if it can be kept, since otherwise each batch would decode it. If it cannot be
    /// kept, the cost is 0. If the expected patterns surely pay for decoding it, the cost is
    /// infinite.
    pub(crate) fn spent(&self, number: u64, size: usize) -> f64 {
        if memory_policy::kept_size(size as u64) > self.room {
            return 0.0;
        }
        match self.symbols.surely_pay(size as u64) {
            true => f64::INFINITY,
            false => self
                .spent
                .get(&number)
                .copied()
                .unwrap_or_default(),
        }
    }

    /// Takes the index of a block.
    pub(crate) fn take_index(&mut self, number: u64) -> Option<LoadedIndex> {
        let index = self.indexes.remove(&number)?;
        self.room += index.size() as u64;
        Some(index)
    }

    /// Keeps the index of a block if there is memory, with its text if that pays. In the last batch
    /// the text would have saved `saved` steps.
    pub(crate) fn keep_index(&mut self, number: u64, mut index: LoadedIndex, saved: u64) {
        let pays = self.text_pays(number, index.len(), saved);
        // The texts take at most a quarter of the memory beside all other blocks of the file, so
        // that the rest suffices to restore any block.
        let has_room = self.hold_all(self.raw_size) && memory_policy::holds_with_text(&index);
        // If adding the text fails, the index is used without it.
        if pays && has_room && index.add_text(DENSE).is_err() {
            self.saved_by_text.insert(number, None);
        }
        if let Some(left) = self.room.checked_sub(index.size() as u64) {
            self.room = left;
            self.indexes.insert(number, index);
        }
    }

    /// Adds up the steps that the text of a block would have saved: `saved` steps in this batch.
    /// Returns true if restoring the text, of `len` bytes, pays for the patterns still to come.
    fn text_pays(&mut self, number: u64, len: usize, saved: u64) -> bool {
        let Some(all) = self
            .saved_by_text
            .entry(number)
            .or_insert(Some(0))
        else {
            return false;
        };
        *all += saved;
        saved > 0 && memory_policy::text_pays(len as u64, *all, self.symbols)
    }

    /// Takes the decoded slices of a block on disk.
    pub(crate) fn take_slices(&mut self, number: u64) -> Option<SliceCache> {
        self.slices.remove(&number)
    }

    /// Keeps the decoded slices of a block on disk, as many as leave memory for those of all other
    /// blocks, and the cost of all work on the block. `together` blocks are searched at a time.
    /// `room` is the number of bytes for the slices of all blocks, kept or being searched.
    pub(crate) fn keep_slices(
        &mut self,
        number: u64,
        slices: SliceCache,
        spent: f64,
        together: usize,
        room: u64,
    ) {
        self.spent.insert(number, spent);
        let others = self.blocks.saturating_sub(1);
        let kept = match together as u64 >= self.blocks {
            true => room / self.blocks.max(1),
            // The next block that is searched needs as much memory as this one. The others share
            // the rest.
            false => (room.saturating_sub(slices.size()) / others).max(room / 2 / self.blocks),
        };
        let slices = slices.with_room(kept);
        if slices.size() > 0 {
            self.slices.insert(number, slices);
        }
    }

    /// Bytes of all kept slices.
    pub(crate) fn slices_size(&self) -> u64 {
        self.slices.values().map(SliceCache::size).sum()
    }

    /// Drops all kept slices.
    pub(crate) fn drop_slices(&mut self) {
        self.slices.clear();
    }

    /// Number of blocks in memory whose text is there too.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> usize {
        self.indexes
            .values()
            .filter(|index| index.size_with_text(DENSE).is_none())
            .count()
    }
}
