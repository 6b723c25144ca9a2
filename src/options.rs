//! What a caller may choose. Everything else follows from the input.

mod block_options;
mod letters;
mod search_options;

pub use letters::Letters;

use crate::coder::Effort;
use crate::device::{Device, GpuSet};
use crate::error::{Bound, Error, Result};
use crate::events::{Event, Listener};
use crate::memory::{self, Allowance, Plan, Space};
use crate::positions::NarrowLimits;
use crate::process_ranks::Ranks;
use std::thread;

/// The largest block that a frame may hold: sizes have 40 bits.
pub const MAX_BLOCK_SIZE: u64 = (1 << 40) - 1;

/// The largest number of threads that the command and the Python package accept.
pub const MAX_THREADS: usize = 1024;

/// Threads per core that may compute, and the number that may on a machine of few cores.
const THREADS_PER_CORE: usize = 4;
const THREADS_OF_SMALL_MACHINE: usize = 64;

/// Raw bytes that are worth one more thread.
const THREAD_WORK: u64 = 64 << 10;

/// The level that the command and [`Options::new`] start from.
pub const DEFAULT_LEVEL: u8 = 6;

/// The distance of the positions that an index keeps for
/// [`Archive::locate`](crate::Archive::locate), where nothing else is said. Such an index takes 1.4
/// % of the raw size or less, and what smaller slices cost on top.
pub const DEFAULT_SAMPLE_RATE: u32 = 256;

/// The largest such distance; without an index, or with one for counting alone, positions kept are
/// further apart.
pub(crate) const MAX_SAMPLE_RATE: u32 = 1 << 14;

/// Settings of compression and decompression.
///
/// Only the block size, where blocks are split, the effort and the index change what is written:
/// the same input with the same four gives the same bytes whatever the threads, the memory and the
/// device.
///
/// ```
/// let options = bwz::Options::new().level(9)?.threads(2).memory(4 << 30);
/// assert_eq!(options.block_size(), 256 << 20);
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    block_size: u64,
    /// What blocks end behind, if anything.
    pub(crate) separator: Option<u8>,
    threads: usize,
    memory: u64,
    /// Memory was asked for, so that blocks above those of the levels may take it.
    memory_asked: bool,
    output_limit: u64,
    space: Option<Space>,
    thread_space: u64,
    pub(crate) device: Device,
    /// The ranks that help, if there are any.
    pub(crate) ranks: Option<Ranks>,
    pub(crate) listener: Listener,
    pub(crate) index: Option<u32>,
    index_of_bytes: bool,
    pub(crate) require_sequences: bool,
    /// Whether a search by sequence tells small letters from capital ones.
    pub(crate) match_case: bool,
    /// Meaning of the letters of patterns there.
    pub(crate) letters: Letters,
    /// How many bytes of a match may differ from its pattern.
    pub(crate) max_mismatches: u8,
    pub(crate) effort: Effort,
    pub(crate) verify: bool,
    /// 0 where it is not known.
    pub(crate) input_size: u64,
    pub(crate) first_block_alone: bool,
    /// Which blocks have their positions in 32 bits; others only in tests.
    pub(crate) narrow: NarrowLimits,
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

impl Options {
    /// Level 6, one thread per core, half of this machine's (or its cgroup's) memory, any device.
    ///
    /// Where the system limits the address space or the private memory of this process, no more is
    /// used than that leaves now.
    #[must_use]
    pub fn new() -> Self {
        Options {
            block_size: level_block_size(DEFAULT_LEVEL),
            separator: None,
            threads: cores(),
            memory: memory::default_limit(),
            memory_asked: false,
            output_limit: u64::MAX,
            space: Space::of_process(),
            thread_space: memory::THREAD_SPACE,
            device: Device::Auto,
            ranks: None,
            listener: Listener::default(),
            index: None,
            index_of_bytes: false,
            require_sequences: false,
            match_case: false,
            letters: Letters::Nucleotides,
            max_mismatches: 0,
            effort: Effort::Default,
            verify: false,
            input_size: 0,
            first_block_alone: false,
            narrow: NarrowLimits::USUAL,
        }
    }

