//! The work of the fuzz targets on their bytes. `tests/tidy/crashes.rs` does the same with seeds
//! and saved crashes.
//!
//! The first bytes of an input choose the options, so that every input means the same to both. All
//! targets except [`doors`] work on the calling thread alone.

mod blocks;
mod doors;
mod filters;
mod index;
mod inverse;
mod parsers;
mod slices;

pub use blocks::blocks;
pub use doors::doors;
pub use filters::filters;
pub use index::index;
pub use inverse::inverse;
pub use parsers::parsers;
pub use slices::{mixing, slices};

use bwz::bwt::Bwt;
use rayon::ThreadPoolBuilder;
use std::cell::OnceCell;

/// Makes the calling thread a rayon pool of its own for its lifetime. No other thread is started or
/// waited for.
fn on_one_thread() {
    thread_local!(static POOL: OnceCell<()> = const { OnceCell::new() });
    POOL.with(|pool| {
        pool.get_or_init(|| {
            let pool = ThreadPoolBuilder::new()
                .num_threads(1)
                .use_current_thread()
                .build();
            std::mem::forget(pool.unwrap());
        });
    });
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// Changes up to two bytes. Six bytes state their positions and new values.
fn damage(bytes: &mut [u8], edits: &[u8]) {
    for edit in edits.chunks_exact(3) {
        let at = u16_at(edit, 0) % bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= edit[2];
        }
    }
}

/// A made-up transform whose samples are taken from its own bytes. `bytes` must not be empty.
fn made_up(sample_rate: u32, bytes: &[u8], seed: usize) -> Bwt {
    let row = |k: usize| {
        let pair = [0, 1].map(|n| bytes[(seed + 2 * k + n) % bytes.len()]);
        u64::from(u16::from_le_bytes(pair)) % (bytes.len() as u64 + 2)
    };
    let samples = (0..bytes.len().div_ceil(sample_rate as usize))
        .map(row)
        .collect();
    Bwt {
        bytes: bytes.to_vec(),
        sample_rate,
        samples,
    }
}
