//! Compress, decompress, test, list, cat, recover: files in, files out.
//!
//! A file is finished before the next one is begun. Its input is opened, the library does the work,
//! and the output is written beside its target and renamed when it is complete.
//!
//! | file | job |
//! |---|---|
//! | `file_commands` | compress, decompress and test |
//! | `file_checks` | checks of the arguments before any work |
//! | `cat_command` | cat |
//! | `head_and_tail` | head and tail |
//! | `follow` | tail -f |
//! | `compare_command` | compare |
//! | `companions` | diff and less |
//! | `file_parts` | the parts of a file that cat, head and tail write |
//! | `list_command` | list |
//! | `block_map` | list --map |
//! | `member_lines` | list --members |
//! | `recover_command` | recover |
//! | `member_names` | the members of a tar archive that arguments mean |
//! | `named_files` | the files that arguments mean, and names of outputs |
//! | `input_name` | names of inputs |
//! | `input` | opening an input |
//! | `flushed_stream` | compression of a stream whose blocks end in time |
//! | `stoppable_input` | an input whose waiting reads can be ended after an error |
//! | `content` | the content of a file of any form |
//! | `foreign_input` | the content of inputs that are gzip or zstd |
//! | `known_formats` | formats known by their magic |
//! | `parallel_reads` | pieces of a file read side by side |
//! | `reopened_file` | more files than a process may have open |
//! | `side_by_side` | small work on several threads |
//! | `job_thread` | a thread for one job beside others |
//! | `output` | opening an output |
//! | `sparse_output` | holes for zeros |
//! | `temporary_file` | no partial output survives an error or a signal |
//! | `descriptors` | standard input and output, which may be closed |
//! | `process_ranks` | compress as one of several processes |

pub(crate) mod block_map;
pub(crate) mod cat_command;
pub(crate) mod companions;
pub(crate) mod compare_command;
pub(crate) mod content;
pub(crate) mod descriptors;
pub(crate) mod file_checks;
pub(crate) mod file_commands;
pub(crate) mod file_parts;
pub(crate) mod flushed_stream;
pub(crate) mod follow;
pub(crate) mod foreign_input;
pub(crate) mod head_and_tail;
pub(crate) mod input;
pub(crate) mod input_name;
pub(crate) mod job_thread;
pub(crate) mod known_formats;
pub(crate) mod list_command;
pub(crate) mod member_lines;
pub(crate) mod member_names;
pub(crate) mod named_files;
pub(crate) mod output;
pub(crate) mod parallel_reads;
pub(crate) mod process_ranks;
pub(crate) mod recover_command;
pub(crate) mod reopened_file;
pub(crate) mod side_by_side;
pub(crate) mod sparse_output;
pub(crate) mod stoppable_input;
pub(crate) mod temporary_file;
