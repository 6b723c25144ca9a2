//! What can go wrong, split by who must act.
//!
//! The library never prints and never panics on input: everything that fails ends in one [`Error`].
//! The rooms that know neither files nor positions (coder, bwt, packed arrays) say only *what* is
//! wrong, as a [`Flaw`]; the room that knows the place adds it with [`Flaw::at`].

use std::borrow::Cow;
use std::fmt;
use std::io;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
///
/// ```
/// use bwz::{Error, Options, decompress};
///
/// let failure = decompress(&b"plain text"[..], std::io::sink(), &Options::new()).unwrap_err();
/// assert!(matches!(failure, Error::Format { offset: 0, .. })); assert_eq!(failure.to_string(),
/// "not a bwz file: its first bytes are not the bwz magic (at byte 0)");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The environment failed: a read, a write, a thread that could not be started.
    Io(io::Error),
    /// The compressed data is damaged or not ours; who made or moved the file must act.
    Format {
        /// What is wrong, for a person.
        what: Cow<'static, str>,
        /// The block it was found in, counted from 0 at the start of the file.
        block: Option<u64>,
        /// Where in the compressed file the damaged part starts, in bytes.
        offset: u64,
    },
    /// The compressed data is of another version of the format, which another bwz reads.
    Version {
        /// Which one, for a person.
        what: Cow<'static, str>,
        /// Where in the compressed file it says so, in bytes.
        offset: u64,
    },
    /// The data asks for more than [`Options`](crate::Options) allow; raise the limit to go on.
    Limit {
        /// What asked for it.
        what: Cow<'static, str>,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
        /// Who allows no more.
        by: Bound,
    },
    /// More would come out than [`Options::limit_output`](crate::Options::limit_output) allows;
    /// raise the limit to go on.
    OutputLimit {
        /// The block or range that is too much.
        what: Cow<'static, str>,
        /// Bytes that would have come out with it.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// The caller asked for something that makes no sense, such as a range behind the end.
    Usage(Cow<'static, str>),
    /// A device failed, or this build has nothing for the one that was asked for. Where another can
    /// do the work, streams and searches go on with it and say so as a warning.
    Device(Cow<'static, str>),
}

/// A limit on what is taken to work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// The memory that [`Options`](crate::Options) allow.
    Memory,
    /// The address space that the system allows this process, as by `ulimit -v`.
    AddressSpace,
    /// The private memory that the system allows this process, as by `ulimit -d`.
    Data,
    /// The distance of the samples of a block, which in blocks above 128 GiB may be larger than the
    /// 1 GiB that is restored.
    SampleRate,
}

impl Error {
    /// The system, not a limit of ours, has no more memory for this; `what_for` begins with "for"
    /// or "to".
    pub(crate) fn out_of_memory(what_for: &str) -> Self {
        let what = format!("there is not enough memory {what_for}");
        Error::Io(io::Error::new(io::ErrorKind::OutOfMemory, what))
    }

    /// This error, with the place added where it is one of format, or of what a block needs.
    pub(crate) fn at(self, block: u64, offset: u64) -> Self {
        match self {
            Error::Format { what, .. } => Error::Format { what, block: Some(block), offset },
            Error::Limit { what, needed, allowed, by } => {
                let what = format!("{what} (block {block}, at byte {offset})").into();
                Error::Limit { what, needed, allowed, by }
            }
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(e) => e.fmt(f),
            Error::Format { what, block: Some(block), offset } => {
                write!(f, "{what} (block {block}, at byte {offset})")
            }
            Error::Version { what, offset } => write!(f, "{what} (at byte {offset})"),
            Error::Format { what, block: None, offset } => write!(f, "{what} (at byte {offset})"),
            Error::Limit { what, needed, allowed, by } => {
                let (needed, allowed) = (Mib(*needed, f64::ceil), Mib(*allowed, f64::floor));
                let (kind, limit) = match by {
                    Bound::Memory => {
                        return write!(f, "{what} needs {needed} of memory, {allowed} allowed");
                    }
                    Bound::SampleRate => {
                        let most = allowed.0;
                        return write!(
                            f,
                            "{what}, of which bwz restores those of up to {most} bytes"
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
            Error::OutputLimit { what, needed, allowed } => {
                write!(f, "{what} makes {needed} bytes of output, {allowed} allowed")
            }
            Error::Usage(what) | Error::Device(what) => f.write_str(what),
        }
    }
}

/// A byte count in MiB, rounded away from any claim that too much fits.
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
    /// A flaw in data that stands alone, such as a lone [`Bwt`](crate::bwt::Bwt).
    fn from(flaw: Flaw) -> Self {
        flaw.at(None, 0)
    }
}

impl From<io::Error> for Error {
    /// Unwraps an [`Error`] that travelled through `std::io`, as from [`Decoder`](crate::Decoder).
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
            Error::Version { .. } | Error::Device(_) => io::ErrorKind::Unsupported,
        };
        io::Error::new(kind, e)
    }
}

/// What is wrong with a piece of data, in words a user can read; the place is added by
/// [`Flaw::at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw(pub &'static str);

impl Flaw {
    /// No flaw of the data: there is no memory to work on it. Its error is [`Error::Io`].
    pub const NO_MEMORY: Flaw = Flaw("there is not enough memory for a block");

    /// The sizes of slices do not add up to the block's.
    pub(crate) const WRONG_SLICES: Flaw = Flaw("the slices of a block do not fit it");

    /// Walks from the samples do not end at samples, or do not pass every row.
    pub(crate) const WRONG_SAMPLES: Flaw = Flaw("the samples of a block contradict its BWT");

    /// No flaw of the data: it is of a later version. Its error is [`Error::Version`].
    pub const LATER_TABLE: Flaw =
        Flaw("a table of this file is of a type that this bwz does not know: a later bwz reads it");

    /// The error of this flaw in the given block, or outside of blocks, `offset` bytes into the
    /// compressed file.
    #[must_use]
    pub fn at(self, block: Option<u64>, offset: u64) -> Error {
        match self {
            Flaw::NO_MEMORY => Error::out_of_memory("for a block"),
            Flaw::LATER_TABLE => Error::Version { what: Cow::Borrowed(self.0), offset },
            _ => Error::Format { what: Cow::Borrowed(self.0), block, offset },
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
