//! The options that a caller may choose. Everything else follows from the input.
//!
//! | file | job |
//! |---|---|
//! | `block_options` | the options that cut a stream into blocks |
//! | `frame_options` | the options of what a frame says about its content |
//! | `notes`, `content_check` | notes about a file; checks of a raw stream |
//! | `search_options` | the options of a search |
//! | `letters` | the meaning of a pattern's letters |
//! | `events` | what a caller hears: warnings, and the times of each step |
//! | `run` | the circumstances of one run, which are no choice |
//!
//! The other options are here.

mod block_options;
mod content_check;
pub(crate) mod events;
mod frame_options;
mod letters;
pub(crate) mod notes;
pub(crate) mod run;
mod search_options;

pub use content_check::StreamCheck;
pub use letters::Letters;
pub use notes::Note;

use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Result};
use crate::base::shortage;
use crate::base::system_limits;
use crate::coder::Effort;
use crate::gpu::process_ranks::Ranks;
use crate::options::events::{Event, Listener};
use crate::options::run::Run;
#[cfg(test)]
use std::sync::{Arc, Mutex};
use std::thread;

/// Maximum size of a block in bytes: a frame stores sizes in 40 bits.
pub const MAX_BLOCK_SIZE: u64 = (1 << 40) - 1;

/// Maximum number of threads that the command and the Python package accept.
pub const MAX_THREADS: usize = 1024;

/// Maximum number of computing threads per core.
const THREADS_PER_CORE: usize = 4;
/// Maximum number of computing threads on a machine with few cores.
const THREADS_OF_SMALL_MACHINE: usize = 64;

/// Raw bytes for which one more thread pays.
const THREAD_WORK: u64 = 64 << 10;

/// Level used by the command and by [`Options::new`] unless another is set.
pub const DEFAULT_LEVEL: u8 = 6;

/// Usual distance between the positions that an index keeps for
/// [`Archive::locate`](crate::Archive::locate), and the smallest that [`Options::searchable`]
/// chooses. The positions take at most 1.4 % of the raw size; the smaller slices that an index
/// needs cost some more.
pub const DEFAULT_SAMPLE_RATE: u32 = 256;

/// Maximum sample distance of an index that can locate. The samples of a block without an index, or
/// with one for counting alone, are further apart.
pub(crate) const MAX_SAMPLE_RATE: u32 = 1 << 14;

/// Settings of compression and decompression.
///
/// Only the block size, the separator at which blocks are split, the effort and the index change
/// the file: equal inputs with equal values of these four give equal bytes, for any number of
/// threads, any memory and any device.
///
/// ```
/// let options = bwz::Options::new().level(9)?.threads(2).memory(4 << 30);
/// assert_eq!(options.block_size(), 256 << 20);
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) block_size: u64,
    /// Byte behind which blocks end, if they are split at one.
    pub(crate) separator: Option<u8>,
    pub(crate) threads: usize,
    pub(crate) memory: u64,
    /// True if the caller set the memory, which allows blocks larger than those of the levels.
    pub(crate) memory_asked: bool,
    output_limit: u64,
    pub(crate) device: Device,
    pub(crate) index: Option<u32>,
    /// True if blocks that compress well keep fewer positions than the rate of the index says.
    pub(crate) spares_samples: bool,
    index_of_bytes: bool,
    pub(crate) require_sequences: bool,
    /// True if a search by sequence tells lower case from upper case.
    pub(crate) match_case: bool,
    /// True if a search by bytes takes ASCII letters in both cases.
    pub(crate) ignore_case: bool,
    /// Meaning of the letters of patterns in a search by sequence.
    pub(crate) letters: Letters,
    /// Maximum number of bytes in which a match may differ from its pattern.
    pub(crate) max_mismatches: u8,
    pub(crate) effort: Effort,
    pub(crate) verify: bool,
    pub(crate) trust_gpus: bool,
    /// The notes in the frame header.
    pub(crate) notes: Vec<Note>,
    pub(crate) content_size: Option<u64>,
    pub(crate) stream_check: StreamCheck,
    pub(crate) run: Run,
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

impl Options {
    /// Default options: level 6, one thread per core, half of the memory of this machine (or of its
    /// cgroup), any device.
    ///
    /// If the system limits the address space or the private memory of this process, the work stays
    /// within the part that is free now.
    #[must_use]
    pub fn new() -> Self {
        Options {
            block_size: level_block_size(DEFAULT_LEVEL),
            separator: None,
            threads: cores(),
            memory: system_limits::default_limit(),
            memory_asked: false,
            output_limit: u64::MAX,
            device: Device::Auto,
            index: None,
            spares_samples: false,
            index_of_bytes: false,
            require_sequences: false,
            match_case: false,
            ignore_case: false,
            letters: Letters::Nucleotides,
            max_mismatches: 0,
            effort: Effort::Default,
            verify: false,
            trust_gpus: false,
            notes: Vec::new(),
            content_size: None,
            stream_check: StreamCheck::default(),
            run: Run::new(),
        }
    }

