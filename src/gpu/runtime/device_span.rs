//! Device memory that is not ours: a caller's, which a block is restored to or compressed from.
//!
//! A [`DeviceSpan`] is an address and a length, checked by the driver. It is lent to threads of one
//! call as long as that lasts; `DeviceSlice` holds it for as long as the memory is borrowed.

use super::array::Array;
use super::cuda_device::{CudaDevice, driver, failed};
use super::gpu_stream::Gpu;
use super::pinned_buffer::PinnedBuffer;
use crate::base::error::{Error, Result};
use cudarc::driver::{CudaContext, result, sys};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are copied from or to the host at once, by way of pinned memory.
pub(crate) const COPIED: usize = 8 << 20;

/// Bytes in the memory of a GPU.
#[derive(Debug)]
pub struct DeviceSpan {
    number: u32,
    address: u64,
    len: usize,
    /// `None` until the first copy.
    copies: Mutex<Option<Copies>>,
}

/// The stream of copies from and to the host, and pinned memory for them.
#[derive(Debug)]
struct Copies {
    gpu: Gpu,
    pinned: PinnedBuffer<u8>,
}

impl DeviceSpan {
    /// Names `len` bytes on GPU `number`, after the work of `stream` has ended.
    ///
    /// # Errors
    /// [`Error::Usage`] if the memory is not on that GPU; [`Error::Device`] if the GPU is missing
    /// or the work before failed.
    pub(crate) fn new(number: u32, address: u64, len: usize, stream: Option<u64>) -> Result<Self> {
        let device = CudaDevice::open(number)?;
        if let Some(last) = len.checked_sub(1) {
            let last = address
                .checked_add(last as u64)
                .ok_or(Error::Usage("the memory ends beyond all addresses".into()))?;
            check_is_on(number, address)?;
            check_is_on(number, last)?;
        }
        if let Some(stream) = stream {
            device.context.bind_to_thread().map_err(failed)?;
            wait_for_stream(stream)?;
        }
        Ok(DeviceSpan {
            number,
            address,
            len,
            copies: Mutex::default(),
        })
    }

    /// Number of the GPU.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Device address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes of a range.
    ///
    /// # Panics
    /// If the range is not within the memory.
    pub(crate) fn part(&self, range: Range<usize>) -> Array<'_, u8> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "{range:?} of {} bytes",
            self.len
        );
        Array::at(self.address + range.start as u64, range.len())
    }

    /// Returns the copies' stream and memory, which the first copy opens.
    fn opened<'c>(&self, copies: &'c mut Option<Copies>) -> Result<&'c mut Copies> {
        if copies.is_none() {
            *copies = Some(Copies {
                gpu: Gpu::open(self.number)?,
                pinned: PinnedBuffer::default(),
            });
        }
        Ok(copies.as_mut().expect("it is open"))
    }

    /// Copies bytes from the host to `at`, and waits for it. Threads do so one after the other.
    pub(crate) fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        let mut copies = self
            .copies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Copies { gpu, pinned } = self.opened(&mut copies)?;
        for (number, piece) in bytes.chunks(COPIED).enumerate() {
            let at = at + number * COPIED;
            pinned
                .reserve(gpu, piece.len())?
                .copy_from_slice(piece);
            let copied = pinned.upload(gpu, self.part(at..at + piece.len()));
            gpu.ended(copied)?;
            gpu.wait()?;
        }
        Ok(())
    }

    /// Copies bytes from `at` to the host, at most [`COPIED`], and waits for it.
    pub(crate) fn read(&self, at: usize, out: &mut [u8]) -> Result<()> {
        let mut copies = self
            .copies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Copies { gpu, pinned } = self.opened(&mut copies)?;
        pinned.reserve(gpu, out.len())?;
        let copied = pinned.download(gpu, self.part(at..at + out.len()), 0..out.len() as u32);
        gpu.ended(copied)?;
        gpu.wait()?;
        out.copy_from_slice(pinned.first(out.len()));
        Ok(())
    }
}

/// Number of the GPU in whose memory an address is.
///
/// # Errors
/// [`Error::Usage`] if it is in no GPU's memory, [`Error::Device`] if there is no driver.
#[allow(unsafe_code)]
pub(crate) fn gpu_of(address: u64) -> Result<u32> {
    use sys::CUpointer_attribute::{
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL as ORDINAL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE as TYPE,
    };
    driver()?;
    let ask = |attribute| {
        let mut value = 0_u32;
        // SAFETY: both attributes are numbers of 32 bits. The driver does not read at the address.
        let asked = unsafe {
            sys::cuPointerGetAttribute((&raw mut value).cast(), attribute, address).result()
        };
        asked.ok().map(|()| value)
    };
    ask(TYPE)
        .filter(|&kind| kind == sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32)
        .and_then(|_| ask(ORDINAL))
        .ok_or_else(|| {
            let said = format!("address {address:#x} is not in the memory of a GPU");
            Error::Usage(said.into())
        })
}

/// Checks that an address is in the memory of GPU `number`.
fn check_is_on(number: u32, address: u64) -> Result<()> {
    let on = gpu_of(address)?;
    if on == number {
        return Ok(());
    }
    let said = format!("the memory is on GPU {on}, not on GPU {number}");
    Err(Error::Usage(said.into()))
}

/// Waits until all work that is queued on a stream of the caller is done.
#[allow(unsafe_code)]
fn wait_for_stream(stream: u64) -> Result<()> {
    let stream = stream as usize as sys::CUstream;
    // SAFETY: the caller guarantees that it is a stream (`DeviceSlice::new`).
    unsafe { result::stream::synchronize(stream) }.map_err(failed)
}

/// Device memory of one allocation that is not ordered on a stream, so that all streams may use it.
#[derive(Debug)]
pub(crate) struct DeviceAllocation {
    context: Arc<CudaContext>,
    address: u64,
}

impl DeviceAllocation {
    /// Allocates `len` bytes on GPU `number`.
    #[allow(unsafe_code)]
    pub(crate) fn new(number: u32, len: usize) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        gpu.raw_stream()?;
        // SAFETY: nothing reads the memory before it is written; its owner says so.
        let address = gpu.check(unsafe { result::malloc_sync(len.max(1)) })?;
        let context = Arc::clone(gpu.context());
        Ok(DeviceAllocation { context, address })
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for DeviceAllocation {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // Errors are ignored: if the context is gone, so is the memory.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: it was allocated, and is freed this once.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}
