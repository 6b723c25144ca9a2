//! Mapped host flags: words of host memory that kernels write and the host polls meanwhile.
//!
//! Polling is faster than waiting for the stream, which matters for small blocks.

use super::array::Array;
use super::tuning::{FLAG_GROUPS, FLAG_ITEMS, FLAG_UPLOAD, FLAG_WORDS, UPLOAD_WORDS};
use cudarc::driver::{CudaContext, DriverError, PinnedHostSlice, result, sys};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// The flags of one stream.
#[derive(Debug)]
pub(super) struct HostFlags {
    start: *mut u32,
    _words: PinnedHostSlice<u32>,
}

// SAFETY: the memory belongs to this value alone, like that of a `Vec`.
#[allow(unsafe_code)]
unsafe impl Send for HostFlags {}

/// Value of a word that no kernel has written since its reset.
pub(super) const UNSET: u32 = u32::MAX;

impl HostFlags {
    #[allow(unsafe_code)]
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<HostFlags, DriverError> {
        let len = FLAG_WORDS as usize;
        let flag = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the items are integers, and are set to 0 below.
        let mut words = unsafe { context.alloc_pinned_with_flags::<u32>(len, flag)? };
        let start = words.as_mut_ptr()?;
        // SAFETY: `len` words were allocated.
        unsafe { start.write_bytes(0, len) };
        Ok(HostFlags {
            start,
            _words: words,
        })
    }

    /// Address of the flags for kernels. It equals the host address, since 64-bit systems have
    /// unified addresses.
    pub(super) fn address(&self) -> u64 {
        self.start as u64
    }

    /// Current value of a word.
    #[allow(unsafe_code)]
    pub(super) fn word(&self, word: usize) -> u32 {
        assert!(word < FLAG_WORDS as usize);
        // SAFETY: the word exists. A kernel may write it meanwhile, but writes a word at once.
        unsafe { self.start.add(word).read_volatile() }
    }

    /// Queues a copy of words to an array. The copy must be done before the next call.
    #[allow(unsafe_code)]
    pub(super) fn upload_words(
        &self,
        words: &[u32],
        array: Array<u32>,
        stream: sys::CUstream,
    ) -> Result<(), DriverError> {
        assert!(words.len() <= UPLOAD_WORDS as usize && array.len() as usize >= words.len());
        // SAFETY: the flags have that many words from there on. No kernel writes them, and they
        // stay allocated.
        unsafe {
            let start = self.start.add(FLAG_UPLOAD as usize);
            start.copy_from_nonoverlapping(words.as_ptr(), words.len());
            let posted = slice::from_raw_parts(start, words.len());
            result::memcpy_htod_async(array.address(), posted, stream)
        }
    }

    /// Sets a word to [`UNSET`].
    #[allow(unsafe_code)]
    pub(super) fn reset(&self, word: usize) {
        assert!(word < FLAG_WORDS as usize);
        // SAFETY: as above.
        unsafe { self.start.add(word).write_volatile(UNSET) };
    }

    /// The two counts that a kernel publishes, or `None` before it has.
    pub(super) fn counts(&self) -> Option<(u32, u32)> {
        let items = self.word(FLAG_ITEMS as usize);
        if items == UNSET {
            return None;
        }
        // The kernel wrote the other count before this one.
        fence(Ordering::Acquire);
        Some((items, self.word(FLAG_GROUPS as usize)))
    }
}
