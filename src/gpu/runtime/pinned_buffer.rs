//! Pinned memory of the host, from and to which the device copies: blocks and transforms on their
//! way.
//!
//! Pinned memory is copied at the speed of the bus, and without the processor; ordinary memory is
//! not. It takes long to allocate, so it is kept.

use super::array::Array;
use super::gpu_stream::Gpu;
use crate::error::Result;
use cudarc::driver::{DeviceRepr, PinnedHostSlice, ValidAsZeroBits, result};
use std::ops::Range;
use std::slice;

/// Pinned memory that grows with what is asked of it.
#[derive(Debug)]
pub struct PinnedBuffer<T> {
    /// Where it is, how many items it has, and what frees it.
    memory: Option<(*mut T, usize, PinnedHostSlice<T>)>,
}

// SAFETY: the memory belongs to this alone, as that of a `Vec` does.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for PinnedBuffer<T> {}

impl<T> Default for PinnedBuffer<T> {
    fn default() -> Self {
        PinnedBuffer { memory: None }
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> PinnedBuffer<T> {
    /// The first `len` items, when it has so many. Nothing may be on its way from or to them.
    #[allow(unsafe_code)]
    pub fn reserve(&mut self, gpu: &Gpu, len: usize) -> Result<&mut [T]> {
        if self.memory.as_ref().is_none_or(|(_, items, _)| *items < len) {
            self.memory = None;
            // Flag 0: the default would be write-combined memory, which is slow to read.
            // SAFETY: its items are integers, and set to 0 here.
            let pinned = unsafe { gpu.context().alloc_pinned_with_flags::<T>(len.max(1), 0) };
            let mut pinned = gpu.check(pinned)?;
            let start = gpu.check(pinned.as_mut_ptr())?;
            // SAFETY: so many items were allocated.
            unsafe { start.write_bytes(0, len.max(1)) };
            self.memory = Some((start, len.max(1), pinned));
        }
        Ok(self.first_mut(len))
    }

    /// The first `len` items.
    ///
    /// # Panics
    /// If it has less.
    #[allow(unsafe_code)]
    pub fn first(&self, len: usize) -> &[T] {
        let (start, items, _) = self.memory.as_ref().expect("it was reserved");
        assert!(len <= *items, "{len} of {items} items");
        // SAFETY: there are so many, all of them written, and lent as long as this is.
        unsafe { slice::from_raw_parts(*start, len) }
    }

    #[allow(unsafe_code)]
    fn first_mut(&mut self, len: usize) -> &mut [T] {
        let (start, items, _) = self.memory.as_ref().expect("it was reserved");
        assert!(len <= *items, "{len} of {items} items");
        // SAFETY: as above, and lent to one alone.
        unsafe { slice::from_raw_parts_mut(*start, len) }
    }

    /// Queues a copy of the first items to an array. They may be written to when the work of the
    /// stream is done.
    pub fn upload(&self, gpu: &Gpu, array: Array<T>) -> Result<()> {
        self.upload_part(gpu, array, 0..array.len())
    }

    /// The same of a range of the items.
    #[allow(unsafe_code)]
    pub fn upload_part(&self, gpu: &Gpu, array: Array<T>, range: Range<u32>) -> Result<()> {
        assert_eq!(array.len() as usize, range.len());
        let stream = gpu.raw_stream()?;
        let items = &self.first(range.end as usize)[range.start as usize..];
        // SAFETY: the array is as long as `items`, which live on.
        gpu.check(unsafe { result::memcpy_htod_async(array.address(), items, stream) })
    }

    /// Queues a copy of an array to a range of the items. They may be read when the work of the
    /// stream is done.
    #[allow(unsafe_code)]
    pub fn download(&mut self, gpu: &Gpu, array: Array<T>, range: Range<u32>) -> Result<()> {
        assert_eq!(array.len() as usize, range.len());
        if range.is_empty() {
            return Ok(());
        }
        let stream = gpu.raw_stream()?;
        let items = &mut self.first_mut(range.end as usize)[range.start as usize..];
        // SAFETY: `items` are as long as the array and live on.
        gpu.check(unsafe { result::memcpy_dtoh_async(items, array.address(), stream) })
    }
}
