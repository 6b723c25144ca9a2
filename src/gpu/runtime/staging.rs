//! Copies between the host's ordinary memory and arrays, by way of two pinned buffers. While the
//! device copies from or to one of them, the host fills or reads the other.
//!
//! Pinning all memory of a very large block would take longer than copying it.

use super::array::Array;
use super::gpu_stream::Gpu;
use super::pinned_buffer::PinnedBuffer;
use crate::base::error::Result;
use std::ops::Range;

/// Two pinned buffers, each with a stream.
#[derive(Debug)]
pub(crate) struct Staging {
    lanes: [Lane; 2],
    /// Size of a buffer in bytes.
    portion: u64,
}

#[derive(Debug)]
struct Lane {
    copies: Gpu,
    bytes: PinnedBuffer<u8>,
}

impl Lane {
    fn open(number: u32) -> Result<Self> {
        Ok(Lane {
            copies: Gpu::open(number)?,
            bytes: PinnedBuffer::default(),
        })
    }
}

impl Staging {
    /// Usual size of a buffer in bytes. With less, the host's threads would often wait for each
    /// other.
    pub(crate) const PORTION: u64 = 128 << 20;

    /// Opens the streams on GPU `number`, for portions of up to `portion` bytes.
    ///
    /// # Errors
    /// Those of [`Gpu::open`].
    pub(crate) fn open(number: u32, portion: u64) -> Result<Self> {
        Ok(Staging {
            lanes: [Lane::open(number)?, Lane::open(number)?],
            portion,
        })
    }

    /// Allocates the pinned memory for arrays of up to `len` bytes.
    pub(crate) fn reserve(&mut self, len: u64) -> Result<()> {
        let portion = len.min(self.portion) as usize;
        self.lanes.iter_mut().try_for_each(|lane| {
            lane.bytes
                .reserve(&lane.copies, portion)
                .map(drop)
        })
    }

    /// Copies to an array what `fill` writes, portion by portion. Later work of `gpu` waits for the
    /// copies. They do not wait for `gpu`, which must not use the array.
    pub(crate) fn upload(
        &mut self,
        gpu: &Gpu,
        array: Array<u8>,
        mut fill: impl FnMut(Range<u64>, &mut [u8]),
    ) -> Result<()> {
        for (portion, lane) in
            portions(array.size() as u64, self.portion).zip([0, 1].into_iter().cycle())
        {
            let Lane { copies, bytes } = &mut self.lanes[lane];
            let len = (portion.end - portion.start) as usize;
            copies.wait()?;
            fill(portion.clone(), bytes.reserve(copies, len)?);
            bytes.upload(copies, array.long_part(portion))?;
        }
        self.lanes
            .iter()
            .try_for_each(|lane| gpu.wait_for(&lane.copies))
    }

    /// Gives `take` the bytes of an array, portion by portion. The copies wait for all work that
    /// `gpu` has queued so far.
    pub(crate) fn download(
        &mut self,
        gpu: &Gpu,
        array: Array<u8>,
        mut take: impl FnMut(Range<u64>, &[u8]),
    ) -> Result<()> {
        for lane in &self.lanes {
            lane.copies.wait_for(gpu)?;
        }
        let mut give = |lanes: &[Lane; 2], portion: Range<u64>, lane: usize| -> Result<()> {
            lanes[lane].copies.wait()?;
            let len = (portion.end - portion.start) as usize;
            take(portion, lanes[lane].bytes.first(len));
            Ok(())
        };
        let mut before = None;
        for (portion, lane) in
            portions(array.size() as u64, self.portion).zip([0, 1].into_iter().cycle())
        {
            let Lane { copies, bytes } = &mut self.lanes[lane];
            let len = (portion.end - portion.start) as u32;
            bytes.reserve(copies, len as usize)?;
            bytes.download(copies, array.long_part(portion.clone()), 0..len)?;
            if let Some((portion, lane)) = before.replace((portion, lane)) {
                give(&self.lanes, portion, lane)?;
            }
        }
        before.map_or(Ok(()), |(portion, lane)| give(&self.lanes, portion, lane))
    }

    /// Returns `done`. After a failure it first waits for all copies.
    pub(crate) fn ended<T>(&self, done: Result<T>) -> Result<T> {
        self.lanes
            .iter()
            .fold(done, |done, lane| lane.copies.ended(done))
    }
}

/// The portions of `len` bytes, of up to `size` bytes each.
fn portions(len: u64, size: u64) -> impl Iterator<Item = Range<u64>> {
    (0..len)
        .step_by(size as usize)
        .map(move |from| from..len.min(from + size))
}
