//! One GPU's part in the sort of a text whose other parts are in other processes. It uses NCCL and
//! prefix doubling.

use super::distributed::ByDoubling;
use super::nccl_processor::NcclProcessor;
use super::part_sorter::{JointTask, PartSorter};
use super::peers::Peers;
use super::runtime::NcclId;
use super::text_parts::{PartRows, PartTask};
use crate::base::error::Result;

/// Sorts one part of each text. Its memory grows to fit the largest part and is kept.
#[derive(Debug)]
pub struct RankSorter {
    gpu: u32,
    part: PartSorter,
}

impl RankSorter {
    /// Creates a sorter on GPU `gpu`.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU is missing or fails.
    pub fn new(gpu: u32) -> Result<Self> {
        Ok(RankSorter {
            gpu,
            part: PartSorter::open(gpu)?,
        })
    }

    /// Sorts one part of a text, together with the other GPUs that join the same network.
    /// `settle` gets the rows of this part. It must return only when the others have finished with
    /// the network too, or when `peers` knows that one has failed.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU or NCCL fails or the GPU has too little
    /// memory; and the errors of `settle`.
    pub fn sort<T>(
        &mut self,
        network: NcclId,
        task: PartTask,
        peers: &Peers,
        settle: impl FnOnce(PartRows) -> Result<T>,
    ) -> Result<T> {
        let PartTask {
            parts,
            number,
            text,
            sample_rate,
        } = task;
        let mut exchange = NcclProcessor::join(self.gpu, network, number, parts.gpus(), peers)?;
        let task = JointTask {
            parts,
            sample_rate,
            whole_sa: false,
        };
        let result = self
            .part
            .sort(&ByDoubling, task, text, &mut exchange)?;
        settle(self.part.rows(&result))
    }
}
