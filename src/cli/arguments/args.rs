//! The arguments, as clap derives them. The help text here is also the text of the man page and of
//! the completions.

use crate::cli::arguments::block_args::BlockSize;
use crate::cli::arguments::companion_args::{COMPARE_HELP, CompareArgs, WordsArgs};
use crate::cli::arguments::content_args::ContentArgs;
use crate::cli::arguments::duration;
use crate::cli::arguments::files_from::FilesFrom;
use crate::cli::arguments::grep_args::GrepArgs;
use crate::cli::arguments::grep_help::GREP_HELP;
use crate::cli::arguments::overlap_args::{OVERLAP_HELP, OverlapArgs};
use crate::cli::arguments::part_args::{CAT_HELP, CatArgs, HeadArgs, TailArgs};
use crate::cli::arguments::repeats_args::{REPEATS_HELP, RepeatsArgs};
use crate::cli::arguments::search_args::{CountArgs, ExtractArgs, LocateArgs};
use crate::cli::arguments::search_help::{COUNT_HELP, EXTRACT_HELP, LOCATE_HELP};
pub(crate) use crate::cli::arguments::shared_args::{Limits, Resources, Talk};
use crate::cli::arguments::shared_args::{ReadArgs, path};
use crate::cli::report::byte_escape;
use bwz::papers::PaperAlgorithm;
use bwz::{Options, Result as BwzResult};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// Block-sorting (BWT) compressor with a seekable, recoverable format.
///
/// Each FILE is compressed to FILE.bwz, or decompressed with -d, and is kept. With no FILE, or if
/// FILE is -, standard input is filtered to standard output. If a file has the name of a command,
/// write it with a directory: ./cat.
#[derive(Parser, Debug)]
#[command(
    name = "bwz",
    version,
    long_version = crate::cli::arguments::version::long(),
    override_usage = "bwz [OPTIONS] [FILE]...\n       bwz COMMAND [OPTIONS] ...",
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    disable_help_subcommand = true,
    after_long_help = AFTER_HELP,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub files: FileArgs,
}

impl Cli {
    /// Returns the resources that the work may use, and how much of it is reported. It is `None`
    /// for a command that does no such work. `bench` always reports everything.
    pub(crate) fn work(&self) -> Option<(&Resources, Talk)> {
        let all = Talk {
            verbose: 0,
            quiet: false,
            no_progress: true,
        };
        Some(match &self.command {
            None => (&self.files.resources, self.files.talk),
            Some(Command::Cat(args)) => args.reading.work(),
            Some(Command::Head(args)) => args.ends.reading.work(),
            Some(Command::Tail(args)) => args.ends.reading.work(),
            Some(Command::Grep(args)) => (&args.resources, args.talk()),
            Some(Command::Count(args)) => (&args.search.resources, args.search.talk),
            Some(Command::Locate(args)) => (&args.search.resources, args.search.talk),
            Some(Command::Extract(args)) => args.reading.work(),
            Some(Command::Repeats(args)) => (&args.resources, args.talk),
            Some(Command::Overlap(args)) => (&args.resources, args.talk),
            Some(Command::Compare(args)) => (&args.resources, all),
            Some(Command::Recover(args)) => args.reading.work(),
            Some(Command::Bench(args)) => (&args.resources, all),
            Some(
                Command::Devices
                | Command::Diff(_)
                | Command::Less(_)
                | Command::Help { .. }
                | Command::Completions { .. }
                | Command::Man,
            ) => return None,
        })
    }
}

const AFTER_HELP: &str = "\
Names: called as bunwz it decompresses; called as bwzcat it decompresses to standard output; called \
as bwzgrep, bwzcmp, bwzdiff or bwzless it is bwz grep, bwz compare, bwz diff or bwz less.

Options: if an option is given several times, or with its opposite, the last one counts. An option \
that names files (-o, --trace and files to read) is refused if one of its values would be ignored. \
Levels, --block, --fast and --best are options of compression: -d, -t and -l ignore them. -t and \
-l also ignore -c and -f.

