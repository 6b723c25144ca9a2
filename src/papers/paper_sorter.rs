//! A sorter by name: the sort of bwz, or a published one, on the CPU or on GPUs.

use super::distributed::{Blocks, Exchange, Processor, run_virtual, suffix_array};
use super::gpu_doors;
use super::paper_algorithm::PaperAlgorithm;
use super::rows_to_bwt::rows_to_bwt;
use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Result};
use crate::base::shortage;
use crate::bwt::{self, Bwt, CpuSorter, Sorter};
use crate::engine::thread_pool;
use crate::gpu::{self, GpuSorter, JointReport, JointSorter, MOST_SORTED, SortedBlock};
use crate::options::{MAX_BLOCK_SIZE, Options};
use rayon::ThreadPool;
use std::time::{Duration, Instant};

const NO_CUDA: &str = "this build of bwz has no CUDA: build it with the feature cuda";

/// Number of virtual processors of `bsp` unless another is set.
const PROCESSORS: usize = 4;
/// Bytes of memory that `bsp` on virtual processors takes for a byte of text. Texts of 2 MB took
/// 131 (random bases, 4 processors) to 187 (one byte repeated, one processor).
const BYTES_OF_PROCESSORS: u64 = 200;

/// Sorts texts by one algorithm. On a GPU its memory grows to fit the largest text and is kept, so
/// the first sort takes longer than the next ones.
///
/// ```
/// use bwz::papers::{PaperAlgorithm, PaperSorter};
/// use bwz::{Device, Options};
///
/// let on_cpu = Options::new().device(Device::Cpu);
/// let mut sorter = PaperSorter::new(PaperAlgorithm::Default, &on_cpu)?;
/// assert_eq!(sorter.sort(b"banana")?.bwt.bytes, b"annbaa");
///
/// // `skew`, `skew-pd` and `ls` need a GPU.
/// let end = PaperSorter::new(PaperAlgorithm::Ls, &on_cpu).unwrap_err();
/// assert!(matches!(end, bwz::Error::Device(_)));
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Debug)]
pub struct PaperSorter {
    algorithm: PaperAlgorithm,
    way: Way,
    memory: u64,
}

/// The place where a sorter works.
#[derive(Debug)]
enum Way {
    /// The threads of the CPU, by `default`.
    Threads(ThreadPool),
    /// Virtual processors, by `bsp`.
    Processors(usize),
    /// One GPU.
    Gpu { number: u32, sorter: Box<GpuSorter> },
    /// All GPUs with these numbers, by `bsp`.
    Gpus {
        numbers: Vec<u32>,
        sorter: Box<JointSorter>,
    },
}

/// A sorted text, and the cost of the sort.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measured {
    /// The BWT. Its sample rate is that of [`bwt::sample_rate`].
    pub bwt: Bwt,
    /// Time from the text in memory to the BWT in memory.
    pub whole: Duration,
    /// The part of it from pinned memory to pinned memory, on GPUs.
    pub pinned: Option<Duration>,
    /// The part of that without copies from and to the host, on GPUs.
    pub kernels: Option<Duration>,
    /// Bytes of device memory in use, on GPUs.
    pub memory: Option<u64>,
    /// Number of suffixes still unsorted after each round, on GPUs. `bsp` gives the number of
    /// symbols in the string of each level.
    pub rounds: Vec<u64>,
}

/// The costs that a GPU reports.
#[derive(Default)]
struct Costs {
    pinned: Option<Duration>,
    kernels: Option<Duration>,
    memory: Option<u64>,
    rounds: Vec<u64>,
}

