//! `bwz count` and `bwz locate`: find the occurrences of patterns in compressed files. Exit codes
//! are those of grep: 0 found, 1 not found, 2 trouble.
//!
//! Calls from the command `count` to the library:
//!
//! | | call | job |
//! |--:|---|---|
//! | 1 | [`count`] | chooses the form of the lines |
//! | 2 | `search_files` | makes the options, goes through the files |
//! | 3 | `FileCounts::file` | opens a file, prints its lines, its warnings and its cost |
//! | 4 | `FileCounts::search` | reads batches of patterns, searches and prints on threads side by side |
//! | 5 | `FileCounts::search_batches` | searches batch after batch |
//! | 6 | `FileCounts::search_pieces` | halves a batch whose results do not fit in memory |
//! | 7 | `FileCounts::search_batch` | counts, or locates |
//! | 8 | [`Searcher::count`] | in the library: the page of `src/search/mod.rs` lists the calls from here |

use crate::cli::arguments::search_args::{LocateArgs, SearchArgs};
use crate::cli::arguments::shared_args::Talk;
use crate::cli::arguments::size::{count as count_of, read_cost};
use crate::cli::arguments::usage;
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::files::job_thread::{Job, job_thread};
use crate::cli::files::named_files::{self, Directories};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::search::ambiguity_codes::AmbiguityCodes;
use crate::cli::search::match_lines::{Hits, LineForm};
use crate::cli::search::match_pieces::{STRETCH, pieces, take_reads};
use crate::cli::search::match_printer::{Printed, Printer};
use crate::cli::search::meant_expressions;
use crate::cli::search::odd_patterns::OddPatterns;
use crate::cli::search::pattern_batch::{NamedPattern, PatternBatch};
use crate::cli::search::patterns::{self, Patterns};
use crate::cli::search::sam_lines::SamSettings;
use crate::cli::search::surroundings::{Looks, Surroundings};
use bwz::{Archive, Error, Letters, Matches, Options, Result, Searcher};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::fs::File;
use std::iter;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

/// Maximum number of matches whose surroundings are fetched together.
const MATCHES: usize = 1 << 20;

/// Divisor of the memory limit. One part in 16 is for matches.
const MATCHES_SHARE: u64 = 16;
/// Bytes of memory that a match takes, with its position and its line.
const PER_MATCH: u64 = 80;
/// Minimum number of matches that are fetched together, however little memory there is.
const FEWEST_MATCHES: u64 = 1 << 12;

/// Divisor of the number of sequences. If no more than one part in 100 is found in a file without
/// an index of sequences, a warning is printed.
const FEW: u64 = 100;

/// Prints how often each pattern occurs in each file.
pub(crate) fn count(args: &SearchArgs) -> Exit {
    let form = if args.json {
        LineForm::Json
    } else {
        LineForm::Lines
    };
    let output = SearchOutput {
        limits: None,
        form,
        pairs: None,
        sam: SamSettings::default(),
    };
    outcome(search_files(args, output), args)
}

/// Prints where each pattern occurs in each file.
pub(crate) fn locate(args: &LocateArgs) -> Exit {
    let form = match args {
        LocateArgs { sam: true, .. } => LineForm::Sam,
        LocateArgs { bed: true, .. } => LineForm::Bed,
        _ if args.search.json => LineForm::Json,
        _ => LineForm::Lines,
    };
    let limits = Some(MatchLimits {
        limit: args.limit,
        context: args.context,
    });
    let pairs = match pairs(args) {
        Ok(pairs) => pairs,
        Err(e) => return Exit::of_search(Err(console::fail(&e))),
    };
    let sam = SamSettings {
        rename_duplicates: args.rename_duplicates,
        longest_pair: args.max_insert,
    };
    let output = SearchOutput {
        limits,
        form,
        pairs,
        sam,
    };
    outcome(search_files(&args.search, output), &args.search)
}

fn outcome(found: Result<bool, Exit>, args: &SearchArgs) -> Exit {
    if found == Ok(false) {
        meant_expressions::hint(args);
    }
    Exit::of_search(found)
}

/// The files of paired reads.
fn pairs(args: &LocateArgs) -> Result<Option<[PathBuf; 2]>> {
    let first = usage::once("--reads1", &args.reads1)?;
    let second = usage::once("--reads2", &args.reads2)?;
    Ok(first
        .zip(second)
        .map(|(first, second)| [first.clone(), second.clone()]))
}

/// The form of the output, and the files of paired reads whose hits are printed.
struct SearchOutput {
    limits: Option<MatchLimits>,
    form: LineForm,
    pairs: Option<[PathBuf; 2]>,
    sam: SamSettings,
}

/// The limits of locate's output for each pattern.
#[derive(Clone, Copy)]
struct MatchLimits {
    limit: usize,
    context: Option<u64>,
}

struct FileCounts<'a> {
    args: &'a SearchArgs,
    patterns: Patterns,
    wanted: Option<MatchLimits>,
    form: LineForm,
    event_lines: EventLines,
    options: Options,
    /// Set if patterns could not be read. No further file is searched then.
    patterns_failed: OnceLock<Exit>,
}

