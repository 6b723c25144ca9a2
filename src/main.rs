//! The `bwz` command; everything is in [`cli`].

#![deny(unsafe_code, unreachable_pub)]

#[cfg(not(unix))]
compile_error!(
    "the bwz command needs a Unix system; the library builds with --no-default-features"
);

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
