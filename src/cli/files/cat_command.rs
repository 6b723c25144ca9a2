//! `bwz cat`: writes whole files, or parts of them, to standard output.

use crate::cli::arguments::part_args::CatArgs;
use crate::cli::arguments::size::count;
use crate::cli::files::file_parts::{self, Parts, Request};
use crate::cli::files::input::{self, OpenInput};
use crate::cli::files::input_name::Name;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::files::output::Output;
use crate::cli::files::stoppable_input::Stop;
use crate::cli::report::console::Activity;
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::progress_bar::Progress;
use crate::cli::report::work_estimate::{Direction, WorkEstimate};
use bwz::{Options, Result};

/// Writes each file, or parts of each file.
pub(crate) fn run(args: &CatArgs) -> Exit {
    let options = args.reading.options();
    let event_lines = EventLines::default();
    named_files::each(
        &args.files,
        Directories::Refused,
        args.reading.talk,
        Activity::Reading,
        |name| {
            let listening = |steps, stop| {
                let lines = event_lines.moving(steps);
                lines.add_to(&options, name, args.reading.talk, stop)
            };
            match parts(args) {
                None => whole(name, args, listening),
                Some(parts) => {
                    let request = Request {
                        parts,
                        beyond: args.clamp.beyond(),
                        limits: &args.reading.limits,
                        talk: args.reading.talk,
                    };
                    file_parts::write(
                        name,
                        &request,
                        &listening(WorkEstimate::default(), None),
                        "",
                    )
                }
            }
        },
    )
}

/// The parts that are asked for. `None` if it is the whole file.
fn parts(args: &CatArgs) -> Option<Parts<'_>> {
    let CatArgs {
        range,
        lines,
        between,
        member,
        ..
    } = args;
    match (&range[..], &lines[..], &between[..]) {
        _ if !member.is_empty() => Some(Parts::Members(member)),
        ([], [], []) => None,
        (ranges @ [_, ..], ..) => Some(Parts::Bytes(ranges)),
        (_, lines @ [_, ..], _) => Some(Parts::Lines(lines)),
        (.., keys) => Some(Parts::Between(keys)),
    }
}

/// Reads a file from front to end, which checks the whole stream and needs no seeking.
fn whole(
    name: &Name,
    args: &CatArgs,
    listening: impl FnOnce(WorkEstimate, Option<Stop>) -> Options,
) -> Result<()> {
    if *name == Name::Stdin {
        input::refuse_terminal()?;
    }
    let OpenInput {
        mut source,
        about,
        stop,
    } = OpenInput::open(name, true)?;
    source.read_beside(args.reading.resources.thread_count());
    let mut output = Output::stdout(about.regular())?;
    let progress = Progress::start(name, about.size(), args.reading.talk, !output.is_terminal());
    // A reader such as head closes its end after a few lines, so the first block is decoded alone.
    let options = listening(progress.steps(Direction::Restore), stop).first_block_alone(true);
    let summary = bwz::decompress(progress.count(source), &mut output, &options)?;
    drop(progress);
    let written = count(summary.raw_size, "byte");
    let read = count(summary.coded_size, "byte");
    args.reading.talk.report(
        name,
        format_args!("all blocks decoded, {read} read, {written} written"),
    );
    Ok(())
}
