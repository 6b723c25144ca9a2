//! Formats of other compressors, known by the first bytes of a file.

use crate::cli::files::input_name::Name;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A format of another compressor. Files of bgzip count as gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

/// Bytes that are enough to identify any format.
pub(crate) const LONGEST_MAGIC: u64 = 10;

/// Endings of names of compressed files, each with the ending of the name of the content.
const SUFFIXES: [(&str, &str); 7] = [
    (".gz", ""),
    (".bgz", ""),
    (".gzip", ""),
    (".tgz", ".tar"),
    (".zst", ""),
    (".zstd", ""),
    (".tzst", ".tar"),
];

impl Format {
    /// Returns the format of a file that begins with these bytes, if it is known.
    pub(crate) fn of(start: &[u8]) -> Option<Format> {
        match start {
            [0x1F, 0x8B, 8, ..] => Some(Format::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if begins_bzip2(rest) => Some(Format::Bzip2),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Format::Xz),
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => {
                Some(Format::Zstd)
            }
            _ => None,
        }
    }

    /// Returns the format of a regular file. It is `None` also for a file that cannot be read.
    pub(crate) fn of_file(path: &Path) -> Option<Format> {
        if !path.is_file() {
            return None;
        }
        let mut start = Vec::new();
        File::open(path)
            .ok()?
            .take(LONGEST_MAGIC)
            .read_to_end(&mut start)
            .ok()?;
        Format::of(&start)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Gzip => "gzip",
            Format::Bzip2 => "bzip2",
            Format::Xz => "xz",
            Format::Zstd => "zstd",
        }
    }

    /// True if `--decompress-input` reads this format.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Format::Gzip | Format::Zstd)
    }

    /// Returns the command that compresses the content of a file of this format, with `options`.
    pub(crate) fn command(self, name: &Name, options: &str) -> String {
        let program = self.name();
        match name {
            Name::File(path) if self.is_read() => {
                format!("bwz {options}--decompress-input {}", path.display())
            }
            Name::Stdin if self.is_read() => format!("bwz {options}--decompress-input"),
            Name::File(path) => {
                let output = path.with_extension("bwz");
                let path = path.display();
                let output = output.display();
                format!("{program} -dc {path} | bwz {options}-o {output}")
            }
            Name::Stdin => format!("{program} -dc | bwz {options}-o FILE.bwz"),
        }
    }
}

/// True for the bytes after the first four of bzip2: the digits of pi for a block, or those of its
/// square root for the end. Text may begin with the first four.
fn begins_bzip2(bytes: &[u8]) -> bool {
    const BLOCK: [u8; 6] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const END: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    [BLOCK, END]
        .iter()
        .any(|magic| bytes.len() >= 3 && (bytes.starts_with(magic) || magic.starts_with(bytes)))
}

/// Returns the name of the content of a compressed file, without the suffix of the compressor.
pub(crate) fn name_inside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    for (suffix, ending) in SUFFIXES {
        if let Some(stem) = name
            .strip_suffix(suffix.as_bytes())
            .filter(|stem| !stem.is_empty())
        {
            let inside = [stem, ending.as_bytes()].concat();
            return path.with_file_name(OsString::from_vec(inside));
        }
    }
    path.with_file_name(OsStr::from_bytes(name))
}

/// Returns the format of `input`, and a reader of all its bytes.
pub(crate) fn peek<R: Read>(mut input: R) -> io::Result<(Option<Format>, impl Read + use<R>)> {
    let mut start = Vec::new();
    input
        .by_ref()
        .take(LONGEST_MAGIC)
        .read_to_end(&mut start)?;
    Ok((Format::of(&start), Cursor::new(start).chain(input)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        assert_eq!(Format::of(b"\x1F\x8B\x08\x04"), Some(Format::Gzip));
        assert_eq!(Format::of(b"BZh91AY"), Some(Format::Bzip2));
        assert_eq!(Format::of(b"\xFD7zXZ\0"), Some(Format::Xz));
        assert_eq!(Format::of(b"\x28\xB5\x2F\xFD"), Some(Format::Zstd));
        assert_eq!(Format::of(b"\x5A\x2A\x4D\x18"), Some(Format::Zstd));
        for other in [
            &b""[..],
            b"\x1F\x8B",
            b"BZh0",
            b"BZ",
            b"BZh1 is text",
            b"\xFD7zXZ",
            b">chr1",
            b"\xF7bwz",
        ] {
            assert_eq!(Format::of(other), None, "{other:?}");
        }
    }

    #[test]
    fn names_lose_the_suffix_of_a_compressor() {
        let cases = [
            ("a/x.fa.gz", "a/x.fa"),
            ("x.tgz", "x.tar"),
            ("x.zst", "x"),
            ("x.tzst", "x.tar"),
            ("x.fq.bgz", "x.fq"),
            (".gz", ".gz"),
            ("a/x", "a/x"),
            ("x.GZ", "x.GZ"),
            ("x.xz", "x.xz"),
        ];
        for (name, inside) in cases {
            assert_eq!(name_inside(Path::new(name)), Path::new(inside));
        }
    }

    #[test]
    fn a_peek_leaves_all_bytes() {
        for text in ["", "abc", "BZh91AY&SY and more than a few bytes"] {
            let (format, mut input) = peek(text.as_bytes()).unwrap();
            let mut read = String::new();
            input.read_to_string(&mut read).unwrap();
            assert_eq!(
                (read.as_str(), format.is_some()),
                (text, text.starts_with('B'))
            );
        }
    }
}
