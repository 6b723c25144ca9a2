//! A file of patterns in chunks that end at the end of a pattern. They are read directly into the
//! memory in which the patterns stay.

use crate::cli::search::pattern_batch::{PatternPart, SpareParts};
use crate::cli::search::pattern_syntax::Format;
use bwz::Result;
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::mem;

const BUFFER: usize = 256 << 10;
const GZIP: &[u8] = b"\x1f\x8b";

/// Bytes that are read at a time until the first record is found.
const PIECE: u64 = 1 << 10;
/// Maximum bytes before the first record.
const MOST_IN_FRONT: usize = 1 << 20;

/// A file of patterns while it is read.
pub(crate) struct PatternChunks<'a> {
    input: Box<dyn Read + Send + 'a>,
    pub format: Format,
    /// Bytes of a chunk. A longer pattern gets a larger chunk.
    size: usize,
    /// Bytes of memory that a chunk gets for each of its bytes.
    copies: usize,
    /// Spare memory for chunks.
    spare: Option<&'a SpareParts>,
    /// Bytes that were read after the last chunk.
    rest: Vec<u8>,
    is_over: bool,
    failed: Option<io::Error>,
}

impl<'a> PatternChunks<'a> {
    /// Creates the chunks of a file of lines.
    pub(crate) fn lines(input: impl Read + Send + 'a, size: usize) -> Self {
        Self::new(Box::new(input), Format::Lines, size)
    }

    /// Creates the chunks of a file of FASTA or FASTQ, which may be compressed with gzip.
    ///
    /// # Errors
    /// [`bwz::Error::Usage`] if it is neither.
    pub(crate) fn sequences(mut input: impl Read + Send + 'a, size: usize) -> Result<Self> {
        let mut first = Vec::new();
        input
            .by_ref()
            .take(GZIP.len() as u64)
            .read_to_end(&mut first)?;
        let mut input: Box<dyn Read + Send + 'a> = Box::new(input);
        if first == GZIP {
            let file = Cursor::new(mem::take(&mut first)).chain(input);
            input = Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file)));
        }
        loop {
            if let Some(format) = Format::of_sequences(&first)? {
                return Ok(PatternChunks {
                    rest: first,
                    ..Self::new(input, format, size)
                });
            }
            let piece = if first.is_empty() { 1 } else { PIECE };
            let read = input
                .by_ref()
                .take(piece)
                .read_to_end(&mut first)?;
            if read == 0 || first.len() > MOST_IN_FRONT {
                let what = match first.is_empty() {
                    true => "is empty: there are no sequences",
                    false => "has no record of FASTA or FASTQ after its blank lines and comments",
                };
                return Err(bwz::Error::Usage(what.into()));
            }
        }
    }

    fn new(input: Box<dyn Read + Send + 'a>, format: Format, size: usize) -> Self {
        let rest = Vec::new();
        let is_over = false;
        let failed = None;
        PatternChunks {
            input,
            format,
            size,
            copies: 1,
            spare: None,
            rest,
            is_over,
            failed,
        }
    }

    /// Gives each chunk room for `copies` copies of its bytes. Spare memory is used first.
    pub(crate) fn with_room(self, copies: usize, spare: &'a SpareParts) -> Self {
        PatternChunks {
            copies,
            spare: Some(spare),
            ..self
        }
    }

    /// True if there are no more chunks and no error.
    pub(crate) fn are_over(&self) -> bool {
        self.is_over && self.failed.is_none()
    }

    /// Returns memory for a chunk.
    fn part(&self) -> PatternPart {
        self.spare
            .and_then(SpareParts::take)
            .unwrap_or_else(|| {
                let mut part = PatternPart::default();
                part.bytes.reserve_exact(self.copies * self.size);
                part
            })
    }

    /// Reads until `bytes` are full or the file ends. Returns the number of bytes read.
    fn fill(&mut self, bytes: &mut [u8]) -> usize {
        let mut len = 0;
        while len < bytes.len() {
            match self.input.read(&mut bytes[len..]) {
                Ok(0) => {
                    self.is_over = true;
                    break;
                }
                Ok(read) => len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    (self.is_over, self.failed) = (true, Some(error));
                    break;
                }
            }
        }
        len
    }
}