/// Searches all files. Returns true if anything was found.
fn search_files(args: &SearchArgs, output: SearchOutput) -> Result<bool, Exit> {
    let SearchOutput {
        limits: wanted,
        form,
        pairs,
        sam,
    } = output;
    let fail = |e: Error| console::fail(&e);
    let gathered = patterns::gather(args, pairs, args.revcomp || form == LineForm::Sam);
    let (patterns, files) = gathered.map_err(fail)?;
    if files.is_empty() {
        return Ok(false);
    }
    if form == LineForm::Sam && files.len() > 1 {
        return Err(fail(Error::Usage(
            "--sam takes one file: it has one header".into(),
        )));
    }
    let options = args
        .resources
        .options()
        .verify(args.verify)
        .match_case(args.case);
    let options = options
        .max_mismatches(args.max_mismatches)
        .map_err(fail)?;
    let options = options.letters(letters(args));
    let event_lines = EventLines::default();
    let is_quiet = args.talk.quiet;
    // If the search only tells whether anything is found, no positions are needed.
    let wanted = wanted.filter(|_| !is_quiet);
    let patterns_failed = OnceLock::new();
    let search = FileCounts {
        args,
        patterns,
        wanted,
        form,
        event_lines,
        options,
        patterns_failed,
    };
    let mut printer = Printer::new(args, form, sam).map_err(|e| fail(e.into()))?;
    let is_compressed: named_files::Wanted = &|path| named_files::has_suffix(path, None);
    let directories = if args.recursive {
        Directories::Walked(is_compressed)
    } else {
        Directories::Walkable
    };
    let mut searched = 0;
    let exit = named_files::each(&files, directories, args.talk, Activity::Reading, |name| {
        searched += 1;
        if is_quiet && printer.printed.found_any {
            return Ok(());
        }
        search.file(name, &mut printer)
    });
    if is_quiet && printer.printed.found_any {
        return Ok(true);
    }
    if searched == 0 && exit == Exit::Fine {
        return Err(fail(Error::Usage(
            "there is no .bwz file in these directories".into(),
        )));
    }
    let finished = printer.finish().map_err(|e| fail(e.into()));
    let exit = exit.max(
        search
            .patterns_failed
            .get()
            .copied()
            .unwrap_or_default(),
    );
    match exit.max(finished.err().unwrap_or_default()) {
        Exit::Fine => Ok(printer.printed.found_any),
        exit => Err(exit),
    }
}

/// Returns the meaning of the letters of patterns.
fn letters(args: &SearchArgs) -> Letters {
    match args {
        SearchArgs { iupac: true, .. } => Letters::Iupac,
        SearchArgs {
            strict_letters: true,
            ..
        } => Letters::Exact,
        _ => Letters::Nucleotides,
    }
}

