//! The inverse transform: [`Bwt`] -> block, after the slices are decoded and before filters are
//! undone.
//!
//! The text is rebuilt from back to front: LF maps the row of the suffix at pos p to the row of the
//! suffix at p - 1, and the first symbol of that row is the text at p - 1. Done plainly, this is
//! one cache miss per byte, and each waits for the one before. Three things make it fast:
//!
//! - *LF squared*: a table holds LF(LF(row)), so that one miss gives two bytes, the first two
//!   symbols of the row that it leads to;
//! - *lanes*: each sample is a row to start from, which divides the text into independent lanes; a
//!   thread moves many of them in lock step, and their misses overlap;
//! - *huge pages* under the table: with small pages a TLB miss comes on top of each cache miss.
//!
//! | file | job |
//! |---|---|
//! | `counters` | counts of symbols and of pairs of symbols |
//! | `lf_squared` | the LF squared table, made from the counts |
//! | `first_symbols` | a row -> its first two symbols |
//! | `lanes` | the walk along the lanes, which writes the text |
//! | `rebuild` | all steps in order |
//! | `noted_rows` | also the rows at regular positions, for an index |
//!
//! Threads share the building of the table and then the lanes. The text does not depend on their
//! number.
//!
//! Time: O(n). On one thread the table takes about as long as the walk, which makes one random
//! access for two bytes of text. Memory: 5 bytes per byte, which are the BWT, whose memory the
//! text reuses, and 4 of table, and 0.5 MiB per thread. Above 4 GiB, rows have 40 bits, and it is 6
//! bytes per byte and 1 MiB per thread. The rows for an index come on top.
//!
//! Steps of two symbols are the idea of the inverse in libsais (Ilya Grebnov), which stores psi of
//! psi and therefore writes to up to 65536 places in turn while it builds the table; LF of LF is
//! written in order.

mod counters;
mod first_symbols;
mod lanes;
mod lf_squared;
mod noted_rows;
mod rebuild;

use super::table_pool::TablePool;
use super::{Bwt, ByteSums};
use crate::base::error::Result;
use crate::base::positions::{NarrowLimits, Packed40};
use crate::base::tasks::Executor;
use crate::base::threads;
use crate::coder;
pub(crate) use counters::{count, counts};
use lf_squared::LfSquared;
pub(crate) use noted_rows::invert_with_rows;
use rebuild::{check, no_memory, rebuild};

/// Maximum size of a block that the calling thread restores alone, in bytes. Tests need many tasks
/// in short blocks.
const SMALL: usize = if cfg!(any(test, fuzzing)) {
    500
} else {
    threads::SMALL as usize
};

/// Rebuilds the block of a [`Bwt`], which may come from a damaged or hostile file, on the threads
/// of the current rayon pool.
///
/// For any `bwt`, this takes time linear in its length and accesses no memory but its own. It fails
/// if `bwt` is the transform of no text. If it is the transform of a wrong text, only a checksum of
/// the block can tell.
///
/// # Errors
/// [`Error::Format`](crate::Error::Format), without a position, if a field breaks an invariant;
/// [`Error::Io`](crate::Error::Io) if there is no memory.
pub fn invert(bwt: Bwt) -> Result<Vec<u8>> {
    CpuInverse::new(NarrowLimits::USUAL).invert(bwt)
}

/// Restores many blocks like [`invert`], in sequence or in parallel, and keeps its tables from one
/// to the next.
#[derive(Debug)]
pub(crate) struct CpuInverse {
    narrow: NarrowLimits,
    tables: TablePool<u32>,
    wide_tables: TablePool<Packed40>,
}

impl CpuInverse {
    /// An inverse with these as the largest blocks whose rows have 32 bits.
    pub(crate) const fn new(narrow: NarrowLimits) -> Self {
        CpuInverse {
            narrow,
            tables: TablePool::new(),
            wide_tables: TablePool::new(),
        }
    }

    /// Frees the tables that are not in use.
    pub(crate) fn free_tables(&self) {
        self.tables.free();
        self.wide_tables.free();
    }

    /// Restores a block on the threads of the current rayon pool.
    pub(crate) fn invert(&self, bwt: Bwt) -> Result<Vec<u8>> {
        // Asking rayon for its threads starts them.
        let is_small = bwt.bytes.len() <= SMALL;
        let on = if is_small {
            Executor::CALLING
        } else {
            Executor::current_pool()
        };
        self.invert_by(on, bwt)
    }

