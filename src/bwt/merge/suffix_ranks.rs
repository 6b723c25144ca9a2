//! The rank in B of each suffix of A: the number of suffixes of B that are smaller.
//!
//! Ranks are computed from right to left through A. If c is the symbol at i, then r(i) is the first
//! row of B that starts with c, plus the number of c in the L column of B above row r(i + 1). Each
//! step waits for memory. So each thread follows many stretches of A, the *lanes*, in turn.
//!
//! A lane must know r at its end. It starts further right with a lower and an upper bound, at first
//! 0 and the number of rows. Both steps keep their order, and mostly the bounds meet within a few
//! dozen bytes. They do not meet if the text is equal to a part of B for a long stretch. The lane
//! then waits for its right neighbour and starts from the end of that lane.

use super::super::Bwt;
use super::super::sort_limits::MergeLimits;
use super::interleave::InterleaveLog;
use super::lf_counts::LfCounts;
use crate::base::positions::Row;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Lanes that a thread follows at a time. With fewer lanes the thread waits for memory; more lanes
/// gain nothing.
const LANES: usize = 32;

/// Bytes behind the end of a lane at which its bounds start, at the first and at the second try.
const RUN_UPS: [usize; 2] = [64, 512];

/// The end of a lane: a position in A, and its rank in B.
#[derive(Clone, Copy, Debug)]
struct LaneEnd<R> {
    pos: usize,
    rank: R,
}

/// The ranks that the merge needs.
pub(super) struct Ranks<R> {
    /// The ranks of the suffixes at 1..=h. The suffix at h is B itself: it represents the byte
    /// before it, which is not in B.
    pub logs: Vec<InterleaveLog<R>>,
    /// The ranks of the sampled suffixes of A.
    pub sampled: Vec<u64>,
}

/// A, the transform of B, and the length of lanes into which A is cut.
struct BackwardSearch<'a, R> {
    a: &'a [u8],
    counts: &'a LfCounts<R>,
    rows: R,
    /// The row of position 0 of B, whose symbol is not in the transform.
    primary: R,
    lane_len: usize,
}

/// Ranks all suffixes of `a` in `b`, whose counts are `counts`. `None` if there is no memory.
pub(super) fn rank_all<R: Row>(
    a: &[u8],
    sample_rate: u32,
    counts: &LfCounts<R>,
    b: &Bwt,
    limits: MergeLimits,
) -> Option<Ranks<R>> {
    let sample_rate = sample_rate as usize;
    let rows = b.bytes.len() + 1;
    let search = BackwardSearch {
        a,
        counts,
        rows: R::new(rows),
        primary: R::new(b.samples[0] as usize),
        lane_len: sample_rate.min(limits.lane_len),
    };
    let ends = search.lane_ends();
    let sampled: Vec<AtomicU64> = (0..a.len() / sample_rate)
        .map(|_| AtomicU64::new(0))
        .collect();
    let mut waiting: Vec<LaneEnd<R>> = ends.iter().copied().flatten().collect();
    waiting.sort_by_key(|lane| lane.pos);
    let waiting = Mutex::new(waiting);
    let reached = |lane: LaneEnd<R>| {
        if lane.pos.is_multiple_of(sample_rate) {
            sampled[lane.pos / sample_rate].store(lane.rank.into(), Ordering::Relaxed);
        }
    };
    let threads = rayon::current_num_threads();
    let tasks = (0..threads).into_par_iter().with_max_len(1);
    let follow = |_| {
        let mut log = InterleaveLog::new(a.len() / threads, rows);
        search.follow(&waiting, &ends, |rank| log.push(rank), reached);
        log
    };
    let logs: Vec<InterleaveLog<R>> = tasks.map(follow).collect();
    let sampled = sampled
        .into_iter()
        .map(AtomicU64::into_inner)
        .collect();
    logs.iter()
        .all(InterleaveLog::is_complete)
        .then_some(Ranks { logs, sampled })
}

