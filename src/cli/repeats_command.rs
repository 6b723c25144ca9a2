//! `bwz repeats`: what occurs before in a collection of files, and the files without it. Codes as
//! grep's: 0 found, 1 not found, 2 trouble.

use super::console::{self, Activity};
use super::descriptors;
use super::event_lines::EventLines;
use super::exit::Exit;
use super::files;
use super::input;
use super::input_name::Name;
use super::io_errors::{while_reading, while_writing};
use super::output::{Destination, Output, Rules};
use super::progress_bar::Progress;
use super::repeats_args::RepeatsArgs;
use super::repeats_report::{RepeatsReport, print};
use bwz::repeats::{FileRepeats, Input, Repeats, Search, whole_lines};
use bwz::{Decoder, Error, Options, Result};
use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek, Write};
use std::iter::once;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes that are read at a time where files are copied.
const BUFFER: usize = 1 << 20;

/// Searches all files together, and prints or writes what comes of it.
pub fn run(args: &RepeatsArgs) -> Exit {
    Exit::of_search(Collection::open(args).and_then(|collection| collection.search(args)))
}

/// The files, which are open, and how they are decoded.
struct Collection {
    names: Vec<Name>,
    files: Vec<File>,
    inputs: Vec<Input<File>>,
    options: Options,
}

/// Says what is wrong with a file.
fn of<T>(name: &Name, done: Result<T>) -> Result<T, Exit> {
    done.map_err(|e| console::fail_with(&e, name, Activity::Reading))
}

impl Collection {
    fn open(args: &RepeatsArgs) -> Result<Self, Exit> {
        descriptors::allow_many();
        let names: Vec<Name> =
            args.across.iter().chain(&args.files).map(|path| Name::from(path.as_path())).collect();
        let options =
            EventLines::default().add_to(&args.resources.options(), &names[0], args.talk, None);
        let (mut files, mut inputs) = (Vec::new(), Vec::new());
        for name in &names {
            let opened = open(name).and_then(|file| {
                inputs.push(Input::open(file.try_clone()?, &options)?);
                Ok(file)
            });
            files.push(of(name, opened)?);
        }
        Ok(Collection { names, files, inputs, options })
    }

    /// Says whether anything is repeated.
    fn search(mut self, args: &RepeatsArgs) -> Result<bool, Exit> {
        let outputs = match &args.output {
            Some(dir) => Some(self.outputs(dir, args).map_err(|e| console::fail(&e))?),
            None => None,
        };
        let sum = Name::File(format!("{} files", self.names.len()).into());
        let name = if self.names.len() == 1 { &self.names[0] } else { &sum };
        let all = self.inputs.iter().map(Input::size).sum();
        let progress = Progress::start(name, Some(all), args.talk, true);
        let search = Search::new(args.min_length).map(|search| {
            let search = search.unit(args.unit()).across(args.across.is_some());
            search.later_copies(outputs.is_some()).on_progress(progress.teller())
        });
        let found = search.and_then(|search| search.find_in(&mut self.inputs, &self.options));
        drop(progress);
        let mut found = found.map_err(|e| console::fail(&e))?;
        if let Some(outputs) = outputs {
            self.write(args, outputs, &mut found)?;
        }
        let report = RepeatsReport { args, names: &self.names, found: &found };
        print(&report).map_err(|e| console::fail(&e.into()))?;
        report.sum_up(args.talk);
        Ok(found.files.iter().any(|file| !file.ranges.is_empty()))
    }

    /// Where each file is written, the one that others are searched for in nowhere.
    fn outputs(&self, dir: &Path, args: &RepeatsArgs) -> Result<Vec<Option<PathBuf>>> {
        fs::create_dir_all(dir).map_err(|e| while_writing(dir.display(), e))?;
        let mut taken = HashSet::new();
        let path = |(n, name): (usize, &Name)| {
            if n == 0 && args.across.is_some() {
                return Ok(None);
            }
            let path = match name {
                Name::Stdin => PathBuf::from("stdin"),
                Name::File(path) => match files::decompressed_name(path, None) {
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

    /// Writes the files without their later copies, which become what is really cut out.
    fn write(
        &self,
        args: &RepeatsArgs,
        outputs: Vec<Option<PathBuf>>,
        found: &mut Repeats,
    ) -> Result<(), Exit> {
        for (n, output) in outputs.into_iter().enumerate() {
            let Some(output) = output else { continue };
            of(&self.names[n], self.write_one(args, n, output, &mut found.files[n]))?;
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
        }
        let metadata = self.files[n].metadata()?;
        let attributes = Some(&metadata).filter(|_| self.names[n] != Name::Stdin);
        let rules =
            Rules { force: args.force, input: Some(&metadata), attributes, ..Rules::default() };
        let mut output = Output::open(Destination::Derived(output), &rules)?;
        copy_without(self.text(n)?, &found.later_copies, found.size, &mut output)?;
        output.finish(attributes, false)?;
        Ok(())
    }

    /// The text of a file from its start on.
    fn text(&self, n: usize) -> Result<Box<dyn Read>> {
        let mut file = self.files[n].try_clone()?;
        file.rewind()?;
        Ok(match self.inputs[n].is_compressed() {
            true => Box::new(Decoder::new(file, &self.options)),
            false => Box::new(file),
        })
    }
}

/// Opens a file to be read by position, or a temporary one with what a pipe gives.
fn open(name: &Name) -> Result<File> {
    let is_file =
        |metadata: io::Result<Metadata>| metadata.is_ok_and(|metadata| metadata.is_file());
    let is_file = match name {
        Name::Stdin => is_file(descriptors::stdin()?.metadata()),
        Name::File(path) => is_file(fs::metadata(path)),
    };
    if is_file {
        return input::open_seekable(name);
    }
    let mut source = input::OpenInput::open(name, true)?.source;
    let mut kept = tempfile::tempfile().map_err(|e| while_writing("a temporary file", e))?;
    let mut buffer = vec![0; BUFFER];
    loop {
        match source.read(&mut buffer).map_err(while_reading)? {
            0 => return Ok(kept),
            read => {
                let written = kept.write_all(&buffer[..read]);
                written.map_err(|e| while_writing("a temporary file", e))?;
            }
        }
    }
}

/// Copies a text of `size` bytes but for some ranges of it, which are in ascending order.
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
    // What is decoded is checked up to its end.
    match io::copy(&mut text, &mut io::sink())? {
        0 => Ok(()),
        _ => Err(Error::Io(io::Error::other("it became longer while it was read"))),
    }
}

fn copy(text: &mut impl Read, size: u64, output: &mut impl Write) -> Result<()> {
    match io::copy(&mut text.take(size), output)? == size {
        true => Ok(()),
        false => Err(Error::Io(io::Error::other("it became shorter while it was read"))),
    }
}
