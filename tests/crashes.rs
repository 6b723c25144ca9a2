//! Seeds of the fuzz targets, and inputs that once broke something: `tests/crashes/<target>/<name>`.

mod common;

use common::targets;
use std::fs;
use std::path::{Path, PathBuf};

/// The files right below `folder`; a folder that is not there has none.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

/// Runs a target on all files of the folders, of which the first must have some.
fn replay(target: fn(&[u8]), folders: &[&str]) {
    assert!(!files(folders[0]).is_empty(), "{} has no files", folders[0]);
    for path in folders.iter().flat_map(|folder| files(folder)) {
        println!("{}", path.display());
        target(&fs::read(path).unwrap());
    }
}

#[test]
fn decompress() {
    let folders = ["format/examples", "format/examples/reject", "tests/crashes/decompress"];
    replay(targets::decompress, &folders);
}

#[test]
fn roundtrip() {
    replay(targets::roundtrip, &["fuzz/seeds/roundtrip", "tests/crashes/roundtrip"]);
}

#[test]
fn stages() {
    replay(targets::stages, &["fuzz/seeds/stages", "tests/crashes/stages"]);
}

#[test]
fn search() {
    replay(targets::search, &["fuzz/seeds/search", "tests/crashes/search"]);
}
