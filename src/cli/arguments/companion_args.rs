//! The arguments of the commands that stand for other programs: compare, diff, less.

use crate::cli::arguments::shared_args::{Resources, path};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const COMPARE_HELP: &str = "\
The content of each file is compared: of .bwz, gzip, bzip2, xz and zstd files, which are known by \
their first bytes, and of others as they are. Exit codes are those of cmp: 0 the same, 1 not, 2 \
trouble.";

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// The two files, compressed or not; - is standard input. With one FILE alone, its compressed
    /// form is the other: FILE.bwz
    #[arg(value_name = "FILE", required = true, num_args = 1..=2, value_parser = path())]
    pub files: Vec<PathBuf>,
    /// Print nothing about the difference; the exit code tells
    #[arg(short, long, visible_alias = "quiet")]
    pub silent: bool,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args, Debug)]
pub(crate) struct WordsArgs {
    /// Options of the program, and files
    #[arg(
        value_name = "WORD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<OsString>,
}
