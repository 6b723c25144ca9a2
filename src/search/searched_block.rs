//! One block as a search takes it: on disk, in memory as an FM-index, or, where it was stored or
//! has filters, as plain bytes.
//!
//! Single patterns on an indexed block decode the few segments that they need. As soon as a batch
//! would decode about as many as there are, or the block has no index, it is cheaper to decode all
//! of them at once and to search in memory. A block that is decoded is checked as when it is
//! restored, which takes restoring it: its samples and its index are believed after that.

use super::disk_block::DiskBlock;
use super::search_device::SearchDevice;
use super::shared_input::SharedInput;
use crate::block::{self, Decoded};
use crate::bwt::{self, Bwt, InverseBwt, Sorter};
use crate::contents::{self, BlockInfo};
use crate::error::{Error, Flaw, Result};
use crate::fm_index::FmIndex;
use crate::frame::{BlockHeader, Kind};
use crate::options::Options;
use memchr::memmem;
use rayon::prelude::*;
use std::io::{Read, Seek};
use std::ops::Range;

/// The sample rate that locating many positions in memory works with.
const DENSE: u32 = 8;

/// Patterns from which sorting plain bytes is faster than looking for each in it.
const MANY: usize = 200;

/// The matches of patterns in one block.
#[derive(Debug, Default)]
pub struct Found {
    /// Of each pattern, how often it occurs.
    pub counts: Vec<u32>,
    /// Of each pattern, positions in the block, as many as were asked for; nothing if only counts
    /// were.
    pub positions: Vec<Vec<u32>>,
}

/// A block that is ready for search.
pub(crate) enum SearchedBlock<'a, R> {
    OnDisk(Box<DiskBlock<'a, R>>),
    InMemory(Box<FmIndex>),
    Plain(Vec<u8>),
}

/// Where a block comes from, and what it may cost.
pub(crate) struct Origin<'a, R> {
    pub input: &'a SharedInput<R>,
    pub info: &'a BlockInfo,
    pub header: BlockHeader,
    pub number: u64,
    pub options: &'a Options,
}

impl<'a, R: Read + Seek + Send> Origin<'a, R> {
    /// Reads the header of block `number`.
    pub fn new(
        input: &'a SharedInput<R>,
        info: &'a BlockInfo,
        number: u64,
        options: &'a Options,
    ) -> Result<Self> {
        let header = input
            .with_input(|input| contents::read_block_header(input, info))
            .map_err(|e| e.at(number, info.coded.start))?;
        Ok(Origin { input, info, header, number, options })
    }

    /// Bytes of the block.
    pub fn len(&self) -> usize {
        (self.info.raw.end - self.info.raw.start) as usize
    }

    /// Says of an error which block it is in.
    pub fn locate(&self, error: Error) -> Error {
        error.at(self.number, self.info.coded.start)
    }

    /// The error for a flaw of the block.
    pub fn flaw(&self, flaw: Flaw) -> Error {
        flaw.at(Some(self.number), self.info.coded.start)
    }

    /// Opens the block for a job of about so many steps, and walks from samples.
    pub fn open(&'a self, steps: u64, walks: u64) -> Result<SearchedBlock<'a, R>> {
        match self.open_on_disk(steps, walks)? {
            Some(block) => Ok(SearchedBlock::OnDisk(Box::new(block))),
            None => self.load(),
        }
    }

    /// The block as it stands in the file, if it has an index that may be believed, and the job
    /// decodes fewer segments than it has.
    fn open_on_disk(&'a self, steps: u64, walks: u64) -> Result<Option<DiskBlock<'a, R>>> {
        if let Kind::Bwt(shape) = self.header.kind
            && shape.indexed
            && !self.options.verifies()
            && 2 * steps + (walks << shape.sample_rate_log)
                <= shape.segments(self.header.raw_size) as u64
        {
            return DiskBlock::open(self, shape).map(Some);
        }
        Ok(None)
    }

    /// Decodes the whole block for search, and checks it.
    fn load(&self) -> Result<SearchedBlock<'a, R>> {
        let decoded = self.decode()?;
        let searchable = decoded.bwt_of_raw().map(copy).transpose()?;
        let raw = block::restore_decoded(decoded, &InverseBwt::new())?;
        let Some(bwt) = searchable else {
            return Ok(SearchedBlock::Plain(raw));
        };
        drop(raw);
        let index = FmIndex::new(bwt).map_err(|e| self.locate(e))?;
        Ok(SearchedBlock::InMemory(Box::new(index)))
    }

    /// Some ranges of the block's bytes.
    pub fn extract(&self, ranges: &[(usize, Range<usize>)]) -> Result<Vec<Vec<u8>>> {
        let steps = ranges.iter().map(|(_, range)| range.len() as u64).sum();
        match self.open_on_disk(steps, ranges.len() as u64)? {
            Some(block) => ranges.iter().map(|(_, range)| block.extract(range.clone())).collect(),
            None => {
                let raw = block::restore_decoded(self.decode()?, &InverseBwt::new())?;
                Ok(ranges.iter().map(|(_, range)| raw[range.clone()].to_vec()).collect())
            }
        }
    }

    fn decode(&self) -> Result<Decoded> {
        let plan = self.options.plan_to_decode(self.len() as u32);
        let plan = plan.map_err(|e| self.locate(e))?;
        let block =
            self.input.with_input(|input| contents::read_block(input, self.info, self.number))?;
        self.input.block_decoded(self.info.coded.end - self.info.coded.start);
        block::decode(block, &plan)
    }
}

impl<'a, R: Read + Seek + Send> SearchedBlock<'a, R> {
    /// Counts each pattern, of which none is empty; with limits, also locates as many occurrences
    /// of each as its limit says.
    pub fn find<P: AsRef<[u8]> + Sync>(
        self,
        origin: &'a Origin<'a, R>,
        patterns: &[P],
        limits: Option<&[usize]>,
        device: &mut SearchDevice,
    ) -> Result<(Self, Found)> {
        let intervals = match &self {
            SearchedBlock::Plain(raw) if patterns.len() < MANY => {
                let found = scan(raw, patterns, limits);
                return Ok((self, found));
            }
            SearchedBlock::Plain(raw) => {
                let bwt = Sorter::Cpu.sort(raw, bwt::sample_rate(raw.len()))?;
                let index = Box::new(FmIndex::new(bwt)?);
                return SearchedBlock::InMemory(index).find(origin, patterns, limits, device);
            }
            SearchedBlock::InMemory(index) => {
                let mut intervals = vec![0..0; patterns.len()];
                device.search(index, patterns, &mut intervals)?;
                intervals
            }
            SearchedBlock::OnDisk(block) => {
                patterns.par_iter().map(|p| block.interval(p.as_ref())).collect::<Result<_>>()?
            }
        };
        let counts = intervals.iter().map(|interval| interval.len() as u32).collect();
        let Some(limits) = limits else {
            return Ok((self, Found { counts, positions: Vec::new() }));
        };
        let (block, positions) = self.locate(origin, &intervals, limits, device)?;
        Ok((block, Found { counts, positions }))
    }