Environment: BWZ_OPT holds options that are put before the real ones, so that the real ones win: \
-1 to -9, --block, --split-at, --fast, --best, --index, --sample-rate, --verify, --no-verify, \
-T, -M, --device, --limit-output, --no-sparse, -k, -n, -v, -q and --no-progress. Each is used if \
it applies. Any other word in BWZ_OPT is refused. Commands (cat, count, ...) do not use it. It is \
split at blanks; '...' keeps everything as it is, \"...\" keeps everything but \\\" and \\\\, and \
outside of quotes \\ keeps the next character. Nothing else is special. NO_COLOR turns colours off.

SIZE is a number of bytes, or of K, M, G or T, which are powers of 1024 (KiB and KB also mean K).

Exit codes: 0 success; 1 a failure outside of the data (files, memory, device, arguments, a file or \
a block that another release reads), or an input that changed while it was read; 2 damaged input; \
3 a bug in bwz. With several files, the worst code counts. The codes of grep, count, locate and \
repeats are those of GNU grep: 0 found, 1 not found, 2 any trouble, 3 a bug; those of compare and \
diff 0 the same, 1 not, 2 any trouble.

The empty pattern occurs at every position and at the end.

With tar: tar -I bwz -cf x.tar.bwz DIR; tar -I 'bwz -9' -cf x.tar.bwz DIR; tar -I bwz -xf \
x.tar.bwz.";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Write files, or ranges of their bytes or lines, decompressed to standard output
    #[command(after_long_help = CAT_HELP)]
    Cat(CatArgs),
    /// Write the first lines or bytes of compressed files
    Head(HeadArgs),
    /// Write the last lines or bytes of compressed files
    Tail(TailArgs),
    /// Print the lines that match expressions, of compressed files and others
    #[command(
        after_long_help = GREP_HELP,
        args_override_self = true,
        disable_help_flag = true,
        // -T is that of GNU grep.
        mut_arg("threads", |threads| threads.short(None)),
        override_usage = "bwz grep [OPTIONS] PATTERN [FILE]...\n       bwz grep [OPTIONS] -e PATTERN... -f FILE... [FILE]..."
    )]
    Grep(Box<GrepArgs>),
    /// Count the occurrences of patterns in compressed files
    #[command(after_long_help = COUNT_HELP, mut_arg("glob", |glob| glob.requires("recursive")))]
    Count(CountArgs),
    /// Print the positions of patterns in compressed files
    #[command(after_long_help = LOCATE_HELP, mut_arg("glob", |glob| glob.requires("recursive")))]
    Locate(LocateArgs),
    /// Write regions of records, or ranges of bytes, by the index of compressed files
    #[command(after_long_help = EXTRACT_HELP)]
    Extract(ExtractArgs),
    /// Find ranges that occurred before in the same files, compressed or not, and write the files
    /// without them
    #[command(after_long_help = REPEATS_HELP)]
    Repeats(RepeatsArgs),
    /// Find common parts of sequences: longest regions, maximal matches, overlaps of reads
    #[command(after_long_help = OVERLAP_HELP)]
    Overlap(OverlapArgs),
    /// Compare the contents of two files, compressed or not, as cmp does
    #[command(after_long_help = COMPARE_HELP)]
    Compare(CompareArgs),
    /// Show the differences of the contents of two files, compressed or not, by diff
    #[command(override_usage = "bwz diff [OPTION OF DIFF]... FILE1 [FILE2]")]
    Diff(WordsArgs),
    /// Show the contents of files, compressed or not, page by page, by less
    #[command(override_usage = "bwz less [OPTION OF LESS]... FILE...")]
    Less(WordsArgs),
    /// Save every intact block of a damaged file
    Recover(RecoverArgs),
    /// Measure the speed and the size of compression and decompression, in memory, or suffix sorts
    /// alone
    Bench(BenchArgs),
    /// List the GPUs that blocks can be sorted, restored and searched on
    Devices,
    /// Print the help of a command, or of bwz
    Help {
        /// The command
        #[arg(value_name = "COMMAND")]
        command: Option<OsString>,
    },
    /// Print the completion script of a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page (in roff)
    Man,
}

