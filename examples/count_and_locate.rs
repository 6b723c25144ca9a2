//! Counts patterns in a file and locates some of each, by its search index.
//!
//! `bwz --index` writes the index, `Options::index` does it in a program. A file without one gives
//! the same answers: its blocks are decoded and scanned, which takes longer. Patterns are bytes,
//! not expressions.
//!
//! `cargo run --release --example count_and_locate dump.sql.bwz 'DROP TABLE' 'CREATE TABLE'`

use bwz::{Archive, Matches, Options};
use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek};

/// Counts each pattern, and locates up to five places of each.
pub fn count_and_locate(
    file: impl Read + Seek + Send,
    patterns: &[String],
) -> bwz::Result<Vec<Matches>> {
    let mut archive = Archive::open(file, &Options::new())?;
    archive.locate(patterns, 5)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((path, patterns)) = arguments.split_first() else {
        return Err("arguments: FILE PATTERN...".into());
    };
    let found = count_and_locate(File::open(path)?, patterns)?;
    for (pattern, matches) in patterns.iter().zip(found) {
        println!(
            "{pattern}: {} times, at {:?}",
            matches.count, matches.positions
        );
    }
    Ok(())
}
