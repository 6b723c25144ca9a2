//! The remaining violations of each rule, as exact lists, so that they can only shrink.
//!
//! The lists are in `tests/tidy/remains/`, one line per violation. After a violation was mended,
//! `BWZ_BLESS=1 cargo test --test tidy` removes its line. It adds none: a new violation still
//! fails. If a file has moved, or a count has become smaller, edit its line.

use crate::source::root;
use std::collections::BTreeSet;
use std::fs;

/// Compares the violations found with the list of this name.
pub fn assert_remains(name: &str, found: impl IntoIterator<Item = String>) {
    let path = root()
        .join("tests/tidy/remains")
        .join(name)
        .with_extension("txt");
    let found: BTreeSet<String> = found.into_iter().collect();
    let kept = fs::read_to_string(&path).unwrap();
    let mut kept: BTreeSet<String> = kept.lines().map(str::to_owned).collect();
    if std::env::var_os("BWZ_BLESS").is_some() {
        kept.retain(|line| found.contains(line));
        let lines: String = kept
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        fs::write(&path, lines).unwrap();
    }
    let new: Vec<_> = found.difference(&kept).collect();
    assert!(
        new.is_empty(),
        "{name} that were not there before: {new:#?}"
    );
    let gone: Vec<_> = kept.difference(&found).collect();
    assert!(
        gone.is_empty(),
        "{name} that are gone, but still in {path:?}: {gone:#?}"
    );
}
