//! Count and locate in one file: opening it, printing the results of its patterns, and the warnings
//! about it.

use crate::cli::arguments::search_args::SearchArgs;
use crate::cli::arguments::shared_args::Talk;
use crate::cli::arguments::size::{count as count_of, read_cost};
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::report::console;
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::search::ambiguity_codes::AmbiguityCodes;
use crate::cli::search::batch_search::{
    BatchFound, BatchSearch, FoundPiece, MATCHES_SHARE, MatchLimits, SearchFailure,
};
use crate::cli::search::grep::line_counter::LineCounter;
use crate::cli::search::match_lines::{Hits, LineForm};
use crate::cli::search::match_pieces::{STRETCH, pieces, take_reads};
use crate::cli::search::match_printer::{Printed, Printer};
use crate::cli::search::odd_patterns::OddPatterns;
use crate::cli::search::pattern_batch::{NamedPattern, PatternBatch};
use crate::cli::search::patterns::Patterns;
use crate::cli::search::surroundings::{Looks, Surroundings};
use bwz::{Archive, Error, Matches, Options, Result};
use std::fs::File;
use std::iter;
use std::sync::OnceLock;
use std::time::Instant;

/// Maximum number of matches whose surroundings are fetched together.
const MATCHES: usize = 1 << 20;

/// Bytes of memory that a match takes, with its position and its line.
const PER_MATCH: u64 = 80;
/// Minimum number of matches that are fetched together, however little memory there is.
const FEWEST_MATCHES: u64 = 1 << 12;

/// Divisor of the number of sequences. If no more than one part in 100 is found in a file without
/// an index of sequences, a warning is printed.
const FEW: u64 = 100;

/// The search of files.
pub(super) struct FileCounts<'a> {
    pub args: &'a SearchArgs,
    pub patterns: Patterns,
    pub wanted: Option<MatchLimits>,
    pub form: LineForm,
    /// Lines are counted, not occurrences.
    pub counts_lines: bool,
    pub event_lines: EventLines,
    pub options: Options,
    /// Set if patterns could not be read. No further file is searched then.
    pub patterns_failed: OnceLock<Exit>,
}

impl FileCounts<'_> {
    /// Searches a file, and prints what is found.
    pub(super) fn file(&self, name: &Name, printer: &mut Printer) -> Result<()> {
        let talk = self.args.talk;
        let started = Instant::now();
        if self.patterns_failed.get().is_some() {
            return Ok(());
        }
        let mut archive = self.open(name)?;
        warn_of_missing_index(name, &mut archive, talk)?;
        let by_sequence = archive.has_sequences() && !self.counts_lines;
        if !by_sequence && matches!(self.form, LineForm::Bed | LineForm::Sam) {
            return Err(Error::Usage(
                "has no index of sequences, which --bed and --sam need; bwz --index of FASTA or \
                 FASTQ makes one"
                    .into(),
            ));
        }
        if !by_sequence && self.args.iupac {
            return Err(Error::Usage(
                "has no index of sequences, which --iupac needs; bwz --index of FASTA or FASTQ \
                 makes one"
                    .into(),
            ));
        }
        let mut codes = by_sequence.then(|| AmbiguityCodes::taken_as_they_are(self.args));
        let mut odd_patterns = by_sequence.then(|| OddPatterns::new(talk));
        let folds = self.args.ignore_case || !self.args.case && archive.has_sequences_alone();
        let mut surroundings = self.surroundings(name, by_sequence)?;
        // SAM needs the records for its header. The other forms need them once a match is found.
        printer.begin(match &mut surroundings {
            Some(Surroundings { archive, .. }) if self.form == LineForm::Sam => {
                archive.records()?.to_vec()
            }
            _ => Vec::new(),
        })?;
        let print = |FoundPiece {
                         batch,
                         first,
                         found,
                         printed,
                     }: FoundPiece|
         -> Result<()> {
            if let Some(codes) = codes.as_mut().filter(|_| first == 0) {
                codes.warn(&batch, name, talk);
            }
            if let Some(odd) = odd_patterns.as_mut().filter(|_| first == 0) {
                odd.warn(&batch, name, talk);
            }
            match found {
                BatchFound::Counts(counts) => {
                    printer.print(name, counted(&batch, &counts, folds))?;
                }
                BatchFound::Matches(matches) => {
                    let looks = self.looks();
                    let hits = located(&batch, first, matches, looks, folds);
                    print_located(hits, looks, surroundings.as_mut(), name, printer)?;
                }
            }
            self.patterns.recycle(batch);
            drop(printed);
            Ok(())
        };
        let search = BatchSearch {
            args: self.args,
            patterns: &self.patterns,
            wanted: self.wanted,
            in_pieces: self.looks().in_pieces,
            lines: self.counts_lines.then(|| LineCounter {
                name,
                args: self.args,
                options: self.options(name),
            }),
        };
        let searched = search.run(&mut archive, print);
        let some_printed = printer.printed.patterns > 0;
        match searched {
            Err(SearchFailure::OfPatterns(e)) => {
                let _ = self.patterns_failed.set(console::fail(&e));
                if some_printed {
                    talk.warn(name, "was searched only for the patterns before that");
                }
                return Ok(());
            }
            Err(SearchFailure::OfFile(e)) => {
                if some_printed {
                    talk.warn(
                        name,
                        "fails now, so the lines printed about it are incomplete",
                    );
                }
                return Err(e);
            }
            Ok(()) => {}
        }
        let Printed {
            found, patterns, ..
        } = printer.printed;
        if !self.args.fasta.is_empty() && !by_sequence && found * FEW <= patterns {
            talk.warn(name, format_args!(
                "{found} of {patterns} sequences were found: it is searched by its bytes, so no \
                 match crosses a line end or differs in case; bwz --index of FASTA or FASTQ makes \
                 an index of sequences"
            ));
        }
        if self.counts_lines {
            return Ok(());
        }
        let mut cost = archive.search_cost();
        if let Some(Surroundings { archive, .. }) = surroundings {
            cost += archive.search_cost();
        }
        let work = read_cost(cost);
        let seconds = started.elapsed().as_secs_f64();
        talk.report(name, format_args!("{work}, {seconds:.3} s"));
        Ok(())
    }

    /// Opens the source of the places, the bases and the context of matches, or returns `None` if
    /// none of these is printed.
    fn surroundings(&self, name: &Name, by_sequence: bool) -> Result<Option<Surroundings>> {
        let Some(MatchLimits { context, .. }) = self.wanted else {
            return Ok(None);
        };
        if context.is_none() && !by_sequence {
            return Ok(None);
        }
        // It opens the file a second time, because the first handle is in use by the search.
        let may_differ = self.args.max_mismatches > 0 || self.args.iupac;
        let reference = self.form == LineForm::Sam && may_differ;
        Ok(Some(Surroundings {
            archive: self.open(name)?,
            context,
            by_sequence,
            reference,
        }))
    }

    fn open(&self, name: &Name) -> Result<Archive<File>> {
        Archive::open(input::open_seekable(name)?, &self.options(name))
    }

    fn options(&self, name: &Name) -> Options {
        self.event_lines
            .add_to(&self.options, name, self.args.talk, None)
    }

    /// Returns the way in which matches are printed.
    fn looks(&self) -> Looks {
        let matches = match self.args.resources.memory {
            0 => MATCHES,
            bytes => {
                let matches = bytes / MATCHES_SHARE / PER_MATCH;
                matches.clamp(FEWEST_MATCHES, MATCHES as u64) as usize
            }
        };
        let in_pieces = matches!(self.form, LineForm::Lines | LineForm::Bed);
        let limit = self.wanted.map_or(0, |wanted| wanted.limit);
        Looks {
            matches,
            in_pieces,
            limit,
        }
    }
}

