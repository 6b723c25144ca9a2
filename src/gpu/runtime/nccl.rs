//! NCCL: words sent between GPUs, in groups of sends and receives.
//!
//! Its library is opened when it is first asked for, by the name that its packages install. Neither
//! a build of bwz nor a run on one GPU needs it.

use super::array::Array;
use super::gpu_stream::Gpu;
use crate::error::{Error, Result};
use cudarc::driver::sys::CUstream;
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

const LIBRARY: &str = "libnccl.so.2";
/// `ncclSuccess`.
const SUCCESS: c_int = 0;
/// `ncclUint64`.
const UINT64: c_int = 5;

type Status = c_int;
/// `ncclComm_t`.
type Handle = *mut c_void;

/// What processors that form one network have in common (`ncclUniqueId`): one of them makes it, and
/// all join with it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NcclId([c_char; 128]);

/// The functions of the library.
#[derive(Debug)]
struct Nccl {
    get_unique_id: unsafe extern "C" fn(*mut NcclId) -> Status,
    comm_init_rank: unsafe extern "C" fn(*mut Handle, c_int, NcclId, c_int) -> Status,
    comm_destroy: unsafe extern "C" fn(Handle) -> Status,
    group_start: unsafe extern "C" fn() -> Status,
    group_end: unsafe extern "C" fn() -> Status,
    send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, CUstream) -> Status,
    recv: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, CUstream) -> Status,
    get_error_string: unsafe extern "C" fn(Status) -> *const c_char,
    /// The functions are there as long as it is.
    _library: Library,
}

impl Nccl {
    /// Opens the library, the first time.
    fn get() -> Result<&'static Nccl> {
        static NCCL: OnceLock<Result<Nccl, libloading::Error>> = OnceLock::new();
        let failed = |e: &_| Error::Device(format!("NCCL ({LIBRARY}) cannot be used: {e}").into());
        NCCL.get_or_init(Nccl::open).as_ref().map_err(failed)
    }

    #[allow(unsafe_code)]
    fn open() -> Result<Nccl, libloading::Error> {
        // SAFETY: to load the library runs its initialisers, which is what every program that uses
        // NCCL does.
        let library = unsafe { Library::new(LIBRARY)? };
        // SAFETY: the fields have the types that nccl.h gives the functions.
        unsafe {
            Ok(Nccl {
                get_unique_id: find(&library, c"ncclGetUniqueId")?,
                comm_init_rank: find(&library, c"ncclCommInitRank")?,
                comm_destroy: find(&library, c"ncclCommDestroy")?,
                group_start: find(&library, c"ncclGroupStart")?,
                group_end: find(&library, c"ncclGroupEnd")?,
                send: find(&library, c"ncclSend")?,
                recv: find(&library, c"ncclRecv")?,
                get_error_string: find(&library, c"ncclGetErrorString")?,
                _library: library,
            })
        }
    }

    #[allow(unsafe_code)]
    fn check(&self, status: Status) -> Result<()> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: the library gives a string that stays, whatever the status.
        let text = unsafe { CStr::from_ptr((self.get_error_string)(status)) };
        Err(Error::Device(format!("NCCL: {}", text.to_string_lossy()).into()))
    }
}

/// A function of the library.
///
/// # Safety
/// `F` must be its type.
#[allow(unsafe_code)]
unsafe fn find<F: Copy>(library: &Library, name: &CStr) -> Result<F, libloading::Error> {
    // SAFETY: as this function asks for.
    let symbol: Symbol<F> = unsafe { library.get(name.to_bytes_with_nul())? };
    Ok(*symbol)
}

impl NcclId {
    /// One for a new network.
    ///
    /// # Errors
    /// [`Error::Device`] where NCCL is not installed or fails.
    #[allow(unsafe_code)]
    pub fn new() -> Result<NcclId> {
        let (nccl, mut id) = (Nccl::get()?, NcclId([0; 128]));
        // SAFETY: the library fills the 128 bytes.
        nccl.check(unsafe { (nccl.get_unique_id)(&mut id) })?;
        Ok(id)
    }
}

/// One end of a network of GPUs.
#[derive(Debug)]
pub struct Communicator {
    nccl: &'static Nccl,
    handle: Handle,
}

impl Communicator {
    /// Joins as `number` of `count`, and waits until all have. Each has a GPU of its own.
    #[allow(unsafe_code)]
    pub fn join(gpu: &Gpu, id: NcclId, number: usize, count: usize) -> Result<Communicator> {
        let nccl = Nccl::get()?;
        // The library takes the device whose context is current.
        gpu.raw_stream()?;
        let number_of = |n: usize| c_int::try_from(n).expect("less than 2^31 GPUs");
        let mut handle = ptr::null_mut();
        // SAFETY: the library writes the handle.
        nccl.check(unsafe {
            (nccl.comm_init_rank)(&mut handle, number_of(count), id, number_of(number))
        })?;
        Ok(Communicator { nccl, handle })
    }

    /// Queues a group that sends `sent[q]` to each GPU q, and receives `received[q]` from it.
    #[allow(unsafe_code)]
    pub fn all_to_all(
        &self,
        gpu: &Gpu,
        sent: &[Array<u64>],
        received: &[Array<u64>],
    ) -> Result<()> {
        let (nccl, stream) = (self.nccl, gpu.raw_stream()?);
        // SAFETY: it only opens the group.
        nccl.check(unsafe { (nccl.group_start)() })?;
        let exchange = |(peer, (from, to)): (c_int, (&Array<u64>, &Array<u64>))| {
            let (len, address) = (from.len() as usize, from.address() as *const c_void);
            if len > 0 {
                // SAFETY: the array has so many words of device memory, which stays until the
                // stream has been waited for.
                nccl.check(unsafe {
                    (nccl.send)(address, len, UINT64, peer, self.handle, stream)
                })?;
            }
            let (len, address) = (to.len() as usize, to.address() as *mut c_void);
            if len > 0 {
                // SAFETY: as above.
                nccl.check(unsafe {
                    (nccl.recv)(address, len, UINT64, peer, self.handle, stream)
                })?;
            }
            Ok(())
        };
        let queued = (0..).zip(sent.iter().zip(received)).try_for_each(exchange);
        // SAFETY: it closes the group that was opened above.
        let ended = nccl.check(unsafe { (nccl.group_end)() });
        queued.and(ended)
    }
}

impl Drop for Communicator {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the handle is not used again.
        unsafe { (self.nccl.comm_destroy)(self.handle) };
    }
}
