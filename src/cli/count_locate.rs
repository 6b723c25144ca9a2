//! `bwz count` and `bwz locate`: where patterns occur in compressed files. Codes as grep's: 0
//! found, 1 not found, 2 trouble.

use super::args::Talk;
use super::console::{self, Task};
use super::descriptors;
use super::event_lines::EventLines;
use super::exit::Exit;
use super::files;
use super::input;
use super::input_name::Name;
use super::patterns::{self, Pattern, Patterns};
use super::search_args::{LocateArgs, SearchArgs};
use super::size::count as counted;
use bwz::{Archive, Matches, Options, Result, SearchCost};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::ops::Range;
use std::time::Instant;

/// Matches whose surroundings are fetched together.
const CONTEXTS: usize = 1 << 20;

/// Prints how often each pattern occurs in each file.
pub fn count(args: &SearchArgs) -> Exit {
    run(args, None)
}

/// Prints where each pattern occurs in each file.
pub fn locate(args: &LocateArgs) -> Exit {
    run(&args.search, Some(MatchLimits { limit: args.limit, context: args.context }))
}

/// What locate prints of each pattern.
#[derive(Clone, Copy)]
struct MatchLimits {
    limit: usize,
    context: Option<u64>,
}

/// What a pattern came to in a file.
#[derive(Default)]
struct Hits {
    count: u64,
    offsets: Option<Vec<u64>>,
    context: Option<Vec<Vec<u8>>>,
}

struct FileSearch<'a> {
    patterns: &'a Patterns,
    wanted: Option<MatchLimits>,
    talk: Talk,
    event_lines: EventLines,
    options: Options,
}

fn run(args: &SearchArgs, wanted: Option<MatchLimits>) -> Exit {
    let (patterns, files) = match patterns::gather(args) {
        Ok(gathered) => gathered,
        Err(e) => return trouble(console::fail(&e)),
    };
    let (options, event_lines) =
        (args.resources.options().verify(args.verify), EventLines::default());
    let search = FileSearch { patterns: &patterns, wanted, talk: args.talk, event_lines, options };
    let mut printer = match Printer::new(args) {
        Ok(printer) => printer,
        Err(e) => return trouble(console::fail(&e.into())),
    };
    let exit = files::each(&files, None, args.talk, Task::Reading, |name| {
        search.file(name, |pattern, hits| printer.print(name, &pattern, hits))
    });
    let exit = match printer.finish() {
        Ok(()) => exit,
        Err(e) => exit.max(console::fail(&e.into())),
    };
    match exit {
        Exit::Fine if printer.found => Exit::Fine,
        Exit::Fine => Exit::Trouble,
        exit => trouble(exit),
    }
}

/// Code 1 means that nothing was found, so that all trouble is at least 2.
pub fn trouble(exit: Exit) -> Exit {
    exit.max(Exit::Damaged)
}

impl FileSearch<'_> {
    fn file(
        &self,
        name: &Name,
        mut print: impl FnMut(Pattern, Hits) -> io::Result<()>,
    ) -> Result<()> {
        let started = Instant::now();
        let mut archive = self.open(name)?;
        if archive.frames().iter().any(|frame| frame.blocks > 0 && frame.index.is_none()) {
            self.talk
                .warn(name, "has no index: it is decoded to be searched (bwz --index makes one)");
        }
        let mut cost = match self.wanted.and_then(|wanted| wanted.context) {
            None => {
                self.search(&mut archive, |pattern, hits| Ok(print(pattern, hits)?))?;
                SearchCost::default()
            }
            Some(around) => {
                // By itself, since the first one is at work.
                let mut beside = self.open(name)?;
                let (mut some, mut size) = (Vec::new(), 0);
                self.search(&mut archive, |pattern, hits| {
                    size += 1 + hits.offsets.as_ref().map_or(0, Vec::len);
                    some.push((pattern, hits));
                    if size < CONTEXTS {
                        return Ok(());
                    }
                    size = 0;
                    print_with_context(&mut beside, around, mem::take(&mut some), &mut print)
                })?;
                print_with_context(&mut beside, around, some, &mut print)?;
                beside.search_cost()
            }
        };
        cost += archive.search_cost();
        self.report(name, cost, started);
        Ok(())
    }

    fn open(&self, name: &Name) -> Result<Archive<File>> {
        let options = self.event_lines.add_to(&self.options, name, self.talk, None);
        Archive::open(input::open_seekable(name)?, &options)
    }

    /// Searches for pattern after pattern.
    fn search(
        &self,
        archive: &mut Archive<File>,
        mut take: impl FnMut(Pattern, Hits) -> Result<()>,
    ) -> Result<()> {
        let mut unread = Ok(());
        let patterns = self.patterns.iter().map_while(|pattern| match pattern {
            Ok(pattern) => Some(pattern),
            Err(e) => {
                unread = Err(e);
                None
            }
        });
        match self.wanted {
            None => archive.counts(patterns).try_for_each(|found| {
                let (pattern, count) = found?;
                take(pattern, Hits { count, ..Hits::default() })
            })?,
            Some(wanted) => archive.matches(patterns, wanted.limit).try_for_each(|found| {
                let (pattern, matches) = found?;
                let Matches { count, positions, .. } = matches;
                take(pattern, Hits { count, offsets: Some(positions), context: None })
            })?,
        }
        unread
    }

    fn report(&self, name: &Name, cost: SearchCost, started: Instant) {
        let (bytes, slices) = (counted(cost.coded_bytes, "byte"), counted(cost.slices, "slice"));
        let (blocks, seconds) = (counted(cost.blocks, "block"), started.elapsed().as_secs_f64());
        let work = format!("{bytes} read, {slices} and {blocks} decoded");
        self.talk.report(name, format_args!("{work}, {seconds:.3} s"));
    }
}

