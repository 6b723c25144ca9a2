//! The patterns of `grep`, and the expression that is made of them.

use crate::cli::arguments::grep_args::{GrepArgs, PatternArgs};
use crate::cli::arguments::usage;
use crate::cli::files::descriptors;
use bwz::{Error, Result};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The patterns, and the files to search.
pub(crate) struct GrepPatterns {
    /// Expressions; strings if `fixed`.
    pub all: Vec<String>,
    pub fixed: bool,
    pub files: Vec<PathBuf>,
}

impl GrepPatterns {
    /// A string as the only pattern.
    pub(crate) fn of_string(string: &[u8]) -> Self {
        let text = str::from_utf8(string);
        GrepPatterns {
            all: vec![text.map_or_else(|_| expression(string, true), String::from)],
            fixed: text.is_ok(),
            files: Vec::new(),
        }
    }
}

/// Reads the patterns of the arguments.
pub(crate) fn gather(args: &GrepArgs) -> Result<GrepPatterns> {
    let pattern = &args.pattern;
    if pattern.basic {
        return Err(Error::Usage(
            "-G: expressions are extended ones, as with -E; write \\+ as +, and + as \\+".into(),
        ));
    }
    usage::one_stdin(
        pattern
            .files
            .iter()
            .chain(args.files_from.lists()),
    )?;
    let mut words = args.words.iter();
    let mut lines = Vec::new();
    for text in &pattern.patterns {
        push_lines(text.as_bytes(), &mut lines);
    }
    for path in &pattern.files {
        let text = read(path)?;
        if !text.is_empty() {
            push_lines(text.strip_suffix(b"\n").unwrap_or(&text), &mut lines);
        }
    }
    if pattern.patterns.is_empty() && pattern.files.is_empty() {
        let first = words
            .next()
            .ok_or_else(|| Error::Usage("no pattern is given".into()))?;
        push_lines(first.as_bytes(), &mut lines);
    }
    let is_text = lines
        .iter()
        .all(|line| str::from_utf8(line).is_ok());
    let whole_record = pattern.null_data && pattern.line;
    let fixed = pattern.fixed && is_text && !whole_record;
    let all = lines.into_iter().map(|line| match fixed {
        true => String::from_utf8_lossy(&line).into_owned(),
        false if whole_record => format!(r"\A(?:{})\z", expression(&line, pattern.fixed)),
        false => expression(&line, pattern.fixed),
    });
    let files: Vec<PathBuf> = words.map(PathBuf::from).collect();
    Ok(GrepPatterns {
        all: all.collect(),
        fixed,
        files: args.files_from.add_to(&files)?,
    })
}

fn push_lines(text: &[u8], lines: &mut Vec<Vec<u8>>) {
    lines.extend(
        text.split(|&byte| byte == b'\n')
            .map(<[u8]>::to_vec),
    );
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = match path.as_os_str().as_bytes() {
        b"-" => descriptors::stdin().and_then(|mut input| input.read_to_end(&mut text)),
        _ => fs::read(path).map(|read| {
            text = read;
            text.len()
        }),
    };
    let shown = path.display();
    read.map_err(|e| std::io::Error::new(e.kind(), format!("{shown}: {e}")))?;
    Ok(text)
}

/// Returns a pattern as an expression. Bytes that are not UTF-8 stand for themselves.
fn expression(pattern: &[u8], fixed: bool) -> String {
    let mut expression = String::new();
    for chunk in pattern.utf8_chunks() {
        match fixed {
            true => expression.push_str(&regex_syntax::escape(chunk.valid())),
            false => expression.push_str(chunk.valid()),
        }
        for byte in chunk.invalid() {
            expression.push_str(&format!("(?-u:\\x{byte:02x})"));
        }
    }
    expression
}

/// Makes the matcher of the patterns.
pub(crate) fn matcher(patterns: &GrepPatterns, args: &PatternArgs) -> Result<RegexMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .fixed_strings(patterns.fixed)
        .case_insensitive(args.ignore_case)
        .case_smart(args.smart_case)
        .unicode(!args.no_unicode)
        .word(args.word && !args.line)
        .whole_line(args.line && !args.null_data);
    if args.null_data {
        // Each line is matched on its own, so that line feeds within it are like other bytes.
        builder
            .multi_line(false)
            .dot_matches_new_line(true);
    } else {
        builder
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .crlf(args.crlf);
    }
    builder
        .build_many(&patterns.all)
        .map_err(|e| Error::Usage(complaint(&e.to_string(), args).into()))
}

fn complaint(text: &str, args: &PatternArgs) -> String {
    let hint = match text.contains("look-around") || text.contains("backreferences") {
        true if args.perl => "; -P has no more than other expressions here",
        _ => "",
    };
    format!("{text}{hint}")
}
