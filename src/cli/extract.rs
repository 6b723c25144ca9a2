//! `bwz extract`: ranges of files to standard output, by the index where there is one.

use super::console::Task;
use super::exit::Exit;
use super::files;
use super::input;
use super::output::{Destination, Output, Rules};
use super::search_args::ExtractArgs;
use super::size::count;
use bwz::{Archive, RangeCost};
use std::io::Write;

/// Longer ranges are decoded block by block, and never held in memory as a whole.
const SHORT: u64 = 1 << 20;

/// Writes the ranges of each file.
pub fn run(args: &ExtractArgs) -> Exit {
    let options = args.resources.options();
    files::each(&args.files, None, args.talk, Task::Reading, |name| {
        let file = input::open_seekable(name)?;
        let metadata = file.metadata()?;
        let rules =
            Rules { force: false, compressed: false, input: Some(&metadata), pattern: None };
        let mut output = Output::open(Destination::Stdout, &rules)?;
        let mut archive = Archive::open(file, &options)?;
        let mut read = RangeCost::default();
        for span in &args.range {
            let range = span.within(archive.raw_size());
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
        let segments = count(cost.segments, "segment");
        let blocks = count(cost.blocks + read.blocks, "block");
        let bytes = count(cost.coded_bytes + read.coded_bytes, "byte");
        args.talk.report(name, format_args!("{bytes} read, {segments} and {blocks} decoded"));
        Ok(())
    })
}