/// The arguments for files when no command is named.
#[derive(Args, Debug)]
pub(crate) struct FileArgs {
    /// Files to work on; no file, or -, is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub files_from: FilesFrom,
    #[command(flatten)]
    pub mode: ModeArgs,
    /// Write to standard output; keep the files
    #[arg(
        short = 'c',
        long = "stdout",
        visible_alias = "to-stdout",
        conflicts_with = "output"
    )]
    pub stdout: bool,
    /// Write to FILE (- is standard output)
    #[arg(
        short,
        long,
        value_name = "FILE",
        conflicts_with = "recursive",
        allow_hyphen_values = true
    )]
    pub output: Vec<PathBuf>,
    /// Write each output to the directory DIR, which is made if there is none, under its usual name
    /// without the directories of the input. Two inputs whose outputs would have one name are
    /// refused before anything is written
    #[arg(
        long,
        value_name = "DIR",
        value_parser = path(),
        conflicts_with_all = ["output", "stdout"]
    )]
    pub output_dir: Option<PathBuf>,
    /// Use .SUF in place of .bwz in names of output files. Input names may end with either suffix
    #[arg(short = 'S', long, value_name = ".SUF", value_parser = suffix(), allow_hyphen_values = true)]
    pub suffix: Option<OsString>,
    /// Overwrite files, write compressed data to a terminal, and take links and special files as
    /// input. With -dc, also copy input that is not compressed
    #[arg(short, long)]
    pub force: bool,
    /// Keep the input files (the default)
    #[arg(short, long, overrides_with = "remove")]
    pub keep: bool,
    /// Remove each input file once its output is safely on disk. If the output is standard output
    /// or a device, the input is kept, with a warning
    #[arg(long = "rm", overrides_with = "keep")]
    pub remove: bool,
    /// Walk directories: compress files that are not .bwz, or decompress, test or list those that
    /// are
    #[arg(short, long)]
    pub recursive: bool,
    /// Has no effect, for users of gzip: a compressed file never holds a name or a time
    #[arg(short = 'n', long)]
    pub no_name: bool,
    /// Print the license
    #[arg(short = 'L', long)]
    pub license: bool,
    /// With --decompress: write zeros as they are. Without this option, whole pages of zeros become
    /// holes in new files
    #[arg(long)]
    pub no_sparse: bool,
    /// With --list: print JSON
    #[arg(long)]
    pub json: bool,
    /// With --list: draw the blocks, with their ratios, filters and indexes, as the tables of the
    /// file state them
    #[arg(long, conflicts_with_all = ["json", "records"])]
    pub map: bool,
    /// With --list: print the records of FASTA or FASTQ that is indexed by sequence, in the format
    /// of the .fai files of samtools. A - stands for the lines of a record that .fai cannot
    /// describe
    #[arg(long, conflicts_with = "json")]
    pub records: bool,
    /// With --list: print the names of the files in a tar archive, as tar -t does, or with -v all
    /// about them, as tar -tv does. Several archives have titles, unless -q is given. `bwz cat
    /// --member NAME` writes one of the files
    #[arg(long, conflicts_with_all = ["records", "map"])]
    pub members: bool,
    /// When compressing, restore each block on the CPU before it is written, which finds errors of
    /// the CPU's own work too, and takes as much extra time as -t and a third more memory. Without
    /// this, only what a GPU made is restored, on that GPU, and compared with the input;
    /// --no-verify leaves that out. A block that fails is made again by the CPU
    #[arg(long, overrides_with = "no_verify")]
    pub verify: bool,
    /// When compressing, write what a GPU made without restoring it on that GPU first. This saves a
    /// little of the GPU's time. See --verify
    #[arg(long, overrides_with = "verify")]
    pub no_verify: bool,
    /// Write a timeline to FILE, in the Chrome trace format, which ui.perfetto.dev shows. It tells
    /// when each step of each block was done, and on which GPU and thread
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub trace: Vec<PathBuf>,
    /// Compress the content of inputs that gzip, bgzip or zstd made: x.fa.gz becomes x.fa.bwz.
    /// These are known by their first bytes. Other inputs are compressed as they are
    #[arg(long)]
    pub decompress_input: bool,
    #[command(flatten)]
    pub block_size: BlockSize,
    /// End each block after the last BYTE in it, so that no record is split. A block without this
    /// byte ends when it is full. BYTE is \n, \t, \0, \x1e or a literal byte. With --index, FASTA
    /// and FASTQ are cut between records first
    #[arg(long, value_name = "BYTE", value_parser = one_byte(), help_heading = "Block size", allow_hyphen_values = true)]
    pub split_at: Option<u8>,
    /// Write all that came from a pipe at the latest after TIME, such as 10s, 500ms or 5m, by
    /// ending a block then: app | bwz --flush-every 10s > log.bwz. If bwz is killed, -dc restores
    /// what was written, and tail -f follows it. Small blocks compress worse: logs in blocks of
    /// 64 KiB take about 1.2 times the space, and in blocks of 4 KiB 2.6 times
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration::parse,
        help_heading = "Block size",
        conflicts_with_all = ["decompress_input", "ranks"]
    )]
    pub flush_every: Option<Duration>,
    #[command(flatten)]
    pub effort: EffortArgs,
    #[command(flatten)]
    pub index: IndexArgs,
    #[command(flatten)]
    pub content: ContentArgs,
    #[command(flatten)]
    pub limits: Limits,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub talk: Talk,
    /// Compress as one of several processes that mpirun, srun or torchrun started with these
    /// arguments, each with a GPU of its own. The other processes find the first one at HOST:PORT.
    /// The first process does all the work, but if a block does not fit in the memory of its GPU,
    /// the GPUs of all processes sort it together. Parts of such blocks are sent without encryption
    /// to any process that can connect there and has the token of the job. BWZ_RANKS_TOKEN holds
    /// the token, 16 to 128 bytes, the same for all ranks; mpirun of Open MPI 4 makes one. Without
    /// a token, HOST must be localhost
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["decompress", "test", "list"])]
    pub ranks: Option<String>,
}