impl Iterator for PatternChunks<'_> {
    type Item = io::Result<PatternPart>;

    /// Returns the next chunk. A failed read gives an error after the patterns before it, and ends
    /// the chunks.
    fn next(&mut self) -> Option<io::Result<PatternPart>> {
        if self.is_over {
            return self.failed.take().map(Err);
        }
        let mut part = self.part();
        let bytes = &mut part.bytes;
        let rest = mem::take(&mut self.rest);
        let mut len = rest.len();
        // The bytes in spare memory are overwritten, which is faster than clearing them.
        bytes.resize(bytes.len().max(len), 0);
        bytes[..len].copy_from_slice(&rest);
        loop {
            let wanted = self.size.max(2 * len);
            bytes.resize(bytes.len().max(wanted), 0);
            len += self.fill(&mut bytes[len..wanted]);
            if self.is_over && self.failed.is_none() {
                bytes.truncate(len);
                return Some(Ok(part));
            }
            let whole = self.format.whole(&bytes[..len]);
            if whole > 0 || self.is_over {
                self.rest = bytes[whole..len].to_vec();
                bytes.truncate(whole);
                return Some(Ok(part));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::search::pattern_syntax::PatternSyntax;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    type Records = Vec<(String, String)>;

    /// Returns names and patterns, and the flaw after them with its line.
    fn parse(chunks: PatternChunks) -> (Records, Option<(u64, String)>) {
        let syntax = PatternSyntax {
            format: chunks.format,
            hex: false,
            both_strands: false,
        };
        let mut records = Vec::new();
        let mut lines = 0;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for chunk in chunks {
            let parsed = syntax.parse(chunk.unwrap());
            records.extend(
                parsed
                    .part
                    .iter()
                    .map(|p| (text(p.name), text(p.bytes))),
            );
            lines += parsed.lines;
            if let Some(flaw) = parsed.flaw {
                return (records, Some((lines, flaw)));
            }
        }
        (records, None)
    }

    /// Parses the file in chunks of all sizes, plain and with gzip. The results must be equal.
    fn read(file: &[u8]) -> (Records, Option<(u64, String)>) {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(file).unwrap();
        let gzip = gzip.finish().unwrap();
        let whole = parse(PatternChunks::sequences(file, 1 << 20).unwrap());
        for size in 1..file.len() + 2 {
            for file in [file, &gzip] {
                let found = parse(PatternChunks::sequences(file, size).unwrap());
                assert_eq!(found, whole, "{size}");
            }
        }
        whole
    }

    fn records(all: &[(&str, &str)]) -> Records {
        all.iter()
            .map(|&(name, bases)| (name.to_owned(), bases.to_owned()))
            .collect()
    }

    #[test]
    fn records_are_read_whatever_their_lines() {
        let wanted = records(&[("a", "ACGT"), ("b", ""), ("", "NN"), ("z", "")]);
        for file in [
            ">a x y\nAC\nGT\n>b\n> \nNN\n> z",
            ">a\tx\r\nAC\r\n\r\nGT\r\n>b\r\n>\r\nNN\r\n>z",
            ">a\nACGT\n>b\n\n>\nN\nN\n\n>\tz x\n",
            "\u{feff}>  a\nAC GT \n;comment\n>b\n\t\n>\n\rN\x0bN\n\n\u{feff}>z\n",
            "\n \n#head\n;comment\n>a\n A\nC\nG\nT\n>b\n>\nNN\n>z\n;",
        ] {
            assert_eq!(read(file.as_bytes()), (wanted.clone(), None), "{file:?}");
        }
        let wanted = records(&[("a", "ACGT"), ("b", ""), ("c", ">")]);
        for file in [
            "@a x\nACGT\n+\n@+@+\n@b\n\n+b\n\n@c\n>\n+\n>\n\n",
            "@a\r\nACGT\r\n+a\r\nIIII\r\n@b\n\n+\n\n@c\n>\n+\n+",
            "@a\nACGT\n+\n@a@a\n\r\n\n\n@b\r\n\r\n+\r\n\r\n\r\n@c\n>\n+\n@\r\n",
            "\u{feff}@ a\nAC\nGT\n+\n@\n@+\n@\n@b\n+\n@c\n >\n+\n@",
            "#x\n@a\nA\nC\nG T\n\n+\n@a@\n@ \n\n@b\n+\n#x\n@c\n>\n+\n>\n",
        ] {
            assert_eq!(read(file.as_bytes()), (wanted.clone(), None), "{file:?}");
        }
    }

    #[test]
    fn qualities_are_those_of_their_record() {
        let file = b"@a\nAC\nG\n+\n@1\n+\n@b\n\n+\n\n@c\nT \n+\n ~\n";
        for size in 1..file.len() {
            let chunks = PatternChunks::sequences(&file[..], size).unwrap();
            let syntax = PatternSyntax {
                format: chunks.format,
                hex: false,
                both_strands: true,
            };
            let mut found = Vec::new();
            for chunk in chunks {
                let parsed = syntax.parse(chunk.unwrap());
                let all = parsed.part.iter();
                found.extend(all.map(|p| (p.bytes.to_vec(), p.qualities.unwrap().to_vec())));
            }
            let wanted: [(&[u8], &[u8]); 5] = [
                (b"ACG", b"@1+"),
                (b"CGT", b"@1+"),
                (b"", b""),
                (b"T", b"~"),
                (b"A", b"~"),
            ];
            assert!(
                found
                    .iter()
                    .map(|(bases, qualities)| (&bases[..], &qualities[..]))
                    .eq(wanted)
            );
        }
    }

    #[test]
    fn flaws_come_behind_what_is_whole() {
        let no_record = b"\n;comment\n";
        for (file, said) in [
            (&b""[..], "is empty"),
            (b"x\n", "neither FASTA nor FASTQ"),
            (no_record, "after its blank lines"),
        ] {
            let error = PatternChunks::sequences(file, 9)
                .err()
                .unwrap()
                .to_string();
            assert!(error.contains(said), "{error}");
        }
        for (file, whole, line, said) in [
            (
                "@a\nAC\n+\nII\n@b\nAC\n@c\n",
                1,
                7,
                "a line that begins with +",
            ),
            (
                "@a\nAC\n+\nII\n@b\nAC\n+\nIII\n",
                1,
                8,
                "2 bases, but 3 qual",
            ),
            (
                "@a\nAC\n+\nII\n@b\nAC\n+\nI\n",
                1,
                8,
                "the sequence has 2 bases, but 1 qual",
            ),
            ("@a\nAC\n+\nII\nACGT\n", 1, 5, "a record begins with @"),
            ("@a\nAC\n+\nII\n@b\nAC\n", 1, 6, "the file ends"),
        ] {
            let (records, flaw) = read(file.as_bytes());
            assert_eq!(records.len(), whole, "{file:?}");
            let (at, flaw) = flaw.unwrap();
            assert!(
                at == line && flaw.contains(said),
                "{file:?}: line {at}: {flaw}"
            );
        }
    }

    #[test]
    fn a_line_is_a_pattern_even_if_it_is_empty() {
        for (file, lines) in [
            ("", &[][..]),
            ("a\nb", &["a", "b"]),
            ("a\n\nb\r\n", &["a", "", "b\r"]),
            ("\n\n", &["", ""]),
        ] {
            let wanted: Records = lines
                .iter()
                .map(|&l| (l.into(), l.into()))
                .collect();
            for size in 1..9 {
                let found = parse(PatternChunks::lines(file.as_bytes(), size));
                assert_eq!(found, (wanted.clone(), None), "{file:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error_behind_what_can() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
        gzip.write_all(b">a\nAC\n>b\nAC\n").unwrap();
        let gzip = gzip.finish().unwrap();
        for size in [1, 8, 100] {
            let cut = &gzip[..gzip.len() - 9];
            let mut bytes = Vec::new();
            let mut failed = false;
            for chunk in PatternChunks::sequences(cut, size).unwrap() {
                match chunk {
                    Ok(chunk) => bytes.extend(chunk.bytes),
                    Err(_) => failed = true,
                }
            }
            assert!(failed && bytes == b">a\nAC\n", "{size}");
        }
    }
}
