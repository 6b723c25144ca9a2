//! The files that the arguments mean: those that are named, and with `-r` those in directories.

use crate::cli::arguments::grep_args::GrepArgs;
use crate::cli::files::input_name::Name;
use crate::cli::search::path_globs;
use bwz::{Error, Result};
use ignore::{DirEntry, WalkBuilder};
use std::io;
use std::path::{Path, PathBuf};

/// Calls `work` with each file in turn, or with the reason why it is none. `work` returns false to
/// end.
pub(crate) fn each(
    paths: &[PathBuf],
    args: &GrepArgs,
    mut work: impl FnMut(Name, Result<()>) -> bool,
) -> Result<()> {
    let here = PathBuf::from(".");
    let globs = path_globs::rules(&args.input.glob)?;
    if paths.is_empty() && !args.is_recursive() {
        work(Name::Stdin, Ok(()));
        return Ok(());
    }
    let is_here = paths.is_empty();
    let paths = if is_here { &[here] } else { paths };
    for path in paths {
        let names = &args.input.names;
        let is_walked = args.is_recursive() && path.is_dir();
        if is_walked && !is_here && names.skip_directory(path, true)
            || !is_walked && path.as_os_str() != "-" && names.skip_file(path, true)
        {
            continue;
        }
        if !is_walked {
            let is_empty = path.as_os_str().is_empty();
            let (name, given) = match is_empty {
                true => (
                    Name::File("''".into()),
                    Err(Error::Usage("the name is empty".into())),
                ),
                false => (Name::from(path.as_path()), Ok(())),
            };
            if !work(name, given) {
                return Ok(());
            }
            continue;
        }
        let mut walk = WalkBuilder::new(path);
        walk.standard_filters(false)
            .follow_links(args.input.dereference_recursive)
            .overrides(globs.clone())
            .max_depth(args.input.max_depth)
            .sort_by_file_name(|a, b| a.cmp(b));
        let rules = names.clone();
        walk.filter_entry(move |entry| {
            let is_directory = entry
                .file_type()
                .is_some_and(|kind| kind.is_dir());
            entry.depth() == 0
                || !match is_directory {
                    true => rules.skip_directory(entry.path(), false),
                    false => rules.skip_file(entry.path(), false),
                }
        });
        for entry in walk.build() {
            let Some((name, found)) = file_of(entry, path) else {
                continue;
            };
            let name = if is_here { shown(name) } else { name };
            if !work(name, found) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The file of an entry of a directory, or `None` if the entry is not searched.
fn file_of(
    entry: std::result::Result<DirEntry, ignore::Error>,
    root: &Path,
) -> Option<(Name, Result<()>)> {
    let entry = match entry {
        Ok(entry) => entry,
        Err(e) => {
            let name = Name::File(path_of(&e).unwrap_or(root).to_owned());
            let text = e.to_string();
            let cause = e
                .into_io_error()
                .unwrap_or_else(|| io::Error::other(text));
            return Some((name, Err(Error::Io(cause))));
        }
    };
    let is_file = entry
        .file_type()
        .is_some_and(|kind| kind.is_file());
    is_file.then(|| (Name::File(entry.into_path()), Ok(())))
}

/// The path that an error is about.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::WithDepth { err, .. } => path_of(err),
        _ => None,
    }
}

/// The name of a file of the current directory.
fn shown(name: Name) -> Name {
    match name {
        Name::File(path) => match path.strip_prefix("./") {
            Ok(inside) => Name::File(inside.to_owned()),
            Err(_) => Name::File(path),
        },
        name => name,
    }
}