/// The index of a compressed file.
#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// Add an index, which lets count, locate and extract work without decompressing the file. The
    /// file grows by 1 to 6 % of the raw size
    #[arg(long, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    pub index: Option<IndexOf>,
    /// With --index: keep every N-th position, a power of two from 8 to 16384 [default: 256, and
    /// more in blocks that compress well]; 0 keeps no position, which is enough for count alone
    #[arg(long, value_name = "N")]
    pub sample_rate: Option<u32>,
}

impl IndexArgs {
    /// Adds the index that the arguments ask for to the options.
    pub(crate) fn add_to(&self, options: Options) -> BwzResult<Options> {
        match self.index {
            None => Ok(options),
            Some(of) => {
                let options = options
                    .index_of_bytes(of == IndexOf::Bytes)
                    .require_sequences(of == IndexOf::Sequences);
                match self.sample_rate {
                    None => Ok(options.searchable()),
                    Some(rate) => options.index(rate),
                }
            }
        }
    }
}

/// The kind of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IndexOf {
    /// Index the sequences of FASTA and FASTQ, found across line ends and in either case; index the
    /// bytes of any other input
    Auto,
    /// Index the bytes as they are
    Bytes,
    /// Index the sequences of FASTA and FASTQ; any other input is an error
    Sequences,
}

/// The mode of work. If several are given, the last one wins.
#[derive(Args, Debug)]
pub(crate) struct ModeArgs {
    /// Compress (the default)
    #[arg(short = 'z', long, overrides_with_all = ["decompress", "test", "list"])]
    compress: bool,
    /// Decompress
    #[arg(short, long, visible_alias = "uncompress", overrides_with_all = ["compress", "test", "list"])]
    decompress: bool,
    /// Decompress without writing, to check that the files are intact
    #[arg(short, long, overrides_with_all = ["compress", "decompress", "list"])]
    test: bool,
    /// List sizes, frames and blocks; with -v each block
    #[arg(short, long, overrides_with_all = ["compress", "decompress", "test"])]
    list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
}

impl ModeArgs {
    pub(crate) fn mode(&self) -> Mode {
        match self {
            ModeArgs { list: true, .. } => Mode::List,
            ModeArgs { test: true, .. } => Mode::Test,
            ModeArgs {
                decompress: true, ..
            } => Mode::Decompress,
            _ => Mode::Compress,
        }
    }
}