    /// Sets how many threads compute; 0 means one per core. Reading and writing take no part in the
    /// count.
    ///
    /// A number above [`Options::most_threads`] is reduced to that. One small block is worked on by
    /// fewer threads, one for each 64 KiB of it.
    ///
    /// ```
    /// let options = bwz::Options::new().threads(usize::MAX);
    /// let mut file = Vec::new();
    /// bwz::compress(&b"abc"[..], &mut file, &options)?;
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = match threads {
            0 => cores(),
            asked => asked.min(Options::most_threads()),
        };
        self
    }

    /// The largest number of threads that compute on this machine: four per core, or 64 if that is
    /// more, and never more than [`MAX_THREADS`].
    ///
    /// More would take memory and time from each other, and a process that starts thousands of them
    /// takes the machine from everybody else.
    #[must_use]
    pub fn most_threads() -> usize {
        (THREADS_PER_CORE * cores()).clamp(THREADS_OF_SMALL_MACHINE, MAX_THREADS)
    }

    /// Sets how many bytes of memory may be used; fewer blocks are then worked on at a time, by
    /// fewer threads below 16 MiB for each.
    ///
    /// Unless this is called, no block above 256 MiB (the largest level) or
    /// [`Options::block_size`], whichever is more, is decoded as a whole: a thousand bytes can
    /// claim to be a block of 1 TiB, which takes 7 TiB to restore.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self.memory_asked = true;
        self
    }

    /// Sets how many raw bytes may come out of one call, or of one [`Decoder`](crate::Decoder), at
    /// most. The block that would make more is [`Error::OutputLimit`] before memory is taken for
    /// it; what came before it is right and complete.
    ///
    /// ```
    /// let mut file = Vec::new();
    /// bwz::compress(&[0; 100_000][..], &mut file, &bwz::Options::new())?;
    ///
    /// let options = bwz::Options::new().limit_output(99_999); let end = bwz::decompress(&file[..],
    /// Vec::new(), &options); assert!(matches!(end, Err(bwz::Error::OutputLimit { needed: 100_000,
    /// allowed: 99_999, .. })));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn limit_output(mut self, bytes: u64) -> Self {
        self.output_limit = bytes;
        self
    }

    /// Sets how much address space a thread takes besides what it computes with: its stack, and
    /// what the host's allocator reserves for it. It matters only where that space is limited, as
    /// by `ulimit -v`; fewer threads are then used.
    ///
    /// With glibc it is 66 MiB, of which 64 are an arena, and 2 MiB after `mallopt(M_ARENA_MAX, 1)`
    /// and elsewhere.
    #[must_use]
    pub fn thread_space(mut self, bytes: u64) -> Self {
        self.thread_space = bytes;
        self
    }

    /// Sets where blocks are sorted and restored, and where indexed ones are decoded and searched
    /// for many patterns.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Lets other ranks help to sort blocks that one GPU has not the memory for, each with a GPU of
    /// its own. This process uses but the GPU of its rank then.
    #[must_use]
    pub fn ranks(mut self, ranks: Ranks) -> Self {
        self.device = Device::Cuda(GpuSet::one(ranks.gpu()));
        self.ranks = Some(ranks);
        self
    }

    /// Sets a function that is called with events: warnings, and the steps of each block. It is
    /// called from any thread, and the work waits for it.
    #[must_use]
    pub fn on_event(mut self, listen: impl Fn(Event) + Send + Sync + 'static) -> Self {
        self.listener = Listener::new(listen);
        self
    }

    /// Has the file carry an FM-index, by which it is searched without being decompressed.
    ///
    /// `sample_rate` is the distance of the positions kept for
    /// [`Archive::locate`](crate::Archive::locate), usually [`DEFAULT_SAMPLE_RATE`]: half of it
    /// makes the file larger by about 3 bytes per `sample_rate` bytes and locate twice as fast. At
    /// 0 the index is small and for counting alone.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is neither 0 nor a power of two in `8..=16384`.
    pub fn index(mut self, sample_rate: u32) -> Result<Self> {
        if sample_rate != 0
            && !(sample_rate.is_power_of_two() && (8..=MAX_SAMPLE_RATE).contains(&sample_rate))
        {
            return Err(Error::Usage(
                format!(
                    "sample rate {sample_rate} is neither 0 nor a power of two from 8 to 16384"
                )
                .into(),
            ));
        }
        self.index = Some(sample_rate);
        Ok(self)
    }

    /// Has an index be one of the bytes as they stand in any input. Without this, an input that is
    /// FASTA or FASTQ gets an index of its sequences, in which they are found across the ends of
    /// lines and in either case.
    ///
    /// ```
    /// use bwz::{DEFAULT_SAMPLE_RATE, Options};
    ///
    /// let options = Options::new().index(DEFAULT_SAMPLE_RATE)?.index_of_bytes(true);
    /// let mut file = Vec::new();
    /// bwz::compress(&b">chr1\nACGT\nACGT\n"[..], &mut file, &options)?;
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn index_of_bytes(mut self, of_bytes: bool) -> Self {
        self.index_of_bytes = of_bytes;
        self
    }

    /// Has an index of anything but sequences be an error: an input that is neither FASTA nor FASTQ
    /// is refused. Without this it gets an index of its bytes, with a warning if it begins like
    /// FASTA or FASTQ.
    #[must_use]
    pub fn require_sequences(mut self, required: bool) -> Self {
        self.require_sequences = required;
        self
    }

    /// Sets what coding may cost for what it saves.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// Has compression restore every block from its coded bytes, on the CPU, before it is written:
    /// the only check that finds what a faulty GPU does to a block, or memory after it was read.
    /// What fails it the CPU sorts and codes once more. It takes about as long as decompression,
    /// and 8 bytes of memory per byte of each block where that takes 6 otherwise.
    ///
    /// Has searches decode and check every block that they look into, as
    /// [`decompress`](crate::decompress()) does, its index included. Without this, a search by an
    /// index checks the checksums of the parts that it reads, and where it reads slices alone, that
    /// each holds the symbols that the index counts. That finds what storage or a wire has changed.
    /// An index that was made to lie, with checksums to match, is found out only by restoring its
    /// block.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Says how many bytes the input of [`compress`](crate::compress()) or
    /// [`decompress`](crate::decompress()) has, which need not be exact: with [`Device::Auto`],
    /// GPUs are opened for a large one before so much of it has come that they are worth it.
    /// Nothing that is written depends on it.
    #[must_use]
    pub fn input_size(mut self, bytes: u64) -> Self {
        self.input_size = bytes;
        self
    }

    /// Has [`decompress`](crate::decompress()) write the first block of a file before it begins
    /// with the next ones: nothing is decoded for an output that closes after a few lines.
    #[must_use]
    pub fn first_block_alone(mut self, alone: bool) -> Self {
        self.first_block_alone = alone;
        self
    }

    /// The threads and the memory to use.
    pub(crate) fn allowance(&self) -> Allowance {
        let (space, thread_space) = (self.space, self.thread_space);
        let mut allowed = Allowance::new(self.threads, self.memory, space, thread_space)
            .with_threads_for_memory();
        (allowed.narrow, allowed.checks) = (self.narrow, self.verify);
        allowed
    }

    /// These options with no more threads than work on `bytes` of raw data is worth.
    pub(crate) fn for_work(&self, bytes: u64) -> Options {
        let worth = usize::try_from(bytes.div_ceil(THREAD_WORK)).unwrap_or(usize::MAX);
        Options { threads: self.threads.min(worth.max(1)), ..self.clone() }
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.allowance().threads
    }

    pub(crate) fn memory_limit(&self) -> u64 {
        self.allowance().memory
    }

    /// How blocks of `raw_size` bytes are decoded.
    ///
    /// # Errors
    /// [`Error::Limit`] where not even one fits, or where it is so large that memory must be asked
    /// for.
    pub(crate) fn plan_to_decode(&self, raw_size: u64) -> Result<Plan> {
        self.plan(raw_size, Plan::to_decode)
    }

    /// How blocks of `raw_size` bytes are decoded that are searched by their transform.
    ///
    /// # Errors
    /// As [`Options::plan_to_decode`].
    pub(crate) fn plan_to_index(&self, raw_size: u64) -> Result<Plan> {
        self.plan(raw_size, Plan::to_index)
    }

    fn plan(&self, raw_size: u64, plan: impl Fn(u64, Allowance) -> Result<Plan>) -> Result<Plan> {
        let unasked = self.block_size.max(level_block_size(9));
        if raw_size <= unasked || self.memory_asked {
            return plan(raw_size, self.allowance());
        }
        let what = format!(
            "a block of {raw_size} bytes, above the {unasked} decoded unless memory is asked for"
        );
        let needed = |size| Plan::needed_to_decode(size, self.thread_count());
        let (needed, allowed) = (needed(raw_size), needed(unasked));
        Err(Error::Limit { what: what.into(), needed, allowed, by: Bound::Memory })
    }

    /// Checks that so many records may be listed. A small file may say that it has very many.
    ///
    /// # Errors
    /// [`Error::Limit`].
    pub(crate) fn check_records(&self, count: usize) -> Result<()> {
        // A record, and its name in the list and in the table of names, as long as most are.
        const RECORD: u64 = 256;
        let what = || format!("a list of {count} records");
        memory::check(count as u64 * RECORD, self.memory_limit(), what)
    }

    /// Checks that `what` may add `size` bytes to an output of `before`.
    pub(crate) fn check_output(
        &self,
        before: u64,
        size: u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let (needed, allowed) = (before.saturating_add(size), self.output_limit);
        if needed <= allowed {
            return Ok(());
        }
        Err(Error::OutputLimit { what: what().into(), needed, allowed })
    }

    /// Whether an index is one of sequences where there are any.
    pub(crate) fn looks_for_sequences(&self) -> bool {
        self.index.is_some() && !self.index_of_bytes
    }
}

/// Number of cores that this process may use.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Raw bytes per block at a level.
const fn level_block_size(level: u8) -> u64 {
    1 << (19 + level)
}
