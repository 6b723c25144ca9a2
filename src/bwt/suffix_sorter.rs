//! Block -> [`Bwt`]: sorts the suffixes of a block, after its filters and before it is coded.
//!
//! The CPU sorter is libsais by Ilya Grebnov, an implementation of suffix sorting by induction (G.
//! Nong, S. Zhang and W. H. Chan, *Two efficient algorithms for linear time suffix array
//! construction*, 2011). It takes O(n) time on one thread for any data, and gives the BWT and the
//! samples in one pass without keeping a suffix array. Blocks are sorted in parallel, each on one
//! thread if libsais sorts it. A block of one run needs no sort. `prefix_free` is tried before
//! libsais: it sorts a block that repeats itself by its parse. Then `merge` calls libsais to sort a
//! block on the calling thread; a block that is alone is cut into parts, which are sorted in
//! parallel and merged. `benches/results/2026-11-modes.md` has the gain of each.
//!
//! To add a way to sort:
//!
//! - a folder here, `pub(crate)` for `internals`, with a function `sort(block, rate, limits, ..) ->
//!   Result<Option<Bwt>>` as `prefix_free` has (`None`: the next is tried; an error: the block
//!   fails), and a struct of its limits, USUAL and LOWEST, in `sort_limits`;
//! - its turn in [`CpuSorter::sort_on`], before `merge` and behind the methods that are faster for
//!   the same blocks, for blocks of up to 2 GiB; the parts of a merge always go to libsais. It
//!   takes a block that is alone from the threads of `merge`, so it has to be faster than these;
//! - it gives libsais's exact `Bwt`, for any current rayon pool, all of whose threads it may use,
//!   in bounded time for any data, and in at most 6 bytes per byte, including the block and its
//!   BWT, allocated through `allocation`. The workspace that is kept for other blocks, 4 of these,
//!   counts too unless `sort_on` calls [`CpuSorter::free`] before;
//! - tests that lower the limits and compare with `naive` and [`CpuSorter::sort_on_one_thread`],
//!   which is libsais alone; one with USUAL. A text made to be slow for it belongs in
//!   `tests/alone/hostile.rs`, with `Options::index` if filters would take it apart first;
//! - a function in `internals` and an arm in `tests/common/targets/inverse.rs`, which describes the
//!   bytes of an input. The second byte chooses the method, modulo their number: seeds in
//!   `fuzz/seeds/inverse` are named by the method that they aim at, and that byte has to be set
//!   anew;
//! - its gain, measured with its turn and without, by a change of `sort_on` that is not kept: by
//!   `bwz -T2 -c --index` if it is for repeats, which filters remove otherwise; else by `cargo
//!   bench --bench sort`, both of whose rows for the CPU are of `sort_on`. No test measures its
//!   peak memory; `cargo bench --bench peers` has that of whole processes. A section in
//!   `benches/results`, the head of this file, the docs of `sort_limits`, its row and that of
//!   `suffix_sorter` in the table of `src/bwt/mod.rs` describe it. `cargo test --test tidy` checks
//!   the rules of the sources.
//!
//! To replace libsais: `induce` below; `prefix_free` and `lcp` also call it for texts of larger
//! alphabets.
//!
//! A GPU sorts as `gpu::sort` describes, with the same result.
//!
//! A block whose positions do not fit in 31 bits is cut into parts that do, for any number of
//! threads, and merged. If it repeats itself too much to be cut, libsais64 sorts it on one thread.
//!
//! Memory on the CPU: 6 bytes per byte, which are the block, its BWT and 4 of workspace, and about
//! 0.5 MiB; with libsais64 10, 8 of them workspace. The workspace is read at random and is on huge
//! pages if the system has them.

use super::sort_limits::{MergeLimits, ParsingLimits, no_memory};
use super::table_pool::TablePool;
use super::{Bwt, MAX_BLOCK_SIZE, merge, prefix_free};
use crate::base::allocation;
use crate::base::device::Device;
use crate::base::error::Error;
use crate::base::positions::NarrowLimits;
use crate::coder;
use crate::gpu;
use libsais::bwt::AuxIndicesSamplingRate;
use libsais::{BwtConstruction, LibsaisError, OutputElement};

/// A sorter of blocks, chosen at run time. All give the same [`Bwt`] for the same block. None falls
/// back on another: streams do that in their own way.
#[derive(Debug)]
#[non_exhaustive]
pub enum Sorter {
    /// The CPU: the calling thread. The current rayon pool is used to find out if a block repeats
    /// itself, if it does, and above 2 GiB.
    Cpu,
    /// A GPU, while the calling thread waits.
    Gpu(Box<gpu::GpuSorter>),
}

