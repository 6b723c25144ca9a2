//! What the command line is before clap sees it: argv\[0\] names a mode, `BWZ_OPT` brings defaults.
//!
//! Both go in front of the real arguments, so that these win.

use super::args::is_command;
use bwz::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The words to parse: the command's name, what that name stands for, `BWZ_OPT`, the arguments.
pub fn words(argv: Vec<OsString>, bwz_opt: Option<OsString>) -> Result<Vec<OsString>> {
    let mut argv = argv.into_iter();
    let called = argv.next().unwrap_or_else(|| "bwz".into());
    let arguments: Vec<_> = argv.collect();
    let stands_for = meaning(&called);
    let defaults = match bwz_opt {
        Some(text)
            if !stands_for.is_empty()
                || !arguments.first().is_some_and(|word| is_command(word)) =>
        {
            split(&text)?
        }
        _ => Vec::new(),
    };
    let mut words = vec![OsString::from("bwz")];
    words.extend(stands_for.iter().map(OsString::from));
    words.extend(defaults);
    words.extend(arguments);
    Ok(words)
}

/// The arguments that the command's name stands for.
fn meaning(called: &OsStr) -> &'static [&'static str] {
    match Path::new(called).file_name().and_then(OsStr::to_str) {
        Some("bunwz") => &["-d"],
        Some("bwzcat") => &["-d", "-c"],
        _ => &[],
    }
}

/// Splits `BWZ_OPT` as a shell splits simple words.
///
/// Blanks (space, tab, newline) part words. `'...'` keeps everything as it is; `"..."` everything
/// but `\"` and `\\`; outside of quotes `\` keeps the next character. Quoted and bare parts that
/// touch are one word.
fn split(text: &OsStr) -> Result<Vec<OsString>> {
    let unfinished = || Error::Usage("BWZ_OPT ends inside quotes or behind a backslash".into());
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut bytes = text.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\t' | b'\n' => words.extend(word.take()),
            b'\\' => word.get_or_insert_default().push(bytes.next().ok_or_else(unfinished)?),
            b'\'' | b'"' => {
                let part = quoted(&mut bytes, byte).ok_or_else(unfinished)?;
                word.get_or_insert_default().extend(part);
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    Ok(words.into_iter().map(OsString::from_vec).collect())
}

/// What stands before the closing quote, or `None` where there is none.
fn quoted(bytes: &mut impl Iterator<Item = u8>, quote: u8) -> Option<Vec<u8>> {
    let mut part = Vec::new();
    loop {
        match bytes.next()? {
            byte if byte == quote => return Some(part),
            b'\\' if quote == b'"' => match bytes.next()? {
                escaped @ (b'"' | b'\\') => part.push(escaped),
                other => part.extend([b'\\', other]),
            },
            byte => part.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_text(text: &str) -> Vec<String> {
        let words = split(text.as_ref()).unwrap();
        words.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn words_are_split_at_blanks() {
        assert_eq!(split_text("  -9 \t-T4\n"), ["-9", "-T4"]);
        assert!(split_text(" ").is_empty());
    }

    #[test]
    fn quotes_keep_blanks() {
        assert_eq!(split_text(r#"-o 'a b'"c d" '' \ e"#), ["-o", "a bc d", "", " e"]);
        assert_eq!(split_text(r#""\"\\\n" '\'"#), [r#""\\n"#, r"\"]);
    }

    #[test]
    fn open_quotes_are_an_error() {
        for text in ["'a", "\"a", "a\\", "\"a\\"] {
            assert!(split(text.as_ref()).is_err(), "{text}");
        }
    }

    fn all_words(argv: &[&str], bwz_opt: &str) -> Vec<OsString> {
        words(argv.iter().map(OsString::from).collect(), Some(bwz_opt.into())).unwrap()
    }

    #[test]
    fn defaults_stand_between_name_and_arguments() {
        assert_eq!(all_words(&["/bin/bunwz", "-1"], "-9"), ["bwz", "-d", "-9", "-1"]);
        assert_eq!(all_words(&["bwzcat"], ""), ["bwz", "-d", "-c"]);
    }

    #[test]
    fn commands_get_no_defaults() {
        assert_eq!(all_words(&["bwz", "cat", "x"], "-9"), ["bwz", "cat", "x"]);
        assert_eq!(all_words(&["bunwz", "cat"], "-9"), ["bwz", "-d", "-9", "cat"]);
    }
}
