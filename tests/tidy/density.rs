//! The density of the code, and the beginnings of its documentation. "What tests/tidy refuses" in
//! CONTRIBUTING.md gives the reasons.

use crate::remains::assert_remains;
use crate::source::{files, without_comments_and_strings};
use std::collections::BTreeMap;

/// All Rust sources, with their paths.
fn sources() -> Vec<(String, String)> {
    let folders = [
        "src",
        "tests",
        "benches",
        "kernels",
        "fuzz/fuzz_targets",
        "python/src",
    ];
    let sources: Vec<_> = folders
        .iter()
        .flat_map(|folder| files(folder, "rs"))
        .collect();
    assert!(sources.len() > 150, "the sources were not found");
    sources
}

/// The index behind the bracket that closes the one at the start of `code`.
fn group_len(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        depth += i32::from("{([".contains(c)) - i32::from("})]".contains(c));
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// A group that begins with a round bracket at the start of `code`, and the code behind it.
fn tuple(code: &str) -> Option<(&str, &str)> {
    let code = code.trim_start();
    code.starts_with('(')
        .then(|| group_len(code))?
        .map(|len| code.split_at(len))
}

/// A statement `let (a, b) = (x, y);` at the start of `code`, which is two statements.
fn several_bindings(code: &str) -> Option<&str> {
    let (_, behind) = tuple(code.strip_prefix("let ")?)?;
    let behind = behind.trim_start();
    let assigned = match behind.strip_prefix(':') {
        Some(typed) => tuple(typed)?.1.trim_start(),
        None => behind,
    };
    let (_, behind) = tuple(assigned.strip_prefix('=')?)?;
    behind
        .starts_with(';')
        .then(|| code.split(';').next())?
}

#[test]
fn a_let_binds_one_value() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let code = without_comments_and_strings(&text);
        let lets = code
            .match_indices("let (")
            .filter_map(|(at, _)| several_bindings(&code[at..]));
        let lines = lets.map(|line| {
            line.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        });
        found.extend(lines.map(|line| format!("{path}: {line}")));
    }
    assert_remains("lets", found);
}

/// The parameters of a function, without `self`.
fn parameters(function: &str) -> Vec<String> {
    let mut generic = 0;
    let open = function.char_indices().find(|(at, c)| {
        generic += i32::from(*c == '<');
        generic -= i32::from(*c == '>' && !function[..*at].ends_with('-'));
        *c == '(' && generic == 0
    });
    let Some((group, _)) = open.and_then(|(at, _)| tuple(&function[at..])) else {
        return Vec::new();
    };
    let mut parameters = vec![String::new()];
    let mut depth = 0;
    for c in group[1..group.len() - 1].chars() {
        depth += i32::from("{([<".contains(c)) - i32::from("})]>".contains(c));
        match c {
            ',' if depth == 0 => parameters.push(String::new()),
            c => parameters.last_mut().unwrap().push(c),
        }
    }
    parameters
}

#[test]
fn a_parameter_is_one_value() {
    let mut found = Vec::new();
    let mut seen = 0;
    for (path, text) in sources() {
        let code = without_comments_and_strings(&text);
        for (at, _) in code.match_indices("fn ") {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                continue;
            }
            seen += 1;
            let name = code[at + 3..]
                .split(['(', '<'])
                .next()
                .unwrap()
                .trim();
            let is_tuple = |parameter: &String| parameter.trim_start().starts_with('(');
            if parameters(&code[at..]).iter().any(is_tuple) {
                found.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(seen > 2000, "the functions were not found");
    assert_remains("parameters", found);
}

/// Beginnings of a doc that make it hard to understand.
const RIDDLES: [&str; 5] = ["What ", "Of ", "The same", "So many ", "Whether "];

#[test]
fn docs_begin_plainly() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in sources() {
        let mut before = "";
        for line in text.lines().map(str::trim_start) {
            let mark = ["///", "//!"]
                .into_iter()
                .find(|mark| line.starts_with(mark))
                .unwrap_or("");
            if !mark.is_empty() {
                let doc = line[mark.len()..].trim_start();
                let is_first = before != mark;
                let is_riddle = is_first && RIDDLES.iter().any(|start| doc.starts_with(start));
                let words = doc.to_lowercase();
                if is_riddle || words.contains("so many") || words.contains("so much") {
                    *found.entry(path.clone()).or_default() += 1;
                }
            }
            before = mark;
        }
    }
    assert_remains(
        "docs",
        found
            .into_iter()
            .map(|(path, count)| format!("{path}: {count}")),
    );
}
