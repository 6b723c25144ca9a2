//! NCCL: data sent between GPUs, in groups of sends and receives.
//!
//! The library is opened on first use, by the name that its packages install. Neither a build of
//! bwz nor a run on one GPU needs it.

use super::super::peers::Peers;
use super::array::Array;
use super::gpu_stream::Gpu;
use crate::base::error::{Error, Result};
use cudarc::driver::sys::CUstream;
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::thread;

const LIBRARY: &str = "libnccl.so.2";
/// `ncclSuccess`.
const SUCCESS: c_int = 0;
/// `ncclInProgress`.
const IN_PROGRESS: c_int = 7;
/// `ncclUint8`.
const UINT8: c_int = 1;

type Status = c_int;
/// `ncclComm_t`.
type Handle = *mut c_void;

/// Identity of a network of processors (`ncclUniqueId`). One of them creates it, and all join with
/// it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NcclId([c_char; 128]);

/// The functions of the library.
#[derive(Debug)]
struct Nccl {
    get_unique_id: unsafe extern "C" fn(*mut NcclId) -> Status,
    comm_init_rank_config:
        unsafe extern "C" fn(*mut Handle, c_int, NcclId, c_int, *const Config) -> Status,
    comm_get_async_error: unsafe extern "C" fn(Handle, *mut Status) -> Status,
    comm_abort: unsafe extern "C" fn(Handle) -> Status,
    comm_destroy: unsafe extern "C" fn(Handle) -> Status,
    group_start: unsafe extern "C" fn() -> Status,
    group_end: unsafe extern "C" fn() -> Status,
    send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, CUstream) -> Status,
    recv: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, CUstream) -> Status,
    get_error_string: unsafe extern "C" fn(Status) -> *const c_char,
    /// Keeps the functions loaded.
    _library: Library,
}

