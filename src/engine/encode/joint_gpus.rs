//! Blocks that several GPUs sort together, each a part of the block, if a device of several GPUs
//! was asked for.
//!
//! Two kinds of blocks are sorted in this way. The first are blocks for which no GPU alone has the
//! memory. The second is a block that is alone in its stream, so that the other GPUs would be idle,
//! if there are at least 8 GPUs. (Two GPUs take 0.6 to 0.8 times the time of one,
//! `kernels/README.md`, which the check of their result outweighs.) Two other kinds stay with one
//! GPU. One is a block of up to [`gpu::MOST_BYTES`] bytes that the GPU codes too, since then its
//! transform does not leave the GPU. The other is a small block, whose rounds would wait for
//! messages.
//!
//! After the sort its memory is freed. Then the GPUs code the transform, each some slices, and one
//! of them restores the block from what will be written (`gpu_proof`). The GPUs of other processes
//! do neither.
//!
//! If other processes help, their GPUs take part, and only the first kind of blocks is sorted
//! together. For blocks that one GPU holds, ranks add only the way over the network.
//!
//! The GPUs are opened when the first such block has its turn, and sort one block at a time. If one
//! of them fails, one GPU or the CPU sorts the block and those after it. If their result is not the
//! block's, the CPU does. (Before that, if sorting by key ranges does not suit the text, as with a
//! text that repeats itself, or fails, the same GPUs have tried prefix doubling.)

use super::gpu_proof::prove_joint;
use super::sorting_gpu::GpuSorted;
use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Result};
use crate::base::threads::Threads;
use crate::bwt::Bwt;
#[cfg(test)]
use crate::coder::Effort;
use crate::coder::{self, SliceLimits};
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::engine::device_pool::gpu_numbers;
use crate::gpu;
use crate::gpu::process_ranks::Ranks;
use crate::options::events::Step;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Minimum bytes of a block that several GPUs sort. One GPU takes less than a tenth of a second for
/// smaller blocks.
const LEAST: u64 = 256 << 20;
/// Minimum number of GPUs that together sort a block which is alone in its stream.
const MANY: usize = 8;
/// Maximum number of GPUs that `gpu::JointSorter` takes. If there are more, each sorts blocks
/// alone.
const MOST: usize = 64;
/// Minimum bytes of a GPU's memory that the sort takes per byte of the block.
const BYTES_PER_SUFFIX: u64 = 27;

#[cfg(test)]
type FakeSort = Box<dyn FnMut(&[u8], u32) -> Result<Bwt> + Send>;

/// Several open GPUs that sort a block together.
pub(super) enum JointSorter {
    /// GPUs of this process.
    Own(gpu::JointSorter),
    /// GPUs of this process and of others.
    Ranks(Ranks),
    /// A test's stand-in, which is given a block and the sample rate.
    #[cfg(test)]
    Fake(FakeSort),
}

impl JointSorter {
    #[cfg(test)]
    pub(super) fn fake(sort: impl FnMut(&[u8], u32) -> Result<Bwt> + Send + 'static) -> Self {
        JointSorter::Fake(Box::new(sort))
    }

    fn sort(&mut self, block: &[u8], sample_rate: u32) -> Result<Bwt> {
        let gpu::SortedText { bytes, samples } = match self {
            JointSorter::Own(sorter) => sorter.sort(block, sample_rate)?,
            JointSorter::Ranks(ranks) => ranks.sort(block, sample_rate)?,
            #[cfg(test)]
            JointSorter::Fake(sort) => return sort(block, sample_rate),
        };
        Ok(Bwt {
            bytes,
            sample_rate,
            samples,
        })
    }
}

/// The GPUs that sort blocks together.
pub(super) struct JointGpus {
    device: Device,
    ranks: Option<Ranks>,
    /// Minimum bytes of a block that the GPUs sort together.
    least: u64,
    /// Limits of the slices, if GPUs code the blocks too.
    coded: Option<SliceLimits>,
    chosen: OnceLock<Option<ChosenGpus>>,
    /// The open GPUs. `None` before the first block, and after a failure.
    sorter: Mutex<Option<JointSorter>>,
    failed: AtomicBool,
}

