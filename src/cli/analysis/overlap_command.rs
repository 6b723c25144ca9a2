//! `bwz overlap`: finds common parts of two files of sequences, or overlaps between the reads of
//! files.

use crate::cli::analysis::overlap_lines::{
    print_gfa, print_matches, print_paf, print_regions, regions,
};
use crate::cli::arguments::overlap_args::OverlapArgs;
use crate::cli::files::input::{self, OpenInput};
use crate::cli::files::input_name::Name;
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::progress_bar::Progress;
use crate::cli::report::screen::Screen;
use crate::cli::search::pattern_chunks::PatternChunks;
use crate::cli::search::pattern_syntax::{ParsedChunk, PatternSyntax};
use crate::cli::search::unique_names::NameOrder;
use bwz::overlap::{
    Sequences, Strands, longest_common, maximal_matches, read_overlaps, unique_matches,
};
use bwz::{Decoder, Error, Options, Result};
use std::borrow::Cow;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};

/// Minimum length of matches, in bases, if none is given. It is mummer's default.
const USUAL_LENGTH: u32 = 20;

/// Bytes that are parsed together; a longer record is one chunk.
const CHUNK: usize = 1 << 20;

/// Prints the regions, matches or overlaps that the arguments ask for.
pub(crate) fn run(args: &OverlapArgs) -> Exit {
    if args.min.is_none() && args.files.len() != 2 {
        let what = "takes two files, A and B; with --min any number of files of reads";
        return console::fail(&Error::Usage(format!("overlap {what}").into()));
    }
    let names: Vec<Name> = args
        .files
        .iter()
        .map(|path| Name::from(path.as_path()))
        .collect();
    let mut sets = Vec::new();
    let options = args.resources.options();
    for name in &names {
        if args.min.is_none() || sets.is_empty() {
            sets.push(Sequences::within(&options));
        }
        let set = sets.last_mut().expect("there is one");
        if let Err(e) = read(name, set, args, &options) {
            return console::fail_with(&e, name, Activity::Reading);
        }
    }
    let bases = sets.iter().map(Sequences::total).sum::<u64>();
    args.talk
        .sum_up(format_args!("{bases} bases read"));
    let all: Vec<String> = names.iter().map(Name::to_string).collect();
    let all = Name::File(all.join(", ").into());
    let options = EventLines::default().add_to(&options, &all, args.talk, None);
    match search(&sets, args, &options) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail_with(&e, &all, Activity::Reading),
    }
}

/// Adds the records of a file.
fn read(name: &Name, to: &mut Sequences, args: &OverlapArgs, options: &Options) -> Result<()> {
    if *name == Name::Stdin {
        input::refuse_terminal()?;
    }
    let OpenInput {
        source,
        about,
        stop,
    } = OpenInput::open(name, true)?;
    let options = EventLines::default().add_to(options, name, args.talk, stop);
    let progress = Progress::start(name, about.size(), args.talk, true);
    let mut source = BufReader::new(progress.count(source));
    let is_compressed = source.fill_buf()?.starts_with(&bwz::MAGIC);
    let text: Box<dyn Read + Send> = match is_compressed {
        true => Box::new(Decoder::new(source, &options)),
        false => Box::new(source),
    };
    let text = BufReader::new(text);
    let chunks = PatternChunks::sequences(text, CHUNK)?;
    let syntax = PatternSyntax {
        format: chunks.format,
        hex: false,
        both_strands: false,
    };
    let mut line = 0;
    for chunk in chunks {
        let ParsedChunk { part, lines, flaw } = syntax.parse(chunk?);
        part.iter()
            .try_for_each(|record| to.add(record.name, record.bytes))?;
        line += lines;
        if let Some(flaw) = flaw {
            return Err(Error::Usage(format!("line {line}: {flaw}").into()));
        }
    }
    Ok(())
}

fn search(sets: &[Sequences], args: &OverlapArgs, options: &Options) -> Result<()> {
    let strands = if args.forward {
        Strands::Forward
    } else {
        Strands::Both
    };
    let mut out = BufWriter::new(Screen::stdout()?);
    let bases = sets.iter().map(Sequences::total).sum::<u64>();
    let progress = Progress::wait(&Name::File(format!("{bases} bases").into()), args.talk);
    match (sets, args.min) {
        ([reads], Some(least)) => {
            // If there are too many reads, `read_overlaps` fails, and the names are not needed.
            let names = match reads.are_too_many() {
                true => Vec::new(),
                false => read_names(reads, args)?,
            };
            let found = read_overlaps(reads, least, strands, options)?;
            drop(progress);
            args.talk
                .sum_up(format_args!("{} overlaps", found.len()));
            match args.gfa {
                true => print_gfa(&mut out, reads, &names, &found)?,
                false => print_paf(&mut out, reads, &names, &found)?,
            }
        }
        ([a, b], _) if args.mem.is_some() || args.mum => {
            let find = if args.mum {
                unique_matches
            } else {
                maximal_matches
            };
            let found = find(a, b, args.mem.unwrap_or(USUAL_LENGTH), strands, options)?;
            drop(progress);
            args.talk
                .sum_up(format_args!("{} matches", found.len()));
            print_matches(&mut out, a, b, strands, &found)?;
        }
        ([a, b], _) => {
            let found = longest_common(a, b, strands, options)?;
            drop(progress);
            match args.json {
                true => crate::cli::report::screen::print_json(&regions(a, b, &found))?,
                false => print_regions(&mut out, &regions(a, b, &found))?,
            }
        }
        _ => {}
    }
    Ok(out.flush()?)
}

/// Returns the names of the reads, each of which occurs once. Duplicates are renamed with
/// `--rename-duplicates`, and are an error without it.
fn read_names<'r>(reads: &'r Sequences, args: &OverlapArgs) -> Result<Vec<Cow<'r, [u8]>>> {
    let names: Vec<&[u8]> = (0..reads.len() as u32)
        .map(|read| reads.name(read))
        .collect();
    let mut unique: Vec<Cow<[u8]>> = names.iter().map(|&name| name.into()).collect();
    let order = NameOrder::new(names, (0..reads.len()).collect());
    if !args.rename_duplicates {
        order.check("reads", if args.gfa { "GFA" } else { "PAF" })?;
    }
    for (read, name) in order.renamed() {
        unique[read] = name.into();
    }
    Ok(unique)
}
