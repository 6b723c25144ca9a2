//! What a search found, on standard output: a line for each count or match, or JSON.
//!
//! Lines are put together in one buffer that is used again and again.

use super::descriptors;
use super::input_name::Name;
use super::pattern_batch::Pattern;
use super::search_args::SearchArgs;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};

/// Bytes that are written at a time.
const FULL: usize = 1 << 20;

/// What a pattern came to in a file.
#[derive(Default)]
pub struct Hits {
    pub count: u64,
    pub offsets: Option<Vec<u64>>,
    pub context: Option<Vec<Vec<u8>>>,
}

pub struct Printer {
    out: File,
    /// What is still to be written.
    text: Vec<u8>,
    /// How each line about a pattern starts.
    start: Vec<u8>,
    strands: bool,
    json: bool,
    /// Objects written.
    objects: u64,
    /// Whether anything was found.
    pub found: bool,
}

impl Printer {
    pub fn new(args: &SearchArgs) -> io::Result<Self> {
        Ok(Printer {
            out: descriptors::stdout()?,
            text: Vec::new(),
            start: Vec::new(),
            strands: args.revcomp,
            json: args.json,
            objects: 0,
            found: false,
        })
    }

    pub fn print(&mut self, name: &Name, pattern: &Pattern, hits: Hits) -> io::Result<()> {
        self.found |= hits.count > 0;
        match self.json {
            true => self.object(name, pattern, hits)?,
            false => self.lines(name, pattern, &hits)?,
        }
        if self.text.len() >= FULL { self.write() } else { Ok(()) }
    }

    fn lines(&mut self, name: &Name, pattern: &Pattern, hits: &Hits) -> io::Result<()> {
        let Printer { text, start, .. } = self;
        start.clear();
        push_escaped(start, name.to_string().as_bytes());
        start.push(b'\t');
        push_escaped(start, pattern.name);
        start.push(b'\t');
        if self.strands {
            start.extend_from_slice(pattern.strand().as_bytes());
            start.push(b'\t');
        }
        let Some(offsets) = &hits.offsets else {
            text.extend_from_slice(start);
            return writeln!(text, "{}", hits.count);
        };
        for (n, offset) in offsets.iter().enumerate() {
            text.extend_from_slice(start);
            write!(text, "{offset}")?;
            if let Some(context) = &hits.context {
                text.push(b'\t');
                push_escaped(text, &context[n]);
            }
            text.push(b'\n');
        }
        Ok(())
    }

    fn object(&mut self, name: &Name, pattern: &Pattern, hits: Hits) -> io::Result<()> {
        let object = Object {
            file: name.to_string(),
            pattern: escaped(pattern.name),
            strand: self.strands.then_some(pattern.strand()),
            count: hits.count,
            offsets: hits.offsets,
            context: hits.context.map(|all| all.iter().map(|bytes| escaped(bytes)).collect()),
        };
        self.text.extend_from_slice(if self.objects == 0 { b"[\n" } else { b",\n" });
        self.objects += 1;
        Ok(serde_json::to_writer_pretty(&mut self.text, &object)?)
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Ends the list of objects.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.json {
            self.text.extend_from_slice(if self.objects == 0 { b"[]\n" } else { b"\n]\n" });
        }
        self.write()
    }
}

/// A pattern in a file, as `--json` shows it. Fields that are added later do not take the place of
/// these.
#[derive(Serialize)]
struct Object {
    file: String,
    pattern: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    strand: Option<&'static str>,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    offsets: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Vec<String>>,
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    push_escaped(&mut text, bytes);
    String::from_utf8(text).expect("what is not UTF-8 is escaped")
}

/// Appends bytes as one field of one line: what is not UTF-8 or would end the field is escaped as
/// in C.
fn push_escaped(text: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().all(|&byte| matches!(byte, b' '..=b'~') && byte != b'\\') {
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
        chunk.invalid().iter().for_each(|&byte| push_hex(text, byte));
    }
}

fn push_hex(text: &mut Vec<u8>, byte: u8) {
    text.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stay_in_their_line() {
        assert_eq!(escaped(b"a\tb\n\\\0\x7f\xff"), r"a\tb\n\\\x00\x7f\xff");
        assert_eq!(escaped("größe".as_bytes()), "größe");
        assert_eq!(escaped("\u{85}".as_bytes()), r"\xc2\x85");
    }
}
