//! The parts of a file that `cat`, `head` and `tail` write: ranges of bytes, ranges of lines, and
//! lines between two keys. For `cat` also the members of a tar archive.

use crate::cli::arguments::args::{Limits, Talk};
use crate::cli::arguments::size::count;
use crate::cli::arguments::span::{Beyond, Span};
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::files::member_names;
use crate::cli::files::output::Output;
use crate::cli::report::progress_bar::Progress;
use bwz::{Archive, Lines, Options, ReadCost, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// The parts that are asked for.
pub(crate) enum Parts<'a> {
    Bytes(&'a [Span]),
    Lines(&'a [Span]),
    /// Pairs of keys.
    Between(&'a [OsString]),
    /// Names of members of a tar archive.
    Members(&'a [OsString]),
}

/// The request for parts of files.
pub(crate) struct Request<'a> {
    pub parts: Parts<'a>,
    pub beyond: Beyond,
    pub limits: &'a Limits,
    pub talk: Talk,
}

/// Writes the parts of a file to standard output, one after the other, behind `title`. Only the
/// blocks that hold them are decoded.
pub(crate) fn write(name: &Name, request: &Request, options: &Options, title: &str) -> Result<()> {
    let file = input::open_seekable(name)?;
    let mut output = Output::stdout(Some(&file.metadata()?))?;
    let progress = Progress::start(name, None, request.talk, !output.is_terminal());
    let mut archive = Archive::open(file, options)?;
    let blocks = archive.blocks().len();
    let cost = match request.parts {
        Parts::Bytes(spans) => write_bytes(&mut archive, spans, request, &mut output, title)?,
        Parts::Lines(spans) => {
            let mut lines = archive.lines()?;
            let ranges = ranges_of_lines(&mut lines, spans, request.beyond)?;
            write_lines(&mut lines, &ranges, request, &mut output, title)?
        }
        Parts::Between(keys) => {
            let mut lines = archive.lines()?;
            let ranges: Vec<_> = keys
                .chunks_exact(2)
                .map(|pair| lines.between(pair[0].as_bytes(), pair[1].as_bytes()))
                .collect::<Result<_>>()?;
            write_lines(&mut lines, &ranges, request, &mut output, title)?
        }
        Parts::Members(names) => write_members(&mut archive, names, request, &mut output)?,
    };
    drop(progress);
    let decoded = count(cost.blocks, "block");
    let read = count(cost.coded_bytes, "byte");
    request.talk.report(
        name,
        format_args!("{decoded} of {blocks} decoded, {read} read for them"),
    );
    Ok(())
}

fn write_bytes(
    archive: &mut Archive<File>,
    spans: &[Span],
    request: &Request,
    output: &mut Output,
    title: &str,
) -> Result<ReadCost> {
    let size = archive.raw_size();
    let ranges: Vec<_> = spans
        .iter()
        .map(|span| span.within(size, "bytes", request.beyond))
        .collect::<Result<_>>()?;
    request.limits.check(&ranges)?;
    output.write_all(title.as_bytes())?;
    let mut cost = ReadCost::default();
    for range in ranges {
        cost += archive.read_range(range, &mut *output)?;
    }
    Ok(cost)
}

fn write_lines(
    lines: &mut Lines<'_, File>,
    ranges: &[Range<u64>],
    request: &Request,
    output: &mut Output,
    title: &str,
) -> Result<ReadCost> {
    request.limits.check(ranges)?;
    output.write_all(title.as_bytes())?;
    for range in ranges {
        lines.write(range.clone(), &mut *output)?;
    }
    Ok(lines.cost())
}

fn write_members(
    archive: &mut Archive<File>,
    names: &[OsString],
    request: &Request,
    output: &mut Output,
) -> Result<ReadCost> {
    let members = archive.members()?;
    let mut wanted = Vec::new();
    for name in names {
        wanted.extend(member_names::find(archive, &members, name)?);
    }
    let sizes: Vec<_> = wanted
        .iter()
        .map(|member| 0..member.size)
        .collect();
    request.limits.check(&sizes)?;
    let mut cost = ReadCost::default();
    for member in wanted {
        cost += archive.read_member(member, &mut *output)?;
    }
    match archive.tar_breaks_off() {
        None => Ok(cost),
        Some(at) => Err(member_names::broken(at)),
    }
}

/// The raw bytes of ranges of lines. The number of all lines is found if the ranges need it.
fn ranges_of_lines(
    lines: &mut Lines<'_, File>,
    spans: &[Span],
    beyond: Beyond,
) -> Result<Vec<Range<u64>>> {
    let known = lines.line_feeds();
    let is_known = spans
        .iter()
        .all(|span| span.is_surely_within(known));
    let size = match is_known {
        true => known,
        false => lines.count()?,
    };
    spans
        .iter()
        .map(|span| lines.range(span.within(size, "lines", beyond)?))
        .collect()
}
