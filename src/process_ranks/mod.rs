//! Processes with a GPU each that sort a block together, where one GPU has not the memory for it:
//! on one host or several, started by `mpirun`, `srun` or `torchrun`.
//!
//! | file | job |
//! |---|---|
//! | `launcher` | which rank this process is |
//! | `messages` | what ranks say to each other over TCP |
//! | `first_rank` | rank 0, which does all else too |
//! | `other_rank` | the others, which sort their parts |
//!
//! Rank 0 compresses, and gives each of the others its part of a block over TCP: the text that is
//! sorted is what filters have made of the input, which no other rank could read. The GPUs then
//! sort by prefix doubling and exchange by NCCL (`gpu::distributed`), and the rows come back over
//! TCP. The connection also says when a rank is gone: whichever fails at work, the others end their
//! wait, and rank 0 does the block alone. A rank whose GPU cannot be opened ends with an error, and
//! rank 0 too where not all have come after a minute. A host that falls silent between two messages
//! is waited for.
//!
//! Who can connect to the address of rank 0 while the ranks gather can be one of them and is given
//! text: as with MPI, the network between them is trusted.

mod first_rank;
mod launcher;
mod messages;
mod other_rank;
#[cfg(test)]
mod tests;

pub use first_rank::Ranks;
pub use other_rank::OtherRank;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu;
use launcher::ProcessRank;

/// What this process is among those that its launcher has started.
///
/// ```no_run
/// # fn main() -> bwz::Result<()> {
/// # let (input, output) = (std::io::empty(), std::io::sink());
/// match bwz::JoinedRank::join("node1:7000", bwz::Device::Auto)? {
///     bwz::JoinedRank::First(ranks) => {
///         let options = bwz::Options::new().with_block_size(8 << 30)?.ranks(ranks);
///         bwz::compress(input, output, &options)?;
///     }
///     bwz::JoinedRank::Other(rank) => rank.serve()?,
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum JoinedRank {
    /// Rank 0, which compresses with the help of the others.
    First(Ranks),
    /// One that helps.
    Other(OtherRank),
}

impl JoinedRank {
    /// Finds out which rank this process is, and joins the others: rank 0 listens at `address`,
    /// `HOST:PORT`, and waits until all others have connected. Each uses one GPU of `device`, the
    /// one of its rank on its host.
    ///
    /// # Errors
    /// [`Error::Usage`] where no launcher has said which rank this is, or the device is the CPU;
    /// [`Error::Device`] where there is no GPU; [`Error::Io`] where the ranks have not found each
    /// other within a minute.
    pub fn join(address: &str, device: Device) -> Result<JoinedRank> {
        let place = ProcessRank::of_process()?;
        let gpu = own_gpu(device, place.on_host)?;
        match place.number {
            0 => Ranks::gather(address, place.count, gpu).map(JoinedRank::First),
            _ => OtherRank::connect(address, place, gpu).map(JoinedRank::Other),
        }
    }
}

/// The GPU of a device that the rank of this number on its host uses.
fn own_gpu(device: Device, on_host: u32) -> Result<u32> {
    let chosen = match device {
        Device::Cpu => return Err(Error::Usage("ranks sort on GPUs, not on the CPU".into())),
        Device::Auto => None,
        Device::Cuda(gpus) => gpus.numbers(),
    };
    let numbers: Vec<u32> = match chosen {
        Some(numbers) => numbers.collect(),
        None => gpu::devices()?.into_iter().map(|gpu| gpu.number).collect(),
    };
    match numbers.len() {
        0 => Err(Error::Device("there is no GPU for this rank".into())),
        len => Ok(numbers[on_host as usize % len]),
    }
}
