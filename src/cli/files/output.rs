//! Opening outputs. A regular file is written beside its target, and renamed when it is complete.

use crate::cli::files::descriptors;
use crate::cli::files::input::is_same;
use crate::cli::files::input_name::parent;
use crate::cli::files::sparse_output::Holes;
use crate::cli::files::temporary_file::Temporary;
use crate::cli::report::io_errors::while_writing;
use bwz::{Error, Result};
use filetime::FileTime;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::mem;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// The place that output goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Nowhere,
    Stdout,
    /// A name made from the input's.
    Derived(PathBuf),
    /// A name that the user gave. Links are followed; devices and FIFOs are written to.
    Chosen(PathBuf),
}

impl Destination {
    pub(crate) fn chosen(path: &Path) -> Self {
        match path.to_str() {
            Some("-") => Destination::Stdout,
            _ => Destination::Chosen(path.to_owned()),
        }
    }
}

/// The checks before anything is written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rules<'a> {
    /// Overwrite files, write compressed data to terminals.
    pub force: bool,
    /// The output is compressed data.
    pub compressed: bool,
    /// The input, if it is a regular file.
    pub input: Option<&'a Metadata>,
    /// The file whose permissions, owner and times the output gets.
    pub attributes: Option<&'a Metadata>,
}

/// An open output.
pub(crate) struct Output {
    sink: Sink,
    holes: Option<Holes>,
    force: bool,
}

enum Sink {
    Nowhere,
    Stdout(File),
    Special(File, PathBuf),
    File(Temporary, PathBuf),
}

impl Sink {
    fn file(&self) -> Option<&File> {
        match self {
            Sink::Nowhere => None,
            Sink::Stdout(file) | Sink::Special(file, _) => Some(file),
            Sink::File(temporary, _) => Some(temporary.file()),
        }
    }

    /// Adds the name of the output to a write error.
    fn failed(&self, e: io::Error) -> io::Error {
        match self {
            Sink::Nowhere | Sink::Stdout(_) => while_writing("standard output", e),
            Sink::Special(_, path) | Sink::File(_, path) => while_writing(path.display(), e),
        }
    }
}

impl Output {
    pub(crate) fn open(destination: Destination, rules: &Rules) -> Result<Output> {
        let sink = match destination {
            Destination::Nowhere => Sink::Nowhere,
            Destination::Stdout => Sink::Stdout(open_stdout(rules)?),
            Destination::Derived(path) => open_file(path, rules)?,
            Destination::Chosen(path) => open_chosen(path, rules)?,
        };
        Ok(Output {
            sink,
            holes: None,
            force: rules.force,
        })
    }

    /// Opens standard output for raw bytes. `input` is the input, if that is a regular file.
    pub(crate) fn stdout(input: Option<&Metadata>) -> Result<Output> {
        Output::open(
            Destination::Stdout,
            &Rules {
                input,
                ..Rules::default()
            },
        )
    }

    /// True if the output is a terminal, where a progress bar would get in the way.
    pub(crate) fn is_terminal(&self) -> bool {
        self.sink.file().is_some_and(File::is_terminal)
    }

    /// From here on, leaves holes in place of zeros, if the output allows it.
    pub(crate) fn leave_holes(&mut self) {
        self.holes = self.sink.file().and_then(Holes::at_end_of);
    }

    /// Completes the output. Returns its path if it is a regular file. If `to_disk`, waits until
    /// the file is on disk; for a small file this takes longer than all other steps.
    pub(crate) fn finish(
        mut self,
        attributes: Option<&Metadata>,
        to_disk: bool,
    ) -> Result<Option<PathBuf>> {
        self.flush()?;
        let Sink::File(temporary, path) = mem::replace(&mut self.sink, Sink::Nowhere) else {
            return Ok(None);
        };
        if let Some(attributes) = attributes {
            imitate(temporary.file(), attributes);
        }
        let synced = if to_disk {
            sync(temporary.file())
        } else {
            Ok(())
        };
        let written = synced.and_then(|()| temporary.persist(&path, self.force));
        written.map_err(|e| while_writing(path.display(), e))?;
        Ok(Some(path))
    }
}

