//! The part of one GPU in the sort of a text whose other parts other processes have, by NCCL and by
//! prefix doubling.

use super::nccl_processor::NcclProcessor;
use super::part_sorter::{JointTask, PartSorter};
use super::peers::Peers;
use super::runtime::NcclId;
use super::text_parts::{PartRows, PartText, TextParts};
use crate::error::Result;

/// Sorts a part of each text. Its memory grows with the largest one and is kept.
#[derive(Debug)]
pub struct RankSorter {
    gpu: u32,
    part: PartSorter,
}

impl RankSorter {
    /// On the GPU of this number.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where it is not there, or fails.
    pub fn new(gpu: u32) -> Result<Self> {
        Ok(RankSorter { gpu, part: PartSorter::open(gpu)? })
    }

    /// Sorts the part of this number, with the other GPUs that join the same network. `settle` gets
    /// what comes of it and returns when the others are done with the network too, or `peers` knows
    /// that one has failed.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where the GPU or NCCL fails, or its memory does not
    /// do; and those of `settle`.
    pub fn sort<T>(
        &mut self,
        network: NcclId,
        (parts, number): (TextParts, usize),
        (text, sample_rate): (PartText, u32),
        peers: &Peers,
        settle: impl FnOnce(PartRows) -> Result<T>,
    ) -> Result<T> {
        let place = (number, parts.gpus());
        let mut exchange = NcclProcessor::join(self.gpu, network, place, peers)?;
        let task = JointTask { parts, sample_rate, whole_sa: false, by_sampling: false };
        let result = self.part.sort(task, text, &mut exchange)?;
        settle(self.part.rows(&result))
    }
}