/// The work on a block that several GPUs sort.
#[derive(Clone, Copy)]
pub(super) struct JointTask<'a> {
    pub sample_rate: u32,
    /// True if the result is restored and compared with the block.
    pub proves: bool,
    /// The threads that copy, cut and compare. The caller is none of them.
    pub pool: &'a Threads,
}

/// Several GPUs, and the largest block that each has the memory for.
struct ChosenGpus {
    /// GPUs of this process, and their numbers.
    device: Device,
    numbers: Vec<u32>,
    /// Number of GPUs of all ranks.
    count: usize,
    holds: u64,
}

impl JointGpus {
    /// Creates the pool of GPUs named by `device`, or of those of the helping `ranks`. If `coded`
    /// is given, GPUs also code the blocks into slices of these limits.
    pub(super) fn new(device: Device, ranks: Option<Ranks>, coded: Option<SliceLimits>) -> Self {
        let chosen = OnceLock::new();
        let sorter = Mutex::new(None);
        let failed = AtomicBool::new(false);
        JointGpus {
            device,
            ranks,
            least: LEAST,
            coded,
            chosen,
            sorter,
            failed,
        }
    }

    /// Creates a pool of `count` GPUs, for which `sorter` stands in. Each can hold blocks of up to
    /// `holds` bytes.
    #[cfg(test)]
    pub(super) fn of(count: u32, sorter: JointSorter, holds: u64, codes: bool) -> Self {
        let count = count as usize;
        let device = Device::Auto;
        let chosen = Some(ChosenGpus {
            device,
            numbers: Vec::new(),
            count,
            holds,
        })
        .into();
        let sorter = Mutex::new(Some(sorter));
        let failed = AtomicBool::new(false);
        let ranks = None;
        let limits = SliceLimits::new(1 << 20, Effort::Default);
        JointGpus {
            device,
            ranks,
            least: 1,
            coded: codes.then_some(limits),
            chosen,
            sorter,
            failed,
        }
    }

    /// Returns true if the GPUs together sort a block of `len` bytes. `is_alone` is true if it may
    /// be alone in its stream.
    pub(super) fn take(&self, len: u64, is_alone: bool) -> bool {
        if len < self.least || self.failed.load(Ordering::Relaxed) {
            return false;
        }
        let Some(chosen) = self.chosen() else {
            return false;
        };
        let one_codes = self.coded.is_some() && len <= gpu::MOST_BYTES.into();
        let are_many = self.ranks.is_none() && chosen.count >= MANY;
        len > chosen.holds || is_alone && are_many && !one_codes
    }

    /// Sorts a block; codes the result, and restores it, if that was asked for and the GPUs have
    /// the memory. Returns `None` if the GPUs have failed since [`JointGpus::take`] said that they
    /// take it.
    ///
    /// # Errors
    /// [`Error::Device`] if a GPU is not there or fails. The GPUs then take no more blocks.
    pub(super) fn sort(&self, block: &[u8], task: JointTask) -> Result<Option<GpuSorted>> {
        let mut open = self
            .sorter
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.failed.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let device = self
            .chosen()
            .map_or(self.device, |chosen| chosen.device);
        // A sorter that panics is not put back, and so not used again.
        let sorter = open.take().map_or_else(|| self.open(), Ok);
        let sorted = sorter.and_then(|mut sorter| {
            let from = Instant::now();
            let sorted = sorter.sort(block, task.sample_rate);
            let sorted = sorted.map(|bwt| {
                let mut done = GpuSorted::of(Sorted::Bwt(bwt));
                done.steps
                    .push((Step::Sort(device), from, Instant::now()));
                self.go_on(&mut sorter, &mut done, block, task);
                done
            });
            if !matches!(sorted, Err(Error::Device(_))) {
                *open = Some(sorter);
            }
            sorted
        });
        if matches!(sorted, Err(Error::Device(_))) {
            self.failed.store(true, Ordering::Relaxed);
        }
        sorted.map(Some)
    }

