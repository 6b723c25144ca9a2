//! The steps of restoring a block: the checks, the table, and the walk.

use super::super::{Bwt, MAX_BLOCK_SIZE};
use super::counters::Counters;
use super::first_symbols::FirstSymbols;
use super::lanes::{LaneWalk, NotedRows};
use super::lf_squared::LfSquared;
use crate::base::error::{Error, Flaw, Result};
use crate::base::positions::Row;
use crate::base::tasks::Executor;

/// Checks the invariants of [`Bwt`] that the other steps rely on.
pub(super) fn check(bwt: &Bwt) -> Result<(), Flaw> {
    let len = bwt.bytes.len();
    let rate = bwt.sample_rate as usize;
    if len == 0 || len as u64 > MAX_BLOCK_SIZE {
        return Err(Flaw("a block holds 1 to 2^40 - 1 bytes"));
    }
    if !rate.is_power_of_two() || !(2..=1 << 30).contains(&rate) {
        return Err(Flaw(
            "the sample rate of a block is not a power of two from 2 to 2^30",
        ));
    }
    if bwt.samples.len() != len.div_ceil(rate) {
        return Err(Flaw(
            "the number of samples does not fit the block size and the sample rate",
        ));
    }
    if bwt
        .samples
        .iter()
        .any(|&row| row == 0 || row as usize > len)
    {
        return Err(Flaw("a sample is not a row of its block"));
    }
    Ok(())
}

/// Rebuilds the block of a checked [`Bwt`], with memory for its LF squared table and, if rows are
/// noted, a buffer for them.
pub(super) fn rebuild<R: Row>(
    bwt: Bwt,
    table: &mut [R::Packed],
    mut noted: Option<NotedRows<R>>,
    on: Executor,
) -> Result<Vec<u8>> {
    let counters = Counters::<R>::new(&bwt.bytes, bwt.samples[0] as usize, on);
    let first_symbols = on.run(|| FirstSymbols::new(&counters));
    let (last, row_of_last) = counters.last_symbol();
    let lf_squared = LfSquared::new(counters, table, on);
    // The table holds all information of the BWT, so the text can reuse its memory.
    let Bwt {
        bytes: mut text,
        sample_rate,
        samples,
    } = bwt;
    let samples: Vec<R> = samples
        .into_iter()
        .map(|row| R::new(row as usize))
        .collect();
    let mut unwritten = &mut text[..];
    let mut row = R::default();
    if unwritten.len() % 2 == 1 {
        // A step writes two bytes, so the last byte is written here.
        *unwritten
            .split_off_last_mut()
            .expect("a block has bytes") = last;
        row = row_of_last;
        if let Some(NotedRows { spacing, rows }) = &mut noted
            && unwritten.len().is_multiple_of(*spacing)
        {
            *rows
                .split_off_last_mut()
                .expect("a row for each such pos") = row;
        }
    }
    LaneWalk::new(&lf_squared, &first_symbols).write(
        sample_rate,
        &samples,
        row,
        unwritten,
        noted,
        on,
    )?;
    Ok(text)
}

pub(super) fn no_memory() -> Error {
    Error::out_of_memory(
        "to restore a block, which takes 5 times its size, or 6 times if it is above 4 GiB",
    )
}
