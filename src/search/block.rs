//! One block as a search takes it: left in the file, decoded to an FM-index, or, where it was
//! stored or has filters, plain bytes.
//!
//! Single patterns on an indexed block decode the few segments that they need. As soon as a batch
//! would decode about as many as there are, or the block has no index, it is cheaper to decode all
//! of them at once and to search in memory. A block that is decoded is checked as when it is
//! restored, which takes restoring it: its samples and its index are believed after that.

use super::cold::ColdBlock;
use super::finder::Finder;
use super::source::Source;
use crate::archive::{self, BlockInfo};
use crate::block::{self, Decoded};
use crate::bwt::{self, Bwt, InverseBwt, Sorter};
use crate::error::Result;
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

/// What patterns came to in one block.
#[derive(Debug, Default)]
pub struct Found {
    /// Of each pattern, how often it occurs.
    pub counts: Vec<u32>,
    /// Of each pattern, positions in the block, as many as were asked for; nothing if only counts
    /// were.
    pub positions: Vec<Vec<u32>>,
}

pub enum Block<'a, R> {
    Cold(Box<ColdBlock<'a, R>>),
    Hot(Box<FmIndex>),
    Plain(Vec<u8>),
}

/// Where a block comes from, and what it may cost.
pub struct Origin<'a, R> {
    pub source: &'a Source<R>,
    pub info: &'a BlockInfo,
    pub header: BlockHeader,
    pub number: u64,
    pub options: &'a Options,
}

impl<'a, R: Read + Seek + Send> Origin<'a, R> {
    /// Reads the header of block `number`.
    pub fn new(
        source: &'a Source<R>,
        info: &'a BlockInfo,
        number: u64,
        options: &'a Options,
    ) -> Result<Self> {
        let header = source
            .with_input(|input| archive::read_block_header(input, info))
            .map_err(|e| e.at(number, info.coded.start))?;
        Ok(Origin { source, info, header, number, options })
    }

    /// Bytes of the block.
    pub fn len(&self) -> usize {
        (self.info.raw.end - self.info.raw.start) as usize
    }

    /// Opens the block for a job of about so many steps, and walks from samples.
    pub fn open(&self, steps: u64, walks: u64) -> Result<Block<'a, R>> {
        match self.open_cold(steps, walks)? {
            Some(cold) => Ok(Block::Cold(Box::new(cold))),
            None => self.load(),
        }
    }

    /// The block as it stands in the file, if it has an index that may be believed, and the job
    /// decodes fewer segments than it has.
    fn open_cold(&self, steps: u64, walks: u64) -> Result<Option<ColdBlock<'a, R>>> {
        if let Kind::Bwt(shape) = self.header.kind
            && shape.indexed
            && !self.options.verifies()
            && 2 * steps + (walks << shape.sample_rate_log)
                <= shape.segments(self.header.raw_size) as u64
        {
            let share = self.options.memory_limit() / 4 / self.options.thread_count() as u64;
            return ColdBlock::open(self.source, self.info, self.number, self.header, shape, share)
                .map(Some);
        }
        Ok(None)
    }

    /// Decodes the whole block for search, and checks it.
    pub fn load(&self) -> Result<Block<'a, R>> {
        let decoded = self.decode()?;
        let searchable = decoded.bwt_of_raw().map(copy).transpose()?;
        let raw = block::restore_decoded(decoded, &InverseBwt::new())?;
        let Some(bwt) = searchable else {
            return Ok(Block::Plain(raw));
        };
        drop(raw);
        let index = FmIndex::new(bwt);
        let index = index.map_err(|e| e.at(self.number, self.info.coded.start))?;
        Ok(Block::Hot(Box::new(index)))
    }

    /// Some ranges of the block's bytes.
    pub fn extract(&self, ranges: &[(usize, Range<usize>)]) -> Result<Vec<Vec<u8>>> {
        let steps = ranges.iter().map(|(_, range)| range.len() as u64).sum();
        match self.open_cold(steps, ranges.len() as u64)? {
            Some(cold) => ranges.iter().map(|(_, range)| cold.extract(range.clone())).collect(),
            None => {
                let raw = block::restore_decoded(self.decode()?, &InverseBwt::new())?;
                Ok(ranges.iter().map(|(_, range)| raw[range.clone()].to_vec()).collect())
            }
        }
    }

    fn decode(&self) -> Result<Decoded> {
        let plan = self.options.plan_to_decode(self.len() as u32);
        let plan = plan.map_err(|e| e.at(self.number, self.info.coded.start))?;
        let block =
            self.source.with_input(|input| archive::read_block(input, self.info, self.number))?;
        self.source.block_decoded(self.info.coded.end - self.info.coded.start);
        block::decode(block, &plan)
    }
}

