//! A stream of work on a GPU: kernel launches, and the flags by which kernels answer the host.
//!
//! A sorter queues all its work on one stream, one step after the other. An inverse has two
//! streams, one for work and one for copies, which wait for each other.

use super::array::Array;
use super::cuda_device::{CudaDevice, failed};
use super::host_flags::{HostFlags, UNSET};
use super::pause::Pause;
use super::tuning::{FLAG_BYTE_COUNTS, FLAG_ITEMS, FLAG_PRIMARY, THREADS};
use crate::base::error::{Error, Result};
use cudarc::driver::{
    CudaContext, CudaStream, DeviceRepr, DriverError, LaunchConfig, PushKernelArg, sys,
};
use std::cell::Cell;
use std::sync::Arc;

/// Argument of a kernel.
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

/// Makes the list of a kernel's arguments from arrays, addresses and numbers.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => {
        &[$($crate::gpu::runtime::KernelArgument::from($argument)),*]
    };
}
pub(crate) use arguments;

/// A stream of work on a GPU.
#[derive(Debug)]
pub struct Gpu {
    device: Arc<CudaDevice>,
    stream: Arc<CudaStream>,
    host_flags: HostFlags,
    /// Number of launches until a simulated failure, for tests.
    fuse: Cell<Option<u32>>,
    /// True if the stream reports that no memory is free, for tests.
    scarce: Cell<bool>,
}

impl Gpu {
    /// Opens a new stream on GPU `number`.
    ///
    /// # Errors
    /// Those of [`CudaDevice::open`].
    pub fn open(number: u32) -> Result<Gpu> {
        let device = CudaDevice::open(number)?;
        let stream = device.context.new_stream().map_err(failed)?;
        let host_flags = HostFlags::new(&device.context).map_err(failed)?;
        Ok(Gpu {
            device,
            stream,
            host_flags,
            fuse: Cell::new(None),
            scarce: Cell::new(false),
        })
    }

    pub fn context(&self) -> &Arc<CudaContext> {
        &self.device.context
    }

    /// The stream for CUDA's C functions. Makes the context current on this thread.
    pub fn raw_stream(&self) -> Result<sys::CUstream> {
        self.check(self.device.context.bind_to_thread())?;
        Ok(self.stream.cu_stream())
    }

    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Turns the error of a driver call into one of ours.
    pub fn check<T>(&self, result: Result<T, DriverError>) -> Result<T> {
        result.map_err(failed)
    }

    /// The way in which a thread waits for this stream: asleep if other streams share the device.
    /// Decoding and inverting one block takes three streams, and the table of open devices has one
    /// more reference.
    fn pause(&self) -> Pause {
        const ALONE: usize = 3 + 1;
        if Arc::strong_count(&self.device) > ALONE {
            Pause::Sleep
        } else {
            Pause::Yield
        }
    }

    /// Waits until all queued work is done. Every failure of that work shows here at the latest.
    pub fn wait(&self) -> Result<()> {
        if let Pause::Sleep = self.pause() {
            while !self.is_idle()? {
                // Asking the driver takes its lock, for which threads that launch kernels would
                // wait.
                Pause::Sleep.after(u32::MAX);
            }
        }
        self.check(self.stream.synchronize())?;
        self.check(self.device.context.check_err())
    }

    /// Returns `done`. After a failure it first waits, so that none of the failed work runs beside
    /// later work.
    pub fn ended<T>(&self, done: Result<T>) -> Result<T> {
        // An error of this wait is ignored, since `done` has the first error.
        done.inspect_err(|_| drop(self.wait()))
    }

    /// Makes later work of this stream wait for all work that `other` has queued so far.
    pub fn wait_for(&self, other: &Gpu) -> Result<()> {
        self.check(self.stream.join(&other.stream))
    }

