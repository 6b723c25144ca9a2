//! Processes with a GPU each that together sort a block for which one GPU has too little memory.
//! They run on one host or several, and are started by `mpirun`, `srun` or `torchrun`.
//!
//! Rank 0 compresses, and gives each of the others its part of a block over TCP. (The sorted text
//! is the output of filters, which no other rank could read.) The GPUs then sort by prefix doubling
//! and exchange by NCCL (`gpu::distributed`), and the rows come back over TCP.
//!
//! | file | job |
//! |---|---|
//! | `launcher` | the rank of this process |
//! | `token` | the secret that the ranks of a job share |
//! | `messages` | messages between ranks over TCP |
//! | `connection` | a connection, and the signs of life on it |
//! | `gathering` | rank 0 finds the others among all that connect |
//! | `first_rank` | rank 0, which does all else too |
//! | `other_rank` | the others, which sort their parts |
//!
//! # Failure
//! The connection also shows when a rank is gone. If one rank fails at work, the others end their
//! wait, and rank 0 does the block alone. A rank whose GPU is not there ends with an error before
//! it looks for others. Rank 0 ends with an error if not all ranks have come after a minute. Both
//! ends of a connection send a sign of life every five seconds, however long a sort takes. After a
//! minute of silence the other end is given up.
//!
//! # Security
//! Anyone who can connect to the address of rank 0 while the ranks gather, and has their token, can
//! be one of them and is given text. Ranks without a token meet on the loopback interface only.
//! Nothing is encrypted: neither the token, nor the text of blocks, nor the data that GPUs exchange
//! by NCCL. As with MPI, the network between hosts is trusted.

mod connection;
mod first_rank;
mod gathering;
mod launcher;
mod messages;
mod other_rank;
#[cfg(test)]
mod tests;
mod token;

pub use first_rank::Ranks;
pub use other_rank::OtherRank;

use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::gpu;
use launcher::ProcessRank;
use token::Token;

/// Role of this process among those that its launcher has started.
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
    /// A rank that helps.
    Other(OtherRank),
}

impl JoinedRank {
    /// Finds the rank of this process, and joins the others. Rank 0 listens at `address`,
    /// `HOST:PORT`, and waits until all others have connected. Each rank uses one GPU of `device`,
    /// the one of its rank on its host.
    ///
    /// The ranks of a job share a secret, the token. It is the environment variable
    /// `BWZ_RANKS_TOKEN` of 16 to 128 bytes, or else the key that `mpirun` of Open MPI 4 gives
    /// them. Without a token the address must be of the loopback interface. Blocks are sent as they
    /// are, without encryption.
    ///
    /// # Errors
    /// [`Error::Usage`] if no launcher has said which rank this is, the device is the CPU, or the
    /// address needs a token; [`Error::Device`] if there is no such GPU, or rank 0 refuses this
    /// rank; [`Error::Io`] if the ranks have not found each other within a minute.
    pub fn join(address: &str, device: Device) -> Result<JoinedRank> {
        let place = ProcessRank::of_process()?;
        let gpu = own_gpu(device, place.on_host)?;
        let token = Token::of_process()?;
        token.check_address(address)?;
        match place.number {
            0 => Ranks::gather(address, place.count, token, gpu).map(JoinedRank::First),
            _ => OtherRank::connect(address, place, token, gpu).map(JoinedRank::Other),
        }
    }
}

/// Returns the GPU of a device that the rank of this number on its host uses.
///
/// # Errors
/// [`Error::Device`] if it is not there. This is found without waiting for the other ranks.
fn own_gpu(device: Device, on_host: u32) -> Result<u32> {
    let there: Vec<u32> = match device {
        Device::Cpu => return Err(Error::Usage("ranks sort on GPUs, not on the CPU".into())),
        Device::Auto | Device::Cuda(_) => gpu::devices()?
            .into_iter()
            .map(|gpu| gpu.number)
            .collect(),
    };
    chosen_gpu(device, &there, on_host)
}

/// Returns the GPU that the rank of this number on its host uses, of those that are `there`.
fn chosen_gpu(device: Device, there: &[u32], on_host: u32) -> Result<u32> {
    let chosen = match device {
        Device::Cuda(gpus) => gpus.numbers(),
        Device::Auto | Device::Cpu => None,
    };
    let numbers: Vec<u32> = match chosen {
        Some(numbers) => numbers.collect(),
        None => there.to_vec(),
    };
    let Some(&number) = numbers.get(on_host as usize % numbers.len().max(1)) else {
        let why = if gpu::is_built() {
            ""
        } else {
            ": this build of bwz has no CUDA"
        };
        return Err(Error::Device(
            format!("there is no GPU for this rank{why}").into(),
        ));
    };
    if !there.contains(&number) {
        let count = there.len();
        let what = format!("GPU {number} of --device is not there: this host has {count} for bwz");
        return Err(Error::Device(what.into()));
    }
    Ok(number)
}
