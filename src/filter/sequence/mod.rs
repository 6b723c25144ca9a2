//! Sequences: FASTA and FASTQ taken apart into residues, which are sorted and searched, and all
//! else. FORMAT.md section 12.8.
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
//! The first two parts are searched. A pattern of residues is found across line ends and blanks and
//! in either case, but never across records. A line within a record is always part of its sequence.
//! If it has a byte that is neither a residue nor a blank, this byte is in the text as itself, and
//! no pattern of residues crosses it.
//!
//! The layout has the lengths of the lines, their ends, the positions of blanks, and the stretches
//! of small letters. This is a few bytes per record. It maps positions in the text to raw offsets
//! and back, in logarithmic time. Taking apart and putting together are one pass over the block
//! each.
//!
//! The kind of a line follows from the lines before it. A block is therefore taken apart by the
//! [`LineState`] at its start.
//!
//! | file | job |
//! |---|---|
//! | `detect` | is a block one of sequences, and where may it be cut? |
//! | `lines`, `line_state` | its lines, and the role of each |
//! | `odd_bytes` | bytes in lines of residues that are no residues, for a warning |
//! | `units` | lines in a row, and their records |
//! | `split_records`, `join_lines` | raw block -> text and layout, and back |
//! | `line_layout` | the layout |
//! | `raw_parts` | a range of the raw block, from parts of the text |
//! | `record_list` | the names of records, and the numbers of `.fai` |
//! | `contribution` | the numbers that a block adds to those of its stream |
//! | `cover` | ascending stretches in a block, such as those of small letters |
//! | `entry_room` | the limit of the number of units and stretches |
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
