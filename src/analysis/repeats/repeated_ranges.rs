//! What a search finds.

use std::ops::Range;

/// What is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// For each text.
    pub files: Vec<FileRepeats>,
    /// The window with the most copies, the first of several; `None` where there are no copies,
    /// or where it is not known since the texts did not fit memory together.
    pub most_frequent: Option<MostFrequent>,
    /// In how many parts the texts were read.
    pub parts: usize,
}

/// What is found in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRepeats {
    /// Bytes of the text.
    pub size: u64,
    /// The bytes of copies, in ascending order; ranges do not touch each other.
    pub ranges: Vec<Range<u64>>,
    /// Of those the bytes that belong to no original, if
    /// [`Search::later_copies`](super::Search::later_copies) asked for them. An original is the
    /// first of equal windows: where these ranges are cut out, each window that was there more than
    /// once is still there. Where a copy overlaps its original, that stays whole.
    pub later_copies: Vec<Range<u64>>,
}

/// A window that has copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostFrequent {
    /// The text where it comes first, counted from 0.
    pub file: usize,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// How many later windows are equal to it.
    pub copies: u64,
}
