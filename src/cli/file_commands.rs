//! `bwz FILE...`: compress, decompress, test. One file after the other, each from an open input to
//! a finished output.

use super::args::{FileArgs, Mode};
use super::console::Activity;
use super::event_lines::EventLines;
use super::exit::Exit;
use super::files;
use super::input::{self, InputSource, OpenInput};
use super::input_name::Name;
use super::output::{self, Destination, Output, Rules};
use super::process_ranks;
use super::progress_bar::Progress;
use super::size::{human, ratio_text};
use super::{console, list_command};
use bwz::{Error, MAGIC, Options, Result, Summary};
use std::fs::{self, Metadata};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Does what the arguments ask for with each file.
pub fn run(args: &FileArgs) -> Exit {
    work_on_all(args).unwrap_or_else(|exit| exit)
}

fn work_on_all(args: &FileArgs) -> Result<Exit, Exit> {
    let fail = |e: Error| console::fail(&e);
    let options = options(args).map_err(fail)?;
    let wanted: files::Wanted = &|path| wanted(args, path);
    let walk = args.recursive.then_some(wanted);
    let (mode, task) = match args.mode.mode() {
        Mode::List => return Ok(list_command::run(args, walk, &options)),
        Mode::Compress => (Mode::Compress, Activity::Compressing),
        mode => (mode, Activity::Reading),
    };
    let options = process_ranks::join(args, options)?;
    let event_lines = EventLines::with(args.trace.as_deref(), args.force).map_err(fail)?;
    let job = FileJob { args, mode, options, event_lines };
    let worst = files::each(&args.files, walk, args.talk, task, |name| job.one(name));
    let ended = job.event_lines.end(args.talk).map_err(fail);
    Ok(worst.max(ended.err().unwrap_or_default()))
}

fn options(args: &FileArgs) -> Result<Options> {
    check(args)?;
    let options = args.limits.add_to(args.resources.options()).effort(args.effort.chosen());
    let options = args.block_size.add_to(options.verify(args.verify))?;
    args.index.add_to(args.split_at.into_iter().fold(options, Options::split_at))
}

/// What clap cannot know: which arguments make no sense together.
fn check(args: &FileArgs) -> Result<()> {
    let usage = |what: &'static str| Err(Error::Usage(what.into()));
    match (args.mode.mode(), &args.output) {
        (Mode::Test | Mode::List, Some(_)) => usage("-t and -l write no file: leave out -o"),
        (_, Some(_)) if args.files.len() > 1 => {
            usage("-o takes one file; -c writes several behind each other")
        }
        (Mode::List, _) if args.trace.is_some() => usage("--trace goes with -z, -d and -t"),
        (mode, _) if args.records && mode != Mode::List => usage("--records goes with -l"),
        (mode, _) if args.json && mode != Mode::List => usage("--json goes with -l"),
        (Mode::Compress | Mode::List, _) if args.limits.limit_output.is_some() => {
            usage("--limit-output goes with -d and -t")
        }
        _ => Ok(()),
    }
}

/// Whether a file in a directory that is walked is taken: by its name it is compressed, or is not.
fn wanted(args: &FileArgs, path: &Path) -> bool {
    files::has_suffix(path, args.suffix.as_deref()) == (args.mode.mode() != Mode::Compress)
}

struct FileJob<'a> {
    args: &'a FileArgs,
    mode: Mode,
    options: Options,
    event_lines: EventLines,
}

