//! Search in a block that stays in the file: each step decodes the one or two segments that it asks
//! of.
//!
//! occ(c, at) is the count of c above the segment that holds `at`, which the block's index tells,
//! and a count within that segment. The ends of an interval are mostly in two segments at first,
//! which are decoded side by side, and in one soon. A pattern of m symbols costs at most 2 (m - 1)
//! segments; its last symbol costs none.
//!
//! Memory: the counts, 4 bytes per segment and symbol, and a cache of decoded segments.

use super::source::Source;
use super::tables::{Tables, accumulate};
use crate::archive::BlockInfo;
use crate::coder;
use crate::error::{Error, Flaw, Result};
use crate::fm_index::{self, Samples};
use crate::frame::{
    BlockHeader, BlockIndex, BlockIndexHeader, Shape, checksum_holds, histogram, packed_array,
};
use rayon::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::io::{Read, Seek};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A block of which only its index is in memory.
pub struct ColdBlock<'a, R> {
    source: &'a Source<R>,
    place: Place,
    raw_size: u32,
    shape: Shape,
    header: BlockIndexHeader,
    index: BlockIndex,
    starts: Box<[u32; 257]>,
    /// `above[column * (segments + 1) + k]`: occurrences of a symbol above segment k.
    above: Vec<u32>,
    columns: Box<[u8; 256]>,
    /// Where each segment starts in the file, and the last one's end.
    offsets: Vec<u64>,
    /// Samples as it stands in the file.
    samples_at: (u64, u32),
    samples: OnceLock<SampledRows>,
    cache: Mutex<Cache>,
}

/// Which block this is, for errors.
#[derive(Clone, Copy)]
struct Place {
    number: u64,
    offset: u64,
}

impl Place {
    fn error(self, flaw: Flaw) -> Error {
        flaw.at(Some(self.number), self.offset)
    }
}

/// The samples, in both directions.
struct SampledRows {
    rows_of: Vec<u32>,
    samples: Samples,
}

/// Decoded segments, of which the oldest goes first.
struct Cache {
    segments: HashMap<usize, Arc<Vec<u8>>>,
    order: VecDeque<usize>,
    most: usize,
}

impl<'a, R: Read + Seek + Send> ColdBlock<'a, R> {
    /// Reads the index of a block that has one. `cache_size` is how many bytes of decoded segments
    /// may be kept.
    pub fn open(
        source: &'a Source<R>,
        info: &BlockInfo,
        number: u64,
        header: BlockHeader,
        shape: Shape,
        cache_size: u64,
    ) -> Result<Self> {
        let place = Place { number, offset: info.coded.start };
        let tables = Tables::read(source, info, &header, shape)
            .map_err(|e| e.at(place.number, place.offset))?;
        let Tables { header: index_header, index, offsets, samples_at } = tables;
        let segment_size = 1usize << shape.segment_size_log;
        let (columns, above) = accumulate(&index, header.raw_size as usize, segment_size)
            .map_err(|flaw| place.error(flaw))?;
        let segments = offsets.len() - 1;
        let mut counts = [0; 256];
        for (c, _) in index.counts.rows() {
            let column = usize::from(columns[usize::from(c)]);
            counts[usize::from(c)] = above[column * (segments + 1) + segments];
        }
        let most = (cache_size >> shape.segment_size_log).max(4) as usize;
        Ok(ColdBlock {
            source,
            place,
            raw_size: header.raw_size,
            shape,
            header: index_header,
            index,
            starts: fm_index::starts(&counts),
            above,
            columns,
            offsets,
            samples_at,
            samples: OnceLock::new(),
            cache: Mutex::new(Cache { segments: HashMap::new(), order: VecDeque::new(), most }),
        })
    }

    /// The rows of the suffixes that start with `pattern`.
    pub fn interval(&self, pattern: &[u8]) -> Result<Range<u32>> {
        let mut interval = 0..self.raw_size + 1;
        for &c in pattern.iter().rev() {
            interval = self.step(c, interval)?;
            if interval.is_empty() {
                break;
            }
        }
        Ok(interval)
    }

    /// The positions of some rows, in the same order.
    pub fn positions(&self, rows: &[u32]) -> Result<Vec<u32>> {
        let known = self.samples()?;
        rows.par_iter().map(|&row| self.position(known, row)).collect()
    }

