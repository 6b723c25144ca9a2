//! Suffix arrays and LCP arrays of texts, made on the CPU or on a GPU that stays open.

use super::arrays::LcpArrays;
use super::lcp_gpu::{LcpGpu, check_positions, check_rows};
use super::limits::{check_length, check_memory, no_memory};
use super::{permuted_lcp, suffix_array::suffix_array};
use crate::base::allocation;
use crate::base::error::Result;
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::engine::thread_pool;
use crate::gpu::{GpuLcpSorter, LcpRows};
use crate::options::Options;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::fmt;
use std::hint::black_box;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

/// Bytes of memory per byte of text while the CPU works, including the text.
const ON_CPU: u64 = 13;

/// Bytes of memory per byte of text while a GPU works, including a copy of the text in pinned
/// memory. [`GpuLcpSorter::PINNED`] comes on top.
const WITH_GPU: u64 = 10;

/// Maximum bytes of memory per byte of text if only some rows are wanted. The text is in pinned
/// memory alone, and all rows may be there and in the arrays.
const SELECTING: u64 = 17;

/// Bytes that a thread copies at a time.
const COPIED: usize = 1 << 18;

/// Bytes of the smallest pages of memory.
const PAGE: usize = 4096;

/// Builds the arrays of texts, one after the other.
///
/// A text that takes the CPU longer than the opening of a GPU goes to one, if the options allow it.
/// If the options ask for a GPU, every text goes to it. The GPU stays open for the next text.
///
/// ```
/// let sorter = bwz::lcp::LcpSorter::new(&bwz::Options::new())?;
/// assert_eq!(sorter.sort(b"banana")?.suffixes, [5, 3, 1, 0, 4, 2]);
/// assert_eq!(sorter.sort(b"ananas")?.lcp, [0, 3, 1, 0, 2, 0]);
/// # Ok::<(), bwz::Error>(())
/// ```
pub struct LcpSorter {
    gpus: DevicePool<LcpGpu>,
    pool: ThreadPool,
    options: Options,
    /// True if a GPU has built arrays.
    used_gpu: AtomicBool,
}

impl LcpSorter {
    /// Creates a sorter on the device that the options choose, with as many threads as they say.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU is asked for and this build has no CUDA,
    /// [`Error::Io`](crate::Error::Io) if no threads can be started.
    pub fn new(options: &Options) -> Result<Self> {
        Self::with(Opener::new(options.device, 1, 1, LcpGpu::open)?, options)
    }

    /// Creates a sorter on a GPU that lies.
    #[cfg(test)]
    pub(crate) fn lying(
        options: &Options,
        lie: impl FnMut(&mut LcpArrays) + Send + 'static,
    ) -> Self {
        Self::with(Opener::of(vec![LcpGpu::fake(lie)]), options).unwrap()
    }

    fn with(opener: Opener<LcpGpu>, options: &Options) -> Result<Self> {
        let threads = options.thread_count();
        let listener = options.run.listener.clone();
        let gpus = DevicePool::new(opener, Rates::LCP, threads, listener);
        Ok(LcpSorter {
            gpus,
            pool: thread_pool::pool(options)?,
            options: options.clone(),
            used_gpu: AtomicBool::new(false),
        })
    }

    /// Builds the arrays of a text.
    ///
    /// The CPU sorts on the calling thread and compares on as many threads as the options say.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) for a text above [`MAX_TEXT`](super::MAX_TEXT),
    /// [`Error::Limit`](crate::Error::Limit) if `Options::memory` allows less than 13 bytes for
    /// each byte of it (a GPU takes 40 MiB besides), [`Error::Io`] if there is no memory.
    ///
    /// [`Error::Io`]: crate::Error::Io
    pub fn sort(&self, text: &[u8]) -> Result<LcpArrays> {
        self.sort_pieces(text, 0)
    }

