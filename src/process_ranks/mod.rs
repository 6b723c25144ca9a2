//! Processes with a GPU each that sort a block together, where one GPU has not the memory for it:
//! on one host or several, started by `mpirun`, `srun` or `torchrun`.
//!
//! | file | job |
//! |---|---|
//! | `launcher` | which rank this process is |
//! | `token` | the secret that the ranks of a job have in common |
//! | `messages` | what ranks say to each other over TCP |
//! | `connection` | a connection, and the signs of life on it |
//! | `gathering` | rank 0 finds the others among all that connect |
//! | `first_rank` | rank 0, which does all else too |
//! | `other_rank` | the others, which sort their parts |
//!
//! Rank 0 compresses, and gives each of the others its part of a block over TCP: the text that is
//! sorted is what filters have made of the input, which no other rank could read. The GPUs then
//! sort by prefix doubling and exchange by NCCL (`gpu::distributed`), and the rows come back over
//! TCP. The connection also says when a rank is gone: whichever fails at work, the others end their
//! wait, and rank 0 does the block alone. A rank whose GPU is not there ends with an error before
//! it looks for others, and rank 0 too if not all have come after a minute. Both ends of a
//! connection say every five seconds that they are alive, however long a sort takes; after a minute
//! of silence the other end is given up.
//!
//! Whoever can connect to the address of rank 0 while the ranks gather, and has their token, can be
//! one of them and is given text. Ranks without a token meet on the loopback interface alone.
//! Nothing is encrypted, neither the token nor the text of blocks nor what GPUs exchange by NCCL:
//! as with MPI, the network between hosts is trusted.

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

use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu;
use launcher::ProcessRank;
use token::Token;

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
    /// The ranks of a job have a secret in common, the token: the environment variable
    /// `BWZ_RANKS_TOKEN` of 16 to 128 bytes, or else the key that `mpirun` of Open MPI 4 gives
    /// them. Without one the address must be of the loopback interface. Blocks are sent as they
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

/// The GPU of a device that the rank of this number on its host uses.
///
/// # Errors
/// [`Error::Device`] if it is not there: the other ranks need not be waited for to know that.
fn own_gpu(device: Device, on_host: u32) -> Result<u32> {
    let there: Vec<u32> = match device {
        Device::Cpu => return Err(Error::Usage("ranks sort on GPUs, not on the CPU".into())),
        Device::Auto | Device::Cuda(_) => {
            gpu::devices()?.into_iter().map(|gpu| gpu.number).collect()
        }
    };
    chosen_gpu(device, &there, on_host)
}

/// The GPU that the rank of this number on its host uses, of those that are `there`.
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
        let why = if gpu::is_built() { "" } else { ": this build of bwz has no CUDA" };
        return Err(Error::Device(format!("there is no GPU for this rank{why}").into()));
    };
    if !there.contains(&number) {
        let count = there.len();
        let what = format!("GPU {number} of --device is not there: this host has {count} for bwz");
        return Err(Error::Device(what.into()));
    }
    Ok(number)
}
