//! `bwz recover`: saves the intact blocks of a damaged file, and lists the losses.

use crate::cli::arguments::args::{RecoverArgs, Talk};
use crate::cli::arguments::size::{count, human};
use crate::cli::arguments::usage::once;
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::files::output::{Destination, Output, Rules};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::progress_bar::Progress;
use bwz::{Error, Lost, Recovery, Result};
use serde::Serialize;
use std::io;
use std::ops::Range;

/// Maximum number of lines about lost parts on standard error. The same maximum holds for lines
/// about frames whose saved blocks do not match their checksum.
const LINES: usize = 20;

/// Saves the intact blocks of the file. Any loss gives the exit code of damage, unless all that is
/// lost is of a later version.
pub(crate) fn run(args: &RecoverArgs) -> Exit {
    let name = Name::from(args.file.as_path());
    match recover(&name, args) {
        Ok(recovery) => report(&name, &recovery, args),
        Err(e) => console::fail_with(&e, &name, Activity::Recovering),
    }
}

fn recover(name: &Name, args: &RecoverArgs) -> Result<Recovery> {
    let output = once("-o", &args.output)?.expect("clap requires it");
    let destination = Destination::chosen(output);
    if args.json && matches!(destination, Destination::Stdout) {
        return Err(Error::Usage(
            "--json writes to standard output: let -o name a file".into(),
        ));
    }
    let file = input::open_seekable(name)?;
    let metadata = file.metadata()?;
    let input = Some(&metadata);
    let rules = Rules {
        force: args.force,
        input,
        attributes: input,
        ..Rules::default()
    };
    let mut output = Output::open(destination, &rules)?;
    let progress = Progress::start(
        name,
        Some(metadata.len()),
        args.reading.talk,
        !output.is_terminal(),
    );
    let options = args.reading.options();
    let options = EventLines::default().add_to(&options, name, args.reading.talk, None);
    let recovery = bwz::recover(progress.count(file), &mut output, &options)?;
    drop(progress);
    output.finish(Some(&metadata), false)?;
    if args.json {
        print_json(name, &recovery)?;
    }
    Ok(recovery)
}

fn report(name: &Name, recovery: &Recovery, args: &RecoverArgs) -> Exit {
    let saved = format!(
        "{}, {}",
        count(recovery.blocks, "block"),
        human(recovery.raw_size)
    );
    if recovery.is_complete() {
        args.reading
            .talk
            .report(name, format_args!("saved {saved}; nothing is lost"));
        return Exit::Fine;
    }
    say_losses(name, recovery, args.reading.talk);
    let left_out = if recovery.lost.is_empty() {
        ""
    } else {
        "; the lost parts are left out of the output"
    };
    args.reading
        .talk
        .say(name, format_args!("saved {saved}{left_out}"));
    match recovery.lacks_only_unsupported() {
        true => Exit::Trouble,
        false => Exit::Damaged,
    }
}

/// Prints a line for each loss, up to [`LINES`].
fn say_losses(name: &Name, recovery: &Recovery, talk: Talk) {
    for lost in recovery.lost.iter().take(LINES) {
        talk.say(name, describe(lost));
    }
    if let Some(more) = recovery
        .lost
        .get(LINES..)
        .filter(|more| !more.is_empty())
    {
        talk.say(name, rest(more));
    }
    for frame in recovery.contradicted.iter().take(LINES) {
        talk.say(name, contradiction(frame));
    }
    if let Some(more) = recovery.contradicted.len().checked_sub(LINES + 1) {
        let more = count(more as u64 + 1, "more frame");
        talk.say(
            name,
            format_args!("... and {more} like that; --json lists all"),
        );
    }
}

/// Describes a lost range. The end is not included, as with `cat --range`.
fn describe(lost: &Lost) -> String {
    match *lost {
        Lost {
            start,
            end: Some(end),
        } => {
            format!("lost bytes {start}..{end} ({})", count(end - start, "byte"))
        }
        Lost { start, end: None } => {
            format!("lost all data at byte {start}: the rest cannot be read")
        }
    }
}

/// Describes the lost ranges that get no line of their own.
fn rest(more: &[Lost]) -> String {
    let size = |lost: &Lost| lost.end.map_or(0, |end| end - lost.start);
    let bytes = more.iter().map(size).fold(0, u64::saturating_add);
    let parts = count(more.len() as u64, "more lost part");
    let bytes = count(bytes, "byte");
    format!("... and {parts}, {bytes} in all; --json lists all")
}

/// Describes a frame whose footer contradicts the blocks saved from it.
fn contradiction(frame: &Range<u64>) -> String {
    let Range { start, end } = frame;
    format!(
        "bytes {start}..{end} do not match the checksum of their frame: a part is missing or \
         wrong, and it is not known which"
    )
}

/// The result of recovering a file, as `--json` shows it. Fields that are added later do not
/// replace these.
#[derive(Serialize)]
struct RecoveryReport {
    name: String,
    blocks: u64,
    saved_size: u64,
    complete: bool,
    lost: Vec<LostPart>,
    contradicted: Vec<LostPart>,
    /// Raw bytes of blocks, and number of frames, that another release of bwz reads.
    unsupported_size: u64,
    unsupported_frames: u64,
}

/// A lost range. `end` is null if the size of the loss is unknown.
#[derive(Serialize)]
struct LostPart {
    start: u64,
    end: Option<u64>,
}

fn print_json(name: &Name, recovery: &Recovery) -> io::Result<()> {
    let frame = |range: &Range<u64>| LostPart {
        start: range.start,
        end: Some(range.end),
    };
    let report = RecoveryReport {
        name: name.to_string(),
        blocks: recovery.blocks,
        saved_size: recovery.raw_size,
        complete: recovery.is_complete(),
        lost: recovery
            .lost
            .iter()
            .map(|&Lost { start, end }| LostPart { start, end })
            .collect(),
        contradicted: recovery.contradicted.iter().map(frame).collect(),
        unsupported_size: recovery.unsupported,
        unsupported_frames: recovery.unsupported_frames,
    };
    crate::cli::report::screen::print_json(&report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_ranges_are_half_open() {
        let lost = Lost {
            start: 10,
            end: Some(11),
        };
        assert_eq!(describe(&lost), "lost bytes 10..11 (1 byte)");
        assert!(
            describe(&Lost {
                start: 10,
                end: None
            })
            .contains("at byte 10")
        );
    }

    #[test]
    fn what_gets_no_line_is_added_up() {
        let lost = [
            Lost {
                start: 5,
                end: Some(10),
            },
            Lost {
                start: 10,
                end: None,
            },
        ];
        let said = rest(&lost);
        assert!(said.contains("2 more lost parts, 5 bytes in all") && said.contains("--json"));
    }
}
