//! The arguments of `overlap`, and the text at the end of its help.

use crate::cli::arguments::shared_args::{Resources, Talk, path};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct OverlapArgs {
    /// Files of FASTA or FASTQ, plain or compressed by gzip or bwz: A and B, or with --min one or
    /// more files of reads; - is standard input
    #[arg(value_name = "FILE", required = true, value_parser = path())]
    pub files: Vec<PathBuf>,
    /// Print all maximal exact matches of at least N bases, as mummer -maxmatch -n -F does
    #[arg(long, value_name = "N", value_parser = length())]
    pub mem: Option<u32>,
    /// Print only the matches that occur once in A and once in each strand of a record of B, as
    /// mummer -mum -n -F does. They have at least 20 bases, or the N of --mem
    #[arg(long)]
    pub mum: bool,
    /// Print the overlaps of at least N bases between the end of one read and the start of another,
    /// as PAF
    #[arg(long, value_name = "N", value_parser = length(), conflicts_with_all = ["mem", "mum"])]
    pub min: Option<u32>,
    /// With --min: print GFA 1
    #[arg(long, requires = "min")]
    pub gfa: bool,
    /// With --min: if several reads have one name, call the later ones NAME.2, NAME.3 and so on,
    /// skipping names that are taken. Without this option such names are an error
    #[arg(long, requires = "min")]
    pub rename_duplicates: bool,
    /// Leave out the reverse complements
    #[arg(long)]
    pub forward: bool,
    /// Print the longest common regions as JSON
    #[arg(long, conflicts_with_all = ["mem", "mum", "min"])]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub talk: Talk,
}

fn length() -> impl clap::builder::TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..)
}

pub(crate) const OVERLAP_HELP: &str = "\
Only A, C, G and T match, with U as T, in either case. N, the other codes of IUPAC and any other \
letter match nothing. So this command is for nucleotides, not for proteins. B is searched on both \
strands.

Without --mem, --mum and --min: the longest regions that a record of A and a record of B have in \
common; all have that length. Lines: name in A, start, end, name in B, start, end, strand, length; \
from 0, end not included, separated by tabs. On strand -, the region is the reverse complement of \
that stretch of B. A region that is its own reverse complement is found on both strands.

With --mem or --mum: for each record of B a line `> NAME` and its matches, then `> NAME Reverse` \
and the matches of its reverse complement. Lines: name in A, start in A, start in B, length; from \
1. The start in a reverse complement counts from the end of the record, as mummer does without -c. \
Matches are in the order of B, then of A.

With --min: the longest overlap of each ordered pair of reads, and of each pair with one read \
reversed. PAF columns: the read whose end overlaps, its length, start and end of the overlap in \
it; strand; the other read, its length, start and end; bases, bases, 255. Starts are from 0. On \
strand -, the overlap is at the end of both reads or at the start of both. An overlap may be a \
whole read, if that read is a prefix or suffix of another; equal reads overlap twice. A read \
inside of another has no overlap with it, and no read overlaps itself. PAF and GFA distinguish \
reads by their names: two reads with the same name are an error, or get different names \
(--rename-duplicates).

Memory: 13 bytes for each base of A, of B and of the reverse complement of B (with --min, of the \
reads and their reverse complements), and 64 for each line (with --min, 40 more for each read). Up \
to 2^31 - 1 bases are searched together. A GPU sorts them (--device) if that is faster and \
--memory allows 17 bytes for each base.

Exit codes: 0 success, whether or not there is anything in common; 1 trouble; 2 damaged input; 3 a \
bug.";