impl<'a, R: Read + Seek + Send> Block<'a, R> {
    /// Counts each pattern, of which none is empty; with limits, also locates as many occurrences
    /// of each as its limit says.
    pub fn find<P: AsRef<[u8]> + Sync>(
        self,
        origin: &Origin<'a, R>,
        patterns: &[P],
        limits: Option<&[usize]>,
        finder: &mut Finder,
    ) -> Result<(Self, Found)> {
        let intervals = match &self {
            Block::Plain(raw) if patterns.len() < MANY => {
                let found = scan(raw, patterns, limits);
                return Ok((self, found));
            }
            Block::Plain(raw) => {
                let bwt = Sorter::Cpu.sort(raw, bwt::sample_rate(raw.len()))?;
                let index = Box::new(FmIndex::new(bwt)?);
                return Block::Hot(index).find(origin, patterns, limits, finder);
            }
            Block::Hot(index) => {
                let mut intervals = vec![0..0; patterns.len()];
                finder.search(index, patterns, &mut intervals)?;
                intervals
            }
            Block::Cold(cold) => {
                patterns.par_iter().map(|p| cold.interval(p.as_ref())).collect::<Result<_>>()?
            }
        };
        let counts = intervals.iter().map(|interval| interval.len() as u32).collect();
        let Some(limits) = limits else {
            return Ok((self, Found { counts, positions: Vec::new() }));
        };
        let (block, positions) = self.locate(origin, &intervals, limits, finder)?;
        Ok((block, Found { counts, positions }))
    }

    /// The positions of the first rows of each interval.
    fn locate(
        self,
        origin: &Origin<'a, R>,
        intervals: &[Range<u32>],
        limits: &[usize],
        finder: &mut Finder,
    ) -> Result<(Self, Vec<Vec<u32>>)> {
        let wanted = |(interval, &limit): (&Range<u32>, &usize)| interval.clone().take(limit);
        let rows: Vec<u32> = intervals.iter().zip(limits).flat_map(wanted).collect();
        let block = self.ready_for(origin, rows.len() as u64)?;
        let mut positions = match &block {
            Block::Cold(cold) => cold.positions(&rows)?,
            Block::Hot(index) => {
                let found = finder.positions(index, &rows);
                found.map_err(|e| e.at(origin.number, origin.info.coded.start))?
            }
            Block::Plain(_) => unreachable!("plain bytes have no rows"),
        }
        .into_iter();
        let sizes = intervals.iter().zip(limits).map(|(i, &limit)| i.len().min(limit));
        let positions = sizes.map(|size| positions.by_ref().take(size).collect()).collect();
        Ok((block, positions))
    }

    /// Decodes the block, or makes its samples denser, where locating so many rows pays for it.
    fn ready_for(self, origin: &Origin<'a, R>, rows: u64) -> Result<Self> {
        match self {
            Block::Cold(cold) if 2 * rows * cold.steps_to_sample() > cold.segments() => {
                origin.load()?.ready_for(origin, rows)
            }
            Block::Hot(index) if rows * index.steps_to_sample() > index.len() as u64 => {
                let denser = index.with_sample_rate(DENSE);
                let denser = denser.map_err(|e| e.at(origin.number, origin.info.coded.start))?;
                Ok(Block::Hot(Box::new(denser)))
            }
            block => Ok(block),
        }
    }

    /// Bytes of the block; the range is within it.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        match self {
            Block::Cold(cold) => cold.extract(range),
            Block::Hot(index) => index.extract(range),
            Block::Plain(raw) => Ok(raw[range].to_vec()),
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