impl PaperSorter {
    /// Creates a sorter on the device, with the threads and the memory that `options` allow.
    ///
    /// [`Device::Auto`] is the first GPU of this machine, or the CPU if there is none and the
    /// algorithm has a form for it. `bsp` uses all GPUs that the device names; the others use the
    /// first.
    ///
    /// # Errors
    /// [`Error::Device`] if the algorithm needs a GPU and there is none, or if the GPU fails;
    /// [`Error::Io`] if no thread can be started.
    pub fn new(algorithm: PaperAlgorithm, options: &Options) -> Result<Self> {
        let way = match gpu_numbers(options.device)? {
            numbers if !numbers.is_empty() => Way::on_gpus(algorithm, numbers)?,
            _ if algorithm.runs_on_cpu() => Way::on_cpu(algorithm, options)?,
            _ => return Err(needs_gpu(algorithm, options.device)),
        };
        Ok(PaperSorter {
            algorithm,
            way,
            memory: options.memory_limit(),
        })
    }

    /// Sets the number of virtual processors of `bsp` on the CPU: 4 unless this is called. All run
    /// on one thread, one after the other. The other sorters do not change.
    #[must_use]
    pub fn processors(mut self, count: usize) -> Self {
        if let Way::Processors(processors) = &mut self.way {
            *processors = count.max(1);
        }
        self
    }

    /// The device, in words.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.way {
            Way::Threads(pool) => count_of(pool.current_num_threads(), "thread"),
            Way::Processors(count) => count_of(*count, "virtual processor"),
            Way::Gpu { number, .. } => gpu_name(*number),
            Way::Gpus { numbers, .. } if numbers.len() == 1 => gpu_name(numbers[0]),
            Way::Gpus { numbers, .. } => {
                format!("{} GPUs: {}", numbers.len(), gpu_name(numbers[0]))
            }
        }
    }

    /// Returns true if GPUs sort.
    #[must_use]
    pub fn is_on_gpu(&self) -> bool {
        matches!(self.way, Way::Gpu { .. } | Way::Gpus { .. })
    }

    /// Checks that a text of `len` bytes can be sorted, as far as that is known before the sort. A
    /// GPU may still have too little memory.
    ///
    /// # Errors
    /// [`Error::Usage`] if the text is empty or too long, [`Error::Limit`] if the memory that is
    /// allowed does not suffice.
    pub fn check(&self, len: usize) -> Result<()> {
        let most = self.most_bytes();
        if len == 0 || len as u64 > most {
            let name = self.algorithm.name();
            let what = format!("{name} takes texts of 1 to {most} bytes, and not of {len}");
            return Err(Error::Usage(what.into()));
        }
        let needed = match self.way {
            Way::Processors(_) => BYTES_OF_PROCESSORS.saturating_mul(len as u64),
            _ => 0,
        };
        let what = || format!("sorting {len} bytes by bsp on virtual processors");
        shortage::check(needed, self.memory, what)
    }

    /// Length of the longest text, whatever the memory.
    fn most_bytes(&self) -> u64 {
        match &self.way {
            Way::Threads(_) => MAX_BLOCK_SIZE,
            Way::Processors(_) => u64::from(u32::MAX),
            Way::Gpu { sorter, .. } => sorter.most_bytes().into(),
            Way::Gpus { .. } => MOST_SORTED.into(),
        }
    }

    /// Sorts the suffixes of a text.
    ///
    /// # Errors
    /// As [`PaperSorter::check`]; [`Error::Io`] if there is no memory; [`Error::Device`] if a GPU
    /// has too little memory or fails.
    pub fn sort(&mut self, text: &[u8]) -> Result<Measured> {
        self.check(text.len())?;
        let rate = bwt::sample_rate(text.len());
        let from = Instant::now();
        let mut costs = Costs::default();
        let bwt = match &mut self.way {
            Way::Threads(pool) => {
                let threads = pool.current_num_threads();
                pool.install(|| Sorter::Cpu.sort_on(threads, text, rate))?
            }
            Way::Processors(count) => by_processors(text, *count, rate)?,
            Way::Gpu { sorter, .. } => {
                let SortedBlock { bytes, samples } = sorter.sort(text, rate)?;
                costs = Costs::of_gpu(sorter);
                Bwt {
                    bytes,
                    sample_rate: rate,
                    samples: bwt::wide(samples),
                }
            }
            Way::Gpus { sorter, .. } => {
                let sorted = gpu_doors::sort_by_sampling(sorter, text, rate)?;
                costs = Costs::of_gpus(sorter.report());
                Bwt {
                    bytes: sorted.bytes,
                    sample_rate: rate,
                    samples: sorted.samples,
                }
            }
        };
        let whole = from.elapsed();
        let Costs {
            pinned,
            kernels,
            memory,
            rounds,
        } = costs;
        Ok(Measured {
            bwt,
            whole,
            pinned,
            kernels,
            memory,
            rounds,
        })
    }
}

