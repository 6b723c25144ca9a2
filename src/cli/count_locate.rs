//! `bwz count` and `bwz locate`: where patterns occur in compressed files. Codes as grep's: 0
//! found, 1 not found, 2 trouble.

use super::args::Talk;
use super::console::{self, Task};
use super::event_lines::EventLines;
use super::exit::Exit;
use super::files;
use super::input;
use super::input_name::Name;
use super::match_printer::{Hits, Printer};
use super::pattern_batch::{Pattern, PatternBatch};
use super::patterns::{self, Patterns};
use super::search_args::{LocateArgs, SearchArgs};
use super::size::read_cost;
use bwz::{Archive, Matches, Options, ReadCost, Result, Searcher};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::fs::File;
use std::io;
use std::iter;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;
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
    let exit =
        files::each(&files, None, args.talk, Task::Reading, |name| search.file(name, &mut printer));
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
    fn file(&self, name: &Name, printer: &mut Printer) -> Result<()> {
        let started = Instant::now();
        let mut archive = self.open(name)?;
        if archive.frames().iter().any(|frame| frame.blocks > 0 && frame.index.is_none()) {
            self.talk
                .warn(name, "has no index: it is decoded to be searched (bwz --index makes one)");
        }
        let context = self.wanted.and_then(|wanted| wanted.context);
        // By itself, since the first one is at work.
        let mut beside = match context {
            Some(around) => Some((self.open(name)?, around)),
            None => None,
        };
        let print = |(batch, found): (PatternBatch, Found)| match &mut beside {
            None => print(printer, name, &batch, found),
            Some((archive, around)) => {
                print_with_context(archive, *around, &batch, found, |pattern, hits| {
                    printer.print(name, pattern, hits)
                })
            }
        };
        self.search(&mut archive, print)?;
        let mut cost = archive.search_cost();
        if let Some((beside, _)) = beside {
            cost += beside.search_cost();
        }
        self.report(name, cost, started);
        Ok(())
    }

    fn open(&self, name: &Name) -> Result<Archive<File>> {
        let options = self.event_lines.add_to(&self.options, name, self.talk, None);
        Archive::open(input::open_seekable(name)?, &options)
    }

    /// Searches for batch after batch: while one is searched, the next one is read and the last one
    /// printed.
    fn search(
        &self,
        archive: &mut Archive<File>,
        mut print: impl FnMut((PatternBatch, Found)) -> Result<()> + Send,
    ) -> Result<()> {
        let mut searcher = archive.searcher()?;
        let mut batches = self.patterns.batches(searcher.batch_size());
        thread::scope(|scope| {
            let (read, unsearched) = bounded(1);
            let (searched, unprinted) = bounded(1);
            scope.spawn(move || batches.try_for_each(|batch| read.send(batch)));
            let printing = scope.spawn(move || unprinted.into_iter().try_for_each(&mut print));
            let found = self.search_batches(&mut searcher, unsearched, searched);
            let printed = printing.join().unwrap_or_else(|panic| resume_unwind(panic));
            printed.and(found)
        })
    }

    /// Ends where there are no more batches, or nobody takes what they come to.
    fn search_batches(
        &self,
        searcher: &mut Searcher<'_, File>,
        batches: Receiver<Result<PatternBatch>>,
        searched: Sender<(PatternBatch, Found)>,
    ) -> Result<()> {
        let mut any = false;
        for batch in batches {
            let batch = batch?;
            any = true;
            let found = self.search_batch(searcher, &batch)?;
            if searched.send((batch, found)).is_err() {
                return Ok(());
            }
        }
        // Without patterns there may still be something to verify.
        if any { Ok(()) } else { self.search_batch(searcher, &PatternBatch::default()).map(drop) }
    }

    fn search_batch(
        &self,
        searcher: &mut Searcher<'_, File>,
        batch: &PatternBatch,
    ) -> Result<Found> {
        let patterns: Vec<&[u8]> = batch.iter().map(|pattern| pattern.bytes).collect();
        Ok(match self.wanted {
            None => Found::Counts(searcher.count(&patterns)?),
            Some(wanted) => Found::Matches(searcher.locate(&patterns, wanted.limit)?),
        })
    }

    fn report(&self, name: &Name, cost: ReadCost, started: Instant) {
        let (work, seconds) = (read_cost(cost), started.elapsed().as_secs_f64());
        self.talk.report(name, format_args!("{work}, {seconds:.3} s"));
    }
}

/// What each pattern of a batch came to.
enum Found {
    Counts(Vec<u64>),
    Matches(Vec<Matches>),
}

impl Found {
    fn into_hits(self) -> Box<dyn Iterator<Item = Hits>> {
        let located = |Matches { count, positions, .. }| Hits {
            count,
            offsets: Some(positions),
            context: None,
        };
        match self {
            Found::Counts(counts) => {
                Box::new(counts.into_iter().map(|count| Hits { count, ..Hits::default() }))
            }
            Found::Matches(matches) => Box::new(matches.into_iter().map(located)),
        }
    }
}

fn print(printer: &mut Printer, name: &Name, batch: &PatternBatch, found: Found) -> Result<()> {
    for (pattern, hits) in batch.iter().zip(found.into_hits()) {
        printer.print(name, &pattern, hits)?;
    }
    Ok(())
}

/// Prints the matches of a batch with the text around them, as many at a time as take one look into
/// the file.
fn print_with_context(
    archive: &mut Archive<File>,
    around: u64,
    batch: &PatternBatch,
    found: Found,
    mut print: impl FnMut(&Pattern, Hits) -> io::Result<()>,
) -> Result<()> {
    let mut found = batch.iter().zip(found.into_hits()).peekable();
    while found.peek().is_some() {
        let mut size = 0;
        let some = iter::from_fn(|| {
            if size >= CONTEXTS {
                return None;
            }
            let next = found.next()?;
            size += 1 + next.1.offsets.as_ref().map_or(0, Vec::len);
            Some(next)
        });
        add_context(archive, around, some.collect(), &mut print)?;
    }
    Ok(())
}

fn add_context(
    archive: &mut Archive<File>,
    around: u64,
    found: Vec<(Pattern, Hits)>,
    print: &mut impl FnMut(&Pattern, Hits) -> io::Result<()>,
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
        print(&pattern, hits)?;
    }
    Ok(())
}