    /// Sets the number of threads that compute; 0 means one per core. The threads that read and
    /// write are not counted.
    ///
    /// A number above [`Options::most_threads`] is reduced to it. A small block that comes alone is
    /// worked on by fewer threads, one for each 64 KiB of it.
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

    /// Maximum number of threads that compute on this machine: four per core, or 64 if that is
    /// more, and never more than [`MAX_THREADS`].
    ///
    /// More threads would compete for memory and time, and a process that starts thousands of them
    /// slows down every other process of the machine.
    #[must_use]
    pub fn most_threads() -> usize {
        (THREADS_PER_CORE * cores()).clamp(THREADS_OF_SMALL_MACHINE, MAX_THREADS)
    }

    /// Sets the memory limit in bytes. With less memory, fewer blocks are worked on at a time, and
    /// below 16 MiB for each thread there are fewer threads.
    ///
    /// Unless this is called, no block above 256 MiB (the largest level) or
    /// [`Options::block_size`], whichever is more, is decoded as a whole: a file of a thousand
    /// bytes can claim to hold a block of 1 TiB, which takes 7 TiB to restore.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self.memory_asked = true;
        self
    }

    /// Sets the maximum number of raw bytes that one call or one [`Decoder`](crate::Decoder) may
    /// produce. A block that would exceed it fails with [`Error::OutputLimit`] before memory is
    /// allocated for it. The output before that block is right and complete.
    ///
    /// ```
    /// let mut file = Vec::new();
    /// bwz::compress(&[0; 100_000][..], &mut file, &bwz::Options::new())?;
    ///
    /// let options = bwz::Options::new().limit_output(99_999);
    /// let end = bwz::decompress(&file[..], Vec::new(), &options).unwrap_err();
    /// assert!(matches!(end, bwz::Error::OutputLimit { needed: 100_000, allowed: 99_999, .. }));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn limit_output(mut self, bytes: u64) -> Self {
        self.output_limit = bytes;
        self
    }

    /// Sets the address space that a thread takes besides the memory it computes with, in bytes:
    /// its stack, and the space that the host's allocator reserves for it. This matters only if the
    /// address space is limited, as by `ulimit -v`; fewer threads are then used.
    ///
    /// With glibc it is 66 MiB, 64 MiB of which are an arena. After `mallopt(M_ARENA_MAX, 1)`, and
    /// with other allocators, it is 2 MiB.
    #[must_use]
    pub fn thread_space(mut self, bytes: u64) -> Self {
        self.run.thread_space = bytes;
        self
    }

    /// Sets the device on which blocks are sorted and restored, and on which indexed blocks are
    /// decoded and searched for many patterns.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Lets other ranks, each with a GPU of its own, help to sort blocks that do not fit in the
    /// memory of one GPU. This process then uses only the GPU of its rank.
    #[must_use]
    pub fn ranks(mut self, ranks: Ranks) -> Self {
        self.device = Device::Cuda(GpuSet::one(ranks.gpu()));
        self.run.ranks = Some(ranks);
        self
    }

    /// Sets a function that is called with events: warnings, and the steps of each block. Any
    /// thread may call it, and the work waits until it returns.
    #[must_use]
    pub fn on_event(mut self, listen: impl Fn(Event) + Send + Sync + 'static) -> Self {
        self.run.listener = Listener::new(listen);
        self
    }

    /// Options that keep the warnings, and the list that they keep them in.
    #[cfg(test)]
    pub(crate) fn hearing_warnings(mut self) -> (Self, Arc<Mutex<Vec<String>>>) {
        let (listener, warnings) = Listener::of_warnings();
        self.run.listener = listener;
        (self, warnings)
    }

    /// Adds an FM-index to the file, by which the file is searched without being decompressed. Each
    /// block keeps positions for [`Archive::locate`](crate::Archive::locate) at every
    /// [`DEFAULT_SAMPLE_RATE`]th byte, or fewer if they would take more than a twelfth of its other
    /// coded bytes, as in logs. [`Options::index`] sets the distance.
    ///
    /// ```
    /// use bwz::{Archive, Options};
    /// use std::io::Cursor;
    ///
    /// let mut file = Vec::new();
    /// bwz::compress(&b"GET /a 200\nGET /b 404\n"[..], &mut file, &Options::new().searchable())?;
    /// let mut archive = Archive::open(Cursor::new(file), &Options::new())?;
    /// assert_eq!(archive.count(&["GET"])?, [2]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn searchable(mut self) -> Self {
        self.index = Some(DEFAULT_SAMPLE_RATE);
        self.spares_samples = true;
        self
    }

    /// Adds an FM-index to the file, by which the file is searched without being decompressed.
    ///
    /// `sample_rate` is the distance between the positions kept for
    /// [`Archive::locate`](crate::Archive::locate), for example [`DEFAULT_SAMPLE_RATE`]. Halving
    /// it makes locate twice as fast and the file larger by about 3 bytes per `sample_rate` bytes.
    /// With 0 the index is small and can only count. [`Options::searchable`] chooses it.
    ///
    /// # Errors
    /// [`Error::Usage`] if `sample_rate` is neither 0 nor a power of two in `8..=16384`.
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
        self.spares_samples = false;
        Ok(self)
    }

    /// Indexes the bytes of any input as they are. Without this, FASTA or FASTQ input gets an index
    /// of its sequences, which are found across the ends of lines and in either case.
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

    /// Refuses an index of anything but sequences: input that is neither FASTA nor FASTQ is an
    /// error. Without this, such input gets an index of its bytes, with a warning if it begins like
    /// FASTA or FASTQ.
    #[must_use]
    pub fn require_sequences(mut self, required: bool) -> Self {
        self.require_sequences = required;
        self
    }

    /// Sets how much time coding may spend on a smaller file.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// Checks every block by restoring it on the CPU.
    ///
    /// Compression restores each block from its coded bytes on the CPU before it is written, and
    /// compares the CRC-32 of the restored bytes with that of the input. Without this, only what a
    /// GPU made is restored, on that GPU ([`Options::trust_gpus`]). This also finds errors of the
    /// CPU's own work: of the filters, of its sort and coding, and of memory after the block was
    /// read. A block that fails the check is sorted and coded once more on the CPU. The check takes
    /// about as long as decompression, and 8 bytes of memory per byte of each block if compression
    /// takes 6 without it.
    ///
    /// Searches decode and check every block that they look into, as
    /// [`decompress`](crate::decompress()) does, including its index. Without this, a search by an
    /// index checks the checksums of the parts that it reads; if it reads single slices, it also
    /// checks that each holds the symbols that the index counts. That finds changes made by storage
    /// or transmission. An index that was made wrong on purpose, with matching checksums, is found
    /// only by restoring its block.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Writes what a GPU made without restoring it first.
    ///
    /// Otherwise a GPU decodes and inverts each block that it sorted or coded, and the host
    /// compares the result with the block, byte by byte, before it is written. A block that differs
    /// is sorted and coded again on the CPU, with a warning, and no GPU is used any more. The file
    /// is the same either way.
    #[must_use]
    pub fn trust_gpus(mut self, trust_gpus: bool) -> Self {
        self.trust_gpus = trust_gpus;
        self
    }

    /// Sets the size of the input of [`compress`](crate::compress()) or
    /// [`decompress`](crate::decompress()) in bytes; an estimate is enough. With [`Device::Auto`],
    /// GPUs are then opened for a large input at once, instead of after enough of it has been read.
    /// The output does not depend on it.
    #[must_use]
    pub fn input_size(mut self, bytes: u64) -> Self {
        self.run.input_size = bytes;
        self
    }

    /// Makes [`decompress`](crate::decompress()) write the first block of a file before it starts
    /// the next ones, so that little is decoded for an output that is closed after a few lines.
    #[must_use]
    pub fn first_block_alone(mut self, alone: bool) -> Self {
        self.run.first_block_alone = alone;
        self
    }

    /// These options, with no more threads than pay for `bytes` of raw data.
    pub(crate) fn for_work(&self, bytes: u64) -> Options {
        let worth = usize::try_from(bytes.div_ceil(THREAD_WORK)).unwrap_or(usize::MAX);
        Options {
            threads: self.threads.min(worth.max(1)),
            ..self.clone()
        }
    }

    /// The threads that the caller asks for; there are fewer if memory is small.
    pub(crate) fn asked_threads(&self) -> usize {
        self.threads
    }

    /// Checks that `count` records may be listed. A small file may claim to have very many.
    ///
    /// # Errors
    /// [`Error::Limit`] if the list needs more than the memory limit.
    pub(crate) fn check_records(&self, count: usize) -> Result<()> {
        // Bytes of a record with its name in the list and in the table of names, for most names.
        const RECORD: u64 = 256;
        let what = || format!("a list of {count} records");
        shortage::check(count as u64 * RECORD, self.memory_limit(), what)
    }

    /// Checks that `what` may add `size` bytes to an output of `before` bytes.
    pub(crate) fn check_output(
        &self,
        before: u64,
        size: u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let needed = before.saturating_add(size);
        let allowed = self.output_limit;
        if needed <= allowed {
            return Ok(());
        }
        Err(Error::OutputLimit {
            what: what().into(),
            needed,
            allowed,
        })
    }

    /// True if FASTA and FASTQ input is to get an index of its sequences.
    pub(crate) fn looks_for_sequences(&self) -> bool {
        self.index.is_some() && !self.index_of_bytes
    }
}

/// Number of cores that this process may use.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Raw bytes per block at a level.
pub(crate) const fn level_block_size(level: u8) -> u64 {
    1 << (19 + level)
}
