//! Errors, one variant for each party that must act.
//!
//! The library never prints and never panics on input: every failure ends in one [`Error`]. Modules
//! that know neither files nor positions (coder, bwt, packed arrays) only name the damage, as a
//! [`Flaw`]; the module that knows the position adds it with [`Flaw::at`].

use std::borrow::Cow;
use std::fmt;
use std::io;

/// The result of every function of this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed.
///
/// ```
/// use bwz::{Error, Options, decompress};
///
/// let failure = decompress(&b"plain text"[..], std::io::sink(), &Options::new()).unwrap_err();
/// assert!(matches!(failure, Error::Format { offset: 0, .. }));
/// assert_eq!(
///     failure.to_string(),
///     "not a bwz file: its first bytes are not the bwz magic (at byte 0)"
/// );
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The environment failed: a read, a write, or a thread that could not be started.
    Io(io::Error),
    /// The compressed data is damaged or not in bwz's format. The party that made or moved the file
    /// must act.
    Format {
        /// Description of the damage, for a user.
        what: Cow<'static, str>,
        /// Block in which it was found, counted from 0 at the start of the file.
        block: Option<u64>,
        /// Offset of the damaged part in the compressed file, in bytes.
        offset: u64,
    },
    /// A part of the compressed data is of a kind that this release of bwz does not know, such as
    /// a coding of a later one. The data is not damaged, and its other parts can be read.
    Unsupported {
        /// The part and the release that reads it, for a user.
        what: Cow<'static, str>,
        /// The block, counted from 0 at the start of the file, if it is one.
        block: Option<u64>,
        /// Offset of the part in the compressed file, in bytes.
        offset: u64,
    },
    /// The compressed data has another version of the format, which another release of bwz reads.
    Version {
        /// The version, in words for a user.
        what: Cow<'static, str>,
        /// Offset of the version in the compressed file, in bytes.
        offset: u64,
    },
    /// The data asks for more than [`Options`](crate::Options) allow; raise the limit to go on.
    Limit {
        /// The object that needs it.
        what: Cow<'static, str>,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
        /// The limit that was exceeded.
        by: Bound,
    },
    /// The output would exceed [`Options::limit_output`](crate::Options::limit_output); raise the
    /// limit to go on.
    OutputLimit {
        /// The block or range that exceeds the limit.
        what: Cow<'static, str>,
        /// Bytes of output including it.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// The caller asked for something that makes no sense, such as a range behind the end.
    Usage(Cow<'static, str>),
    /// A device failed, or this build does not support the one that was asked for. If another
    /// device can do the work, streams and searches go on with it and give a warning.
    Device(Cow<'static, str>),
}

/// A limit on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// The memory that [`Options`](crate::Options) allow.
    Memory,
    /// The address space that the system allows this process, as by `ulimit -v`.
    AddressSpace,
    /// The private memory that the system allows this process, as by `ulimit -d`.
    Data,
    /// The sample distance of a block. In a file it may be above 1 GiB for blocks above 128 GiB,
    /// but bwz restores blocks with up to 1 GiB only.
    SampleRate,
}

impl Error {
    /// The error of a system that has no more memory; no limit of bwz was exceeded. `what_for`
    /// begins with "for" or "to".
    pub(crate) fn out_of_memory(what_for: &str) -> Self {
        let what = format!("there is not enough memory {what_for}");
        Error::Io(io::Error::new(io::ErrorKind::OutOfMemory, what))
    }

    /// This error with the block and offset added, if it is one of format or of a limit.
    pub(crate) fn at(self, block: u64, offset: u64) -> Self {
        match self {
            Error::Format { what, .. } => Error::Format {
                what,
                block: Some(block),
                offset,
            },
            Error::Limit {
                what,
                needed,
                allowed,
                by,
            } => {
                let what = format!("{what} (block {block}, at byte {offset})").into();
                Error::Limit {
                    what,
                    needed,
                    allowed,
                    by,
                }
            }
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(e) => e.fmt(f),
            Error::Format {
                what,
                block: Some(block),
                offset,
            } => {
                write!(f, "{what} (block {block}, at byte {offset})")
            }
            Error::Version { what, offset }
            | Error::Format { what, offset, .. }
            | Error::Unsupported { what, offset, .. } => write!(f, "{what} (at byte {offset})"),
            Error::Limit {
                what,
                needed,
                allowed,
                by,
            } => {
                let needed = Mib(*needed, f64::ceil);
                let allowed = Mib(*allowed, f64::floor);
                let (kind, limit) = match by {
                    Bound::Memory => {
                        return write!(f, "{what} needs {needed} of memory, {allowed} allowed");
                    }
                    Bound::SampleRate => {
                        let most = allowed.0;
                        return write!(
                            f,
                            "{what} cannot be restored; bwz restores blocks with samples up to \
                             {most} bytes apart"
                        );
                    }
                    Bound::AddressSpace => ("address space", "ulimit -v"),
                    Bound::Data => ("private memory", "ulimit -d"),
                };
                write!(
                    f,
                    "{what} needs {needed} of {kind}, but this process is limited to {allowed} ({limit})"
                )
            }
            Error::OutputLimit {
                what,
                needed,
                allowed,
            } => {
                write!(
                    f,
                    "{what} makes {needed} bytes of output, {allowed} allowed"
                )
            }
            Error::Usage(what) | Error::Device(what) => f.write_str(what),
        }
    }
}

/// A byte count in MiB, rounded so that it never claims that too much fits.
struct Mib(u64, fn(f64) -> f64);

impl fmt::Display for Mib {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", (self.1)(self.0 as f64 / (1 << 20) as f64))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(e) => Some(e),
            _ => None,
        }
    }
}

