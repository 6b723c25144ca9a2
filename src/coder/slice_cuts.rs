//! The cuts of a BWT into slices of a given number of runs. FORMAT.md chapter 13.
//!
//! A run ends at a border: a byte that a different one follows. All threads count the borders of
//! small tiles. With the sums of these counts, a border is found by its number by reading one tile,
//! so that no thread reads the whole BWT.

use super::rle;
use crate::base::tasks::Executor;
use std::ops::Range;

/// Limits of a slice. A BWT is cut behind `runs` runs, or behind `bytes` bytes if runs are long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceLimits {
    /// Maximum number of runs in a slice.
    pub runs: usize,
    /// Maximum size of a slice in bytes.
    pub bytes: usize,
}

/// Bytes per tile, whose borders are counted together.
const TILE: usize = 1 << 10;

/// Tiles per task.
const TILES: usize = 1 << 10;

/// The borders of a BWT, tile by tile.
struct RunBorders<'b> {
    bwt: &'b [u8],
    /// Number of borders before each tile, and at the end the number of all borders.
    before: Vec<u64>,
}

impl<'b> RunBorders<'b> {
    fn new(on: Executor, bwt: &'b [u8]) -> Self {
        let mut before = vec![0; 1 + bwt.len().div_ceil(TILE)];
        let parts = before[1..]
            .chunks_mut(TILES)
            .zip(bwt.chunks(TILE * TILES))
            .enumerate();
        on.each(parts, |(n, (counts, part))| {
            let tiles = counts
                .iter_mut()
                .zip(part.chunks(TILE))
                .enumerate();
            for (k, (count, tile)) in tiles {
                let start = (n * TILES + k) * TILE;
                // The byte behind a tile decides if its last byte is a border.
                let end = bwt.len().min(start + tile.len() + 1);
                *count = rle::count(&bwt[start..end]) as u64 - 1;
            }
        });
        let mut sum = 0;
        for count in &mut before {
            sum += *count;
            *count = sum;
        }
        RunBorders { bwt, before }
    }

    fn all(&self) -> u64 {
        self.before.last().copied().unwrap_or_default()
    }

    /// Number of borders before `at`, which is within the BWT.
    fn before(&self, at: usize) -> u64 {
        let tile = at / TILE;
        self.before[tile] + rle::count(&self.bwt[tile * TILE..=at]) as u64 - 1
    }

    /// The end of border number `n`, counted from 1, or the end of the BWT if there are fewer.
    fn behind(&self, n: u64) -> usize {
        let tile = self.before.partition_point(|&before| before < n) - 1;
        let start = tile * TILE;
        let left = (n - self.before[tile]) as usize;
        let end = self.bwt.len().min(start + TILE + 1);
        match n <= self.all() {
            true => start + rle::end_of_runs(&self.bwt[start..end], left),
            false => self.bwt.len(),
        }
    }
}

/// The cuts of a BWT.
#[derive(Debug)]
pub(crate) struct SliceCuts {
    /// Number of runs behind which a slice ends, unless its bytes are too many.
    #[allow(dead_code, reason = "the GPU code alone reads it")]
    pub runs: usize,
    pub slices: Vec<Range<usize>>,
}

/// Cuts a BWT into slices of at most as many runs as the limits allow. The runs are spread evenly,
/// so that the last slice is no shorter than the others. If one slice is not enough, the number of
/// slices is a multiple of `step`, unless runs are long or few.
pub(super) fn cut(on: Executor, bwt: &[u8], limits: SliceLimits, step: u64) -> SliceCuts {
    let borders = RunBorders::new(on, bwt);
    let all = if bwt.is_empty() { 0 } else { borders.all() + 1 };
    let count = match all.div_ceil(limits.runs as u64) {
        0 | 1 => 1,
        several => several.next_multiple_of(step),
    };
    let runs = all.div_ceil(count).max(1);
    let mut slices = Vec::new();
    let mut start = 0;
    let mut before = 0;
    while start < bwt.len() {
        let most = bwt.len().min(start.saturating_add(limits.bytes));
        let end = borders.behind(before + runs).min(most);
        slices.push(start..end);
        before = if end < bwt.len() {
            borders.before(end)
        } else {
            before
        };
        start = end;
    }
    SliceCuts {
        runs: runs as usize,
        slices,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    /// Makes the same cuts by reading all runs from the first to the last.
    fn one_by_one(bwt: &[u8], limits: SliceLimits, step: usize) -> Vec<Range<usize>> {
        let all = rle::count(bwt);
        let mut count = all.div_ceil(limits.runs).max(1);
        while count > 1 && !count.is_multiple_of(step) {
            count += 1;
        }
        let runs = all.div_ceil(count).max(1);
        let mut slices = Vec::new();
        let mut start = 0;
        while start < bwt.len() {
            let most = bwt.len().min(start.saturating_add(limits.bytes));
            let end = start + rle::end_of_runs(&bwt[start..most], runs);
            slices.push(start..end);
            start = end;
        }
        slices
    }

    #[test]
    fn cuts_are_those_of_going_from_run_to_run() {
        let mut texts = cases::shapes(2 * TILE + 10);
        for alphabet in [1, 2, 4, 256] {
            for len in [
                TILE - 1,
                TILE,
                TILE + 1,
                3 * TILE,
                TILE * TILES + 5,
                2_300_000,
            ] {
                texts.push((format!("{len} of {alphabet}"), cases::random(len, alphabet)));
            }
        }
        let long = cases::random(3 * TILE, 2)
            .into_iter()
            .flat_map(|c| [c; 1500]);
        texts.push(("long runs".into(), long.collect()));
        for (name, bwt) in &texts {
            for (runs, bytes) in [
                (1, 7),
                (100, 1000),
                (1000, 1 << 20),
                (4096, 1 << 24),
                (77, 9000),
            ] {
                if bwt.len() / runs.min(bytes) > 1 << 16 {
                    continue;
                }
                let limits = SliceLimits { runs, bytes };
                for step in [1, 2, 3] {
                    let wanted = one_by_one(bwt, limits, step);
                    let cut = cut(Executor::CALLING, bwt, limits, step as u64);
                    assert_eq!(cut.slices, wanted, "{name}: {limits:?}, {step}");
                }
            }
        }
        let one = SliceLimits {
            runs: usize::MAX,
            bytes: usize::MAX,
        };
        let cut = cut(Executor::CALLING, b"aabb", one, 2);
        assert!(cut.slices.into_iter().eq(std::iter::once(0..4)));
    }

    #[test]
    fn slices_are_a_multiple_unless_one_does() {
        let bwt = cases::random(10_000, 256);
        let count = |runs, step| {
            cut(
                Executor::CALLING,
                &bwt,
                SliceLimits {
                    runs,
                    bytes: 1 << 24,
                },
                step,
            )
            .slices
            .len()
        };
        assert_eq!(
            [
                count(1 << 14, 2),
                count(5000, 2),
                count(3500, 2),
                count(3500, 1)
            ],
            [1, 2, 4, 3]
        );
    }
}
