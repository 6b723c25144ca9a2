//! The command: arguments, files, progress and exit codes around the public library.
//!
//! | room | job |
//! |---|---|
//! | `args`, `environment`, `size` | the words of the command line, of `BWZ_OPT` and of argv\[0\] |
//! | `files` | which files are meant and what their outputs are called |
//! | `input`, `output`, `sparse`, `temporary` | opening both ends; no partial output survives an error or a signal |
//! | `transform` | compress, decompress, test |
//! | `bench_args`, `bench`, `bench_sort`, `bench_inverse`, `bench_search` | measuring |
//! | `search_args`, `patterns`, `search`, `extract` | count, locate, extract |
//! | `list`, `cat`, `recover`, `devices`, `generate` | one command each |
//! | `console`, `events`, `progress` | what is said, and when |
//! | `exit` | exit codes, bugs and closed pipes |
//!
//! It is written for Unix: permissions, signals and file identity are used as that family has them.

mod args;
mod bench;
mod bench_args;
mod bench_inverse;
mod bench_search;
mod bench_sort;
mod cat;
mod console;
mod devices;
mod environment;
mod events;
mod exit;
mod extract;
mod files;
mod generate;
mod input;
mod list;
mod output;
mod patterns;
mod progress;
mod recover;
mod search;
mod search_args;
mod size;
mod sparse;
mod temporary;
mod transform;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use std::env;
use std::process::ExitCode;

/// Runs the command that the arguments ask for.
pub fn main() -> ExitCode {
    exit::guard(run).into()
}

fn run() -> Exit {
    let words = match environment::words(env::args_os().collect(), env::var_os("BWZ_OPT")) {
        Ok(words) => words,
        Err(e) => return console::fail(&e),
    };
    if let Err(e) = temporary::clean_up_on_signals() {
        return console::fail(&e.into());
    }
    let searches = words.get(1).is_some_and(|word| word == "count" || word == "locate");
    match Cli::try_parse_from(words) {
        Ok(cli) => dispatch(cli),
        Err(e) if searches && e.use_stderr() => search::trouble(exit::usage(&e)),
        Err(e) => exit::usage(&e),
    }
}

fn dispatch(cli: Cli) -> Exit {
    match cli.command {
        None => transform::run(&cli.files),
        Some(Command::Cat(args)) => cat::run(&args),
        Some(Command::Count(args)) => search::count(&args),
        Some(Command::Locate(args)) => search::locate(&args),
        Some(Command::Extract(args)) => extract::run(&args),
        Some(Command::Recover(args)) => recover::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Devices) => devices::run(),
        Some(Command::Completions { shell }) => generate::completions(shell),
        Some(Command::Man) => generate::man(),
    }
}
