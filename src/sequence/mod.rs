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
//!
//! The first two are what is searched; a pattern of residues is found across line ends, in either
//! case, and never across records. The layout has the lengths of the lines, their ends, and where
//! letters were small: a few bytes for a record. It maps positions to and from raw offsets in
//! logarithmic time. Taking apart and putting together is one pass over the block each.
//!
//! | file | job |
//! |---|---|
//! | `detect` | is a block one of sequences, and where may it be cut? |
//! | `lines`, `units` | its lines, and the records that they are of |
//! | `split_records`, `join_lines` | raw block -> text and layout, and back |
//! | `line_layout` | the layout |
//! | `cover` | ascending stretches in it, such as those of small letters |
//! | `unlike` | why a text that begins like FASTA or FASTQ is taken for neither |
//! | `others` | bytes that are no residues, above 127 |

mod cover;
mod detect;
mod join_lines;
mod line_layout;
mod lines;
mod others;
mod split_records;
#[cfg(test)]
mod tests;
mod units;
mod unlike;

pub use detect::{cut, decide, detect};
pub use join_lines::join;
pub use line_layout::{Base, Contribution, Layout, Record};
pub use lines::Kind;
pub use split_records::split;
pub use unlike::why_unlike;
