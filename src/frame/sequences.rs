//! The table Sequences of a frame, FORMAT.md section 5.1: the records and residues of its blocks.
//! With it, a search by sequence knows those of a block without decoding the blocks before it.

use super::field_bytes::ensure;
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::filter::sequence::{Contribution, Kind, LineState};

const MISFIT: Flaw = Flaw("the frame's table of sequences does not match its blocks");

/// The sequences of a frame, block by block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SequencesTable {
    pub kind: Kind,
    pub blocks: Vec<BlockSequences>,
}

/// The records and residues of a block, and of the blocks before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockSequences {
    /// Records that begin before the block.
    pub records_before: u64,
    /// Residues in earlier blocks of the record that continues in this block; 0 if a record begins
    /// with the block.
    pub continued: u64,
    /// Residues in the block.
    pub residues: u64,
    /// State of the stream at the start of the block.
    pub start: LineState,
}

impl SequencesTable {
    /// Builds the table from the contributions of the blocks, in order.
    pub(crate) fn of(kind: Kind, blocks: impl IntoIterator<Item = Contribution>) -> Self {
        let mut records_before = 0;
        let mut continued = 0;
        let place = |Contribution {
                         records,
                         residues,
                         of_last,
                         start,
                         ..
                     }: Contribution| {
            let block = BlockSequences {
                records_before,
                continued,
                residues,
                start,
            };
            records_before += records;
            continued = if records == 0 {
                continued + residues
            } else {
                of_last
            };
            block
        };
        SequencesTable {
            kind,
            blocks: blocks.into_iter().map(place).collect(),
        }
    }

    /// The content of the table.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut plain = vec![self.kind as u8];
        for &BlockSequences {
            records_before,
            continued,
            residues,
            start,
        } in &self.blocks
        {
            let numbers = [records_before, continued, residues];
            numbers
                .iter()
                .for_each(|&number| leb128::write(number as usize, &mut plain));
            start.write(&mut plain);
        }
        plain
    }

    /// Maximum size of the content of the table of a frame of `blocks` blocks: the kind, and for
    /// each block a small number and up to four numbers of up to six bytes each.
    pub(crate) fn longest(blocks: u64) -> u64 {
        1 + (1 + 4 * 6) * blocks
    }

    /// Parses the content of the table of a frame of `blocks` blocks.
    pub(crate) fn from_bytes(content: &[u8], blocks: usize) -> Result<Self, Flaw> {
        let (&kind, mut rest) = content.split_first().ok_or(MISFIT)?;
        let kind = match kind {
            0 => Kind::Fasta,
            1 => Kind::Fastq,
            _ => return Err(Flaw("the frame is of sequences of an unknown kind")),
        };
        let mut block = |_| {
            let records_before = leb128::read(&mut rest)? as u64;
            let continued = leb128::read(&mut rest)? as u64;
            let residues = leb128::read(&mut rest)? as u64;
            let start = LineState::read(&mut rest, continued)?;
            Ok(BlockSequences {
                records_before,
                continued,
                residues,
                start,
            })
        };
        let blocks = (0..blocks)
            .map(&mut block)
            .collect::<Result<_, Flaw>>()?;
        ensure(rest.is_empty(), MISFIT.0)?;
        Ok(SequencesTable { kind, blocks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_survives_and_says_what_stands_before_each_block() {
        let start = LineState::default();
        let add = |records, residues, of_last| Contribution {
            records,
            residues,
            of_last,
            start,
            listed: None,
        };
        let blocks = [add(2, 100, 60), add(0, 70, 70), add(1, 30, 0), add(0, 5, 5)];
        let table = SequencesTable::of(Kind::Fastq, blocks);
        let before = |block: &BlockSequences| (block.records_before, block.continued);
        let expected = [(0, 0), (2, 60), (2, 130), (3, 0)];
        assert!(table.blocks.iter().map(before).eq(expected));
        let bytes = table.to_bytes();
        assert_eq!(SequencesTable::from_bytes(&bytes, 4), Ok(table));
        assert!(SequencesTable::from_bytes(&bytes, 3).is_err());
        assert!(SequencesTable::from_bytes(&bytes, 5).is_err());
        let many = SequencesTable::of(Kind::Fasta, vec![add(0, 1 << 20, 1 << 20); 1000]);
        let bytes = many.to_bytes();
        assert_eq!(SequencesTable::from_bytes(&bytes, 1000), Ok(many));
    }
}
