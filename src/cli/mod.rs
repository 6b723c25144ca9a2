//! The command line program: arguments, files, progress and exit codes around the public library.
//!
//! | file | job |
//! |---|---|
//! | `arguments` | the words of the command line, of `BWZ_OPT` and of argv\[0\]; help |
//! | `files` | compress, decompress, test, list, cat, head, tail, compare, recover |
//! | `search` | grep, count, locate, extract, and the printing of matches |
//! | `analysis` | repeats and overlap |
//! | `report` | messages, events, progress, exit codes |
//! | `bench`, `devices_command` | one command each |
//! | `bench_sorts`, `bench_line` | `bench --sort`; a line of a table |
//! | `allocator` | the memory allocator of this process, and the end if memory runs out |
//!
//! The program is written for Unix: it uses Unix permissions, signals and file identity.

mod allocator;
mod analysis;
mod arguments;
mod bench;
mod bench_line;
mod bench_sorts;
mod devices_command;
mod files;
mod report;
mod search;

use analysis::overlap_command;
use analysis::repeats_command;
use arguments::args;
use arguments::args::{Cli, Command, FileArgs};
use arguments::environment;
use arguments::environment::Words;
use arguments::man_and_completions;
use arguments::usage;
use clap::Parser;
use files::cat_command;
use files::companions;
use files::compare_command;
use files::file_commands;
use files::head_and_tail;
use files::recover_command;
use files::temporary_file;
use report::bugs;
use report::console;
use report::exit::Exit;
use search::count_locate;
use search::extract_command;
use search::grep::grep_command;
use std::env;
use std::process::ExitCode;

/// Runs the command that the arguments ask for.
pub(crate) fn main() -> ExitCode {
    allocator::tune();
    bugs::guard(run).into()
}

fn run() -> Exit {
    let line = Words::new(env::args_os().collect());
    if let Err(e) = temporary_file::clean_up_on_signals() {
        return console::fail(&e.into());
    }
    let words = line.with(Vec::new());
    if let Some(file) = companions::file_asked_for(&words) {
        return companions::content(file);
    }
    let command = words
        .get(1)
        .filter(|word| args::is_command(word))
        .cloned();
    match Cli::try_parse_from(words) {
        Ok(cli) => {
            if let Some((resources, talk)) = cli.work() {
                resources.warn_of_fewer_threads(talk);
            }
            dispatch(cli, &line)
        }
        Err(e) if !e.use_stderr() => usage::help(&e),
        Err(e) => match command {
            Some(word)
                if ["compare", "count", "diff", "grep", "locate", "repeats"]
                    .iter()
                    .any(|name| word == *name) =>
            {
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
        Some(Command::Head(args)) => head_and_tail::head(&args),
        Some(Command::Tail(args)) => head_and_tail::tail(&args),
        Some(Command::Count(args)) => count_locate::count(&args),
        Some(Command::Locate(args)) => count_locate::locate(&args),
        Some(Command::Extract(args)) => extract_command::run(&args),
        Some(Command::Grep(args)) => grep_command::run(&args),
        Some(Command::Repeats(args)) => repeats_command::run(&args),
        Some(Command::Overlap(args)) => overlap_command::run(&args),
        Some(Command::Compare(args)) => compare_command::run(&args),
        Some(Command::Diff(args)) => companions::diff(&args),
        Some(Command::Less(args)) => companions::less(&args),
        Some(Command::Recover(args)) => recover_command::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Devices) => devices_command::run(),
        Some(Command::Help { command }) => usage::help_of(command.as_deref()),
        Some(Command::Completions { shell }) => man_and_completions::completions(shell),
        Some(Command::Man) => man_and_completions::man(),
    }
}

/// Works on files as the command line says. Options of `BWZ_OPT` are the defaults.
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
