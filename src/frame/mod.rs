//! The bytes on disk and nothing else: chapters 2 to 8 and 10 of `format/FORMAT.md`. Each file of a
//! structure names its own chapter.
//!
//! A structure of fixed size is a struct with `to_bytes` above `from_bytes`. `from_bytes` checks
//! everything that can be checked without the rest of the file. [`FrameWriter`] and [`FrameReader`]
//! put structures in order and check that they agree with each other. [`landmarks`] finds blocks if
//! that order is broken. Nothing here compresses data, except that one table may be stored as a
//! zstd frame (`table_form`).
//!
//! | file | job |
//! |---|---|
//! | `frame_header`, `footer` | the start and the end of a frame |
//! | `features` | what a frame needs of its reader |
//! | `header_tables`, `stream_check` | a frame's words before its blocks; its stream check |
//! | `seek_table` | the places and forms of its blocks |
//! | `block_header` | the header of a block, and a block as it is stored |
//! | `bwt_payload`, `filter_list`, `slice_sizes` | the payload of a bwt block and its lists |
//! | `block_index`, `counts_code` | the index of a block; the code of its counts |
//! | `tables`, `table_form` | tables of a block or a frame; the form of one |
//! | `sequences`, `record_table` | the tables of a frame for its sequences and records |
//! | `member_table` | the table of a frame for the members of a tar archive |
//! | `packed_array`, `field_bytes` | arrays of integers, fields, and their checks |
//! | `frame_writer`, `frame_reader` | a frame in order, without seeking |
//! | `contents`, `unread_frames` | the frames and blocks of a file; those that are not known |
//! | `frame_at_end`, `frame_info`, `backward_reader` | one frame from its end |
//! | `indexed_blocks` | numbers of blocks, by their kind of index |
//! | `landmarks`, `range_checksums` | for a damaged file: blocks and ends of frames, CRC-32 of any range |

mod backward_reader;
mod block_header;
mod block_index;
mod bwt_payload;
pub(crate) mod contents;
mod counts_code;
mod features;
mod field_bytes;
mod filter_list;
mod footer;
pub(crate) mod frame_at_end;
mod frame_header;
mod frame_info;
mod frame_reader;
mod frame_writer;
mod header_tables;
mod indexed_blocks;
pub(crate) mod landmarks;
mod member_table;
pub(crate) mod packed_array;
mod range_checksums;
mod record_table;
mod seek_table;
mod sequences;
mod slice_sizes;
mod stream_check;
mod table_form;
mod tables;
mod unread_frames;

pub(crate) use backward_reader::ReadSeek;
pub(crate) use block_header::{
    BlockHeader, BlockKind, CodedBlock, Shape, read_payload, read_payload_into,
};
pub(crate) use block_index::{BlockIndex, EDGE, SliceFacts, StoredIndex};
pub(crate) use bwt_payload::{BwtPayload, PayloadFront};
pub(crate) use counts_code::{again as counts_again, write as counts_to_bytes};
pub use features::Features;
pub(crate) use field_bytes::{checksum_holds, raw_checksum, raw_checksum_holds, read_at};
pub(crate) use filter_list::FilterList;
pub(crate) use footer::Footer;
pub(crate) use frame_header::{AnyHeader, FrameHeader, HEADER_SIZE, NEEDED, PrivateHeader};
pub use frame_header::{DRAFT, MAGIC, VERSION};
pub use frame_info::{BlockInfo, FrameInfo, IndexInfo};
pub(crate) use frame_reader::{CUT_OFF, FrameReader};
pub(crate) use frame_writer::FrameWriter;
pub(crate) use header_tables::again as header_tables_again;
pub(crate) use header_tables::to_bytes as header_tables_to_bytes;
pub use indexed_blocks::IndexedBlocks;
pub(crate) use member_table::{LONGEST as LONGEST_MEMBERS, MemberColumns, PlainMembers};
pub(crate) use range_checksums::RangeChecksums;
pub(crate) use record_table::{
    LONGEST as LONGEST_RECORDS, from_bytes as read_records, to_bytes as records_to_bytes,
};
pub(crate) use seek_table::again as seek_content_again;
pub(crate) use sequences::SequencesTable;
pub(crate) use slice_sizes::SliceSizes;
pub(crate) use stream_check::{StreamHasher, StreamVerifier};
pub(crate) use tables::{
    check as check_tables, pass as pass_tables, read_table, to_bytes as tables_to_bytes,
};
