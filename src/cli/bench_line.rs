//! A line of the tables of `bwz bench`.

use crate::cli::files::descriptors;
use crate::cli::report::console::printable;
use bwz::Result;
use std::fmt::Arguments;
use std::io::Write;

/// Prints a line on standard output without buffering, because the next line may take a while.
pub(super) fn say(line: Arguments) -> Result<()> {
    Ok(descriptors::stdout()?.write_all((printable(&line.to_string()) + "\n").as_bytes())?)
}
