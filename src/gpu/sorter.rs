//! Block -> transform and samples on a GPU: copy in, sort, copy out.

use super::buffers::{Array, Carver, Memory, Staging};
use super::device::Gpu;
use super::suffix_array::{Algorithm, Block, Buffers};
use super::transform;
use super::tuning::TEXT_PADDING;
use crate::error::{Error, Result};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use std::time::{Duration, Instant};

/// What comes out of a sort; `bwt::Bwt` says what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// The last column without the sentinel.
    pub bytes: Vec<u8>,
    /// The rows of the suffixes at multiples of the sample rate.
    pub samples: Vec<u32>,
}

/// How the last sort went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// When it began, was copied to the device, was sorted and was copied back.
    pub times: Option<[Instant; 4]>,
    /// Bytes of device memory in use.
    pub memory: usize,
    /// Milliseconds on the device from the copied block to its transform, without copies.
    pub milliseconds: f32,
    /// Suffixes left to sort after each round.
    pub rounds: Vec<u32>,
}

/// Sorts blocks on one GPU, on a stream of its own. Its memory grows with the largest block and is kept.
#[derive(Debug)]
pub struct Sorter {
    gpu: Gpu,
    algorithm: Algorithm,
    memory: Option<Memory>,
    staging: Staging,
    marks: [CudaEvent; 2],
    /// A moment on the clocks of both sides.
    epoch: (CudaEvent, Instant),
    report: Report,
}

/// The arrays around those of the algorithm.
struct Arrays<'m> {
    text: Array<'m, u8>,
    sa: Array<'m, u32>,
    samples: Array<'m, u32>,
    bytes: Array<'m, u8>,
}

impl Sorter {
    /// A sorter on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none, or no driver, or it fails.
    pub fn new(number: u32, algorithm: Algorithm) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let staging = Staging::new(&gpu)?;
        let mark = || gpu.check(gpu.context().new_event(Some(CU_EVENT_DEFAULT)));
        let (marks, epoch) = ([mark()?, mark()?], mark()?);
        gpu.check(epoch.record(gpu.stream()))?;
        gpu.wait()?;
        let epoch = (epoch, Instant::now());
        let report = Report::default();
        Ok(Sorter { gpu, algorithm, memory: None, staging, marks, epoch, report })
    }

    /// Sorts a block of 1 to 2^31 - 1 bytes. `sample_rate` is a power of two.
    ///
    /// # Errors
    /// [`Error::Device`] where the memory of the GPU does not do, or the GPU fails. The sorter may be used again,
    /// though after some failures all that follows fails too.
    pub fn sort(&mut self, block: &[u8], sample_rate: u32) -> Result<Sorted> {
        self.run(block, sample_rate, |gpu, staging, arrays| {
            let bytes = staging.download(gpu, arrays.bytes)?;
            Ok(Sorted { bytes, samples: gpu.read(arrays.samples)? })
        })
    }

    /// The suffix array of a block, without the empty suffix.
    ///
    /// # Errors
    /// As [`Sorter::sort`].
    pub fn suffix_array(&mut self, block: &[u8]) -> Result<Vec<u32>> {
        self.run(block, 1 << 30, |gpu, _, arrays| gpu.read(arrays.sa))
    }

    /// How the last sort went.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.gpu.fail_after(launches);
    }

    fn run<T>(
        &mut self,
        block: &[u8],
        sample_rate: u32,
        finish: impl FnOnce(&Gpu, &mut Staging, &Arrays) -> Result<T>,
    ) -> Result<T> {
        let n = u32::try_from(block.len()).ok().filter(|n| (1..=i32::MAX as u32).contains(n));
        let n = n.ok_or(Error::Usage("a block holds 1 to 2^31 - 1 bytes".into()))?;
        self.reserve(n, sample_rate)?;
        let began = Instant::now();
        let memory = self.memory.as_mut().expect("it was reserved");
        let (gpu, stream) = (&self.gpu, self.gpu.stream());
        let mut rounds = Vec::new();
        let (arrays, buffers) = carve(gpu, self.algorithm, &mut memory.carve(), n, sample_rate)?;
        let Arrays { text, sa, samples, bytes } = arrays;
        self.staging.upload(gpu, block, text)?;
        gpu.zero(text.part(n..n + TEXT_PADDING))?;
        gpu.check(self.marks[0].record(stream))?;
        buffers.run(gpu, Block { text, sa }, &mut rounds)?;
        transform::sample_rows(gpu, sa, sample_rate.ilog2(), samples)?;
        transform::last_column(gpu, text, sa, samples, bytes)?;
        gpu.check(self.marks[1].record(stream))?;
        let done = finish(gpu, &mut self.staging, &arrays)?;
        let milliseconds = gpu.check(self.marks[0].elapsed_ms(&self.marks[1]))?;
        let [copied_in, sorted] = [self.moment(0)?, self.moment(1)?];
        let times = Some([began, copied_in, sorted, Instant::now()]);
        let memory = self.memory.as_ref().map_or(0, Memory::len);
        self.report = Report { times, memory, milliseconds, rounds };
        Ok(done)
    }

    /// When a mark was passed, on the host's clock.
    fn moment(&self, mark: usize) -> Result<Instant> {
        let (epoch, at) = &self.epoch;
        let passed = self.gpu.check(epoch.elapsed_ms(&self.marks[mark]))?;
        Ok(*at + Duration::from_secs_f32(passed.max(0.0) / 1e3))
    }

    /// Takes the memory that blocks of up to `n` bytes need, if that is not done yet.
    ///
    /// # Errors
    /// [`Error::Device`] where the GPU does not have it.
    pub fn reserve(&mut self, n: u32, sample_rate: u32) -> Result<()> {
        let mut measure = Carver::measure();
        carve(&self.gpu, self.algorithm, &mut measure, n, sample_rate)?;
        if self.memory.as_ref().is_none_or(|memory| memory.len() < measure.used()) {
            self.memory = None;
            self.memory = Some(Memory::new(&self.gpu, measure.used())?);
        }
        Ok(())
    }
}

