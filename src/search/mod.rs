//! Search in a file: counts, locates and extracts for [`Archive`](crate::Archive). The index of a
//! block is an FM-index (FORMAT.md chapter 10).
//!
//! A block has one searched text: its raw bytes (`byte_block`) or the text of its sequences
//! (`sequence_block`). The text is searched in one of three forms:
//!
//! - On disk: only the index of the block is in memory, and the slices that the search needs are
//!   decoded.
//! - By an index in memory: the whole block is decoded into an FM-index.
//! - As text in memory: the block is restored, and its text is scanned, or sorted if there are many
//!   patterns.
//!
//! **`memory_policy::form` decides which.** It compares the costs that `search_cost` estimates.
//!
//! **`Session::lease` decides whether a GPU searches the blocks whose index is in memory.** A
//! GPU that was asked for does. Otherwise `engine::device_pool` compares the times of CPU and GPU.
//!
//! # The calls of `count`
//! Calls from [`Searcher::count`] to the loop of the search. `bwz count` uses a `Searcher`, and the
//! page of `cli/search/count_locate.rs` lists the calls before these.
//! [`Archive::count`](crate::Archive::count) begins with call 2.
//!
//! | | call | file | job |
//! |--:|---|---|---|
//! | 1 | `Searcher::count` | `searcher` | keeps threads, GPUs and blocks from one batch to the next |
//! | 2 | `FileSearch::search` | `file_search` | checks tables, answers empty patterns |
//! | 3 | `FileSearch::search_sections` | `file_search` | goes through the sections of the file |
//! | 4 | `section_search::search` | `section_search` | folds patterns, cuts the batch to fit in memory |
//! | 5 | `Batch::search_blocks` | `search_batch` | opens some blocks at a time, leases a GPU if that pays, searches them, keeps them |
//! | 6 | `OpenBlock::find` | `find_in_block` | searches one block in the form that it has |
//!
//! Call 5 opens blocks by `OpenBlock::open` (`open_block`), which asks `memory_policy::form`. From
//! call 6 on, the calls depend on the form:
//!
//! | | on disk | index in memory, CPU | index in memory, GPU | text |
//! |--:|---|---|---|---|
//! | 7 | `DiskBlock::intervals` (`disk_batch`) | `LoadedIndex::counts` (`loaded_index`) | `LoadedIndex::counts` (`loaded_index`) | `ScannedText::find_all` (`text_scan`) |
//! | 8 | `DiskBlock::search` (`disk_batch`): the loop | `FmIndex::count_all` (`fm_index::text_matches`) | `Lease::run` (`engine::device_pool`) | `occurrences` (`text_scan`): the loop |
//! | 9 | | `FmIndex::search_chunk` (`fm_index::backward_search`) | `GpuSearch::search` (`gpu::pattern_batches`) | |
//! | 10 | | `FmIndex::search_chunk_v3`, for x86-64 with AVX2 | `intervals` (`gpu::search`) | |
//! | 11 | | `FmIndex::search_in_turn`: the loop | `Gpu::launch_struct` (`gpu::runtime`): the kernel | |
//!
//! A text that is sorted is searched like an index in memory.
//!
//! Other ways in a section of sequences: letters that stand for other symbols (`--iupac`, T and U)
//! take `find_in_block::OpenIndex::find_rows`, and `class_search` if the search branches; `--case`
//! locates all matches and then compares their letters (`section_search`). In every section,
//! `--max-mismatches` searches halves of the patterns (`mismatches`).
//!
//! # Files
//! | file | job |
//! |---|---|
//! | `searcher`, `pattern_stream` | several batches in turn; patterns from an iterator |
//! | `file_search`, `search_results` | one batch or one range, and its result |
//! | `sections`, `section_search` | the parts of a file, each searched by sequence or by bytes; the search of one |
//! | `folded_patterns` | patterns for a search by sequence |
//! | `search_batch` | a batch of patterns in the blocks of a section |
//! | `session`, `kept_blocks` | state between batches: threads and GPUs; kept parts of blocks |
//! | `memory_policy`, `search_cost` | the form in which a block is searched; estimates of its cost |
//! | `file_block` | a block of the file: its header, and decoding it |
//! | `searched_block` | a block with its searched text, which is one of the next two |
//! | `byte_block` | a block searched as bytes |
//! | `sequence_block`, `block_front` | a block searched by sequence; the front of a payload |
//! | `open_block` | a block that is open for search, in one of the forms |
//! | `find_in_block`, `text_scan` | patterns in it: by its index, or by scanning its text |
//! | `block_ranges` | ranges of its text or of its raw bytes |
//! | `letter_classes`, `class_search` | letters that stand for several symbols, and their search |
//! | `loaded_index` | the index of a block in memory, of 32 bits or of 64 |
//! | `searching_gpu` | a GPU that searches it, and the comparison with the CPU |
//! | `disk_block`, `disk_tables` | a block on disk: its tables, and its slices one by one |
//! | `counts_above`, `disk_samples` | the counts and the samples of its index |
//! | `disk_batch`, `slice_cache` | many searches and walks in it, which share slices |
//! | `sample_sweep` | many rows of it, located together |
//! | `record_tables` | the names and numbers of all records, from tables or from blocks |
//! | `absent_names` | names that no record has |
//! | `lines` | the lines around literals, for a search by expressions |
//! | `record_info` | one record, with its name and numbers |
//! | `records` | places in records, and the bases of these |
//! | `mismatches` | matches with at most one mismatch |
//! | `boundary_matches` | matches that cross the boundary of two blocks |
//! | `shared_input` | the file, read by position from any thread |
//!
//! # Order of work
//! Blocks are searched in groups. The blocks of a group are searched side by side, as many as
//! threads and memory allow, each for all patterns. The result does not depend on the grouping, nor
//! on whether the file has an index.
//!
//! If very many long patterns are counted on the CPU, the blocks are restored. Once the interval of
//! a pattern is one row, the rest of the pattern is compared with the text
//! (`fm_index::text_matches`).
//!
//! # GPU
//! A GPU is used if one was asked for or if it pays. It decodes blocks that have an index. It also
//! searches blocks of up to 4 GiB, one after the other, with the index that the CPU has built. If
//! it fails, the CPU searches that block again, and all further blocks.
//!
//! The blocks that a GPU decodes are checked like those that the CPU decodes. Of the patterns and
//! rows that a GPU searches, the CPU searches one in 64, and at least 16 (`searching_gpu`). A
//! difference is a failure of the GPU. There is one warning, about the first thing that goes wrong.
//!
//! # Memory
//! `memory_policy` lists the share of the memory limit that each part of a search may use.
//!
//! # Absent
//! A match has at most one mismatch, and no insertions or deletions. There are no regular
//! expressions: the command has them, and asks `lines` for the lines that can match. A search never
//! writes an index for a file that has none.

