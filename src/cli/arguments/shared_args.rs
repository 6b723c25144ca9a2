//! Arguments that several commands share: the resources for the work, the limit of the output, the
//! verbosity, and the choice of files in directories.

use crate::cli::allocator;
use crate::cli::arguments::size;
use bwz::{Device, Error, Options, Result};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args};
use std::ops::Range;
use std::path::PathBuf;

/// The limit of the output.
#[derive(Args, Debug)]
pub(crate) struct Limits {
    /// When reading: end with an error before a file gives more than SIZE bytes
    #[arg(long, value_name = "SIZE", value_parser = size::bytes)]
    pub limit_output: Option<u64>,
}

impl Limits {
    /// Adds the limit to the options, if there is one.
    pub(crate) fn add_to(&self, options: Options) -> Options {
        self.limit_output
            .into_iter()
            .fold(options, Options::limit_output)
    }

    /// Checks that the ranges together are within the limit.
    pub(crate) fn check(&self, ranges: &[Range<u64>]) -> Result<()> {
        let sizes = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        let needed = sizes.fold(0, u64::saturating_add);
        let allowed = self.limit_output.unwrap_or(u64::MAX);
        if needed <= allowed {
            return Ok(());
        }
        Err(Error::OutputLimit {
            what: "the request".into(),
            needed,
            allowed,
        })
    }
}

/// The resources that the work may use.
#[derive(Args, Debug)]
pub(crate) struct Resources {
    /// Threads that compute, up to 1024; 0 is one per core. No more than four per core run, or 64
    /// if that is more
    #[arg(short = 'T', long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Maximum memory to use. 0 or default is half of the machine's memory, and then no block above
    /// 256 MiB is decoded
    #[arg(short = 'M', long, visible_alias = "memlimit", value_name = "SIZE", default_value = "default", value_parser = size::memory)]
    pub memory: u64,
    /// Devices on which blocks are sorted, restored, and searched for many patterns: auto, cpu,
    /// cuda for all GPUs, or some of them as in cuda:1 or cuda:0,2-3
    #[arg(long, default_value_t)]
    pub device: Device,
}

/// Bytes of address space that a thread takes beside the library's allocations. This is its stack,
/// since `allocator::tune` allows only one arena.
const THREAD_SPACE: u64 = (2 << 20) + (64 << 10);

impl Resources {
    /// Maximum number of bytes of a line that is searched.
    pub(crate) fn longest_line(&self) -> u64 {
        match self.memory {
            0 => u64::MAX,
            memory => memory,
        }
    }

    /// Returns the number of threads that compute.
    pub(crate) fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => usize::from(threads).min(Options::most_threads()),
        }
    }

    /// Prints a note if this machine runs fewer threads than the arguments ask for.
    pub(crate) fn warn_of_fewer_threads(&self, talk: Talk) {
        let asked = usize::from(self.threads);
        let most = Options::most_threads();
        if asked > most {
            talk.state(format_args!(
                "-T {asked}: {most} threads are used, the most on this machine (four per core, or \
                 64 if that is more)"
            ));
        }
    }

    /// Returns the options with these resources. The allocator gets the memory limit too.
    pub(crate) fn options(&self) -> Options {
        if self.memory > 0 {
            allocator::keep_within(self.memory, self.thread_count());
        }
        let options = Options::new()
            .threads(self.threads.into())
            .device(self.device);
        let options = options.thread_space(THREAD_SPACE);
        match self.memory {
            0 => options,
            bytes => options.memory(bytes),
        }
    }
}

/// The verbosity.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Talk {
    /// Report what was done, on standard error; twice (-vv): report when and on which device each
    /// step of each block was done
    #[arg(short, long, action = ArgAction::Count, overrides_with = "quiet")]
    pub verbose: u8,
    /// Leave out warnings and the progress bar; count and locate then print nothing at all, and end
    /// with the first file in which anything is found
    #[arg(short, long, overrides_with = "verbose")]
    pub quiet: bool,
    /// Show no progress bar
    #[arg(long)]
    pub no_progress: bool,
}

/// The limits, the resources and the verbosity of a command that reads files.
#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub limits: Limits,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub talk: Talk,
}

impl ReadArgs {
    /// The resources that the work may use, and how much of it is reported.
    pub(crate) fn work(&self) -> (&Resources, Talk) {
        (&self.resources, self.talk)
    }

    /// Returns the options with these resources and limits.
    pub(crate) fn options(&self) -> Options {
        self.limits.add_to(self.resources.options())
    }
}

/// The choice of files in directories.
#[derive(Args, Debug)]
pub(crate) struct GlobArgs {
    /// With -r: search only files that match GLOB; a GLOB that begins with ! leaves files and
    /// directories out. The last GLOB that matches a file counts
    #[arg(short = 'g', long, value_name = "GLOB", allow_hyphen_values = true)]
    pub glob: Vec<String>,
}

/// Parses a path, even an empty one. A path that cannot be opened must not keep the other files
/// from being worked on.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}
