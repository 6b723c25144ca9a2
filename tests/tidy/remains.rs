//! The remaining violations of each rule, as exact lists, so that they can only shrink.
//!
//! The lists are in `tests/tidy/remains/`, one line per violation. After a list has shrunk, or
//! files have moved: `BWZ_BLESS=1 cargo test --test tidy`, and review the changes.

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
    if std::env::var_os("BWZ_BLESS").is_some() {
        let lines: String = found.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, lines).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    let kept: BTreeSet<String> = kept.lines().map(str::to_owned).collect();
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
