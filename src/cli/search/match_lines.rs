//! The results of patterns in a file, as lines or as JSON objects.
//!
//! The lines of a stretch of patterns are put together in one buffer, independently of others, so
//! that several threads can make stretches side by side.

use crate::cli::files::input_name::Name;
use crate::cli::report::json_bytes::{all_hex_unless_text, hex_unless_text, text};
use crate::cli::search::mate_pairs::{Hit, Read};
use crate::cli::search::pattern_batch::NamedPattern;
use crate::cli::search::sam_lines::{self, SamSettings};
use bwz::{Place, RecordInfo, Result};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// The bytes between two objects, even if they are of different stretches.
pub(crate) const BETWEEN_OBJECTS: &[u8] = b",\n";

/// The results of a pattern in a file.
#[derive(Default)]
pub(crate) struct Hits {
    pub count: u64,
    /// True if these hits follow others of the same pattern.
    pub goes_on: bool,
    pub offsets: Option<Vec<u64>>,
    /// The places of the offsets, in a file that is searched by sequence.
    pub places: Option<Vec<Place>>,
    pub context: Option<Vec<Vec<u8>>>,
    /// The bases at each hit, if they may differ from the pattern's and are shown.
    pub reference: Option<Vec<Vec<u8>>>,
}

/// The form of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineForm {
    Lines,
    Json,
    Bed,
    Sam,
}

/// The settings for all patterns of a file.
pub(crate) struct LineSettings {
    pub form: LineForm,
    pub strands: bool,
    /// The records of the file.
    pub records: Vec<RecordInfo>,
    pub sam: SamSettings,
}

/// The lines of a stretch of patterns. Both strands of a read, and its mate, are in the same
/// stretch.
pub(crate) struct MatchLines<'a> {
    file: &'a Name,
    settings: &'a LineSettings,
    text: Vec<u8>,
    /// Start of each line about the file.
    file_start: Vec<u8>,
    /// Start of each line about the current pattern.
    start: Vec<u8>,
    /// Reads that belong together, some of whose strands were added.
    reads: Vec<Read>,
    patterns: u64,
    found: u64,
}

/// The finished lines of a stretch of patterns.
pub(crate) struct Shown {
    pub text: Vec<u8>,
    pub patterns: u64,
    /// Number of patterns that were found.
    pub found: u64,
}

impl<'a> MatchLines<'a> {
    /// Creates the lines about a file, in the memory of an empty text.
    pub(crate) fn new(file: &'a Name, settings: &'a LineSettings, text: Vec<u8>) -> Self {
        let mut file_start = Vec::new();
        let start = Vec::new();
        push_escaped(&mut file_start, file.bytes());
        file_start.push(b'\t');
        let reads = Vec::new();
        MatchLines {
            file,
            settings,
            text,
            file_start,
            start,
            reads,
            patterns: 0,
            found: 0,
        }
    }

    /// Adds all patterns of a stretch with their results, and returns the finished lines.
    pub(crate) fn all<'p>(
        mut self,
        all: impl Iterator<Item = (NamedPattern<'p>, Hits)>,
    ) -> Result<Shown> {
        for (pattern, hits) in all {
            self.add(&pattern, hits)?;
        }
        self.end_reads()?;
        Ok(Shown {
            text: self.text,
            patterns: self.patterns,
            found: self.found,
        })
    }

    fn add(&mut self, pattern: &NamedPattern, hits: Hits) -> Result<()> {
        self.patterns += u64::from(!hits.goes_on);
        self.found += u64::from(hits.count > 0 && !hits.goes_on);
        match self.settings.form {
            LineForm::Lines => self.lines(pattern, &hits)?,
            LineForm::Json => self.object(pattern, hits)?,
            LineForm::Bed => self.bed(pattern, &hits)?,
            LineForm::Sam => self.sam(pattern, hits)?,
        }
        Ok(())
    }

