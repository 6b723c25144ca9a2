//! Decompresses a file from a stranger, within limits that the file cannot raise.
//!
//! A few bytes may claim to be terabytes. `limit_output` bounds the output, and `memory` the memory
//! used. Both are checked before anything is allocated. The kind of error says who must act.
//!
//! `cargo run --release --example decompress_untrusted < upload.bwz > upload`

use bwz::{Error, Options};
use std::io::{self, Read, Write};
use std::process::ExitCode;

/// Decompresses `input`, unless more than `limit` bytes would come out of it.
pub fn decompress_untrusted(
    input: impl Read + Send,
    output: impl Write,
    limit: u64,
) -> bwz::Result<u64> {
    let options = Options::new()
        .limit_output(limit)
        .memory(512 << 20);
    Ok(bwz::decompress(input, output, &options)?.raw_size)
}

/// A sentence for whoever sent the file, or for whoever runs this.
pub fn explain(error: &Error) -> String {
    match error {
        Error::Format { .. } => format!("the file is damaged, send it again: {error}"),
        Error::Version { .. } => format!("the file needs another bwz: {error}"),
        Error::OutputLimit { .. } | Error::Limit { .. } => format!("the file is refused: {error}"),
        _ => format!("it is not the file's fault: {error}"),
    }
}

fn main() -> ExitCode {
    match decompress_untrusted(io::stdin(), io::stdout().lock(), 10 << 30) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            // What came out before belongs to the sound blocks in front; throw it away.
            eprintln!("{}", explain(&error));
            ExitCode::FAILURE
        }
    }
}
