//! The search for a batch of patterns in all blocks of a section, and the session that keeps
//! decoded blocks from one batch to the next.
//!
//! Blocks are opened in groups of as many as memory allows. After a group has been searched, its
//! indexes and decoded slices go back to the session if there is room for them.

use super::boundary_matches::{Boundaries, Edges};
use super::disk_batch;
use super::file_block::FileBlock;
use super::find_in_block::BlockSearch;
use super::letter_classes::BatchLetters;
use super::loaded_index::{GpuLease, LoadedIndex};
use super::search_cost::{self, SearchWork};
use super::search_results::BatchMatches;
use super::searched_block::{BlockJob, DENSE, SearchedBlock, room_for_slices};
use super::slice_cache::SliceCache;
use crate::base::error::Result;
use crate::engine::decode::SliceGpus;
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::engine::memory::Plan;
use crate::engine::thread_pool;
use crate::frame::EDGE;
use crate::frame::contents::Contents;
use crate::gpu;
use crate::options::Options;
use crate::options::events::Listener;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Maximum memory of a decoded block, in bytes per byte of the block.
const INDEX_SHARE: u64 = 4;

/// Minimum number of patterns whose lengths one thread adds up.
const PATTERNS: usize = 1 << 13;

/// The kept parts of a block: its index, or some of its slices.
type KeptBlock = (Option<LoadedIndex>, Option<SliceCache>);

/// State kept from one batch to the next: threads, GPUs, and decoded blocks if there is room.
pub struct Session {
    pub threads: Arc<ThreadPool>,
    /// GPUs that decode blocks.
    pub decoders: Arc<SliceGpus>,
    /// The GPU that searches blocks in memory.
    gpus: DevicePool<gpu::Searcher>,
    /// Hears one warning, about the first block that does not fit in memory.
    listener: Listener,
    /// Indexes of blocks in memory, by block number.
    indexes: BTreeMap<u64, LoadedIndex>,
    /// Decoded slices of blocks on disk, by block number.
    slices: BTreeMap<u64, SliceCache>,
    /// Estimated cost of all searches so far in each block on disk.
    spent: BTreeMap<u64, f64>,
    /// Number of steps that the text of each block in memory would have saved so far. `None` if
    /// adding the text failed.
    saved_by_text: BTreeMap<u64, Option<u64>>,
    /// Raw bytes of the file.
    of_all: u64,
    /// Number of blocks of the file.
    blocks: u64,
    /// Total symbols of all patterns that are expected, or 0 if that is not known.
    expected: u64,
    /// Symbols of the patterns that have come so far.
    come: u64,
    /// Memory budget for indexes of decoded blocks, in bytes.
    share: u64,
    /// Bytes of the budget not yet used.
    room: u64,
}

impl Session {
    /// Creates a session that keeps up to `share` bytes of decoded blocks.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU is asked for but this build has no CUDA.
    pub fn new(options: &Options, share: u64) -> Result<Self> {
        // Blocks take turns on one GPU.
        let opener = Opener::new(options.device, 1, 1, gpu::Searcher::new)?;
        let count = options.thread_count();
        let listener = options.run.listener.of_first_warning();
        let decoders = Arc::new(SliceGpus::new(options, listener.clone())?);
        let gpus = DevicePool::new(opener, Rates::SEARCH, count, listener);
        let threads = Arc::new(thread_pool::pool(options)?);
        Ok(Session {
            threads,
            decoders,
            gpus,
            listener: options.run.listener.of_first_warning(),
            indexes: BTreeMap::new(),
            slices: BTreeMap::new(),
            spent: BTreeMap::new(),
            saved_by_text: BTreeMap::new(),
            of_all: u64::MAX,
            blocks: u64::MAX,
            expected: 0,
            come: 0,
            share,
            room: share,
        })
    }

    /// Announces patterns of `symbols` symbols in all, for blocks of up to `largest` bytes. If no
    /// block will stay on disk, a GPU may be opened now.
    pub fn expect(&mut self, symbols: u64, largest: u64) {
        self.expected = symbols;
        if search_cost::surely_in_memory(symbols, largest) {
            self.gpus.expect(symbols);
        }
    }

    /// Records that patterns of `symbols` symbols have come for a file.
    pub fn have_come(&mut self, symbols: u64, file: &Contents) {
        self.come += symbols;
        self.of_all = file.raw_size();
        self.blocks = file.blocks.len() as u64;
    }

