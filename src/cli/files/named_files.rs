//! The files that arguments mean, and the names of their outputs.

use crate::cli::arguments::args::Talk;
use crate::cli::files::input_name::Name;
use crate::cli::report::console::{self, Activity};
use crate::cli::report::exit::Exit;
use bwz::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// True for the files that are taken below a directory: the first path is the directory, and the
/// second one is the file.
pub(crate) type Wanted<'a> = &'a dyn Fn(&Path, &Path) -> bool;

/// The treatment of directories.
#[derive(Clone, Copy)]
pub(crate) enum Directories<'a> {
    /// Directories are walked, and the wanted files in them are taken.
    Walked(Wanted<'a>),
    /// Directories are refused; `-r` would walk them.
    Walkable,
    /// Directories are refused.
    Refused,
}

/// Works on every file meant by `names`, or on standard input if there are no names.
///
/// An error with one file is reported, and work goes on with the others. The worst exit code is
/// returned.
pub(crate) fn each(
    names: &[PathBuf],
    directories: Directories,
    talk: Talk,
    task: Activity,
    mut work: impl FnMut(&Name) -> Result<()>,
) -> Exit {
    let mut worst = Exit::Fine;
    find(names, directories, talk, |name, found| {
        if let Err(e) = found.and_then(|()| work(&name)) {
            worst = worst.max(console::fail_with(&e, &name, task));
        }
    });
    worst
}

/// Calls `take` with every file meant by `names`, or with the reason why a name means none.
pub(crate) fn find(
    names: &[PathBuf],
    directories: Directories,
    talk: Talk,
    mut take: impl FnMut(Name, Result<()>),
) {
    if names.is_empty() {
        take(Name::Stdin, Ok(()));
    }
    for path in names {
        let name = || Name::File(path.clone());
        let refused = |what: &'static str| Err(Error::Usage(what.into()));
        match directories {
            _ if path.as_os_str().is_empty() => {
                take(Name::File("''".into()), refused("the name is empty"));
            }
            _ if !path.is_dir() => take(Name::from(path.as_path()), Ok(())),
            Directories::Walked(wanted) => {
                for found in tree(path, wanted, talk) {
                    take(found.0, found.1);
                }
            }
            Directories::Walkable => take(name(), refused("is a directory; -r walks it")),
            Directories::Refused => take(name(), refused("is a directory; name the files in it")),
        }
    }
}

/// The wanted files under `root`, in the order of their names. Links and special files are left
/// out.
fn tree<'a>(
    root: &Path,
    wanted: Wanted<'a>,
    talk: Talk,
) -> impl Iterator<Item = (Name, Result<()>)> + 'a {
    let root_name = root.to_owned();
    let entries = WalkDir::new(root)
        .min_depth(1)
        .sort_by_file_name()
        .into_iter();
    entries.filter_map(move |entry| match entry {
        Ok(entry) if entry.file_type().is_dir() => None,
        Ok(entry) if entry.file_type().is_file() => {
            let is_wanted = wanted(&root_name, entry.path());
            is_wanted.then(|| (Name::File(entry.into_path()), Ok(())))
        }
        Ok(entry) => {
            talk.warn(
                &Name::File(entry.into_path()),
                "is a link or a special file, skipped",
            );
            None
        }
        Err(e) => {
            let name = Name::File(e.path().unwrap_or(&root_name).to_owned());
            let cause = e
                .into_io_error()
                .unwrap_or_else(|| io::Error::other("a loop of links"));
            Some((name, Err(Error::Io(cause))))
        }
    })
}

const SUFFIXES: [(&[u8], &[u8]); 2] = [(b".bwz", b""), (b".tbwz", b".tar")];

/// True if a file's name says that it is compressed. `own` is the suffix that the user chose.
pub(crate) fn has_suffix(path: &Path, own: Option<&OsStr>) -> bool {
    decompressed_name(path, own).is_some()
}

/// Returns the name of a file's compressed output.
pub(crate) fn compressed(path: &Path, own: Option<&OsStr>) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(own.unwrap_or(OsStr::new(".bwz")));
    name.into()
}

/// Returns the name of a compressed file without its suffix, or `None` if it has no known suffix.
pub(crate) fn decompressed_name(path: &Path, own: Option<&OsStr>) -> Option<PathBuf> {
    let name = path.file_name()?.as_bytes();
    let own = own.map(|suffix| (suffix.as_bytes(), &b""[..]));
    let (stem, ending) = own
        .iter()
        .chain(&SUFFIXES)
        .find_map(|(suffix, ending)| Some((name.strip_suffix(*suffix)?, *ending)))?;
    let name = OsString::from_vec([stem, ending].concat());
    (!stem.is_empty()).then(|| path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::files::input_name::parent;

    #[test]
    fn names_there_and_back() {
        let back = |name: &str| decompressed_name(Path::new(name), None);
        assert_eq!(
            compressed(Path::new("a/x.tar"), None),
            Path::new("a/x.tar.bwz")
        );
        assert_eq!(back("a/x.tar.bwz"), Some("a/x.tar".into()));
        assert_eq!(back("a/x.tbwz"), Some("a/x.tar".into()));
        for name in ["x", "x.bz2", ".bwz", "a/.tbwz", "bwz", "x.BWZ", ""] {
            assert_eq!(back(name), None, "{name}");
        }
    }

    #[test]
    fn a_chosen_suffix_is_one_more() {
        let own = Some(OsStr::new(".b"));
        assert_eq!(compressed(Path::new("a/x"), own), Path::new("a/x.b"));
        assert_eq!(
            decompressed_name(Path::new("a/x.b"), own),
            Some("a/x".into())
        );
        assert_eq!(
            decompressed_name(Path::new("a/x.bwz"), own),
            Some("a/x".into())
        );
        assert_eq!(decompressed_name(Path::new("a/.b"), own), None);
    }

    #[test]
    fn every_file_has_a_parent() {
        assert_eq!(parent(Path::new("x")), Path::new("."));
        assert_eq!(parent(Path::new("/x")), Path::new("/"));
        assert_eq!(parent(Path::new("a/x")), Path::new("a"));
    }
}
