//! `bwz diff` and `bwz less`: other programs that are given the content of files, compressed or
//! not. They get it from another process of bwz, which they start with the word
//! `companion-content`. This is no command for users, who have `cat`.

use crate::cli::arguments::companion_args::WordsArgs;
use crate::cli::arguments::environment::CALLED;
use crate::cli::files::content;
use crate::cli::files::input_name::Name;
use crate::cli::files::output::Output;
use crate::cli::report::console::{self, Activity};
use crate::cli::report::exit::Exit;
use bwz::{Error, Options, Result};
use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::thread;

/// The word that asks for the content of a file.
const CONTENT: &str = "companion-content";

/// Bytes of a content that are written together.
const BUFFER: usize = 256 << 10;

/// Gives diff one content by descriptor 5 and the other by its standard input. The exit code is
/// that of diff, or 2 if a content could not be read; a reader that diff has left gets a signal.
const DIFF: &str = r#"
bwz=$1 one=$2 other=$3
shift 3
exec 4>&1
codes=$(
    exec 3>&1
    { "$bwz" companion-content "$one"; echo $? >&3; } | {
        { "$bwz" companion-content "$other"; echo $? >&3; } |
            { diff "$@" /dev/fd/5 - >&4; echo diff=$? >&3; }
    } 5<&0
)
result=2
for code in $codes; do
    case $code in
        diff=*) result=${code#diff=} ;;
        0 | 141) ;;
        *) exit 2 ;;
    esac
done
exit "$result"
"#;

/// Shows the differences of two files, by diff.
pub(crate) fn diff(args: &WordsArgs) -> Exit {
    Exit::of_search(match run_diff(&args.words) {
        Ok(0) => Ok(true),
        Ok(1) => Ok(false),
        Ok(_) => Err(Exit::Damaged),
        Err(e) => Err(console::fail(&e)),
    })
}

/// Returns the exit code of diff.
fn run_diff(words: &[OsString]) -> Result<i32> {
    let options: Vec<_> = words
        .iter()
        .filter(|word| is_option(word))
        .collect();
    let files: Vec<_> = words
        .iter()
        .filter(|word| !is_option(word))
        .collect();
    let (one, other) = match files[..] {
        [one] => (one.clone(), counterpart(one)),
        [one, other] => (one.clone(), other.clone()),
        _ => {
            let said = "diff takes one or two files here; write the value of an option beside it, \
                        as in -U3";
            return Err(Error::Usage(said.into()));
        }
    };
    for name in [&one, &other] {
        if let Err(e) = Path::new(name).metadata() {
            return Err(about(e, name));
        }
    }
    let has_labels = options
        .iter()
        .any(|word| word.as_bytes().starts_with(b"--label") || word.as_bytes().starts_with(b"-L"));
    let labels = [&one, &other].map(|name| [OsStr::new("--label"), name]);
    let labels = if has_labels {
        &[]
    } else {
        labels.as_flattened()
    };
    let status = with_bwz("sh")
        .args(["-c", DIFF, "bwz-diff"])
        .arg(std::env::current_exe()?)
        .args([&one, &other])
        .args(labels)
        .args(options)
        .status()
        .map_err(|e| about(e, OsStr::new("sh")))?;
    Ok(status.code().unwrap_or(2))
}

fn is_option(word: &OsStr) -> bool {
    word.as_bytes().starts_with(b"-") && word.len() > 1
}

/// The compressed form of a file, or the file of which one is the compressed form.
pub(crate) fn counterpart(name: &OsStr) -> OsString {
    match name.as_bytes().strip_suffix(b".bwz") {
        Some(bare) if !bare.is_empty() => OsStr::from_bytes(bare).to_owned(),
        _ => [name, OsStr::new(".bwz")].into_iter().collect(),
    }
}

/// Shows files page by page, by less, which asks bwz for the content of each. Returns only if less
/// cannot be started.
pub(crate) fn less(args: &WordsArgs) -> Exit {
    let bwz = std::env::current_exe();
    let bwz = bwz.unwrap_or_else(|_| "bwz".into());
    let quoted = bwz.to_string_lossy().replace('\'', r"'\''");
    let error = with_bwz("less")
        // An error stands at the end of the text.
        .env("LESSOPEN", format!("||'{quoted}' {CONTENT} %s 2>&1"))
        .args(&args.words)
        .exec();
    console::fail(&about(error, OsStr::new("less")))
}

/// The file whose content these words of a command line ask for, if they do.
pub(crate) fn file_asked_for(words: &[OsString]) -> Option<&Path> {
    match words {
        [_, word, file] if word == CONTENT => Some(Path::new(file)),
        _ => None,
    }
}

/// Writes the content of a file to standard output, for diff or less.
pub(crate) fn content(file: &Path) -> Exit {
    let name = Name::from(file);
    match write_content(&name) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail_with(&e, &name, Activity::Reading),
    }
}

fn write_content(name: &Name) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut content = content::open(name, threads, &Options::new())?;
    let mut output = BufWriter::with_capacity(BUFFER, Output::stdout(None)?);
    io::copy(&mut content, &mut output)?;
    Ok(output.flush()?)
}

/// A program that calls bwz, by whatever name this process was called, and without its defaults.
fn with_bwz(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env(CALLED, "bwz").env_remove("BWZ_OPT");
    command
}

/// An error with the name of what it is about.
fn about(e: io::Error, name: &OsStr) -> Error {
    io::Error::new(e.kind(), format!("{}: {e}", name.to_string_lossy())).into()
}
