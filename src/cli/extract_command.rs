//! `bwz extract`: ranges of files to standard output, by the index where there is one.

use super::args::Limits;
use super::console::Task;
use super::exit::Exit;
use super::files;
use super::input;
use super::output::Output;
use super::search_args::ExtractArgs;
use super::size::count;
use bwz::{Archive, Error, RangeCost, Result};
use std::io::Write;
use std::ops::Range;

/// Longer ranges are decoded block by block, and never held in memory as a whole.
const SHORT: u64 = 1 << 20;

/// Writes the ranges of each file.
pub fn run(args: &ExtractArgs) -> Exit {
    let options = args.limits.add_to(args.resources.options()).verify(args.verify);
    files::each(&args.files, None, args.talk, Task::Reading, |name| {
        let file = input::open_seekable(name)?;
        let mut output = Output::stdout(Some(&file.metadata()?))?;
        let mut archive = Archive::open(file, &options)?;
        let raw_size = archive.raw_size();
        let ranges: Vec<_> = args.range.iter().map(|span| span.within(raw_size)).collect();
        check(&ranges, &args.limits)?;
        let mut read = RangeCost::default();
        for range in ranges {
            if range.end.saturating_sub(range.start) > SHORT {
                let cost = archive.read_range(range, &mut output)?;
                read.blocks += cost.blocks;
                read.coded_bytes += cost.coded_bytes;
            } else {
                output.write_all(&archive.extract(range)?)?;
            }
        }
        output.finish(None, false)?;
        let cost = archive.search_cost();
        let slices = count(cost.slices, "slice");
        let blocks = count(cost.blocks + read.blocks, "block");
        let bytes = count(cost.coded_bytes + read.coded_bytes, "byte");
        args.talk.report(name, format_args!("{bytes} read, {slices} and {blocks} decoded"));
        Ok(())
    })
}

/// Refuses ranges that are too much together, before any of them is written.
fn check(ranges: &[Range<u64>], limits: &Limits) -> Result<()> {
    let sizes = ranges.iter().map(|range| range.end.saturating_sub(range.start));
    let (needed, allowed) =
        (sizes.fold(0, u64::saturating_add), limits.limit_output.unwrap_or(u64::MAX));
    match needed <= allowed {
        true => Ok(()),
        false => Err(Error::OutputLimit { what: "what is asked for".into(), needed, allowed }),
    }
}