impl Way {
    fn on_cpu(algorithm: PaperAlgorithm, options: &Options) -> Result<Self> {
        Ok(match algorithm {
            PaperAlgorithm::Bsp => Way::Processors(PROCESSORS),
            _ => Way::Threads(thread_pool::pool(options)?),
        })
    }

    fn on_gpus(algorithm: PaperAlgorithm, numbers: Vec<u32>) -> Result<Self> {
        if algorithm == PaperAlgorithm::Bsp {
            let sorter = Box::new(JointSorter::new(&numbers)?);
            return Ok(Way::Gpus { numbers, sorter });
        }
        let number = numbers[0];
        let sorter = Box::new(gpu_doors::open(algorithm, number)?);
        Ok(Way::Gpu { number, sorter })
    }
}

impl Costs {
    fn of_gpu(sorter: &GpuSorter) -> Self {
        let report = sorter.report();
        Costs {
            pinned: report
                .times
                .map(|[began, .., ended]| ended - began),
            kernels: Some(Duration::from_secs_f32(report.milliseconds / 1e3)),
            memory: Some(report.memory as u64),
            rounds: report
                .rounds
                .iter()
                .copied()
                .map(u64::from)
                .collect(),
        }
    }

    fn of_gpus(report: &JointReport) -> Self {
        Costs {
            pinned: Some(report.whole),
            kernels: Some(report.sorting),
            memory: Some(report.memory as u64),
            rounds: report.left.clone(),
        }
    }
}

/// Sorts a text by libsais alone, on one thread, to compare others with. Its sample rate is that of
/// [`bwt::sample_rate`].
///
/// # Errors
/// [`Error::Usage`] if the text is empty, [`Error::Io`] if there is no memory.
pub fn sort_by_libsais(text: &[u8]) -> Result<Bwt> {
    if text.is_empty() {
        return Err(Error::Usage("an empty text has no BWT".into()));
    }
    CpuSorter::new().sort_on_one_thread(text, bwt::sample_rate(text.len()))
}

/// Sorts a text by `bsp` on `count` virtual processors.
fn by_processors(text: &[u8], count: usize, rate: u32) -> Result<Bwt> {
    let blocks = run_virtual(count, async |exchange| {
        let own = Blocks::new(text.len(), count).range(exchange.number());
        let symbols = text[own]
            .iter()
            .map(|&byte| u64::from(byte) + 1)
            .collect();
        suffix_array(&mut Processor::new(exchange), symbols, text.len()).await
    })?;
    Ok(rows_to_bwt(text, blocks.into_iter().flatten(), rate))
}

/// The numbers of the GPUs that a device names. There are none if the CPU does the work.
fn gpu_numbers(device: Device) -> Result<Vec<u32>> {
    let of_machine = || -> Result<Vec<u32>> {
        Ok(gpu::devices()?
            .into_iter()
            .map(|device| device.number)
            .collect())
    };
    match device {
        Device::Cpu => Ok(Vec::new()),
        // A machine without a driver has no GPU, which is no failure.
        Device::Auto => Ok(of_machine()
            .unwrap_or_default()
            .into_iter()
            .take(1)
            .collect()),
        Device::Cuda(_) if !gpu::is_built() => Err(Error::Device(NO_CUDA.into())),
        Device::Cuda(gpus) => match gpus.numbers() {
            Some(numbers) => Ok(numbers.collect()),
            None => {
                let all = of_machine()?;
                // If there is none, opening the first says why.
                Ok(if all.is_empty() {
                    vec![GpuSet::ALL.first()]
                } else {
                    all
                })
            }
        },
    }
}

