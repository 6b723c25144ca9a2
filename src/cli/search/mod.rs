//! Grep, count, locate, extract, and the printing of matches. The searches of bytes and sequences
//! are in the library; here the patterns are read and the results are formatted.
//!
//! Patterns are searched in batches. While one batch is searched, the next one is read and the
//! previous one is printed. The patterns are read again for each file, so that only a few batches
//! are in memory at a time.
//!
//! | file | job |
//! |---|---|
//! | `count_locate` | the commands count and locate |
//! | `file_counts` | both in one file |
//! | `batch_search` | batches of patterns searched in a file |
//! | `extract_command` | the command extract |
//! | `extract_regions` | extract of regions of records |
//! | `record_regions` | regions as people type them |
//! | `patterns` | all patterns of a call |
//! | `pattern_file` | patterns of a file |
//! | `pattern_syntax` | lines, FASTA and FASTQ of patterns |
//! | `pattern_chunks` | chunks of a pattern file |
//! | `pattern_batch` | patterns searched together |
//! | `meant_expressions` | a hint for patterns that look like expressions |
//! | `odd_patterns` | a warning about patterns with bytes that are no residues |
//! | `ambiguity_codes` | a warning about IUPAC letters |
//! | `paired_reads` | two files of mates |
//! | `match_lines` | lines of matches |
//! | `match_pieces` | matches cut and gathered to pieces |
//! | `surroundings` | places, bases and context of matches |
//! | `match_printer` | printing them in order |
//! | `sam_lines` | lines of SAM |
//! | `mate_pairs` | two mates in SAM |
//! | `path_globs` | globs that choose files of directories |
//! | `unique_names` | names that must be unique in an output |
//! | `grep` | the command grep: lines that match expressions |

pub(crate) mod ambiguity_codes;
mod batch_search;
pub(crate) mod count_locate;
pub(crate) mod extract_command;
pub(crate) mod extract_regions;
mod file_counts;
pub(crate) mod grep;
pub(crate) mod match_lines;
mod match_pieces;
pub(crate) mod match_printer;
pub(crate) mod mate_pairs;
pub(crate) mod meant_expressions;
pub(crate) mod odd_patterns;
pub(crate) mod paired_reads;
pub(crate) mod path_globs;
pub(crate) mod pattern_batch;
pub(crate) mod pattern_chunks;
pub(crate) mod pattern_file;
pub(crate) mod pattern_syntax;
pub(crate) mod patterns;
pub(crate) mod record_regions;
pub(crate) mod sam_lines;
mod surroundings;
pub(crate) mod unique_names;
