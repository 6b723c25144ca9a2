//! `-l --map`: the blocks of files as rows of marks, which show at a glance where a file compresses
//! badly, and which filters and indexes its blocks have.
//!
//! A mark stands for one block, or for several if there are many. It has two characters, one above
//! the other: the ratio as a digit, and the form as a letter. Colours only repeat what they say.

use crate::cli::arguments::size::{count, human};
use crate::cli::files::descriptors;
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::report::console::printable;
use crate::cli::report::screen::{columns, has_colors};
use bwz::{Archive, BlockInfo, Features, Options, Result};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Maximum number of rows of a file.
const ROWS: usize = 12;
/// Columns before the marks: the number of the first block.
const MARGIN: usize = 10;

const LEGEND: &str = "\
Above, the ratio: 0 is below 0.1 of the raw size, 9 is 0.9 or more.
Below, the form; a capital has an index:
. stored  b bytes  f fields  m matches  r regions  s sequences  ? unknown
";

/// Draws the blocks of one file after the other.
pub(crate) struct BlockMap {
    out: BufWriter<File>,
    width: usize,
    is_terminal: bool,
    is_colored: bool,
    /// True if a file was drawn.
    has_files: bool,
}

impl BlockMap {
    /// Creates a map on standard output, as wide as the terminal.
    pub(crate) fn new() -> io::Result<Self> {
        let out = descriptors::stdout()?;
        let is_terminal = out.is_terminal();
        let width = usize::from(columns(&out)).saturating_sub(MARGIN);
        Ok(BlockMap {
            out: BufWriter::new(out),
            width: width.max(10),
            is_terminal,
            is_colored: has_colors(is_terminal),
            has_files: false,
        })
    }

    /// Draws the blocks of a file. Only its tables are read.
    pub(crate) fn add(&mut self, name: &Name, options: &Options) -> Result<Archive<File>> {
        let archive = Archive::open(input::open_seekable(name)?, options)?;
        let blocks = archive.blocks();
        let per_mark = blocks.len().div_ceil(self.width * ROWS).max(1);
        let name = match self.is_terminal {
            true => printable(&name.to_string()),
            false => name.to_string(),
        };
        let largest = archive
            .frames()
            .iter()
            .map(|frame| frame.block_size);
        let largest = human(largest.max().unwrap_or(0));
        let number = count(blocks.len() as u64, "block");
        write!(self.out, "{name}: {number} of up to {largest}")?;
        match per_mark {
            1 => writeln!(self.out)?,
            _ => writeln!(self.out, ", {per_mark} a mark")?,
        }
        let marks: Vec<Mark> = blocks.chunks(per_mark).map(Mark::of).collect();
        for (row, marks) in marks.chunks(self.width).enumerate() {
            self.row(row * self.width * per_mark, marks)?;
        }
        self.has_files = true;
        Ok(archive)
    }

    /// Draws a row whose first mark begins with block `first`.
    fn row(&mut self, first: usize, marks: &[Mark]) -> io::Result<()> {
        write!(self.out, "{first:>9} ")?;
        self.line(marks, |mark| (mark.ratio, mark.ratio_color()))?;
        write!(self.out, "{:MARGIN$}", "")?;
        self.line(marks, |mark| (mark.form, mark.form_color()))
    }

    fn line(&mut self, marks: &[Mark], of: impl Fn(&Mark) -> (char, u8)) -> io::Result<()> {
        let mut before = None;
        for mark in marks {
            let (character, color) = of(mark);
            if self.is_colored && before != Some(color) {
                write!(self.out, "\x1b[{color}m")?;
                before = Some(color);
            }
            write!(self.out, "{character}")?;
        }
        let end = if self.is_colored { "\x1b[0m" } else { "" };
        writeln!(self.out, "{end}")
    }

    /// Explains the marks.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.has_files {
            self.out.write_all(LEGEND.as_bytes())?;
        }
        self.out.flush()
    }
}

/// The mark of a row of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// The coded size as tenths of the raw size.
    ratio: char,
    /// The most frequent form.
    form: char,
}

impl Mark {
    fn of(blocks: &[BlockInfo]) -> Self {
        let raw: u64 = blocks
            .iter()
            .map(|block| block.raw.end - block.raw.start)
            .sum();
        let coded = blocks
            .iter()
            .map(|block| block.coded.end - block.coded.start);
        let tenths = (coded.sum::<u64>() as f64 * 10.0 / raw.max(1) as f64) as u32;
        let forms = blocks.iter().map(|block| form(block.features()));
        Mark {
            ratio: char::from_digit(tenths.min(9), 10).expect("a digit is below 10"),
            form: most_frequent(forms),
        }
    }

    /// Green for small blocks, yellow for halves, red for those that hardly shrink.
    fn ratio_color(self) -> u8 {
        match self.ratio {
            '0'..='2' => 32,
            '3'..='5' => 33,
            _ => 31,
        }
    }

    /// Cyan for an index, red for what is unknown.
    fn form_color(self) -> u8 {
        match self.form {
            '?' => 31,
            form if form.is_ascii_uppercase() => 36,
            _ => 39,
        }
    }
}

/// The letter of a block with these features. Of several filters the first in this list counts.
fn form(features: Features) -> char {
    let filters = [
        (Features::OTHER, '?'),
        (Features::SEQUENCES, 's'),
        (Features::FIELDS, 'f'),
        (Features::MATCHES, 'm'),
        (Features::REGIONS, 'r'),
        (Features::STATIC_RANS, 'b'),
        (Features::CONTEXT_MIXING, 'b'),
    ];
    let used = filters
        .into_iter()
        .find(|(feature, _)| features.contains(*feature));
    match used {
        None => '.',
        Some((_, letter)) if features.contains(Features::INDEX) => letter.to_ascii_uppercase(),
        Some((_, letter)) => letter,
    }
}

/// The most frequent character, and of several the one that comes first in the alphabet. What is
/// unknown is always shown.
fn most_frequent(forms: impl Iterator<Item = char>) -> char {
    let mut counts = [0_usize; 128];
    for form in forms {
        counts[form as usize & 127] += 1;
    }
    if counts[usize::from(b'?')] > 0 {
        return '?';
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let first = counts.iter().position(|&count| count == most);
    char::from(first.unwrap_or(0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_a_letter() {
        let coded = Features::STATIC_RANS;
        for (features, letter) in [
            (Features::default(), '.'),
            (coded, 'b'),
            (coded.with(Features::INDEX), 'B'),
            (
                coded
                    .with(Features::INDEX)
                    .with(Features::SEQUENCES),
                'S',
            ),
            (
                coded
                    .with(Features::FIELDS)
                    .with(Features::MATCHES),
                'f',
            ),
            (Features::OTHER, '?'),
        ] {
            assert_eq!(form(features), letter);
        }
    }

    #[test]
    fn many_blocks_have_their_most_frequent_form() {
        for (forms, most) in [("bffb.f", 'f'), ("bf", 'b'), ("bbb?", '?'), ("..b", '.')] {
            assert_eq!(most_frequent(forms.chars()), most, "{forms}");
        }
    }
}
