//! Search in a file: what [`Archive`](crate::Archive) counts, locates and extracts.
//!
//! | file | job |
//! |---|---|
//! | `searcher`, `pattern_stream` | batch after batch, and patterns from an iterator |
//! | `file_search`, `search_results` | a batch or a range, and what it gives |
//! | `search_batch` | a batch of patterns in all blocks |
//! | `searched_block` | one block: on disk, in memory as an FM-index, or plain |
//! | `find_in_block`, `text_scan` | patterns in it: by its index, or by looking through its text |
//! | `letter_classes`, `class_search` | letters that stand for several symbols, and their search |
//! | `loaded_index` | the index of a block in memory, of 32 bits or of 64 |
//! | `disk_block`, `disk_tables` | a block that stays on disk, its slices one by one |
//! | `counts_above`, `disk_samples` | what its index says of rows |
//! | `disk_batch`, `slice_cache` | many searches and walks in it, which share slices |
//! | `sample_sweep` | many rows of it, located together |
//! | `search_cost` | whether a search pays there or in memory |
//! | `batch_in_sections`, `sections` | what is searched by sequence, and what by bytes |
//! | `sequence_block`, `sequence_text`, `folded_patterns` | search by sequence |
//! | `record_tables` | the names and numbers of all records, from tables or from blocks |
//! | `absent_names` | names that no record has |
//! | `record_info` | a record, as it is named |
//! | `records` | places in records, and the bases of these |
//! | `mismatches` | matches of which one byte differs |
//! | `boundary_matches` | matches that cross the boundary of two blocks |
//! | `file_block` | a block of the file: its header, and decoding it |
//! | `shared_input` | the file, read by position from any thread |
//!
//! Blocks are searched one group after the other, as many side by side as threads and memory allow,
//! each with all patterns. What is found does not depend on either, nor on whether the file has an
//! index. A GPU, where one was asked for or pays, decodes blocks that have an index, and searches
//! those of up to 4 GiB one after the other, by the index that the CPU has made of them; where it
//! fails, the CPU searches that block again, and all others. What it decoded is checked as what the
//! CPU decoded is, what it found hardly (`sorters`). There is one warning, of what goes wrong
//! first.
//!
//! Where very many long patterns are counted on the CPU, blocks are restored, and what is left of a
//! pattern is compared with the text once its row is alone (`fm_index::text_matches`).

mod absent_names;
mod batch_in_sections;
mod boundary_matches;
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
mod letter_classes;
mod loaded_index;
mod mismatches;
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
mod sections;
mod sequence_block;
mod sequence_text;
mod shared_input;
mod slice_cache;
mod text_scan;

pub(crate) use file_block::FileBlock;
pub(crate) use file_search::FileSearch;
pub(crate) use pattern_stream::PatternStream;
pub use record_info::RecordInfo;
pub use records::Place;
pub(crate) use search_batch::Session;
pub use search_results::{Matches, ReadCost};
pub(crate) use searched_block::{BlockJob, BlockText, SearchedBlock};
pub use searcher::Searcher;
pub(crate) use sections::{Layouts, sections};
pub(crate) use shared_input::SharedInput;
