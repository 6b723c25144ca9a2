//! The arguments of the commands that search: count, locate, extract.

use crate::cli::arguments::files_from::FilesFrom;
use crate::cli::arguments::part_args::Clamp;
use crate::cli::arguments::shared_args::{GlobArgs, ReadArgs, Resources, Talk, path};
use crate::cli::arguments::size;
use crate::cli::arguments::span::{self, Span};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// The arguments that count and locate share.
#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// The pattern, a string of bytes, and the compressed files; only the files if -e, -f, --fasta
    /// or --reads1 give patterns
    #[arg(value_name = "PATTERN FILE", required_unless_present_any = ["files_from", "files0_from"])]
    pub words: Vec<OsString>,
    #[command(flatten)]
    pub files_from: FilesFrom,
    /// Search for PATTERN; may be given several times
    #[arg(
        short = 'e',
        long = "pattern",
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
    pub lines: Vec<PathBuf>,
    /// Search for each sequence of a FASTA or FASTQ file, which may be compressed with gzip
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub fasta: Vec<PathBuf>,
    /// Patterns are hexadecimal: 0a0D for a line feed and a carriage return
    #[arg(long, conflicts_with = "fasta")]
    pub hex: bool,
    /// Search for the reverse complement of each pattern too, and tell the strand
    #[arg(long, conflicts_with = "hex")]
    pub revcomp: bool,
    /// Find matches that differ from the pattern in up to N bytes too, 0 or 1
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub max_mismatches: u8,
    /// Find letters in either case: those of ASCII, as `grep -i --no-unicode` does. Files that are
    /// searched by sequence need no -i
    #[arg(short, long, conflicts_with_all = ["hex", "case"])]
    pub ignore_case: bool,
    /// In files that are searched by sequence, distinguish small letters from capital ones
    #[arg(long)]
    pub case: bool,
    /// In files that are searched by sequence, letters of patterns stand for bases as in IUPAC's
    /// code: R for A and G, Y for C, T and U, N for all of them. Such letters in the file are not
    /// expanded
    #[arg(long, conflicts_with_all = ["hex", "strict_letters"])]
    pub iupac: bool,
    /// In files that are searched by sequence, distinguish T from U. Without this option they are
    /// one letter in patterns of nucleotides
    #[arg(long)]
    pub strict_letters: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Decode and check each block, its index included, as -t does, before any of it is used
    #[arg(long)]
    pub verify: bool,
    /// Search the .bwz files of directories. Other files in them are passed over
    #[arg(short, long)]
    pub recursive: bool,
    #[command(flatten)]
    pub globs: GlobArgs,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub talk: Talk,
}

#[derive(Args, Debug)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub search: SearchArgs,
    /// Count the lines that hold each pattern, as `grep -c -F` does. A line counts once, however
    /// often the pattern is in it
    #[arg(
        long = "lines",
        conflicts_with_all = ["fasta", "revcomp", "max_mismatches", "case", "iupac", "strict_letters"]
    )]
    pub counts_lines: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LocateArgs {
    #[command(flatten)]
    pub search: SearchArgs,
    /// Locate the first occurrence of each pattern in each file, as --limit 1 does
    #[arg(long, conflicts_with_all = ["limit", "last"])]
    pub first: bool,
    /// Locate the last occurrence of each pattern in each file
    #[arg(long, conflicts_with_all = ["limit", "sam"])]
    pub last: bool,
    /// Locate the first N occurrences of each pattern in each file, by position
    #[arg(long, value_name = "N", default_value_t = usize::MAX, hide_default_value = true)]
    pub limit: usize,
    /// Print N bytes on either side of each match too
    #[arg(short = 'C', long, value_name = "N", value_parser = size::bytes)]
    pub context: Option<u64>,
    /// Print BED lines: record, start from 0, end, pattern, 0, strand
    #[arg(long, conflicts_with_all = ["json", "sam", "context"])]
    pub bed: bool,
    /// Print SAM for the reads of --fasta, or of --reads1 and --reads2, searched on both strands in
    /// one file. Reads without a hit are printed too
    #[arg(long, conflicts_with_all = ["json", "context", "hex"])]
    pub sam: bool,
    /// With --sam: the first reads of pairs, in FASTA or FASTQ as for --fasta
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, requires_all = ["sam", "reads2"])]
    pub reads1: Vec<PathBuf>,
    /// The second reads of these pairs, in the same order
    #[arg(
        long,
        value_name = "FILE",
        allow_hyphen_values = true,
        requires = "reads1"
    )]
    pub reads2: Vec<PathBuf>,
    /// Maximum number of bases from the first to the last base of a pair that is called proper
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "reads1")]
    pub max_insert: u64,
    /// With --sam: if several records have one name, call the later ones NAME.2, NAME.3 and so on,
    /// skipping names that are taken. Without this option such names are an error
    #[arg(long, requires = "sam")]
    pub rename_duplicates: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// The compressed files
    #[arg(value_name = "FILE", required = true, value_parser = path())]
    pub files: Vec<PathBuf>,
    /// The bytes to write of each file, as A..B, A+LENGTH, A.. or ..B; B is not included. -A is
    /// counted from the end. Several ranges are written one after the other
    #[arg(short, long, required_unless_present_any = ["region", "regions"], value_parser = span::bytes, allow_hyphen_values = true)]
    pub range: Vec<Span>,
    #[command(flatten)]
    pub clamp: Clamp,
    /// A region of a record in samtools' notation, NAME:START-END, from 1 and with the end, written
    /// as FASTA. NAME alone is the whole record
    #[arg(
        long,
        value_name = "REGION",
        conflicts_with = "range",
        allow_hyphen_values = true
    )]
    pub region: Vec<OsString>,
    /// The regions that FILE names, one a line: lines of BED, from 0 and without the end, or
    /// regions as for --region
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "range",
        allow_hyphen_values = true
    )]
    pub regions: Vec<PathBuf>,
    /// With --region and --regions: if a region names no record, or is not valid, warn and go on
    #[arg(long = "continue", conflicts_with = "range")]
    pub go_on: bool,
    /// With --region and --regions: write the reverse complement. It is of RNA if a region has U
    /// and no T (with neither, A becomes T)
    #[arg(short = 'i', long, conflicts_with = "range")]
    pub reverse_complement: bool,
    /// Write regions of BED as they are in the file, even if their strand is -
    #[arg(long, requires = "regions")]
    pub ignore_strand: bool,
    /// With --region and --regions: write FASTQ, that is, bases and qualities
    #[arg(long, conflicts_with = "range")]
    pub fastq: bool,
    /// Bases in each line of a region; 0 writes them all in one line. The default is 60 for FASTA
    /// and 0 for FASTQ
    #[arg(long, value_name = "N", conflicts_with = "range")]
    pub line_length: Option<usize>,
    /// Decode and check each block, its index included, as -t does, before any of it is used
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    pub reading: ReadArgs,
}