    fn lines(&mut self, pattern: &NamedPattern, hits: &Hits) -> io::Result<()> {
        let MatchLines {
            text,
            file_start,
            start,
            settings,
            ..
        } = self;
        let Some(offsets) = &hits.offsets else {
            push_start(text, file_start, pattern, settings.strands);
            push_number(text, hits.count);
            text.push(b'\n');
            return Ok(());
        };
        start.clear();
        push_start(start, file_start, pattern, settings.strands);
        for (n, &offset) in offsets.iter().enumerate() {
            text.extend_from_slice(start);
            push_number(text, offset);
            if let Some(places) = &hits.places {
                text.push(b'\t');
                push_place(text, &settings.records, &places[n], pattern.bytes.len())?;
            }
            if let Some(context) = &hits.context {
                text.push(b'\t');
                push_escaped(text, &context[n]);
            }
            text.push(b'\n');
        }
        Ok(())
    }

    fn object(&mut self, pattern: &NamedPattern, hits: Hits) -> io::Result<()> {
        let LineSettings {
            strands, records, ..
        } = self.settings;
        let object = Object {
            file: text(self.file.bytes()),
            file_hex: hex_unless_text(self.file.bytes()),
            pattern: text(pattern.name),
            pattern_hex: hex_unless_text(pattern.name),
            strand: strands.then_some(pattern.strand()),
            count: hits.count,
            places: hits.places.map(|all| {
                let len = pattern.bytes.len();
                all.iter()
                    .map(|place| ListedPlace::of(records, place, len))
                    .collect()
            }),
            offsets: hits.offsets,
            context_hex: hits
                .context
                .as_deref()
                .and_then(all_hex_unless_text),
            context: hits
                .context
                .as_ref()
                .map(|all| all.iter().map(|bytes| text(bytes)).collect()),
        };
        if !self.text.is_empty() {
            self.text.extend_from_slice(BETWEEN_OBJECTS);
        }
        Ok(serde_json::to_writer_pretty(&mut self.text, &object)?)
    }

    fn bed(&mut self, pattern: &NamedPattern, hits: &Hits) -> io::Result<()> {
        for (record, base) in bases(hits) {
            self.text
                .extend_from_slice(&self.settings.records[record].name);
            write!(
                self.text,
                "\t{base}\t{}\t",
                base + pattern.bytes.len() as u64
            )?;
            push_escaped(&mut self.text, pattern.name);
            writeln!(self.text, "\t0\t{}", pattern.strand())?;
        }
        Ok(())
    }

    /// Prints reads that belong together once both strands of all of them are there.
    fn sam(&mut self, pattern: &NamedPattern, mut hits: Hits) -> Result<()> {
        if pattern.starts() {
            self.end_reads()?;
        }
        if !pattern.reverse {
            self.reads.push(Read::of(pattern));
        }
        let Some(read) = self.reads.last_mut() else {
            return Ok(());
        };
        read.strands[usize::from(pattern.reverse)] = pattern.bytes.to_vec();
        let mut references = hits.reference.take().into_iter().flatten();
        let hit = |(record, base)| {
            let reference = references.next();
            Hit {
                record,
                base,
                reverse: pattern.reverse,
                reference,
            }
        };
        read.hits.extend(bases(&hits).map(hit));
        read.count += hits.count;
        Ok(())
    }

    fn end_reads(&mut self) -> Result<()> {
        let LineSettings { records, sam, .. } = self.settings;
        sam_lines::template(&mut self.text, &mut self.reads, records, *sam)?;
        self.reads.clear();
        Ok(())
    }
}

/// A pattern in a file, as `--json` shows it. Fields that are added later do not replace these.
#[derive(Serialize)]
struct Object<'a> {
    file: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    pattern: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strand: Option<&'static str>,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    offsets: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Vec<ListedPlace<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Vec<Cow<'a, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_hex: Option<Vec<String>>,
}

