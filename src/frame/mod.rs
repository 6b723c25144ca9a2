//! The bytes on disk and nothing else: chapters 2 to 8 and 10 of `format/FORMAT.md`. Each file of a
//! structure names its own chapter.
//!
//! A structure of fixed size is a struct with `to_bytes` above `from_bytes`. `from_bytes` checks
//! everything that can be checked without the rest of the file. [`FrameWriter`] and [`FrameReader`]
//! put structures in order and check that they agree with each other. [`landmarks`] finds blocks if
//! that order is broken. Nothing here compresses data, except that tables may be stored as zstd
//! frames (`table_form`).
//!
//! | file | job |
//! |---|---|
//! | `frame_header`, `footer` | the start and the end of a frame |
//! | `seek_table` | the offsets of its blocks |
//! | `block_header` | the header of a block, and a block as it is stored |
//! | `bwt_payload`, `slice_sizes` | the payload of a block that is not stored; the sizes of its slices |
//! | `block_index` | the index of a block |
//! | `tables`, `table_form` | tables of a block or a frame; the form in which some tables are stored |
//! | `sequences`, `record_table` | the tables of a frame for its sequences and records |
//! | `packed_array`, `field_bytes` | arrays of integers, fields, and their checks |
//! | `frame_writer`, `frame_reader` | a frame in order, without seeking |
//! | `contents` | the frames and blocks of a file, found from its end |
//! | `indexed_blocks` | numbers of blocks, by their kind of index |
//! | `landmarks`, `range_checksums` | for a damaged file: blocks and ends of frames, CRC-32 of any range |

mod block_header;
mod block_index;
mod bwt_payload;
pub(crate) mod contents;
mod field_bytes;
mod footer;
mod frame_header;
mod frame_reader;
mod frame_writer;
mod indexed_blocks;
pub(crate) mod landmarks;
pub(crate) mod packed_array;
mod range_checksums;
mod record_table;
mod seek_table;
mod sequences;
mod slice_sizes;
mod table_form;
mod tables;

pub(crate) use block_header::{BlockHeader, BlockKind, CodedBlock, Shape, read_payload};
pub(crate) use block_index::{Around, BlockIndex, BlockIndexHeader, EDGE, SliceFacts, TextSizes};
pub(crate) use bwt_payload::{BwtPayload, FilterFields};
pub(crate) use field_bytes::{checksum_holds, raw_checksum, raw_checksum_holds, read_at};
pub(crate) use footer::{Footer, NO_FOOTER};
pub use frame_header::{DRAFT, MAGIC, VERSION};
pub(crate) use frame_header::{FrameHeader, NOT_BWZ, other_version};
pub(crate) use frame_reader::{CUT_OFF, FrameReader};
pub(crate) use frame_writer::FrameWriter;
pub use indexed_blocks::IndexedBlocks;
pub(crate) use range_checksums::RangeChecksums;
pub(crate) use record_table::{
    LONGEST as LONGEST_RECORDS, RECORDS, from_bytes as read_records, to_bytes as records_to_bytes,
};
pub(crate) use seek_table::{Entry, SeekTable};
pub(crate) use sequences::{SEQUENCES, SequencesTable};
pub(crate) use slice_sizes::SliceSizes;
pub(crate) use tables::{
    LONG_TABLES, TablePlace, check as check_tables, find as find_table, pass as pass_tables,
    read_table, to_bytes as tables_to_bytes,
};
