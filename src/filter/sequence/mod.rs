//! Sequences: FASTA and FASTQ taken apart, so that what is sorted and searched is residues.
//! FORMAT.md section 12.8.
//!
//! raw block -> [`split`] -> text, [`Layout`] -> [`join`] -> raw block. The *text* is
//!
//! | part | bytes |
//! |---|---|
//! | residues of the record that goes on from the block before | upper case |
//! | for each record that begins in the block | `0A`, then its residues |
//! | the other lines: headers, comments, `+` lines | all above 127 |
//! | the qualities of FASTQ | all above 127 |
//! | the blanks in lines of residues | all above 127 |
//!
//! The first two are what is searched; a pattern of residues is found across line ends and blanks,
//! in either case, and never across records. A line within a record is never left out of it: a byte
//! that is neither a residue nor a blank stands in the text as itself, where no pattern of residues
//! crosses it. The layout has the lengths of the lines, their ends, the blanks in them, and where
//! letters were small: a few bytes for a record. It maps positions to and from raw offsets in
//! logarithmic time. Taking apart and putting together is one pass over the block each.
//!
//! What a line is follows from the lines before it, so a block is taken apart by the [`LineState`]
//! at its start.
//!
//! | file | job |
//! |---|---|
//! | `detect` | is a block one of sequences, and where may it be cut? |
//! | `lines`, `line_state` | its lines, and what each of them is |
//! | `odd_bytes` | bytes in lines of residues that are no residues, for a warning |
//! | `units` | lines in a row, and the records that they are of |
//! | `split_records`, `join_lines` | raw block -> text and layout, and back |
//! | `line_layout` | the layout |
//! | `raw_parts` | a range of the raw block, from parts of the text |
//! | `record_list` | the names of records, and the numbers of `.fai` |
//! | `contribution` | what a block adds to a stream |
//! | `cover` | ascending stretches in it, such as those of small letters |
//! | `entry_room` | how many entries it may have |
//! | `unlike` | why a text that begins like FASTA or FASTQ is taken for neither |
//! | `others` | bytes that are no residues, above 127 |

mod contribution;
mod cover;
mod detect;
mod entry_room;
mod join_lines;
mod line_layout;
mod line_state;
mod lines;
mod odd_bytes;
mod others;
mod raw_parts;
mod record_list;
mod split_records;
#[cfg(test)]
mod tests;
mod units;
mod unlike;

pub use contribution::Contribution;
pub use detect::{cut, decide, detect};
pub use entry_room::{NO_ROOM, OF_ENTRY};
pub use join_lines::join;
pub use line_layout::{Base, Layout, Record};
pub use line_state::LineState;
pub use lines::Kind;
pub use odd_bytes::OddBytes;
pub(crate) use odd_bytes::name_in;
pub use others::mapped;
pub use raw_parts::RawParts;
pub use record_list::{BlockRecords, ListedRecord, MOST_LISTED, RecordList, unmapped};
pub use split_records::split;
pub use unlike::why_unlike;
