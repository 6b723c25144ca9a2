//! What the GPUs that sort one text ask of the network between them.

use crate::error::Result;
use crate::gpu::interface::Transferred;
use crate::gpu::runtime::{Array, Gpu};
use cudarc::driver::ValidAsZeroBits;

/// One of several GPUs that exchange arrays of device memory.
///
/// All of them call the same functions in the same order.
pub trait DeviceExchange {
    /// The number of this GPU, from 0.
    fn number(&self) -> usize;

    /// How many GPUs there are.
    fn count(&self) -> usize;

    /// The words of each GPU, which all give equally many of.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where the network or another GPU fails.
    fn all_gather(&mut self, words: &[u64]) -> Result<Vec<Vec<u64>>>;

    /// Sends `sent[q]` to each GPU q, itself too, and receives as much as that has for this one
    /// into `received[q]`. All is there when this returns, and what was sent may be overwritten.
    ///
    /// # Errors
    /// As [`DeviceExchange::all_gather`].
    fn all_to_all<T: ValidAsZeroBits>(
        &mut self,
        gpu: &Gpu,
        sent: &[Array<T>],
        received: &[Array<T>],
    ) -> Result<()>;

    /// What this GPU has sent to others so far.
    fn transferred(&self) -> Transferred;
}
