//! `bwz grep`: finds lines that match expressions, in compressed files and others.
//!
//! | | call | job |
//! |--:|---|---|
//! | 1 | [`run`] | reads the patterns, goes through the files |
//! | 2 | `Grep::file` | opens a file |
//! | 3 | `SourceSearch::all` (`source_search`) | asks the index, or reads the text |
//! | 4 | `TextSearch` (`text_search`) | cuts a text into parts, scans and reports them |

use crate::cli::arguments::grep_args::{BinaryFiles, GrepArgs, PatternArgs, ShowArgs, When};
use crate::cli::arguments::shared_args::Talk;
use crate::cli::files::input::{OpenInput, is_same};
use crate::cli::files::input_name::Name;
use crate::cli::files::member_names;
use crate::cli::report::console::{self, Activity};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::screen::has_colors;
use crate::cli::search::grep::context_lines::ContextSize;
use crate::cli::search::grep::file_report::{FileOutcome, FileReport, ReportPlan, Show};
use crate::cli::search::grep::grep_colors::GrepColors;
use crate::cli::search::grep::grep_output::GrepOutput;
use crate::cli::search::grep::grep_patterns::{self, GrepPatterns};
use crate::cli::search::grep::indexed_search::IndexedSearch;
use crate::cli::search::grep::json_messages::{self, JsonStats};
use crate::cli::search::grep::line_printer::LineForm;
use crate::cli::search::grep::line_scan::{LineScanner, Wanted};
use crate::cli::search::grep::member_search::{self, SearchedMembers};
use crate::cli::search::grep::required_literals::{self, LineEnds, Reading};
use crate::cli::search::grep::scan_queue::ScanQueue;
use crate::cli::search::grep::searched_files;
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
    let plan = plan(args, &patterns.files, out.is_terminal());
    if plan.max_count == 0 && plan.show != Show::NamesWithout {
        return Ok(Ok(false));
    }
    let wanted = wanted(args, &plan);
    let indexed = indexed_search(args, &patterns, &plan, wanted);
    let scanner = LineScanner { matcher, wanted };
    let members: Result<Vec<GlobMatcher>> = args
        .input
        .member
        .iter()
        .map(|glob| member_names::pattern(glob))
        .collect();
    let options = args.resources.options().verify(args.input.verify);
    let mut grep = Grep {
        args,
        talk: args.talk(),
        event_lines: EventLines::default(),
        queue: ScanQueue::new(scanner.clone(), args.resources.thread_count()),
        scanner,
        members: members?,
        plan,
        indexed,
        options,
        out,
        found: false,
        stats: JsonStats::default(),
        worst: Exit::Fine,
    };
    searched_files::each(&patterns.files, args, |name, given| {
        if let Err(e) = given.and_then(|()| grep.file(&name)) {
            grep.fail(&name, &e);
        }
        let has_answer = grep.found && grep.plan.show == Show::Nothing;
        !has_answer && !grep.out.has_failed()
    })?;
    if grep.plan.show == Show::Json {
        json_messages::summary(&grep.stats, started.elapsed(), &mut grep.out)?;
    }
    if !grep.out.has_failed() {
        grep.out.flush()?;
    }
    let has_answer = grep.found && grep.plan.show == Show::Nothing;
    Ok(match grep.worst {
        Exit::Fine => Ok(grep.found),
        _ if has_answer => Ok(true),
        worst => Err(worst),
    })
}

/// The output that the arguments ask for.
fn plan(args: &GrepArgs, files: &[PathBuf], is_terminal: bool) -> ReportPlan {
    let show = &args.show;
    let several = args.is_recursive() || files.len() > 1;
    let color = match show.color {
        When::Always => true,
        When::Never => false,
        When::Auto => has_colors(is_terminal),
    };
    let what = shown(show);
    ReportPlan {
        show: what,
        form: LineForm {
            with_filename: show.with_filename || several && !show.no_filename,
            line_number: show.line_number || what == Show::Json && !show.no_line_number,
            byte_offset: show.byte_offset,
            only_matching: show.only_matching,
            null: show.null,
            colors: color.then(GrepColors::of_environment),
            initial_tab: show.initial_tab,
            line_buffered: show.line_buffered || is_terminal,
            inverted: args.pattern.invert_match,
            terminator: if args.pattern.null_data { 0 } else { b'\n' },
        },
        context: ContextSize {
            before: args.context.before(),
            after: args.context.after(),
        },
        max_count: show.max_count.unwrap_or(u64::MAX),
        binary_files: args.input.binary_files(),
    }
}

