//! The FM-index: a BWT that is searched without being inverted.
//!
//! All suffixes that start with a pattern P are neighbours in the sorted order, an interval of
//! rows. From the interval of P, that of cP follows by two counts in the L column, so a pattern is
//! searched from its last symbol to its first (backward search):
//!
//! ```text
//!   lo, hi = C[c] + rank(c, lo), C[c] + rank(c, hi)     occurrences of P: hi - lo
//! ```
//!
//! | file | job |
//! |---|---|
//! | `rank` | the one operation: rank(c, at), also called occ |
//! | `bit_sliced_rank`, `byte_rank`, `layout` | rank for few symbols and for any; the choice between them |
//! | `backward_search` | the intervals of many patterns, 32 at a time so that their cache misses overlap |
//! | `kmer_table` | the intervals of all short strings, so that a search starts some symbols in |
//! | `text_matches` | counting by the text itself, once the interval of a pattern is one row |
//! | `samples` | the positions of some rows |
//! | `lf_walks` | many walks along the LF mapping at a time: locate, extract |
//! | `restored` | denser samples and the text, by restoring the block |
//! | `gpu_arrays` | search and locate on a GPU (feature `cuda`) |
//!
//! Nothing here knows files. Everything is a function of the BWT alone, for any number of threads.
//!
//! ```
//! use bwz::bwt::Sorter;
//! use bwz::fm_index::FmIndex;
//!
//! let index = FmIndex::new(Sorter::Cpu.sort(b"she sells sea shells", 4)?)?;
//! assert_eq!(index.count(b"se"), 2);
//! assert_eq!(index.locate(b"ells", usize::MAX)?, [5, 16]);
//! assert_eq!(index.extract(10..13)?, b"sea");
//! # Ok::<(), bwz::Error>(())
//! ```
//!
//! P. Ferragina and G. Manzini, *Opportunistic data structures with applications*, FOCS 2000.
//! Searching batches with overlapping misses is the method of batch matching on GPUs, which need it
//! more.

mod backward_search;
mod bit_sliced_rank;
mod byte_rank;
mod gpu_arrays;
mod kmer_table;
mod layout;
mod lf_walks;
mod rank;
mod restored;
mod samples;
mod text_matches;

use crate::base::error::{Flaw, Result};
use crate::base::positions::NarrowLimits;
pub use crate::base::positions::Row;
use crate::base::tasks::Executor;
use crate::bwt::{self, Bwt};
use crate::options::MAX_BLOCK_SIZE;
use kmer_table::KmerTable;
pub(crate) use layout::IndexLayout;
use layout::with_layout;
use rank::Rank;
use rayon::prelude::*;
pub(crate) use samples::{SampledPositions, SampledRows};
use std::ops::Range;
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// Minimum number of steps per task.
const STEPS: usize = 1 << 10;

/// A block that can be searched.
///
/// Memory per byte of the block: 2.3 to 8 bits for alphabets of up to 16 symbols, else 12 to 24.
/// Samples take 32 bits each. The first [`FmIndex::locate`] adds 1.1 bits per byte and 32 bits per
/// sample; a large batch of searches adds at most 2 bits per byte for the k-mer table; the text, if
/// it is added, takes 8 bits.
///
/// Rows and positions are numbers of the type `R`: `u32`, by [`FmIndex::new`], for blocks of up to
/// 4 GiB, and `u64`, by [`FmIndex::wide`], for any.
#[derive(Debug)]
pub struct FmIndex<R = u32> {
    len: usize,
    primary: R,
    /// `starts[c]` is the first row that starts with byte c or a larger one; `starts[256]` is the
    /// number of rows.
    starts: Box<[R; 257]>,
    layout: IndexLayout<R>,
    samples: SampledRows<R>,
    /// Made when first needed.
    positions: OnceLock<SampledPositions<R>>,
    kmers: OnceLock<KmerTable<R>>,
    /// Number of patterns searched so far.
    searched: AtomicUsize,
    /// The block's bytes, if counting by them pays.
    text: Option<Vec<u8>>,
    id: gpu_arrays::Id,
}

impl FmIndex {
    /// Builds the index of a BWT of less than 2^32 - 2 bytes. If the BWT comes from a damaged or
    /// hostile file, answers may be wrong, but nothing worse happens. Takes about 1 ns per byte.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format), without a position, if a field breaks an invariant
    /// of [`Bwt`] that searches rely on; [`Error::Io`](crate::Error::Io) if there is no memory.
    pub fn new(bwt: Bwt) -> Result<Self> {
        if bwt.bytes.len() > NarrowLimits::USUAL.others {
            return Err(Flaw("the block is above 4 GiB: it takes an index of 64 bits").into());
        }
        FmIndex::of(bwt)
    }
}

impl FmIndex<u64> {
    /// Builds the index as [`FmIndex::new`] does, but of a BWT of any size.
    ///
    /// ```
    /// use bwz::{bwt::Sorter, fm_index::FmIndex};
    ///
    /// let index = FmIndex::wide(Sorter::Cpu.sort(b"banana", 2)?)?;
    /// assert_eq!(index.locate(b"ana", usize::MAX)?, [1_u64, 3]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`FmIndex::new`].
    pub fn wide(bwt: Bwt) -> Result<Self> {
        FmIndex::of(bwt)
    }
}

