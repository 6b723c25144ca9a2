//! LCP array by way of the permuted one, which is in text order (J. Kärkkäinen, G. Manzini and S.
//! J. Puglisi, *Permuted longest-common-prefix array*, 2009).
//!
//! Phi of a position is the position whose suffix comes before its own in sorted order. From one
//! position to the next, the length that a suffix has in common with that of its Phi shrinks by at
//! most 1. Comparing therefore takes linear time in all. Each thread does this for stretches of
//! positions. The first position of a stretch is compared from its start, which is why there are
//! few stretches.

use super::limits::no_memory;
use crate::base::allocation;
use crate::base::error::Result;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Phi of the first suffix, which has none before it.
const NONE: u32 = u32::MAX;

/// Number of stretches per thread.
const STRETCHES: usize = 4;

/// Number of rows that a thread takes at a time.
const ROWS: usize = 1 << 16;

/// Computes the LCP array of `text` from its suffix array. Common prefixes end before bytes below
/// `least`.
pub(super) fn lcp(text: &[u8], suffixes: &[u32], least: u8, pool: &ThreadPool) -> Result<Vec<u32>> {
    pool.install(|| {
        let mut permuted = phi(suffixes)?;
        let stretch = text
            .len()
            .div_ceil(STRETCHES * pool.current_num_threads())
            .max(1);
        permuted
            .par_chunks_mut(stretch)
            .enumerate()
            .for_each(|(n, values)| {
                extend(text, n * stretch, values);
                clip(text, n * stretch, values, least);
            });
        let mut lcp = allocation::zeroed(text.len()).ok_or_else(no_memory)?;
        let rows = lcp
            .par_chunks_mut(ROWS)
            .zip(suffixes.par_chunks(ROWS));
        rows.for_each(|(lcp, suffixes)| {
            for (lcp, &pos) in lcp.iter_mut().zip(suffixes) {
                *lcp = permuted[pos as usize];
            }
        });
        Ok(lcp)
    })
}

fn phi(suffixes: &[u32]) -> Result<Vec<u32>> {
    let phi: Vec<AtomicU32> = allocation::zeroed(suffixes.len()).ok_or_else(no_memory)?;
    if let Some(&first) = suffixes.first() {
        phi[first as usize].store(NONE, Ordering::Relaxed);
    }
    suffixes
        .par_windows(2)
        .with_min_len(ROWS)
        .for_each(|pair| {
            phi[pair[1] as usize].store(pair[0], Ordering::Relaxed);
        });
    // This is done in place, since both types take 4 bytes.
    Ok(phi
        .into_iter()
        .map(AtomicU32::into_inner)
        .collect())
}

/// Turns the Phi of each position from `start` on into the length of their common prefix.
fn extend(text: &[u8], start: usize, values: &mut [u32]) {
    let mut common = 0;
    for (pos, value) in (start..).zip(values) {
        common = match *value {
            NONE => 0,
            before => {
                common + common_prefix(&text[pos + common..], &text[before as usize + common..])
            }
        };
        *value = common as u32;
        common = common.saturating_sub(1);
    }
}

/// Ends the common prefixes of the positions from `start` on before bytes below `least`.
fn clip(text: &[u8], start: usize, values: &mut [u32], least: u8) {
    if least == 0 {
        return;
    }
    let end = start + values.len();
    let beyond = text[end..].iter().position(|&byte| byte < least);
    let mut ends = beyond.map_or(text.len(), |length| end + length);
    for (pos, value) in (start..end).zip(values).rev() {
        if text[pos] < least {
            ends = pos;
        }
        *value = (*value).min((ends - pos) as u32);
    }
}

/// Number of leading bytes that both have in common, compared eight at a time.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(8).zip(b.chunks_exact(8));
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("there are eight"));
    let mut equal = 0;
    for (a, b) in words {
        let differing = word(a) ^ word(b);
        if differing != 0 {
            return equal + differing.trailing_zeros() as usize / 8;
        }
        equal += 8;
    }
    equal
        + a[equal..]
            .iter()
            .zip(&b[equal..])
            .take_while(|(a, b)| a == b)
            .count()
}
