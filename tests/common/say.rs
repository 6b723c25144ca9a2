//! Messages that are visible even if a test passes; those of `println!` are not.

use std::fmt::Display;
use std::io::{self, Write};

pub fn say(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints why a test, or a part of it, cannot run here.
pub fn skip(why: impl Display) {
    say(format_args!("skipped: {why}"));
}
