//! `bwz compare`: whether two files, compressed or not, have the same content, as cmp tells it.

use crate::cli::arguments::companion_args::CompareArgs;
use crate::cli::files::companions::counterpart;
use crate::cli::files::content;
use crate::cli::files::input_name::Name;
use crate::cli::report::console::{self, Activity};
use crate::cli::report::exit::Exit;
use crate::cli::report::screen::Screen;
use bwz::{Error, Result};
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Bytes that are compared at once.
const PIECE: usize = 1 << 20;

/// Compares the content of two files.
pub(crate) fn run(args: &CompareArgs) -> Exit {
    Exit::of_search(compared(args))
}

/// True if both have the same content.
fn compared(args: &CompareArgs) -> std::result::Result<bool, Exit> {
    let [one, other] = pair(&args.files).map_err(|e| console::fail(&e))?;
    let options = args.resources.options();
    let threads = args.resources.thread_count();
    let open = |name: &Name| {
        content::open(name, threads, &options)
            .map_err(|e| console::fail_with(&e, name, Activity::Reading))
    };
    let mut first = Side::new(open(&one)?);
    let mut second = Side::new(open(&other)?);
    let mut place = Place::default();
    loop {
        for (side, name) in [(&mut first, &one), (&mut second, &other)] {
            side.fill()
                .map_err(|e| console::fail_with(&e.into(), name, Activity::Reading))?;
        }
        let a = first.bytes();
        let b = second.bytes();
        let common = a.len().min(b.len());
        let same = bytes_in_common(&a[..common], &b[..common]);
        place.pass(&a[..same]);
        let said = match (same < common, a.is_empty(), b.is_empty()) {
            (true, ..) => format!(
                "{one} {other} differ: byte {}, line {}",
                place.bytes + 1,
                place.lines + 1
            ),
            (false, true, true) => return Ok(true),
            (false, true, false) => return Ok(say_end(args, place.end_of(&one))),
            (false, false, true) => return Ok(say_end(args, place.end_of(&other))),
            (false, false, false) => {
                first.at += same;
                second.at += same;
                continue;
            }
        };
        if !args.silent {
            print(&said).map_err(|e| console::fail(&e))?;
        }
        return Ok(false);
    }
}

/// Says which content ends first. The contents are not the same.
fn say_end(args: &CompareArgs, said: String) -> bool {
    if !args.silent {
        console::say(format_args!("{said}"));
    }
    false
}

fn print(said: &str) -> Result<()> {
    let mut out = Screen::stdout()?;
    writeln!(out, "{said}")?;
    Ok(out.flush()?)
}

/// The two files: those that are named, or the one that is named and its compressed form.
fn pair(files: &[PathBuf]) -> Result<[Name; 2]> {
    let (one, other) = match files {
        [one, other] => (one, other.clone()),
        files => (&files[0], counterpart(files[0].as_os_str()).into()),
    };
    let names = [Name::from(&**one), Name::from(&*other)];
    if names.contains(&Name::Stdin) && (files.len() == 1 || names[0] == names[1]) {
        let said = "standard input is compared with a file: name one";
        return Err(Error::Usage(said.into()));
    }
    Ok(names)
}

/// The number of bytes before the first difference of two slices of one length.
fn bytes_in_common(a: &[u8], b: &[u8]) -> usize {
    if a == b {
        return a.len();
    }
    a.iter()
        .zip(b)
        .take_while(|(a, b)| a == b)
        .count()
}

/// One of the contents, and its bytes that were read but not compared.
struct Side {
    source: Box<dyn Read>,
    piece: Vec<u8>,
    /// Bytes of the piece that were compared.
    at: usize,
}

impl Side {
    fn new(source: Box<dyn Read>) -> Self {
        Side {
            source,
            piece: Vec::new(),
            at: 0,
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.piece[self.at..]
    }

    /// Reads the next piece, if all of the last one was compared.
    fn fill(&mut self) -> io::Result<()> {
        if self.at < self.piece.len() {
            return Ok(());
        }
        self.piece.clear();
        self.at = 0;
        let mut part = self.source.by_ref().take(PIECE as u64);
        part.read_to_end(&mut self.piece)?;
        Ok(())
    }
}

/// The bytes and lines that both have in common.
#[derive(Default)]
struct Place {
    bytes: u64,
    lines: u64,
    /// True if the last byte is not a line feed.
    is_within_line: bool,
}

impl Place {
    fn pass(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        if let Some(last) = bytes.last() {
            self.is_within_line = *last != b'\n';
        }
    }

    fn end_of(&self, name: &Name) -> String {
        match self.bytes {
            0 => format!("EOF on {name} which is empty"),
            bytes if self.is_within_line => {
                format!(
                    "EOF on {name} after byte {bytes}, in line {}",
                    self.lines + 1
                )
            }
            bytes => format!("EOF on {name} after byte {bytes}, line {}", self.lines),
        }
    }
}
