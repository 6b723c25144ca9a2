//! One word for one thing, and one name for one file.

use crate::remains::assert_remains;
use crate::source::file_name;
use crate::text::sources;
use std::collections::{BTreeMap, BTreeSet};

/// Words that code, comments and file names no longer use, and the folder in which another word has
/// replaced them. In other folders they may have their usual meaning. A word is not listed if it
/// has its usual meaning in that folder too. The comment is the word to use instead.
const RETIRED: &[(&str, &str)] = &[
    ("place", "src/coder"),          // MTF rank
    ("blend", ""),                   // adaptive CDF
    ("pace", "src/coder"),           // adaptation rate
    ("memory", "src/coder"),         // model state
    ("class", "src/filter"),         // bucket
    ("decision", ""),                // binary symbol
    ("modelled", ""),                // adaptive, as in adaptive rANS
    ("halves", "src/bwt"),           // parts, of a BWT merge
    ("weave", ""),                   // parse, of prefix-free parsing
    ("jump", "src/bwt"),             // LF mapping
    ("bigram", ""),                  // LF squared table
    ("tie", ""),                     // unsorted group
    ("settled", ""),                 // resolved, of a suffix
    ("anchor", ""),                  // minimizer
    ("carve", ""),                   // allocate from an arena
    ("carver", ""),                  // arena
    ("mailbox", ""),                 // mapped host flag
    ("cold", "src/search"),          // on disk
    ("hot", "src/search"),           // in memory
    ("seam", ""),                    // block boundary
    ("desk", ""),                    // device pool
    ("crew", ""),                    // device pool
    ("loan", ""),                    // lease
    ("unsort", ""),                  // invert, inverse BWT
    ("unsorted", "src/bwt/inverse"), // inverted, restored
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
    let double = paths
        .into_iter()
        .filter(|(_, paths)| paths.len() > 1);
    assert_remains("names", double.map(|(_, paths)| paths.join(" ")));
}