impl<R: Row> BackwardSearch<'_, R> {
    /// The ends of the lanes, by their starts. Lanes without an end wait for their right neighbour.
    fn lane_ends(&self) -> Vec<Option<LaneEnd<R>>> {
        let h = self.a.len();
        let mut ends = vec![None; h / self.lane_len];
        ends[h / self.lane_len - 1] = Some(LaneEnd {
            pos: h,
            rank: self.primary,
        });
        for length in RUN_UPS {
            let unknown = |k: &usize| ends[*k].is_none() && self.end(*k) + length <= h;
            let unknown: Vec<usize> = (0..ends.len()).filter(unknown).collect();
            let run_up = |lanes: &[usize]| self.run_up(lanes, length);
            let found: Vec<_> = unknown
                .par_chunks(LANES / 2)
                .flat_map_iter(run_up)
                .collect();
            for (&k, rank) in unknown.iter().zip(found) {
                ends[k] = rank.map(|rank| LaneEnd {
                    pos: self.end(k),
                    rank,
                });
            }
        }
        ends
    }

    /// The ranks at the ends of the lanes `numbers`, if the bounds meet there.
    fn run_up(&self, numbers: &[usize], length: usize) -> Vec<Option<R>> {
        let bounds = |k| {
            [R::default(), self.rows].map(|rank| LaneEnd {
                pos: self.end(k) + length,
                rank,
            })
        };
        let mut lanes: Vec<LaneEnd<R>> = numbers.iter().copied().flat_map(bounds).collect();
        self.steps(&mut lanes, length, |_| ());
        let met = |pair: &[LaneEnd<R>]| (pair[0].rank == pair[1].rank).then_some(pair[0].rank);
        lanes.chunks_exact(2).map(met).collect()
    }

    fn end(&self, lane: usize) -> usize {
        (lane + 1) * self.lane_len
    }

    /// Takes lanes from `waiting` and follows each, and then the lane that starts at its end. Calls
    /// `visit` for each rank.
    fn follow(
        &self,
        waiting: &Mutex<Vec<LaneEnd<R>>>,
        ends: &[Option<LaneEnd<R>>],
        mut visit: impl FnMut(R),
        reached: impl Fn(LaneEnd<R>),
    ) {
        let mut lanes = Vec::with_capacity(LANES);
        loop {
            if let Ok(mut waiting) = waiting.lock() {
                let left = waiting.len().saturating_sub(LANES - lanes.len());
                lanes.extend(waiting.drain(left..));
            }
            if lanes.is_empty() {
                return;
            }
            self.steps(&mut lanes, self.lane_len, &mut visit);
            lanes.iter().for_each(|&lane| reached(lane));
            lanes.retain(|lane| lane.pos > 0 && ends[lane.pos / self.lane_len - 1].is_none());
        }
    }

    /// Takes `count` steps with all lanes. Calls `visit` for each rank but the last.
    #[allow(unsafe_code)]
    fn steps(&self, lanes: &mut [LaneEnd<R>], count: usize, visit: impl FnMut(R)) {
        #[cfg(target_arch = "x86_64")]
        if crate::base::simd_dispatch::has_avx2() {
            // SAFETY: the machine has the features that the function is compiled for.
            return unsafe { self.steps_v3(lanes, count, visit) };
        }
        self.steps_of_all(lanes, count, visit);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,avx2,bmi1,bmi2")]
    fn steps_v3(&self, lanes: &mut [LaneEnd<R>], count: usize, visit: impl FnMut(R)) {
        self.steps_of_all(lanes, count, visit);
    }

    #[inline(always)]
    fn steps_of_all(&self, lanes: &mut [LaneEnd<R>], count: usize, mut visit: impl FnMut(R)) {
        for _ in 0..count {
            for lane in &mut *lanes {
                visit(lane.rank);
                lane.pos -= 1;
                let c = self.a[lane.pos];
                lane.rank = self.counts.step(c, self.stored(lane.rank));
                let next = self.a[lane.pos.saturating_sub(1)];
                self.counts.prefetch(next, self.stored(lane.rank));
            }
        }
    }

    /// The number of stored bytes above a row of B.
    #[inline(always)]
    fn stored(&self, row: R) -> usize {
        row.get() - usize::from(row > self.primary)
    }
}