    /// Builds the arrays of a text in `arrays`. A GPU reuses their memory, as far as it is large
    /// enough: getting new memory from the system can take longer than the GPU's work. The CPU's
    /// arrays are new. After an error the arrays are empty.
    ///
    /// ```
    /// use bwz::lcp::{LcpArrays, LcpSorter};
    ///
    /// let sorter = LcpSorter::new(&bwz::Options::new())?;
    /// let mut arrays = LcpArrays::default();
    /// for text in [&b"banana"[..], b"ananas"] {
    ///     sorter.sort_into(text, &mut arrays)?;
    ///     assert_eq!(arrays.lcp.iter().max(), Some(&3));
    /// }
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`LcpSorter::sort`].
    pub fn sort_into(&self, text: &[u8], arrays: &mut LcpArrays) -> Result<()> {
        *arrays = self.all_rows(text, 0, std::mem::take(arrays))?;
        Ok(())
    }

    /// Builds the arrays that [`LcpArrays::of_pieces`] builds.
    ///
    /// # Errors
    /// As [`LcpSorter::sort`].
    pub fn sort_pieces(&self, text: &[u8], least: u8) -> Result<LcpArrays> {
        self.all_rows(text, least, LcpArrays::default())
    }

    /// Builds arrays in which rows that are not wanted may be missing. The text is the `size` bytes
    /// that `write` writes into the memory in which they are sorted. A row's predecessor is
    /// therefore not always its predecessor in the whole arrays. It is, if both have as long a
    /// common prefix as is wanted.
    ///
    /// `write` is given memory that holds any bytes. If a GPU fails, it is called again.
    pub(crate) fn select(
        &self,
        size: usize,
        write: impl Fn(&mut [u8]),
        least: u8,
        wanted: LcpRows,
    ) -> Result<LcpArrays> {
        self.check(size)?;
        let on_gpu = |gpu: &mut LcpGpu| {
            let arrays = match gpu {
                LcpGpu::Cuda(gpu) => {
                    write(gpu.input(size)?);
                    let view = gpu.select_rows(least, wanted)?;
                    LcpArrays {
                        suffixes: self.copied(view.suffixes)?,
                        lcp: self.copied(view.lcp)?,
                    }
                }
                #[cfg(test)]
                LcpGpu::Fake(lie) => {
                    let mut text = vec![0; size];
                    write(&mut text);
                    let mut arrays = self.on_cpu(&text, least)?;
                    lie(&mut arrays);
                    arrays
                }
            };
            self.pool
                .install(|| check_positions(&arrays, size))?;
            Ok(arrays)
        };
        if let Some(done) = self.by_gpu(size as u64, SELECTING * size as u64, on_gpu) {
            return done;
        }
        let mut text = allocation::zeroed(size).ok_or_else(no_memory)?;
        write(&mut text);
        self.on_cpu(&text, least)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn pool(&self) -> &ThreadPool {
        &self.pool
    }

    fn check(&self, size: usize) -> Result<()> {
        check_length(size)?;
        let what = format!("the suffixes of {size} bytes of text");
        check_memory(ON_CPU * size as u64, &self.options, what)
    }

    /// Builds all rows. A GPU puts them into the memory of `used`.
    fn all_rows(&self, text: &[u8], least: u8, used: LcpArrays) -> Result<LcpArrays> {
        self.check(text.len())?;
        let size = text.len() as u64;
        let on_gpu = |gpu: &mut LcpGpu| {
            let arrays = match gpu {
                LcpGpu::Cuda(gpu) => {
                    self.copy(text, gpu.input(text.len())?);
                    self.receive_rows(gpu, text.len(), least, used)?
                }
                #[cfg(test)]
                LcpGpu::Fake(lie) => {
                    let mut arrays = self.on_cpu(text, least)?;
                    lie(&mut arrays);
                    arrays
                }
            };
            self.pool
                .install(|| check_rows(text, &arrays, least))?;
            Ok(arrays)
        };
        match self.by_gpu(size, WITH_GPU * size + GpuLcpSorter::PINNED, on_gpu) {
            Some(done) => done,
            None => self.on_cpu(text, least),
        }
    }

    fn on_cpu(&self, text: &[u8], least: u8) -> Result<LcpArrays> {
        let from = Instant::now();
        let suffixes = suffix_array(text, &self.options)?;
        let lcp = permuted_lcp::lcp(text, &suffixes, least, &self.pool)?;
        self.gpus
            .done_on_cpu(text.len() as u64, 1, from.elapsed());
        Ok(LcpArrays { suffixes, lcp })
    }

    /// Does the work for a text of `size` bytes on a GPU. Returns `None` if the CPU is to do it.
    fn by_gpu(
        &self,
        size: u64,
        needed: u64,
        work: impl FnOnce(&mut LcpGpu) -> Result<LcpArrays>,
    ) -> Option<Result<LcpArrays>> {
        if size == 0 || needed > self.options.memory_limit() {
            return None;
        }
        self.gpus.expect(size);
        let done = self.gpus.lease(size, 1)?.run(work);
        if done.is_some() {
            self.used_gpu.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Finds by `find` what the arrays of a text show. If `is_true` says that the text has
    /// something else, and the arrays came from a GPU, the GPUs are given up and the CPU finds it
    /// again.
    ///
    /// # Errors
    /// Those of `find`.
    pub(crate) fn find_true<T>(
        &self,
        find: impl Fn() -> Result<T>,
        is_true: impl FnOnce(&T) -> bool,
    ) -> Result<T> {
        let found = find()?;
        if !self.used_gpu.load(Ordering::Relaxed) || is_true(&found) {
            return Ok(found);
        }
        drop(found);
        self.gpus
            .give_up("a GPU found matches that are none");
        find()
    }

    /// Receives all rows of the text that the GPU was given.
    fn receive_rows(
        &self,
        gpu: &mut GpuLcpSorter,
        len: usize,
        least: u8,
        used: LcpArrays,
    ) -> Result<LcpArrays> {
        thread::scope(|scope| {
            // The GPU sorts meanwhile.
            let room = scope.spawn(|| -> Result<LcpArrays> {
                let LcpArrays { suffixes, lcp } = used;
                Ok(LcpArrays {
                    suffixes: self.room(suffixes, len)?,
                    lcp: self.room(lcp, len)?,
                })
            });
            let mut room = Some(room);
            let mut arrays = LcpArrays::default();
            gpu.sort_input(least, |chunk| {
                if let Some(room) = room.take() {
                    arrays = room
                        .join()
                        .unwrap_or_else(|panic| resume_unwind(panic))?;
                }
                let LcpArrays { suffixes, lcp } = &mut arrays;
                self.pool.install(|| chunk.write(suffixes, lcp))
            })?;
            Ok(arrays)
        })
    }

    /// Returns `len` arbitrary values in memory that the system has already provided.
    fn room(&self, mut used: Vec<u32>, len: usize) -> Result<Vec<u32>> {
        if used.capacity() >= len {
            used.resize(len, 0);
            return Ok(used);
        }
        drop(used);
        let mut values: Vec<u32> = allocation::zeroed(len).ok_or_else(no_memory)?;
        let touch = |part: &mut [u32]| {
            part.iter_mut()
                .step_by(PAGE / 4)
                .for_each(|v| *v = 0)
        };
        let parts = values.par_chunks_mut(COPIED / 4);
        self.pool
            .install(|| parts.for_each(|part| touch(black_box(part))));
        Ok(values)
    }

    fn copied(&self, items: &[u32]) -> Result<Vec<u32>> {
        let mut copy = allocation::zeroed(items.len()).ok_or_else(no_memory)?;
        self.copy(items, &mut copy);
        Ok(copy)
    }

    /// Copies on all threads, since getting new memory takes longer than writing to it.
    fn copy<T: Copy + Send + Sync>(&self, from: &[T], to: &mut [T]) {
        let size = COPIED / size_of::<T>();
        if from.len() <= size {
            return to.copy_from_slice(from);
        }
        let parts = to.par_chunks_mut(size).zip(from.par_chunks(size));
        self.pool
            .install(|| parts.for_each(|(to, from)| to.copy_from_slice(from)));
    }
}

impl LcpArrays {
    /// Builds both arrays on the device that the options choose. For several texts an [`LcpSorter`]
    /// keeps its GPU open.
    ///
    /// # Errors
    /// As [`LcpSorter::new`] and [`LcpSorter::sort`].
    pub fn new(text: &[u8], options: &Options) -> Result<Self> {
        Self::of_pieces(text, 0, options)
    }

    /// Builds both arrays of a text that bytes below `least` divide into pieces. Common prefixes
    /// end before the first such byte. The suffixes are sorted as for [`LcpArrays::new`].
    ///
    /// ```
    /// let arrays = bwz::lcp::LcpArrays::of_pieces(b"ab\0ab\0", 1, &bwz::Options::new())?;
    /// assert_eq!(arrays.suffixes, [5, 2, 3, 0, 4, 1]);
    /// assert_eq!(arrays.lcp, [0, 0, 0, 2, 0, 1]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`LcpArrays::new`].
    pub fn of_pieces(text: &[u8], least: u8, options: &Options) -> Result<Self> {
        LcpSorter::new(options)?.sort_pieces(text, least)
    }
}

impl fmt::Debug for LcpSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LcpSorter")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::MAX_TEXT;
    use super::super::naive_lcp as naive;
    use super::*;
    use crate::base::device::{Device, GpuSet};
    use crate::base::error::{Bound, Error};
    use crate::cases;
    use crate::gpu::testing::gpu;
    use crate::options::events::Event;
    use std::sync::{Arc, Mutex};

    #[test]
    fn the_arrays_are_the_naive_ones_in_all_cases() {
        let small = cases::shapes(3000).into_iter();
        let lengths = (0..=300).map(|n| (format!("text of {n}"), cases::text(n)));
        for (name, text) in small.chain(lengths) {
            let expected = naive::arrays(&text);
            for threads in [1, 3] {
                let options = Options::new().threads(threads);
                assert!(
                    LcpArrays::new(&text, &options).unwrap() == expected,
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn what_is_in_common_ends_with_the_piece() {
        for least in [1, 2] {
            let text: Vec<u8> = cases::random(2000, 4)
                .into_iter()
                .map(|b| b.min(3))
                .collect();
            let text = [&text[..], &text, &[3; 500], &text].concat();
            let arrays = LcpArrays::of_pieces(&text, least, &Options::new().threads(2)).unwrap();
            let expected = naive::arrays(&text);
            assert_eq!(arrays.suffixes, expected.suffixes);
            for (row, &pos) in arrays.suffixes.iter().enumerate() {
                let piece = text[pos as usize..]
                    .iter()
                    .take_while(|&&b| b >= least)
                    .count();
                assert_eq!(arrays.lcp[row], expected.lcp[row].min(piece as u32));
            }
        }
    }

    #[test]
    fn memory_is_asked_for_before_it_is_taken() {
        let options = Options::new().memory(13 * 1000 - 1);
        let refused = LcpArrays::new(&[7; 1000], &options).unwrap_err();
        assert!(matches!(
            refused,
            Error::Limit {
                needed: 13_000,
                by: Bound::Memory,
                ..
            }
        ));
        assert!(LcpArrays::new(&[7; 1000], &Options::new().memory(13_000)).is_ok());
    }

    /// The error names the length, since more memory would not help.
    #[test]
    fn a_text_that_is_too_long_is_refused_for_its_length() {
        // Nothing touches these pages of zeros.
        let text = vec![0; MAX_TEXT + 1];
        for memory in [1 << 20, u64::MAX] {
            let refused = LcpArrays::new(&text, &Options::new().memory(memory)).unwrap_err();
            assert!(matches!(refused, Error::Usage(_)), "{refused}");
            assert!(refused.to_string().contains("2147483647"), "{refused}");
        }
    }

    /// A GPU fails at any of its launches: the CPU gives the same, and there is one warning.
    #[test]
    fn a_gpu_that_fails_in_the_middle_loses_nothing() {
        if gpu().is_none() {
            return;
        }
        let text = cases::text(20_000);
        let options = Options::new().threads(2);
        let expected = LcpArrays::new(&text, &options.clone().device(Device::Cpu)).unwrap();
        for launches in 0..40 {
            let heard = Arc::new(Mutex::new(Vec::new()));
            let listener = Arc::clone(&heard);
            let options = options
                .clone()
                .device(Device::Cuda(GpuSet::one(0)));
            let sorter = LcpSorter::new(&options.on_event(move |event| {
                if let Event::Warning(what) = event {
                    listener.lock().unwrap().push(what);
                }
            }));
            let sorter = sorter.unwrap();
            let failing = sorter.gpus.lease(1, 1).unwrap().run(|gpu| {
                match gpu {
                    LcpGpu::Cuda(gpu) => gpu.fail_after(launches),
                    LcpGpu::Fake(_) => unreachable!("a GPU was asked for"),
                }
                Ok(())
            });
            assert!(failing.is_some_and(|done| done.is_ok()));
            assert!(
                (0..2).all(|_| sorter.sort(&text).unwrap() == expected),
                "{launches}"
            );
            let warnings = heard.lock().unwrap().len();
            assert!(
                warnings == 1 || warnings == 0 && launches > 10,
                "{launches} launches"
            );
        }
    }

    /// A GPU builds arrays that are not those of the text: the CPU builds them, with one warning.
    #[test]
    fn wrong_rows_of_a_gpu_are_found() {
        let text = cases::text(20_000);
        let options = Options::new().threads(2);
        let expected = LcpArrays::new(&text, &options.clone().device(Device::Cpu)).unwrap();
        let lies: [fn(&mut LcpArrays); 3] = [
            |arrays| arrays.suffixes.rotate_left(1),
            |arrays| arrays.lcp.iter_mut().for_each(|lcp| *lcp ^= 1),
            |arrays| arrays.suffixes[1_000..2_000].fill(7),
        ];
        for lie in lies {
            let heard = Arc::new(Mutex::new(Vec::new()));
            let listener = Arc::clone(&heard);
            let options = options.clone().on_event(move |event| {
                if let Event::Warning(what) = event {
                    listener.lock().unwrap().push(what);
                }
            });
            let sorter = LcpSorter::lying(&options, lie);
            assert!((0..2).all(|_| sorter.sort(&text).unwrap() == expected));
            let heard = heard.lock().unwrap();
            assert_eq!(heard.len(), 1, "{heard:?}");
            assert!(heard[0].contains("a GPU gave a wrong row"), "{heard:?}");
        }
    }
}
