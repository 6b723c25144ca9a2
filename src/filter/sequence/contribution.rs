//! Contribution of a block to a stream of sequences. The tables of a frame are made from these.

use super::line_layout::Layout;
use super::line_state::LineState;
use super::record_list::BlockRecords;
use std::sync::Arc;

/// Contribution of a block to a stream of sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// Number of records that begin in the block.
    pub records: u64,
    /// Number of residues of all records.
    pub residues: u64,
    /// Number of residues of the last record in the block.
    pub of_last: u64,
    /// State at the start of the block.
    pub start: LineState,
    /// Records of the block, unless there are more than a frame lists.
    pub listed: Option<Arc<BlockRecords>>,
}

impl Layout {
    /// Returns the contribution of the block to its stream. The block begins in the state `start`.
    pub fn contribution(&self, start: LineState) -> Contribution {
        let last = self
            .residues_before(self.totals.records)
            .unwrap_or(0);
        let residues = self.residues_in(&self.totals);
        Contribution {
            records: self.totals.records as u64,
            residues: residues as u64,
            of_last: (residues - last) as u64,
            start,
            listed: None,
        }
    }
}
