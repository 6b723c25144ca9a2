//! The command line before clap parses it: the mode that argv\[0\] names, and the defaults of
//! `BWZ_OPT`.
//!
//! Both are put in front of the real arguments, so that the real arguments win. `BWZ_OPT` holds
//! only options for how files are compressed and how much is reported. The command line alone says
//! what is done, with which files, and whether they are kept: a variable that was set long ago must
//! not turn one command into another.

use crate::cli::arguments::args::{Cli, is_command};
use bwz::{Error, Result};
use clap::parser::ValueSource;
use clap::{Arg, Command, CommandFactory};
use std::env;
use std::ffi::{OsStr, OsString};
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The variable that holds the name by which a program started by bwz calls it.
pub(crate) const CALLED: &str = "BWZ_CALLED";

/// The command line without `BWZ_OPT`.
pub(crate) struct Words {
    stands_for: &'static [&'static str],
    arguments: Vec<OsString>,
}

impl Words {
    pub(crate) fn new(argv: Vec<OsString>) -> Self {
        let mut argv = argv.into_iter();
        let called = argv.next().unwrap_or_else(|| "bwz".into());
        let called = env::var_os(CALLED).unwrap_or(called);
        let stands_for = meaning(&called);
        let mut arguments = counts_of_ends(argv.collect());
        let first = stands_for.first().copied().map(OsStr::new);
        if first.or(arguments.first().map(OsString::as_os_str)) == Some(OsStr::new("grep")) {
            arguments = numbers_of_context(arguments);
        }
        Words {
            stands_for,
            arguments,
        }
    }

    /// Returns the words to parse: the command's name, the arguments that this name stands for,
    /// `defaults`, and the arguments.
    pub(crate) fn with(&self, defaults: Vec<OsString>) -> Vec<OsString> {
        let mut words = vec![OsString::from("bwz")];
        words.extend(self.stands_for.iter().map(OsString::from));
        words.extend(defaults);
        words.extend(self.arguments.iter().cloned());
        words
    }
}

/// Writes the old form of a count, as in `head -5`, as `-n5`. It is one right after the command.
fn counts_of_ends(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_end = |word: &OsString| *word == *"head" || *word == *"tail";
    if let [command, word, ..] = &mut arguments[..]
        && is_end(command)
    {
        let digits = word
            .to_str()
            .and_then(|word| word.strip_prefix('-'));
        if let Some(count) = digits.and_then(|digits| digits.parse::<u64>().ok()) {
            *word = format!("-n{count}").into();
        }
    }
    arguments
}

/// Writes numbers among the flags of grep, as in `-3` or `-n3`, as `-C3`.
fn numbers_of_context(arguments: Vec<OsString>) -> Vec<OsString> {
    let cli = Cli::command();
    let grep = cli
        .find_subcommand("grep")
        .expect("it is a command");
    let mut words = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.into_iter();
    while let Some(word) = arguments.next() {
        let is_last = word == *"--";
        let value_follows = add_grep_word(grep, word, &mut words);
        if is_last {
            break;
        }
        if value_follows {
            words.extend(arguments.next());
        }
    }
    words.extend(arguments);
    words
}

/// Adds a word of grep's arguments. Returns true if the next word is the value of an option in it.
fn add_grep_word(grep: &Command, word: OsString, words: &mut Vec<OsString>) -> bool {
    let text = word.to_str().unwrap_or_default();
    if let Some(long) = text.strip_prefix("--") {
        let value_follows = takes_value(grep, |argument| argument.get_long() == Some(long));
        words.push(word);
        return value_follows;
    }
    let Some(flags) = text.strip_prefix('-') else {
        words.push(word);
        return false;
    };
    let has_value = |flag| takes_value(grep, |argument| argument.get_short() == Some(flag));
    let with_value = flags.find(has_value).unwrap_or(flags.len());
    let (flags, value) = flags.split_at(with_value);
    let value_follows = value.chars().count() == 1;
    let is_digit = |c: char| c.is_ascii_digit();
    if !flags.contains(is_digit) {
        words.push(word);
        return value_follows;
    }
    let number: String = flags.matches(is_digit).collect();
    words.push(format!("-{}C{number}", flags.replace(is_digit, "")).into());
    words.extend((!value.is_empty()).then(|| format!("-{value}").into()));
    value_follows
}

