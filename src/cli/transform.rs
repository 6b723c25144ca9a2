//! Compress, decompress, test: one file after the other, each from an open input to a finished output.

use super::args::{FileArgs, Mode};
use super::console::Task;
use super::events::Told;
use super::exit::Exit;
use super::files::{self, Name};
use super::input::{self, Input};
use super::output::{self, Destination, Output, Rules};
use super::progress::Progress;
use super::size::{human, ratio_text};
use super::{console, list};
use bwz::{Error, MAGIC, Options, Result, Summary};
use std::fs::{self, Metadata};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// Does what the arguments ask for with each file.
pub fn run(args: &FileArgs) -> Exit {
    let resources = || args.resources.options().effort(args.effort.chosen());
    let options = || args.index.add_to(resources().level(args.level.0)?);
    match check(args).and_then(|()| options()) {
        Err(e) => console::fail(&e),
        Ok(options) if args.mode.mode() == Mode::List => list::run(args, &options),
        Ok(options) => {
            let told = Told::default();
            let transform = Transform { args, mode: args.mode.mode(), options, told };
            let task = match transform.mode {
                Mode::Compress => Task::Compressing,
                _ => Task::Reading,
            };
            files::each(&args.files, walk(args), args.talk, task, |name| transform.one(name))
        }
    }
}

/// What clap cannot know: which arguments make no sense together.
fn check(args: &FileArgs) -> Result<()> {
    let usage = |what: &'static str| Err(Error::Usage(what.into()));
    match (args.mode.mode(), &args.output) {
        (Mode::Test | Mode::List, Some(_)) => usage("-t and -l write no file: leave out -o"),
        (_, Some(_)) if args.files.len() > 1 => {
            usage("-o takes one file; -c writes several behind each other")
        }
        (mode, _) if args.json && mode != Mode::List => usage("--json goes with -l"),
        _ => Ok(()),
    }
}

/// Which files in a directory are taken, if directories are walked.
pub fn walk(args: &FileArgs) -> Option<fn(&Path) -> bool> {
    let wanted = match args.mode.mode() {
        Mode::Compress => files::has_no_suffix,
        _ => files::has_suffix,
    };
    args.recursive.then_some(wanted)
}

struct Transform<'a> {
    args: &'a FileArgs,
    mode: Mode,
    options: Options,
    told: Told,
}

impl Transform<'_> {
    /// From opening the input to, at most, removing it. Whatever fails on the way, the output is gone.
    fn one(&self, name: &Name) -> Result<()> {
        let destination = self.destination(name)?;
        let Input { source, about } = self.input(name, &destination)?;
        let rules = Rules {
            force: self.args.force,
            compressed: self.mode == Mode::Compress,
            input: about.regular(),
            pattern: about.pattern(),
        };
        let passes = self.args.force && matches!(destination, Destination::Stdout);
        let mut output = Output::open(destination, &rules)?;
        if self.mode == Mode::Decompress && !self.args.no_sparse {
            output.leave_holes();
        }
        let started = Instant::now();
        let progress = Progress::start(name, about.size(), self.args.talk, !output.is_terminal());
        let summary = self.convert(name, progress.count(source), &mut output, passes)?;
        drop(progress);
        let written = output.finish(about.pattern())?;
        if let (Name::File(input), Some(output), true) = (name, written, self.args.remove) {
            remove(input, about.regular(), &output)?;
        }
        let outcome = outcome(self.mode, &summary, started.elapsed());
        self.args.talk.report(name, outcome);
        Ok(())
    }

    fn input(&self, name: &Name, destination: &Destination) -> Result<Input> {
        let force = self.args.force;
        if *name == Name::Stdin && self.mode != Mode::Compress && !force {
            input::refuse_terminal()?;
        }
        let makes_no_file = matches!(destination, Destination::Nowhere | Destination::Stdout);
        Input::open(name, force || makes_no_file)
    }

    /// What is not compressed is copied if it `passes`.
    fn convert(
        &self,
        name: &Name,
        input: impl Read + Send,
        output: &mut Output,
        passes: bool,
    ) -> Result<Summary> {
        let options = self.told.listening(&self.options, name, self.args.talk);
        match self.mode {
            Mode::Compress => bwz::compress(input, output, &options),
            _ if passes => restore_or_copy(input, output, &options),
            _ => bwz::decompress(input, output, &options),
        }
    }

    fn destination(&self, name: &Name) -> Result<Destination> {
        match (self.mode, &self.args.output, name) {
            (Mode::Test, ..) => Ok(Destination::Nowhere),
            (_, Some(path), _) => Ok(Destination::chosen(path)),
            (_, None, Name::Stdin) => Ok(Destination::Stdout),
            (..) if self.args.stdout => Ok(Destination::Stdout),
            (Mode::Compress, _, Name::File(path)) => compressed(path, self.args.force),
            (_, _, Name::File(path)) => restored(path),
        }
    }
}

/// Copies a file that is none of ours as it is, so that one command reads both kinds, as others of its kind do.
fn restore_or_copy(
    mut input: impl Read + Send,
    output: &mut Output,
    options: &Options,
) -> Result<Summary> {
    let mut start = Vec::new();
    input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
    let is_ours = start == MAGIC;
    let mut input = Cursor::new(start).chain(input);
    if is_ours {
        return bwz::decompress(input, output, options);
    }
    let mut summary = Summary::default();
    summary.raw_size = io::copy(&mut input, output)?;
    summary.coded_size = summary.raw_size;
    Ok(summary)
}

fn compressed(path: &Path, force: bool) -> Result<Destination> {
    if files::has_suffix(path) && !force {
        return Err(Error::Usage(
            "is compressed already by its name; -f compresses it all the same".into(),
        ));
    }
    Ok(Destination::Derived(files::compressed(path)))
}

fn restored(path: &Path) -> Result<Destination> {
    files::restored(path).map(Destination::Derived).ok_or_else(|| {
        Error::Usage(
            "its name does not end in .bwz or .tbwz; say with -o FILE or -c where to".into(),
        )
    })
}

/// Removes an input whose output is on disk; not if another file has taken its name, or it has changed meanwhile.
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
