//! `bwz FILE...`: compresses, decompresses or tests. Files are worked on one after the other, each
//! from an open input to a finished output.

use crate::cli::arguments::args::{FileArgs, IndexArgs, IndexOf, Mode};
use crate::cli::arguments::shared_args::Talk;
use crate::cli::arguments::size::{human, index_text, ratio_text};
use crate::cli::files::file_checks;
use crate::cli::files::flushed_stream;
use crate::cli::files::foreign_input::ForeignInput;
use crate::cli::files::input::{self, About, InputSource, OpenInput};
use crate::cli::files::input_name::Name;
use crate::cli::files::known_formats::{self, Format};
use crate::cli::files::list_command;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::files::output::{self, Destination, Output, Rules};
use crate::cli::files::process_ranks;
use crate::cli::report::console;
use crate::cli::report::console::Activity;
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::io_errors::{strip_number, while_writing};
use crate::cli::report::progress_bar::{CountedReads, Progress};
use crate::cli::report::work_estimate::Direction;
use bwz::{Archive, Error, IndexedBlocks, MAGIC, Options, Result, Summary};
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Does with each file what the arguments ask for.
///
/// `asked` holds the arguments of the command line, without the defaults of `BWZ_OPT`.
pub(crate) fn run(asked: &FileArgs, args: &FileArgs) -> Exit {
    work_on_all(asked, args).unwrap_or_else(|exit| exit)
}

fn work_on_all(asked: &FileArgs, args: &FileArgs) -> Result<Exit, Exit> {
    let fail = |e: Error| console::fail(&e);
    file_checks::check(asked, args).map_err(fail)?;
    let options = options(args).map_err(fail)?;
    let files = args
        .files_from
        .add_to(&args.files)
        .map_err(fail)?;
    if files.is_empty() && args.files_from.is_given() {
        return Ok(Exit::Fine);
    }
    let wanted: named_files::Wanted = &|_, path| wanted(args, path);
    let walk = if args.recursive {
        Directories::Walked(wanted)
    } else {
        Directories::Walkable
    };
    let (mode, task) = match args.mode.mode() {
        Mode::List => return Ok(list_command::run(args, &files, walk, &options)),
        Mode::Compress => (Mode::Compress, Activity::Compressing),
        mode => (mode, Activity::Reading),
    };
    let options = process_ranks::join(args, options)?;
    let event_lines =
        EventLines::with(args.trace.first().map(PathBuf::as_path), args.force).map_err(fail)?;
    let job = FileJob {
        args,
        mode,
        options,
        event_lines,
    };
    if let Some(dir) = &args.output_dir {
        job.check_outputs(&files, walk).map_err(fail)?;
        fs::create_dir_all(dir).map_err(|e| fail(while_writing(dir.display(), e).into()))?;
    }
    let worst = named_files::each(&files, walk, args.talk, task, |name| job.one(name));
    let ended = job.event_lines.end(args.talk).map_err(fail);
    Ok(worst.max(ended.err().unwrap_or_default()))
}

fn options(args: &FileArgs) -> Result<Options> {
    let options = args
        .limits
        .add_to(args.resources.options())
        .effort(args.effort.chosen());
    let options = options
        .verify(args.verify)
        .trust_gpus(args.no_verify);
    let options = args.block_size.add_to(options)?;
    args.index.add_to(
        args.split_at
            .into_iter()
            .fold(options, Options::split_at),
    )
}

/// True if a file in a walked directory is taken: one with a compressed file's name, or when
/// compressing one without.
fn wanted(args: &FileArgs, path: &Path) -> bool {
    named_files::has_suffix(path, args.suffix.as_deref()) == (args.mode.mode() != Mode::Compress)
}

/// Compares the tables about records in a file with its blocks. A file that cannot be read by
/// position is left out.
fn check_tables(name: &Name, options: &Options) -> Result<()> {
    let Name::File(path) = name else {
        return Ok(());
    };
    if !fs::metadata(path)?.is_file() {
        return Ok(());
    }
    Archive::open(input::open_seekable(name)?, options)?.check_tables()
}

struct FileJob<'a> {
    args: &'a FileArgs,
    mode: Mode,
    options: Options,
    event_lines: EventLines,
}

