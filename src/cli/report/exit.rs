//! The end of the command: exit codes, and the signal of a closed pipe.

use bwz::Error;
use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::process::ExitCode;

/// Exit codes, as those of bzip2. The larger code is the worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    #[default]
    Fine = 0,
    /// Trouble with the environment or the arguments, or a file of another version of the format.
    Trouble = 1,
    /// The input is damaged.
    Damaged = 2,
    /// A bug of bwz itself.
    Bug = 3,
}

impl Exit {
    /// The exit code of a search. Code 1 means that nothing was found, so all trouble has code 2 or
    /// more.
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

/// True if the reader of our output has closed its end.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    matches!(error, Error::Io(e) if e.kind() == io::ErrorKind::BrokenPipe)
}

/// Ends the process quietly by SIGPIPE, like a program that does not handle this signal.
pub(crate) fn closed_pipe() -> Exit {
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
        let damaged = Error::Format {
            what: "".into(),
            block: None,
            offset: 0,
        };
        assert_eq!(Exit::from(&damaged), Exit::Damaged);
    }
}