fn carve<'m>(
    gpu: &Gpu,
    algorithm: Algorithm,
    carver: &mut Carver<'m>,
    n: u32,
    sample_rate: u32,
) -> Result<(Arrays<'m>, Buffers<'m>)> {
    let items = n as usize;
    let text = carver.take(items + TEXT_PADDING as usize);
    let sa = carver.take(items);
    let samples = carver.take(items.div_ceil(sample_rate as usize));
    let bytes = carver.take(items);
    let buffers = Buffers::carve(algorithm, gpu, carver, n)?;
    Ok((Arrays { text, sa, samples, bytes }, buffers))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gpu, random, say};
    use super::*;
    use crate::cases;
    use libsais::SuffixArrayConstruction;

    /// One for every algorithm.
    fn sorters() -> Vec<(&'static str, Sorter)> {
        let all = Algorithm::ALL.into_iter();
        all.map(|(name, algorithm)| (name, Sorter::new(0, algorithm).unwrap())).collect()
    }

    fn expected(text: &[u8]) -> Vec<u32> {
        let sa =
            SuffixArrayConstruction::for_text(text).in_owned_buffer32().single_threaded().run();
        sa.unwrap().into_vec().into_iter().map(i32::cast_unsigned).collect()
    }

    /// The transform by its definition, from a suffix array.
    fn transform(text: &[u8], sa: &[u32], rate: usize) -> Sorted {
        let n = text.len();
        let before = sa.iter().filter(|&&p| p > 0).map(|&p| text[p as usize - 1]);
        let mut samples = vec![0; n.div_ceil(rate)];
        for (row, &p) in (1..).zip(sa) {
            if (p as usize).is_multiple_of(rate) {
                samples[p as usize / rate] = row;
            }
        }
        Sorted { bytes: std::iter::once(text[n - 1]).chain(before).collect(), samples }
    }

    fn check(sorters: &mut [(&'static str, Sorter)], name: &str, text: &[u8], with_bwt: bool) {
        let sa = expected(text);
        for (algorithm, sorter) in sorters {
            let got = sorter.suffix_array(text).unwrap();
            assert!(got == sa, "{algorithm}: {name}, {} bytes", text.len());
            if with_bwt {
                let sorted = sorter.sort(text, 64).unwrap();
                assert!(sorted == transform(text, &sa, 64), "{algorithm}: transform of {name}");
            }
        }
    }

    #[test]
    fn named_cases() {
        if gpu().is_none() {
            return;
        }
        let (mut sorters, mut count) = (sorters(), 0);
        for (name, text) in cases::all().iter().filter(|(_, text)| !text.is_empty()) {
            check(&mut sorters, name, text, true);
            count += sorters.len();
        }
        say(format_args!("{count} sorts"));
    }

    #[test]
    fn large_shapes() {
        if gpu().is_none() {
            return;
        }
        let (mut sorters, mut count) = (sorters(), 0);
        for (name, text) in cases::shapes(3_000_000).iter().filter(|(_, text)| text.len() > 300) {
            check(&mut sorters, name, text, false);
            count += sorters.len();
        }
        say(format_args!("{count} sorts"));
    }

    /// Small enough for `compute-sanitizer`, and yet through every kernel.
    #[test]
    fn a_few_of_each() {
        if gpu().is_none() {
            return;
        }
        let mut sorters = sorters();
        for (name, text) in cases::shapes(6_000).iter().filter(|(_, text)| !text.is_empty()) {
            check(&mut sorters, name, text, true);
        }
    }

    #[test]
    fn small_strings() {
        if gpu().is_none() {
            return;
        }
        let tries: u64 =
            std::env::var("BWZ_SMALL_STRINGS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
        let mut sorters = sorters();
        for seed in 0..tries {
            let (alphabet, len) = (seed % 4 + 1, random(1, 80, seed)[0] as usize + 1);
            let text: Vec<u8> =
                random(len, alphabet, seed + 1).into_iter().map(|c| c as u8 * 85).collect();
            check(&mut sorters, "a small string", &text, false);
        }
        say(format_args!("{} sorts", tries * sorters.len() as u64));
    }

    #[test]
    fn a_failure_leaves_the_sorter_usable() {
        if gpu().is_none() {
            return;
        }
        let text = cases::text(50_000);
        for (name, mut sorter) in sorters() {
            let whole = sorter.sort(&text, 64).unwrap();
            for launches in [0, 3, 9] {
                sorter.fail_after(launches);
                assert!(matches!(sorter.sort(&text, 64), Err(Error::Device(_))), "{name}");
            }
            sorter.fail_after(u32::MAX);
            assert_eq!(sorter.sort(&text, 64).unwrap(), whole, "{name}");
        }
    }
}