fn open_stdout(rules: &Rules) -> Result<File> {
    let file = descriptors::stdout()?;
    check_terminal(&file, rules)?;
    check_not_input(&file.metadata()?, rules)?;
    descriptors::widen(&file);
    Ok(file)
}

fn open_chosen(path: PathBuf, rules: &Rules) -> Result<Sink> {
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Err(Error::Usage(
            format!("the output {} is a directory", path.display()).into(),
        )),
        Ok(metadata) if !metadata.is_file() => {
            let file = OpenOptions::new().write(true).open(&path);
            let file = file.map_err(|e| while_writing(path.display(), e))?;
            check_terminal(&file, rules)?;
            Ok(Sink::Special(file, path))
        }
        Ok(_) => open_file(fs::canonicalize(path)?, rules),
        Err(_) => open_file(path, rules),
    }
}

/// Starts a regular file. If it will get the permissions of another file, only its owner may read
/// it until then.
fn open_file(path: PathBuf, rules: &Rules) -> Result<Sink> {
    let there = match fs::symlink_metadata(&path) {
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(while_writing(path.display(), e).into()),
    };
    if let Some(metadata) = there {
        check_not_input(&metadata, rules)?;
        if metadata.is_dir() {
            let shown = path.display();
            return Err(Error::Usage(
                format!("the output {shown} is a directory").into(),
            ));
        }
        if !rules.force {
            let shown = path.display();
            return Err(Error::Usage(
                format!("{shown} already exists; -f overwrites it").into(),
            ));
        }
    }
    let mode = if rules.attributes.is_some() {
        0o600
    } else {
        0o666
    };
    let temporary = Temporary::beside(&path, mode);
    let temporary = temporary.map_err(|e| while_writing(path.display(), e))?;
    Ok(Sink::File(temporary, path))
}

fn check_terminal(file: &File, rules: &Rules) -> Result<()> {
    if !rules.compressed || rules.force || !file.is_terminal() {
        return Ok(());
    }
    Err(Error::Usage(
        "compressed data is not written to a terminal; redirect it, name a file, give -o FILE, or force it with -f"
            .into(),
    ))
}

fn check_not_input(output: &Metadata, rules: &Rules) -> Result<()> {
    match rules.input {
        Some(input) if output.is_file() && is_same(input, output) => {
            Err(Error::Usage("input and output are the same file".into()))
        }
        _ => Ok(()),
    }
}

/// Gives `file` the owner, permissions and times of another file, as far as that is allowed.
///
/// If the group cannot be given, the file has another group, and its members get no more rights
/// than everybody.
fn imitate(file: &File, attributes: &Metadata) {
    let mut mode = attributes.mode() & 0o777;
    let _ = fchown(file, Some(attributes.uid()), None);
    if fchown(file, None, Some(attributes.gid())).is_err() {
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    let _ = file.set_permissions(Permissions::from_mode(mode));
    let accessed = FileTime::from_last_access_time(attributes);
    let modified = FileTime::from_last_modification_time(attributes);
    let _ = filetime::set_file_handle_times(file, Some(accessed), Some(modified));
}

/// Waits until `file` is on disk. A file system that does not support this is no failure.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// Waits until the name `path` is on disk, too.
pub(crate) fn sync_name(path: &Path) -> Result<()> {
    let dir = parent(path);
    let synced = File::open(dir).and_then(|dir| sync(&dir));
    Ok(synced.map_err(|e| while_writing(dir.display(), e))?)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(mut file) = self.sink.file() else {
            return Ok(bytes.len());
        };
        let written = match &mut self.holes {
            Some(holes) => holes.write(file, bytes),
            None => file.write(bytes),
        };
        written.map_err(|e| self.sink.failed(e))
    }

    /// There is no buffer, but there may be a hole at the end.
    fn flush(&mut self) -> io::Result<()> {
        match (&mut self.holes, self.sink.file()) {
            (Some(holes), Some(file)) => holes
                .finish(file)
                .map_err(|e| self.sink.failed(e)),
            _ => Ok(()),
        }
    }
}

impl Drop for Output {
    /// Keeps everything written before an error, holes included.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
