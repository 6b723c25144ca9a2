//! Device memory of a caller, and device memory for a caller: blocks are restored to it and
//! compressed from it.
//!
//! A call that writes to it or reads from it returns after its work has ended, so no stream needs
//! to wait for bwz. bwz waits for the caller's stream when the memory is named.

use super::runtime::{self, COPIED, DeviceAllocation, DeviceSpan};
use crate::base::error::{Error, Result};
use std::io::{self, Read};
use std::marker::PhantomData;
use std::sync::Arc;

/// Bytes in the memory of a GPU, borrowed from their owner.
///
/// ```no_run
/// use bwz::cuda::{DeviceSlice, GpuDecoder};
///
/// # fn example(address: u64, len: usize) -> bwz::Result<()> {
/// let file = std::fs::File::open("tokens.bwz").map_err(bwz::Error::Io)?;
/// let mut archive = bwz::Archive::open(file, &bwz::Options::new())?;
/// // SAFETY: the memory is ours, and nothing else uses it meanwhile.
/// let mut out = unsafe { DeviceSlice::new(0, address, len, None)? };
/// let size = archive.raw_size();
/// archive.read_range_to_gpu(&GpuDecoder::new(0)?, 0..size, &mut out)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceSlice<'m> {
    span: Arc<DeviceSpan>,
    memory: PhantomData<&'m mut [u8]>,
}

impl DeviceSlice<'_> {
    /// Borrows `len` bytes at device address `address` on GPU `number`. If there is a `stream` of
    /// the caller (a `CUstream`; 1 is the legacy default stream and 2 that of the thread), waits
    /// until all work queued on it is done.
    ///
    /// # Errors
    /// [`Error::Usage`] if the first or the last byte is not in the memory of that GPU, which the
    /// driver says. [`Error::Device`] if the GPU or its driver is missing, or if work on the stream
    /// failed.
    ///
    /// # Safety
    /// The memory must stay allocated until this value is dropped, and nothing else may write to it
    /// before, or read what bwz writes. The stream must be one of this process.
    #[allow(unsafe_code)]
    pub unsafe fn new(number: u32, address: u64, len: usize, stream: Option<u64>) -> Result<Self> {
        let span = DeviceSpan::new(number, address, len, stream)?;
        Ok(DeviceSlice::of(Arc::new(span)))
    }

    /// Number of the GPU in whose memory a device address is, which the driver says.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is in no GPU's memory, [`Error::Device`] if there is no driver.
    pub fn gpu_of(address: u64) -> Result<u32> {
        runtime::gpu_of(address)
    }

    fn of(span: Arc<DeviceSpan>) -> Self {
        DeviceSlice {
            span,
            memory: PhantomData,
        }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.span.len()
    }

    /// Returns true if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of the GPU.
    pub fn gpu(&self) -> u32 {
        self.span.number()
    }

    /// The bytes for a reader on the host, such as [`compress`](crate::compress()). They are copied
    /// piece by piece, by way of 8 MiB of pinned memory.
    pub fn reader(&self) -> DeviceReader<'_> {
        DeviceReader {
            span: &self.span,
            piece: Vec::new(),
            taken: 0,
            next: 0,
        }
    }

    /// The memory, for threads that end before this value does.
    pub(crate) fn span(&self) -> Arc<DeviceSpan> {
        Arc::clone(&self.span)
    }
}

/// Reads bytes in the memory of a GPU.
#[derive(Debug)]
pub struct DeviceReader<'m> {
    span: &'m DeviceSpan,
    /// Bytes that were copied, and the number of those that were read.
    piece: Vec<u8>,
    taken: usize,
    /// Offset behind the copied bytes.
    next: usize,
}

impl Read for DeviceReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() {
            let len = COPIED.min(self.span.len() - self.next);
            self.piece.resize(len, 0);
            self.taken = 0;
            self.span
                .read(self.next, &mut self.piece)
                .map_err(|e| match e {
                    Error::Io(e) => e,
                    e => io::Error::other(e),
                })?;
            self.next += len;
        }
        let len = out.len().min(self.piece.len() - self.taken);
        out[..len].copy_from_slice(&self.piece[self.taken..self.taken + len]);
        self.taken += len;
        Ok(len)
    }
}

/// Memory of a GPU that bwz has allocated. It is freed when this is dropped; that waits for all
/// work on the GPU which may use it.
#[derive(Debug)]
pub struct DeviceBuffer {
    span: Arc<DeviceSpan>,
    _memory: DeviceAllocation,
}

impl DeviceBuffer {
    /// Allocates `len` bytes on GPU `number`. Their content is arbitrary.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or has too little memory.
    pub fn new(number: u32, len: usize) -> Result<Self> {
        let memory = DeviceAllocation::new(number, len)?;
        let span = DeviceSpan::new(number, memory.address(), len, None)?;
        Ok(DeviceBuffer {
            span: Arc::new(span),
            _memory: memory,
        })
    }

    /// Device address of the first byte.
    pub fn address(&self) -> u64 {
        self.span.address()
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.span.len()
    }

    /// Returns true if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of the GPU.
    pub fn gpu(&self) -> u32 {
        self.span.number()
    }

    /// The memory, to be written or read.
    pub fn slice(&mut self) -> DeviceSlice<'_> {
        DeviceSlice::of(Arc::clone(&self.span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::gpu::testing::{gpu, say};

    /// Memory that `DeviceSlice::new` is asked for.
    #[allow(unsafe_code)]
    fn slice(number: u32, address: u64, len: usize) -> Result<DeviceSlice<'static>> {
        // SAFETY: nothing is written to it.
        unsafe { DeviceSlice::new(number, address, len, Some(1)) }
    }

    #[test]
    fn bytes_come_back() {
        if gpu().is_none() {
            return;
        }
        for len in [0, 1, 1000, COPIED - 1, COPIED, 2 * COPIED + 7] {
            let bytes = cases::random(len, 256);
            let mut buffer = DeviceBuffer::new(0, len).unwrap();
            buffer.span.write(0, &bytes).unwrap();
            let mut found = Vec::new();
            buffer
                .slice()
                .reader()
                .read_to_end(&mut found)
                .unwrap();
            assert!(found == bytes, "{len} bytes");
        }
        say("6 buffers copied");
    }

    #[test]
    fn only_memory_of_the_gpu_is_taken() {
        if gpu().is_none() {
            return;
        }
        let buffer = DeviceBuffer::new(0, 1000).unwrap();
        assert_eq!(slice(0, buffer.address(), 1000).unwrap().len(), 1000);
        assert_eq!(DeviceSlice::gpu_of(buffer.address() + 999).unwrap(), 0);
        let usage = |taken: Result<DeviceSlice>| match taken {
            Err(Error::Usage(said)) => said.into_owned(),
            other => panic!("{other:?}"),
        };
        let on_host = vec![0_u8; 1000];
        let said = usage(slice(0, on_host.as_ptr() as u64, 1000));
        assert!(said.contains("not in the memory of a GPU"), "{said}");
        usage(slice(0, buffer.address(), 1 << 45));
        usage(slice(0, buffer.address(), usize::MAX));
        let missing = slice(1000, buffer.address(), 1000);
        assert!(matches!(missing, Err(Error::Device(_))), "{missing:?}");
        assert!(DeviceBuffer::new(0, 1 << 50).is_err());
    }
}
