//! The arrays of an index as a GPU takes them: all of them as they stand.
//!
//! One layout serves both sides. On a GPU as on the CPU, a step costs the one line that holds
//! counters and planes, or the one or two that hold counter and bytes; neighbouring threads take
//! both ends of an interval, which then are in one line, and 64 bytes are two of the sectors that a
//! GPU reads.

use super::FmIndex;
use super::bit_sliced_rank::Planes;
use super::byte_rank::Counted;
use super::layout::Layout;
use crate::gpu;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that no other index of this process has, by which a GPU knows the one that it holds.
#[derive(Debug)]
pub struct Id(u64);

impl Id {
    pub fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Id(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl FmIndex {
    /// What a GPU takes to search so many patterns.
    pub(super) fn parts(&self, patterns: usize) -> gpu::Parts<'_> {
        let (codes, supers, layout) = match &self.layout {
            Layout::Two(planes) => planes_parts(planes),
            Layout::Three(planes) => planes_parts(planes),
            Layout::Four(planes) => planes_parts(planes),
            Layout::Counted(counted) => counted_parts(counted),
        };
        let seeds = self.seeds_for(patterns).filter(|seeds| seeds.depth > 0);
        gpu::Parts {
            id: self.id.0,
            len: self.len,
            primary: self.primary,
            starts: &self.starts,
            codes,
            supers,
            layout,
            kmers: seeds.map(|seeds| gpu::KmerTable {
                depth: seeds.depth,
                sigma: seeds.sigma,
                codes: &seeds.codes,
                intervals: &seeds.intervals,
            }),
        }
    }

    /// What it takes to locate.
    pub(super) fn sample_parts(&self) -> gpu::Samples<'_> {
        let samples = &self.samples;
        gpu::Samples {
            rate: samples.rate,
            marks: samples.marks.as_raw_slice(),
            ranks: &samples.ranks,
            numbers: &samples.numbers,
        }
    }
}

type OccParts<'a> = (&'a [u8; 256], &'a [u32], gpu::Layout<'a>);

fn planes_parts<const P: usize>(planes: &Planes<P>) -> OccParts<'_> {
    let layout = gpu::Layout::BitSliced {
        planes: P,
        lines: &planes.lines,
        symbols: &planes.symbols,
        places: &planes.rare.places,
        rare_symbols: &planes.rare.symbols,
        by_symbol: &planes.rare.by_symbol,
        ends: &planes.rare.ends,
    };
    (&planes.codes, &planes.supers, layout)
}

fn counted_parts(counted: &Counted) -> OccParts<'_> {
    let layout = gpu::Layout::Bytes {
        bytes: &counted.bytes,
        skew: counted.skew,
        log: counted.log,
        stride: counted.stride,
        counters: &counted.counters,
    };
    (&counted.columns, &counted.supers, layout)
}
