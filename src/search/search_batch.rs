//! Patterns that are searched together, block after block, and what is kept for those that come
//! next.

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
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::engine::memory::Plan;
use crate::engine::sorters::SliceGpus;
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

/// Bytes that a decoded block takes per byte of its own at most.
const INDEX_SHARE: u64 = 4;

/// Patterns whose lengths one thread looks at together at least.
const PATTERNS: usize = 1 << 13;

/// What is kept of a block: its index, or slices of it.
type KeptBlock = (Option<LoadedIndex>, Option<SliceCache>);

/// What is kept from one batch to the next: threads, the GPU, and decoded blocks as far as there is
/// room.
pub struct Session {
    pub threads: Arc<ThreadPool>,
    /// Those that decode blocks, and the one that searches them.
    pub decoders: Arc<SliceGpus>,
    gpus: DevicePool<gpu::Searcher>,
    /// Of the first block that the memory does not do for.
    listener: Listener,
    indexes: BTreeMap<u64, LoadedIndex>,
    /// Decoded slices of blocks that stayed on disk.
    slices: BTreeMap<u64, SliceCache>,
    /// What searches of blocks that stayed on disk were thought to cost so far.
    spent: BTreeMap<u64, f64>,
    /// Steps that the texts of blocks in memory would have saved so far; `None` where a text could
    /// not be had.
    saved_by_text: BTreeMap<u64, Option<u64>>,
    /// Raw bytes of the file.
    of_all: u64,
    /// Its blocks.
    blocks: u64,
    /// Symbols of patterns that will come in all, as far as that was said, and that came.
    expected: u64,
    come: u64,
    /// Bytes for these, and how many are left.
    share: u64,
    room: u64,
}

impl Session {
    /// Keeps up to `share` bytes of decoded blocks.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where a GPU is asked for that this build has no CUDA
    /// for.
    pub fn new(options: &Options, share: u64) -> Result<Self> {
        // Blocks take turns on a GPU, so that one is enough.
        let opener = Opener::new(options.device, 1, 1, gpu::Searcher::new)?;
        let count = options.thread_count();
        let listener = options.listener.of_first_warning();
        let decoders = Arc::new(SliceGpus::new(options, listener.clone())?);
        let gpus = DevicePool::new(opener, Rates::SEARCH, count, listener);
        let threads = Arc::new(thread_pool::pool(options)?);
        Ok(Session {
            threads,
            decoders,
            gpus,
            listener: options.listener.of_first_warning(),
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

    /// So many symbols of patterns will come for blocks of up to so many bytes: a GPU may be opened
    /// already where no block will stay on disk.
    pub fn expect(&mut self, symbols: u64, largest: u64) {
        self.expected = symbols;
        if search_cost::surely_in_memory(symbols, largest) {
            self.gpus.expect(symbols);
        }
    }

    /// Patterns of so many symbols have come for a file.
    pub fn have_come(&mut self, symbols: u64, file: &Contents) {
        self.come += symbols;
        self.of_all = file.raw_size();
        self.blocks = file.blocks.len() as u64;
    }

    /// Leases a GPU for so many symbols of patterns, if that pays.
    fn lease(&self, symbols: u64, threads: usize) -> GpuLease<'_> {
        if symbols == 0 {
            return None;
        }
        self.gpus.expect(symbols);
        self.gpus.lease(symbols, threads)
    }

    /// Whether there is room for all decoded blocks of so many bytes.
    pub fn keeps(&self, raw_size: u64) -> bool {
        raw_size.saturating_mul(INDEX_SHARE) <= self.share
    }

    /// What searches of a block on disk were thought to cost so far, if that may pay for decoding
    /// it now: one that cannot be kept would be decoded for each batch. It is beyond all bounds
    /// where what is still to come surely pays.
    fn spent(&self, number: u64, size: usize) -> f64 {
        let can_be_kept = (size as u64).saturating_mul(INDEX_SHARE) <= self.room;
        if can_be_kept && search_cost::surely_in_memory(self.expected, size as u64) {
            return f64::INFINITY;
        }
        self.spent.get(&number).filter(|_| can_be_kept).copied().unwrap_or_default()
    }

    /// Blocks in memory of which the text is there too.
    #[cfg(test)]
    pub fn texts(&self) -> usize {
        self.indexes.values().filter(|index| index.size_with_text(DENSE).is_none()).count()
    }

    /// Whether the text of a block of so many bytes pays for what comes: in this batch it would
    /// have saved so many steps.
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

    /// Keeps the decoded slices of a block, as many as leave room for those of all others. So many
    /// blocks are searched at a time, in `room` for the slices of all that are kept and searched.
    fn keep_slices(&mut self, number: u64, slices: SliceCache, together: usize, room: u64) {
        let others = self.blocks.saturating_sub(1);
        let kept = match together as u64 >= self.blocks {
            true => room / self.blocks.max(1),
            // One that is searched has the room that all others leave, and needs as much as this.
            false => (room.saturating_sub(slices.size()) / others).max(room / 2 / self.blocks),
        };
        let slices = slices.with_room(kept);
        if slices.size() > 0 {
            self.slices.insert(number, slices);
        }
    }

    /// Bytes of the slices that are kept.
    fn slices_size(&self) -> u64 {
        self.slices.values().map(SliceCache::size).sum()
    }

    fn take(&mut self, number: u64) -> Option<LoadedIndex> {
        let index = self.indexes.remove(&number)?;
        self.room += index.size() as u64;
        Some(index)
    }
}

/// Patterns, none of them empty, that are searched together.
#[derive(Clone, Copy)]
pub struct Batch<'p> {
    pub patterns: &'p [&'p [u8]],
    /// Meaning of their letters, unless they stand for themselves.
    pub letters: Option<&'p BatchLetters>,
    pub limit: Option<usize>,
    pub options: &'p Options,
}