    /// The positions of the first rows of each interval.
    fn locate(
        self,
        origin: &'a Origin<'a, R>,
        intervals: &[Range<u32>],
        limits: &[usize],
        device: &mut SearchDevice,
    ) -> Result<(Self, Vec<Vec<u32>>)> {
        let wanted = |(interval, &limit): (&Range<u32>, &usize)| interval.clone().take(limit);
        let rows: Vec<u32> = intervals.iter().zip(limits).flat_map(wanted).collect();
        let block = self.ready_for(origin, rows.len() as u64)?;
        let mut positions = match &block {
            SearchedBlock::OnDisk(block) => block.positions(&rows)?,
            SearchedBlock::InMemory(index) => {
                device.positions(index, &rows).map_err(|e| origin.locate(e))?
            }
            SearchedBlock::Plain(_) => unreachable!("plain bytes have no rows"),
        }
        .into_iter();
        let sizes = intervals.iter().zip(limits).map(|(i, &limit)| i.len().min(limit));
        let positions = sizes.map(|size| positions.by_ref().take(size).collect()).collect();
        Ok((block, positions))
    }

    /// Decodes the block, or makes its samples denser, where locating so many rows pays for it.
    fn ready_for(self, origin: &'a Origin<'a, R>, rows: u64) -> Result<Self> {
        match self {
            SearchedBlock::OnDisk(block)
                if 2 * rows * block.steps_to_sample() > block.segments() =>
            {
                origin.load()?.ready_for(origin, rows)
            }
            SearchedBlock::InMemory(index)
                if rows * index.steps_to_sample() > index.len() as u64 =>
            {
                let denser = index.with_sample_rate(DENSE).map_err(|e| origin.locate(e))?;
                Ok(SearchedBlock::InMemory(Box::new(denser)))
            }
            block => Ok(block),
        }
    }

    /// Bytes of the block; the range is within it.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        match self {
            SearchedBlock::OnDisk(block) => block.extract(range),
            SearchedBlock::InMemory(index) => index.extract(range),
            SearchedBlock::Plain(raw) => Ok(raw[range].to_vec()),
        }
    }
}

/// The transform once more, since the inverse uses up its own.
fn copy(bwt: &Bwt) -> Result<Bwt> {
    let mut bytes = bwt::zeroed(bwt.bytes.len())?;
    bytes.copy_from_slice(&bwt.bytes);
    Ok(Bwt { bytes, sample_rate: bwt.sample_rate, samples: bwt.samples.clone() })
}

/// Looks for each pattern in plain bytes.
fn scan<P: AsRef<[u8]> + Sync>(raw: &[u8], patterns: &[P], limits: Option<&[usize]>) -> Found {
    let find = |n: usize| {
        let limit = limits.map_or(0, |limits| limits[n]);
        let (mut count, mut positions) = (0, Vec::new());
        for pos in occurrences(patterns[n].as_ref(), raw) {
            count += 1;
            if positions.len() < limit {
                positions.push(pos as u32);
            }
        }
        (count, positions)
    };
    let (counts, positions) = (0..patterns.len()).into_par_iter().map(find).unzip();
    Found { counts, positions }
}

/// All places at which `pattern` stands in `raw`, overlaps included.
pub fn occurrences<'t>(pattern: &'t [u8], raw: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let finder = memmem::Finder::new(pattern);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(raw.get(from..)?)?;
        from = at + 1;
        Some(at)
    })
}