    /// Restores a block with the threads of `on`, of which the caller is none.
    pub(crate) fn invert_on(&self, on: Executor, bwt: Bwt) -> Result<Vec<u8>> {
        match bwt.bytes.len() <= SMALL {
            true => on.run(|| self.invert_by(Executor::CALLING, bwt)),
            false => self.invert_by(on, bwt),
        }
    }

    fn invert_by(&self, on: Executor, bwt: Bwt) -> Result<Vec<u8>> {
        check(&bwt)?;
        if is_run(&bwt) {
            return Ok(bwt.bytes);
        }
        let len = bwt.bytes.len();
        if len > self.narrow.others {
            let entries = LfSquared::<u64>::entries(len);
            let rebuild = |table: &mut [Packed40]| rebuild::<u64>(bwt, table, None, on);
            return self
                .wide_tables
                .lend(entries, rebuild)
                .ok_or_else(no_memory)?;
        }
        let entries = LfSquared::<u32>::entries(len);
        self.tables
            .lend(entries, |table| rebuild::<u32>(bwt, table, None, on))
            .ok_or_else(no_memory)?
    }
}

/// Returns true if this is the transform of a block of one run, which equals its transform.
fn is_run(bwt: &Bwt) -> bool {
    let len = bwt.bytes.len();
    let rows = (0..len)
        .step_by(bwt.sample_rate as usize)
        .map(|pos| len - pos);
    coder::run_end(&bwt.bytes, 0) == len && rows.eq(bwt.samples.iter().map(|&row| row as usize))
}

/// Returns true if a BWT keeps the invariants and has the bytes of `block`, each as often, as far
/// as their sums tell. A sorter that lost a write or made one twice hardly ever passes this; only
/// the inverse would be certain.
pub(crate) fn could_be_of(bwt: &Bwt, block: &[u8]) -> bool {
    check(bwt).is_ok() && ByteSums::of(&bwt.bytes) == ByteSums::of(block)
}

#[cfg(test)]
mod tests {
    use super::super::{cases, naive};
    use super::*;

    const RATES: [u32; 5] = [2, 4, 64, 256, 1 << 30];

    /// Inverts on every pool, with rows of 32 bits and of 40. All results must agree.
    fn invert_on_all(pools: &[rayon::ThreadPool], bwt: &Bwt) -> Result<Vec<u8>, String> {
        let results: Vec<_> = pools
            .iter()
            .flat_map(|pool| {
                [NarrowLimits::USUAL, NarrowLimits::LOWEST].map(|narrow| {
                    let inverse = CpuInverse::new(narrow);
                    pool.install(|| inverse.invert(bwt.clone()))
                        .map_err(|e| e.to_string())
                })
            })
            .collect();
        assert!(
            results.iter().all(|result| *result == results[0]),
            "the pools disagree"
        );
        results[0].clone()
    }

    #[test]
    fn inverts_what_the_oracle_sorts() {
        let pools = naive::pools();
        for (name, block) in naive::blocks() {
            for rate in RATES {
                let bwt = naive::sort(&block, rate);
                assert!(
                    invert_on_all(&pools, &bwt).unwrap() == block,
                    "{name}, rate {rate}"
                );
            }
        }
    }

    #[test]
    fn the_oracle_inverts() {
        for (name, block) in naive::blocks() {
            assert!(naive::invert(&naive::sort(&block, 64)) == block, "{name}");
        }
    }

    #[test]
    fn inverts_long_blocks() {
        let pools = naive::pools();
        for len in [1 << 16, (1 << 20) - 1, 1 << 20, (1 << 20) + 65] {
            for block in [cases::text(len), cases::random(len, 4), vec![b'x'; len]] {
                let rate = super::super::sample_rate(len);
                let bwt = super::super::Sorter::Cpu
                    .sort(&block, rate)
                    .unwrap();
                assert!(invert_on_all(&pools, &bwt).unwrap() == block, "{len} bytes");
            }
        }
    }

