//! `bwz repeats`: finds ranges that occurred before in a collection of files, and writes the files
//! without them. Exit codes are those of grep: 0 found, 1 not found, 2 trouble.

use crate::cli::analysis::repeats_report::{RepeatsReport, print};
use crate::cli::arguments::repeats_args::RepeatsArgs;
use crate::cli::arguments::usage;
use crate::cli::files::descriptors;
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::files::named_files;
use crate::cli::files::output::{Destination, Output, Rules};
use crate::cli::files::reopened_file::{OpenFiles, ReopenedFile};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::io_errors::{while_reading, while_writing};
use crate::cli::report::progress_bar::Progress;
use bwz::repeats::{
    Characters, FileRepeats, Input, Repeats, Search, whole_characters, whole_lines, whole_records,
};
use bwz::{Decoder, Error, Options, Result};
use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, BufReader, Read, Write};
use std::iter::once;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes that are read at a time when files are copied.
const BUFFER: usize = 1 << 20;

/// Searches all files together, and prints or writes the result.
pub(crate) fn run(args: &RepeatsArgs) -> Exit {
    let given_once = usage::once("--across", &args.across)
        .and(usage::once("-o", &args.output))
        .and(usage::one_stdin(args.across.iter().chain(&args.files)));
    let opened = given_once
        .map_err(|e| console::fail(&e))
        .and_then(|_| Collection::open(args));
    Exit::of_search(opened.and_then(|collection| collection.search(args)))
}

/// The files, and the options for decoding them.
struct Collection {
    names: Vec<Name>,
    files: Vec<ReopenedFile>,
    inputs: Vec<Input<ReopenedFile>>,
    options: Options,
}

/// Reports an error with a file.
fn of<T>(name: &Name, done: Result<T>) -> Result<T, Exit> {
    done.map_err(|e| console::fail_with(&e, name, Activity::Reading))
}

impl Collection {
    fn open(args: &RepeatsArgs) -> Result<Self, Exit> {
        descriptors::allow_many();
        let names: Vec<Name> = args
            .across
            .iter()
            .chain(&args.files)
            .map(|path| Name::from(path.as_path()))
            .collect();
        let options =
            EventLines::default().add_to(&args.resources.options(), &names[0], args.talk, None);
        let mut files = Vec::new();
        let mut inputs = Vec::new();
        let open_files = OpenFiles::default();
        for (number, name) in names.iter().enumerate() {
            let opened = open(number, name, &open_files).and_then(|file| {
                inputs.push(Input::open(file.clone(), &options)?);
                Ok(file)
            });
            files.push(of(name, opened)?);
        }
        Ok(Collection {
            names,
            files,
            inputs,
            options,
        })
    }

    /// Searches the files. Returns true if anything is repeated.
    fn search(mut self, args: &RepeatsArgs) -> Result<bool, Exit> {
        let outputs = match args.output.first() {
            Some(dir) => Some(
                self.outputs(dir, args)
                    .map_err(|e| console::fail(&e))?,
            ),
            None => None,
        };
        if args.records {
            self.check_records()?;
        }
        let sum = Name::File(format!("{} files", self.names.len()).into());
        let name = if self.names.len() == 1 {
            &self.names[0]
        } else {
            &sum
        };
        let all = self.inputs.iter().map(Input::size).sum();
        let progress = Progress::start(name, Some(all), args.talk, true);
        let search = Search::new(args.min_length).map(|search| {
            let search = search
                .unit(args.unit())
                .across(!args.across.is_empty());
            search
                .later_copies(outputs.is_some())
                .on_progress(progress.teller())
        });
        let options = args.resources.options();
        let options = EventLines::default().add_to(&options, name, args.talk, None);
        let found = search.and_then(|search| search.find_in(&mut self.inputs, &options));
        drop(progress);
        let mut found = of(name, found)?;
        self.cut_characters(args, &mut found)?;
        if let Some(outputs) = outputs {
            self.write(args, outputs, &mut found)?;
        }
        let report = RepeatsReport {
            args,
            names: &self.names,
            found: &found,
        };
        print(&report).map_err(|e| console::fail(&e.into()))?;
        report.sum_up(args.talk);
        Ok(found
            .files
            .iter()
            .any(|file| !file.ranges.is_empty()))
    }

