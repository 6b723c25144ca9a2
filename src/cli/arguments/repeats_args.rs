//! The arguments of `repeats`, and the text at the end of its help.

use crate::cli::arguments::shared_args::{Resources, Talk, path};
use bwz::repeats::Unit;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct RepeatsArgs {
    /// Files to search together, in their order; - is standard input. If bwz compressed a file, its
    /// content is searched
    #[arg(value_name = "FILE", required = true, value_parser = path())]
    pub files: Vec<PathBuf>,
    /// Find repeated ranges of at least N bytes; with --tokens, of at least N tokens
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub min_length: u64,
    /// Find ranges of the FILEs that occur in A. Ranges that occur only in the FILEs are not found
    #[arg(long, value_name = "A", value_parser = path(), allow_hyphen_values = true)]
    pub across: Vec<PathBuf>,
    /// The files hold little-endian tokens of this type: only ranges that begin at a multiple of
    /// its size in both places count
    #[arg(long, value_name = "TYPE")]
    pub tokens: Option<TokenType>,
    /// Print no ranges, but write each FILE without its later copies to a file in DIR of the same
    /// name, without .bwz
    #[arg(short, long, value_name = "DIR", value_parser = path(), allow_hyphen_values = true)]
    pub output: Vec<PathBuf>,
    /// With -o: cut out whole lines only
    #[arg(long, requires = "output")]
    pub lines: bool,
    /// With -o: cut out whole records of FASTA or FASTQ only
    #[arg(long, requires = "output", conflicts_with = "lines")]
    pub records: bool,
    /// Find whole characters of UTF-8 only, in files that are valid UTF-8. This is the default;
    /// giving the option adds a warning for files that are not valid
    #[arg(long, conflicts_with_all = ["no_utf8", "tokens"])]
    pub utf8: bool,
    /// Find any bytes, even parts of characters
    #[arg(long)]
    pub no_utf8: bool,
    /// With -o: overwrite files
    #[arg(short, long, requires = "output")]
    pub force: bool,
    /// Print JSON; with -o, also the ranges that are cut out
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub talk: Talk,
}

/// The type of tokens.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TokenType {
    U16,
    U32,
}

impl RepeatsArgs {
    /// True if ranges are trimmed to whole characters.
    pub(crate) fn cuts_characters(&self) -> bool {
        !self.no_utf8 && self.tokens.is_none()
    }

    pub(crate) fn unit(&self) -> Unit {
        match self.tokens {
            None => Unit::Byte,
            Some(TokenType::U16) => Unit::U16,
            Some(TokenType::U32) => Unit::U32,
        }
    }
}

pub(crate) const REPEATS_HELP: &str = "\
A stretch of N bytes is a copy if an equal stretch begins earlier: in a FILE before, or in the \
same FILE, where the two may overlap. No stretch crosses from one FILE into the next. The ranges \
found are all bytes of all copies. With --tokens, bytes after the last whole token belong to no \
stretch.

In a FILE that is valid UTF-8, only whole characters are found: a range begins and ends between \
two code points (a combining mark may be separated from its letter). So a range may be up to 6 \
bytes shorter than N, and a range without a whole character is left out. --no-utf8 finds bytes. \
With --tokens there are no characters.

Lines: file, start, end; in bytes from 0, end not included; for a compressed file, of its content. \
Ranges are in order and do not touch. Standard error gets the share that is repeated, the longest \
range, and the stretch of N bytes with the most copies (only if all files fit in --memory \
together).

With -o, the bytes of copies are cut out, except for bytes that also belong to the first of \
several equal stretches. So each stretch of N bytes that occurred more than once is still there, \
and if a copy overlaps its original, the original stays whole. Text that was apart may now be \
joined and repeat something again: a second run finds it. With --lines, a line is removed only if \
each of its bytes would be, including its line feed. With --records, which is for FASTA and FASTQ, \
the same is true of a record and its name. Standard input is written as `stdin`.

Files that do not fit in --memory together are read in parts, each several times, two at a time; \
the result is the same. Standard input and other pipes are kept in a temporary file (in TMPDIR).

Exit codes: 0 something is repeated, 1 nothing is, 2 any trouble, 3 a bug.";
