//! `bwz cat`: writes whole files, or ranges of their bytes, to standard output.

use crate::cli::arguments::args::CatArgs;
use crate::cli::arguments::size::count;
use crate::cli::files::input::{self, OpenInput};
use crate::cli::files::input_name::Name;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::files::output::Output;
use crate::cli::files::stoppable_input::Stop;
use crate::cli::report::console::Activity;
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::progress_bar::Progress;
use bwz::{Archive, Options, ReadCost, Result};
use std::io;

/// Writes each file, or the ranges of each file.
pub(crate) fn run(args: &CatArgs) -> Exit {
    let options = args.limits.add_to(args.resources.options());
    let event_lines = EventLines::default();
    named_files::each(
        &args.files,
        Directories::Refused,
        args.talk,
        Activity::Reading,
        |name| {
            let listening = |stop| event_lines.add_to(&options, name, args.talk, stop);
            match args.range[..] {
                [] => whole(name, args, listening),
                _ => ranges(name, args, &listening(None)),
            }
        },
    )
}

/// Writes the ranges one after the other. Only the blocks that hold them are decoded.
fn ranges(name: &Name, args: &CatArgs, options: &Options) -> Result<()> {
    let file = input::open_seekable(name)?;
    let mut output = Output::stdout(Some(&file.metadata()?))?;
    let progress = Progress::start(name, None, args.talk, !output.is_terminal());
    let mut archive = Archive::open(file, options)?;
    let ranges: Vec<_> = args
        .range
        .iter()
        .map(|span| span.within(archive.raw_size()))
        .collect();
    args.limits.check(&ranges)?;
    let raw_size = archive.raw_size();
    if let Some(beyond) = ranges
        .iter()
        .find(|range| range.start > range.end || range.end > raw_size)
    {
        // Reports a range that is not in the file before anything of another range is written.
        archive.read_range(beyond.clone(), io::sink())?;
    }
    let mut cost = ReadCost::default();
    for range in ranges {
        cost += archive.read_range(range, &mut output)?;
    }
    drop(progress);
    let blocks = count(cost.blocks, "block");
    let all = archive.blocks().len();
    let read = count(cost.coded_bytes, "byte");
    args.talk.report(
        name,
        format_args!("{blocks} of {all} decoded, {read} read for them"),
    );
    Ok(())
}

/// Reads a file from front to end, which checks the whole stream and needs no seeking.
fn whole(
    name: &Name,
    args: &CatArgs,
    listening: impl FnOnce(Option<Stop>) -> Options,
) -> Result<()> {
    if *name == Name::Stdin {
        input::refuse_terminal()?;
    }
    let OpenInput {
        mut source,
        about,
        stop,
    } = OpenInput::open(name, true)?;
    source.read_beside(args.resources.thread_count());
    let mut output = Output::stdout(about.regular())?;
    let progress = Progress::start(name, about.size(), args.talk, !output.is_terminal());
    // A reader such as head closes its end after a few lines, so the first block is decoded alone.
    let options = listening(stop).first_block_alone(true);
    let summary = bwz::decompress(progress.count(source), &mut output, &options)?;
    drop(progress);
    let written = count(summary.raw_size, "byte");
    let read = count(summary.coded_size, "byte");
    args.talk.report(
        name,
        format_args!("all blocks decoded, {read} read, {written} written"),
    );
    Ok(())
}
