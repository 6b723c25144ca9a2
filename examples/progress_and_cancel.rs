//! Compresses a file with a line of progress, and stops when it is told to.
//!
//! Events tell when each step of each block is done; they come from any thread. Work is cancelled
//! through its input: a reader that gives an error ends the call with that error, after the blocks
//! in work are done.
//!
//! `cargo run --release --example progress_and_cancel dump.sql dump.sql.bwz`, and Enter stops it.

use bwz::{Event, Options, Step, Summary};
use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A reader that fails once its flag is set.
pub struct Cancellable<'c, R> {
    pub input: R,
    pub cancelled: &'c AtomicBool,
}

impl<R: Read> Read for Cancellable<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        self.input.read(bytes)
    }
}

/// Compresses `input` in blocks of 1 MiB, and calls `written` with the number of each that is done.
pub fn compress_with_progress(
    input: Cancellable<impl Read + Send>,
    output: impl Write,
    written: impl Fn(u64) + Send + Sync + 'static,
) -> bwz::Result<Summary> {
    let options = Options::new()
        .level(1)?
        .on_event(move |event| match event {
            Event::Done {
                block,
                step: Step::Write,
                ..
            } => written(block),
            Event::Warning(text) => eprintln!("{text}"),
            _ => {}
        });
    bwz::compress(input, output, &options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [from, to] = &arguments[..] else {
        return Err("arguments: INPUT OUTPUT".into());
    };
    static CANCELLED: AtomicBool = AtomicBool::new(false);
    let input = Cancellable {
        input: File::open(from)?,
        cancelled: &CANCELLED,
    };
    thread::spawn(|| {
        let _ = io::stdin().read(&mut [0]);
        CANCELLED.store(true, Ordering::Relaxed);
    });
    let show = |block| eprint!("\r{} MiB", block + 1);
    let done = compress_with_progress(input, File::create(to)?, show);
    if done.is_err() {
        // The file has no end, so that nobody takes it for a whole one.
        fs::remove_file(to)?;
    }
    let summary = done?;
    eprintln!("\n{} bytes became {}", summary.raw_size, summary.coded_size);
    Ok(())
}
