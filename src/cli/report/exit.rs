//! How the command ends: exit codes, and the signal of a closed pipe.

use bwz::Error;
use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::process::ExitCode;

/// Exit codes as bzip2 has them; the larger is the worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    #[default]
    Fine = 0,
    /// The environment, the arguments, or a file of another version of the format.
    Trouble = 1,
    /// The input.
    Damaged = 2,
    /// bwz itself.
    Bug = 3,
}

impl Exit {
    /// How a search ends that found something or did not: code 1 means that nothing was found, so
    /// that all trouble is at least 2.
    pub fn of_search(found: Result<bool, Exit>) -> Exit {
        match found {
            Ok(true) => Exit::Fine,
            Ok(false) => Exit::Trouble,
            Err(exit) => exit.max(Exit::Damaged),
        }
    }
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
    fn the_worst_code_is_the_largest() {
        assert_eq!(Exit::Damaged.max(Exit::Trouble), Exit::Damaged);
        assert_eq!(Exit::from(&Error::Usage("".into())), Exit::Trouble);
        let damaged = Error::Format { what: "".into(), block: None, offset: 0 };
        assert_eq!(Exit::from(&damaged), Exit::Damaged);
    }
}
