//! Damaged files whose checksums are right again, and how they are made.

mod common;

use common::mutation::{mutate, parts, random::Random, repair};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of `format/examples`.
fn examples() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("format/examples");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.is_file()).collect();
    paths.sort();
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    paths.into_iter().map(read).collect()
}

#[test]
fn a_sound_file_is_repaired_to_itself() {
    for (path, file) in examples() {
        let mut parts = parts::parse(&file, true);
        let known = |part: &parts::Part| part.kind != parts::Kind::Unknown;
        assert!(parts.iter().all(known), "{path:?}");
        repair::pack(&mut parts);
        repair::sizes(&mut parts);
        repair::sign(&mut parts, repair::Care::All, &mut Random::new(0));
        assert!(parts::join(&parts) == file, "{path:?}");
    }
}

#[test]
fn mutations_follow_from_the_seed_and_take_any_bytes() {
    let files = examples();
    for seed in 0..2_000 {
        let file = &files[seed as usize % files.len()].1;
        let mutant = mutate(file, seed);
        assert!(mutant != *file && mutant == mutate(file, seed), "seed {seed}");
        mutate(&mutate(&mutant, seed), seed);
        mutate(&Random::new(seed).bytes(seed as usize % 300), seed);
    }
}
