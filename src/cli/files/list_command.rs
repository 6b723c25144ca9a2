//! `-l`: lists the frames and blocks of a file as a table, block by block with `-v`, or as JSON.
//! Only the tables of the file are read.

use crate::cli::arguments::args::FileArgs;
use crate::cli::arguments::shared_args::Talk;
use crate::cli::arguments::size::{self, human, index_text, ratio, ratio_text};
use crate::cli::files::block_map::BlockMap;
use crate::cli::files::descriptors;
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::files::member_lines;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::report::console::{self, Activity, printable};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::json_bytes::hex_unless_text;
use crate::cli::report::screen::{self, Screen};
use bwz::{
    Archive, Error, Features, FrameInfo, IndexedBlocks, Note, Options, RecordInfo, Result,
    StreamCheck,
};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;

/// Lists each file.
pub(crate) fn run(
    args: &FileArgs,
    files: &[PathBuf],
    directories: Directories,
    options: &Options,
) -> Exit {
    if args.records {
        let event_lines = EventLines::default();
        return named_files::each(files, directories, args.talk, Activity::Reading, |name| {
            let options = event_lines.add_to(options, name, args.talk, None);
            print_records(name, args.talk, &options)
        });
    }
    if args.map {
        return map(args, files, directories, options);
    }
    if args.members {
        return member_lines::list(args, files, directories, options);
    }
    let mut listings = Vec::new();
    let exit = named_files::each(files, directories, args.talk, Activity::Reading, |name| {
        listings.push(Listing::of(name, options)?);
        Ok(())
    });
    let printed = match args.json {
        true => screen::print_json(&listings),
        false => print_table(&listings, args.talk.verbose > 0),
    };
    let exit = match printed {
        Ok(()) => exit,
        Err(e) => exit.max(console::fail(&e.into())),
    };
    let unsupported = listings
        .iter()
        .flat_map(|listing| &listing.unsupported);
    unsupported
        .map(|(name, e)| console::fail_with(e, name, Activity::Reading))
        .fold(exit, Exit::max)
}

/// Draws the blocks of each file.
fn map(args: &FileArgs, files: &[PathBuf], directories: Directories, options: &Options) -> Exit {
    let mut map = match BlockMap::new() {
        Ok(map) => map,
        Err(e) => return console::fail(&e.into()),
    };
    let exit = named_files::each(files, directories, args.talk, Activity::Reading, |name| {
        let archive = map.add(name, options)?;
        match archive.frames().iter().find_map(unsupported) {
            Some(e) => Err(e),
            None => Ok(()),
        }
    });
    match map.finish() {
        Ok(()) => exit,
        Err(e) => exit.max(console::fail(&e.into())),
    }
}

