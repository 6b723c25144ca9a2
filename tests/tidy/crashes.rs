//! Seeds of the fuzz targets, and inputs that once broke something:
//! `tests/crashes/<target>/<name>`.
//!
//! Their frame headers have the current draft, since any other draft is refused at its fifth byte.
//! After a change of the draft: `just bless`.

#[path = "../common/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of whole files, which are seeds of the targets that take files.
const FILES: [&str; 3] = [
    "format/conformance/valid",
    "format/conformance/unsupported",
    "format/conformance/invalid",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files directly in `folder`. Empty if there is no such folder.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

/// Runs a target on its own seeds (at least one) and crashes, and on the files of more folders.
fn replay(name: &str, target: fn(&[u8]), more: &[&str]) {
    let own = [
        format!("fuzz/seeds/{name}"),
        format!("tests/crashes/{name}"),
    ];
    assert!(!files(&own[0]).is_empty(), "{name} has no seeds");
    for path in own
        .iter()
        .map(String::as_str)
        .chain(more.iter().copied())
        .flat_map(files)
    {
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

/// The files of all targets.
fn kept() -> Vec<PathBuf> {
    let targets = |folder| fs::read_dir(root().join(folder)).unwrap();
    let folders = ["fuzz/seeds", "tests/crashes"]
        .into_iter()
        .flat_map(targets);
    let folders = folders.map(|entry| entry.unwrap().path());
    folders
        .flat_map(|folder| files(folder.to_str().unwrap()))
        .collect()
}

/// The size of a frame header without its checksum, which follows.
const SIGNED: usize = 19;

/// Gives each frame header within `bytes` this version, and a right checksum if it had one.
fn bring_up_to(version: u8, bytes: &mut [u8]) {
    let magic = |at: &usize| bytes[*at..].starts_with(b"\xF7bwz");
    for at in (0..bytes.len()).filter(magic).collect::<Vec<_>>() {
        let Some((header, behind)) = bytes[at..].split_at_mut_checked(SIGNED) else {
            continue;
        };
        let was_right = behind.starts_with(&crc32fast::hash(header).to_le_bytes());
        header[4] = version;
        if was_right {
            behind[..4].copy_from_slice(&crc32fast::hash(header).to_le_bytes());
        }
    }
}

#[test]
fn all_are_of_todays_draft() {
    let mut empty = Vec::new();
    bwz::compress(&b""[..], &mut empty, &bwz::Options::new()).unwrap();
    let mut old = Vec::new();
    for path in kept() {
        let bytes = fs::read(&path).unwrap();
        let mut today = bytes.clone();
        bring_up_to(empty[4], &mut today);
        if today != bytes && std::env::var_os("BWZ_BLESS").is_some() {
            fs::write(path, today).unwrap();
        } else if today != bytes {
            old.push(path);
        }
    }
    assert!(
        old.is_empty(),
        "of another draft, see this file's head: {old:?}"
    );
}

/// If a new draft reads the blocks of an older one in another way, the current version in the
/// header is not enough.
#[test]
fn seeds_that_are_files_are_sound() {
    for path in files("fuzz/seeds/blocks") {
        let file = fs::read(&path).unwrap();
        let end = bwz::decompress(&file[..], std::io::sink(), &bwz::Options::new());
        assert!(
            end.is_ok(),
            "{}: {end:?}: compress its raw bytes anew",
            path.display()
        );
    }
}
