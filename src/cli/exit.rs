//! How the command ends: exit codes, bugs, and the signal of a closed pipe.

use super::{allocator, console, descriptors, foreign_flags};
use bwz::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit codes as bzip2 has them; the larger is the worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    #[default]
    Fine = 0,
    /// The environment or the arguments.
    Trouble = 1,
    /// The input.
    Damaged = 2,
    /// bwz itself.
    Bug = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        match error {
            Error::Format { .. } => Exit::Damaged,
            _ => Exit::Trouble,
        }
    }
}

static PANICKED: AtomicBool = AtomicBool::new(false);

/// Runs the command; a panic in it, or in a thread of it, is a bug and said to be one.
pub fn guard(run: fn() -> Exit) -> Exit {
    panic::set_hook(Box::new(report_bug));
    let ended = panic::catch_unwind(run);
    if PANICKED.load(Ordering::Relaxed) { Exit::Bug } else { ended.unwrap_or(Exit::Bug) }
}

/// One line, once: other threads may panic over the first one's ruins.
fn report_bug(info: &PanicHookInfo) {
    static FIRST: Once = Once::new();
    PANICKED.store(true, Ordering::Relaxed);
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    // A thread that starts without room for the stack of its signals, which the standard library
    // takes for granted.
    if text.is_some_and(|text| text.contains("alternative stack")) {
        allocator::end();
    }
    let what = text.unwrap_or("no message").replace('\n', " ");
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    FIRST.call_once(|| {
        let request = "this is a bug in bwz, please report it with the command that met it";
        let _ = writeln!(io::stderr(), "bwz: {request}: {what}{place}");
    });
}

/// Prints help or version, as clap has them.
pub fn help(text: &clap::Error) -> Exit {
    match descriptors::stdout().and_then(|_| text.print()) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e.into()),
    }
}

/// Prints a complaint about arguments. Where one is unknown, clap's advice is how to pass a file of
/// that name, which hardly anyone means.
pub fn usage(error: &clap::Error) -> Exit {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match (error.kind(), context(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(word)) => {
            let similar = context(ContextKind::SuggestedArg);
            let meant = similar.map(|flag| format!("is {flag} meant? ")).unwrap_or_default();
            console::refuse(
                word,
                format_args!("there is no such option; {meant}bwz --help lists all"),
            );
        }
        _ => console::complain(&error.render().to_string()),
    }
    Exit::Trouble
}

/// The same where no command is named, so that the flags of other compressors may come.
pub fn usage_of_files(error: &clap::Error) -> Exit {
    let foreign = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::TooManyValues);
    if foreign
        && let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && let Some(advice) = foreign_flags::advice(flag)
    {
        console::refuse(flag, advice);
        return Exit::Trouble;
    }
    usage(error)
}

/// Whether the reader of our output has gone.
pub fn is_closed_pipe(error: &Error) -> bool {
    matches!(error, Error::Io(e) if e.kind() == io::ErrorKind::BrokenPipe)
}

/// Ends quietly by SIGPIPE, as a program does that never asked to survive it.
pub fn closed_pipe() -> Exit {
    let _ = emulate_default_handler(SIGPIPE);
    Exit::Trouble
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug() {
        let default = panic::take_hook();
        let exit = guard(|| panic!("on purpose"));
        panic::set_hook(default);
        assert_eq!(exit, Exit::Bug);
    }

    #[test]
    fn the_worst_code_is_the_largest() {
        assert_eq!(Exit::Damaged.max(Exit::Trouble), Exit::Damaged);
        assert_eq!(Exit::from(&Error::Usage("".into())), Exit::Trouble);
        let damaged = Error::Format { what: "".into(), block: None, offset: 0 };
        assert_eq!(Exit::from(&damaged), Exit::Damaged);
    }
}