/// Prints a line for each record, as in a `.fai` file. If the lines of a record are of different
/// lengths, its two fields about lines are `-`.
fn print_records(name: &Name, talk: Talk, options: &Options) -> Result<()> {
    let mut archive = Archive::open(input::open_seekable(name)?, options)?;
    if !archive.has_sequences() {
        return Err(Error::Usage(
            "has no index of sequences; bwz --index makes one of FASTA and FASTQ, and says why if \
             it makes none"
                .into(),
        ));
    }
    let mut out = BufWriter::new(Screen::stdout()?);
    let records = archive.records()?;
    for record in records {
        let RecordInfo {
            length,
            offset,
            line_bases,
            line_width,
            ..
        } = record;
        out.write_all(&record.name)?;
        match record.is_regular {
            true => write!(out, "\t{length}\t{offset}\t{line_bases}\t{line_width}")?,
            false => write!(out, "\t{length}\t{offset}\t-\t-")?,
        }
        if let Some(qualities) = record.quality_offset {
            write!(out, "\t{qualities}")?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    let mut irregular = records.iter().filter(|record| !record.is_regular);
    if let Some(first) = irregular.next() {
        let first = String::from_utf8_lossy(&first.name);
        let count = 1 + irregular.count();
        let all = size::count(records.len() as u64, "record");
        talk.warn(name, format_args!(
            "{count} of {all}, the first of them `{first}`, have lines of different lengths, which \
             .fai cannot describe: a - stands for them; bwz extract --region works all the same"
        ));
    }
    Ok(())
}

/// A file, as `--json` shows it. Fields that are added later do not replace these.
#[derive(Serialize)]
struct Listing {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    compressed_size: u64,
    uncompressed_size: u64,
    ratio: Option<f64>,
    check: &'static str,
    index: IndexedCounts,
    frames: Vec<ListedFrame>,
    blocks: Vec<Extent>,
    /// The frames that are not known.
    #[serde(skip)]
    unsupported: Vec<(Name, Error)>,
}

#[derive(Serialize)]
struct ListedFrame {
    #[serde(flatten)]
    extent: Extent,
    block_size: u64,
    blocks: u64,
    crc32: String,
    check: &'static str,
    features: Vec<&'static str>,
    notes: Vec<ListedNote>,
    /// Whoever made the frame, in hexadecimal, if its content is private.
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsupported: Option<String>,
    index: Option<ListedIndex>,
}

/// A note of a user about a frame.
#[derive(Serialize)]
struct ListedNote {
    key: String,
    value: String,
}

impl From<&Note> for ListedNote {
    fn from(note: &Note) -> Self {
        let (key, value) = note;
        ListedNote {
            key: key.clone(),
            value: value.clone(),
        }
    }
}

/// The error of a frame that cannot be read.
fn unsupported(frame: &FrameInfo) -> Option<Error> {
    Some(Error::Unsupported {
        what: frame.unsupported.clone()?.into(),
        block: None,
        offset: frame.coded.start,
    })
}

/// The check of a frame in a word.
fn check_of(frame: &FrameInfo) -> &'static str {
    match frame.check {
        Some(StreamCheck::Crc32) => "CRC32",
        Some(StreamCheck::Xxh3) => "XXH3",
        Some(StreamCheck::Blake3) => "BLAKE3",
        _ => "other",
    }
}

/// The check of all frames in a word.
fn check(frames: &[FrameInfo]) -> &'static str {
    let mut checks = frames
        .iter()
        .filter(|frame| frame.private.is_none())
        .map(check_of);
    let first = checks.next().unwrap_or("CRC32");
    match checks.all(|check| check == first) {
        true => first,
        false => "mixed",
    }
}

/// The features of a frame in words.
fn features(features: Features) -> Vec<&'static str> {
    let words = [
        (Features::STATIC_RANS, "static-rans"),
        (Features::CONTEXT_MIXING, "context-mixing"),
        (Features::SEQUENCES, "sequences"),
        (Features::REGIONS, "regions"),
        (Features::MATCHES, "matches"),
        (Features::FIELDS, "fields"),
        (Features::WIDE, "wide"),
        (Features::INDEX, "index"),
    ];
    let known = words
        .iter()
        .fold(Features::default(), |all, (feature, _)| all.with(*feature));
    let mut used: Vec<&'static str> = words
        .into_iter()
        .filter(|(feature, _)| features.contains(*feature))
        .map(|(_, word)| word)
        .collect();
    if !known.contains(features) {
        used.push("unknown");
    }
    used
}

/// The kind of a file's index (`sequences`, `bytes`, `mixed` or `none`), and numbers of blocks.
#[derive(Serialize)]
struct IndexedCounts {
    of: &'static str,
    sequence_blocks: u64,
    byte_blocks: u64,
    stored_blocks: u64,
    other_blocks: u64,
    #[serde(skip)]
    text: String,
}

impl From<&IndexedBlocks> for IndexedCounts {
    fn from(indexed: &IndexedBlocks) -> Self {
        let of = match (indexed.sequences, indexed.bytes, indexed.none) {
            (0, 0, _) => "none",
            (_, 0, 0) => "sequences",
            (0, _, 0) => "bytes",
            _ => "mixed",
        };
        IndexedCounts {
            of,
            sequence_blocks: indexed.sequences,
            byte_blocks: indexed.bytes,
            stored_blocks: indexed.stored,
            other_blocks: indexed.none,
            text: index_text(indexed),
        }
    }
}

/// The index of a frame. `of` is `sequences` or `bytes`. `sample_rate` is null if the index is for
/// counting alone.
#[derive(Serialize)]
struct ListedIndex {
    of: &'static str,
    sample_rate: Option<u32>,
}

