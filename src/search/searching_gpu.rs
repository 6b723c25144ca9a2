//! A GPU that searches blocks in memory. The CPU searches for some of the patterns too, and follows
//! some of the rows to their positions.
//!
//! What differs is an error of the GPU: the pool gives a warning, and the CPU does the whole batch.

use crate::base::error::{Error, Result};
use crate::base::spot_checks::spots;
use crate::fm_index::FmIndex;
use crate::gpu::GpuSearch;
use std::ops::Range;

#[cfg(test)]
type Lie = Box<dyn FnMut(&mut [u32]) + Send>;

/// A GPU that searches blocks of up to 4 GiB.
pub(crate) enum SearchingGpu {
    Cuda(Box<GpuSearch>),
    /// A test's stand-in for a GPU, which does what the CPU does and then changes it.
    #[cfg(test)]
    Fake(Lie),
}

impl SearchingGpu {
    /// Opens GPU `number`.
    pub(super) fn open(number: u32) -> Result<Self> {
        Ok(SearchingGpu::Cuda(Box::new(GpuSearch::new(number)?)))
    }

    #[cfg(test)]
    pub(super) fn fake(lie: impl FnMut(&mut [u32]) + Send + 'static) -> Self {
        SearchingGpu::Fake(Box::new(lie))
    }

    /// Returns true if the GPU can hold an index.
    pub(super) fn fits(&self, index: &FmIndex) -> Result<bool> {
        match self {
            SearchingGpu::Cuda(gpu) => index.fits(gpu),
            #[cfg(test)]
            SearchingGpu::Fake(_) => Ok(true),
        }
    }

    /// The interval of each pattern.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU fails, or if an interval is wrong.
    pub(super) fn intervals<P: AsRef<[u8]> + Sync>(
        &mut self,
        index: &FmIndex,
        patterns: &[P],
    ) -> Result<Vec<Range<u32>>> {
        let mut intervals = vec![0..0; patterns.len()];
        match self {
            SearchingGpu::Cuda(gpu) => index.search_on(gpu, patterns, &mut intervals)?,
            #[cfg(test)]
            SearchingGpu::Fake(lie) => fake_intervals(lie, index, patterns, &mut intervals),
        }
        let rows = index.len() as u32 + 1;
        let are_rows = |of: &Range<u32>| of.start <= of.end && of.end <= rows;
        let is_same =
            |of: &Range<u32>, sound: &Range<u32>| of == sound || of.is_empty() && sound.is_empty();
        match intervals.iter().all(are_rows) && agree_with_cpu(index, patterns, &intervals, is_same)
        {
            true => Ok(intervals),
            false => Err(Error::Device("a GPU found wrong rows".into())),
        }
    }

    /// Number of occurrences of each pattern.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU fails, or if a count is wrong.
    pub(super) fn counts<P: AsRef<[u8]> + Sync>(
        &mut self,
        index: &FmIndex,
        patterns: &[P],
    ) -> Result<Vec<u64>> {
        let mut counts = vec![0; patterns.len()];
        match self {
            SearchingGpu::Cuda(gpu) => gpu.search(
                &index.arrays(patterns.len())?,
                patterns,
                &mut counts,
                rows_in,
            )?,
            #[cfg(test)]
            SearchingGpu::Fake(lie) => {
                let mut intervals = vec![0..0; patterns.len()];
                fake_intervals(lie, index, patterns, &mut intervals);
                counts = intervals.into_iter().map(rows_in).collect();
            }
        }
        let rows = index.len() as u64 + 1;
        let is_same = |count: &u64, sound: &Range<u32>| *count == rows_in(sound.clone());
        match counts.iter().all(|&count| count <= rows)
            && agree_with_cpu(index, patterns, &counts, is_same)
        {
            true => Ok(counts),
            false => Err(Error::Device("a GPU counted wrongly".into())),
        }
    }

    /// The position of each row.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU fails, or if a position is wrong; [`Error::Format`] if it finds
    /// that the index contradicts itself.
    pub(super) fn positions(&mut self, index: &FmIndex, rows: &[u32]) -> Result<Vec<u32>> {
        let positions = match self {
            SearchingGpu::Cuda(gpu) => index.positions_on(gpu, rows)?,
            #[cfg(test)]
            SearchingGpu::Fake(lie) => {
                let mut positions = index.positions(rows)?;
                lie(&mut positions);
                positions
            }
        };
        let len = index.len() as u32;
        let some: Vec<u32> = spots(rows.len()).map(|n| rows[n]).collect();
        let sound = index.positions(&some)?;
        let are_sound = spots(rows.len())
            .zip(sound)
            .all(|(n, sound)| positions[n] == sound);
        match are_sound && positions.iter().all(|&position| position <= len) {
            true => Ok(positions),
            false => Err(Error::Device("a GPU found wrong positions".into())),
        }
    }
}

