//! The GPUs of this machine, and a GPU with the kernels loaded.
//!
//! A [`CudaDevice`] is opened once per GPU and kept until the program ends.

use crate::base::error::{Error, Result};
use crate::gpu::interface::{Built, DeviceInfo};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError, result, sys};
use cudarc::nvrtc::Ptx;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// The compiled kernels, each with the name of its file.
const FATBINS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/fatbins.rs"));

/// Compiler version and architectures of the kernels.
pub const BUILT: &Built = include!(concat!(env!("OUT_DIR"), "/built.rs"));

/// Lists the GPUs that the driver shows to this process.
///
/// # Errors
/// [`Error::Device`] if there is no driver or it fails.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    driver()?;
    let count = CudaContext::device_count().map_err(failed)?;
    (0..count)
        .map(|number| info(number).map_err(failed))
        .collect()
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

/// Returns true if the library of the NVIDIA driver can be loaded. Takes one or two milliseconds.
#[allow(unsafe_code)]
pub fn has_driver() -> bool {
    // SAFETY: loading the driver's library runs its initialisers, as every CUDA program does.
    unsafe { sys::is_culib_present() }
}

/// Initialises the driver, or fails if there is none: cudarc panics if the library cannot be
/// loaded.
pub(super) fn driver() -> Result<()> {
    if has_driver() {
        return result::init().map_err(failed);
    }
    Err(Error::Device("this machine has no NVIDIA driver".into()))
}

/// Gives device memory that this process has freed back to the system, so that libraries which take
/// memory in other ways find it. Waits for all work on the GPU. Failures are ignored: the memory is
/// then given back later.
#[allow(unsafe_code)]
pub(crate) fn trim_memory(number: u32) {
    let Ok(device) = CudaDevice::open(number) else {
        return;
    };
    let context = &device.context;
    if context.bind_to_thread().is_err() || context.synchronize().is_err() {
        return;
    }
    let mut pool = std::ptr::null_mut();
    // SAFETY: the device is one of the driver's, and its default pool lives as long as it does.
    let found = unsafe { sys::cuDeviceGetDefaultMemPool(&raw mut pool, context.cu_device()) };
    if found.result().is_ok() {
        // SAFETY: as above. Only memory that is free is given back.
        let _ = unsafe { sys::cuMemPoolTrimTo(pool, 0) };
    }
}

/// Turns an error of the driver into [`Error::Device`].
pub(super) fn failed(error: DriverError) -> Error {
    let name = error
        .error_name()
        .ok()
        .and_then(|name| name.to_str().ok());
    let text = error
        .error_string()
        .ok()
        .and_then(|text| text.to_str().ok());
    Error::Device(match (name, text) {
        (Some(name), Some(text)) => format!("CUDA: {text} ({name})").into(),
        _ => format!("CUDA: error {:?}", error.0).into(),
    })
}

/// A GPU with the kernels loaded.
#[derive(Debug)]
pub(super) struct CudaDevice {
    pub context: Arc<CudaContext>,
    /// Number of multiprocessors.
    pub processors: u32,
    loaded: Mutex<Loaded>,
}

/// The modules and kernels that were needed so far.
#[derive(Debug, Default)]
struct Loaded {
    /// One module for each kernel file, by the name of the file.
    modules: HashMap<&'static str, Arc<CudaModule>>,
    /// By file and name.
    kernels: HashMap<&'static str, CudaFunction>,
}

impl CudaDevice {
    /// Opens GPU `number`, or returns it if it is open already. The first time takes about a
    /// quarter of a second.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU is missing, or its driver is too old for the kernels.
    pub(super) fn open(number: u32) -> Result<Arc<CudaDevice>> {
        // One lock per GPU, so that several GPUs can be opened at the same time.
        type OpenDevice = Arc<Mutex<Option<Arc<CudaDevice>>>>;
        static OPEN: Mutex<BTreeMap<u32, OpenDevice>> = Mutex::new(BTreeMap::new());
        let mut open = OPEN
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let opened = Arc::clone(open.entry(number).or_default());
        drop(open);
        let mut opened = opened
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = &*opened {
            return Ok(Arc::clone(device));
        }
        let device = Arc::new(CudaDevice::load(number)?);
        *opened = Some(Arc::clone(&device));
        Ok(device)
    }

    fn load(number: u32) -> Result<CudaDevice> {
        driver()?;
        let count = CudaContext::device_count()
            .map_err(failed)?
            .cast_unsigned();
        if number >= count {
            return Err(Error::Device(
                format!("there is no CUDA device {number}").into(),
            ));
        }
        let context = CudaContext::new(number as usize).map_err(failed)?;
        // A thread that waits for a GPU yields, so that others can compute; spinning would prevent
        // that.
        context
            .set_flags(sys::CUctx_flags::CU_CTX_SCHED_YIELD)
            .map_err(failed)?;
        let mut loaded = Loaded::default();
        // A driver that is too old for the kernels refuses each of them.
        if let Some((file, _)) = FATBINS.first() {
            loaded.module(&context, file).map_err(failed)?;
        }
        let processors = context
            .attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(failed)?
            .cast_unsigned();
        Ok(CudaDevice {
            context,
            processors,
            loaded: Mutex::new(loaded),
        })
    }

    /// Finds a kernel by its file and name, such as `keys/pack_symbols`. The file is loaded when
    /// its first kernel is asked for: each kind of work needs only some of them.
    pub(super) fn kernel(&self, name: &'static str) -> Result<CudaFunction> {
        let mut loaded = self
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = loaded.kernels.get(name) {
            return Ok(kernel.clone());
        }
        let unknown = || Error::Device(format!("there is no kernel {name}").into());
        let (file, kernel) = name.split_once('/').ok_or_else(unknown)?;
        let module = loaded
            .module(&self.context, file)
            .map_err(failed)?;
        let kernel = module
            .ok_or_else(unknown)?
            .load_function(kernel)
            .map_err(|_| unknown())?;
        loaded.kernels.insert(name, kernel.clone());
        Ok(kernel)
    }
}

impl Loaded {
    /// The module of a file, which is loaded now if it was not before. `None` if there is no such
    /// file.
    fn module(
        &mut self,
        context: &Arc<CudaContext>,
        file: &'static str,
    ) -> Result<Option<Arc<CudaModule>>, DriverError> {
        if let Some(module) = self.modules.get(file) {
            return Ok(Some(Arc::clone(module)));
        }
        let Some((_, code)) = FATBINS.iter().find(|(known, _)| *known == file) else {
            return Ok(None);
        };
        let module = context.load_module(Ptx::from_binary(code.to_vec()))?;
        self.modules.insert(file, Arc::clone(&module));
        Ok(Some(module))
    }
}