    #[test]
    fn refuses_what_breaks_an_invariant() {
        let good = naive::sort(b"mississippi", 4);
        let flawed = |change: fn(&mut Bwt)| {
            let mut bwt = good.clone();
            change(&mut bwt);
            invert(bwt).is_err()
        };
        assert!(flawed(|bwt| bwt.bytes.clear()));
        assert!(flawed(|bwt| bwt.sample_rate = 0));
        assert!(flawed(|bwt| bwt.sample_rate = 1));
        assert!(flawed(|bwt| bwt.sample_rate = 5));
        assert!(flawed(|bwt| bwt.sample_rate = 1 << 31));
        assert!(flawed(|bwt| bwt.sample_rate = u32::MAX));
        assert!(flawed(|bwt| bwt.samples.clear()));
        assert!(flawed(|bwt| bwt.samples.push(1)));
        assert!(flawed(|bwt| bwt.samples[0] = 0));
        assert!(flawed(|bwt| bwt.samples[2] = 12));
        assert!(flawed(|bwt| bwt.samples.swap(0, 1)));
    }

    #[test]
    fn a_transform_with_a_lost_byte_is_not_that_of_the_block() {
        let block = cases::text(1000);
        let good = naive::sort(&block, 64);
        assert!(could_be_of(&good, &block) && !could_be_of(&good, &block[1..]));
        let mut bad = good.clone();
        bad.bytes[500] ^= 1;
        assert!(!could_be_of(&bad, &block));
        let mut bad = good;
        bad.samples[3] = 0;
        assert!(!could_be_of(&bad, &block));
    }

    /// All byte strings of two symbols, with all primary indices. A text has one transform, so a
    /// string that is accepted must be the transform of the text that it gives.
    #[test]
    fn takes_nothing_but_transforms() {
        let mut taken = 0;
        for len in 1..=9_u64 {
            for (bits, primary) in (0..1_u64 << len).flat_map(|b| (1..=len).map(move |p| (b, p))) {
                let bytes: Vec<u8> = (0..len)
                    .map(|i| b'a' + (bits >> i & 1) as u8)
                    .collect();
                let bwt = Bwt {
                    bytes,
                    sample_rate: 16,
                    samples: vec![primary],
                };
                if let Ok(text) = invert(bwt.clone()) {
                    assert_eq!(naive::sort(&text, 16), bwt);
                    taken += 1;
                }
            }
        }
        assert_eq!(
            taken,
            (1..=9).map(|len| 1 << len).sum::<u64>(),
            "one for each text"
        );
    }

    #[test]
    fn ends_on_random_input() {
        let pools = naive::pools();
        for (seed, sigma) in (0..200).zip([1, 2, 5, 256].into_iter().cycle()) {
            let bytes = cases::random(1000 + seed, sigma);
            let rows = cases::random(2 * bytes.len().div_ceil(8), 256);
            let row = |b: &[u8]| 1 + (u64::from(b[0]) << 8 | u64::from(b[1])) % bytes.len() as u64;
            let samples = rows.chunks(2).map(row).collect();
            assert!(
                invert_on_all(
                    &pools,
                    &Bwt {
                        bytes,
                        sample_rate: 8,
                        samples
                    }
                )
                .is_err()
            );
        }
    }

    /// Any BWT that a GPU accepts is accepted by the CPU, with the same text.
    #[test]
    fn a_gpu_inverts_as_the_cpu_does() {
        use crate::gpu::{GpuInverse, testing};
        if testing::gpu().is_none() {
            return;
        }
        let mut inverse = GpuInverse::new(0).unwrap();
        let mut count = 0;
        let mut on_gpu = |bwt: &Bwt| {
            inverse
                .input(bwt.bytes.len())
                .unwrap()
                .copy_from_slice(&bwt.bytes);
            inverse
                .invert_input(bwt.sample_rate, &bwt.samples)
                .map(<[u8]>::to_vec)
        };
        for (name, block) in naive::blocks() {
            for rate in RATES {
                let bwt = naive::sort(&block, rate);
                assert!(
                    on_gpu(&bwt).unwrap() == invert(bwt).unwrap(),
                    "{name}, rate {rate}"
                );
                count += 1;
            }
        }
        for (bits, primary) in (0..1_u64 << 9).flat_map(|b| (1..=9).map(move |p| (b, p))) {
            let bytes: Vec<u8> = (0..9)
                .map(|i| b'a' + (bits >> i & 1) as u8)
                .collect();
            let bwt = Bwt {
                bytes,
                sample_rate: 16,
                samples: vec![primary],
            };
            if let Ok(text) = on_gpu(&bwt) {
                assert_eq!(invert(bwt).unwrap(), text);
            }
            count += 1;
        }
        testing::say(format_args!("{count} blocks compared"));
    }
}
