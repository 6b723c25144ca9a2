//! Reads a range of a compressed file without decompressing the data before it.
//!
//! The tables at the end of the file say where each block is; the one or two blocks that hold the
//! range are decoded. Smaller blocks (`Options::level`) make that quicker and the file larger.
//!
//! `cargo run --release --example read_range dump.sql.bwz 5000000000 1000`

use bwz::{Archive, Options};
use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, Write};

/// Writes up to `length` raw bytes from `start` on, and says how many blocks that took.
pub fn read_range(
    file: impl Read + Seek + Send,
    start: u64,
    length: u64,
    output: impl Write,
) -> bwz::Result<u64> {
    let mut archive = Archive::open(file, &Options::new())?;
    let end = start
        .saturating_add(length)
        .min(archive.raw_size());
    let cost = archive.read_range(start.min(end)..end, output)?;
    Ok(cost.blocks)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [path, start, length] = &arguments[..] else {
        return Err("arguments: FILE START LENGTH".into());
    };
    let file = File::open(path)?;
    let blocks = read_range(file, start.parse()?, length.parse()?, io::stdout().lock())?;
    eprintln!("{blocks} blocks decoded");
    Ok(())
}
