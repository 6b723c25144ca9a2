//! The arguments of `grep`. Their names and meanings are those of GNU grep; the few that only
//! ripgrep has are as there.

use crate::cli::arguments::files_from::FilesFrom;
use crate::cli::arguments::name_rules::NameRules;
use crate::cli::arguments::shared_args::{GlobArgs, Resources, Talk};
use clap::{ArgAction, Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// The arguments of `grep`.
#[derive(Args, Debug)]
pub(crate) struct GrepArgs {
    /// The pattern, and the files; only the files if -e or -f gives patterns. Without files, or if
    /// FILE is -, standard input is searched; with -r, the current directory
    #[arg(value_name = "PATTERN FILE", allow_hyphen_values = false)]
    pub words: Vec<OsString>,
    #[command(flatten)]
    pub files_from: FilesFrom,
    #[command(flatten)]
    pub pattern: PatternArgs,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub context: ContextArgs,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub resources: Resources,
    /// Report the cost of each search on standard error: blocks decoded and bytes read
    #[arg(long)]
    pub verbose: bool,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
}

/// The patterns and their meaning.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Patterns")]
pub(crate) struct PatternArgs {
    /// Search for PATTERN; may be given several times. A line matches if any of the patterns does.
    /// A line feed in PATTERN separates two patterns
    #[arg(
        short = 'e',
        long = "regexp",
        value_name = "PATTERN",
        allow_hyphen_values = true
    )]
    pub patterns: Vec<OsString>,
    /// Search for each line of FILE (- is standard input)
    #[arg(
        short = 'f',
        long = "file",
        value_name = "FILE",
        allow_hyphen_values = true
    )]
    pub files: Vec<PathBuf>,
    /// Patterns are strings, not regular expressions
    #[arg(short = 'F', long = "fixed-strings", overrides_with_all = ["extended", "perl"])]
    pub fixed: bool,
    /// Has no effect: expressions are extended ones
    #[arg(short = 'E', long = "extended-regexp", overrides_with_all = ["fixed", "perl"])]
    pub extended: bool,
    /// Accepted for \d, \w, \b, lazy repetition and the like, which expressions have anyway.
    /// Backreferences and look-around are refused
    #[arg(short = 'P', long = "perl-regexp", overrides_with_all = ["fixed", "extended"])]
    pub perl: bool,
    /// Refused: expressions are extended ones, in which + ? | ( ) { } are special
    #[arg(short = 'G', long = "basic-regexp", hide = true)]
    pub basic: bool,
    /// Ignore the case of letters
    #[arg(short = 'i', long, overrides_with_all = ["no_ignore_case", "smart_case"])]
    pub ignore_case: bool,
    /// Distinguish the case of letters (the default)
    #[arg(long, overrides_with_all = ["ignore_case", "smart_case"])]
    pub no_ignore_case: bool,
    /// Ignore the case of letters if no pattern has a capital letter
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "no_ignore_case"])]
    pub smart_case: bool,
    /// Find only matches that are whole words
    #[arg(short = 'w', long = "word-regexp")]
    pub word: bool,
    /// Find only matches that are whole lines
    #[arg(short = 'x', long = "line-regexp")]
    pub line: bool,
    /// Select the lines that do not match
    #[arg(short = 'v', long)]
    pub invert_match: bool,
    /// Classes such as \w and . know ASCII alone, and -i ignores the case of ASCII letters alone
    #[arg(long)]
    pub no_unicode: bool,
    /// A carriage return before the end of a line belongs to the line end, so that $ matches
    /// before it
    #[arg(long, conflicts_with = "null_data")]
    pub crlf: bool,
    /// Lines end with a zero byte instead of a line feed, in input and output
    #[arg(short = 'z', long)]
    pub null_data: bool,
}

