//! `bwz grep`: finds lines that match expressions, in compressed files and others.
//!
//! | | call | job |
//! |--:|---|---|
//! | 1 | [`run`] | reads the patterns, goes through the files |
//! | 2 | `Grep::file` | opens a file |
//! | 3 | `SourceSearch::all` (`source_search`) | asks the index, or reads the text |
//! | 4 | `TextSearch` (`text_search`) | cuts a text into parts, scans and reports them |

use crate::cli::arguments::grep_args::GrepArgs;
use crate::cli::arguments::shared_args::Talk;
use crate::cli::files::input::{OpenInput, is_same};
use crate::cli::files::input_name::Name;
use crate::cli::files::member_names;
use crate::cli::files::side_by_side::{Workers, in_turn};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::search::grep::file_report::{self, FileOutcome, FileReport, ReportPlan, Show};
use crate::cli::search::grep::grep_output::GrepOutput;
use crate::cli::search::grep::grep_patterns;
use crate::cli::search::grep::grep_plan;
use crate::cli::search::grep::indexed_search::IndexedSearch;
use crate::cli::search::grep::json_messages::{self, JsonStats};
use crate::cli::search::grep::line_scan::LineScanner;
use crate::cli::search::grep::member_search::{self, SearchedMembers};
use crate::cli::search::grep::scan_queue::ScanQueue;
use crate::cli::search::grep::searched_files::{self, SearchedFile};
use crate::cli::search::grep::small_search::{SmallFound, SmallSearch};
use crate::cli::search::grep::source_search::SourceSearch;
use crate::cli::search::grep::text_search::TextSearch;
use bwz::{Error, Options, Result};
use globset::GlobMatcher;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Searches all files.
pub(crate) fn run(args: &GrepArgs) -> Exit {
    match search_all(args) {
        Ok(found) => Exit::of_search(found),
        Err(e) => Exit::of_search(Err(console::fail(&e))),
    }
}

/// Returns whether anything was found, or the code of the worst error of a file.
fn search_all(args: &GrepArgs) -> Result<Result<bool, Exit>> {
    let started = Instant::now();
    let patterns = grep_patterns::gather(args)?;
    if args.files_from.is_given() && patterns.files.is_empty() {
        return Ok(Ok(false));
    }
    let matcher = grep_patterns::matcher(&patterns, &args.pattern)?;
    let out = GrepOutput::open()?;
    let plan = grep_plan::plan(args, &patterns.files, out.is_terminal());
    if plan.max_count == 0 && plan.show != Show::NamesWithout {
        return Ok(Ok(false));
    }
    let wanted = grep_plan::wanted(args, &plan);
    let indexed = grep_plan::indexed_search(args, &patterns, &plan, wanted);
    let scanner = LineScanner { matcher, wanted };
    let members: Result<Vec<GlobMatcher>> = args
        .input
        .member
        .iter()
        .map(|glob| member_names::pattern(glob))
        .collect();
    let options = args.resources.options().verify(args.input.verify);
    let small = SmallSearch::new(
        args,
        &plan,
        &scanner,
        indexed.as_ref(),
        &options,
        out.metadata(),
    );
    let mut grep = Grep {
        args,
        talk: args.talk(),
        event_lines: EventLines::default(),
        queue: ScanQueue::new(scanner.clone(), args.resources.thread_count()),
        scanner: &scanner,
        members: members?,
        plan: &plan,
        indexed: indexed.as_ref(),
        options,
        out,
        found: false,
        stats: JsonStats::default(),
        worst: Exit::Fine,
    };
    grep.all(&patterns.files, &small)?;
    if plan.show == Show::Json {
        json_messages::summary(&grep.stats, started.elapsed(), &mut grep.out)?;
    }
    if !grep.out.has_failed() {
        grep.out.flush()?;
    }
    let has_answer = grep.has_answer();
    Ok(match grep.worst {
        Exit::Fine => Ok(grep.found),
        _ if has_answer => Ok(true),
        worst => Err(worst),
    })
}

/// The search of all files.
struct Grep<'a> {
    args: &'a GrepArgs,
    talk: Talk,
    event_lines: EventLines,
    queue: ScanQueue,
    scanner: &'a LineScanner,
    /// Names of the files in tar archives that are searched, if not all are.
    members: Vec<GlobMatcher>,
    plan: &'a ReportPlan,
    /// The question to an index. `None` if no index is to be asked.
    indexed: Option<&'a IndexedSearch>,
    options: Options,
    out: GrepOutput,
    /// True if a line was selected in any file.
    found: bool,
    /// The numbers of all files.
    stats: JsonStats,
    worst: Exit,
}

/// Bytes of the stack of a thread that searches files. Each may search a large one in its turn.
const STACK: usize = 2 << 20;

