//! `bwz count` and `bwz locate`: where patterns occur in compressed files. Codes as grep's: 0 found, 1 not found, 2 trouble.

use super::args::Talk;
use super::console::{self, Task};
use super::exit::Exit;
use super::files::{self, Name};
use super::input;
use super::patterns::{self, Pattern};
use super::search_args::{LocateArgs, SearchArgs};
use super::size::count as counted;
use bwz::{Archive, Matches, Options, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::time::Instant;

/// Prints how often each pattern occurs in each file.
pub fn count(args: &SearchArgs) -> Exit {
    run(args, &|search, archive| {
        let counts = archive.count(search.patterns)?;
        let matches = counts.into_iter().map(|count| Hits { count, ..Hits::default() });
        Ok(matches.collect())
    })
}

/// Prints where each pattern occurs in each file.
pub fn locate(args: &LocateArgs) -> Exit {
    run(&args.search, &|search, archive| {
        let found = archive.locate(search.patterns, args.limit)?;
        let context = args.context.map(|around| contexts(archive, search.patterns, &found, around));
        let mut context = context.transpose()?.map(Vec::into_iter);
        let hits = found.into_iter().map(|matches| {
            let context = context.as_mut().map(|all| all.take(matches.positions.len()).collect());
            Hits { count: matches.count, offsets: Some(matches.positions), context }
        });
        Ok(hits.collect())
    })
}

/// The text around each match, pattern by pattern.
fn contexts(
    archive: &mut Archive<File>,
    patterns: &[Pattern],
    found: &[Matches],
    around: u64,
) -> Result<Vec<Vec<u8>>> {
    let size = archive.raw_size();
    let range = |pos: u64, len: usize| -> Range<u64> {
        pos.saturating_sub(around)..pos.saturating_add(len as u64).saturating_add(around).min(size)
    };
    let ranges: Vec<Range<u64>> = patterns
        .iter()
        .zip(found)
        .flat_map(|(p, found)| found.positions.iter().map(move |&pos| range(pos, p.bytes.len())))
        .collect();
    archive.extract_all(&ranges)
}

/// What a pattern came to in a file.
#[derive(Default)]
struct Hits {
    count: u64,
    offsets: Option<Vec<u64>>,
    context: Option<Vec<Vec<u8>>>,
}

type Work<'a> = dyn Fn(&Search, &mut Archive<File>) -> Result<Vec<Hits>> + 'a;

struct Search<'a> {
    patterns: &'a [Pattern],
    strands: bool,
    json: bool,
    talk: Talk,
    options: Options,
}

fn run(args: &SearchArgs, work: &Work) -> Exit {
    let (patterns, files) = match patterns::gather(args) {
        Ok(gathered) => gathered,
        Err(e) => return trouble(console::fail(&e)),
    };
    let search = Search {
        patterns: &patterns,
        strands: args.revcomp,
        json: args.json,
        talk: args.talk,
        options: args.resources.options(),
    };
    let (mut found, mut results) = (false, Vec::new());
    let mut out = BufWriter::new(io::stdout().lock());
    let exit = files::each(&files, None, args.talk, Task::Reading, |name| {
        let hits = search.file(name, work)?;
        found |= hits.iter().any(|hits| hits.count > 0);
        if search.json {
            results.extend(search.json_of(name, hits));
            return Ok(());
        }
        Ok(search.print(name, &hits, &mut out)?)
    });
    let printed = if args.json { print_json(&results, &mut out) } else { Ok(()) };
    let exit = match printed.and_then(|()| out.flush()) {
        Ok(()) => exit,
        Err(e) => exit.max(console::fail(&e.into())),
    };
    match exit {
        Exit::Fine if found => Exit::Fine,
        Exit::Fine => Exit::Trouble,
        exit => trouble(exit),
    }
}

/// Code 1 means that nothing was found, so that all trouble is at least 2.
pub fn trouble(exit: Exit) -> Exit {
    exit.max(Exit::Damaged)
}

impl Search<'_> {
    fn file(&self, name: &Name, work: &Work) -> Result<Vec<Hits>> {
        let started = Instant::now();
        let mut archive = Archive::open(input::open_seekable(name)?, &self.options)?;
        if archive.frames().iter().any(|frame| frame.blocks > 0 && frame.index.is_none()) {
            self.talk
                .warn(name, "has no index: it is decoded to be searched (bwz --index makes one)");
        }
        let hits = work(self, &mut archive)?;
        let cost = archive.search_cost();
        let (bytes, segments) =
            (counted(cost.coded_bytes, "byte"), counted(cost.segments, "segment"));
        let (blocks, seconds) = (counted(cost.blocks, "block"), started.elapsed().as_secs_f64());
        let report =
            format_args!("{bytes} read, {segments} and {blocks} decoded, {:.3} s", seconds);
        self.talk.report(name, report);
        Ok(hits)
    }

    /// A line for each count, or for each match.
    fn print(&self, name: &Name, hits: &[Hits], out: &mut impl Write) -> io::Result<()> {
        let file = escaped(name.to_string().as_bytes());
        for (pattern, hits) in self.patterns.iter().zip(hits) {
            let mut start = format!("{file}\t{}\t", escaped(&pattern.name));
            if self.strands {
                start.push_str(if pattern.reverse { "-\t" } else { "+\t" });
            }
            let Some(offsets) = &hits.offsets else {
                writeln!(out, "{start}{}", hits.count)?;
                continue;
            };
            for (n, offset) in offsets.iter().enumerate() {
                write!(out, "{start}{offset}")?;
                if let Some(context) = &hits.context {
                    write!(out, "\t{}", escaped(&context[n]))?;
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn json_of(&self, name: &Name, hits: Vec<Hits>) -> Vec<Object> {
        let object = |(pattern, hits): (&Pattern, Hits)| Object {
            file: name.to_string(),
            pattern: escaped(&pattern.name),
            strand: self.strands.then_some(if pattern.reverse { "-" } else { "+" }),
            count: hits.count,
            offsets: hits.offsets,
            context: hits.context.map(|all| all.iter().map(|bytes| escaped(bytes)).collect()),
        };
        self.patterns.iter().zip(hits).map(object).collect()
    }
}

/// A pattern in a file, as `--json` shows it. Fields that are added later do not take the place of these.
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

fn print_json(objects: &[Object], out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, objects)?;
    writeln!(out)
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
