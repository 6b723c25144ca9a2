//! Pinned memory of the host, from and to which the device copies: blocks and transforms on their
//! way.
//!
//! Pinned memory is copied at the speed of the bus, and without the processor; ordinary memory is
//! not. It takes long to get, so it is kept. The driver takes 13 ms for 32 MiB, and nothing else
//! meanwhile; to pin huge pages that are there takes a millisecond.

use super::array::Array;
use super::gpu_stream::Gpu;
use crate::allocation;
use crate::error::{Error, Result};
use cudarc::driver::{CudaContext, DeviceRepr, ValidAsZeroBits, result, sys};
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Pages begin at multiples of so many bytes, and are pinned as a whole.
const PAGE: usize = 4096;

/// Pinned memory that grows with what is asked of it.
#[derive(Debug)]
pub struct PinnedBuffer<T> {
    memory: Option<PinnedPages>,
    items: PhantomData<T>,
}

/// Whole pages that are zero at first.
#[derive(Debug)]
struct PinnedPages {
    /// The pages, with what is left of others before and behind them.
    words: Vec<u64>,
    /// Where they begin, in words, and their size in bytes.
    first: usize,
    size: usize,
    /// The context that has to let go of them; `None` where the system does not pin them, so that
    /// copies take longer.
    pinned_by: Option<Arc<CudaContext>>,
}

impl<T> Default for PinnedBuffer<T> {
    fn default() -> Self {
        PinnedBuffer { memory: None, items: PhantomData }
    }
}

impl PinnedPages {
    #[allow(unsafe_code)]
    fn new(gpu: &Gpu, bytes: usize) -> Result<Self> {
        let no_memory = || Error::out_of_memory("for a block");
        let size = bytes.max(1).next_multiple_of(PAGE);
        let words = allocation::zeroed::<u64>((size + PAGE) / 8).ok_or_else(no_memory)?;
        let first = words.as_ptr().align_offset(PAGE);
        let mut pages = PinnedPages { words, first, size, pinned_by: None };
        // Here other threads may touch theirs meanwhile, within the driver they wait.
        for word in pages.words.iter_mut().step_by(PAGE / 8) {
            // SAFETY: a word of the vector; the compiler would leave out a usual write.
            unsafe { std::ptr::from_mut(word).write_volatile(0) };
        }
        let stream = gpu.raw_stream();
        // SAFETY: the pages belong to `words` alone and stay where they are until it is dropped,
        // before which they are let go.
        let pinned = unsafe { sys::cuMemHostRegister_v2(pages.start().cast(), size, 0) };
        if stream.is_ok() && pinned.result().is_ok() {
            pages.pinned_by = Some(Arc::clone(gpu.context()));
        }
        Ok(pages)
    }

    fn start(&mut self) -> *mut u64 {
        self.words[self.first..].as_mut_ptr()
    }
}

impl Drop for PinnedPages {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        if let Some(context) = &self.pinned_by {
            // What fails here adds nothing: the context is gone, and its hold on the pages.
            let _ = context.bind_to_thread();
            let start = self.words[self.first..].as_mut_ptr();
            // SAFETY: these pages were pinned.
            let _ = unsafe { sys::cuMemHostUnregister(start.cast()) };
        }
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> PinnedBuffer<T> {
    /// The first `len` items, when it has so many. Nothing may be on its way from or to them.
    pub fn reserve(&mut self, gpu: &Gpu, len: usize) -> Result<&mut [T]> {
        let bytes = len * size_of::<T>();
        if self.memory.as_ref().is_none_or(|pages| pages.size < bytes) {
            self.memory = None;
            self.memory = Some(PinnedPages::new(gpu, bytes)?);
        }
        Ok(self.first_mut(len))
    }

    /// The first `len` items.
    ///
    /// # Panics
    /// If it has less.
    #[allow(unsafe_code)]
    pub fn first(&self, len: usize) -> &[T] {
        let pages = self.memory.as_ref().expect("it was reserved");
        assert!(len * size_of::<T>() <= pages.size, "{len} items are more than there are");
        // SAFETY: there are so many, all of them zeros or written, and lent as long as this is;
        // pages are aligned for all items.
        unsafe { slice::from_raw_parts(pages.words[pages.first..].as_ptr().cast(), len) }
    }

    #[allow(unsafe_code)]
    fn first_mut(&mut self, len: usize) -> &mut [T] {
        let pages = self.memory.as_mut().expect("it was reserved");
        assert!(len * size_of::<T>() <= pages.size, "{len} items are more than there are");
        // SAFETY: as above, and lent to one alone.
        unsafe { slice::from_raw_parts_mut(pages.start().cast(), len) }
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
