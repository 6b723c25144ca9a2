//! A GPU with the kernels loaded, and one stream of work on it.
//!
//! [`CudaDevice`] is opened once per GPU and kept until the program ends; [`Gpu`] is a stream on it. All work of a sorter goes
//! to its one stream, one step after the other. An inverse has two, for work and for copies, which wait for each other.

use super::arena::Array;
use super::pinned::{HostFlags, UNSET};
use super::tuning::{FLAG_BYTE_COUNTS, FLAG_ITEMS, FLAG_PRIMARY, THREADS};
use crate::error::{Error, Result};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaStream, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg, result, sys,
};
use cudarc::nvrtc::Ptx;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// The compiled kernels, by the name of their file.
const FATBINS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/fatbins.rs"));

/// What the kernels were built with and for.
pub const BUILT: &Built = include!(concat!(env!("OUT_DIR"), "/built.rs"));

/// The CUDA version and the architectures of the kernels in this build.
#[derive(Debug)]
pub struct Built {
    /// Version of the compiler.
    pub cuda: &'static str,
    /// Compute capabilities with machine code, such as 90 for 9.0.
    pub archs: &'static [u32],
}

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number, as in `cuda:0`.
    pub number: u32,
    /// Its name, as the driver has it.
    pub name: String,
    /// Its memory in bytes.
    pub memory: u64,
    /// Its compute capability.
    pub capability: (u32, u32),
}

/// The GPUs that the driver shows to this process.
///
/// # Errors
/// [`Error::CudaDevice`] where there is no driver or it fails.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    driver()?;
    let count = CudaContext::device_count().map_err(failed)?;
    (0..count).map(|number| info(number).map_err(failed)).collect()
}

#[allow(unsafe_code)]
fn info(number: i32) -> Result<DeviceInfo, DriverError> {
    use sys::CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    let device = result::device::get(number)?;
    // SAFETY: `device` is a device of the driver, which was initialised to count its devices.
    let (major, minor, memory) = unsafe {
        (
            result::device::get_attribute(device, MAJOR)?,
            result::device::get_attribute(device, MINOR)?,
            result::device::total_mem(device)?,
        )
    };
    Ok(DeviceInfo {
        number: number.cast_unsigned(),
        name: result::device::get_name(device)?,
        memory: memory as u64,
        capability: (major.cast_unsigned(), minor.cast_unsigned()),
    })
}

/// Makes sure that there is a driver: cudarc panics where its library cannot be loaded.
#[allow(unsafe_code)]
fn driver() -> Result<()> {
    // SAFETY: loading the driver's library runs its initialisers, which is what every CUDA program does.
    if unsafe { sys::is_culib_present() } {
        return result::init().map_err(failed);
    }
    Err(Error::Device("this machine has no NVIDIA driver".into()))
}

fn failed(error: DriverError) -> Error {
    let name = error.error_name().ok().and_then(|name| name.to_str().ok());
    let text = error.error_string().ok().and_then(|text| text.to_str().ok());
    Error::Device(match (name, text) {
        (Some(name), Some(text)) => format!("CUDA: {text} ({name})").into(),
        _ => format!("CUDA: error {:?}", error.0).into(),
    })
}

