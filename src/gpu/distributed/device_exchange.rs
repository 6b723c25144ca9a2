//! Operations of the network between the GPUs that sort one text.

use crate::base::error::Result;
use crate::gpu::interface::Transferred;
use crate::gpu::runtime::{Array, Gpu};
use cudarc::driver::ValidAsZeroBits;

/// One of several GPUs that exchange arrays of device memory.
///
/// All of them call the same functions in the same order.
pub trait DeviceExchange {
    /// Number of this GPU, from 0.
    fn number(&self) -> usize;

    /// Number of GPUs.
    fn count(&self) -> usize;

    /// Returns the words of each GPU. All GPUs give equally many.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the network or another GPU fails.
    fn all_gather(&mut self, words: &[u64]) -> Result<Vec<Vec<u64>>>;

    /// Sends `sent[q]` to each GPU q, including itself, and receives into `received[q]` the array
    /// that GPU q has for this one. When this returns, all arrays have arrived, and those that were
    /// sent may be overwritten.
    ///
    /// # Errors
    /// As [`DeviceExchange::all_gather`].
    fn all_to_all<T: ValidAsZeroBits>(
        &mut self,
        gpu: &Gpu,
        sent: &[Array<T>],
        received: &[Array<T>],
    ) -> Result<()>;

    /// Amount of data that this GPU has sent to others so far, and the time it took.
    fn transferred(&self) -> Transferred;
}
