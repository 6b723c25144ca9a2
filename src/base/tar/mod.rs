//! The members of a tar archive: files, directories and links. They are found by their headers
//! while the bytes of the archive pass, and need no bytes of the content.
//!
//! | file | job |
//! |---|---|
//! | `member` | [`Member`], a file of the archive |
//! | `walk` | from one header to the next |
//! | `header` | the fields of one header |
//! | `long_fields` | long names, and the records of pax |
//! | `decimal` | numbers in text |
//! | `sparse` | the parts of a file with holes |
//!
//! It reads the formats of GNU tar, POSIX (ustar and pax), bsdtar and the old V7, with sparse files
//! of GNU tar in all of its four forms. The crate `tar` knows the layout of the header.

mod decimal;
mod header;
mod long_fields;
mod member;
mod sparse;
mod walk;

pub(crate) use header::is_header;
pub use member::{Member, MemberKind};
pub(crate) use sparse::{SparseOutput, SparseParts};
pub(crate) use walk::{End, FoundMember, TarWalk};

/// Bytes of a header. Members begin at multiples of it.
pub(crate) const UNIT: u64 = 512;
