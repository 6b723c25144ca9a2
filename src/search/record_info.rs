//! A record as `bwz -l --records` and the library name it.

use crate::filter::sequence::ListedRecord;

/// A record of a FASTA or FASTQ file. The numbers are those of a `.fai` file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordInfo {
    /// The first word of the header line, without its mark.
    pub name: Vec<u8>,
    /// Bases, or amino acids.
    pub length: u64,
    /// Raw offset of the first line of them, or of where it would be.
    pub offset: u64,
    /// Bases in each line but the last.
    pub line_bases: u64,
    /// Bytes of each line but the last, its end and blanks included.
    pub line_width: u64,
    /// Raw offset of the first quality of a FASTQ record.
    pub quality_offset: Option<u64>,
    /// True if all lines but the last are of the same width, and nothing stands between them or in
    /// front of a base, so that the numbers tell where each base is.
    pub is_regular: bool,
    /// The block in which it begins, and its number there.
    pub(super) block: u64,
    pub(super) number: usize,
    /// It is as a table of records has it, and was not compared with the block.
    pub(crate) is_unchecked: bool,
}

impl RecordInfo {
    /// True if all that it says to others is the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        RecordInfo { is_unchecked: other.is_unchecked, ..self.clone() } == *other
    }

    /// A record of a frame whose raw bytes start at `start`.
    pub(super) fn new(record: ListedRecord, start: u64, block: u64, number: usize) -> Self {
        RecordInfo {
            name: record.name,
            length: record.length,
            offset: record.offset.saturating_add(start),
            line_bases: record.line_bases,
            line_width: record.line_width,
            quality_offset: record.quality_offset.map(|offset| offset.saturating_add(start)),
            is_regular: record.is_regular,
            block,
            number,
            is_unchecked: false,
        }
    }
}
