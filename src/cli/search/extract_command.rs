//! `bwz extract`: writes ranges of files, and regions of records, to standard output. It uses the
//! index if there is one.

use crate::cli::arguments::search_args::ExtractArgs;
use crate::cli::arguments::size::read_cost;
use crate::cli::files::input;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::files::output::Output;
use crate::cli::report::console::Activity;
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::search::extract_regions::write_regions;
use bwz::{Archive, ReadCost};
use std::io::Write;

/// Maximum bytes of a range that is held in memory. Longer ranges are decoded block by block.
const SHORT: u64 = 1 << 20;

/// Writes the ranges of each file.
pub(crate) fn run(args: &ExtractArgs) -> Exit {
    let options = args.reading.options().verify(args.verify);
    let event_lines = EventLines::default();
    named_files::each(
        &args.files,
        Directories::Refused,
        args.reading.talk,
        Activity::Reading,
        |name| {
            let options = event_lines.add_to(&options, name, args.reading.talk, None);
            let file = input::open_seekable(name)?;
            let mut output = Output::stdout(Some(&file.metadata()?))?;
            let mut archive = Archive::open(file, &options)?;
            if args.range.is_empty() {
                write_regions(args, name, &mut archive, &mut output)?;
            }
            let raw_size = archive.raw_size();
            let ranges: Vec<_> = args
                .range
                .iter()
                .map(|span| span.within(raw_size, "bytes", args.clamp.beyond()))
                .collect::<bwz::Result<_>>()?;
            args.reading.limits.check(&ranges)?;
            let mut cost = ReadCost::default();
            for range in ranges {
                if range.end.saturating_sub(range.start) > SHORT {
                    cost += archive.read_range(range, &mut output)?;
                } else {
                    output.write_all(&archive.extract(range)?)?;
                }
            }
            output.finish(None, false)?;
            cost += archive.search_cost();
            args.reading.talk.report(name, read_cost(cost));
            Ok(())
        },
    )
}
