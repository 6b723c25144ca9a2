//! The command grep: lines that match expressions. In flow: the arguments give the patterns and the
//! files; each file gives its text in parts; parts are scanned side by side; and what is found is
//! reported in order.
//!
//! A .bwz file with an index of bytes is asked first (`indexed_search`): the literals that the
//! expression requires (`required_literals`) are counted and located, and the library names the
//! regions of lines that can match (`Archive::find_lines`). These are scanned like any text. The
//! library also decides when scanning all of the file costs less.
//!
//! A *part* is a number of whole lines with their offset in the text. The scanner (`line_scan`) and
//! the printers know nothing of where a part comes from: a plain file, a decoder, or an index that
//! named the lines.
//!
//! The expressions are those of ripgrep (crate `grep-regex`). Its crates `grep-searcher` and
//! `grep-printer` are not used: a printer takes its lines from a searcher alone, and a searcher
//! reads a text from its start, so that lines found by an index could not be printed with their
//! offsets and numbers. One scanner and one printer serve both ways here, and scan the parts of a
//! text on several threads.
//!
//! Output and exit codes are those of GNU grep. Different are:
//!
//! - expressions: leftmost-first alternatives, as in Perl, not leftmost-longest ones; no
//!   backreferences;
//! - bytes that are not UTF-8 do not make a file binary, as in ripgrep.
//!
//! | file | job |
//! |---|---|
//! | `grep_command` | the command: goes through the files, and opens them |
//! | `grep_plan` | the meaning of the arguments: what is printed, scanned for, and asked |
//! | `grep_patterns` | the patterns of the arguments, and their matcher |
//! | `searched_files` | the files of the arguments, and those in directories |
//! | `small_search` | small files, searched side by side |
//! | `text_part` | parts of a text, and the cutter that makes them of a stream |
//! | `line_scan` | the selected lines of a part |
//! | `scan_queue` | parts scanned side by side |
//! | `required_literals` | literals that every match contains |
//! | `indexed_search` | the search of a file by its index |
//! | `counted_answers` | answers that counts of literals give |
//! | `member_search` | the files in a tar archive |
//! | `text_search` | a text from front to end: cut, scanned, reported |
//! | `source_search` | a file or a pipe: asked by its index, or scanned |
//! | `line_counter` | counts of lines that hold a string, for `bwz count` |
//! | `file_report` | the report on a file: lines, numbers or its name |
//! | `context_lines` | selected lines and those around them, in order |
//! | `line_printer` | lines as GNU grep prints them |
//! | `grep_colors` | the colours of the output |
//! | `json_messages` | lines as ripgrep's JSON |
//! | `grep_output` | standard output |

mod context_lines;
mod counted_answers;
mod file_report;
mod grep_colors;
pub(crate) mod grep_command;
mod grep_output;
mod grep_patterns;
mod grep_plan;
mod indexed_search;
mod json_messages;
pub(crate) mod line_counter;
mod line_printer;
mod line_scan;
mod member_search;
mod required_literals;
mod scan_queue;
mod searched_files;
mod small_search;
mod source_search;
mod text_part;
mod text_search;