impl Sorter {
    /// The sorter for a device: the CPU for [`Device::Auto`], the first of several GPUs.
    ///
    /// This initialises the GPU, which takes a quarter of a second or so for the first.
    ///
    /// # Errors
    /// [`Error::Device`] if this build or this machine does not have the device.
    pub fn new(device: Device) -> Result<Self, Error> {
        match device {
            Device::Auto | Device::Cpu => Ok(Sorter::Cpu),
            Device::Cuda(gpus) => {
                let sorter = gpu::GpuSorter::new(gpus.first())?;
                Ok(Sorter::Gpu(Box::new(sorter)))
            }
        }
    }

    /// Sorts a block of 1 to [`MAX_BLOCK_SIZE`] bytes.
    ///
    /// An empty block is refused like one that is too long: its BWT would have no primary index,
    /// and an empty stream has no blocks.
    ///
    /// # Errors
    /// [`Error::Usage`] for such a length, [`Error::Io`] if there is no memory, [`Error::Device`]
    /// if a GPU fails or the block does not fit in its memory.
    ///
    /// # Panics
    /// If `sample_rate` is not a power of two from 2 to 2^30; [`super::sample_rate`] gives one.
    pub fn sort(&mut self, block: &[u8], sample_rate: u32) -> Result<Bwt, Error> {
        self.sort_on(1, block, sample_rate)
    }

    /// Sorts like [`Sorter::sort`], and with the same result, on up to `threads` threads of the
    /// current rayon pool (on all of them if the block repeats itself).
    ///
    /// In total this takes more computation than one thread does: it is for a block that is alone.
    ///
    /// # Errors
    /// As for [`Sorter::sort`].
    ///
    /// # Panics
    /// As for [`Sorter::sort`].
    pub fn sort_on(
        &mut self,
        threads: usize,
        block: &[u8],
        sample_rate: u32,
    ) -> Result<Bwt, Error> {
        check(block, sample_rate)?;
        match self {
            Sorter::Cpu => CpuSorter::new().sort_on(threads, block, sample_rate),
            Sorter::Gpu(sorter) => {
                let gpu::SortedBlock { bytes, samples } = sorter.sort(block, sample_rate)?;
                let samples = super::wide(samples);
                Ok(Bwt {
                    bytes,
                    sample_rate,
                    samples,
                })
            }
        }
    }
}

fn check(block: &[u8], sample_rate: u32) -> Result<(), Error> {
    assert!(
        sample_rate.is_power_of_two() && (2..=1 << 30).contains(&sample_rate),
        "sample rate {sample_rate} is not a power of two from 2 to 2^30"
    );
    if block.is_empty() || block.len() as u64 > MAX_BLOCK_SIZE {
        return Err(Error::Usage("a block holds 1 to 2^40 - 1 bytes".into()));
    }
    Ok(())
}

/// Sorts many blocks like [`Sorter::Cpu`], in sequence or in parallel, and keeps its workspace from
/// one to the next.
#[derive(Debug)]
pub(crate) struct CpuSorter {
    narrow: NarrowLimits,
    tables: TablePool<i32>,
    wide_tables: TablePool<i64>,
}

impl CpuSorter {
    pub(crate) const fn new() -> Self {
        CpuSorter::with(NarrowLimits::USUAL)
    }

    /// A sorter with these as the largest blocks that are sorted with positions in 32 bits.
    pub(crate) const fn with(narrow: NarrowLimits) -> Self {
        CpuSorter {
            narrow,
            tables: TablePool::new(),
            wide_tables: TablePool::new(),
        }
    }

    /// Frees the workspace kept for the next blocks.
    pub(crate) fn free(&self) {
        self.tables.free();
        self.wide_tables.free();
    }

    /// Sorts as [`Sorter::sort_on`] does.
    pub(crate) fn sort_on(
        &self,
        threads: usize,
        block: &[u8],
        sample_rate: u32,
    ) -> Result<Bwt, Error> {
        check(block, sample_rate)?;
        if coder::run_end(block, 0) == block.len() {
            return sort_run(block, sample_rate);
        }
        let on_one_thread = |block: &[u8], rate| self.sort_on_one_thread(block, rate);
        let limits = MergeLimits {
            narrow: self.narrow,
            ..MergeLimits::USUAL
        };
        if block.len() > self.narrow.sorted {
            let part = |part: &[u8], rate| {
                let sorted = self.sort_on_one_thread(part, rate);
                // Frees the workspace to make room for the merge.
                self.free();
                sorted
            };
            return merge::sort(block, sample_rate, threads, limits, part);
        }
        if let Some(spacing) = prefix_free::spacing(block, ParsingLimits::USUAL) {
            // Frees the workspace to make room for the dictionary and the parse.
            self.free();
            if let Some(bwt) = prefix_free::sort(block, sample_rate, spacing, ParsingLimits::USUAL)?
            {
                return Ok(bwt);
            }
        }
        merge::sort(block, sample_rate, threads, limits, on_one_thread)
    }