/// A GPU with the kernels loaded.
#[derive(Debug)]
pub struct CudaDevice {
    context: Arc<CudaContext>,
    processors: u32,
    /// One for each kernel file, by its name.
    modules: Vec<(&'static str, Arc<CudaModule>)>,
    kernels: Mutex<HashMap<&'static str, CudaFunction>>,
}

impl CudaDevice {
    /// Opens GPU `number`, or gives the one that is open already. The first time takes a quarter of a second or so.
    ///
    /// # Errors
    /// [`Error::CudaDevice`] where it is not there, or its driver is too old for the kernels.
    pub fn open(number: u32) -> Result<Arc<CudaDevice>> {
        // A lock for each, so that several GPUs come up side by side.
        type Slot = Arc<Mutex<Option<Arc<CudaDevice>>>>;
        static OPEN: Mutex<BTreeMap<u32, Slot>> = Mutex::new(BTreeMap::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(open.entry(number).or_default());
        drop(open);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = &*slot {
            return Ok(Arc::clone(device));
        }
        let device = Arc::new(CudaDevice::load(number)?);
        *slot = Some(Arc::clone(&device));
        Ok(device)
    }

    fn load(number: u32) -> Result<CudaDevice> {
        driver()?;
        let count = CudaContext::device_count().map_err(failed)?.cast_unsigned();
        if number >= count {
            return Err(Error::Device(format!("there is no CUDA device {number}").into()));
        }
        let context = CudaContext::new(number as usize).map_err(failed)?;
        let load = |&(file, code): &(_, &[u8])| {
            context.load_module(Ptx::from_binary(code.to_vec())).map(|module| (file, module))
        };
        let modules = FATBINS.iter().map(load).collect::<Result<_, _>>().map_err(failed)?;
        let processors = context
            .attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(failed)?
            .cast_unsigned();
        Ok(CudaDevice { context, processors, modules, kernels: Mutex::default() })
    }

    /// A kernel by its file and name, such as `keys/pack_symbols`.
    fn kernel(&self, name: &'static str) -> Result<CudaFunction> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(kernel.clone());
        }
        let find = |(file, kernel)| {
            let (_, module) = self.modules.iter().find(|(known, _)| *known == file)?;
            module.load_function(kernel).ok()
        };
        let kernel = name.split_once('/').and_then(find);
        let kernel =
            kernel.ok_or_else(|| Error::Device(format!("there is no kernel {name}").into()))?;
        kernels.insert(name, kernel.clone());
        Ok(kernel)
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum KernelArgument {
    Address(u64),
    Number(u32),
}

impl<T> From<Array<'_, T>> for KernelArgument {
    fn from(array: Array<'_, T>) -> Self {
        KernelArgument::Address(array.address())
    }
}

impl From<u64> for KernelArgument {
    fn from(address: u64) -> Self {
        KernelArgument::Address(address)
    }
}

impl From<u32> for KernelArgument {
    fn from(number: u32) -> Self {
        KernelArgument::Number(number)
    }
}

/// Looks at the host_flags between two questions to the driver whether the stream is still at work.
const SPINS: u32 = 1 << 16;

/// A stream of work on a device.
#[derive(Debug)]
pub struct Gpu {
    device: Arc<CudaDevice>,
    stream: Arc<CudaStream>,
    host_flags: HostFlags,
    /// Launches until a failure is made up, for tests.
    fuse: Cell<Option<u32>>,
    /// Whether no memory is said to be free, for tests.
    pub(super) scarce: Cell<bool>,
}

impl Gpu {
    /// A new stream on GPU `number`.
    ///
    /// # Errors
    /// As [`CudaDevice::open`].
    pub fn open(number: u32) -> Result<Gpu> {
        let device = CudaDevice::open(number)?;
        let stream = device.context.new_stream().map_err(failed)?;
        let host_flags = HostFlags::new(&device.context).map_err(failed)?;
        Ok(Gpu { device, stream, host_flags, fuse: Cell::new(None), scarce: Cell::new(false) })
    }

    pub(super) fn context(&self) -> &Arc<CudaContext> {
        &self.device.context
    }

    /// The stream for CUDA's C functions, with the context made current on this thread.
    pub(super) fn raw_stream(&self) -> Result<sys::CUstream> {
        self.check(self.device.context.bind_to_thread())?;
        Ok(self.stream.cu_stream())
    }

    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// The result of a driver call as one of ours.
    pub(super) fn check<T>(&self, result: Result<T, DriverError>) -> Result<T> {
        result.map_err(failed)
    }

    /// Waits until all work is done. What failed on the way shows here at the latest.
    pub(super) fn wait(&self) -> Result<()> {
        self.check(self.stream.synchronize())?;
        self.check(self.device.context.check_err())
    }

    /// Lets the work that is queued from now on begin when what `other` has been given by now is done.
    pub(super) fn wait_for(&self, other: &Gpu) -> Result<()> {
        self.check(self.stream.join(&other.stream))
    }

    /// Queues a kernel over `items` items, one thread for each. Nothing happens for none.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and the arrays as long as it says.
    #[allow(unsafe_code)]
    pub(super) unsafe fn each(
        &self,
        name: &'static str,
        items: u32,
        arguments: &[KernelArgument],
    ) -> Result<()> {
        // SAFETY: as this function asks for.
        unsafe { self.launch(name, items.div_ceil(THREADS), THREADS, arguments) }
    }

