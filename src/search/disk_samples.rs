//! The samples of a block that stays on disk, with positions in as many bits as the block needs.

use crate::error::Flaw;
use crate::fm_index::{Row, SampledPositions, SampledRows};
use crate::frame::packed_array;
use crate::positions::{ByWidth, by_width};

/// The rows of a block's samples, and their positions.
type Samples<R> = (SampledRows<R>, SampledPositions<R>);

/// Samples of either kind.
pub type DiskSamples = ByWidth<Samples<u32>, Samples<u64>>;

impl DiskSamples {
    /// Reads those of a text of `len` bytes, whose first sample is `primary`.
    pub fn read(
        coded: &[u8],
        (count, rate): (usize, u32),
        len: usize,
        primary: u64,
        wide: bool,
    ) -> Result<Self, Flaw> {
        Ok(match wide {
            false => DiskSamples::Narrow(samples(rows(coded, count, primary)?, rate, len)?),
            true => DiskSamples::Wide(samples(rows(coded, count, primary)?, rate, len)?),
        })
    }

    /// Bytes of memory that `count` samples of a text of `len` bytes take: a bit for each row with
    /// what counts them, and each sample twice.
    pub fn size(count: u64, len: u64, wide: bool) -> u64 {
        len / 7 + count * if wide { 16 } else { 8 }
    }

    /// The distance between sampled positions.
    pub fn rate(&self) -> u32 {
        by_width!(self, (rows, _) => rows.rate())
    }

    /// The row of the nearest sample at or behind a pos, or of the end of the block, and its pos.
    pub fn behind(&self, pos: usize) -> (u64, usize) {
        let (row, pos) = by_width!(self, (rows, _) => {
            let (row, pos) = rows.behind(pos);
            (row.get(), pos)
        });
        (row as u64, pos)
    }

    /// The pos of a row, if it is a sampled one.
    pub fn pos(&self, row: u64) -> Option<u64> {
        let row = row as usize;
        let pos = by_width!(self, (_, positions) => positions.pos(Row::new(row)).map(Row::get));
        pos.map(|pos| pos as u64)
    }
}

fn samples<R: Row>(rows: Vec<R>, rate: u32, len: usize) -> Result<Samples<R>, Flaw> {
    let rows = SampledRows::new(rows, rate, len);
    let positions = rows.positions()?;
    Ok((rows, positions))
}

fn rows<R: Row + TryFrom<u64>>(
    mut coded: &[u8],
    count: usize,
    primary: u64,
) -> Result<Vec<R>, Flaw> {
    let rows = packed_array::read::<R>(&mut coded, count)?;
    if rows[0].into() != primary {
        return Err(Flaw("the first sample of the block is not its primary index"));
    }
    Ok(rows)
}
