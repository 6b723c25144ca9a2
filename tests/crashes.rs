//! Seeds of the fuzz targets, and inputs that once broke something:
//! `tests/crashes/<target>/<name>`.

#[path = "common/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

/// Whole files are the seeds of the targets that take such.
const FILES: [&str; 2] = ["format/examples", "format/examples/reject"];

/// The files right below `folder`; a folder that is not there has none.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

/// Runs a target on its own seeds, of which there must be some, and crashes, and on the files of
/// more folders.
fn replay(name: &str, target: fn(&[u8]), more: &[&str]) {
    let own = [format!("fuzz/seeds/{name}"), format!("tests/crashes/{name}")];
    assert!(!files(&own[0]).is_empty(), "{name} has no seeds");
    for path in own.iter().map(String::as_str).chain(more.iter().copied()).flat_map(files) {
        println!("{}", path.display());
        target(&fs::read(path).unwrap());
    }
}

#[test]
fn parsers() {
    replay("parsers", targets::parsers, &[]);
}

#[test]
fn slices() {
    replay("slices", targets::slices, &[]);
}

#[test]
fn mixing() {
    replay("mixing", targets::mixing, &[]);
}

#[test]
fn filters() {
    replay("filters", targets::filters, &[]);
}

#[test]
fn inverse() {
    replay("inverse", targets::inverse, &[]);
}

#[test]
fn index() {
    replay("index", targets::index, &[]);
}

#[test]
fn blocks() {
    replay("blocks", targets::blocks, &FILES);
}

#[test]
fn doors() {
    replay("doors", targets::doors, &FILES);
}