/// Returns true if `is_same` is true for what a GPU found for some of the patterns and the
/// intervals that the CPU finds for them.
fn agree_with_cpu<P: AsRef<[u8]> + Sync, T>(
    index: &FmIndex,
    patterns: &[P],
    found: &[T],
    is_same: impl Fn(&T, &Range<u32>) -> bool,
) -> bool {
    let some: Vec<&[u8]> = spots(patterns.len())
        .map(|n| patterns[n].as_ref())
        .collect();
    let mut sound = vec![0..0; some.len()];
    index.search(&some, &mut sound);
    spots(patterns.len())
        .zip(&sound)
        .all(|(n, sound)| is_same(&found[n], sound))
}

/// Number of rows of an interval. An interval that ends before it begins has more rows than any
/// index.
fn rows_in(interval: Range<u32>) -> u64 {
    interval
        .end
        .checked_sub(interval.start)
        .map_or(u64::MAX, u64::from)
}

/// Changes the ends of the intervals that the CPU finds.
#[cfg(test)]
fn fake_intervals<P: AsRef<[u8]> + Sync>(
    lie: &mut Lie,
    index: &FmIndex,
    patterns: &[P],
    intervals: &mut [Range<u32>],
) {
    index.search(patterns, intervals);
    let mut ends: Vec<u32> = intervals.iter().map(|of| of.end).collect();
    lie(&mut ends);
    for (interval, end) in intervals.iter_mut().zip(ends) {
        interval.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::SearchingGpu;
    use crate::base::positions::NarrowLimits;
    use crate::bwt::Sorter;
    use crate::cases;
    use crate::engine::device_pool::{DevicePool, Opener, Rates};
    use crate::options::events::Listener;
    use crate::search::loaded_index::LoadedIndex;

    type Change = fn(&mut [u32]);

    /// A GPU's numbers that are not the CPU's are found among few and among many, and the CPU does
    /// all. There is one warning.
    #[test]
    fn what_a_gpu_finds_wrongly_the_cpu_finds() {
        let text = cases::text(20_000);
        let bwt = Sorter::Cpu.sort(&text, 8).unwrap();
        let index = LoadedIndex::new(bwt, NarrowLimits::USUAL).unwrap();
        let patterns: Vec<&[u8]> = text.windows(4).step_by(7).collect();
        let few = &patterns[..3];
        let rows: Vec<u64> = (1..=9_000).collect();
        // The last is what no sample finds for sure: it is impossible.
        let lies: [Change; 3] = [
            |numbers| numbers.iter_mut().for_each(|n| *n += 1),
            |numbers| numbers.reverse(),
            |numbers| numbers[1] = u32::MAX,
        ];
        let honest = LoadedAnswers::of(&index, &patterns, few, &rows, None);
        for (n, lie) in lies.into_iter().enumerate() {
            for first in 0..4 {
                let found = LoadedAnswers::of(&index, &patterns, few, &rows, Some((first, lie)));
                assert!(
                    found.numbers == honest.numbers,
                    "lie {n} to question {first}"
                );
                assert_eq!(found.warnings.len(), 1, "lie {n} to question {first}");
            }
        }
        let quiet = LoadedAnswers::of(&index, &patterns, few, &rows, Some((0, |_| ())));
        assert!(quiet.numbers == honest.numbers && quiet.warnings.is_empty());
    }

    /// The numbers of four questions, and the warnings.
    struct LoadedAnswers {
        numbers: [Vec<u64>; 4],
        warnings: Vec<String>,
    }

    impl LoadedAnswers {
        /// Asks a GPU, if there is one, which lies from question `first` on.
        fn of(
            index: &LoadedIndex,
            patterns: &[&[u8]],
            few: &[&[u8]],
            rows: &[u64],
            gpu: Option<(usize, Change)>,
        ) -> Self {
            let (listener, warnings) = Listener::of_warnings();
            let mut asked = 0;
            let gpus = gpu.map(|(first, lie)| {
                SearchingGpu::fake(move |numbers| {
                    if asked >= first {
                        lie(numbers);
                    }
                    asked += 1;
                })
            });
            let opener = Opener::of(gpus.into_iter().collect());
            let pool = DevicePool::new(opener, Rates::SEARCH, 1, listener);
            let mut lease = pool.lease(1, 1);
            let flat = |of: Vec<std::ops::Range<u64>>| of.into_iter().map(|of| of.end).collect();
            let numbers = [
                index.counts(patterns, &mut lease).unwrap(),
                index.counts(few, &mut lease).unwrap(),
                flat(index.intervals(patterns, &mut lease)),
                index.positions(rows, &mut lease).unwrap(),
            ];
            drop(lease);
            drop(pool);
            let warnings = warnings.lock().unwrap().clone();
            LoadedAnswers { numbers, warnings }
        }
    }
}