/// How many symbols a batch has, and its longest pattern; one of an empty batch.
#[derive(Clone, Copy)]
struct BatchSize {
    symbols: u64,
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
        // Those across boundaries stand between those in blocks.
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

    /// Opens blocks side by side, but takes those that were kept. Matches may reach so many bytes
    /// beyond a block.
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
            // The index knows the ends of a block as far as this; what is longer takes two walks.
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

    /// Drops slices that are kept where blocks could be decoded without them alone.
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

    /// Bytes for all decoded slices of blocks that stay on disk.
    fn room(&self, session: &Session) -> u64 {
        room_for_slices(self.memory(session))
    }

    /// Searches opened blocks: side by side on the CPU, one after the other on a GPU, for which all
    /// threads pack the patterns.
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

    /// The index of a block with its text, where that pays for what comes, and there is room: in
    /// this batch it would have saved so many steps. Where it fails, the steps go on.
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

    /// Whether there is room to keep the text of a block beside those of all other blocks of the
    /// file. That is a quarter of the memory at most: the rest does to restore any of them.
    fn has_room(index: &LoadedIndex, session: &Session) -> bool {
        let len = index.len() as u64;
        let kept = |size: usize| size as u64 <= len.saturating_mul(INDEX_SHARE);
        session.keeps(session.of_all) && index.size_with_text(DENSE).is_some_and(kept)
    }

    /// Steps that the text of a block would have saved where patterns occur so often.
    fn saved_by_text(&self, counts: &[u64]) -> u64 {
        let found = self.patterns.par_iter().zip(counts).with_min_len(PATTERNS);
        found.map(|(pattern, &count)| search_cost::saved_by_text(pattern, count)).sum()
    }

    /// The memory that is not for decoded blocks which are kept.
    fn memory(&self, session: &Session) -> u64 {
        self.options.memory_limit().saturating_sub(session.share)
    }

    /// How many blocks the memory allows at a time. One that it does not allow at all is refused
    /// only if it must be decoded.
    fn side_by_side(&self, blocks: &[FileBlock], session: &Session) -> usize {
        let size = |block: &FileBlock| block.info.raw.end - block.info.raw.start;
        let largest = blocks.iter().map(size).max();
        let mut allowed = self.options.allowance();
        allowed.memory = self.memory(session);
        Plan::to_decode(largest.unwrap_or(0), allowed).map_or(1, |plan| plan.workers)
    }

    /// How many occurrences of each pattern are still to be located.
    fn limits(&self, found: &[Vec<u64>]) -> Option<Vec<usize>> {
        let limit = self.limit?;
        Some(found.iter().map(|positions| limit - positions.len()).collect())
    }

    /// Adds what one block came to.
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

/// A block after its search, and what was found in it.
struct Searched<'a> {
    block: SearchedBlock<'a>,
    found: BatchMatches,
    edges: Edges,
    /// Steps that its text would have saved.
    saved_by_text: u64,
}