/// The form of the output.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ShowArgs {
    /// Print the number of selected lines of each file instead of the lines
    #[arg(short = 'c', long)]
    pub count: bool,
    /// Print the number of matches of each file, of which a line may have several
    #[arg(long)]
    pub count_matches: bool,
    /// Print only the names of files with selected lines
    #[arg(short = 'l', long, overrides_with = "files_without_match")]
    pub files_with_matches: bool,
    /// Print only the names of files without selected lines
    #[arg(short = 'L', long, overrides_with = "files_with_matches")]
    pub files_without_match: bool,
    /// Print nothing; end at the first selected line
    #[arg(short = 'q', long, visible_alias = "silent")]
    pub quiet: bool,
    /// Print only the matches, each in a line
    #[arg(short = 'o', long)]
    pub only_matching: bool,
    /// Print the number of each line in its file, from 1
    #[arg(short = 'n', long, overrides_with = "no_line_number")]
    pub line_number: bool,
    /// Print no line numbers (the default, except with --json)
    #[arg(short = 'N', long, overrides_with = "line_number")]
    pub no_line_number: bool,
    /// Print the offset of each line in the raw file; with -o, of each match
    #[arg(short = 'b', long)]
    pub byte_offset: bool,
    /// Print the name of the file with each line (the default with several files or -r)
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    pub with_filename: bool,
    /// Print no names of files
    #[arg(short = 'h', long, overrides_with = "with_filename")]
    pub no_filename: bool,
    /// The name to print for standard input
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub label: Option<OsString>,
    /// Print a tab before each line that has a name or a number before it, and numbers in columns,
    /// so that tabs in lines are as wide as they were meant
    #[arg(short = 'T', long)]
    pub initial_tab: bool,
    /// Print a zero byte after each file name
    #[arg(short = 'Z', long)]
    pub null: bool,
    /// Select at most N lines of each file
    #[arg(short = 'm', long, value_name = "N")]
    pub max_count: Option<u64>,
    /// Colour the output as GNU grep does: always, never, or auto (on a terminal)
    #[arg(long, visible_alias = "colour", value_name = "WHEN", num_args = 0..=1, require_equals = true, default_value = "auto", default_missing_value = "auto")]
    pub color: When,
    /// Print JSON, in the messages of ripgrep: begin, match, context, end, summary
    #[arg(long, conflicts_with_all = ["count", "count_matches", "files_with_matches", "files_without_match", "only_matching", "quiet"])]
    pub json: bool,
    /// Write each line at once. Without this, lines are written together, except to a terminal
    #[arg(long)]
    pub line_buffered: bool,
    /// Print no messages about files that do not exist or cannot be read
    #[arg(short = 's', long)]
    pub no_messages: bool,
}

/// Lines around the selected ones.
#[derive(Args, Debug)]
#[command(next_help_heading = "Context")]
pub(crate) struct ContextArgs {
    /// Print N lines after each selected line too
    #[arg(short = 'A', long, value_name = "N")]
    pub after_context: Option<u64>,
    /// Print N lines before each selected line too
    #[arg(short = 'B', long, value_name = "N")]
    pub before_context: Option<u64>,
    /// Print N lines before and after each selected line too; also -NUM, as in -3
    #[arg(short = 'C', long, value_name = "N")]
    pub context: Option<u64>,
}

/// The files.
#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
pub(crate) struct InputArgs {
    /// Search all files of directories, in the order of their names. Links in them are not
    /// followed
    #[arg(short = 'r', long, overrides_with = "dereference_recursive")]
    pub recursive: bool,
    /// As -r, and follow links
    #[arg(short = 'R', long, overrides_with = "recursive")]
    pub dereference_recursive: bool,
    #[command(flatten)]
    pub globs: GlobArgs,
    /// Search only the members of tar archives whose names match GLOB
    #[arg(
        long,
        visible_alias = "members-matching",
        value_name = "GLOB",
        allow_hyphen_values = true
    )]
    pub member: Vec<String>,
    /// Search the bytes of tar archives as one text, and not the files in them
    #[arg(long, conflicts_with = "member")]
    pub no_members: bool,
    #[command(flatten)]
    pub names: NameRules,
    /// With -r: go at most N levels down; 1 is the files of the directory itself
    #[arg(long, value_name = "N")]
    pub max_depth: Option<usize>,
    /// Search binary files, which have zero bytes, as if they were text
    #[arg(short = 'a', long)]
    pub text: bool,
    /// Leave binary files out
    #[arg(short = 'I')]
    pub no_binary: bool,
    /// How to treat binary files: binary says that one matches, text is -a, without-match is -I
    #[arg(long, value_name = "TYPE")]
    pub binary_files: Option<BinaryFiles>,
    /// Decode and scan, even if there is an index
    #[arg(long)]
    pub no_index: bool,
    /// Decode and check each block before it is used, its index included, as -t does
    #[arg(long)]
    pub verify: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Always,
    Never,
    Auto,
}

/// The treatment of binary files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BinaryFiles {
    /// Their matches are not printed; a message says that there is one.
    #[default]
    Binary,
    /// They are text.
    Text,
    /// They are taken to have no match.
    WithoutMatch,
}

impl GrepArgs {
    /// The verbosity. -v and -q have other meanings here.
    pub(crate) fn talk(&self) -> Talk {
        Talk {
            verbose: self.verbose.into(),
            quiet: false,
            no_progress: true,
        }
    }

    pub(crate) fn is_recursive(&self) -> bool {
        self.input.recursive || self.input.dereference_recursive
    }
}

impl InputArgs {
    pub(crate) fn binary_files(&self) -> BinaryFiles {
        match self {
            InputArgs {
                binary_files: Some(chosen),
                ..
            } => *chosen,
            InputArgs { text: true, .. } => BinaryFiles::Text,
            InputArgs {
                no_binary: true, ..
            } => BinaryFiles::WithoutMatch,
            _ => BinaryFiles::default(),
        }
    }
}

impl ContextArgs {
    /// Number of lines before each selected one, if context is asked for.
    pub(crate) fn before(&self) -> Option<u64> {
        let other = self.context.or(self.after_context.map(|_| 0));
        self.before_context.or(other)
    }

    /// Number of lines after each selected one, if context is asked for.
    pub(crate) fn after(&self) -> Option<u64> {
        let other = self.context.or(self.before_context.map(|_| 0));
        self.after_context.or(other)
    }
}