/// The trade-off between speed and size.
#[derive(Args, Debug)]
pub(crate) struct EffortArgs {
    /// Code for speed rather than size: a single block keeps more threads and GPUs busy
    #[arg(long, overrides_with = "best")]
    fast: bool,
    /// Code for size rather than speed
    #[arg(long, overrides_with = "fast")]
    best: bool,
}

impl EffortArgs {
    pub(crate) fn chosen(&self) -> bwz::Effort {
        match (self.fast, self.best) {
            (true, _) => bwz::Effort::Fast,
            (_, true) => bwz::Effort::Best,
            _ => bwz::Effort::Default,
        }
    }
}

/// True if `word`, as the first argument, is a command.
pub(crate) fn is_command(word: &OsStr) -> bool {
    Cli::command()
        .get_subcommands()
        .any(|command| word == command.get_name())
}

/// The command that `word` is nearly, if there is one: two letters are wrong at most, or one in a
/// short word.
pub(crate) fn nearest_command(word: &OsStr) -> Option<String> {
    let word = word.to_str()?;
    let most = if word.len() < 6 { 1 } else { 2 };
    let cli = Cli::command();
    let near = cli.get_subcommands().filter_map(|command| {
        let name = command.get_name();
        let distance = strsim::damerau_levenshtein(word, name);
        (distance <= most).then_some((distance, name))
    });
    near.min().map(|(_, name)| name.to_owned())
}

/// Parses one byte, which may be escaped as in C.
fn one_byte() -> impl TypedValueParser<Value = u8> {
    OsStringValueParser::new().try_map(byte_escape::byte)
}

/// Parses the ending of a file's name.
fn suffix() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|suffix| match suffix.as_encoded_bytes() {
        [] => Err("it is empty"),
        bytes if bytes.contains(&b'/') => Err("it contains a /"),
        _ => Ok(suffix),
    })
}

#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    /// The damaged file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// File for the intact blocks (- is standard output)
    #[arg(
        short,
        long,
        value_name = "OUT",
        required = true,
        allow_hyphen_values = true
    )]
    pub output: Vec<PathBuf>,
    /// Overwrite OUT
    #[arg(short, long)]
    pub force: bool,
    /// Print all losses as JSON, on standard output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub reading: ReadArgs,
}

/// The arguments of `bench`.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Files to measure, held in memory; without any, text is generated
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Number of runs of each kind; the median is printed
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,
    /// Measure the suffix sort alone, each file as one block, by these sorts, and compare the
    /// results with libsais: default (that of bwz), or the published ones skew (that of
    /// Karkkainen and Sanders, with recursion), skew-pd (skew with prefix doubling), ls (prefix
    /// doubling, GPU-LS) and bsp (accelerated sampling on a bulk-synchronous parallel machine).
    /// Several names have commas between them. Each runs on the first GPU that --device names,
    /// bsp on all of them. On the CPU there are default, and bsp by -T virtual processors (4 if -T
    /// is not given)
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with_all = ["block", "fast", "best", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
    )]
    pub sort: Vec<PaperAlgorithm>,
    #[command(flatten)]
    pub block_size: BlockSize,
    #[command(flatten)]
    pub effort: EffortArgs,
    #[command(flatten)]
    pub resources: Resources,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_last_mode_level_and_word_win() {
        let cli = Cli::parse_from(["bwz", "-9", "-d", "-kq", "--rm", "-1", "-zv", "x"]);
        assert_eq!(
            (cli.files.mode.mode(), cli.files.block_size.level.0),
            (Mode::Compress, 1)
        );
        assert!(cli.files.remove && cli.files.talk.verbose > 0);
        assert!(!cli.files.keep && !cli.files.talk.quiet);
    }

    #[test]
    fn a_command_is_one_only_in_first_place() {
        assert!(Cli::parse_from(["bwz", "man"]).command.is_some());
        assert!(
            Cli::parse_from(["bwz", "-d", "man"])
                .command
                .is_none()
        );
        assert!(
            Cli::parse_from(["bwz", "./man"])
                .command
                .is_none()
        );
    }
}
