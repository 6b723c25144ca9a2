//! Pinned host memory from and to which the device copies blocks and BWTs.
//!
//! Copies of pinned memory run at the speed of the bus and without the processor; those of ordinary
//! memory do not. Pinned memory takes long to get, so it is kept. The driver needs 13 ms to
//! allocate 32 MiB, and blocks other calls meanwhile. Pinning huge pages that are already mapped
//! takes one millisecond. With four threads that touch the pages, 32 MiB take 2.5 ms in all; with
//! one they take 5.7 (H200).

use super::array::Array;
use super::gpu_stream::Gpu;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use cudarc::driver::{CudaContext, DeviceRepr, ValidAsZeroBits, result, sys};
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use std::thread;

/// Size of a page in bytes. Pages are pinned as a whole.
const PAGE: usize = 4096;

/// Number of threads that touch pages.
const TOUCHING: usize = 4;

/// Pinned memory that grows to the size that is asked for.
#[derive(Debug)]
pub(crate) struct PinnedBuffer<T> {
    memory: Option<PinnedPages>,
    items: PhantomData<T>,
}

/// Whole pages, which are zero at first.
#[derive(Debug)]
struct PinnedPages {
    /// The pages, with the rests of other pages before and behind them.
    words: Vec<u64>,
    /// Offset of the first page in `words`, in words.
    first: usize,
    /// Size of the pages in bytes.
    size: usize,
    /// The context that must unpin the pages; `None` if the system does not pin them, which makes
    /// copies slower.
    pinned_by: Option<Arc<CudaContext>>,
}

impl<T> Default for PinnedBuffer<T> {
    fn default() -> Self {
        PinnedBuffer {
            memory: None,
            items: PhantomData,
        }
    }
}

impl PinnedPages {
    #[allow(unsafe_code)]
    fn new(gpu: &Gpu, bytes: usize) -> Result<Self> {
        let no_memory = || Error::out_of_memory("for a block");
        let size = bytes.max(1).next_multiple_of(PAGE);
        let words = allocation::zeroed::<u64>((size + PAGE) / 8).ok_or_else(no_memory)?;
        let first = words.as_ptr().align_offset(PAGE);
        let mut pages = PinnedPages {
            words,
            first,
            size,
            pinned_by: None,
        };
        // Touching the pages here lets other threads touch theirs; within the driver they would
        // wait.
        touch(&mut pages.words);
        let stream = gpu.raw_stream();
        // SAFETY: the pages belong to `words` alone and stay in place until it is dropped. They are
        // unpinned before.
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
            // Errors are ignored: if the context is gone, so is its hold on the pages.
            let _ = context.bind_to_thread();
            let start = self.words[self.first..].as_mut_ptr();
            // SAFETY: these pages were pinned.
            let _ = unsafe { sys::cuMemHostUnregister(start.cast()) };
        }
    }
}

/// Touches all pages of an array of zeros, so that they are mapped: several threads do so if it is
/// large.
fn touch(words: &mut [u64]) {
    let mut parts: Vec<&mut [u64]> = allocation::parts(words).collect();
    let own = parts.len() / TOUCHING;
    thread::scope(|scope| {
        while parts.len() > own.max(1) {
            let some = parts.split_off(parts.len() - own.max(1));
            let work = || some.into_iter().for_each(allocation::touch_zeros);
            // A thread that cannot be started leaves its pages to the driver.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        parts
            .into_iter()
            .for_each(allocation::touch_zeros);
    });
}

impl<T: DeviceRepr + ValidAsZeroBits> PinnedBuffer<T> {
    /// Returns the first `len` items, and grows the memory if it has fewer. No copy from or to the
    /// memory may be in progress.
    pub(crate) fn reserve(&mut self, gpu: &Gpu, len: usize) -> Result<&mut [T]> {
        let bytes = len * size_of::<T>();
        if self
            .memory
            .as_ref()
            .is_none_or(|pages| pages.size < bytes)
        {
            self.memory = None;
            self.memory = Some(PinnedPages::new(gpu, bytes)?);
        }
        Ok(self.first_mut(len))
    }

    /// The first `len` items.
    ///
    /// # Panics
    /// If the memory has fewer items.
    #[allow(unsafe_code)]
    pub(crate) fn first(&self, len: usize) -> &[T] {
        let pages = self.memory.as_ref().expect("it was reserved");
        assert!(
            len * size_of::<T>() <= pages.size,
            "{len} items are more than there are"
        );
        // SAFETY: the memory has `len` items, which are zero or written, and is borrowed with
        // `self`. Pages are aligned for all items.
        unsafe { slice::from_raw_parts(pages.words[pages.first..].as_ptr().cast(), len) }
    }

    #[allow(unsafe_code)]
    fn first_mut(&mut self, len: usize) -> &mut [T] {
        let pages = self.memory.as_mut().expect("it was reserved");
        assert!(
            len * size_of::<T>() <= pages.size,
            "{len} items are more than there are"
        );
        // SAFETY: as above, and borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(pages.start().cast(), len) }
    }

    /// Queues a copy of the first items to an array. The items must not be written until the work
    /// of the stream is done.
    pub(crate) fn upload(&self, gpu: &Gpu, array: Array<T>) -> Result<()> {
        self.upload_part(gpu, array, 0..array.len())
    }

    /// Queues a copy of a range of the items to an array, on the same terms.
    #[allow(unsafe_code)]
    pub(crate) fn upload_part(&self, gpu: &Gpu, array: Array<T>, range: Range<u32>) -> Result<()> {
        assert_eq!(array.len() as usize, range.len());
        let stream = gpu.raw_stream()?;
        let items = &self.first(range.end as usize)[range.start as usize..];
        // SAFETY: the array is as long as `items`, which stay allocated.
        gpu.check(unsafe { result::memcpy_htod_async(array.address(), items, stream) })?;
        #[cfg(test)]
        super::faults::queued(gpu, "upload");
        Ok(())
    }

    /// Queues a copy of an array to a range of the items. The items can be read when the work of
    /// the stream is done.
    #[allow(unsafe_code)]
    pub(crate) fn download(&mut self, gpu: &Gpu, array: Array<T>, range: Range<u32>) -> Result<()> {
        assert_eq!(array.len() as usize, range.len());
        if range.is_empty() {
            return Ok(());
        }
        let stream = gpu.raw_stream()?;
        let items = &mut self.first_mut(range.end as usize)[range.start as usize..];
        // SAFETY: `items` are as long as the array and stay allocated.
        gpu.check(unsafe { result::memcpy_dtoh_async(items, array.address(), stream) })?;
        #[cfg(test)]
        super::faults::copied_out(gpu, "download", items);
        Ok(())
    }
}