    /// Bytes of the block.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let (raw_size, edge) = (self.raw_size as usize, self.index.head.len());
        if range.end <= edge {
            return Ok(self.index.head[range].to_vec());
        }
        if range.start >= raw_size - edge {
            let skipped = raw_size - edge;
            return Ok(self.index.tail[range.start - skipped..range.end - skipped].to_vec());
        }
        let rate = 1usize << self.shape.sample_rate_log;
        let number = range.end.div_ceil(rate);
        let known = self.samples()?.rows_of.get(number).map(|&row| (row, number * rate));
        let (mut row, mut pos) = known.unwrap_or((0, raw_size));
        let mut bytes = vec![0; range.len()];
        while pos > range.start {
            let (byte, next) = self.lf(row)?;
            pos -= 1;
            row = next;
            if pos < range.end {
                bytes[pos - range.start] = byte;
            }
        }
        Ok(bytes)
    }

    /// How many segments `steps` steps may decode: never more than there are.
    pub fn segments(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }

    /// The mean number of steps from a row to a sampled one.
    pub fn steps_to_sample(&self) -> u64 {
        1 << self.shape.sample_rate_log >> 1
    }

    fn position(&self, known: &SampledRows, mut row: u32) -> Result<u32> {
        for steps in 0..=1u32 << self.shape.sample_rate_log {
            if let Some(pos) = known.samples.pos(row) {
                let pos = u64::from(pos) + u64::from(steps);
                return if pos <= u64::from(self.raw_size) { Ok(pos as u32) } else { break };
            }
            row = self.lf(row)?.1;
        }
        Err(self.place.error(Flaw("the block's samples do not fit its transform")))
    }

    /// The byte before the suffix at a row, and the row of the suffix that starts with it.
    fn lf(&self, row: u32) -> Result<(u8, u32)> {
        // The primary index has no byte: any will do, since no walk of an intact block goes on from
        // there.
        let at = self.stored(row).min(self.raw_size as usize - 1);
        let (k, offset) = self.split(at);
        let segment = self.segment(k)?;
        let byte = segment[offset];
        let before = count(&segment[..offset], byte);
        Ok((byte, self.starts[usize::from(byte)] + self.above(byte, k) + before))
    }

    /// The interval of cP from that of P.
    fn step(&self, c: u8, interval: Range<u32>) -> Result<Range<u32>> {
        let (first, end) = (self.starts[usize::from(c)], self.starts[usize::from(c) + 1]);
        if interval == (0..self.raw_size + 1) || first == end {
            return Ok(first..end);
        }
        let (lo, hi) = (self.stored(interval.start), self.stored(interval.end));
        let apart = self.split(lo).0 != self.split(hi).0;
        let (lo, hi) = if apart {
            rayon::join(|| self.occ(c, lo), || self.occ(c, hi))
        } else {
            (self.occ(c, lo), self.occ(c, hi))
        };
        Ok(first + lo?..first + hi?)
    }

    /// Occurrences of `c`, which occurs in the block, among the first `at` bytes of the transform.
    fn occ(&self, c: u8, at: usize) -> Result<u32> {
        let (k, offset) = self.split(at);
        let within = if offset == 0 { 0 } else { count(&self.segment(k)?[..offset], c) };
        Ok(self.above(c, k) + within)
    }

    fn above(&self, c: u8, k: usize) -> u32 {
        self.above[usize::from(self.columns[usize::from(c)]) * self.offsets.len() + k]
    }

    /// The segment that holds a place, and where in it. The end of the last segment is in that one
    /// or begins one more.
    fn split(&self, at: usize) -> (usize, usize) {
        (at >> self.shape.segment_size_log, at & ((1 << self.shape.segment_size_log) - 1))
    }

    fn stored(&self, row: u32) -> usize {
        row as usize - usize::from(row > self.index.primary_index)
    }

    /// A decoded segment, from the cache or the file.
    fn segment(&self, k: usize) -> Result<Arc<Vec<u8>>> {
        if let Some(segment) = self.cache().segments.get(&k) {
            return Ok(Arc::clone(segment));
        }
        let size = self.offsets[k + 1] - self.offsets[k];
        let coded = self.source.read(self.offsets[k], size as u32)?;
        let segment = self.decode(k, &coded).map_err(|flaw| self.place.error(flaw))?;
        self.source.segment_decoded();
        let segment = Arc::new(segment);
        self.cache().keep(k, Arc::clone(&segment));
        Ok(segment)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decode(&self, k: usize, coded: &[u8]) -> Result<Vec<u8>, Flaw> {
        if !checksum_holds(self.index.segment_checksums[k], coded) {
            return Err(Flaw("the checksum of a segment is wrong"));
        }
        let start = k << self.shape.segment_size_log;
        let size = (self.raw_size as usize - start).min(1 << self.shape.segment_size_log);
        let mut segment = vec![0; size];
        coder::decode(coded, &mut segment)?;
        let counts = histogram(&segment);
        let told = |c: u8| self.above(c, k + 1) - self.above(c, k);
        let mut symbols = self.index.counts.rows().map(|(c, _)| c);
        let sum: u32 = self.index.counts.rows().map(|(c, _)| counts[usize::from(c)]).sum();
        if sum as usize == size && symbols.all(|c| counts[usize::from(c)] == told(c)) {
            return Ok(segment);
        }
        Err(Flaw("the block's index does not match its segments"))
    }

    /// The samples, which are read when they are first wanted.
    fn samples(&self) -> Result<&SampledRows> {
        if self.samples.get().is_none() {
            let read = self.read_samples()?;
            let _ = self.samples.set(read);
        }
        Ok(self.samples.get().expect("just set"))
    }

    fn read_samples(&self) -> Result<SampledRows> {
        let coded = self.source.read(self.samples_at.0, self.samples_at.1)?;
        let sampled = || {
            self.header.check_samples(&coded)?;
            let rows_of = packed_array::read(&mut &coded[..], self.shape.samples(self.raw_size))?;
            if rows_of[0] != self.index.primary_index || rows_of.contains(&0) {
                return Err(Flaw("a sample is no row of the block"));
            }
            let rate = 1 << self.shape.sample_rate_log;
            let samples = Samples::new(&rows_of, rate, self.raw_size as usize + 1)?;
            Ok(SampledRows { rows_of, samples })
        };
        sampled().map_err(|flaw| self.place.error(flaw))
    }
}

impl Cache {
    fn keep(&mut self, k: usize, segment: Arc<Vec<u8>>) {
        if self.segments.insert(k, segment).is_none() {
            self.order.push_back(k);
        }
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.segments.remove(&oldest);
        }
    }
}

/// How often `c` stands in `bytes`.
fn count(bytes: &[u8], c: u8) -> u32 {
    memchr::memchr_iter(c, bytes).count() as u32
}
