//! The conformance kit `format/conformance/` of FORMAT.md, chapter 21, and the examples of that
//! page. The library, the command and `decoder.py`, which was written from the specification alone,
//! must agree about them.
//!
//! The files of the kit are made here: right ones by the library or from parts, wrong ones by
//! putting one fault into a right one and mending the checksums around it. After a change of the
//! format, or of the bytes that the encoder writes: `just bless`.
//!
//! | file | job |
//! |---|---|
//! | `kit` | the files and their MANIFEST; runs the library, the command and `run.py` on them |
//! | `valid`, `containers`, `filters` | right files: as bwz writes them, with parts that it does not write, with unusual filters |
//! | `sequence_tables` | files whose tables of sequences and records are right or wrong |
//! | `unsupported`, `unsupported::*` | files with unknown ids, or of another version |
//! | `invalid`, `invalid::*` | damaged files |
//! | `frames`, `patient` | frames that are put together from blocks; files with changed fields |
//! | `seek_content` | the fields of a Seek_Table |
//! | `by_position` | the library as a reader by position, on the kit and on other files |
//! | `page` | the examples of FORMAT.md |
//! | `fresh` | `decoder.py` on files that are not in the kit |
//! | `python`, `sha256` | runs Python; the digest of MANIFEST |
//!
//! `decoder.py` needs Python. Without it these tests print that they are skipped, or fail if
//! BWZ_REQUIRE_PYTHON is set.

#[path = "../common/mod.rs"]
mod common;

mod by_position;
mod containers;
mod filters;
mod frames;
mod fresh;
mod invalid;
mod kit;
mod page;
mod patient;
mod python;
mod seek_content;
mod sequence_tables;
mod sha256;
mod unsupported;
mod valid;
