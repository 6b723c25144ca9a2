//! The meaning of grep's arguments: what is printed, what a scan has to find for that, and what an
//! index is asked.

use crate::cli::arguments::grep_args::{BinaryFiles, GrepArgs, PatternArgs, ShowArgs, When};
use crate::cli::report::screen::has_colors;
use crate::cli::search::grep::context_lines::ContextSize;
use crate::cli::search::grep::file_report::{ReportPlan, Show};
use crate::cli::search::grep::grep_colors::GrepColors;
use crate::cli::search::grep::grep_patterns::GrepPatterns;
use crate::cli::search::grep::indexed_search::IndexedSearch;
use crate::cli::search::grep::line_printer::LineForm;
use crate::cli::search::grep::line_scan::Wanted;
use crate::cli::search::grep::required_literals::{self, LineEnds, Reading};
use std::path::PathBuf;

/// The output that the arguments ask for.
pub(crate) fn plan(args: &GrepArgs, files: &[PathBuf], is_terminal: bool) -> ReportPlan {
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
        has_several: several,
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
pub(crate) fn wanted(args: &GrepArgs, plan: &ReportPlan) -> Wanted {
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
pub(crate) fn indexed_search(
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
    let needs_lines = is_word || args.smart_case || ends.any() && has_other_ends;
    (!needs_lines).then_some(ends)
}
