//! The results of a search.

use std::ops::Range;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeats {
    /// The result for each text.
    pub files: Vec<FileRepeats>,
    /// The window with the most copies, or the first of several such windows. `None` if there are
    /// no copies, or if it is unknown because the texts did not fit in memory together.
    pub most_frequent: Option<MostFrequent>,
    /// Number of parts in which the texts were read.
    pub parts: usize,
}

/// The result for one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRepeats {
    /// Size of the text in bytes.
    pub size: u64,
    /// The bytes of copies, in ascending order; ranges do not touch each other.
    pub ranges: Vec<Range<u64>>,
    /// The bytes of copies that belong to no original, if
    /// [`Search::later_copies`](super::Search::later_copies) asked for them. An original is the
    /// first of equal windows. If these ranges are cut out, each window that was there more than
    /// once is still there. If a copy overlaps its original, the original stays whole.
    pub later_copies: Vec<Range<u64>>,
}

/// A window that has copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MostFrequent {
    /// The text that contains it first, counted from 0.
    pub file: usize,
    /// Offset in that text, in bytes.
    pub offset: u64,
    /// Number of later windows that are equal to it.
    pub copies: u64,
}
