//! The rows at regular positions, noted while a block is restored: the samples of an index that is
//! denser than the one in the file.

use super::super::Bwt;
use super::lanes::{NotedRows, STAGE};
use super::lf_squared::LfSquared;
use super::rebuild::{check, no_memory, rebuild};
use crate::base::allocation;
use crate::base::error::Result;
use crate::base::positions::Row;
use crate::base::tasks::Executor;

/// Restores a block like [`super::invert`], and also returns the rows at every multiple of `rate`,
/// a power of two from 2 to the block's own sample rate. Takes about as long.
///
/// # Errors
/// As for [`super::invert`].
pub(crate) fn invert_with_rows<R: Row>(bwt: Bwt, rate: u32) -> Result<(Vec<u8>, Vec<R>)> {
    check(&bwt)?;
    assert!(
        rate.is_power_of_two() && (2..=bwt.sample_rate).contains(&rate),
        "{rate} is no rate"
    );
    let spacing = (rate as usize).min(STAGE);
    let len = bwt.bytes.len();
    let mut rows = allocation::zeroed(len.div_ceil(spacing)).ok_or_else(no_memory)?;
    let mut table = allocation::zeroed(LfSquared::<R>::entries(len)).ok_or_else(no_memory)?;
    let noted = Some(NotedRows {
        spacing,
        rows: &mut rows,
    });
    let text = rebuild::<R>(bwt, &mut table, noted, Executor::current_pool())?;
    if rate as usize > spacing {
        rows = rows
            .iter()
            .step_by(rate as usize / spacing)
            .copied()
            .collect();
    }
    Ok((text, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bwt::naive;

    #[test]
    fn notes_the_rows_that_a_sorter_samples() {
        let pools = naive::pools();
        for (name, block) in naive::blocks() {
            for (rate, noted) in [(2, 2), (64, 8), (64, 64), (256, 128), (1 << 30, 4)] {
                let bwt = naive::sort(&block, rate);
                for pool in &pools {
                    let both = |bwt| {
                        pool.install(|| invert_with_rows::<u32>(bwt, noted))
                            .unwrap()
                    };
                    let (text, rows) = both(bwt.clone());
                    let wide = pool.install(|| invert_with_rows::<u64>(bwt.clone(), noted));
                    let rows: Vec<u64> = rows.into_iter().map(u64::from).collect();
                    assert!(
                        text == block && rows == naive::sort(&block, noted).samples,
                        "{name}"
                    );
                    assert!(wide.unwrap() == (text, rows), "{name}, {rate}");
                }
            }
        }
    }
}
