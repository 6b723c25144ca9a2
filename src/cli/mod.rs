//! The command: arguments, files, progress and exit codes around the public library.
//!
//! | room | job |
//! |---|---|
//! | `args`, `shared_args`, `environment`, `size` | the words of the command line, of `BWZ_OPT` and of argv\[0\] |
//! | `foreign` | flags of other compressors |
//! | `files` | which files are meant and what their outputs are called |
//! | `input`, `stop`, `output`, `sparse`, `temporary` | opening both ends; no partial output survives an error or a signal |
//! | `descriptors` | standard input and output, which may be closed |
//! | `transform` | compress, decompress, test |
//! | `bench` | measuring |
//! | `search_args`, `patterns`, `search`, `extract` | count, locate, extract |
//! | `list`, `cat`, `recover`, `devices`, `generate` | one command each |
//! | `console`, `events`, `progress` | what is said, and when |
//! | `exit`, `allocator` | exit codes, bugs, closed pipes, and the end for want of memory |
//!
//! It is written for Unix: permissions, signals and file identity are used as that family has them.

mod allocator;
mod args;
mod bench;
mod cat;
mod console;
mod descriptors;
mod devices;
mod environment;
mod events;
mod exit;
mod extract;
mod files;
mod foreign;
mod generate;
mod input;
mod list;
mod output;
mod patterns;
mod progress;
mod recover;
mod search;
mod search_args;
mod shared_args;
mod size;
mod sparse;
mod stop;
mod temporary;
mod transform;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use std::env;
use std::process::ExitCode;

/// Runs the command that the arguments ask for.
pub fn main() -> ExitCode {
    allocator::tune();
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
    let command = words.get(1).filter(|word| args::is_command(word)).cloned();
    match Cli::try_parse_from(words) {
        Ok(cli) => dispatch(cli),
        Err(e) if !e.use_stderr() => exit::help(&e),
        Err(e) => match command {
            Some(word) if word == "count" || word == "locate" => search::trouble(exit::usage(&e)),
            Some(_) => exit::usage(&e),
            None => exit::usage_of_files(&e),
        },
    }
}

fn dispatch(cli: Cli) -> Exit {
    match cli.command {
        None if cli.files.license => generate::license(),
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
