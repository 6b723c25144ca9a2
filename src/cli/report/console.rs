//! Messages on standard error: errors always, warnings unless quiet, reports if verbose.
//!
//! Every line starts with `bwz:`. In a line about a file, the file's name comes next.

use crate::cli::arguments::args::{Talk, is_command, nearest_command};
use crate::cli::files::input_name::Name;
use crate::cli::report::exit::{self, Exit};
use crate::cli::report::io_errors::strip_number;
use bwz::{Bound, Error};
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line to standard error. A failure of this write is ignored, since nobody is left to
/// tell.
///
/// The text stays one line even if standard error is no terminal, so that a file's name cannot add
/// lines to a log.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "bwz: {}", printable(&line.to_string()));
}

/// Returns `text` with its control characters escaped: those that move the cursor, change colours,
/// end the line or turn the direction of text. A file's name may contain such characters.
pub(crate) fn printable(text: &str) -> String {
    let shown = |c: char| match is_control(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// True if a terminal obeys the character, or if it changes the direction of text.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Reports a word of the command line that is no flag, with advice.
pub(crate) fn refuse(word: &str, advice: impl Display) {
    say(format_args!("cannot take {word}: {advice}"));
}

/// Prints a complaint of clap.
pub(crate) fn complain(text: &str) {
    let mut lines = text.lines().map(printable);
    let _ = lines.try_for_each(|line| writeln!(io::stderr(), "{line}"));
}

impl Talk {
    pub(crate) fn warn(self, name: &Name, what: impl Display) {
        if !self.quiet {
            say(format_args!("{name}: {what}"));
        }
    }

    pub(crate) fn report(self, name: &Name, what: impl Display) {
        if self.verbose > 0 {
            say(format_args!("{name}: {what}"));
        }
    }

    /// Reports something about the whole run, if verbose.
    pub(crate) fn sum_up(self, what: impl Display) {
        if self.verbose > 0 {
            say(what);
        }
    }

    /// Reports something about the whole run, unless quiet.
    pub(crate) fn state(self, what: impl Display) {
        if !self.quiet {
            say(what);
        }
    }

    /// True if each block gets a line.
    pub(crate) fn wants_blocks(self) -> bool {
        self.verbose > 1
    }

    /// Prints a message about a file, whatever the verbosity.
    pub(crate) fn say(self, name: &Name, what: impl Display) {
        say(format_args!("{name}: {what}"));
    }
}

/// The task during which an error came. It selects the advice that is printed with the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Compressing,
    Reading,
    Recovering,
}

/// Reports an error that ends the command.
pub(crate) fn fail(error: &Error) -> Exit {
    if exit::is_closed_pipe(error) {
        return exit::closed_pipe();
    }
    say(plain(error));
    Exit::from(error)
}

/// Reports an error with one file, and advice.
pub(crate) fn fail_with(error: &Error, name: &Name, task: Activity) -> Exit {
    if exit::is_closed_pipe(error) {
        return exit::closed_pipe();
    }
    let advice = advice(error, name, task).map(|advice| format!("; {advice}"));
    say(format_args!(
        "{name}: {}{}",
        plain(error),
        advice.unwrap_or_default()
    ));
    Exit::from(error)
}

/// Returns an error's text without the number that Rust adds to messages of the system.
fn plain(error: &Error) -> String {
    strip_number(error.to_string())
}

fn advice(error: &Error, name: &Name, task: Activity) -> Option<String> {
    match (error, task, name) {
        (
            Error::Limit {
                by: Bound::SampleRate,
                ..
            },
            ..,
        ) => None,
        (Error::Limit { needed, by, .. }, ..) => {
            let more = match by {
                Bound::Memory => {
                    format!(
                        "allow that with --memory {}M (-M)",
                        needed.div_ceil(1 << 20)
                    )
                }
                _ => "raise that limit".into(),
            };
            let smaller = ", or take smaller blocks with a lower level (-1 to -9) or --block";
            Some(
                more + if task == Activity::Compressing {
                    smaller
                } else {
                    ""
                },
            )
        }
        (Error::OutputLimit { .. }, ..) => Some("allow more with --limit-output".into()),
        (Error::Format { block, offset, .. }, Activity::Reading, Name::File(_))
            if block.is_some() || *offset > 0 =>
        {
            Some(format!(
                "`bwz recover {name} -o OUT` saves the intact blocks"
            ))
        }
        (Error::Io(e), _, Name::File(path))
            if e.kind() == io::ErrorKind::NotFound && is_command(path.as_os_str()) =>
        {
            Some(format!("if the command is meant, `{name}` comes first"))
        }
        (Error::Io(e), _, Name::File(path)) if e.kind() == io::ErrorKind::NotFound => {
            nearest_command(path.as_os_str())
                .map(|command| format!("if a command is meant, it is `bwz {command}`"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn system_errors_lose_their_number() {
        let error = Error::Io(io::Error::from_raw_os_error(2));
        assert_eq!(plain(&error), "No such file or directory");
    }

    #[test]
    fn names_do_not_rule_the_terminal() {
        assert_eq!(
            printable("a\x1b[31m\n\u{9b}\u{202e}"),
            r"a\u{1b}[31m\n\u{9b}\u{202e}"
        );
        assert_eq!(printable(r"größe \ 'x'"), r"größe \ 'x'");
    }

    #[test]
    fn advice_fits_the_error() {
        let file = Name::File(PathBuf::from("x.bwz"));
        let limit = |needed, by| Error::Limit {
            what: "".into(),
            needed,
            allowed: 1,
            by,
        };
        let memory = limit((16 << 30) + 1, Bound::Memory);
        let space = limit(2, Bound::AddressSpace);
        assert!(
            advice(&memory, &file, Activity::Compressing)
                .unwrap()
                .contains("level")
        );
        assert!(
            advice(&memory, &file, Activity::Reading)
                .unwrap()
                .contains("--memory 16385M")
        );
        assert_eq!(
            advice(&space, &file, Activity::Reading).unwrap(),
            "raise that limit"
        );
        let damage = |offset| Error::Format {
            what: "".into(),
            block: None,
            offset,
        };
        assert!(
            advice(&damage(7), &file, Activity::Reading)
                .unwrap()
                .contains("bwz recover x.bwz")
        );
        assert_eq!(advice(&damage(0), &file, Activity::Reading), None);
        assert_eq!(advice(&damage(7), &Name::Stdin, Activity::Reading), None);
    }
}