impl FileJob<'_> {
    /// Works on one file, from opening the input to removing it if `--rm` is given. If anything
    /// fails on the way, the output is removed.
    fn one(&self, name: &Name) -> Result<()> {
        let destination = self.destination(name)?;
        let OpenInput {
            mut source,
            about,
            stop,
        } = self.input(name, &destination)?;
        self.check_flushes(&destination, &about)?;
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
        let direction = match self.mode {
            Mode::Compress => Direction::Compress,
            _ => Direction::Restore,
        };
        let event_lines = self.event_lines.moving(progress.steps(direction));
        let options = event_lines.add_to(&self.options, name, self.args.talk, stop);
        let options = options.input_size(about.size().unwrap_or(0));
        let input = progress.count(&mut source);
        let summary = match self.mode {
            Mode::Compress => {
                let size = about.regular().map(Metadata::len);
                let size = size.filter(|_| !self.args.decompress_input);
                let stating = self.args.content.add_to(options.clone(), size)?;
                self.compress(name, input, &mut output, &stating)?
            }
            _ => self.restore(input, &mut output, &options, passes)?,
        };
        drop(progress);
        if self.mode == Mode::Test {
            check_tables(name, &options)?;
        }
        let written = output.finish(about.attributes(), self.args.remove)?;
        check_unchanged(&source, about.regular())?;
        match (name, written) {
            (Name::File(input), Some(output)) if self.args.remove => {
                remove(input, about.regular(), &output)?;
            }
            _ if self.args.remove => {
                self.args
                    .talk
                    .warn(name, "is kept: --rm removes a file whose output is a file");
            }
            _ => {}
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

    /// Refuses `--flush-every` for an input or output for which it would have no effect.
    fn check_flushes(&self, destination: &Destination, about: &About) -> Result<()> {
        if self.args.flush_every.is_none() {
            return Ok(());
        }
        if *destination != Destination::Stdout {
            return Err(Error::Usage(
                "--flush-every writes to standard output, as in > FILE, since an output with a \
                 name appears only when it is complete"
                    .into(),
            ));
        }
        if about.regular().is_some() {
            return Err(Error::Usage(
                "is a regular file, and does not come little by little: leave out --flush-every"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Compresses an input. With `--decompress-input`, compresses the content of an input that is
    /// compressed.
    fn compress(
        &self,
        name: &Name,
        input: CountedReads<&mut InputSource>,
        output: &mut Output,
        options: &Options,
    ) -> Result<Summary> {
        let FileArgs {
            index: IndexArgs { index, .. },
            decompress_input,
            flush_every,
            ..
        } = *self.args;
        if let Some(every) = flush_every {
            let summary = flushed_stream::compress(input, output, every, options)?;
            return self.check_index(summary);
        }
        if index.is_none() && !decompress_input {
            return bwz::compress(input, output, options);
        }
        let (format, input) = known_formats::peek(input)?;
        let summary = match format {
            Some(format) if decompress_input => {
                compress_content(name, input, format, output, options)?
            }
            format => {
                if let Some(format) = format {
                    self.warn_of_index(name, format);
                }
                bwz::compress(input, output, options)?
            }
        };
        self.check_index(summary)
    }

    /// Returns an error if the index is not the one that `--index=sequences` requires.
    fn check_index(&self, summary: Summary) -> Result<Summary> {
        let IndexedBlocks { bytes, .. } = summary.indexed;
        if self.args.index.index == Some(IndexOf::Sequences) && bytes > 0 {
            return Err(Error::Usage(
                format!(
                    "{bytes} of its blocks are not sequences, which --index=sequences requires"
                )
                .into(),
            ));
        }
        Ok(summary)
    }

    /// Warns that an index of compressed bytes will not find the text that is meant.
    fn warn_of_index(&self, name: &Name, format: Format) {
        let made_by = format.name();
        let command = format.command(name, "--index ");
        self.args.talk.warn(name, format_args!(
            "was compressed by {made_by}: the index is of the compressed bytes, so nothing of the \
             content is found; `{command}` indexes the content"
        ));
    }

    /// Decompresses an input. If `passes`, an input that is not compressed is copied.
    fn restore(
        &self,
        input: impl Read + Send,
        output: &mut Output,
        options: &Options,
        passes: bool,
    ) -> Result<Summary> {
        if passes {
            return restore_or_copy(input, output, options, self.args.limits.limit_output);
        }
        bwz::decompress(input, output, options)
    }

    /// Refuses inputs whose outputs in the one directory would have one name.
    fn check_outputs(&self, files: &[PathBuf], walk: Directories) -> Result<()> {
        let silent = Talk {
            quiet: true,
            ..self.args.talk
        };
        let mut inputs = HashMap::new();
        let mut both = None;
        named_files::find(files, walk, silent, |name, found| {
            let Ok(Destination::Derived(path)) = found.and_then(|()| self.destination(&name))
            else {
                return;
            };
            if let Some(first) = inputs.insert(path.clone(), name.clone()) {
                both.get_or_insert((first, name, path));
            }
        });
        let Some((first, second, path)) = both else {
            return Ok(());
        };
        let path = path.display();
        Err(Error::Usage(
            format!("{first} and {second} would both be written to {path}; do them one by one")
                .into(),
        ))
    }

    fn destination(&self, name: &Name) -> Result<Destination> {
        let destination = self.destination_beside(name)?;
        match (&self.args.output_dir, destination) {
            (Some(dir), Destination::Derived(path)) => {
                let file = path.file_name().unwrap_or(path.as_os_str());
                Ok(Destination::Derived(dir.join(file)))
            }
            (Some(_), Destination::Stdout) => Err(Error::Usage(
                "has no name for a file in --output-dir; -o or > names one".into(),
            )),
            (_, destination) => Ok(destination),
        }
    }

    /// The output without `--output-dir`.
    fn destination_beside(&self, name: &Name) -> Result<Destination> {
        match (self.mode, self.args.output.first(), name) {
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
        if named_files::has_suffix(path, suffix) && !self.args.force {
            return Err(Error::Usage(
                "is already compressed, by its name; -f compresses it anyway".into(),
            ));
        }
        let is_read = self.args.decompress_input && Format::of_file(path).is_some();
        let named = if is_read {
            known_formats::name_inside(path)
        } else {
            path.to_owned()
        };
        Ok(Destination::Derived(named_files::compressed(
            &named, suffix,
        )))
    }

    fn decompressed_name(&self, path: &Path) -> Result<Destination> {
        let name = named_files::decompressed_name(path, self.args.suffix.as_deref());
        name.map(Destination::Derived).ok_or_else(|| {
            Error::Usage(
                "its name does not end in .bwz or .tbwz; give the output with -o FILE or -c, or \
                 the suffix with -S"
                    .into(),
            )
        })
    }
}

/// Compresses the content of an input of another format.
fn compress_content(
    name: &Name,
    input: impl Read + Send,
    format: Format,
    output: &mut Output,
    options: &Options,
) -> Result<Summary> {
    if !format.is_read() {
        let made_by = format.name();
        let command = format.command(name, "");
        return Err(Error::Usage(
            format!(
                "was compressed by {made_by}, which --decompress-input does not read: `{command}`"
            )
            .into(),
        ));
    }
    let content = ForeignInput::open(input, format)?;
    let state = content.state();
    // The size of the content is not known.
    let options = options.clone().input_size(0);
    bwz::compress(content, output, &options).map_err(|e| state.explain(e))
}

/// Returns an error if the size or the time of an input has changed since it was opened.
fn check_unchanged(source: &InputSource, opened: Option<&Metadata>) -> Result<()> {
    let state = |m: &Metadata| (m.len(), m.mtime(), m.mtime_nsec());
    match opened {
        Some(opened) if state(opened) != state(&source.metadata()?) => Err(Error::Usage(
            "changed while it was read; the output holds the bytes that were read, and the file is \
             kept"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// Copies a file that is not in bwz's format unchanged, so that one command reads both kinds. Other
/// compressors do this too.
fn restore_or_copy(
    mut input: impl Read + Send,
    output: &mut Output,
    options: &Options,
    limit: Option<u64>,
) -> Result<Summary> {
    let mut start = Vec::new();
    input
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut start)?;
    let is_ours = start == MAGIC;
    let mut input = Cursor::new(start).chain(input);
    if is_ours {
        return bwz::decompress(input, output, options);
    }
    let mut summary = Summary::default();
    let allowed = limit.unwrap_or(u64::MAX);
    summary.raw_size = io::copy(&mut input.by_ref().take(allowed), output)?;
    if summary.raw_size == allowed && input.read(&mut [0])? > 0 {
        let what = "input that is not compressed".into();
        return Err(Error::OutputLimit {
            what,
            needed: allowed.saturating_add(1),
            allowed,
        });
    }
    summary.coded_size = summary.raw_size;
    Ok(summary)
}

/// Removes an input whose output is on disk. It is kept, with an error, if another file has taken
/// its name or if it has changed.
fn remove(input: &Path, opened: Option<&Metadata>, output: &Path) -> Result<()> {
    output::sync_name(output)?;
    let output = output.display();
    let kept = |e: io::Error| {
        let why = strip_number(e.to_string());
        let said = format!("cannot be removed: {why}; the output {output} is complete");
        Error::Io(io::Error::new(e.kind(), said))
    };
    let there = fs::metadata(input).map_err(kept)?;
    match opened {
        Some(opened) if input::is_unchanged(opened, &there) => fs::remove_file(input).map_err(kept),
        _ => Err(Error::Usage(
            format!(
                "has changed since it was opened; not removed; the output {output} is complete"
            )
            .into(),
        )),
    }
}

/// Returns the text of `-v` about a finished file.
fn outcome(mode: Mode, summary: &Summary, took: Duration) -> String {
    let Summary {
        raw_size,
        coded_size,
        ..
    } = *summary;
    let (from, to) = match mode {
        Mode::Compress => (raw_size, coded_size),
        _ => (coded_size, raw_size),
    };
    let ok = if mode == Mode::Test { "OK, " } else { "" };
    let ratio = ratio_text(raw_size, coded_size);
    let seconds = took.as_secs_f64();
    let speed = raw_size as f64 / 1e6 / seconds.max(1e-9);
    let sizes = format!("{} -> {}", human(from), human(to));
    let mut index = index_text(&summary.indexed);
    if summary.indexed.size > 0 {
        let share = 100.0 * summary.indexed.size as f64 / coded_size as f64;
        index.push_str(&format!(", {share:.1} % of the compressed file"));
    }
    format!("{ok}{sizes}, ratio {ratio}, {seconds:.2} s, {speed:.1} MB/s, {index}")
}
