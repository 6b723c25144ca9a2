//! Random access to a compressed file: reads any range of its raw bytes without decoding the rest,
//! and searches in it. See FORMAT.md chapter 7.
//!
//! [`Archive::open`] reads the tables of all frames from the end of the file; they say which block
//! holds a raw offset. Memory for them grows with the number of blocks. Reading a range decodes
//! only the blocks that hold it. Searches are done by `search`, which this module calls.
//!
//! | file | job |
//! |---|---|
//! | `archive_file` | [`Archive`]: ranges and searches |
//! | `archive_gpu` | ranges, restored to the memory of a GPU |
//! | `archive_lines` | lines, by number and by key |
//! | `archive_members` | the members of a tar archive |
//! | `archive_places` | lines around literals, by the index; some blocks in order |
//! | `archive_records` | records and their bases |
//! | `recover` | the intact blocks of a damaged file |
//!
//! A file whose end is damaged cannot be opened, since its tables are lost. It is scanned by
//! [`recover`](crate::recover()) instead.

mod archive_file;
mod archive_gpu;
mod archive_lines;
mod archive_members;
mod archive_places;
mod archive_records;
pub(crate) mod recover;

pub use archive_file::Archive;
pub use archive_gpu::GpuRead;
pub use archive_lines::Lines;
