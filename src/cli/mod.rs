//! The command: arguments, files, progress and exit codes around the public library.
//!
//! | room | job |
//! |---|---|
//! | `args`, `shared_args`, `block_args`, `byte_escape`, `environment`, `size` | the words of the command line, of `BWZ_OPT` and of argv\[0\] |
//! | `foreign_flags` | flags of other compressors |
//! | `files`, `input_name` | which files are meant and what their outputs are called |
//! | `input`, `stoppable_input`, `parallel_reads`, `output`, `sparse_output`, `temporary_file` | opening both ends; no partial output survives an error or a signal |
//! | `descriptors`, `screen`, `json_bytes` | standard input and output, which may be closed, or a terminal; bytes in JSON |
//! | `file_commands`, `file_checks`, `known_formats`, `foreign_input` | compress, decompress, test |
//! | `process_ranks` | compress as one of several processes |
//! | `bench` | measuring |
//! | `search_args`, `search_help`, `count_locate`, `extract_command` | count, locate, extract |
//! | `ambiguity_codes`, `odd_patterns`, `patterns`, `pattern_file`, `paired_reads`, `pattern_chunks`, `pattern_syntax`, `pattern_batch`, `match_lines`, `match_printer` | what is searched, in batches, and how what is found is printed |
//! | `record_regions`, `extract_regions` | stretches of records |
//! | `sam_lines`, `mate_pairs`, `unique_names` | the hits of reads, those of two mates, and the names in an output |
//! | `repeats_args`, `repeats_command`, `repeats_report` | what is repeated in files, and how it is printed |
//! | `reopened_file` | more files than a process may have open |
//! | `overlap_args`, `overlap_command`, `overlap_lines` | what sequences have in common, and how it is printed |
//! | `list_command`, `cat_command`, `recover_command`, `devices_command`, `man_and_completions` | one command each |
//! | `console`, `event_lines`, `progress_bar` | what is said, and when |
//! | `timeline` | the trace of a run, and how busy GPUs were |
//! | `side_by_side` | small work on several threads |
//! | `usage`, `version` | help, complaints about arguments, what this build is |
//! | `exit`, `bugs`, `io_errors`, `allocator` | exit codes, bugs, closed pipes, and the end for want of memory |
//!
//! It is written for Unix: permissions, signals and file identity are used as that family has them.

mod allocator;
mod ambiguity_codes;
mod args;
mod bench;
mod block_args;
mod bugs;
mod byte_escape;
mod cat_command;
mod console;
mod count_locate;
mod descriptors;
mod devices_command;
mod environment;
mod event_lines;
mod exit;
mod extract_command;
mod extract_regions;
mod file_checks;
mod file_commands;
mod files;
mod foreign_flags;
mod foreign_input;
mod input;
mod input_name;
mod io_errors;
mod json_bytes;
mod known_formats;
mod list_command;
mod man_and_completions;
mod match_lines;
mod match_printer;
mod mate_pairs;
mod odd_patterns;
mod output;
mod overlap_args;
mod overlap_command;
mod overlap_lines;
mod paired_reads;
mod parallel_reads;
mod pattern_batch;
mod pattern_chunks;
mod pattern_file;
mod pattern_syntax;
mod patterns;
mod process_ranks;
mod progress_bar;
mod record_regions;
mod recover_command;
mod reopened_file;
mod repeats_args;
mod repeats_command;
mod repeats_report;
mod sam_lines;
mod screen;
mod search_args;
mod search_help;
mod shared_args;
mod side_by_side;
mod size;
mod sparse_output;
mod stoppable_input;
mod temporary_file;
mod timeline;
mod unique_names;
mod usage;
mod version;

use args::{Cli, Command, FileArgs};
use clap::Parser;
use environment::Words;
use exit::Exit;
use std::env;
use std::process::ExitCode;

/// Runs the command that the arguments ask for.
pub fn main() -> ExitCode {
    allocator::tune();
    bugs::guard(run).into()
}

fn run() -> Exit {
    let line = Words::new(env::args_os().collect());
    if let Err(e) = temporary_file::clean_up_on_signals() {
        return console::fail(&e.into());
    }
    let words = line.with(Vec::new());
    let command = words.get(1).filter(|word| args::is_command(word)).cloned();
    match Cli::try_parse_from(words) {
        Ok(cli) => {
            if let Some((resources, talk)) = cli.work() {
                resources.warn_of_fewer_threads(talk);
            }
            dispatch(cli, &line)
        }
        Err(e) if !e.use_stderr() => usage::help(&e),
        Err(e) => match command {
            Some(word) if ["count", "locate", "repeats"].iter().any(|name| word == *name) => {
                Exit::of_search(Err(usage::usage(&e)))
            }
            Some(_) => usage::usage(&e),
            None => usage::usage_of_files(&e),
        },
    }
}

fn dispatch(cli: Cli, line: &Words) -> Exit {
    match cli.command {
        None if cli.files.license && cli.files.files.is_empty() => man_and_completions::license(),
        None => with_defaults(&cli.files, line),
        Some(Command::Cat(args)) => cat_command::run(&args),
        Some(Command::Count(args)) => count_locate::count(&args),
        Some(Command::Locate(args)) => count_locate::locate(&args),
        Some(Command::Extract(args)) => extract_command::run(&args),
        Some(Command::Repeats(args)) => repeats_command::run(&args),
        Some(Command::Overlap(args)) => overlap_command::run(&args),
        Some(Command::Recover(args)) => recover_command::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Devices) => devices_command::run(),
        Some(Command::Completions { shell }) => man_and_completions::completions(shell),
        Some(Command::Man) => man_and_completions::man(),
    }
}

/// Works on files as the command line says, with the defaults of `BWZ_OPT`.
fn with_defaults(asked: &FileArgs, line: &Words) -> Exit {
    let Some(text) = env::var_os("BWZ_OPT") else {
        return file_commands::run(asked, asked);
    };
    let defaults = match environment::defaults(&text) {
        Ok(defaults) => defaults,
        Err(e) => return console::fail(&e),
    };
    match Cli::try_parse_from(line.with(defaults)) {
        Ok(cli) => file_commands::run(asked, &cli.files),
        Err(e) => usage::usage_of_files(&e),
    }
}