/// Returns true if the argument of a command that `is_it` chooses has a value, which may be the
/// next word.
fn takes_value(command: &Command, is_it: impl Fn(&Arg) -> bool) -> bool {
    let argument = command
        .get_arguments()
        .find(|argument| is_it(argument));
    argument.is_some_and(|of| of.get_action().takes_values() && !of.is_require_equals_set())
}

/// The options that `BWZ_OPT` may hold, by their ids.
const DEFAULTS: [&str; 27] = [
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "block",
    "split_at",
    "fast",
    "best",
    "index",
    "sample_rate",
    "verify",
    "no_verify",
    "limit_output",
    "threads",
    "memory",
    "device",
    "verbose",
    "quiet",
    "no_progress",
    "no_sparse",
    "keep",
    "no_name",
];

/// Returns the words of `BWZ_OPT`.
///
/// # Errors
/// [`Error::Usage`] if it holds anything but the options of [`DEFAULTS`].
pub(crate) fn defaults(bwz_opt: &OsStr) -> Result<Vec<OsString>> {
    let words = split(bwz_opt)?;
    if let Some(command) = words.first().filter(|word| is_command(word)) {
        return Err(refused(&command.to_string_lossy()));
    }
    let mut cli = Cli::command();
    let line = iter::once(OsString::from("bwz")).chain(words.iter().cloned());
    let matches = cli.try_get_matches_from_mut(line).map_err(|e| {
        let rendered = e.render().to_string();
        let complaint = rendered.lines().next().unwrap_or_default();
        let complaint = complaint
            .strip_prefix("error: ")
            .unwrap_or("it asks for help");
        Error::Usage(format!("BWZ_OPT cannot be used: {complaint}").into())
    })?;
    for argument in cli.get_arguments() {
        let id = argument.get_id().as_str();
        let known = matches.try_contains_id(id).is_ok();
        if !known || matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if !DEFAULTS.contains(&id) {
            let shown = argument
                .get_long()
                .map(|long| format!("--{long}"));
            return Err(refused(
                &shown.unwrap_or_else(|| "the name of a file".into()),
            ));
        }
    }
    Ok(words)
}

fn refused(what: &str) -> Error {
    let said = format!(
        "BWZ_OPT holds {what}, which belongs on the command line: BWZ_OPT is for options of \
         compression and of messages (-1 to -9, --index, -T, -M, -v and the like), not for actions \
         or files"
    );
    Error::Usage(said.into())
}

/// Returns the arguments that the command's name stands for.
fn meaning(called: &OsStr) -> &'static [&'static str] {
    match Path::new(called)
        .file_name()
        .and_then(OsStr::to_str)
    {
        Some("bunwz") => &["-d"],
        Some("bwzcat") => &["-d", "-c"],
        Some("bwzgrep") => &["grep"],
        Some("bwzcmp") => &["compare"],
        Some("bwzdiff") => &["diff"],
        Some("bwzless") => &["less"],
        _ => &[],
    }
}

