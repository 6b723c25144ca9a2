//! The arguments for what a compressed file says about its content.

use bwz::{Options, Result, StreamCheck};
use clap::{Args, ValueEnum};

/// The arguments for what a compressed file says about its content.
#[derive(Args, Debug)]
pub(crate) struct ContentArgs {
    /// Say TEXT about the file, in its header, where --list -v shows it. KEY=VALUE, with a KEY of
    /// letters, digits and _.-, says it under that key; other text has the key comment. May be
    /// given several times; 64 KiB in all
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    comment: Vec<String>,
    /// State the size of the content in the header, if the input is a regular file: whoever reads
    /// the compressed file from a pipe then knows it
    #[arg(long)]
    content_size: bool,
    /// Add a digest of the whole content, which -d and -t check, to the CRC-32s that every file has
    #[arg(
        long,
        value_name = "CHECK",
        default_value = "crc32",
        hide_default_value = true
    )]
    check: Check,
}

/// The check of the whole content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Check {
    /// No digest but the CRC-32s, the default
    Crc32,
    /// XXH3 of 64 bits
    Xxh3,
    /// BLAKE3 of 256 bits, which shows forgery too
    Blake3,
}

/// Returns true if a text before a `=` is meant as a key, not as a part of a comment.
fn is_word(key: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    !key.is_empty() && key.chars().all(allowed)
}

impl ContentArgs {
    /// Adds what the file says to the options. `size` is the size of a regular file.
    pub(crate) fn add_to(&self, mut options: Options, size: Option<u64>) -> Result<Options> {
        for text in &self.comment {
            let (key, value) = text
                .split_once('=')
                .filter(|(key, _)| is_word(key))
                .unwrap_or(("comment", text));
            options = options.note(key, value)?;
        }
        let check = match self.check {
            Check::Crc32 => StreamCheck::Crc32,
            Check::Xxh3 => StreamCheck::Xxh3,
            Check::Blake3 => StreamCheck::Blake3,
        };
        if let Some(size) = size.filter(|_| self.content_size) {
            options = options.content_size(size)?;
        }
        Ok(options.stream_check(check))
    }
}
