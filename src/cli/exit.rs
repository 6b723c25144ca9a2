//! How the command ends: exit codes, bugs, and the signal of a closed pipe.

use super::{allocator, console};
use bwz::Error;
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
    // A thread that starts without room for the stack of its signals, which the standard library takes for granted.
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

/// Prints what clap has to say: help or version, which is fine, or a complaint.
pub fn usage(error: &clap::Error) -> Exit {
    match error.print() {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => closed_pipe(),
        Err(e) => console::fail(&e.into()),
        _ if error.use_stderr() => Exit::Trouble,
        _ => Exit::Fine,
    }
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