/// Splits `BWZ_OPT` as a shell splits simple words.
///
/// Blanks (space, tab, newline) separate words. `'...'` keeps everything as it is. `"..."` keeps
/// everything except `\"` and `\\`. Outside of quotes, `\` keeps the next character. Quoted and
/// bare parts that touch are one word.
fn split(text: &OsStr) -> Result<Vec<OsString>> {
    let unfinished = || Error::Usage("BWZ_OPT ends inside quotes or after a backslash".into());
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut bytes = text.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\t' | b'\n' => words.extend(word.take()),
            b'\\' => word
                .get_or_insert_default()
                .push(bytes.next().ok_or_else(unfinished)?),
            b'\'' | b'"' => {
                let part = quoted(&mut bytes, byte).ok_or_else(unfinished)?;
                word.get_or_insert_default().extend(part);
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    Ok(words
        .into_iter()
        .map(OsString::from_vec)
        .collect())
}

/// Returns the bytes before the closing quote, or `None` if there is no closing quote.
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
        words
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn words_are_split_at_blanks() {
        assert_eq!(split_text("  -9 \t-T4\n"), ["-9", "-T4"]);
        assert!(split_text(" ").is_empty());
    }

    #[test]
    fn quotes_keep_blanks() {
        assert_eq!(
            split_text(r#"-o 'a b'"c d" '' \ e"#),
            ["-o", "a bc d", "", " e"]
        );
        assert_eq!(split_text(r#""\"\\\n" '\'"#), [r#""\\n"#, r"\"]);
    }

    #[test]
    fn open_quotes_are_an_error() {
        for text in ["'a", "\"a", "a\\", "\"a\\"] {
            assert!(split(text.as_ref()).is_err(), "{text}");
        }
    }

    #[test]
    fn defaults_stand_between_name_and_arguments() {
        let words = |argv: &[&str], defaults: &[&str]| {
            let words = Words::new(argv.iter().map(OsString::from).collect());
            words.with(defaults.iter().map(OsString::from).collect())
        };
        assert_eq!(
            words(&["/bin/bunwz", "-1"], &["-9"]),
            ["bwz", "-d", "-9", "-1"]
        );
        assert_eq!(words(&["bwzcat"], &[]), ["bwz", "-d", "-c"]);
        assert_eq!(words(&["bwzgrep", "x"], &[]), ["bwz", "grep", "x"]);
        assert_eq!(words(&["bwzdiff", "-u"], &[]), ["bwz", "diff", "-u"]);
        assert_eq!(words(&["bwz", "cat", "x"], &[]), ["bwz", "cat", "x"]);
    }

    #[test]
    fn numbers_of_grep_are_context() {
        for (given, wanted) in [
            ("grep -3 x", "grep -C3 x"),
            ("grep -n3i x -12", "grep -niC3 x -C12"),
            ("grep -1n2 x", "grep -nC12 x"),
            ("grep -3A 2 x", "grep -C3 -A 2 x"),
            ("grep -A2 -e -3 x", "grep -A2 -e -3 x"),
            (
                "grep --regexp -3 --color -4",
                "grep --regexp -3 --color -C4",
            ),
            ("grep -- -3 -4", "grep -- -3 -4"),
            ("cat -3", "cat -3"),
        ] {
            let argv = ["bwz"].into_iter().chain(given.split(' '));
            let words = Words::new(argv.map(OsString::from).collect()).with(Vec::new());
            let wanted: Vec<&str> = ["bwz"]
                .into_iter()
                .chain(wanted.split(' '))
                .collect();
            assert_eq!(words, wanted);
        }
    }

    #[test]
    fn every_default_is_an_option() {
        let cli = Cli::command();
        for id in DEFAULTS {
            assert!(
                cli.get_arguments()
                    .any(|argument| argument.get_id() == id),
                "{id}"
            );
        }
    }

    #[test]
    fn nothing_that_turns_the_command_into_another_is_a_default() {
        let taken = [
            "",
            "-9",
            "-1 -T2 -M 1G",
            "--index=bytes --sample-rate=64",
            "-qv --no-progress",
        ];
        for text in taken {
            assert_eq!(
                defaults(text.as_ref()).unwrap(),
                split(text.as_ref()).unwrap()
            );
        }
        let refused = [
            "cat",
            "count a",
            "-9 cat",
            "x",
            "-- -9",
            "-d",
            "-z",
            "-t",
            "-l",
            "-c",
            "-o x",
            "-r",
            "-f",
            "--rm",
            "--json",
            "--records",
            "--trace=x",
            "-L",
            "--ranks=a:1",
            "-h",
            "--version",
            "-S .b",
            "--no-such",
            "-T",
            "man",
        ];
        for text in refused {
            let error = defaults(text.as_ref()).unwrap_err().to_string();
            assert!(error.contains("BWZ_OPT"), "{text}: {error}");
        }
    }
}