/// The place of a match in its record. Bases count from 1, and the last one is included.
#[derive(Serialize)]
struct ListedPlace<'a> {
    record: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_hex: Option<String>,
    start: u64,
    end: u64,
}

impl<'a> ListedPlace<'a> {
    fn of(records: &'a [RecordInfo], place: &Place, len: usize) -> Self {
        let (record, base) = place.base.unwrap_or_default();
        let name = records
            .get(record as usize)
            .map_or(&[][..], |record| &record.name);
        ListedPlace {
            record: text(name),
            record_hex: hex_unless_text(name),
            start: base + 1,
            end: base + len as u64,
        }
    }
}

/// Returns the record and the base of each hit.
fn bases(hits: &Hits) -> impl Iterator<Item = (usize, u64)> {
    let places = hits.places.iter().flatten();
    places
        .filter_map(|place| place.base)
        .map(|(record, base)| (record as usize, base))
}

/// Appends the start of a line about a pattern.
fn push_start(text: &mut Vec<u8>, file_start: &[u8], pattern: &NamedPattern, strands: bool) {
    text.extend_from_slice(file_start);
    push_escaped(text, pattern.name);
    text.push(b'\t');
    if strands {
        text.extend_from_slice(pattern.strand().as_bytes());
        text.push(b'\t');
    }
}

/// Appends a number in decimal digits. The standard formatter takes several times as long.
fn push_number(text: &mut Vec<u8>, mut number: u64) {
    const MOST: usize = u64::MAX.ilog10() as usize + 1;
    let mut digits = [0; MOST];
    let mut start = MOST;
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return text.extend_from_slice(&digits[start..]);
        }
    }
}

/// Appends the place of a match, as samtools writes regions.
fn push_place(
    text: &mut Vec<u8>,
    records: &[RecordInfo],
    place: &Place,
    len: usize,
) -> io::Result<()> {
    let Some((record, base)) = place.base else {
        return Ok(());
    };
    push_escaped(text, &records[record as usize].name);
    write!(text, ":{}-{}", base + 1, base + len as u64)
}

/// Appends bytes as one field of a line. Bytes that are not UTF-8, or that would end the field, are
/// escaped as in C.
pub(crate) fn push_escaped(text: &mut Vec<u8>, bytes: &[u8]) {
    // Nearly all fields are plain. This test looks at many bytes at a time.
    if bytes
        .iter()
        .fold(true, |plain, &byte| plain & is_plain(byte))
    {
        return text.extend_from_slice(bytes);
    }
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut utf8 = [0; 4];
            let utf8 = c.encode_utf8(&mut utf8).as_bytes();
            match c {
                '\t' => text.extend_from_slice(b"\\t"),
                '\n' => text.extend_from_slice(b"\\n"),
                '\r' => text.extend_from_slice(b"\\r"),
                '\\' => text.extend_from_slice(b"\\\\"),
                c if c.is_control() => utf8.iter().for_each(|&byte| push_hex(text, byte)),
                _ => text.extend_from_slice(utf8),
            }
        }
        chunk
            .invalid()
            .iter()
            .for_each(|&byte| push_hex(text, byte));
    }
}

/// True if a byte stands for itself in a field.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') & (byte != b'\\')
}

fn push_hex(text: &mut Vec<u8>, byte: u8) {
    text.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(bytes: &[u8]) -> String {
        let mut text = Vec::new();
        push_escaped(&mut text, bytes);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn fields_stay_in_their_line() {
        for number in [0, 9, 10, 12_345_678_901, u64::MAX] {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string().as_bytes());
        }
        assert_eq!(escaped(b"a\tb\n\\\0\x7f\xff"), r"a\tb\n\\\x00\x7f\xff");
        assert_eq!(escaped("größe".as_bytes()), "größe");
        assert_eq!(escaped("\u{85}".as_bytes()), r"\xc2\x85");
    }
}
