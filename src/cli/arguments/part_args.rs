//! The arguments of the commands that write parts of files: cat, head, tail.

use crate::cli::arguments::shared_args::{ReadArgs, path};
use crate::cli::arguments::size;
use crate::cli::arguments::span::{self, Beyond, Span};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const CAT_HELP: &str = "\
Only the blocks that hold a range are decoded. A range of lines decodes one block more if it is \
counted from the end or ends near it. --between decodes one block per step of a binary search, or a \
few slices if the file has an index.

cat reads any bytes and lines. extract writes the bases of records by name, and short ranges of \
files that have an index without decoding a block.";

/// The treatment of ranges that reach beyond the file.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Clamp {
    /// Write the part of a range that is within the file. Without this option, a range that reaches
    /// beyond the file is an error, so that a wrong number is not taken for the end of the file
    #[arg(long)]
    clamp: bool,
}

impl Clamp {
    pub(crate) fn beyond(self) -> Beyond {
        match self.clamp {
            true => Beyond::Cut,
            false => Beyond::Refused,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct CatArgs {
    /// Files to read; - is standard input, which must not be a pipe if only a part is read
    #[arg(value_name = "FILE", required = true, value_parser = path())]
    pub files: Vec<PathBuf>,
    /// The bytes to write of each file, as A..B, A+LENGTH, A.. or ..B, counted from 0; B is not
    /// included. -A is counted from the end: -200K.. are the last 200 KiB. Several ranges are
    /// written one after the other
    #[arg(short, long, value_parser = span::bytes, allow_hyphen_values = true)]
    pub range: Vec<Span>,
    /// The lines to write of each file, like --range, but counted from 1: 5..8 are the lines 5, 6
    /// and 7, 5 is one line, and -1000.. are the last 1000
    #[arg(long, value_name = "RANGE", value_parser = span::lines, allow_hyphen_values = true, conflicts_with = "range")]
    pub lines: Vec<Span>,
    /// The lines from the first one that does not sort before FROM to the last one that sorts
    /// before TO, in files whose lines are sorted as bytes, such as logs whose lines begin with a
    /// time. A line that lacks a digit where FROM or TO has one belongs to the line before it
    #[arg(long, value_names = ["FROM", "TO"], num_args = 2, allow_hyphen_values = true, conflicts_with_all = ["range", "lines"])]
    pub between: Vec<OsString>,
    /// The content of this file of a tar archive, instead of the archive itself. NAME may have *, ?
    /// and [...], which match / too. If the archive has several files of one name, the last counts
    #[arg(long, value_name = "NAME", conflicts_with_all = ["range", "lines", "between"])]
    pub member: Vec<OsString>,
    #[command(flatten)]
    pub clamp: Clamp,
    #[command(flatten)]
    pub reading: ReadArgs,
}

/// The arguments that head and tail share.
#[derive(Args, Debug)]
pub(crate) struct EndArgs {
    /// Files to read; no file, or -, is standard input, which must not be a pipe
    #[arg(value_name = "FILE", value_parser = path())]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: ReadArgs,
}

#[derive(Args, Debug)]
pub(crate) struct HeadArgs {
    /// Write the first N lines of each file; -N writes all but the last N
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = |text: &str| span::front(text, span::number), allow_hyphen_values = true)]
    pub lines: Span,
    /// Write the first SIZE bytes of each file; -SIZE writes all but the last
    #[arg(short = 'c', long, value_name = "SIZE", value_parser = |text: &str| span::front(text, size::bytes), allow_hyphen_values = true, conflicts_with = "lines")]
    pub bytes: Option<Span>,
    #[command(flatten)]
    pub ends: EndArgs,
}

/// The file that is followed when another one takes its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Follow {
    /// Follow the same file, even if it is renamed
    Descriptor,
    /// Follow the file that has the name, as after a rotation of logs
    Name,
}

impl TailArgs {
    /// The way in which the file is followed, if it is.
    pub(crate) fn following(&self) -> Option<Follow> {
        match self.follow_name {
            true => Some(Follow::Name),
            false => self.follow,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct TailArgs {
    /// Write the last N lines of each file; +N writes all from line N on
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = |text: &str| span::rest(text, span::number), allow_hyphen_values = true)]
    pub lines: Span,
    /// Write the last SIZE bytes of each file; +SIZE writes all from that byte on, counted from 1
    #[arg(short = 'c', long, value_name = "SIZE", value_parser = |text: &str| span::rest(text, size::bytes), allow_hyphen_values = true, conflicts_with = "lines")]
    pub bytes: Option<Span>,
    /// Go on until Ctrl-C, and write what is added to the file: whole blocks, as bwz
    /// --flush-every writes them, and frames. With =name, a file that takes the name is followed
    /// from its start
    #[arg(
        short,
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "descriptor"
    )]
    pub follow: Option<Follow>,
    /// Like --follow=name
    #[arg(short = 'F', conflicts_with = "follow")]
    pub follow_name: bool,
    #[command(flatten)]
    pub ends: EndArgs,
}