/// Warns of the number of blocks that have to be decoded because they have no index. Blocks that
/// are stored as they are do not count: they have no index, and are searched as fast without one.
fn warn_of_missing_index(name: &Name, archive: &mut Archive<File>, talk: Talk) -> Result<()> {
    if archive
        .frames()
        .iter()
        .all(|frame| frame.blocks == 0 || frame.index.is_some())
    {
        return Ok(());
    }
    let indexed = archive.info();
    match (indexed.none, indexed.sequences + indexed.bytes) {
        (0, _) => {}
        (_, 0) => {
            talk.warn(name, "has no index: it is decoded to be searched (bwz --index makes one)");
        }
        (none, _) => talk.warn(name, format_args!(
            "{} of {} have no index: they are decoded to be searched (bwz --index makes one for all)",
            none, count_of(indexed.all(), "block")
        )),
    }
    Ok(())
}

/// Returns the counts of the patterns in each part of a batch. If `folds`, the file does not
/// distinguish upper and lower case, and a reverse complement that differs from its pattern in case
/// alone is left out: it was found already.
fn counted<'s>(
    batch: &'s PatternBatch,
    mut counts: &'s [u64],
    folds: bool,
) -> impl Iterator<Item = impl Iterator<Item = (NamedPattern<'s>, Hits)> + Send> {
    batch.parts.iter().map(move |part| {
        let counts = counts
            .split_off(..part.len())
            .unwrap_or_default()
            .iter();
        let counted = part.iter().zip(counts.map(|&count| Hits {
            count,
            ..Hits::default()
        }));
        counted.filter(move |(pattern, _)| !(folds && pattern.is_given_folded))
    })
}

/// Returns the matches of the patterns of a batch from number `first` on. Reverse complements are
/// treated as in [`counted`].
fn located<'s>(
    batch: &'s PatternBatch,
    first: usize,
    matches: Vec<Matches>,
    looks: Looks,
    folds: bool,
) -> Box<dyn Iterator<Item = (NamedPattern<'s>, Hits)> + 's> {
    let hits = matches.into_iter().map(
        |Matches {
             count, positions, ..
         }| Hits {
            count,
            offsets: Some(positions),
            ..Hits::default()
        },
    );
    let patterns = batch.patterns_from(first);
    let found = patterns
        .zip(hits)
        .filter(move |(pattern, _)| !(folds && pattern.is_given_folded));
    match looks.in_pieces {
        true => Box::new(found.flat_map(move |(of, hits)| pieces(of, hits, looks.limit))),
        false => Box::new(found),
    }
}

/// Prints matches. The surroundings of a limited number of matches are fetched at a time.
fn print_located<'s>(
    found: impl Iterator<Item = (NamedPattern<'s>, Hits)>,
    looks: Looks,
    mut surroundings: Option<&mut Surroundings>,
    name: &Name,
    printer: &mut Printer,
) -> Result<()> {
    let at_a_time = surroundings
        .as_ref()
        .map_or(looks.matches, |around| around.at_a_time(looks));
    let mut found = found.peekable();
    while found.peek().is_some() {
        let mut some = take_reads(&mut found, at_a_time);
        if let Some(surroundings) = &mut surroundings {
            surroundings.look(&mut some)?;
            if surroundings.by_sequence && some.iter().any(|(_, hits)| hits.count > 0) {
                printer.know_records(surroundings.archive.records()?)?;
            }
        }
        let mut some = some.into_iter().peekable();
        let stretches = iter::from_fn(|| {
            let stretch = take_reads(&mut some, STRETCH);
            (!stretch.is_empty()).then(|| stretch.into_iter())
        });
        printer.print(name, stretches)?;
    }
    Ok(())
}