fn shown(args: &ShowArgs) -> Show {
    match args {
        ShowArgs { quiet: true, .. } => Show::Nothing,
        ShowArgs {
            files_with_matches: true,
            ..
        } => Show::NamesWith,
        ShowArgs {
            files_without_match: true,
            ..
        } => Show::NamesWithout,
        ShowArgs {
            count_matches: true,
            ..
        } => Show::CountMatches,
        ShowArgs { count: true, .. } => Show::Count,
        ShowArgs { json: true, .. } => Show::Json,
        _ => Show::Lines,
    }
}

/// The results of a scan that the output needs.
fn wanted(args: &GrepArgs, plan: &ReportPlan) -> Wanted {
    let form = &plan.form;
    let counts_matches = plan.show == Show::CountMatches;
    let is_limited = plan.max_count < u64::MAX;
    let marks_matches = match plan.show {
        Show::Lines => form.only_matching || form.colors.is_some(),
        Show::Json => true,
        _ => counts_matches && is_limited,
    };
    Wanted {
        terminator: form.terminator,
        invert: args.pattern.invert_match,
        lines: plan.show.has_lines() || counts_matches && is_limited,
        numbers: plan.show.has_lines() && form.line_number,
        matches: marks_matches,
        match_count: counts_matches,
        limit: if plan.show.ends_at_first() {
            1
        } else {
            plan.max_count
        },
        binary: !args.pattern.null_data && plan.binary_files != BinaryFiles::Text,
    }
}

/// The question to the indexes of files.
fn indexed_search(
    args: &GrepArgs,
    patterns: &GrepPatterns,
    plan: &ReportPlan,
    wanted: Wanted,
) -> Option<IndexedSearch> {
    let finds_none = plan.max_count == 0;
    if args.input.no_index || args.input.verify || wanted.invert || finds_none {
        return None;
    }
    let pattern = &args.pattern;
    let mut literals = required_literals::of(
        &patterns.all,
        Reading {
            // Either case is looked for, if that is not decided.
            ignore_case: pattern.ignore_case || pattern.smart_case,
            unicode: !pattern.no_unicode,
            crlf: pattern.crlf,
            terminator: wanted.terminator,
            fixed: patterns.fixed,
        },
    );
    literals.matching = literals
        .matching
        .and_then(|ends| matching_ends(ends, pattern));
    let lines = |size: Option<u64>| size.unwrap_or(0);
    Some(IndexedSearch {
        literals,
        show: plan.show,
        wanted,
        context: [lines(plan.context.before), lines(plan.context.after)],
    })
}

/// The ends of a line that occurrences of literals touch which are matches. Without the options
/// that restrict matches, they are `ends`. Returns `None` if occurrences do not tell.
fn matching_ends(ends: LineEnds, args: &PatternArgs) -> Option<LineEnds> {
    let ends = match args.line {
        true => LineEnds::BOTH,
        false => ends,
    };
    let is_word = args.word && !args.line;
    // With --crlf lines end in several ways; with -z, an expression knows the text's ends alone.
    let has_other_ends = args.crlf || args.null_data;
    let is_told = !is_word && !args.smart_case && !(ends.any() && has_other_ends);
    is_told.then_some(ends)
}

/// The search of all files.
struct Grep<'a> {
    args: &'a GrepArgs,
    talk: Talk,
    event_lines: EventLines,
    queue: ScanQueue,
    scanner: LineScanner,
    /// Names of the files in tar archives that are searched, if not all are.
    members: Vec<GlobMatcher>,
    plan: ReportPlan,
    /// The question to an index. `None` if no index is to be asked.
    indexed: Option<IndexedSearch>,
    options: Options,
    out: GrepOutput,
    /// True if a line was selected in any file.
    found: bool,
    /// The numbers of all files.
    stats: JsonStats,
    worst: Exit,
}

impl Grep<'_> {
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
        if let Some(indexed) = &self.indexed {
            members.ask(indexed)?;
        }
        let mut plan = self.plan.clone();
        plan.form.with_filename = !self.args.show.no_filename;
        members.each(|member, text| {
            let started = Instant::now();
            let name = member_search::name_in(archive, member);
            let mut report = FileReport::new(&plan, &self.scanner, &name, None, &mut self.out);
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
            let has_answer = self.found && self.plan.show == Show::Nothing;
            Ok(!has_answer && !self.out.has_failed())
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
        let label = self
            .args
            .show
            .label
            .as_ref()
            .map(|label| label.as_bytes());
        let mut report = FileReport::new(&self.plan, &self.scanner, name, label, &mut self.out);
        let search = SourceSearch {
            queue: &mut self.queue,
            report: &mut report,
            options: options.clone(),
            threads: self.args.resources.thread_count(),
            indexed: self.indexed.as_ref(),
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