    /// Trims the ranges found in UTF-8 files to whole characters.
    fn cut_characters(&self, args: &RepeatsArgs, found: &mut Repeats) -> Result<(), Exit> {
        if !args.cuts_characters() {
            return Ok(());
        }
        for (n, file) in found.files.iter_mut().enumerate() {
            if file.ranges.is_empty() {
                continue;
            }
            let lists = [&file.ranges[..], &file.later_copies];
            let characters = self
                .text(n)
                .and_then(|text| whole_characters(text, &lists));
            match of(&self.names[n], characters)? {
                Characters::Whole(mut lists) => {
                    file.later_copies = lists.pop().unwrap_or_default();
                    file.ranges = lists.pop().unwrap_or_default();
                }
                Characters::NotUtf8(at) if args.utf8 => {
                    let what =
                        format!("is not valid UTF-8 at byte {at}, so it is searched by bytes");
                    args.talk.warn(&self.names[n], what);
                }
                Characters::NotUtf8(_) => {}
            }
        }
        Ok(())
    }

    /// Checks, before anything is written, that each file to be written has records.
    fn check_records(&self) -> Result<(), Exit> {
        for (n, name) in self.names.iter().enumerate() {
            let has_any = self.text(n).and_then(has_records);
            if !of(name, has_any)? {
                let what = "does not begin like FASTA or FASTQ, so --records cannot cut it";
                return Err(of::<()>(name, Err(Error::Usage(what.into()))).unwrap_err());
            }
        }
        Ok(())
    }

    /// Returns the path that each file is written to. It is `None` for the file of `--across`.
    fn outputs(&self, dir: &Path, args: &RepeatsArgs) -> Result<Vec<Option<PathBuf>>> {
        fs::create_dir_all(dir).map_err(|e| while_writing(dir.display(), e))?;
        let mut taken = HashSet::new();
        let path = |(n, name): (usize, &Name)| {
            if n == 0 && !args.across.is_empty() {
                return Ok(None);
            }
            let path = match name {
                Name::Stdin => PathBuf::from("stdin"),
                Name::File(path) => match named_files::decompressed_name(path, None) {
                    Some(path) if self.inputs[n].is_compressed() => path,
                    _ => path.clone(),
                },
            };
            let path = dir.join(path.file_name().unwrap_or_default());
            match taken.insert(path.clone()) {
                true => Ok(Some(path)),
                false => Err(Error::Usage(
                    format!("two files would be written as {}", path.display()).into(),
                )),
            }
        };
        self.names.iter().enumerate().map(path).collect()
    }

    /// Writes the files without their later copies. `found` then holds the ranges that were really
    /// cut out.
    fn write(
        &self,
        args: &RepeatsArgs,
        outputs: Vec<Option<PathBuf>>,
        found: &mut Repeats,
    ) -> Result<(), Exit> {
        for (n, output) in outputs.into_iter().enumerate() {
            let Some(output) = output else { continue };
            of(
                &self.names[n],
                self.write_one(args, n, output, &mut found.files[n]),
            )?;
        }
        Ok(())
    }

    fn write_one(
        &self,
        args: &RepeatsArgs,
        n: usize,
        output: PathBuf,
        found: &mut FileRepeats,
    ) -> Result<()> {
        if args.lines {
            found.later_copies = whole_lines(self.text(n)?, &found.later_copies)?;
        } else if !found.later_copies.is_empty() {
            self.cut_records(args, n, found)?;
        }
        let metadata = self.files[n].metadata();
        let attributes = Some(metadata).filter(|_| self.names[n] != Name::Stdin);
        let rules = Rules {
            force: args.force,
            input: Some(metadata),
            attributes,
            ..Rules::default()
        };
        let mut output = Output::open(Destination::Derived(output), &rules)?;
        copy_without(self.text(n)?, &found.later_copies, found.size, &mut output)?;
        output.finish(attributes, false)?;
        Ok(())
    }