    /// Queues a kernel with one thread per item. Does nothing if there are no items.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and the arrays as long as the kernel requires.
    #[allow(unsafe_code)]
    pub unsafe fn each(
        &self,
        name: &'static str,
        items: u32,
        arguments: &[KernelArgument],
    ) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.launch(name, items.div_ceil(THREADS), THREADS, arguments) }
    }

    /// Queues a kernel of `ctas` CTAs. Does nothing if there are none.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and the arrays as long as the kernel requires.
    #[allow(unsafe_code)]
    pub unsafe fn launch(
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
        // SAFETY: guaranteed by the caller.
        self.check(unsafe { launch.launch(shape(ctas, threads)) })?;
        #[cfg(test)]
        super::faults::queued(self, name);
        Ok(())
    }

    /// Queues a kernel whose only argument is a struct. Does nothing if there are no CTAs.
    ///
    /// # Safety
    /// The struct must be that of the kernel, and its arrays as long as the kernel requires.
    #[allow(unsafe_code)]
    pub unsafe fn launch_struct(
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
        // SAFETY: guaranteed by the caller.
        self.check(unsafe { launch.launch(shape(ctas, threads)) })?;
        #[cfg(test)]
        super::faults::queued(self, name);
        Ok(())
    }

    /// Number of multiprocessors of this GPU.
    pub fn processors(&self) -> u32 {
        self.device.processors
    }

    /// Device address of the flags by which kernels of this stream answer the host.
    pub fn host_flags(&self) -> u64 {
        self.host_flags.address()
    }

    /// Resets the two counts, before a kernel is launched that publishes them.
    pub fn reset_counts(&self) {
        self.host_flags.reset(FLAG_ITEMS as usize);
    }

    /// Waits for the two counts that the last kernel publishes. Waiting for the whole stream would
    /// take longer.
    pub fn wait_for_counts(&self) -> Result<(u32, u32)> {
        self.poll(|host_flags| host_flags.counts())
    }

    /// Polls the host flags until `find` finds something in them.
    fn poll<T>(&self, find: impl Fn(&HostFlags) -> Option<T>) -> Result<T> {
        for looks in 0_u32.. {
            if let Some(found) = find(&self.host_flags) {
                return Ok(found);
            }
            if self.pause().after(looks) && self.is_idle()? && find(&self.host_flags).is_none() {
                break;
            }
        }
        Err(Error::Device(
            "CUDA: a kernel ended without a result".into(),
        ))
    }

    /// Returns true if all queued work is done.
    #[allow(unsafe_code)]
    pub fn is_idle(&self) -> Result<bool> {
        // SAFETY: the stream is alive, and `raw_stream` makes its context current.
        match unsafe { sys::cuStreamQuery(self.raw_stream()?) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            done => self.check(done.result()).map(|()| true),
        }
    }

    /// The counts of bytes that a kernel has published, before it published the two counts.
    pub fn byte_counts(&self) -> [u32; 256] {
        std::array::from_fn(|byte| {
            self.host_flags
                .word(FLAG_BYTE_COUNTS as usize + byte)
        })
    }

    /// Queues a copy of words to an array by way of the host flags, which is done once per block.
    pub fn upload_words(&self, words: &[u32], array: Array<u32>) -> Result<()> {
        self.check(
            self.host_flags
                .upload_words(words, array, self.raw_stream()?),
        )?;
        #[cfg(test)]
        super::faults::queued(self, "upload");
        Ok(())
    }

    /// Resets the primary index, before the next block.
    pub fn reset_primary(&self) {
        self.host_flags.reset(FLAG_PRIMARY as usize);
    }

    /// Waits for the primary index: the row of the whole text.
    pub fn primary(&self) -> Result<u32> {
        self.poll(|host_flags| {
            Some(host_flags.word(FLAG_PRIMARY as usize)).filter(|&row| row != UNSET)
        })
    }

    /// Returns true if the stream reports that no memory is free.
    pub fn is_scarce(&self) -> bool {
        self.scarce.get()
    }

    /// Makes the stream report that no memory is free.
    #[cfg(test)]
    pub fn make_scarce(&self) {
        self.scarce.set(true);
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.fuse.set(Some(launches));
    }

    fn burn_fuse(&self) -> Result<()> {
        match self.fuse.get() {
            Some(0) => Err(Error::Device("CUDA: a failure simulated by a test".into())),
            left => {
                self.fuse.set(left.map(|n| n - 1));
                Ok(())
            }
        }
    }
}

fn shape(ctas: u32, threads: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (ctas, 1, 1),
        block_dim: (threads, 1, 1),
        shared_mem_bytes: 0,
    }
}