impl Nccl {
    /// Returns the library, which the first call opens.
    fn get() -> Result<&'static Nccl> {
        static NCCL: OnceLock<Result<Nccl, libloading::Error>> = OnceLock::new();
        let failed = |e: &_| Error::Device(format!("NCCL ({LIBRARY}) cannot be used: {e}").into());
        NCCL.get_or_init(Nccl::open)
            .as_ref()
            .map_err(failed)
    }

    #[allow(unsafe_code)]
    fn open() -> Result<Nccl, libloading::Error> {
        // SAFETY: loading the library runs its initialisers, as every program that uses NCCL does.
        let library = unsafe { Library::new(LIBRARY)? };
        // SAFETY: the fields have the types that nccl.h gives the functions.
        unsafe {
            Ok(Nccl {
                get_unique_id: find(&library, c"ncclGetUniqueId")?,
                comm_init_rank_config: find(&library, c"ncclCommInitRankConfig")?,
                comm_get_async_error: find(&library, c"ncclCommGetAsyncError")?,
                comm_abort: find(&library, c"ncclCommAbort")?,
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
        if matches!(status, SUCCESS | IN_PROGRESS) {
            return Ok(());
        }
        // SAFETY: the library returns a static string for every status.
        let text = unsafe { CStr::from_ptr((self.get_error_string)(status)) };
        Err(Error::Device(
            format!("NCCL: {}", text.to_string_lossy()).into(),
        ))
    }
}

/// Finds a function of the library.
///
/// # Safety
/// `F` must be the type of the function.
#[allow(unsafe_code)]
unsafe fn find<F: Copy>(library: &Library, name: &CStr) -> Result<F, libloading::Error> {
    // SAFETY: guaranteed by the caller.
    let symbol: Symbol<F> = unsafe { library.get(name.to_bytes_with_nul())? };
    Ok(*symbol)
}

impl NcclId {
    /// Creates the identity of a new network.
    ///
    /// # Errors
    /// [`Error::Device`] if NCCL is not installed or fails.
    #[allow(unsafe_code)]
    pub fn new() -> Result<NcclId> {
        let nccl = Nccl::get()?;
        let mut id = NcclId([0; 128]);
        // SAFETY: the library fills the 128 bytes.
        nccl.check(unsafe { (nccl.get_unique_id)(&mut id) })?;
        Ok(id)
    }

    /// The bytes with which another process can join.
    pub fn to_bytes(self) -> [u8; 128] {
        self.0.map(c_char::cast_unsigned)
    }

    /// The identity that another process has created.
    ///
    /// # Errors
    /// None; [`Error::Device`] in a build without CUDA.
    pub fn from_bytes(bytes: [u8; 128]) -> Result<NcclId> {
        Ok(NcclId(bytes.map(|byte| byte as c_char)))
    }
}

/// Configuration of a network (`ncclConfig_t`), with the fields of its first version. The library
/// uses its defaults for later fields.
#[derive(Debug)]
#[repr(C)]
struct Config {
    size: usize,
    magic: u32,
    version: u32,
    /// 0: calls return at once, and `ncclCommGetAsyncError` tells when they are done.
    blocking: c_int,
    cluster_size: c_int,
    least_ctas: c_int,
    most_ctas: c_int,
    network: *const c_char,
    split_share: c_int,
}

impl Config {
    const NOT_BLOCKING: Config = Config {
        size: size_of::<Config>(),
        magic: 0xCAFE_BEEF,
        // Version 2.17, which has these fields.
        version: 21700,
        blocking: 0,
        cluster_size: c_int::MIN,
        least_ctas: c_int::MIN,
        most_ctas: c_int::MIN,
        network: ptr::null(),
        split_share: c_int::MIN,
    };
}

/// One end of a network of GPUs. If one of the GPUs fails, all ends are aborted.
#[derive(Debug)]
pub(crate) struct Communicator<'p> {
    nccl: &'static Nccl,
    handle: Handle,
    number: usize,
    peers: &'p Peers,
}

impl<'p> Communicator<'p> {
    /// Joins as `number` of `count`, and waits until all `peers` have joined. Each needs its own
    /// GPU.
    #[allow(unsafe_code)]
    pub(crate) fn join(
        gpu: &Gpu,
        id: NcclId,
        number: usize,
        count: usize,
        peers: &'p Peers,
    ) -> Result<Self> {
        let nccl = Nccl::get()?;
        // The library uses the device whose context is current.
        gpu.raw_stream()?;
        let number_of = |n: usize| c_int::try_from(n).expect("less than 2^31 GPUs");
        let mut handle = ptr::null_mut();
        let config = Config::NOT_BLOCKING;
        let of = number_of(count);
        let me = number_of(number);
        // SAFETY: the library writes the handle, and reads the config only up to the size in it.
        nccl.check(unsafe { (nccl.comm_init_rank_config)(&mut handle, of, id, me, &config) })?;
        let communicator = Communicator {
            nccl,
            handle,
            number,
            peers,
        };
        communicator.wait(|| Ok(true))?;
        Ok(communicator)
    }

    /// Sends `sent[q]` to each GPU q and receives `received[q]` from it, in one group. The
    /// transfers are done when [`Communicator::wait_for`] returns.
    #[allow(unsafe_code)]
    pub(crate) fn all_to_all<T>(
        &self,
        gpu: &Gpu,
        sent: &[Array<T>],
        received: &[Array<T>],
    ) -> Result<()> {
        let nccl = self.nccl;
        let stream = gpu.raw_stream()?;
        // SAFETY: it only opens the group.
        nccl.check(unsafe { (nccl.group_start)() })?;
        let exchange = |(peer, (from, to)): (c_int, (&Array<T>, &Array<T>))| {
            let size = from.size();
            let address = from.address() as *const c_void;
            if size > 0 {
                // SAFETY: the array has `size` bytes of device memory, which stay allocated until
                // the stream has been waited for.
                nccl.check(unsafe {
                    (nccl.send)(address, size, UINT8, peer, self.handle, stream)
                })?;
            }
            let size = to.size();
            let address = to.address() as *mut c_void;
            if size > 0 {
                // SAFETY: as above.
                nccl.check(unsafe {
                    (nccl.recv)(address, size, UINT8, peer, self.handle, stream)
                })?;
            }
            Ok(())
        };
        let queued = (0..)
            .zip(sent.iter().zip(received))
            .try_for_each(exchange);
        // SAFETY: it closes the group opened above.
        let ended = nccl.check(unsafe { (nccl.group_end)() });
        queued.and(ended)?;
        self.wait(|| Ok(true))
    }

    /// Waits until all work queued on a GPU is done.
    pub(crate) fn wait_for(&self, gpu: &Gpu) -> Result<()> {
        self.wait(|| gpu.is_idle())?;
        gpu.wait()
    }

    /// Waits until the library has finished all requests and `ready` returns true.
    fn wait(&self, mut ready: impl FnMut() -> Result<bool>) -> Result<()> {
        let failed = |_: &_| self.peers.fail(self.number);
        self.peers
            .wait(|| Ok(self.is_done()? && ready()?))
            .inspect_err(failed)
    }

    #[allow(unsafe_code)]
    fn is_done(&self) -> Result<bool> {
        let mut status = SUCCESS;
        // SAFETY: the library writes the status.
        self.nccl
            .check(unsafe { (self.nccl.comm_get_async_error)(self.handle, &mut status) })?;
        self.nccl.check(status)?;
        Ok(status == SUCCESS)
    }
}

impl Drop for Communicator<'_> {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        let failed = self.peers.first_failed().is_some() || thread::panicking();
        let end = if failed {
            self.nccl.comm_abort
        } else {
            self.nccl.comm_destroy
        };
        // SAFETY: the handle is not used again.
        unsafe { end(self.handle) };
    }
}