    /// Leases a GPU for patterns of `symbols` symbols, if that pays.
    fn lease(&self, symbols: u64, threads: usize) -> GpuLease<'_> {
        if symbols == 0 {
            return None;
        }
        self.gpus.expect(symbols);
        self.gpus.lease(symbols, threads)
    }

    /// Returns true if all decoded blocks of a file of `raw_size` bytes fit in the budget.
    pub fn keeps(&self, raw_size: u64) -> bool {
        raw_size.saturating_mul(INDEX_SHARE) <= self.share
    }

    /// Returns the estimated cost of all searches so far of a block on disk. Decoding the block now
    /// pays only if it can be kept, since otherwise each batch would decode it. If it cannot be
    /// kept, the cost is 0. If the expected patterns surely pay for decoding it, the cost is
    /// infinite.
    fn spent(&self, number: u64, size: usize) -> f64 {
        let can_be_kept = (size as u64).saturating_mul(INDEX_SHARE) <= self.room;
        if can_be_kept && search_cost::surely_in_memory(self.expected, size as u64) {
            return f64::INFINITY;
        }
        self.spent.get(&number).filter(|_| can_be_kept).copied().unwrap_or_default()
    }

    /// Number of blocks in memory whose text is there too.
    #[cfg(test)]
    pub fn texts(&self) -> usize {
        self.indexes.values().filter(|index| index.size_with_text(DENSE).is_none()).count()
    }

    /// Adds up the steps that the text of a block would have saved: `saved` steps in this batch.
    /// Returns true if restoring the text, of `len` bytes, pays for the patterns still to come.
    fn text_pays(&mut self, number: u64, len: usize, saved: u64) -> bool {
        let Some(all) = self.saved_by_text.entry(number).or_insert(Some(0)) else { return false };
        *all += saved;
        saved > 0 && search_cost::text_pays(len as u64, *all, self.come, self.expected)
    }

    fn keep(&mut self, number: u64, index: LoadedIndex) {
        if let Some(left) = self.room.checked_sub(index.size() as u64) {
            self.room = left;
            self.indexes.insert(number, index);
        }
    }

    /// Keeps the decoded slices of a block, as many as leave room for those of all other blocks.
    /// `together` blocks are searched at a time. `room` is the number of bytes for the slices of
    /// all blocks, kept or being searched.
    fn keep_slices(&mut self, number: u64, slices: SliceCache, together: usize, room: u64) {
        let others = self.blocks.saturating_sub(1);
        let kept = match together as u64 >= self.blocks {
            true => room / self.blocks.max(1),
            // The next block that is searched needs as much room as this one. The others share the
            // rest.
            false => (room.saturating_sub(slices.size()) / others).max(room / 2 / self.blocks),
        };
        let slices = slices.with_room(kept);
        if slices.size() > 0 {
            self.slices.insert(number, slices);
        }
    }

    /// Bytes of all kept slices.
    fn slices_size(&self) -> u64 {
        self.slices.values().map(SliceCache::size).sum()
    }

    fn take(&mut self, number: u64) -> Option<LoadedIndex> {
        let index = self.indexes.remove(&number)?;
        self.room += index.size() as u64;
        Some(index)
    }
}

/// Patterns that are searched together, none of them empty.
#[derive(Clone, Copy)]
pub struct Batch<'p> {
    pub patterns: &'p [&'p [u8]],
    /// Meaning of the patterns' letters, unless all letters stand for themselves.
    pub letters: Option<&'p BatchLetters>,
    /// Maximum number of positions of each pattern. `None` if the patterns are only counted.
    pub limit: Option<usize>,
    pub options: &'p Options,
}

/// Size of a batch.
#[derive(Clone, Copy)]
struct BatchSize {
    /// Symbols of all patterns.
    symbols: u64,
    /// Length of the longest pattern; 1 if the batch is empty.
    longest: usize,
}

