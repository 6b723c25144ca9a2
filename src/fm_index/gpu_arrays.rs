//! The arrays of an index for a GPU, which takes them unchanged.
//!
//! One layout serves both sides. On a GPU as on the CPU, a step costs the one line that holds
//! counters and bit-sliced codes, or the one or two lines that hold counter and bytes. Neighbouring
//! threads take the two ends of an interval, which are then in one line, and 64 bytes are two of
//! the sectors that a GPU reads.

use super::FmIndex;
use super::bit_sliced_rank::BitSlicedRank;
use super::byte_rank::ByteRank;
use super::layout::IndexLayout;
use crate::base::error::{Error, Flaw, Result};
use crate::gpu;
use std::ops::Range;
use std::sync::Arc;

/// Identity of an index, by which a GPU recognises one that it holds, and notices that one is gone.
#[derive(Debug)]
pub(super) struct Id(Arc<()>);

impl Id {
    pub(super) fn new() -> Self {
        Id(Arc::new(()))
    }
}

impl FmIndex<u32> {
    /// Finds the interval of each pattern as [`FmIndex::search`] does, but on a GPU, which keeps
    /// the index as long as it has room ([`cuda::GpuSearch`](crate::cuda::GpuSearch)). Meanwhile
    /// the threads of the current rayon pool pack patterns.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU fails, the index does not fit in its memory, or the block has
    /// more than 2^32 - 1025 bytes.
    ///
    /// # Panics
    /// If there are not as many intervals as patterns.
    pub fn search_on<P: AsRef<[u8]> + Sync>(
        &self,
        gpu: &mut gpu::GpuSearch,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) -> Result<()> {
        gpu.search(
            &self.arrays(patterns.len())?,
            patterns,
            intervals,
            |interval| interval,
        )
    }

    /// The positions of rows as [`FmIndex::positions`] gives them, but found on a GPU.
    ///
    /// # Errors
    /// As for [`FmIndex::positions`] and [`FmIndex::search_on`].
    ///
    /// # Panics
    /// If a row is not one of the index.
    pub fn positions_on(&self, gpu: &mut gpu::GpuSearch, rows: &[u32]) -> Result<Vec<u32>> {
        let sampled = self.sampled_positions()?;
        let samples = gpu::SampleArrays {
            rate: sampled.rate,
            marks: &sampled.marks,
            ranks: &sampled.ranks,
            numbers: &sampled.numbers,
        };
        gpu.positions(&self.arrays(0)?, &samples, rows)?
            .ok_or_else(|| Flaw::WRONG_SAMPLES.into())
    }

    /// Returns true if the GPU can hold the index.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU fails.
    pub(crate) fn fits(&self, gpu: &gpu::GpuSearch) -> Result<bool> {
        Ok(self.len <= gpu::MOST_SEARCHED as usize && gpu.can_hold(&self.arrays(0)?)?)
    }

    /// The arrays that a GPU needs to search `patterns` patterns.
    pub(crate) fn arrays(&self, patterns: usize) -> Result<gpu::IndexArrays<'_>> {
        if self.len > gpu::MOST_SEARCHED as usize {
            let len = self.len;
            let most = gpu::MOST_SEARCHED;
            let why = format!("a block of {len} bytes is too large for it, which searches {most}");
            return Err(Error::Device(why.into()));
        }
        let (codes, supers, rank) = match &self.layout {
            IndexLayout::Two(rank) => bit_sliced(rank),
            IndexLayout::Three(rank) => bit_sliced(rank),
            IndexLayout::Four(rank) => bit_sliced(rank),
            IndexLayout::Bytes(rank) => bytes(rank),
        };
        let kmers = self
            .kmers_for_gpu(patterns)
            .filter(|kmers| kmers.length > 0);
        Ok(gpu::IndexArrays {
            id: &self.id.0,
            len: self.len,
            primary: self.primary,
            starts: &self.starts,
            codes,
            supers,
            rank,
            kmers: kmers.map(|kmers| gpu::KmerArrays {
                length: kmers.length,
                sigma: kmers.sigma,
                codes: &kmers.codes,
                intervals: &kmers.intervals,
            }),
        })
    }
}

/// Codes or columns of the bytes, absolute counters, and the other arrays.
type LayoutArrays<'a> = (&'a [u8; 256], &'a [u32], gpu::RankArrays<'a>);

fn bit_sliced<const P: usize>(rank: &BitSlicedRank<u32, P>) -> LayoutArrays<'_> {
    let arrays = gpu::RankArrays::BitSliced {
        planes: P,
        lines: &rank.lines,
        symbols: &rank.symbols,
        places: &rank.rare.places,
        rare_symbols: &rank.rare.symbols,
        by_symbol: &rank.rare.by_symbol,
        ends: &rank.rare.ends,
    };
    (&rank.codes, &rank.supers, arrays)
}

fn bytes(rank: &ByteRank<u32>) -> LayoutArrays<'_> {
    let arrays = gpu::RankArrays::Bytes {
        bytes: &rank.bytes,
        skew: rank.skew,
        log: rank.log,
        stride: rank.stride,
        counters: &rank.counters,
    };
    (&rank.columns, &rank.supers, arrays)
}

#[cfg(test)]
mod tests;
