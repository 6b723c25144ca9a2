//! `bwz count` and `bwz locate`: find the occurrences of patterns in compressed files. Exit codes
//! are those of grep: 0 found, 1 not found, 2 trouble.
//!
//! Calls from the command `count` to the library:
//!
//! | | call | job |
//! |--:|---|---|
//! | 1 | [`count`] | chooses the form of the lines |
//! | 2 | `search_files` | makes the options, goes through the files |
//! | 3 | `FileCounts::file` (`file_counts`) | opens a file, prints lines and warnings |
//! | 4 | `BatchSearch::run` (`batch_search`) | reads, searches and prints side by side |
//! | 5 | `BatchSearch::search_batches` | searches batch after batch |
//! | 6 | `BatchSearch::search_pieces` | halves a batch whose results do not fit in memory |
//! | 7 | `BatchSearch::search_batch` | counts, or locates |
//! | 8 | [`Searcher::count`](bwz::Searcher::count) | in the library, see `src/search/mod.rs` |

use crate::cli::arguments::search_args::{CountArgs, LocateArgs, SearchArgs};
use crate::cli::arguments::usage;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::search::batch_search::MatchLimits;
use crate::cli::search::file_counts::FileCounts;
use crate::cli::search::match_lines::LineForm;
use crate::cli::search::match_printer::Printer;
use crate::cli::search::meant_expressions;
use crate::cli::search::path_globs;
use crate::cli::search::patterns;
use crate::cli::search::sam_lines::SamSettings;
use bwz::{Error, Letters, Result};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Prints how often each pattern occurs in each file.
pub(crate) fn count(args: &CountArgs) -> Exit {
    let form = if args.search.json {
        LineForm::Json
    } else {
        LineForm::Lines
    };
    let output = SearchOutput {
        limits: None,
        form,
        pairs: None,
        sam: SamSettings::default(),
        counts_lines: args.counts_lines,
    };
    outcome(search_files(&args.search, output), &args.search)
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
        limit: if args.first { 1 } else { args.limit },
        last: args.last,
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
        counts_lines: false,
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
    /// Lines are counted, not occurrences.
    counts_lines: bool,
}

/// Searches all files. Returns true if anything was found.
fn search_files(args: &SearchArgs, output: SearchOutput) -> Result<bool, Exit> {
    let SearchOutput {
        limits: wanted,
        form,
        pairs,
        sam,
        counts_lines,
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
        .match_case(args.case)
        .ignore_case(args.ignore_case);
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
        counts_lines,
        event_lines,
        options,
        patterns_failed,
    };
    let mut printer = Printer::new(args, form, sam).map_err(|e| fail(e.into()))?;
    let globs = path_globs::rules(&args.globs.glob).map_err(fail)?;
    let is_wanted: named_files::Wanted =
        &|root, path| named_files::has_suffix(path, None) && path_globs::allow(&globs, root, path);
    let directories = if args.recursive {
        Directories::Walked(is_wanted)
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
        return Err(fail(Error::Usage(match args.globs.glob.is_empty() {
            true => "there is no .bwz file in these directories".into(),
            false => "there is no .bwz file in these directories that the globs choose".into(),
        })));
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
