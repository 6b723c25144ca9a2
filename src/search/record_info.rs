//! Information on one record, for `bwz -l --records` and for the library.

use crate::filter::sequence::ListedRecord;

/// A record of a FASTA or FASTQ file. The numbers are those of a `.fai` file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordInfo {
    /// The first word of the header line, without its mark.
    pub name: Vec<u8>,
    /// Number of bases, or of amino acids.
    pub length: u64,
    /// Raw offset of the first line of bases. If there is none, the offset at which it would be.
    pub offset: u64,
    /// Number of bases in each line except the last.
    pub line_bases: u64,
    /// Bytes of each line except the last, including line end and blanks.
    pub line_width: u64,
    /// Raw offset of the first quality of a FASTQ record.
    pub quality_offset: Option<u64>,
    /// True if all lines except the last have the same width, and no other bytes are between them
    /// or before a base. The numbers then give the place of each base.
    pub is_regular: bool,
    /// Number of the block in which the record begins.
    pub(super) block: u64,
    /// Number of the record among those that begin in the block, from 1.
    pub(super) number: usize,
    /// True if the record comes from a table of records and was not compared with its block.
    pub(crate) is_unchecked: bool,
}

impl RecordInfo {
    /// Returns true if all public fields are equal, and the block and the number in it.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        RecordInfo {
            is_unchecked: other.is_unchecked,
            ..self.clone()
        } == *other
    }

    /// Creates the information on a record of a frame whose raw bytes start at `start`.
    pub(super) fn new(record: ListedRecord, start: u64, block: u64, number: usize) -> Self {
        RecordInfo {
            name: record.name,
            length: record.length,
            offset: record.offset.saturating_add(start),
            line_bases: record.line_bases,
            line_width: record.line_width,
            quality_offset: record
                .quality_offset
                .map(|offset| offset.saturating_add(start)),
            is_regular: record.is_regular,
            block,
            number,
            is_unchecked: false,
        }
    }
}
