//! The files of a collection: raw, or compressed by bwz.

use crate::archive::Archive;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::frame::MAGIC;
use crate::options::Options;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;

/// A file that is read by position, as often as necessary.
#[derive(Debug)]
pub struct Input<R>(InputKind<R>);

#[derive(Debug)]
enum InputKind<R> {
    Raw(R, u64),
    Compressed(Box<Archive<R>>),
}

impl<R: Read + Seek + Send> Input<R> {
    /// Opens `reader` as compressed if its first bytes are those of a bwz file, and as raw
    /// otherwise.
    ///
    /// # Errors
    /// Errors of reading, and for a compressed file those of [`Archive::open`].
    pub fn open(mut reader: R, options: &Options) -> Result<Self> {
        let size = reader.seek(SeekFrom::End(0))?;
        reader.rewind()?;
        let mut magic = Vec::new();
        reader
            .by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut magic)?;
        reader.rewind()?;
        match magic == MAGIC {
            true => Ok(Input(InputKind::Compressed(Box::new(Archive::open(
                reader, options,
            )?)))),
            false => Ok(Input(InputKind::Raw(reader, size))),
        }
    }
}

impl<R> Input<R> {
    /// True if the file is compressed by bwz.
    pub fn is_compressed(&self) -> bool {
        matches!(self.0, InputKind::Compressed(_))
    }

    /// Size in bytes; for a compressed file that of the decompressed content.
    pub fn size(&self) -> u64 {
        match &self.0 {
            InputKind::Raw(_, size) => *size,
            InputKind::Compressed(archive) => archive.raw_size(),
        }
    }
}

impl<R: Read + Seek + Send> Input<R> {
    /// Reads the bytes of a range. Blocks are decoded within `memory` bytes.
    pub(super) fn read(&mut self, range: Range<u64>, memory: u64) -> Result<Vec<u8>> {
        let len = (range.end - range.start) as usize;
        let bytes = allocation::with_capacity(len);
        let mut bytes: Vec<u8> = bytes.ok_or_else(|| Error::out_of_memory("for a text"))?;
        match &mut self.0 {
            InputKind::Raw(reader, _) => {
                reader.seek(SeekFrom::Start(range.start))?;
                reader
                    .by_ref()
                    .take(len as u64)
                    .read_to_end(&mut bytes)?;
            }
            InputKind::Compressed(archive) => {
                archive.options = archive.options.clone().memory(memory);
                archive.read_range(range, &mut bytes)?;
            }
        }
        if bytes.len() < len {
            let what = "it became shorter while it was read";
            return Err(Error::Io(io::Error::new(ErrorKind::UnexpectedEof, what)));
        }
        Ok(bytes)
    }
}