/// Prints matches with the text around them, which takes one look into the file.
fn print_with_context(
    archive: &mut Archive<File>,
    around: u64,
    found: Vec<(Pattern, Hits)>,
    print: &mut impl FnMut(Pattern, Hits) -> io::Result<()>,
) -> Result<()> {
    let size = archive.raw_size();
    let range = |pos: u64, len: usize| -> Range<u64> {
        pos.saturating_sub(around)..pos.saturating_add(len as u64).saturating_add(around).min(size)
    };
    let ranges: Vec<Range<u64>> = found
        .iter()
        .flat_map(|(pattern, hits)| {
            let offsets = hits.offsets.iter().flatten();
            offsets.map(|&pos| range(pos, pattern.bytes.len()))
        })
        .collect();
    let mut contexts = archive.extract_all(&ranges)?.into_iter();
    for (pattern, mut hits) in found {
        let count = hits.offsets.as_ref().map_or(0, Vec::len);
        hits.context = Some(contexts.by_ref().take(count).collect());
        print(pattern, hits)?;
    }
    Ok(())
}

/// Writes what was found to standard output: a line for each count or match, or JSON.
struct Printer {
    out: BufWriter<File>,
    strands: bool,
    json: bool,
    /// Objects written.
    objects: u64,
    /// Whether anything was found.
    found: bool,
}

impl Printer {
    fn new(args: &SearchArgs) -> io::Result<Self> {
        let out = BufWriter::new(descriptors::stdout()?);
        Ok(Printer { out, strands: args.revcomp, json: args.json, objects: 0, found: false })
    }

    fn print(&mut self, name: &Name, pattern: &Pattern, hits: Hits) -> io::Result<()> {
        self.found |= hits.count > 0;
        if self.json { self.object(name, pattern, hits) } else { self.lines(name, pattern, &hits) }
    }

    fn lines(&mut self, name: &Name, pattern: &Pattern, hits: &Hits) -> io::Result<()> {
        let (file, called) = (escaped(name.to_string().as_bytes()), escaped(&pattern.name));
        let strand = if self.strands { format!("{}\t", pattern.strand()) } else { String::new() };
        let start = format!("{file}\t{called}\t{strand}");
        let Some(offsets) = &hits.offsets else {
            return writeln!(self.out, "{start}{}", hits.count);
        };
        for (n, offset) in offsets.iter().enumerate() {
            write!(self.out, "{start}{offset}")?;
            if let Some(context) = &hits.context {
                write!(self.out, "\t{}", escaped(&context[n]))?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn object(&mut self, name: &Name, pattern: &Pattern, hits: Hits) -> io::Result<()> {
        let object = Object {
            file: name.to_string(),
            pattern: escaped(&pattern.name),
            strand: self.strands.then_some(pattern.strand()),
            count: hits.count,
            offsets: hits.offsets,
            context: hits.context.map(|all| all.iter().map(|bytes| escaped(bytes)).collect()),
        };
        self.out.write_all(if self.objects == 0 { b"[\n" } else { b",\n" })?;
        self.objects += 1;
        Ok(serde_json::to_writer_pretty(&mut self.out, &object)?)
    }

    /// Ends the list of objects.
    fn finish(&mut self) -> io::Result<()> {
        if self.json {
            self.out.write_all(if self.objects == 0 { b"[]\n" } else { b"\n]\n" })?;
        }
        self.out.flush()
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

/// Bytes in one field of one line: what is not UTF-8 or would end the field is escaped as in C.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\t' => text.push_str("\\t"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\\' => text.push_str("\\\\"),
                c if c.is_control() => c.to_string().bytes().for_each(|b| push_hex(&mut text, b)),
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|&b| push_hex(&mut text, b));
    }
    text
}

fn push_hex(text: &mut String, byte: u8) {
    text.push_str(&format!("\\x{byte:02x}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stay_in_their_line() {
        assert_eq!(escaped(b"a\tb\n\\\0\x7f\xff"), r"a\tb\n\\\x00\x7f\xff");
        assert_eq!(escaped("größe".as_bytes()), "größe");
    }
}
