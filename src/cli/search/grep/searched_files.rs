//! The files that the arguments mean: those that are named, and with `-r` those in directories.

use crate::cli::arguments::grep_args::GrepArgs;
use crate::cli::arguments::name_rules::NameRules;
use crate::cli::files::input_name::Name;
use crate::cli::search::path_globs;
use bwz::{Error, Result};
use ignore::overrides::Override;
use ignore::{DirEntry, WalkBuilder};
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

/// A file to search, or something that is none.
pub(crate) struct SearchedFile {
    pub name: Name,
    /// The reason why it is none, if that is so.
    pub refused: Option<Error>,
}

impl SearchedFile {
    fn new(name: Name) -> Self {
        SearchedFile {
            name,
            refused: None,
        }
    }

    fn refused(name: Name, error: Error) -> Self {
        SearchedFile {
            name,
            refused: Some(error),
        }
    }
}

/// The files in order.
pub(crate) fn all(
    paths: &[PathBuf],
    args: &GrepArgs,
) -> Result<impl Iterator<Item = SearchedFile> + Send + use<>> {
    let is_here = paths.is_empty() && args.is_recursive();
    let given = match paths {
        [] if is_here => vec![PathBuf::from(".")],
        [] => vec![PathBuf::from("-")],
        paths => paths.to_vec(),
    };
    let choice = Choice {
        is_recursive: args.is_recursive(),
        follows_links: args.input.dereference_recursive,
        globs: path_globs::rules(&args.input.globs.glob)?,
        names: args.input.names.clone(),
        max_depth: args.input.max_depth,
        is_here,
    };
    Ok(given
        .into_iter()
        .flat_map(move |path| choice.files_of(path)))
}

/// The choice of the files that are searched.
struct Choice {
    is_recursive: bool,
    follows_links: bool,
    globs: Override,
    names: NameRules,
    max_depth: Option<usize>,
    /// The current directory is searched, because no path is given.
    is_here: bool,
}

impl Choice {
    /// The files of a path that is given.
    fn files_of(&self, path: PathBuf) -> Box<dyn Iterator<Item = SearchedFile> + Send> {
        let is_walked = self.is_recursive && path.is_dir();
        let is_left_out = match is_walked {
            true => !self.is_here && self.names.skip_directory(&path, true),
            false => path.as_os_str() != "-" && self.names.skip_file(&path, true),
        };
        match (is_left_out, is_walked) {
            (true, _) => Box::new(iter::empty()),
            (false, false) => Box::new(iter::once(named(&path))),
            (false, true) => self.files_in(path),
        }
    }

    /// The files in a directory, in the order of their names.
    fn files_in(&self, directory: PathBuf) -> Box<dyn Iterator<Item = SearchedFile> + Send> {
        let mut walk = WalkBuilder::new(&directory);
        walk.standard_filters(false)
            .follow_links(self.follows_links)
            .overrides(self.globs.clone())
            .max_depth(self.max_depth)
            .sort_by_file_name(|a, b| a.cmp(b));
        let names = self.names.clone();
        walk.filter_entry(move |entry| {
            let is_directory = entry
                .file_type()
                .is_some_and(|kind| kind.is_dir());
            let is_left_out = match is_directory {
                true => names.skip_directory(entry.path(), false),
                false => names.skip_file(entry.path(), false),
            };
            entry.depth() == 0 || !is_left_out
        });
        let is_here = self.is_here;
        let files = walk.build().filter_map(move |entry| {
            let mut file = file_of(entry, &directory)?;
            if is_here {
                file.name = shown(file.name);
            }
            Some(file)
        });
        Box::new(files)
    }
}

/// A path that is searched as a file, whatever it is.
fn named(path: &Path) -> SearchedFile {
    match path.as_os_str().is_empty() {
        true => {
            let error = Error::Usage("the name is empty".into());
            SearchedFile::refused(Name::File("''".into()), error)
        }
        false => SearchedFile::new(Name::from(path)),
    }
}

/// The file of an entry of a directory, or `None` if the entry is not searched.
fn file_of(
    entry: std::result::Result<DirEntry, ignore::Error>,
    root: &Path,
) -> Option<SearchedFile> {
    let entry = match entry {
        Ok(entry) => entry,
        Err(e) => {
            let name = Name::File(path_of(&e).unwrap_or(root).to_owned());
            let text = e.to_string();
            let cause = e
                .into_io_error()
                .unwrap_or_else(|| io::Error::other(text));
            return Some(SearchedFile::refused(name, Error::Io(cause)));
        }
    };
    let is_file = entry
        .file_type()
        .is_some_and(|kind| kind.is_file());
    is_file.then(|| SearchedFile::new(Name::File(entry.into_path())))
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
