//! The LCP array by way of the permuted one, which is in text order (J. Kärkkäinen, G. Manzini and
//! S. J. Puglisi, *Permuted longest-common-prefix array*, 2009).
//!
//! A position's Phi is the one whose suffix comes before its own. What both have in common shrinks
//! by at most 1 from one position to the next, so that comparing takes linear time in all. Each
//! thread does so for stretches of positions; it compares the first of a stretch from its start,
//! which is why there are few of them.

use super::limits::no_memory;
use crate::allocation;
use crate::error::Result;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// The Phi of the first suffix.
const NONE: u32 = u32::MAX;

/// Stretches for each thread.
const STRETCHES: usize = 4;

/// The rows that a thread takes at a time.
const ROWS: usize = 1 << 16;

/// The LCP array of `text` and its suffix array; bytes below `least` end what is in common.
pub fn lcp(text: &[u8], suffixes: &[u32], least: u8, pool: &ThreadPool) -> Result<Vec<u32>> {
    pool.install(|| {
        let mut permuted = phi(suffixes)?;
        let stretch = text.len().div_ceil(STRETCHES * pool.current_num_threads()).max(1);
        permuted.par_chunks_mut(stretch).enumerate().for_each(|(n, values)| {
            extend(text, n * stretch, values);
            clip(text, n * stretch, values, least);
        });
        let mut lcp = allocation::zeroed(text.len()).ok_or_else(no_memory)?;
        let rows = lcp.par_chunks_mut(ROWS).zip(suffixes.par_chunks(ROWS));
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
    suffixes.par_windows(2).with_min_len(ROWS).for_each(|pair| {
        phi[pair[1] as usize].store(pair[0], Ordering::Relaxed);
    });
    // In place: both take 4 bytes.
    Ok(phi.into_iter().map(AtomicU32::into_inner).collect())
}

/// Turns the Phi of the positions from `start` on into what they have in common with it.
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

/// How many bytes both have in common at their start, eight at a time.
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
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}
