//! The words of the command line, of `BWZ_OPT` and of argv\[0\]; help.
//!
//! | file | job |
//! |---|---|
//! | `args` | the commands and the options of files |
//! | `shared_args` | options that several commands have |
//! | `block_args` | block sizes and levels |
//! | `companion_args` | those of compare, diff, less |
//! | `content_args` | what a compressed file says about its content |
//! | `files_from` | names of files that are read from a file |
//! | `part_args` | cat, head, tail |
//! | `grep_args`, `grep_help` | grep, and the end of its help |
//! | `name_rules` | --include and --exclude of grep |
//! | `search_args` | count, locate, extract |
//! | `search_help` | the end of the help of the searches |
//! | `overlap_args` | overlap |
//! | `repeats_args` | repeats |
//! | `environment` | `BWZ_OPT` and argv\[0\] |
//! | `foreign_flags` | flags of other compressors |
//! | `size` | sizes as people type them |
//! | `duration` | durations as people type them |
//! | `span` | ranges of bytes and of lines |
//! | `usage` | help, and complaints about arguments |
//! | `man_and_completions` | man page, shell completions and the licenses |
//! | `shell_completions` | the scripts for shells, in which files come first |
//! | `version` | version and kernels of this build |

pub(crate) mod args;
pub(crate) mod block_args;
pub(crate) mod companion_args;
pub(crate) mod content_args;
pub(crate) mod duration;
pub(crate) mod environment;
pub(crate) mod files_from;
pub(crate) mod foreign_flags;
pub(crate) mod grep_args;
pub(crate) mod grep_help;
pub(crate) mod man_and_completions;
pub(crate) mod name_rules;
pub(crate) mod overlap_args;
pub(crate) mod part_args;
pub(crate) mod repeats_args;
pub(crate) mod search_args;
pub(crate) mod search_help;
pub(crate) mod shared_args;
pub(crate) mod shell_completions;
pub(crate) mod size;
pub(crate) mod span;
pub(crate) mod usage;
pub(crate) mod version;
