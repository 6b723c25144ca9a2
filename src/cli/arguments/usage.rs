//! Help, and complaints about arguments.

use crate::cli::arguments::args::{Cli, nearest_command};
use crate::cli::arguments::foreign_flags;
use crate::cli::files::descriptors;
use crate::cli::report::console;
use crate::cli::report::exit::Exit;
use bwz::{Error, Result};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;

/// Prints help or version, as clap renders them.
pub(crate) fn help(text: &clap::Error) -> Exit {
    match descriptors::stdout().and_then(|_| text.print()) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e.into()),
    }
}

/// Prints the help of a command, or of bwz.
pub(crate) fn help_of(command: Option<&OsStr>) -> Exit {
    let mut cli = Cli::command();
    cli.build();
    let named = match command {
        None => Some(&mut cli),
        Some(word) => word
            .to_str()
            .and_then(|name| cli.find_subcommand_mut(name)),
    };
    let Some(named) = named else {
        let word = command.unwrap_or_default();
        let meant = nearest_command(word).map(|name| format!("; is `{name}` meant?"));
        let said = format!(
            "there is no command {}{}",
            word.display(),
            meant.unwrap_or_default()
        );
        return console::fail(&Error::Usage(said.into()));
    };
    let text = named.render_long_help();
    match descriptors::stdout().and_then(|mut out| write!(out, "{text}")) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e.into()),
    }
}

/// Prints a complaint about arguments. For an unknown option the text is ours: clap would explain
/// how to pass a file of that name, which hardly anyone means.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match (error.kind(), context(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(word)) => {
            let similar = context(ContextKind::SuggestedArg);
            let meant = similar
                .map(|flag| format!("is {flag} meant? "))
                .unwrap_or_default();
            console::refuse(
                word,
                format_args!("there is no such option; {meant}bwz --help lists all"),
            );
        }
        _ => console::complain(&error.render().to_string()),
    }
    Exit::Trouble
}

/// Prints a complaint about arguments if no command is named. Flags of other compressors get
/// advice.
pub(crate) fn usage_of_files(error: &clap::Error) -> Exit {
    let foreign = matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::TooManyValues
    );
    if foreign
        && let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && let Some(advice) = foreign_flags::advice(flag)
    {
        console::refuse(flag, advice);
        return Exit::Trouble;
    }
    usage(error)
}

/// Refuses standard input that is named more than once, because only the first reader would get any
/// bytes.
pub(crate) fn one_stdin<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<()> {
    match paths
        .filter(|path| path.as_os_str() == "-")
        .count()
    {
        0 | 1 => Ok(()),
        times => Err(Error::Usage(
            format!("standard input is named {times} times; it is read once").into(),
        )),
    }
}

/// Returns the value of an option that may be given once. Without this check a second value would
/// silently replace the first.
pub(crate) fn once<'v, T>(flag: &str, values: &'v [T]) -> Result<Option<&'v T>> {
    match values {
        [] => Ok(None),
        [value] => Ok(Some(value)),
        _ => Err(Error::Usage(
            format!("{flag} is given {} times; it takes one", values.len()).into(),
        )),
    }
}