mod absent_names;
mod block_front;
mod block_ranges;
mod boundary_matches;
mod byte_block;
mod class_search;
mod counts_above;
mod disk_batch;
mod disk_block;
mod disk_samples;
mod disk_tables;
mod file_block;
mod file_search;
mod find_in_block;
mod folded_patterns;
mod kept_blocks;
mod letter_classes;
mod lines;
mod loaded_index;
mod memory_policy;
mod mismatches;
mod open_block;
mod pattern_stream;
mod record_info;
mod record_tables;
mod records;
mod sample_sweep;
mod search_batch;
mod search_cost;
mod search_results;
mod searched_block;
mod searcher;
mod searching_gpu;
mod section_search;
mod sections;
mod sequence_block;
mod session;
mod shared_input;
mod slice_cache;
mod text_scan;

pub(crate) use block_ranges::text_range;
pub(crate) use byte_block::ByteBlock;
pub(crate) use file_block::FileBlock;
pub(crate) use file_search::FileSearch;
pub use lines::{LinePiece, LineRegion, LineRequest};
pub(crate) use memory_policy::Task;
pub(crate) use open_block::{BlockJob, OpenBlock, OpenIndex};
pub(crate) use pattern_stream::PatternStream;
pub use record_info::RecordInfo;
pub use records::Place;
pub(crate) use search_results::WantedPositions;
pub use search_results::{Matches, ReadCost};
pub(crate) use searched_block::SearchedBlock;
pub use searcher::Searcher;
pub(crate) use sections::{Layouts, Section, sections};
pub(crate) use session::Session;
pub(crate) use shared_input::SharedInput;
