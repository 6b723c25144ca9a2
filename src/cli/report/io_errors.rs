//! Errors of the system in the command's words. They say which side failed, and leave out the
//! number that Rust adds. The kind stays. An interruption is passed on unchanged, since callers
//! retry it.

use std::fmt::Display;
use std::io;

/// Removes ` (os error 2)`, and the path of a temporary file that may follow it.
pub(crate) fn strip_number(mut text: String) -> String {
    if let Some(start) = text.rfind(" (os error ") {
        text.truncate(start);
    }
    text
}

/// Words a failed read of an input.
pub(crate) fn while_reading(e: io::Error) -> io::Error {
    reworded(e, |text| format!("cannot be read: {text}"))
}

/// Words a failed write to `target`.
pub(crate) fn while_writing(target: impl Display, e: io::Error) -> io::Error {
    reworded(e, |text| format!("cannot write {target}: {text}"))
}

fn reworded(e: io::Error, words: impl FnOnce(String) -> String) -> io::Error {
    match e.kind() {
        io::ErrorKind::Interrupted => e,
        kind => io::Error::new(kind, words(strip_number(e.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_lose_their_number() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(
            while_writing("x", error).to_string(),
            "cannot write x: No such file or directory"
        );
        assert_eq!(strip_number("as it is)".into()), "as it is)");
    }
}