/// The position of a frame or a block, in the file and in the uncompressed data.
#[derive(Serialize)]
struct Extent {
    compressed_offset: u64,
    compressed_size: u64,
    uncompressed_offset: u64,
    uncompressed_size: u64,
}

impl Listing {
    fn of(name: &Name, options: &Options) -> Result<Self> {
        let archive = Archive::open(input::open_seekable(name)?, options)?;
        let indexed = archive.info();
        let raw = archive.raw_size();
        let coded = archive.coded_size();
        Ok(Listing {
            name: name.to_string(),
            name_hex: hex_unless_text(name.bytes()),
            compressed_size: coded,
            uncompressed_size: raw,
            ratio: ratio(raw, coded),
            check: check(archive.frames()),
            index: IndexedCounts::from(&indexed),
            frames: archive
                .frames()
                .iter()
                .map(ListedFrame::from)
                .collect(),
            blocks: archive
                .blocks()
                .iter()
                .map(|b| Extent::new(&b.coded, &b.raw))
                .collect(),
            unsupported: archive
                .frames()
                .iter()
                .filter_map(unsupported)
                .map(|e| (name.clone(), e))
                .collect(),
        })
    }

    /// Returns the kind of the index and its sample rate in a word, or `mixed` if they differ
    /// between frames with blocks. A frame without an index is `stored` if all blocks without an
    /// index are stored as they are and need none.
    fn index(&self) -> String {
        let words = self
            .frames
            .iter()
            .filter(|frame| frame.blocks > 0)
            .map(|frame| {
                let Some(ListedIndex { of, sample_rate }) = frame.index else {
                    let are_stored = self.index.other_blocks == 0 && self.index.stored_blocks > 0;
                    return if are_stored {
                        "stored".into()
                    } else {
                        "no".into()
                    };
                };
                match sample_rate {
                    None => format!("{of}, count"),
                    Some(rate) => format!("{of}, {rate}"),
                }
            });
        let words: BTreeSet<String> = words.collect();
        match (words.first(), words.len()) {
            (None, _) => "-".into(),
            (Some(word), 1) => word.clone(),
            _ => "mixed".into(),
        }
    }
}

impl From<&FrameInfo> for ListedFrame {
    fn from(info: &FrameInfo) -> Self {
        ListedFrame {
            extent: Extent::new(&info.coded, &info.raw),
            block_size: info.block_size,
            blocks: info.blocks,
            crc32: format!("{:08x}", info.checksum),
            check: check_of(info),
            features: features(info.features),
            notes: info.notes.iter().map(ListedNote::from).collect(),
            private: info.private.map(|owner| format!("{owner:08x}")),
            unsupported: info.unsupported.clone(),
            index: info.index.map(|index| ListedIndex {
                of: if index.of_sequences {
                    "sequences"
                } else {
                    "bytes"
                },
                sample_rate: index.sample_rate,
            }),
        }
    }
}

impl Extent {
    fn new(coded: &Range<u64>, raw: &Range<u64>) -> Self {
        Extent {
            compressed_offset: coded.start,
            compressed_size: coded.end - coded.start,
            uncompressed_offset: raw.start,
            uncompressed_size: raw.end - raw.start,
        }
    }
}

fn print_table(listings: &[Listing], verbose: bool) -> io::Result<()> {
    let out = descriptors::stdout()?;
    // Names are escaped on a terminal alone, as ls does: programs get names as they are.
    let shown = if out.is_terminal() {
        printable
    } else {
        str::to_owned
    };
    let mut out = BufWriter::new(out);
    if !listings.is_empty() {
        writeln!(
            out,
            "Frames  Blocks   Compressed  Uncompressed    Ratio  Check           Index  Filename"
        )?;
    }
    for listing in listings {
        let Listing {
            name,
            compressed_size,
            uncompressed_size,
            ..
        } = listing;
        let frames = listing.frames.len();
        let blocks = listing.blocks.len();
        let index = listing.index();
        row(
            &mut out,
            frames,
            blocks,
            *compressed_size,
            *uncompressed_size,
            &[listing.check, &index, &shown(name)],
        )?;
        if verbose {
            print_blocks(&mut out, listing)?;
        }
    }
    if listings.len() > 1 {
        print_totals(&mut out, listings)?;
    }
    out.flush()
}

