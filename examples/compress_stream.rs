//! Compresses standard input to standard output, like `bwz` in a pipe.
//!
//! The input is read once and need not fit in memory: blocks are compressed by all cores, as many
//! at a time as the memory allows, and written in order. [`bwz::Encoder`] is the same for callers
//! who write, such as a log that is kept open for days.
//!
//! `cargo run --release --example compress_stream < dump.sql > dump.sql.bwz`

use bwz::{Options, Summary};
use std::io::{self, Read, Write};

/// Compresses all of `input`, with blocks of 8 MiB and at most 1 GiB of memory.
pub fn compress_stream(input: impl Read + Send, output: impl Write) -> bwz::Result<Summary> {
    let options = Options::new().level(4)?.memory(1 << 30);
    bwz::compress(input, output, &options)
}

fn main() -> bwz::Result<()> {
    let summary = compress_stream(io::stdin(), io::stdout().lock())?;
    let Summary {
        raw_size,
        coded_size,
        ..
    } = summary;
    eprintln!("{raw_size} bytes became {coded_size}");
    Ok(())
}
