//! Names of inputs, and the directories they are in.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An input as the user knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Stdin,
    File(PathBuf),
}

impl From<&Path> for Name {
    fn from(path: &Path) -> Self {
        match path.as_os_str().as_bytes() {
            b"-" => Name::Stdin,
            _ => Name::File(path.to_owned()),
        }
    }
}

impl Name {
    /// The bytes of the name, which need not be UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Name::Stdin => b"(stdin)",
            Name::File(path) => path.as_os_str().as_bytes(),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Stdin => f.write_str("(stdin)"),
            Name::File(path) => path.display().fmt(f),
        }
    }
}

/// The directory that a file is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str() != OsStr::new("") => parent,
        _ => Path::new("."),
    }
}
