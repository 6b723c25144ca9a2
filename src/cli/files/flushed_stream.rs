//! Compression of a stream whose blocks end in time, so that a log writer that is killed loses
//! little (`--flush-every`).

use crate::cli::files::input::InputSource;
use crate::cli::report::progress_bar::CountedReads;
use bwz::{Encoder, Options, Result, Summary};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Bytes that are read at a time: those of a full pipe.
const PIECE: usize = 64 << 10;

/// Compresses all of `input` into one frame. Each byte is written to `output` at the latest when
/// `every` has passed since it came, apart from the time that it takes to compress its block.
///
/// # Errors
/// Those of [`bwz::compress`].
pub(crate) fn compress(
    mut input: CountedReads<&mut InputSource>,
    output: impl Write,
    every: Duration,
    options: &Options,
) -> Result<Summary> {
    let mut encoder = Encoder::new(output, options);
    let mut buffer = vec![0; PIECE];
    // The time at which the bytes that were not flushed yet must be.
    let mut due: Option<Instant> = None;
    loop {
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) || !input.wait(left)? {
            encoder.flush()?;
            due = None;
            continue;
        }
        let read = input.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        due.get_or_insert_with(|| Instant::now() + every);
        encoder.write_all(&buffer[..read])?;
    }
    Ok(encoder.finish()?.1)
}
