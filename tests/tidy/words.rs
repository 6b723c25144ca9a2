//! One word for one thing, and one name for one file.

use crate::remains::assert_remains;
use crate::source::file_name;
use crate::text::sources;
use std::collections::{BTreeMap, BTreeSet};

/// Words that code, comments and file names no longer use, and the folder in which another word has
/// replaced them. In other folders they may have their usual meaning. A word is not listed if it
/// has its usual meaning in that folder too.
const RETIRED: &[(&str, &str)] = &[
    // Move-to-front and models: MTF rank, adaptive CDF, adaptation rate, quantised context, model
    // state, bucket.
    ("place", "src/coder"),
    ("blend", ""),
    ("pace", "src/coder"),
    ("memory", "src/coder"),
    ("class", "src/filter"),
    // Binary symbol.
    ("decision", ""),
    // Adaptive rANS.
    ("modelled", ""),
    // BWT merge, interleave bits.
    ("halves", "src/bwt"),
    // Prefix-free parsing.
    ("weave", ""),
    // LF mapping, LF squared table.
    ("jump", "src/bwt"),
    ("bigram", ""),
    // Unsorted groups, unresolved suffixes.
    ("tie", ""),
    ("settled", ""),
    // Minimizers, arena.
    ("anchor", ""),
    ("carve", ""),
    ("carver", ""),
    ("mailbox", ""),
    // On disk, in memory, block boundary.
    ("cold", "src/search"),
    ("hot", "src/search"),
    ("seam", ""),
    // Device pool, lease.
    ("desk", ""),
    ("crew", ""),
    ("loan", ""),
    // Inverse BWT.
    ("unsort", ""),
    ("unsorted", "src/bwt/inverse"),
];

#[test]
fn retired_words_do_not_come_back() {
    let mut found = BTreeSet::new();
    for (path, text) in sources() {
        if path.starts_with("tests/tidy") {
            continue;
        }
        let words: BTreeSet<String> = words(&text).chain(words(&path)).collect();
        for (word, folder) in RETIRED {
            let plural = format!("{word}s");
            let is_used = words.contains(*word) || words.contains(&plural);
            if path.starts_with(folder) && is_used {
                found.insert(format!("{word} {path}"));
            }
        }
    }
    assert_remains("words", found);
}

/// The words of a text in lower case; names in `snake_case` and `CamelCase` are split.
fn words(text: &str) -> impl Iterator<Item = String> {
    let names = text.split(|c: char| !c.is_alphabetic());
    names.flat_map(|name| {
        let mut words = vec![String::new()];
        let mut was_lower = false;
        for c in name.chars() {
            if c.is_uppercase() && was_lower {
                words.push(String::new());
            }
            was_lower = c.is_lowercase();
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
        words
    })
}

#[test]
fn files_have_names_of_their_own() {
    let mut paths: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, _) in sources() {
        // Kernels have the names of the host files that launch them.
        if path.starts_with("src") && !path.ends_with("/mod.rs") && !path.ends_with("/tests.rs") {
            paths
                .entry(file_name(&path).to_owned())
                .or_default()
                .push(path);
        }
    }
    let double = paths.into_iter().filter(|(_, paths)| paths.len() > 1);
    assert_remains("names", double.map(|(_, paths)| paths.join(" ")));
}
