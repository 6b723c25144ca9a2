//! Copies between the host's memory and arrays, and from array to array.

use super::array::Array;
use super::gpu_stream::Gpu;
use crate::base::error::Result;
use cudarc::driver::{ValidAsZeroBits, result, sys};

impl Gpu {
    /// Bytes of free device memory.
    pub fn free_memory(&self) -> Result<usize> {
        let (free, _) = self.check(self.context().mem_get_info())?;
        Ok(if self.is_scarce() { 0 } else { free })
    }

    /// Total bytes of device memory.
    pub fn all_memory(&self) -> Result<usize> {
        self.check(self.context().mem_get_info())
            .map(|(_, all)| all)
    }

    /// Copies an array to the host and waits for it.
    #[allow(unsafe_code)]
    pub fn read<T: ValidAsZeroBits + Clone + Default>(&self, array: Array<T>) -> Result<Vec<T>> {
        let mut items = vec![T::default(); array.len() as usize];
        let stream = self.raw_stream()?;
        // SAFETY: `array` lies in live memory. `items` has the same length and is not touched
        // before the wait.
        self.check(unsafe { result::memcpy_dtoh_async(&mut items, array.address(), stream) })?;
        #[cfg(test)]
        super::faults::copied_out(self, "read", &mut items);
        self.wait()?;
        Ok(items)
    }

    /// Copies items to an array that has room for them, and waits for the copy.
    #[allow(unsafe_code)]
    pub fn write<T: ValidAsZeroBits>(&self, items: &[T], array: Array<T>) -> Result<()> {
        assert!(
            items.len() <= array.len() as usize,
            "no room for what is written"
        );
        let stream = self.raw_stream()?;
        // SAFETY: `array` lies in live memory and is long enough. `items` stays until the wait is
        // over.
        self.check(unsafe { result::memcpy_htod_async(array.address(), items, stream) })?;
        #[cfg(test)]
        super::faults::queued(self, "write");
        self.wait()
    }

    /// Fills an array with zeros.
    #[allow(unsafe_code)]
    pub fn zero<T: ValidAsZeroBits>(&self, array: Array<T>) -> Result<()> {
        let bytes = array.size();
        let stream = self.raw_stream()?;
        // SAFETY: `array` lies in live memory, and its items are integers.
        self.check(unsafe { result::memset_d8_async(array.address(), 0, bytes, stream) })?;
        #[cfg(test)]
        super::faults::queued(self, "zero");
        Ok(())
    }

    /// Copies one array to another of the same length.
    #[allow(unsafe_code)]
    pub fn copy<T>(&self, from: Array<T>, to: Array<T>) -> Result<()> {
        assert_eq!(from.len(), to.len());
        let bytes = from.size();
        let stream = self.raw_stream()?;
        // SAFETY: both arrays lie in live memory and have `bytes` bytes.
        self.check(unsafe {
            result::memcpy_dtod_async(to.address(), from.address(), bytes, stream)
        })?;
        #[cfg(test)]
        super::faults::queued(self, "copy");
        Ok(())
    }

    /// Queues a copy to an array from memory of another GPU, or of this one. If this GPU can read
    /// that memory directly ([`Gpu::let_read`]), `context` is `None`. Otherwise it is the context
    /// of the memory, and the driver makes the copy, which between four GPUs takes nearly twice as
    /// long.
    ///
    /// # Safety
    /// As many bytes as `to` has must lie at `from` until the copy is done, in `context` if there
    /// is one.
    #[allow(unsafe_code)]
    pub unsafe fn copy_from_peer<T>(
        &self,
        from: u64,
        context: Option<sys::CUcontext>,
        to: Array<T>,
    ) -> Result<()> {
        let bytes = to.size();
        let to = to.address();
        let stream = self.raw_stream()?;
        let own = self.context().cu_ctx();
        // SAFETY: `to` has `bytes` bytes in this context, and the caller guarantees the rest.
        self.check(match context {
            _ if bytes == 0 => Ok(()),
            None => unsafe { result::memcpy_dtod_async(to, from, bytes, stream) },
            Some(context) => unsafe {
                result::memcpy_peer_async(own, to, context, from, bytes, stream)
            },
        })
    }
}