impl FileJob<'_> {
    /// From opening the input to, at most, removing it. Whatever fails on the way, the output is
    /// gone.
    fn one(&self, name: &Name) -> Result<()> {
        let destination = self.destination(name)?;
        let OpenInput { mut source, about, stop } = self.input(name, &destination)?;
        source.read_beside(self.args.resources.thread_count());
        let rules = Rules {
            force: self.args.force,
            compressed: self.mode == Mode::Compress,
            input: about.regular(),
            attributes: about.attributes(),
        };
        let passes = self.args.force && matches!(destination, Destination::Stdout);
        let mut output = Output::open(destination, &rules)?;
        if self.mode == Mode::Decompress && !self.args.no_sparse {
            output.leave_holes();
        }
        let started = Instant::now();
        let progress = Progress::start(name, about.size(), self.args.talk, !output.is_terminal());
        let options = self.event_lines.add_to(&self.options, name, self.args.talk, stop);
        let options = options.input_size(about.size().unwrap_or(0));
        let summary = self.convert(progress.count(&mut source), &mut output, &options, passes)?;
        drop(progress);
        let written = output.finish(about.attributes(), self.args.remove)?;
        check_unchanged(&source, about.regular())?;
        if let (Name::File(input), Some(output), true) = (name, written, self.args.remove) {
            remove(input, about.regular(), &output)?;
        }
        let outcome = outcome(self.mode, &summary, started.elapsed());
        self.args.talk.report(name, outcome);
        Ok(())
    }

    fn input(&self, name: &Name, destination: &Destination) -> Result<OpenInput> {
        let force = self.args.force;
        if *name == Name::Stdin && self.mode != Mode::Compress && !force {
            input::refuse_terminal()?;
        }
        let makes_no_file = matches!(destination, Destination::Nowhere | Destination::Stdout);
        OpenInput::open(name, force || makes_no_file)
    }

    /// What is not compressed is copied if it `passes`.
    fn convert(
        &self,
        input: impl Read + Send,
        output: &mut Output,
        options: &Options,
        passes: bool,
    ) -> Result<Summary> {
        match self.mode {
            Mode::Compress => bwz::compress(input, output, options),
            _ if passes => restore_or_copy(input, output, options, self.args.limits.limit_output),
            _ => bwz::decompress(input, output, options),
        }
    }

    fn destination(&self, name: &Name) -> Result<Destination> {
        match (self.mode, &self.args.output, name) {
            (Mode::Test, ..) => Ok(Destination::Nowhere),
            (_, Some(path), _) => Ok(Destination::chosen(path)),
            (_, None, Name::Stdin) => Ok(Destination::Stdout),
            (..) if self.args.stdout => Ok(Destination::Stdout),
            (Mode::Compress, _, Name::File(path)) => self.compressed(path),
            (_, _, Name::File(path)) => self.decompressed_name(path),
        }
    }

    fn compressed(&self, path: &Path) -> Result<Destination> {
        let suffix = self.args.suffix.as_deref();
        if files::has_suffix(path, suffix) && !self.args.force {
            return Err(Error::Usage(
                "is compressed already by its name; -f compresses it all the same".into(),
            ));
        }
        Ok(Destination::Derived(files::compressed(path, suffix)))
    }

    fn decompressed_name(&self, path: &Path) -> Result<Destination> {
        let name = files::decompressed_name(path, self.args.suffix.as_deref());
        name.map(Destination::Derived).ok_or_else(|| {
            Error::Usage(
                "its name does not end in .bwz or .tbwz; say with -o FILE or -c where to, or with -S what it ends in"
                    .into(),
            )
        })
    }
}

/// Says so of an input whose size or time is not what it was when it was opened.
fn check_unchanged(source: &InputSource, opened: Option<&Metadata>) -> Result<()> {
    let state = |m: &Metadata| (m.len(), m.mtime(), m.mtime_nsec());
    match opened {
        Some(opened) if state(opened) != state(&source.metadata()?) => Err(Error::Usage(
            "changed while it was read; the output holds what was read, and the file is kept"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// Copies a file that is none of ours as it is, so that one command reads both kinds, as others of
/// its kind do.
fn restore_or_copy(
    mut input: impl Read + Send,
    output: &mut Output,
    options: &Options,
    limit: Option<u64>,
) -> Result<Summary> {
    let mut start = Vec::new();
    input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
    let is_ours = start == MAGIC;
    let mut input = Cursor::new(start).chain(input);
    if is_ours {
        return bwz::decompress(input, output, options);
    }
    let mut summary = Summary::default();
    let allowed = limit.unwrap_or(u64::MAX);
    summary.raw_size = io::copy(&mut input.by_ref().take(allowed), output)?;
    if summary.raw_size == allowed && input.read(&mut [0])? > 0 {
        let what = "what is not compressed, and copied,".into();
        return Err(Error::OutputLimit { what, needed: allowed.saturating_add(1), allowed });
    }
    summary.coded_size = summary.raw_size;
    Ok(summary)
}

/// Removes an input whose output is on disk; not if another file has taken its name, or it has
/// changed meanwhile.
fn remove(input: &Path, opened: Option<&Metadata>, output: &Path) -> Result<()> {
    output::sync_name(output)?;
    let there = fs::metadata(input)?;
    match opened {
        Some(opened) if input::is_unchanged(opened, &there) => Ok(fs::remove_file(input)?),
        _ => Err(Error::Usage("has changed since it was opened; not removed".into())),
    }
}

/// What `-v` says of a file that is done.
fn outcome(mode: Mode, summary: &Summary, took: Duration) -> String {
    let Summary { raw_size, coded_size, .. } = *summary;
    let (from, to) = match mode {
        Mode::Compress => (raw_size, coded_size),
        _ => (coded_size, raw_size),
    };
    let ok = if mode == Mode::Test { "OK, " } else { "" };
    let (ratio, seconds) = (ratio_text(raw_size, coded_size), took.as_secs_f64());
    let speed = raw_size as f64 / 1e6 / seconds.max(1e-9);
    let sizes = format!("{} -> {}", human(from), human(to));
    format!("{ok}{sizes}, ratio {ratio}, {seconds:.2} s, {speed:.1} MB/s")
}
