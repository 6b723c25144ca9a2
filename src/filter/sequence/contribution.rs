//! The contribution of a block to a stream of sequences, from which the frame's tables are made.

use super::line_layout::Layout;
use super::line_state::LineState;
use super::record_list::BlockRecords;
use std::sync::Arc;

/// The contribution of a block to a stream of sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// Records that begin in it.
    pub records: u64,
    /// Residues of all records.
    pub residues: u64,
    /// Those of the last record in it.
    pub of_last: u64,
    /// The state at its start.
    pub start: LineState,
    /// Its records, unless there are more than a frame lists.
    pub listed: Option<Arc<BlockRecords>>,
}

impl Layout {
    /// What the block adds to the stream that it is of, in which it begins in the state `start`.
    pub fn contribution(&self, start: LineState) -> Contribution {
        let last = self.residues_before(self.totals.records).unwrap_or(0);
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
