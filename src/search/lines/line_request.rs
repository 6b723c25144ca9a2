//! A request for lines, and the regions that answer it.

use std::ops::Range;

/// A request for the lines that hold literals, for
/// [`Archive::find_lines`](crate::Archive::find_lines).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LineRequest {
    /// Sets of literals. Each set alone is required: a wanted line holds a member of every set.
    pub sets: Vec<Vec<Vec<u8>>>,
    /// Number of lines before and after each wanted line that are needed too.
    pub context: [u64; 2],
    /// The byte that ends lines. No literal holds it.
    pub terminator: u8,
    /// The numbers of lines are needed.
    pub numbered: bool,
    /// Maximum number of wanted lines, or `u64::MAX`. If the first block seems to hold that many, a
    /// scan from the start ends before the other blocks are searched.
    pub most: u64,
}

impl LineRequest {
    /// A request for lines that end with a line feed, without context and numbers.
    pub fn new(sets: Vec<Vec<Vec<u8>>>) -> Self {
        LineRequest {
            sets,
            context: [0, 0],
            terminator: b'\n',
            numbered: false,
            most: u64::MAX,
        }
    }
}

/// Lines that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineRegion {
    /// Range of the lines in the raw stream.
    pub range: Range<u64>,
    /// Number of the first line, from 1, if numbers were asked for.
    pub first_line: Option<u64>,
    /// The text of the lines, one piece after the other.
    pub pieces: Vec<LinePiece>,
}

/// A piece of the text of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePiece {
    /// Bytes that were read.
    Text(Vec<u8>),
    /// The whole block of this number.
    Block(u64),
}