fn print_totals(out: &mut impl Write, listings: &[Listing]) -> io::Result<()> {
    let sum = |of: fn(&Listing) -> u64| listings.iter().map(of).sum::<u64>();
    let check = match listings
        .iter()
        .all(|listing| listing.check == listings[0].check)
    {
        true => listings[0].check,
        false => "mixed",
    };
    let frames = listings
        .iter()
        .map(|listing| listing.frames.len())
        .sum();
    let blocks = listings
        .iter()
        .map(|listing| listing.blocks.len())
        .sum();
    let coded = sum(|listing| listing.compressed_size);
    let raw = sum(|l| l.uncompressed_size);
    writeln!(out, "{}", "-".repeat(95))?;
    row(
        out,
        frames,
        blocks,
        coded,
        raw,
        &[check, "", &format!("{} files", listings.len())],
    )
}

fn row(
    out: &mut impl Write,
    frames: usize,
    blocks: usize,
    coded: u64,
    raw: u64,
    words: &[&str; 3],
) -> io::Result<()> {
    let [check, index, name] = words;
    let ratio = ratio_text(raw, coded);
    let coded = human(coded);
    let raw = human(raw);
    writeln!(
        out,
        "{frames:>6} {blocks:>7} {coded:>12} {raw:>13} {ratio:>8}  {check:<6} {index:>14}  {name}"
    )
}

/// Describes the index of a frame.
fn frame_index(index: Option<&ListedIndex>) -> String {
    match index {
        None => "no index".into(),
        Some(ListedIndex {
            of,
            sample_rate: None,
        }) => format!("index of {of} for counting"),
        Some(ListedIndex {
            of,
            sample_rate: Some(rate),
        }) => {
            format!("index of {of} with every {rate}th position")
        }
    }
}

/// Prints one line per block, in bytes. The check of a frame stands above its blocks.
fn print_blocks(out: &mut impl Write, listing: &Listing) -> io::Result<()> {
    let mut blocks = (0..).zip(&listing.blocks);
    writeln!(out, "  {}", listing.index.text)?;
    for (frame, number) in listing.frames.iter().zip(0..) {
        if let Some(owner) = &frame.private {
            let size = frame.extent.compressed_size;
            writeln!(
                out,
                "  Frame {number}: {size} B of private content of {owner}"
            )?;
            continue;
        }
        if let Some(why) = &frame.unsupported {
            writeln!(out, "  Frame {number}: {why}")?;
            continue;
        }
        print_frame(out, number, frame)?;
        writeln!(
            out,
            "   Block    CompOffset      CompSize  UncompOffset    UncompSize    Ratio"
        )?;
        for (number, block) in blocks.by_ref().take(frame.blocks as usize) {
            block_row(out, number, block)?;
        }
    }
    Ok(())
}

/// Prints what is known of a frame before its blocks.
fn print_frame(out: &mut impl Write, number: usize, frame: &ListedFrame) -> io::Result<()> {
    let ListedFrame {
        block_size,
        crc32,
        check,
        features,
        notes,
        index,
        ..
    } = frame;
    let index = frame_index(index.as_ref());
    let digest = match *check {
        "CRC32" => String::new(),
        check => format!(", {check}"),
    };
    let features = features.join(", ");
    writeln!(
        out,
        "  Frame {number}: blocks of {block_size} B, CRC32 {crc32}{digest}, {index}"
    )?;
    writeln!(
        out,
        "    uses {}",
        if features.is_empty() {
            "nothing"
        } else {
            &features
        }
    )?;
    for ListedNote { key, value } in notes {
        writeln!(out, "    {}: {}", printable(key), printable(value))?;
    }
    Ok(())
}

fn block_row(out: &mut impl Write, number: u64, block: &Extent) -> io::Result<()> {
    let Extent {
        compressed_offset,
        compressed_size,
        uncompressed_offset,
        uncompressed_size,
    } = block;
    let ratio = ratio_text(*uncompressed_size, *compressed_size);
    writeln!(
        out,
        "{number:>8} {compressed_offset:>13} {compressed_size:>13} {uncompressed_offset:>13} \
         {uncompressed_size:>13} {ratio:>8}"
    )
}