impl Batch<'_> {
    /// Searches the blocks of a section. Positions are those in the section.
    pub fn run_section(
        &self,
        file_blocks: &[FileBlock],
        session: &mut Session,
    ) -> Result<BatchMatches> {
        let mut found = BatchMatches::none(self.patterns.len(), self.limit.is_some());
        let mut boundaries = Boundaries::new(self.patterns, self.letters, self.limit);
        let size = self.size();
        let reach = if file_blocks.len() > 1 { size.longest - 1 } else { 0 };
        for group in file_blocks.chunks(self.side_by_side(file_blocks, session)) {
            let limits = self.limits(&found.positions);
            let opened = self.open(group, size, reach, session)?;
            let held = found.positions.par_iter().map(|positions| positions.len() as u64).sum();
            let search = BlockSearch {
                patterns: self.patterns,
                letters: self.letters,
                limits: limits.as_deref(),
                held,
                side_by_side: group.len() as u64,
                listener: &session.listener,
            };
            let searched = self.find(opened, group, &search, size.symbols, reach, session)?;
            for (searched, file_block) in searched.into_iter().zip(group) {
                let saved_by_text = searched.saved_by_text;
                self.gather(&mut found, searched.found, file_block.searched.start);
                boundaries.add(searched.edges)?;
                match searched.block {
                    SearchedBlock::InMemory(index) => {
                        let index = self.with_text(index, file_block, saved_by_text, session);
                        session.keep(file_block.number, index);
                    }
                    SearchedBlock::OnDisk(block, spent) => {
                        let number = file_block.number;
                        let room = self.room(session);
                        session.spent.insert(number, spent);
                        session.keep_slices(number, block.into_slices(), group.len(), room);
                    }
                    SearchedBlock::Plain(_) => {}
                }
            }
        }
        for (n, across) in boundaries.finish()? {
            found.counts[n] += across.count;
            if let Some(positions) = found.positions.get_mut(n) {
                positions.extend(across.positions);
            }
        }
        // Matches across boundaries come between those in blocks.
        found.positions.par_iter_mut().for_each(|positions| {
            positions.sort_unstable();
            positions.truncate(self.limit.unwrap_or(0));
        });
        Ok(found)
    }

    /// Symbols of all patterns.
    pub fn symbols(&self) -> u64 {
        self.size().symbols
    }

    fn size(&self) -> BatchSize {
        let none = || BatchSize { symbols: 0, longest: 1 };
        let of = self.patterns.par_iter().with_min_len(PATTERNS);
        let of = of.map(|p| BatchSize { symbols: p.len() as u64, longest: p.len() });
        of.reduce(none, |a, b| BatchSize {
            symbols: a.symbols + b.symbols,
            longest: a.longest.max(b.longest),
        })
    }

    /// Opens blocks side by side, reusing those that were kept. Matches may reach up to `reach`
    /// bytes beyond a block.
    fn open<'a>(
        &self,
        group: &'a [FileBlock<'a>],
        size: BatchSize,
        reach: usize,
        session: &mut Session,
    ) -> Result<Vec<SearchedBlock<'a>>> {
        let kept: Vec<_> = group.iter().map(|file_block| session.take(file_block.number)).collect();
        let slices = group.iter().map(|file_block| session.slices.remove(&file_block.number));
        let slices: Vec<_> = slices.collect();
        self.leave_room_for(group, session);
        let together = disk_batch::together(self.options.memory_limit());
        let batches = self.patterns.len().div_ceil(together) as u64;
        let room = self.room(session).saturating_sub(session.slices_size()) / group.len() as u64;
        let queries = 2 * size.symbols;
        let rounds = batches * size.longest as u64;
        let open = |((kept, slices), file_block): (KeptBlock, &'a FileBlock<'a>)| {
            let edge = file_block.searched_size().min(reach);
            // The index stores `EDGE` bytes at each end of a block. Longer edges take two walks.
            let walks = if edge > EDGE { 2 } else { 0 };
            let work = SearchWork { queries, rounds, serial: walks * edge as u64, walks };
            let spent = session.spent(file_block.number, file_block.searched_size());
            let listener = Some(&session.listener);
            match kept {
                Some(index) => Ok(SearchedBlock::InMemory(index)),
                None => {
                    let job = BlockJob { work, spent, room, listener };
                    let opened = SearchedBlock::open(file_block, job)?;
                    Ok(match slices {
                        Some(slices) => opened.with_slices(slices),
                        None => opened,
                    })
                }
            }
        };
        kept.into_par_iter().zip(slices).zip(group).map(open).collect()
    }

    /// Drops all kept slices if some block can be decoded only without them.
    fn leave_room_for(&self, group: &[FileBlock], session: &mut Session) {
        let kept = session.slices_size();
        let fits = |file_block: &FileBlock, memory| {
            let mut allowed = self.options.allowance();
            allowed.memory = memory;
            Plan::to_index(file_block.header.raw_size, allowed).is_ok()
        };
        let memory = self.options.allowance().memory;
        let is_in_want =
            |of: &FileBlock| fits(of, memory) && !fits(of, memory.saturating_sub(kept));
        if kept > 0 && group.iter().any(is_in_want) {
            session.slices.clear();
        }
    }

    /// Bytes for the decoded slices of all blocks on disk.
    fn room(&self, session: &Session) -> u64 {
        room_for_slices(self.memory(session))
    }

    /// Searches opened blocks: side by side on the CPU, or one after the other on a GPU. For a GPU
    /// all threads pack the patterns.
    fn find<'a>(
        &self,
        opened: Vec<SearchedBlock<'a>>,
        group: &'a [FileBlock<'a>],
        search: &BlockSearch,
        symbols: u64,
        reach: usize,
        session: &Session,
    ) -> Result<Vec<Searched<'a>>> {
        let one = |block: SearchedBlock<'a>, file_block, lease: &mut GpuLease| {
            let (block, found) = block.find(file_block, search, lease)?;
            let len = file_block.searched_size();
            let edge = len.min(reach);
            let head = block.extract(0..edge)?;
            let tail = block.extract(len - edge..len)?;
            let edges = Edges { head, tail, end: file_block.searched.end };
            let by_cpu = search.limits.is_none() && lease.is_none();
            let saved_by_text = if by_cpu { self.saved_by_text(&found.counts) } else { 0 };
            Ok(Searched { block, found, edges, saved_by_text })
        };
        let in_memory = |block: &&SearchedBlock| matches!(block, SearchedBlock::InMemory(_));
        let in_memory = opened.iter().filter(in_memory).count() as u64;
        let symbols = in_memory * symbols;
        let threads = self.options.thread_count();
        let mut lease = session.lease(symbols, threads);
        if lease.is_some() {
            let blocks = opened.into_iter().zip(group);
            return blocks.map(|(block, of)| one(block, of, &mut lease)).collect();
        }
        let from = Instant::now();
        let blocks = opened.into_par_iter().zip(group);
        let searched = blocks.map(|(block, of)| one(block, of, &mut None)).collect();
        if symbols > 0 {
            session.gpus.done_on_cpu(symbols, threads, from.elapsed());
        }
        searched
    }

    /// Adds the text to the index of a block if that pays for the patterns still to come and there
    /// is room. In this batch the text would have saved `saved` steps. If adding it fails, the
    /// index is used without it.
    fn with_text(
        &self,
        mut index: LoadedIndex,
        file_block: &FileBlock,
        saved: u64,
        session: &mut Session,
    ) -> LoadedIndex {
        let number = file_block.number;
        let pays = session.text_pays(number, index.len(), saved);
        if pays && Self::has_room(&index, session) && index.add_text(DENSE).is_err() {
            session.saved_by_text.insert(number, None);
        }
        index
    }

    /// Returns true if there is room to keep the text of a block beside those of all other blocks
    /// of the file. The texts take at most a quarter of the memory, and the rest suffices to
    /// restore any block.
    fn has_room(index: &LoadedIndex, session: &Session) -> bool {
        let len = index.len() as u64;
        let kept = |size: usize| size as u64 <= len.saturating_mul(INDEX_SHARE);
        session.keeps(session.of_all) && index.size_with_text(DENSE).is_some_and(kept)
    }

    /// Number of steps that the text of a block would have saved, given the count of each pattern
    /// in it.
    fn saved_by_text(&self, counts: &[u64]) -> u64 {
        let found = self.patterns.par_iter().zip(counts).with_min_len(PATTERNS);
        found.map(|(pattern, &count)| search_cost::saved_by_text(pattern, count)).sum()
    }

    /// Memory limit without the budget for kept blocks, in bytes.
    fn memory(&self, session: &Session) -> u64 {
        self.options.memory_limit().saturating_sub(session.share)
    }

    /// Number of blocks that memory allows at a time. It is 1 even if memory does not allow one,
    /// since a block is refused only when it must be decoded.
    fn side_by_side(&self, blocks: &[FileBlock], session: &Session) -> usize {
        let size = |block: &FileBlock| block.info.raw.end - block.info.raw.start;
        let largest = blocks.iter().map(size).max();
        let mut allowed = self.options.allowance();
        allowed.memory = self.memory(session);
        Plan::to_decode(largest.unwrap_or(0), allowed).map_or(1, |plan| plan.workers)
    }

    /// Number of positions of each pattern that are still to be located.
    fn limits(&self, found: &[Vec<u64>]) -> Option<Vec<usize>> {
        let limit = self.limit?;
        Some(found.iter().map(|positions| limit - positions.len()).collect())
    }

    /// Adds the matches of a block that starts at position `start`.
    fn gather(&self, found: &mut BatchMatches, block: BatchMatches, start: u64) {
        let counts = found.counts.par_iter_mut().zip(block.counts);
        counts.for_each(|(count, more)| *count += more);
        for (positions, found) in found.positions.iter_mut().zip(block.positions) {
            let more = self.limit.unwrap_or(0) - positions.len();
            let mut found = found;
            found.truncate(more);
            found.iter_mut().for_each(|pos| *pos += start);
            if positions.is_empty() { *positions = found } else { positions.append(&mut found) }
        }
    }
}

/// A block after its search, with its matches.
struct Searched<'a> {
    block: SearchedBlock<'a>,
    found: BatchMatches,
    edges: Edges,
    /// Number of steps that the block's text would have saved.
    saved_by_text: u64,
}