impl From<Flaw> for Error {
    /// The error of a flaw in data that is in no file, such as a lone [`Bwt`](crate::bwt::Bwt).
    fn from(flaw: Flaw) -> Self {
        flaw.at(None, 0)
    }
}

impl From<io::Error> for Error {
    /// Unwraps an [`Error`] that passed through `std::io`, as from [`Decoder`](crate::Decoder).
    fn from(e: io::Error) -> Self {
        match e.downcast::<Error>() {
            Ok(error) => error,
            Err(e) => Error::Io(e),
        }
    }
}

impl From<Error> for io::Error {
    fn from(e: Error) -> Self {
        let kind = match e {
            Error::Io(e) => return e,
            Error::Format { .. } => io::ErrorKind::InvalidData,
            Error::Limit { .. } => io::ErrorKind::OutOfMemory,
            Error::OutputLimit { .. } => io::ErrorKind::FileTooLarge,
            Error::Usage(_) => io::ErrorKind::InvalidInput,
            Error::Unsupported { .. } | Error::Version { .. } | Error::Device(_) => {
                io::ErrorKind::Unsupported
            }
        };
        io::Error::new(kind, e)
    }
}

/// The damage of a piece of data, in words for a user; [`Flaw::at`] adds the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw(pub &'static str);

impl Flaw {
    /// Not damage: there is no memory to work on the data. Its error is [`Error::Io`].
    pub const NO_MEMORY: Flaw = Flaw("there is not enough memory for a block");

    /// The sizes of slices do not add up to the block's.
    pub(crate) const WRONG_SLICES: Flaw = Flaw("the slices of a block do not fit it");

    /// Walks from the samples do not end at samples, or do not visit every row.
    pub(crate) const WRONG_SAMPLES: Flaw = Flaw("the samples of a block contradict its BWT");

    /// The CRC-32 of a block's raw bytes is not that of its header.
    pub(crate) const WRONG_RAW_BYTES: Flaw =
        Flaw("the checksum of the block's restored bytes is wrong");

    /// The numbers of line feeds in a seek table are not those of the raw bytes.
    pub(crate) const WRONG_LINE_FEEDS: Flaw =
        Flaw("the line feeds in the seek table are not those of the blocks");

    /// The error of this flaw, in block `block` or outside of blocks, at `offset` bytes into the
    /// compressed file.
    #[must_use]
    pub fn at(self, block: Option<u64>, offset: u64) -> Error {
        match self {
            Flaw::NO_MEMORY => Error::out_of_memory("for a block"),
            _ => Error::Format {
                what: Cow::Borrowed(self.0),
                block,
                offset,
            },
        }
    }
}

/// A numbered kind that this version does not know: an id of FORMAT.md section 1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The sort of thing that has the id, such as "coding".
    pub what: &'static str,
    /// The id.
    pub id: u16,
}

impl Unknown {
    /// The error of this kind, in block `block` or outside of blocks, at `offset` bytes into the
    /// compressed file. `reader` is the first release of bwz that reads it, if the file says so.
    pub(crate) fn at(self, block: Option<u64>, offset: u64, reader: Release) -> Error {
        Error::Unsupported {
            what: self.message(block, reader).into(),
            block,
            offset,
        }
    }

    /// The message of this error, without the offset.
    pub(crate) fn message(self, block: Option<u64>, reader: Release) -> String {
        let Unknown { what, id } = self;
        let part = block.map_or_else(|| "the frame".into(), |n| format!("block {n}"));
        format!("{part} has {what} {id}, which this bwz does not know; {reader}")
    }
}

/// The release of bwz that a frame says it needs: minor and major number, 0.0 if it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Release(pub [u8; 2]);

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [0, 0] => f.write_str("ask whoever made the file for a reader of it"),
            [minor, major] => write!(f, "bwz {major}.{minor} or newer reads it"),
        }
    }
}

/// The reason why a structure cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is damaged.
    Damaged(Flaw),
    /// It is of a kind that this version does not know.
    Unknown(Unknown),
}

impl From<Flaw> for Unreadable {
    fn from(flaw: Flaw) -> Self {
        Unreadable::Damaged(flaw)
    }
}

impl Unreadable {
    /// The error of this reason, with its position as [`Unknown::at`] takes it.
    pub(crate) fn at(self, block: Option<u64>, offset: u64, reader: Release) -> Error {
        match self {
            Unreadable::Damaged(flaw) => flaw.at(block, offset),
            Unreadable::Unknown(unknown) => unknown.at(block, offset, reader),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_survives_the_way_through_std_io() {
        let there = io::Error::from(Flaw("bent").at(Some(3), 70));
        assert_eq!(there.kind(), io::ErrorKind::InvalidData);
        assert_eq!(Error::from(there).to_string(), "bent (block 3, at byte 70)");
    }

    #[test]
    fn a_limit_says_how_much_would_do() {
        let limit = |by| Error::Limit {
            what: "one block".into(),
            needed: (6 << 20) + 1,
            allowed: (6 << 20) - 1,
            by,
        };
        let said = limit(Bound::Memory).to_string();
        assert_eq!(said, "one block needs 7 MiB of memory, 5 MiB allowed");
        let said = limit(Bound::AddressSpace).to_string();
        assert_eq!(
            said,
            "one block needs 7 MiB of address space, but this process is limited to 5 MiB (ulimit -v)"
        );
    }
}
