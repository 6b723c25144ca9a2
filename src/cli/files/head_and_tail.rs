//! `bwz head` and `bwz tail`: the ends of files, by lines or by bytes. Their options and titles are
//! those of the commands of the same names for files that are not compressed.

use crate::cli::arguments::part_args::{Follow, HeadArgs, TailArgs};
use crate::cli::arguments::shared_args::{Limits, Resources, Talk};
use crate::cli::arguments::span::{Beyond, Span};
use crate::cli::files::file_parts::{self, Parts, Request};
use crate::cli::files::follow::{self, Following, Unit};
use crate::cli::files::named_files::{self, Directories};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use bwz::Error;
use std::path::PathBuf;
use std::slice;

/// The end of each file that is written.
struct Ends<'a> {
    files: &'a [PathBuf],
    lines: Span,
    bytes: Option<Span>,
    limits: &'a Limits,
    resources: &'a Resources,
    talk: Talk,
}

pub(crate) fn head(args: &HeadArgs) -> Exit {
    write(&Ends {
        files: &args.files,
        lines: args.lines,
        bytes: args.bytes,
        limits: &args.limits,
        resources: &args.resources,
        talk: args.talk,
    })
}

pub(crate) fn tail(args: &TailArgs) -> Exit {
    if let Some(how) = args.following() {
        return follow_file(args, how);
    }
    write(&Ends {
        files: &args.files,
        lines: args.lines,
        bytes: args.bytes,
        limits: &args.limits,
        resources: &args.resources,
        talk: args.talk,
    })
}

/// Follows the one file.
fn follow_file(args: &TailArgs, how: Follow) -> Exit {
    if args.files.len() > 1 {
        return console::fail(&Error::Usage("-f follows one file".into()));
    }
    let options = args.limits.add_to(args.resources.options());
    let event_lines = EventLines::default();
    let (end, unit) = match args.bytes {
        Some(bytes) => (bytes, Unit::Bytes),
        None => (args.lines, Unit::Lines),
    };
    let request = Following {
        end,
        unit,
        follow: how,
        talk: args.talk,
    };
    named_files::each(
        &args.files,
        Directories::Refused,
        args.talk,
        Activity::Reading,
        |name| follow::run(name, request, &options, &event_lines),
    )
}

/// Writes the ends of all files. If there are several, each has a title, unless -q is given.
fn write(ends: &Ends) -> Exit {
    let options = ends.limits.add_to(ends.resources.options());
    let event_lines = EventLines::default();
    let has_titles = ends.files.len() > 1 && !ends.talk.quiet;
    let mut before = "";
    named_files::each(
        ends.files,
        Directories::Refused,
        ends.talk,
        Activity::Reading,
        |name| {
            let options = event_lines.add_to(&options, name, ends.talk, None);
            let request = Request {
                parts: match &ends.bytes {
                    Some(span) => Parts::Bytes(slice::from_ref(span)),
                    None => Parts::Lines(slice::from_ref(&ends.lines)),
                },
                beyond: Beyond::Cut,
                limits: ends.limits,
                talk: ends.talk,
            };
            let title = match has_titles {
                true => format!("{before}==> {name} <==\n"),
                false => String::new(),
            };
            file_parts::write(name, &request, &options, &title)?;
            before = "\n";
            Ok(())
        },
    )
}