    /// Codes and restores a result, in memory that the sort gives up. Each step that fails is left
    /// out: the CPU codes then, or restores.
    fn go_on(&self, sorter: &mut JointSorter, done: &mut GpuSorted, block: &[u8], task: JointTask) {
        let (JointSorter::Own(sorter), Some(chosen)) = (sorter, self.chosen()) else {
            return;
        };
        let Some(&first) = chosen.numbers.first() else {
            return;
        };
        let may_go_on = sorter.free().is_ok();
        if let Some(limits) = self.coded.filter(|_| may_go_on) {
            let from = Instant::now();
            if let Ok(coded) = code_jointly(&chosen.numbers, &done.sorted, limits, task) {
                (done.sorted, done.counts) = (coded.sorted, coded.counts);
                done.steps
                    .push((Step::Code(chosen.device), from, Instant::now()));
            }
        }
        if task.proves && may_go_on {
            let from = Instant::now();
            let threads = task.pool.count();
            if let Ok(proof) = prove_joint(first, &done.sorted, block, threads) {
                done.proof = proof;
                done.steps
                    .push((Step::Check, from, Instant::now()));
            }
        }
    }

    /// Stops the GPUs after a wrong result: they take no more blocks, and their memory is freed.
    pub(super) fn give_up(&self) {
        self.failed.store(true, Ordering::Relaxed);
        *self
            .sorter
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The GPUs, found the first time that a block may be theirs. `None` if they are not several.
    fn chosen(&self) -> Option<&ChosenGpus> {
        let find = || {
            let Device::Cuda(_) = self.device else {
                return None;
            };
            let numbers = gpu_numbers(self.device).ok()?;
            let there = gpu::devices().ok()?;
            let memory = |number: &u32| {
                Some(
                    there
                        .iter()
                        .find(|gpu| gpu.number == *number)?
                        .memory,
                )
            };
            let least = numbers
                .iter()
                .map(memory)
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .min()?;
            let holds = (least / BYTES_PER_SUFFIX).min(gpu::MOST_SORTED.into());
            let count = self
                .ranks
                .as_ref()
                .map_or(numbers.len(), Ranks::count);
            let is_several = count > 1 && numbers.len() <= MOST;
            let device = Device::Cuda(GpuSet::new(numbers.iter().copied()).ok()?);
            is_several.then_some(ChosenGpus {
                device,
                numbers,
                count,
                holds,
            })
        };
        self.chosen.get_or_init(find).as_ref()
    }

    fn open(&self) -> Result<JointSorter> {
        match &self.ranks {
            Some(ranks) => Ok(JointSorter::Ranks(ranks.clone())),
            None => Ok(JointSorter::Own(gpu::JointSorter::new(
                self.chosen().map_or(&[], |gpus| &gpus.numbers),
            )?)),
        }
    }
}

/// Codes a transform on GPUs.
fn code_jointly(
    numbers: &[u32],
    sorted: &Sorted,
    limits: SliceLimits,
    task: JointTask,
) -> Result<GpuSorted> {
    let Sorted::Bwt(bwt) = sorted else {
        unreachable!("it is not coded yet");
    };
    let cuts = coder::static_cuts(task.pool.executor(), &bwt.bytes, limits);
    let threads = task.pool.count();
    let gpu::JointlyEncoded { coded, byte_counts } =
        gpu::encode_jointly(numbers, &bwt.bytes, &cuts, limits, threads)?;
    let transform = CodedTransform {
        coded,
        sample_rate: bwt.sample_rate,
        samples: bwt.samples.clone(),
    };
    Ok(GpuSorted {
        counts: Some(byte_counts),
        ..GpuSorted::of(Sorted::Coded(transform))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bwt::Sorter;
    use crate::coder::Coding;
    use crate::engine::encode::block_sorter::{BlockSorter, could_be};
    use crate::engine::encode::gpu_proof::Proof;
    use crate::engine::encode::sorting_gpu::SortingGpu;
    use crate::options::events::{Event, Listener};
    use std::sync::Arc;

    fn on_cpu(block: &[u8], rate: u32) -> Result<Bwt> {
        Sorter::Cpu.sort(block, rate)
    }

    fn one() -> SortingGpu {
        SortingGpu::fake(|block, rate| {
            let sorted = Sorted::Bwt(on_cpu(block, rate)?);
            Ok(GpuSorted::of(sorted))
        })
    }

    /// Creates sorters of these GPUs together and of one alone, and the list of their warnings.
    fn sorters(together: JointGpus, alone: SortingGpu) -> (BlockSorter, Arc<Mutex<Vec<String>>>) {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&warnings);
        let listener = Listener::new(move |event| {
            if let Event::Warning(what) = event {
                received.lock().unwrap().push(what);
            }
        });
        let mut sorters = BlockSorter::of(vec![alone], listener).proving();
        sorters.together = together;
        (sorters, warnings)
    }

    #[test]
    fn several_gpus_take_what_none_alone_holds_and_what_is_alone() {
        let several =
            |count, holds, codes| JointGpus::of(count, JointSorter::fake(on_cpu), holds, codes);
        for (count, codes) in [(2, false), (2, true), (8, false), (8, true)] {
            let several = several(count, 6, codes);
            let taken = [(6, false), (7, false), (6, true), (7, true)];
            let taken = taken.map(|(len, is_alone)| several.take(len, is_alone));
            assert_eq!(taken, [false, true, count == 8 && !codes, true]);
        }
        // All GPUs sort a block that is too large for one GPU to code.
        let most = u64::from(gpu::MOST_BYTES);
        let taken = [most, most + 1].map(|len| several(8, 1 << 40, true).take(len, true));
        assert_eq!(taken, [false, true]);
    }

    #[test]
    fn one_gpu_or_none_named_is_none_of_several() {
        for device in ["cpu", "auto", "cuda:0"] {
            let gpus = JointGpus::new(device.parse().unwrap(), None, None);
            assert!(!gpus.take(1 << 40, true), "{device}");
        }
    }

    #[test]
    fn where_several_gpus_fail_one_sorts_and_nothing_is_lost() {
        let expected = Sorted::Bwt(Sorter::Cpu.sort(b"banana", 2).unwrap());
        for sorts in [0, 2] {
            let mut left = sorts;
            let several = JointSorter::fake(move |block, rate| {
                left = u32::checked_sub(left, 1).ok_or(Error::Device("one is lost".into()))?;
                on_cpu(block, rate)
            });
            let (sorters, warnings) = sorters(JointGpus::of(2, several, 5, false), one());
            for _ in 0..5 {
                let sorted = sorters.sort(b"banana", 2, false);
                assert_eq!(sorted.unwrap().0, expected);
            }
            let warning = "one is lost; sorting on one GPU or the CPU";
            assert_eq!(*warnings.lock().unwrap(), [warning]);
        }
    }

    #[test]
    fn what_several_gpus_sort_wrongly_the_cpu_sorts() {
        let block = crate::cases::text(5000);
        let expected = Sorted::Bwt(Sorter::Cpu.sort(&block, 64).unwrap());
        // The right bytes in another order; the right order with another sample.
        for of_samples in [false, true] {
            let mut asked = false;
            let several = JointSorter::fake(move |block, rate| {
                assert!(!std::mem::replace(&mut asked, true), "they are asked once");
                let mut bwt = on_cpu(block, rate)?;
                let other = bwt
                    .bytes
                    .iter()
                    .position(|&byte| byte != bwt.bytes[0])
                    .unwrap();
                match of_samples {
                    true => bwt.samples.swap(1, 2),
                    false => bwt.bytes.swap(0, other),
                }
                Ok(bwt)
            });
            let (sorters, warnings) = sorters(JointGpus::of(2, several, 5, false), one());
            for _ in 0..2 {
                let sorted = sorters.sort(&block, 64, false);
                let (sorted, steps) = sorted.unwrap();
                assert!(sorted == expected);
                assert!(matches!(steps[..], [(Step::Sort(Device::Cpu), ..)]));
            }
            let warning = "a GPU gave a transform that is not the block's; sorting on the CPU";
            assert_eq!(*warnings.lock().unwrap(), [warning]);
        }
    }

    /// Two streams of a real GPU stand for two GPUs.
    #[test]
    fn several_gpus_code_and_restore_what_they_sort() {
        if gpu::testing::gpu().is_none() {
            return;
        }
        const RATE: u32 = 1 << 12;
        let block = crate::cases::text(300_000);
        let sorter = gpu::JointSorter::new(&[0, 0]).unwrap();
        let mut gpus = JointGpus::of(2, JointSorter::Own(sorter), 1, true);
        gpus.chosen = Some(ChosenGpus {
            device: Device::Auto,
            numbers: vec![0, 0],
            count: 2,
            holds: 1,
        })
        .into();
        let limits = gpus.coded.unwrap();
        let bwt = on_cpu(&block, RATE).unwrap();
        let expected = Sorted::Coded(CodedTransform {
            coded: coder::encode_slices(&bwt.bytes, limits, Coding::StaticRans),
            sample_rate: RATE,
            samples: bwt.samples.clone(),
        });
        for proves in [true, false, true] {
            let task = JointTask {
                sample_rate: RATE,
                proves,
                pool: &Threads::Calling,
            };
            let done = gpus.sort(&block, task).unwrap().unwrap();
            assert!(done.sorted == expected);
            assert_eq!(done.proof == Proof::Restored, proves);
            assert!(could_be(&done.sorted, done.counts, &block));
        }
        let other = [&block[1..], b"x"].concat();
        for sorted in [expected, Sorted::Bwt(bwt)] {
            let proof = |text: &[u8]| prove_joint(0, &sorted, text, 2).unwrap();
            assert_eq!(proof(&block), Proof::Restored);
            assert_eq!(proof(&other), Proof::Differs);
            assert_eq!(proof(&block[1..]), Proof::Differs);
        }
    }

    /// Any launch of either of two streams on a real GPU may fail.
    #[test]
    fn several_gpus_that_fail_in_the_middle_of_a_block_lose_nothing() {
        if gpu::testing::gpu().is_none() {
            return;
        }
        let block = crate::cases::text(300_000);
        let expected = Sorted::Bwt(Sorter::Cpu.sort(&block, 1 << 15).unwrap());
        // The first two sort by key ranges, which takes few launches; the others sort by doubling.
        for (failing, launches) in [(0, 0), (1, 3), (0, 20), (1, 60)] {
            let sorter = gpu::JointSorter::new(&[0, 0]).unwrap();
            let mut sorter = if launches < 20 {
                sorter
            } else {
                sorter.by_doubling()
            };
            sorter.fail_after(failing, launches);
            let several = JointSorter::fake(move |block, sample_rate| {
                let gpu::SortedText { bytes, samples } = sorter.sort(block, sample_rate)?;
                Ok(Bwt {
                    bytes,
                    sample_rate,
                    samples,
                })
            });
            let together = JointGpus::of(2, several, 1, false);
            let (sorters, warnings) = sorters(together, one());
            for _ in 0..4 {
                let sorted = sorters.sort(&block, 1 << 15, true);
                assert!(sorted.unwrap().0 == expected, "after {launches} launches");
            }
            assert_eq!(
                warnings.lock().unwrap().len(),
                1,
                "after {launches} launches"
            );
        }
    }
}
