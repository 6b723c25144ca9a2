//! The samples of a block on disk, with positions of 32 or 64 bits.
//!
//! The rows are read first. The map from rows to positions is made only when it is first used.

use crate::base::error::Flaw;
use crate::base::positions::{ByWidth, by_width};
use crate::fm_index::{Row, SampledPositions, SampledRows};
use crate::frame::packed_array;
use std::sync::OnceLock;

/// The rows of a block's samples. Reading a range of the text needs only these; their positions are
/// made at the first use.
pub(crate) struct Samples<R> {
    rows: SampledRows<R>,
    positions: OnceLock<Result<SampledPositions<R>, Flaw>>,
}

/// Samples with rows of 32 or of 64 bits.
pub(super) type DiskSamples = ByWidth<Samples<u32>, Samples<u64>>;

impl DiskSamples {
    /// Reads the samples of a text of `len` bytes, whose first sample is `primary`.
    pub(crate) fn read(
        coded: &[u8],
        count: usize,
        rate: u32,
        len: usize,
        primary: u64,
        wide: bool,
    ) -> Result<Self, Flaw> {
        Ok(match wide {
            false => DiskSamples::Narrow(Samples::new(rows(coded, count, primary)?, rate, len)?),
            true => DiskSamples::Wide(Samples::new(rows(coded, count, primary)?, rate, len)?),
        })
    }

    /// Bytes of memory for `count` samples of a text of `len` bytes: one bit per row and the counts
    /// that rank these bits, plus each sample twice.
    pub(crate) fn size(count: u64, len: u64, wide: bool) -> u64 {
        len / 7 + count * if wide { 16 } else { 8 }
    }

    /// Distance between sampled positions.
    pub(crate) fn rate(&self) -> u32 {
        by_width!(self, samples => samples.rows.rate())
    }

    /// The row and the position of the nearest sample at or behind `pos`, or of the end of the
    /// block.
    pub(crate) fn behind(&self, pos: usize) -> (u64, usize) {
        let (row, pos) = by_width!(self, samples => {
            let (row, pos) = samples.rows.behind(pos);
            (row.get(), pos)
        });
        (row as u64, pos)
    }

    /// The position of a row, if the row is sampled.
    ///
    /// # Errors
    /// A flaw if two samples have the same row.
    pub(crate) fn pos(&self, row: u64) -> Result<Option<u64>, Flaw> {
        let row = row as usize;
        let pos = by_width!(self, samples => {
            samples.positions()?.pos(Row::new(row)).map(Row::get)
        });
        Ok(pos.map(|pos| pos as u64))
    }
}

impl<R: Row> Samples<R> {
    fn new(rows: Vec<R>, rate: u32, len: usize) -> Result<Self, Flaw> {
        if !rows
            .iter()
            .all(|row| (1..=len).contains(&row.get()))
        {
            return Err(Flaw("a sample of the block is not one of its rows"));
        }
        Ok(Samples {
            rows: SampledRows::new(rows, rate, len),
            positions: OnceLock::new(),
        })
    }

    fn positions(&self) -> Result<&SampledPositions<R>, Flaw> {
        let positions = self
            .positions
            .get_or_init(|| self.rows.positions());
        positions.as_ref().map_err(|&flaw| flaw)
    }
}

fn rows<R: Row + TryFrom<u64>>(
    mut coded: &[u8],
    count: usize,
    primary: u64,
) -> Result<Vec<R>, Flaw> {
    let rows = packed_array::read::<R>(&mut coded, count)?;
    if rows[0].into() != primary {
        return Err(Flaw(
            "the first sample of the block is not its primary index",
        ));
    }
    Ok(rows)
}