    /// Trims the later copies of a file to whole records, or warns that records are cut.
    fn cut_records(&self, args: &RepeatsArgs, n: usize, found: &mut FileRepeats) -> Result<()> {
        if !args.records && !has_records(self.text(n)?)? {
            return Ok(());
        }
        let Some(whole) = whole_records(self.text(n)?, &found.later_copies)? else {
            return Ok(());
        };
        if args.records {
            found.later_copies = whole;
        } else if whole != found.later_copies {
            args.talk.warn(
                &self.names[n],
                "parts of records are cut out, and the rest of such a record is not its sequence; \
                 --records cuts out whole records only",
            );
        }
        Ok(())
    }

    /// Opens the text of a file at its start.
    fn text(&self, n: usize) -> Result<Box<dyn Read>> {
        let file = self.files[n].at_start();
        Ok(match self.inputs[n].is_compressed() {
            true => Box::new(Decoder::new(file, &self.options)),
            false => Box::new(file),
        })
    }
}

/// True if a text begins as FASTA or FASTQ does, ignoring blank lines in front.
fn has_records(mut text: impl Read) -> Result<bool> {
    const LOOKED_AT: u64 = 4096;
    let mut first = Vec::new();
    text.by_ref()
        .take(LOOKED_AT)
        .read_to_end(&mut first)?;
    let begin = first
        .iter()
        .find(|byte| !matches!(byte, b'\n' | b'\r'));
    Ok(matches!(begin, Some(b'>' | b'@')))
}

/// Opens a file that can be read by position. The bytes of a pipe are copied to a temporary file.
fn open(number: usize, name: &Name, open_files: &OpenFiles) -> Result<ReopenedFile> {
    let is_file =
        |metadata: io::Result<Metadata>| metadata.is_ok_and(|metadata| metadata.is_file());
    let is_file = match name {
        Name::Stdin => is_file(descriptors::stdin()?.metadata()),
        Name::File(path) => is_file(fs::metadata(path)),
    };
    if is_file {
        return open_files.open(number, name);
    }
    let mut source = input::OpenInput::open(name, true)?.source;
    let mut kept = tempfile::tempfile().map_err(|e| while_writing("a temporary file", e))?;
    let mut buffer = vec![0; BUFFER];
    loop {
        match source.read(&mut buffer).map_err(while_reading)? {
            0 => return Ok(ReopenedFile::kept(kept)?),
            read => {
                let written = kept.write_all(&buffer[..read]);
                written.map_err(|e| while_writing("a temporary file", e))?;
            }
        }
    }
}

/// Copies a text of `size` bytes without some ranges of it, which are in ascending order.
fn copy_without(
    text: impl Read,
    ranges: &[Range<u64>],
    size: u64,
    output: &mut impl Write,
) -> Result<()> {
    let mut text = BufReader::with_capacity(BUFFER, text);
    let mut at = 0;
    for range in ranges.iter().cloned().chain(once(size..size)) {
        copy(&mut text, range.start - at, output)?;
        copy(&mut text, range.end - range.start, &mut io::sink())?;
        at = range.end;
    }
    // The rest is decoded too, so that it is checked up to its end.
    match io::copy(&mut text, &mut io::sink())? {
        0 => Ok(()),
        _ => Err(Error::Io(io::Error::other(
            "it became longer while it was read",
        ))),
    }
}

fn copy(text: &mut impl Read, size: u64, output: &mut impl Write) -> Result<()> {
    match io::copy(&mut text.take(size), output)? == size {
        true => Ok(()),
        false => Err(Error::Io(io::Error::other(
            "it became shorter while it was read",
        ))),
    }
}