impl FileCounts<'_> {
    fn file(&self, name: &Name, printer: &mut Printer) -> Result<()> {
        let talk = self.args.talk;
        let started = Instant::now();
        if self.patterns_failed.get().is_some() {
            return Ok(());
        }
        let mut archive = self.open(name)?;
        warn_of_missing_index(name, &mut archive, talk)?;
        let by_sequence = archive.has_sequences();
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
        let folds = !self.args.case && archive.has_sequences_alone();
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
        let searched = self.search(&mut archive, print);
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
        let options = self
            .event_lines
            .add_to(&self.options, name, self.args.talk, None);
        Archive::open(input::open_seekable(name)?, &options)
    }

    /// Searches for batch after batch. While one batch is searched, the next one is read and the
    /// previous one is printed.
    fn search(
        &self,
        archive: &mut Archive<File>,
        mut print: impl FnMut(FoundPiece) -> Result<()> + Send,
    ) -> Result<(), SearchFailure> {
        let everywhere = archive.raw_size() + 1;
        let mut searcher = archive.searcher()?;
        searcher.expect(self.patterns.expected_size());
        let mut batches = self.patterns.batches(searcher.batch_size());
        thread::scope(|scope| {
            let (read, unsearched) = bounded(1);
            let (searched, unprinted) = bounded(1);
            let [reader, printer] = [job_thread(scope)?, job_thread(scope)?];
            let (end, printed) = bounded(1);
            let read = move || _ = batches.try_for_each(|batch| read.send(batch));
            let print = move || drop(end.send(unprinted.into_iter().try_for_each(&mut print)));
            for (thread, job) in [(reader, Box::new(read) as Job), (printer, Box::new(print))] {
                drop(thread.send(job));
            }
            let found = self.search_batches(&mut searcher, everywhere, unsearched, searched);
            // If the printer panicked, so does the scope.
            let printed = printed.recv().unwrap_or(Ok(()));
            printed.map_err(SearchFailure::OfFile).and(found)
        })
    }

    /// Searches until there are no more batches, or until the printer takes no more results.
    fn search_batches(
        &self,
        searcher: &mut Searcher<'_>,
        everywhere: u64,
        batches: Receiver<Result<PatternBatch>>,
        searched: Sender<FoundPiece>,
    ) -> Result<(), SearchFailure> {
        let mut any = false;
        for batch in batches {
            let batch = batch.map_err(SearchFailure::OfPatterns)?;
            any = true;
            let all = 0..batch.len();
            if self
                .search_pieces(searcher, everywhere, batch, all, &searched)?
                .is_break()
            {
                return Ok(());
            }
        }
        // Without patterns there may still be blocks to verify.
        if !any {
            self.search_batch(searcher, everywhere, &[])?;
        }
        Ok(())
    }

    /// Searches for some patterns of a batch. If the results do not fit in memory, it searches for
    /// the first half of the patterns and then for the second half. It stops if the printer takes
    /// no more results.
    fn search_pieces(
        &self,
        searcher: &mut Searcher<'_>,
        everywhere: u64,
        batch: PatternBatch,
        some: Range<usize>,
        searched: &Sender<FoundPiece>,
    ) -> Result<ControlFlow<()>, SearchFailure> {
        let patterns = batch.bytes(self.patterns.parsers);
        let found = match self.search_batch(searcher, everywhere, &patterns[some.clone()]) {
            Err(e @ Error::Limit { .. }) => {
                let Some(middle) = batch.middle(some.clone()) else {
                    return Err(e.into());
                };
                drop(patterns);
                let first = some.start..middle;
                let batch_again = batch.clone();
                if self
                    .search_pieces(searcher, everywhere, batch_again, first, searched)?
                    .is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
                let second = middle..some.end;
                return self.search_pieces(searcher, everywhere, batch, second, searched);
            }
            found => found?,
        };
        drop(patterns);
        let enough = self.args.talk.quiet && found.is_any();
        // Results that take much memory are printed before the search goes on.
        let (printed, is_printed) = bounded(0);
        let waits = self.takes_much(&found);
        let printed = waits.then_some(printed);
        let is_sent = searched
            .send(FoundPiece {
                batch,
                first: some.start,
                found,
                printed,
            })
            .is_ok();
        if waits {
            // No value is ever sent. The call ends when the printer drops its end.
            let _ = is_printed.recv();
        }
        Ok(if is_sent && !enough {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    }

    /// True if the positions leave no memory for the positions of other patterns.
    fn takes_much(&self, found: &BatchFound) -> bool {
        let BatchFound::Matches(matches) = found else {
            return false;
        };
        let count = matches
            .iter()
            .map(|found| found.positions.len() as u64)
            .sum::<u64>();
        let memory = self.args.resources.memory;
        memory > 0 && count * size_of::<u64>() as u64 > memory / MATCHES_SHARE
    }

    fn search_batch(
        &self,
        searcher: &mut Searcher<'_>,
        everywhere: u64,
        patterns: &[&[u8]],
    ) -> Result<BatchFound> {
        let Some(MatchLimits { limit, .. }) = self.wanted else {
            return Ok(BatchFound::Counts(searcher.count(patterns)?));
        };
        let are_empty: Vec<bool> = match self.looks().in_pieces {
            true => patterns
                .iter()
                .map(|pattern| pattern.is_empty())
                .collect(),
            false => Vec::new(),
        };
        if !are_empty.contains(&true) {
            return Ok(BatchFound::Matches(searcher.locate(patterns, limit)?));
        }
        // Empty patterns occur at every position, so their positions need not be held.
        let others = patterns
            .iter()
            .copied()
            .filter(|pattern| !pattern.is_empty());
        let others: Vec<&[u8]> = others.collect();
        let mut found = searcher.locate(&others, limit)?.into_iter();
        let of = |is_empty: bool| {
            let mut matches = Matches::default();
            match is_empty {
                true => matches.count = everywhere,
                false => matches = found.next().unwrap_or_default(),
            }
            matches
        };
        Ok(BatchFound::Matches(are_empty.into_iter().map(of).collect()))
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

/// The error that ended a search.
enum SearchFailure {
    /// The patterns could not be read.
    OfPatterns(Error),
    /// The file could not be searched, or the results could not be printed.
    OfFile(Error),
}

impl From<Error> for SearchFailure {
    fn from(error: Error) -> Self {
        SearchFailure::OfFile(error)
    }
}

/// Patterns of a batch from number `first` on that were searched together, with their results.
struct FoundPiece {
    batch: PatternBatch,
    first: usize,
    found: BatchFound,
    /// Dropped when the piece is printed, if the search waits for that.
    printed: Option<Sender<()>>,
}

/// The results of the patterns of a batch.
enum BatchFound {
    Counts(Vec<u64>),
    Matches(Vec<Matches>),
}

impl BatchFound {
    /// True if anything was found.
    fn is_any(&self) -> bool {
        match self {
            BatchFound::Counts(counts) => counts.iter().any(|&count| count > 0),
            BatchFound::Matches(matches) => matches.iter().any(|found| found.count > 0),
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
