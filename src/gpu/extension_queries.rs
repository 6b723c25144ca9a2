//! Answers batches of LCP queries on a GPU: range minima, and longest common extensions of two
//! positions of a text.
//!
//! The values are copied to the device once, with the table of their minima and the row of each
//! position. That takes 8 bytes per value, and 1.1 to 1.5 bytes more for the table. A batch takes
//! 12 bytes per query on the host and on the device.

use crate::base::error::Result;
use crate::gpu::interface::MinimaArrays;
use crate::gpu::lcp::DeviceMinima;
use crate::gpu::runtime::{Array, Gpu, GrowingArena, PinnedBuffer};

/// Maximum number of queries in a batch, which takes 12 MiB.
const BATCH: usize = 1 << 20;

/// Answers queries on one GPU. It keeps its memory and the last values for the next batches.
#[derive(Debug)]
pub struct ExtensionQueries {
    gpu: Gpu,
    minima: Option<(u64, DeviceMinima)>,
    input: PinnedBuffer<u32>,
    output: PinnedBuffer<u32>,
    memory: GrowingArena,
}

/// A function that queues a batch: it takes pairs of numbers and an array for the answers.
type Question = fn(&DeviceMinima, &Gpu, Array<u32>, Array<u32>) -> Result<()>;

impl ExtensionQueries {
    /// Creates an answerer on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU or its driver is missing, or if the GPU
    /// fails.
    pub fn new(number: u32) -> Result<Self> {
        Ok(ExtensionQueries {
            gpu: Gpu::open(number)?,
            minima: None,
            input: PinnedBuffer::default(),
            output: PinnedBuffer::default(),
            memory: GrowingArena::default(),
        })
    }

    /// Finds the smallest value of each range, which is given by both ends; `u32::MAX` for an empty
    /// range. The values are copied to the device unless they were the last ones used.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU has too little memory or fails.
    ///
    /// # Panics
    /// If there are no values, or if a range ends beyond them.
    pub fn least(
        &mut self,
        arrays: &MinimaArrays,
        ranges: &[(u32, u32)],
        found: &mut [u32],
    ) -> Result<()> {
        let n = arrays.values.len();
        assert!(
            ranges
                .iter()
                .all(|&(from, to)| from >= to || to as usize <= n),
            "beyond {n}"
        );
        self.answer(arrays, ranges, found, DeviceMinima::least)
    }

    /// Finds the length of the longest common prefix of the suffixes at the two positions of each
    /// pair. `arrays` must have the row of each position.
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
        assert!(
            pairs
                .iter()
                .all(|&(a, b)| (a.max(b) as usize) < n),
            "beyond {n}"
        );
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
        if self
            .minima
            .as_ref()
            .is_none_or(|(id, _)| *id != arrays.id)
        {
            // The old values are freed first, since there may be no room for both.
            self.minima = None;
            let minima = DeviceMinima::new(&self.gpu, arrays.values, arrays.rows)?;
            self.minima = Some((arrays.id, minima));
        }
        Ok(())
    }

    fn batch(&mut self, pairs: &[(u32, u32)], found: &mut [u32], question: Question) -> Result<()> {
        let gpu = &self.gpu;
        let count = pairs.len();
        let input = self.input.reserve(gpu, 2 * count)?;
        for (two, &(a, b)) in input.chunks_exact_mut(2).zip(pairs) {
            two.copy_from_slice(&[a, b]);
        }
        self.output.reserve(gpu, count)?;
        let (queries, answers): (Array<u32>, Array<u32>) = self.memory.fit(gpu, |arena| {
            Ok((arena.array(2 * count), arena.array(count)))
        })?;
        self.input.upload(gpu, queries)?;
        let (_, minima) = self.minima.as_ref().expect("they were loaded");
        question(minima, gpu, queries, answers)?;
        self.output
            .download(gpu, answers, 0..count as u32)?;
        gpu.wait()?;
        found.copy_from_slice(self.output.first(count));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