impl<R: Row> FmIndex<R> {
    fn of(bwt: Bwt) -> Result<Self> {
        let Bwt {
            bytes,
            sample_rate,
            samples: rows,
        } = bwt;
        let len = bytes.len();
        let sound = (1..=MAX_BLOCK_SIZE).contains(&(len as u64))
            && sample_rate > 0
            && rows.len() == len.div_ceil(sample_rate as usize);
        if !sound {
            return Err(Flaw("the samples do not fit the block").into());
        }
        if !rows
            .par_iter()
            .all(|row| (1..=len as u64).contains(row))
        {
            return Err(Flaw("a sample is not a row of its block").into());
        }
        let rows = rows
            .into_par_iter()
            .map(|row| R::new(row as usize))
            .collect();
        let samples = SampledRows::new(rows, sample_rate, len);
        let counts = bwt::counts(&bytes, Executor::current_pool());
        Ok(FmIndex {
            len,
            primary: samples.rows()[0],
            starts: starts(&counts.map(|count| R::new(count as usize))),
            layout: IndexLayout::new(bytes, &counts)?,
            samples,
            positions: OnceLock::new(),
            kmers: OnceLock::new(),
            searched: AtomicUsize::new(0),
            text: None,
            id: gpu_arrays::Id::new(),
        })
    }

    /// Number of occurrences of `pattern` in the block, including overlapping ones. The empty
    /// pattern occurs at every position, including the end.
    pub fn count(&self, pattern: &[u8]) -> R {
        let interval = self.interval(pattern);
        interval.end - interval.start
    }

    /// The rows of the suffixes that start with `pattern`.
    pub fn interval(&self, pattern: &[u8]) -> Range<R> {
        let mut interval = R::default()..R::default();
        self.search(&[pattern], slice::from_mut(&mut interval));
        interval
    }

    /// The positions of `pattern`, ascending; only those of the first `limit` rows of its interval.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the BWT contradicts its samples.
    pub fn locate(&self, pattern: &[u8], limit: usize) -> Result<Vec<R>> {
        let interval = self.interval(pattern);
        let rows: Vec<R> = rows_of(&interval, limit).collect();
        let mut positions = self.positions(&rows)?;
        positions.sort_unstable();
        Ok(positions)
    }

    /// The positions of the sampled rows, which are computed by the first call.
    fn sampled_positions(&self) -> Result<&SampledPositions<R>> {
        if self.positions.get().is_none() {
            // Not in the cell's initialiser: the threads that compute them may steal work that
            // waits for it.
            let _ = self.positions.set(self.samples.positions()?);
        }
        Ok(self.positions.get().expect("just set"))
    }

    /// Returns true if the block contains byte `c`.
    pub(crate) fn has(&self, c: u8) -> bool {
        self.starts[usize::from(c)] < self.starts[usize::from(c) + 1]
    }

    /// The interval of cP from that of P, for each pair of a byte c and an interval.
    pub(crate) fn steps(&self, asked: &[(u8, Range<u64>)]) -> Vec<Range<u64>> {
        let step = |(c, interval): &(u8, Range<u64>)| {
            let interval = R::new(interval.start as usize)..R::new(interval.end as usize);
            let Range { start, end } =
                with_layout!(&self.layout, rank => self.step(rank, *c, interval));
            start.into()..end.into()
        };
        asked
            .par_iter()
            .with_min_len(STEPS)
            .map(step)
            .collect()
    }

    /// Length of the block in bytes.
    #[allow(clippy::len_without_is_empty, reason = "a block is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Average number of steps from a row to a sampled one.
    pub(crate) fn steps_to_sample(&self) -> u64 {
        u64::from(self.samples.rate() / 2)
    }

    /// Bytes of memory that the index takes.
    pub fn size(&self) -> usize {
        with_layout!(&self.layout, rank => rank.size())
            + self.samples.size()
            + self
                .positions
                .get()
                .map_or(0, SampledPositions::size)
            + self.kmers.get().map_or(0, |kmers| kmers.size())
            + self.text.as_ref().map_or(0, Vec::len)
    }

    /// Number of stored bytes before a row; the primary index has no stored byte.
    #[inline(always)]
    fn stored(&self, row: R) -> usize {
        row.get() - usize::from(row > self.primary)
    }

    /// The interval of cP from that of P.
    #[inline(always)]
    fn step(&self, rank: &impl Rank<R>, c: u8, interval: Range<R>) -> Range<R> {
        let first = self.starts[usize::from(c)];
        if first == self.starts[usize::from(c) + 1] {
            return R::default()..R::default();
        }
        let (lo, hi) = rank.rank_pair(c, self.stored(interval.start), self.stored(interval.end));
        first + lo..first + hi
    }
}

/// The first rows of an interval.
fn rows_of<R: Row>(interval: &Range<R>, limit: usize) -> impl Iterator<Item = R> + use<R> {
    (interval.start.get()..interval.end.get())
        .take(limit)
        .map(R::new)
}

/// The first row of each byte, from the counts of bytes. Row 0 is the sentinel's.
pub(crate) fn starts<R: Row>(counts: &[R; 256]) -> Box<[R; 257]> {
    let mut starts = Box::new([R::from(1); 257]);
    for c in 0..256 {
        starts[c + 1] = starts[c] + counts[c];
    }
    starts
}

#[cfg(test)]
mod tests;
