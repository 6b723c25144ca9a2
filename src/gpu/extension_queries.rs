//! Batches of queries on their way to a GPU and back: the least of ranges of values, and how far
//! two positions of a text agree.
//!
//! The values are once on the device, with the table of their minima and the row of each position:
//! 8 bytes and 1.1 to 1.5 more for each. A batch takes 12 bytes a query on either side.

use crate::error::Result;
use crate::gpu::interface::MinimaArrays;
use crate::gpu::lcp::DeviceMinima;
use crate::gpu::runtime::{Array, Gpu, GrowingArena, PinnedBuffer};

/// Queries in a batch at most: 12 MiB.
const BATCH: usize = 1 << 20;

/// Answers queries on one GPU. Its memory is kept for the next batches, and so are the last values.
#[derive(Debug)]
pub struct ExtensionQueries {
    gpu: Gpu,
    minima: Option<(u64, DeviceMinima)>,
    input: PinnedBuffer<u32>,
    output: PinnedBuffer<u32>,
    memory: GrowingArena,
}

/// What is asked of pairs of numbers: a function that queues it, given these and room for answers.
type Question = fn(&DeviceMinima, &Gpu, Array<u32>, Array<u32>) -> Result<()>;

impl ExtensionQueries {
    /// On GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where there is none, or no driver, or it fails.
    pub fn new(number: u32) -> Result<Self> {
        Ok(ExtensionQueries {
            gpu: Gpu::open(number)?,
            minima: None,
            input: PinnedBuffer::default(),
            output: PinnedBuffer::default(),
            memory: GrowingArena::default(),
        })
    }

    /// The least value of each range, given by both ends; of an empty one `u32::MAX`. The values
    /// are copied to the device unless they were the last.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where the memory of the GPU does not do, or the GPU
    /// fails.
    ///
    /// # Panics
    /// If there are no values, or less than a range has.
    pub fn least(
        &mut self,
        arrays: &MinimaArrays,
        ranges: &[(u32, u32)],
        found: &mut [u32],
    ) -> Result<()> {
        let n = arrays.values.len();
        assert!(ranges.iter().all(|&(from, to)| from >= to || to as usize <= n), "beyond {n}");
        self.answer(arrays, ranges, found, DeviceMinima::least)
    }

    /// How far the suffixes at each two positions agree, of which `arrays` has the rows.
    ///
    /// # Errors
    /// As [`ExtensionQueries::least`].
    ///
    /// # Panics
    /// If a position is not in the text.
    pub fn longest(
        &mut self,
        arrays: &MinimaArrays,
        pairs: &[(u32, u32)],
        found: &mut [u32],
    ) -> Result<()> {
        let n = arrays.rows.len();
        assert!(pairs.iter().all(|&(a, b)| (a.max(b) as usize) < n), "beyond {n}");
        self.answer(arrays, pairs, found, DeviceMinima::longest)
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.gpu.fail_after(launches);
    }

    fn answer(
        &mut self,
        arrays: &MinimaArrays,
        pairs: &[(u32, u32)],
        found: &mut [u32],
        question: Question,
    ) -> Result<()> {
        assert_eq!(pairs.len(), found.len(), "an answer for each query");
        self.load(arrays)?;
        let mut batches = pairs.chunks(BATCH).zip(found.chunks_mut(BATCH));
        let done = batches.try_for_each(|(pairs, found)| self.batch(pairs, found, question));
        self.gpu.ended(done)
    }

    fn load(&mut self, arrays: &MinimaArrays) -> Result<()> {
        if self.minima.as_ref().is_none_or(|(id, _)| *id != arrays.id) {
            // Before the new ones are there: there may be no room for both.
            self.minima = None;
            let minima = DeviceMinima::new(&self.gpu, arrays.values, arrays.rows)?;
            self.minima = Some((arrays.id, minima));
        }
        Ok(())
    }

    fn batch(&mut self, pairs: &[(u32, u32)], found: &mut [u32], question: Question) -> Result<()> {
        let (gpu, count) = (&self.gpu, pairs.len());
        let input = self.input.reserve(gpu, 2 * count)?;
        for (two, &(a, b)) in input.chunks_exact_mut(2).zip(pairs) {
            two.copy_from_slice(&[a, b]);
        }
        self.output.reserve(gpu, count)?;
        let (queries, answers): (Array<u32>, Array<u32>) =
            self.memory.fit(gpu, |arena| Ok((arena.array(2 * count), arena.array(count))))?;
        self.input.upload(gpu, queries)?;
        let (_, minima) = self.minima.as_ref().expect("they were loaded");
        question(minima, gpu, queries, answers)?;
        self.output.download(gpu, answers, 0..count as u32)?;
        gpu.wait()?;
        found.copy_from_slice(self.output.first(count));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
