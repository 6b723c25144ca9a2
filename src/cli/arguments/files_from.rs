//! Names of files that are read from a file or from a pipe. A command line has a maximum length.

use crate::cli::arguments::shared_args::path;
use crate::cli::files::descriptors;
use crate::cli::report::io_errors::strip_number;
use bwz::{Error, Result};
use clap::Args;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The lists of files.
#[derive(Args, Debug)]
pub(crate) struct FilesFrom {
    /// Work also on the files that FILE names, one a line (- is standard input): find ... | bwz
    /// --files-from -
    #[arg(long, value_name = "FILE", value_parser = path(), allow_hyphen_values = true)]
    files_from: Vec<PathBuf>,
    /// Like --files-from, but each name ends with a NUL byte, as find -print0 writes them
    #[arg(long, value_name = "FILE", value_parser = path(), allow_hyphen_values = true)]
    files0_from: Vec<PathBuf>,
}

impl FilesFrom {
    /// True if there is a list, which may be empty.
    pub(crate) fn is_given(&self) -> bool {
        self.lists().next().is_some()
    }

    /// The files that hold the lists.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &PathBuf> {
        self.files_from.iter().chain(&self.files0_from)
    }

    /// Returns `files` and, behind them, those of the lists in order.
    ///
    /// # Errors
    /// [`Error::Io`] if a list cannot be read, [`Error::Usage`] if it is not one, or if standard
    /// input is a list and a file too.
    pub(crate) fn add_to(&self, files: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut all = files.to_vec();
        if !self.is_given() {
            return Ok(all);
        }
        let paths = files.iter().chain(self.lists());
        if paths
            .filter(|path| path.as_os_str() == "-")
            .count()
            > 1
        {
            return Err(Error::Usage(
                "standard input is named several times; it is read once".into(),
            ));
        }
        for list in &self.files_from {
            let text = read(list)?;
            if text.contains(&0) {
                let shown = list.display();
                let said = format!("{shown} holds NUL bytes; --files0-from reads such a list");
                return Err(Error::Usage(said.into()));
            }
            all.extend(names(&text, b'\n'));
        }
        for list in &self.files0_from {
            all.extend(names(&read(list)?, 0));
        }
        Ok(all)
    }
}

/// The names in a list, without empty ones.
fn names(text: &[u8], end: u8) -> impl Iterator<Item = PathBuf> {
    text.split(move |&byte| byte == end)
        .filter(|name| !name.is_empty())
        .map(|name| match name {
            // In a list it is a file, since standard input may be the list itself.
            b"-" => PathBuf::from("./-"),
            name => PathBuf::from(OsStr::from_bytes(name)),
        })
}

fn read(list: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = match list.as_os_str().as_bytes() {
        b"-" => descriptors::stdin()
            .and_then(|mut input| input.read_to_end(&mut text))
            .map(|_| text),
        _ => fs::read(list),
    };
    read.map_err(|e| {
        let cause = strip_number(e.to_string());
        let said = format!("the list {} cannot be read: {cause}", list.display());
        Error::Io(io::Error::new(e.kind(), said))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_as_they_are() {
        let taken = |text: &[u8], end| -> Vec<PathBuf> { names(text, end).collect() };
        let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
        assert_eq!(
            taken(b"a\n b c \n\n-\nd", b'\n'),
            paths(&["a", " b c ", "./-", "d"])
        );
        assert_eq!(taken(b"a\nb\0c\0", 0), paths(&["a\nb", "c"]));
        assert!(taken(b"", 0).is_empty());
    }
}