    /// Queues a kernel of `ctas` CTAs. Nothing happens for none.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and the arrays as long as it says.
    #[allow(unsafe_code)]
    pub(super) unsafe fn launch(
        &self,
        name: &'static str,
        ctas: u32,
        threads: u32,
        arguments: &[KernelArgument],
    ) -> Result<()> {
        if ctas == 0 {
            return Ok(());
        }
        self.burn_fuse()?;
        let kernel = self.device.kernel(name)?;
        let mut launch = self.stream.launch_builder(&kernel);
        for argument in arguments {
            match argument {
                KernelArgument::Address(address) => launch.arg(address),
                KernelArgument::Number(number) => launch.arg(number),
            };
        }
        // SAFETY: as this function asks for.
        self.check(unsafe { launch.launch(shape(ctas, threads)) }).map(drop)
    }

    /// Queues a kernel whose only argument is a struct. Nothing happens for no CTAs.
    ///
    /// # Safety
    /// The struct must be that of the kernel, and the arrays in it as long as it says.
    #[allow(unsafe_code)]
    pub(super) unsafe fn launch_struct(
        &self,
        name: &'static str,
        ctas: u32,
        threads: u32,
        argument: &impl DeviceRepr,
    ) -> Result<()> {
        if ctas == 0 {
            return Ok(());
        }
        self.burn_fuse()?;
        let kernel = self.device.kernel(name)?;
        let mut launch = self.stream.launch_builder(&kernel);
        launch.arg(argument);
        // SAFETY: as this function asks for.
        self.check(unsafe { launch.launch(shape(ctas, threads)) }).map(drop)
    }

    /// Multiprocessors of this GPU.
    pub(super) fn processors(&self) -> u32 {
        self.device.processors
    }

    /// Where kernels of this stream write what they tell the host.
    pub(super) fn host_flags(&self) -> u64 {
        self.host_flags.address()
    }

    /// To be called before a kernel that tells something is launched.
    pub(super) fn reset_counts(&self) {
        self.host_flags.reset(FLAG_ITEMS as usize);
    }

    /// The two counts that the last kernel tells. This waits for them only, which takes less time than to wait for the
    /// stream.
    pub(super) fn wait_for_counts(&self) -> Result<(u32, u32)> {
        self.poll(|host_flags| host_flags.counts())
    }

    /// Waits for something in the host_flags.
    fn poll<T>(&self, find: impl Fn(&HostFlags) -> Option<T>) -> Result<T> {
        for spins in 1_u32.. {
            if let Some(found) = find(&self.host_flags) {
                return Ok(found);
            }
            if spins.is_multiple_of(SPINS) && self.is_idle()? && find(&self.host_flags).is_none() {
                break;
            }
            std::hint::spin_loop();
        }
        Err(Error::Device("CUDA: a kernel ended without a result".into()))
    }

    /// Whether all work is done.
    #[allow(unsafe_code)]
    fn is_idle(&self) -> Result<bool> {
        // SAFETY: the stream lives, and its context is current where something was queued.
        match unsafe { sys::cuStreamQuery(self.raw_stream()?) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            done => self.check(done.result()).map(|()| true),
        }
    }

    /// The counts of bytes that a kernel has told before the others.
    pub(super) fn byte_counts(&self) -> [u32; 256] {
        std::array::from_fn(|byte| self.host_flags.word(FLAG_BYTE_COUNTS as usize + byte))
    }

    /// Queues a copy of words to an array, by way of the host_flags: once for each block.
    pub(super) fn upload_words(&self, words: &[u32], array: Array<u32>) -> Result<()> {
        self.check(self.host_flags.upload_words(words, array, self.raw_stream()?))
    }

    /// Forgets the row of the whole text of the last block.
    pub(super) fn reset_primary(&self) {
        self.host_flags.reset(FLAG_PRIMARY as usize);
    }

    /// The row of the whole text, as soon as it is known.
    pub(super) fn primary(&self) -> Result<u32> {
        self.poll(|host_flags| {
            Some(host_flags.word(FLAG_PRIMARY as usize)).filter(|&row| row != UNSET)
        })
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.fuse.set(Some(launches));
    }

    fn burn_fuse(&self) -> Result<()> {
        match self.fuse.get() {
            Some(0) => Err(Error::Device("CUDA: a failure made up for a test".into())),
            left => {
                self.fuse.set(left.map(|n| n - 1));
                Ok(())
            }
        }
    }
}

fn shape(ctas: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (ctas, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}
