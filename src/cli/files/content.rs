//! The form in which a file holds its content: plain, as .bwz, or made by another compressor.

use crate::cli::files::foreign_input::ForeignInput;
use crate::cli::files::input::OpenInput;
use crate::cli::files::input_name::Name;
use crate::cli::files::known_formats::{Format, LONGEST_MAGIC};
use bwz::{Decoder, MAGIC, Options, Result};
use std::io::{self, Cursor, Read};

/// The form of a file's content.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    Plain,
    Bwz,
    Foreign(Format),
}

/// A source whose first bytes were looked at.
pub(crate) type Sniffed<R> = io::Chain<Cursor<Vec<u8>>, R>;

impl Content {
    /// The form by the first bytes of `source`, and all of the source.
    pub(crate) fn sniff<R: Read>(mut source: R) -> io::Result<(Content, Sniffed<R>)> {
        let mut start = Vec::new();
        source
            .by_ref()
            .take(LONGEST_MAGIC)
            .read_to_end(&mut start)?;
        let content = match Format::of(&start) {
            Some(format) => Content::Foreign(format),
            None if start.starts_with(&MAGIC) => Content::Bwz,
            None => Content::Plain,
        };
        Ok((content, Cursor::new(start).chain(source)))
    }
}

/// The content of a file, whatever form it has.
pub(crate) fn open(name: &Name, threads: usize, options: &Options) -> Result<Box<dyn Read>> {
    let OpenInput { mut source, .. } = OpenInput::open(name, true)?;
    source.read_beside(threads);
    let (content, source) = Content::sniff(source)?;
    Ok(match content {
        Content::Plain => Box::new(source),
        Content::Bwz => Box::new(Decoder::new(source, options)),
        Content::Foreign(format) => Box::new(ForeignInput::open(source, format)?),
    })
}
