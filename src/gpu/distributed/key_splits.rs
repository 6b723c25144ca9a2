//! Cuts of sorted keys on several GPUs, with exactly the wanted number of keys before each: the
//! host side of `kernels/distributed/key_splits.cu`.
//!
//! The splitter itself is found, eight bits a round: each GPU counts its keys below 256 candidates
//! for each cut, by binary search. That takes a fraction of a millisecond, less than a sort, and
//! each GPU gets exactly its rows, whatever the text. Equal keys are cut in the order of the GPUs.
//!
//! Regular sampling is not used. It cuts only near the wanted place and needs room for what it
//! misses, and if keys are equal it needs their positions too.

use super::device_exchange::DeviceExchange;
use crate::base::error::Result;
use crate::gpu::runtime::tuning::MOST_PROCESSORS;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, arguments};
use std::ops::Range;

/// Bits of a splitter that a round finds.
const DIGIT: u32 = 8;
/// Number of candidates for these bits.
const CANDIDATES: u64 = 1 << DIGIT;

/// A cut through sorted keys that lie on several GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Range of the keys in the list of this GPU.
    pub range: Range<u32>,
    /// Number of keys of all GPUs that lie before the cut. There are more keys than that.
    pub wanted: u64,
}

/// Buffers of the search for cuts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeySplits<'m> {
    ranges: Array<'m, u32>,
    candidates: Array<'m, u64>,
    counts: Array<'m, u32>,
}

impl<'m> KeySplits<'m> {
    pub(crate) fn allocate(arena: &mut ArenaAllocator<'m>) -> Self {
        let most = MOST_PROCESSORS as usize;
        let candidates = CANDIDATES as usize * most;
        KeySplits {
            ranges: arena.array(2 * most),
            candidates: arena.array(candidates),
            counts: arena.array(candidates),
        }
    }

    /// Returns for each cut the number of keys of each GPU that lie before it. A key is a row of
    /// words of `bits` bits each, which lie in columns: rows that are equal in one word are cut by
    /// the next one. Each range of keys is sorted.
    pub(crate) fn find<E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        exchange: &mut E,
        columns: &[Array<u64>],
        bits: u32,
        mut cuts: Vec<Cut>,
    ) -> Result<Vec<Vec<u64>>> {
        let number = exchange.number();
        let mut before = vec![vec![0; exchange.count()]; cuts.len()];
        let mut equal = before.clone();
        for &column in columns {
            let found = self.splitters(gpu, exchange, column, bits, &cuts)?;
            for (c, (cut, counts)) in cuts.iter_mut().zip(&found).enumerate() {
                for (gpu, [less, up_to]) in counts.iter().enumerate() {
                    before[c][gpu] += less;
                    equal[c][gpu] = up_to - less;
                    cut.wanted -= less;
                }
                let [less, up_to] = counts[number];
                let start = cut.range.start;
                cut.range = start + less as u32..start + up_to as u32;
            }
        }
        for (c, cut) in cuts.iter().enumerate() {
            let mut left = cut.wanted;
            for (before, equal) in before[c].iter_mut().zip(&equal[c]) {
                let taken = left.min(*equal);
                (*before, left) = (*before + taken, left - taken);
            }
        }
        Ok(before)
    }

    /// Returns for each cut and GPU the number of keys less than the splitter, and the number of
    /// keys not above it.
    fn splitters<E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        exchange: &mut E,
        keys: Array<u64>,
        bits: u32,
        cuts: &[Cut],
    ) -> Result<Vec<Vec<[u64; 2]>>> {
        let ranges: Vec<u32> = cuts
            .iter()
            .flat_map(|cut| [cut.range.start, cut.range.end])
            .collect();
        gpu.write(&ranges, self.ranges)?;
        let mut splitters = vec![0_u64; cuts.len()];
        for shift in (0..bits.div_ceil(DIGIT))
            .rev()
            .map(|round| DIGIT * round)
        {
            let candidates = splitters
                .iter()
                .flat_map(|s| (0..CANDIDATES).map(move |d| s + (d << shift)));
            let counts = self.count_less(gpu, keys, CANDIDATES as u32, candidates.collect())?;
            let all = exchange.all_gather(&counts)?;
            for (c, (splitter, cut)) in splitters.iter_mut().zip(cuts).enumerate() {
                let less = |d: &u64| -> u64 {
                    all.iter()
                        .map(|counts| counts[c * CANDIDATES as usize + *d as usize])
                        .sum()
                };
                let digit = (0..CANDIDATES)
                    .rev()
                    .find(|d| less(d) <= cut.wanted);
                *splitter += digit.expect("nothing is less than what was found so far") << shift;
            }
        }
        // Now the keys less than a splitter are as many as wanted, or some of those equal to it are
        // needed too.
        let ends = splitters
            .iter()
            .flat_map(|&s| [s, s.saturating_add(1)]);
        let mut counts = self.count_less(gpu, keys, 2, ends.collect())?;
        for (c, cut) in cuts
            .iter()
            .enumerate()
            .filter(|(c, _)| splitters[*c] == u64::MAX)
        {
            counts[2 * c + 1] = cut.range.len() as u64;
        }
        let all = exchange.all_gather(&counts)?;
        let of_cut = |c: usize| {
            all.iter()
                .map(|counts| [counts[2 * c], counts[2 * c + 1]])
                .collect()
        };
        Ok((0..cuts.len()).map(of_cut).collect())
    }

    /// Returns for each of `below` the number of keys less than it. The keys are sorted.
    pub(crate) fn count_below(
        &self,
        gpu: &Gpu,
        keys: Array<u64>,
        below: Vec<u64>,
    ) -> Result<Vec<u64>> {
        gpu.write(&[0, keys.len()], self.ranges)?;
        self.count_less(gpu, keys, below.len() as u32, below)
    }

    /// Returns for each candidate the number of keys of its range less than it.
    #[allow(unsafe_code)]
    fn count_less(
        &self,
        gpu: &Gpu,
        keys: Array<u64>,
        per_range: u32,
        candidates: Vec<u64>,
    ) -> Result<Vec<u64>> {
        let items = candidates.len() as u32;
        gpu.write(&candidates, self.candidates)?;
        let counts = self.counts.first(items);
        let KeySplits {
            ranges, candidates, ..
        } = *self;
        let arguments = arguments![keys, ranges, candidates, per_range, items, counts];
        // SAFETY: there are two items of `ranges`, which are parts of `keys`, for every `per_range`
        // candidates, and `counts` has one item for each candidate.
        unsafe { gpu.each("key_splits/count_less", items, arguments)? };
        Ok(gpu
            .read(counts)?
            .into_iter()
            .map(u64::from)
            .collect())
    }
}
