//! `bwz recover`: what is whole of a damaged file, and a list of what is not.

use super::args::RecoverArgs;
use super::console::{self, Task};
use super::exit::Exit;
use super::files::Name;
use super::input;
use super::output::{Destination, Output, Rules};
use super::progress::Progress;
use super::size::{count, human};
use bwz::{Lost, Recovery, Result};

/// Saves what can be saved of the file; losses are damage.
pub fn run(args: &RecoverArgs) -> Exit {
    let name = Name::from(args.file.as_path());
    match recover(&name, args) {
        Ok(recovery) => report(&name, &recovery, args),
        Err(e) => console::fail_with(&e, &name, Task::Recovering),
    }
}

fn recover(name: &Name, args: &RecoverArgs) -> Result<Recovery> {
    let file = input::open_seekable(name)?;
    let metadata = file.metadata()?;
    let rules = Rules {
        force: args.force,
        compressed: false,
        input: Some(&metadata),
        pattern: Some(&metadata),
    };
    let mut output = Output::open(Destination::chosen(&args.output), &rules)?;
    let progress = Progress::start(name, Some(metadata.len()), args.talk, !output.is_terminal());
    let recovery = bwz::recover(progress.count(file), &mut output, &args.resources.options())?;
    drop(progress);
    output.finish(Some(&metadata), false)?;
    Ok(recovery)
}

fn report(name: &Name, recovery: &Recovery, args: &RecoverArgs) -> Exit {
    for lost in &recovery.lost {
        args.talk.tell(name, describe(lost));
    }
    let saved = format!("{}, {}", count(recovery.blocks, "block"), human(recovery.raw_size));
    if recovery.lost.is_empty() {
        args.talk.report(name, format_args!("saved {saved}; nothing is lost"));
        return Exit::Fine;
    }
    args.talk.tell(name, format_args!("saved {saved}; the lost parts are left out of the output"));
    Exit::Damaged
}

/// A lost range in words; the end is not included, as with `cat --range`.
fn describe(lost: &Lost) -> String {
    match *lost {
        Lost { start, end: Some(end) } => {
            format!("lost bytes {start}..{end} ({})", count(end - start, "byte"))
        }
        Lost { start, end: None } => {
            format!("lost whatever came at byte {start}: what follows cannot be read")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_ranges_are_half_open() {
        let lost = Lost { start: 10, end: Some(11) };
        assert_eq!(describe(&lost), "lost bytes 10..11 (1 byte)");
        assert!(describe(&Lost { start: 10, end: None }).contains("at byte 10"));
    }
}
