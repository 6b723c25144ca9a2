//! `bwz head` and `bwz tail`: the ends of files, by lines or by bytes. Their options and titles are
//! those of the commands of the same names for files that are not compressed.

use crate::cli::arguments::part_args::{EndArgs, Follow, HeadArgs, TailArgs};
use crate::cli::arguments::span::{Beyond, Span};
use crate::cli::files::file_parts::{self, Parts, Request};
use crate::cli::files::follow::{self, Following, Unit};
use crate::cli::files::named_files::{self, Directories};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use bwz::Error;
use std::slice;

/// The end of each file that is written.
struct Ends<'a> {
    lines: Span,
    bytes: Option<Span>,
    of: &'a EndArgs,
}

pub(crate) fn head(args: &HeadArgs) -> Exit {
    write(&Ends {
        lines: args.lines,
        bytes: args.bytes,
        of: &args.ends,
    })
}

pub(crate) fn tail(args: &TailArgs) -> Exit {
    if let Some(how) = args.following() {
        return follow_file(args, how);
    }
    write(&Ends {
        lines: args.lines,
        bytes: args.bytes,
        of: &args.ends,
    })
}

/// Follows the one file.
fn follow_file(args: &TailArgs, how: Follow) -> Exit {
    if args.ends.files.len() > 1 {
        return console::fail(&Error::Usage("-f follows one file".into()));
    }
    let options = args.ends.reading.options();
    let event_lines = EventLines::default();
    let (end, unit) = match args.bytes {
        Some(bytes) => (bytes, Unit::Bytes),
        None => (args.lines, Unit::Lines),
    };
    let request = Following {
        end,
        unit,
        follow: how,
        talk: args.ends.reading.talk,
    };
    named_files::each(
        &args.ends.files,
        Directories::Refused,
        args.ends.reading.talk,
        Activity::Reading,
        |name| follow::run(name, request, &options, &event_lines),
    )
}

/// Writes the ends of all files. If there are several, each has a title, unless -q is given.
fn write(ends: &Ends) -> Exit {
    let files = &ends.of.files;
    let reading = &ends.of.reading;
    let options = reading.options();
    let event_lines = EventLines::default();
    let has_titles = files.len() > 1 && !reading.talk.quiet;
    let mut before = "";
    named_files::each(
        files,
        Directories::Refused,
        reading.talk,
        Activity::Reading,
        |name| {
            let options = event_lines.add_to(&options, name, reading.talk, None);
            let request = Request {
                parts: match &ends.bytes {
                    Some(span) => Parts::Bytes(slice::from_ref(span)),
                    None => Parts::Lines(slice::from_ref(&ends.lines)),
                },
                beyond: Beyond::Cut,
                limits: &reading.limits,
                talk: reading.talk,
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