    /// Sorts on the calling thread.
    pub(crate) fn sort_on_one_thread(&self, block: &[u8], sample_rate: u32) -> Result<Bwt, Error> {
        if block.len() > self.narrow.sorted {
            let sort = |workspace: &mut [i64]| induce(block, sample_rate.into(), workspace);
            return self
                .wide_tables
                .lend(block.len(), sort)
                .ok_or_else(no_memory)?;
        }
        let sort = |workspace: &mut [i32]| induce(block, sample_rate.cast_signed(), workspace);
        self.tables
            .lend(block.len(), sort)
            .ok_or_else(no_memory)?
    }
}

/// Sorts a block of one run: the shorter of two suffixes is the smaller one.
fn sort_run(block: &[u8], sample_rate: u32) -> Result<Bwt, Error> {
    let mut bytes = allocation::zeroed(block.len()).ok_or_else(no_memory)?;
    bytes.copy_from_slice(block);
    let count = block.len().div_ceil(sample_rate as usize);
    let mut samples = allocation::with_capacity(count).ok_or_else(no_memory)?;
    for pos in (0..block.len()).step_by(sample_rate as usize) {
        samples.push((block.len() - pos) as u64);
    }
    Ok(Bwt {
        bytes,
        sample_rate,
        samples,
    })
}

/// Sorts with libsais in a workspace as long as the block, which holds its positions.
fn induce<I: OutputElement + Into<i64>>(
    block: &[u8],
    sample_rate: I,
    workspace: &mut [I],
) -> Result<Bwt, Error> {
    let mut bytes = allocation::zeroed(block.len()).ok_or_else(no_memory)?;
    let (_, rows, _) = BwtConstruction::for_text(block)
        .in_borrowed_buffer(&mut bytes)
        .with_borrowed_temporary_array_buffer(workspace)
        .single_threaded()
        .with_aux_indices(AuxIndicesSamplingRate::new(sample_rate))
        .run()
        .map_err(refused)?
        .into_parts();
    // libsais counts rows as bwz does: from 1, with the sentinel's row before.
    let samples = rows
        .into_iter()
        .map(|row| row.into().cast_unsigned())
        .collect();
    let sample_rate = sample_rate.into() as u32;
    Ok(Bwt {
        bytes,
        sample_rate,
        samples,
    })
}

/// The error of libsais, which can only be a lack of memory: the lengths and the rate were checked
/// before.
fn refused(error: LibsaisError) -> Error {
    debug_assert_eq!(error, LibsaisError::OutOfMemory);
    no_memory()
}

#[cfg(test)]
mod tests {
    use super::super::naive;
    use super::*;
    use crate::base::device::GpuSet;

    #[test]
    fn sorts_as_the_oracle_does() {
        for (name, block) in naive::blocks() {
            for sample_rate in [2, 8, 64, 1024, 1 << 30] {
                let sorted = Sorter::Cpu.sort(&block, sample_rate).unwrap();
                assert!(
                    sorted == naive::sort(&block, sample_rate),
                    "{name}, rate {sample_rate}"
                );
                let wide = CpuSorter::with(NarrowLimits::LOWEST);
                let sorted_wide = wide.sort_on(1, &block, sample_rate).unwrap();
                assert!(sorted_wide == sorted, "{name}, rate {sample_rate}, wide");
            }
        }
    }

    #[test]
    fn a_gpu_sorts_as_the_cpu_does() {
        if gpu::testing::gpu().is_none() {
            return;
        }
        let mut sorter = Sorter::new(Device::Cuda(GpuSet::one(0))).unwrap();
        for (name, block) in naive::blocks() {
            for sample_rate in [2, 64, 1 << 30] {
                let expected = Sorter::Cpu.sort(&block, sample_rate).unwrap();
                let sorted = sorter.sort(&block, sample_rate).unwrap();
                assert!(sorted == expected, "{name}, rate {sample_rate}");
            }
        }
    }

    #[test]
    fn refuses_an_empty_block() {
        assert!(matches!(Sorter::Cpu.sort(b"", 2), Err(Error::Usage(_))));
    }

    #[test]
    #[should_panic(expected = "not a power of two")]
    fn refuses_an_odd_rate() {
        let _ = Sorter::Cpu.sort(b"a", 3);
    }
}
