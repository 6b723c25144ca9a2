//! Checks on the text of each file: its length, its comments, its module doc, its unsafe code.

use crate::rooms::room;
use crate::source::{files, shipped_code};

/// Maximum number of lines of a file: a file is a room with one job.
const MOST_LINES: usize = 700;
/// Maximum number of columns of a comment.
const MOST_COLUMNS: usize = 100;

/// All Rust and CUDA sources.
pub fn sources() -> Vec<(String, String)> {
    let rust = [
        "src",
        "tests",
        "examples",
        "benches",
        "kernels",
        "fuzz/fuzz_targets",
        "python/src",
    ];
    let mut sources: Vec<_> = rust
        .iter()
        .flat_map(|folder| files(folder, "rs"))
        .collect();
    assert!(sources.len() > 150, "the sources were not found");
    for ending in ["cu", "cuh", "h"] {
        sources.extend(files("kernels", ending));
    }
    sources
}

#[test]
fn files_are_rooms_not_halls() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{path} has {lines} lines");
    }
}

#[test]
fn comments_fit_the_page() {
    for (path, text) in sources() {
        let mut in_block = false;
        let mut in_example = false;
        for (n, line) in text.lines().enumerate() {
            let doc = line
                .trim_start()
                .trim_start_matches(['/', '!'])
                .trim_start();
            in_example ^= doc.starts_with("```");
            let is_comment = in_block || line.contains("//") || line.contains("/*");
            in_block = (in_block || line.contains("/*")) && !line.contains("*/");
            // A row of a table cannot be broken, nor can a string in a line of code.
            let is_code = !line.trim_start().starts_with("//") && line.contains('"');
            let is_text = is_comment && !is_code && !in_example && !doc.starts_with('|');
            let columns = line.chars().count();
            let fits = !is_text || columns <= MOST_COLUMNS;
            assert!(
                fits,
                "{path}, line {}: a comment of {columns} columns",
                n + 1
            );
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    for (path, text) in files("src", "rs") {
        assert!(
            text.starts_with("//! "),
            "{path} does not open with its module doc"
        );
    }
}

#[test]
fn only_the_command_knows_its_crates() {
    for (path, text) in files("src", "rs") {
        if !["cli", "main"].contains(&room(&path)) {
            let code = shipped_code(&text);
            for name in [
                "clap",
                "indicatif",
                "signal_hook",
                "tempfile::",
                "println!",
                "eprintln!",
            ] {
                assert!(!code.contains(name), "{path} uses {name}");
            }
        }
    }
}

#[test]
fn unsafe_code_says_why_it_is_safe() {
    for (path, text) in files("src", "rs") {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (n, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") || line.starts_with("unsafe impl") {
                let above = &lines[n.saturating_sub(6)..n];
                let said = above
                    .iter()
                    .any(|line| line.contains("// SAFETY:"));
                assert!(said, "{path}, line {}: unsafe without a SAFETY line", n + 1);
            }
        }
    }
}