impl Grep<'_> {
    /// Searches the files that are given, small ones side by side.
    fn all(&mut self, files: &[PathBuf], small: &SmallSearch) -> Result<()> {
        let workers = Workers {
            count: small.threads,
            name: "bwz-files",
            stack: STACK,
        };
        let files = searched_files::all(files, self.args)?;
        let search = |file: SearchedFile| {
            let found = match &file.refused {
                None => small.search(&file.name),
                Some(_) => None,
            };
            (file, found)
        };
        let take = |found: (SearchedFile, Option<SmallFound>)| {
            self.one(found.0, found.1);
            match self.has_answer() || self.out.has_failed() {
                true => Err(()),
                false => Ok(()),
            }
        };
        // It ends early once there is an answer, or if nobody reads the output.
        let _ = in_turn(workers, files, search, take);
        Ok(())
    }

    /// Searches a file in its turn, unless its results are there, and prints what is found.
    fn one(&mut self, file: SearchedFile, found: Option<SmallFound>) {
        let done = match (file.refused, found) {
            (Some(e), _) => Err(e),
            (None, Some(found)) => self.take(&file.name, found),
            (None, None) => self.file(&file.name),
        };
        if let Err(e) = done {
            self.fail(&file.name, &e);
        }
    }

    /// Returns true if the exit code is known, and nothing is printed.
    fn has_answer(&self) -> bool {
        self.found && self.plan.show == Show::Nothing
    }

    /// Prints what was found in a small file.
    fn take(&mut self, name: &Name, found: SmallFound) -> Result<()> {
        if found.outcome.has_printed && self.out.has_lines {
            file_report::print_gap(self.plan, self.scanner, &mut self.out)?;
        }
        self.out.write_all(&found.printed)?;
        self.note(name, found.outcome);
        Ok(())
    }

    /// Searches a file, or the files in it if it is a tar archive.
    fn file(&mut self, name: &Name) -> Result<()> {
        let options = self
            .event_lines
            .add_to(&self.options, name, self.talk, None);
        if let Name::File(path) = name
            && !self.args.input.no_members
            && (path.is_file() || !self.members.is_empty())
            && let Some(members) = SearchedMembers::open(path, &self.members, &options)?
        {
            return self.files_in(name, path, members, &options);
        }
        if !self.members.is_empty() {
            return match name {
                Name::Stdin => Err(Error::Usage("--member needs a file, not a pipe".into())),
                Name::File(_) => Ok(()),
            };
        }
        let outcome = self.text_of(name, &options)?;
        self.note(name, outcome);
        Ok(())
    }

    /// Searches the files in a tar archive.
    fn files_in(
        &mut self,
        archive: &Name,
        path: &Path,
        mut members: SearchedMembers,
        options: &Options,
    ) -> Result<()> {
        if let Some(indexed) = self.indexed {
            members.ask(indexed)?;
        }
        let mut plan = self.plan.clone();
        plan.form.with_filename = !self.args.show.no_filename;
        members.each(|member, text| {
            let started = Instant::now();
            let name = member_search::name_in(archive, member);
            let follows_others = self.out.has_lines;
            let mut report = FileReport::new(
                &plan,
                self.scanner,
                &name,
                None,
                &mut self.out,
                follows_others,
            );
            if report.has_columns() {
                report.set_columns(Some(member.size));
            }
            match text {
                None => report.searched(member.size),
                Some(text) => {
                    let longest = self.args.resources.longest_line();
                    let mut search = TextSearch::new(&mut self.queue, &mut report, longest, false);
                    member_search::search(text, member, path, options, &mut search)?;
                }
            }
            let mut outcome = report.finish()?;
            outcome.stats.elapsed = started.elapsed();
            self.note(&name, outcome);
            Ok(!self.has_answer() && !self.out.has_failed())
        })
    }

    /// Searches a file as one text.
    fn text_of(&mut self, name: &Name, options: &Options) -> Result<FileOutcome> {
        let started = Instant::now();
        let OpenInput {
            source,
            about,
            stop,
        } = OpenInput::open(name, true)?;
        if let Some(metadata) = about.regular()
            && self.plan.show.has_lines()
            && self.out.metadata().is_file()
            && is_same(metadata, self.out.metadata())
        {
            return Err(Error::Usage("is also the output".into()));
        }
        let follows_others = self.out.has_lines;
        let label = self
            .args
            .show
            .label
            .as_ref()
            .map(|label| label.as_bytes());
        let mut report = FileReport::new(
            self.plan,
            self.scanner,
            name,
            label,
            &mut self.out,
            follows_others,
        );
        let search = SourceSearch {
            queue: &mut self.queue,
            report: &mut report,
            options: options.clone(),
            threads: self.args.resources.thread_count(),
            indexed: self.indexed,
            name,
            talk: self.talk,
            longest_line: self.args.resources.longest_line(),
        };
        search.all(source, stop)?;
        let mut outcome = report.finish()?;
        outcome.stats.elapsed = started.elapsed();
        Ok(outcome)
    }

    /// Notes the outcome of a text, and prints messages about it.
    fn note(&mut self, name: &Name, outcome: FileOutcome) {
        self.found |= outcome.found;
        self.out.has_lines |= outcome.has_printed;
        self.stats += outcome.stats;
        if outcome.binary_matches && self.plan.show == Show::Lines {
            let _ = self.out.flush();
            self.talk.say(name, "binary file matches");
        }
    }

    /// Reports the error of a file.
    fn fail(&mut self, name: &Name, e: &Error) {
        if !self.out.has_failed() {
            let _ = self.out.flush();
        }
        let is_silent =
            self.args.show.no_messages && matches!(e, Error::Io(_)) && !self.out.has_failed();
        let exit = match is_silent {
            true => Exit::from(e),
            false => console::fail_with(e, name, Activity::Reading),
        };
        self.worst = self.worst.max(exit);
    }
}
