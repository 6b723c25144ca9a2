//! Leave for GPUs to read each other's memory, so that copies between them go by the link that
//! they have, NVLink or PCIe. Without it the driver copies by way of the host's memory, at a
//! fraction of the speed.

use super::gpu_stream::Gpu;
use cudarc::driver::{result, sys};

impl Gpu {
    /// Lets `reader` read this GPU's memory directly. Returns false if the machine cannot do that;
    /// copies then still work.
    #[allow(unsafe_code)]
    pub fn let_read(&self, reader: &Gpu) -> bool {
        let [own, other] = [self, reader].map(|gpu| gpu.context().ordinal() as i32);
        let mut can = 0;
        // SAFETY: `can` is an integer that lives; both numbers are of devices that are open.
        let asked = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, other, own) }.result();
        if own == other {
            return true;
        }
        if asked.is_err() || can == 0 || reader.raw_stream().is_err() {
            return false;
        }
        // SAFETY: the context is that of an open device, and `raw_stream` has made the reader's
        // context current on this thread.
        let given = unsafe { sys::cuCtxEnablePeerAccess(self.context().cu_ctx(), 0) };
        let before = sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        (given == before || given.result().is_ok()) && self.open_pool(other)
    }

    /// Gives the reader access to the device's memory pool, from which arenas are allocated if the
    /// device has one.
    #[allow(unsafe_code)]
    fn open_pool(&self, reader: i32) -> bool {
        let location = sys::CUmemLocation {
            type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: reader,
        };
        let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access = sys::CUmemAccessDesc { location, flags };
        let own = self.context().ordinal() as i32;
        if !self.context().has_async_alloc() {
            return true;
        }
        // SAFETY: both devices are open; the pool belongs to the driver and stays.
        let given = unsafe {
            result::device::get(own)
                .and_then(|device| result::device::get_default_mem_pool(device))
                .and_then(|pool| sys::cuMemPoolSetAccess(pool, &raw const access, 1).result())
        };
        given.is_ok()
    }
}