/// The error of an algorithm that has no form for the CPU.
fn needs_gpu(algorithm: PaperAlgorithm, device: Device) -> Error {
    let why = match device {
        Device::Cpu => "the device must be auto or cuda, not cpu",
        _ if gpu::is_built() => "this machine has none that a driver knows",
        _ => NO_CUDA,
    };
    Error::Device(format!("{algorithm} sorts on NVIDIA GPUs only; {why}").into())
}

fn count_of(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Number and name of a GPU.
fn gpu_name(number: u32) -> String {
    let devices = gpu::devices().unwrap_or_default();
    let found = devices
        .into_iter()
        .find(|device| device.number == number);
    found.map_or(format!("cuda:{number}"), |device| {
        format!("cuda:{number} {}", device.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    fn on_cpu() -> Options {
        Options::new().device(Device::Cpu).threads(2)
    }

    #[test]
    fn the_cpu_sorts_as_libsais_does() {
        for algorithm in [PaperAlgorithm::Default, PaperAlgorithm::Bsp] {
            let mut sorter = PaperSorter::new(algorithm, &on_cpu()).unwrap();
            assert!(!sorter.is_on_gpu());
            for (name, text) in cases::shapes(2500)
                .iter()
                .filter(|(_, text)| !text.is_empty())
            {
                let measured = sorter.sort(text).unwrap();
                assert!(
                    measured.bwt == sort_by_libsais(text).unwrap(),
                    "{algorithm}: {name}"
                );
                assert!(measured.kernels.is_none() && measured.memory.is_none());
            }
        }
    }

    #[test]
    fn any_number_of_processors_gives_the_same() {
        let text = cases::text(3000);
        let expected = sort_by_libsais(&text).unwrap();
        for count in [0, 1, 5, 16] {
            let sorter = PaperSorter::new(PaperAlgorithm::Bsp, &on_cpu()).unwrap();
            let mut sorter = sorter.processors(count);
            assert!(
                sorter.sort(&text).unwrap().bwt == expected,
                "{}",
                sorter.place()
            );
        }
    }

    #[test]
    fn refusals_say_what_to_do() {
        for algorithm in [
            PaperAlgorithm::Skew,
            PaperAlgorithm::SkewPd,
            PaperAlgorithm::Ls,
        ] {
            let end = PaperSorter::new(algorithm, &on_cpu()).unwrap_err();
            let said = end.to_string();
            assert!(
                matches!(end, Error::Device(_)) && said.contains("auto or cuda"),
                "{said}"
            );
        }
        let mut sorter = PaperSorter::new(PaperAlgorithm::Bsp, &on_cpu().memory(1 << 20)).unwrap();
        assert!(matches!(sorter.sort(&[7; 6000]), Err(Error::Limit { .. })));
        assert!(matches!(sorter.sort(b""), Err(Error::Usage(_))));
        assert!(matches!(sort_by_libsais(b""), Err(Error::Usage(_))));
    }

    #[test]
    fn a_gpu_sorts_as_libsais_does() {
        if gpu::testing::gpu().is_none() {
            return;
        }
        for algorithm in PaperAlgorithm::ALL {
            let mut sorter = PaperSorter::new(algorithm, &Options::new()).unwrap();
            let text = cases::text(400_000);
            let measured = sorter.sort(&text).unwrap();
            assert!(
                measured.bwt == sort_by_libsais(&text).unwrap(),
                "{algorithm}"
            );
            assert!(sorter.is_on_gpu() && measured.kernels.is_some() && measured.memory.is_some());
        }
    }
}
