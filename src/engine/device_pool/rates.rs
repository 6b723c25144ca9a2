//! How fast a kind of work is done, and a GPU opened: a guess to begin with, and what is measured
//! of work counts more and more.

use crate::gpu;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is done to blocks, and how fast. The unit of work is a byte of a block, or whatever else
/// the pool's user counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// What the CPU does where a GPU fails, for the warning.
    pub verb: &'static str,
    /// Of one thread in all that the CPU does to a block whoever does this work: coding, decoding.
    pub code: Rate,
    /// Whether a GPU that does this work codes or decodes the block too.
    pub whole: bool,
    /// Whether blocks come in a stream: there may be many more of them than have come.
    pub stream: bool,
    /// Whether threads of the CPU divide a block among them without loss.
    pub divided: bool,
    /// Of one thread of the CPU in this work.
    pub cpu: Rate,
    /// Of one lease of a GPU that several share.
    pub gpu: Rate,
    /// Larger blocks are done on the CPU.
    pub most: u64,
}

impl Rates {
    pub const SORT: Rates = Rates {
        verb: "sorting",
        code: Rate { bytes: 20e6, seconds: 1.0 },
        whole: true,
        stream: true,
        divided: false,
        cpu: Rate { bytes: 20e6, seconds: 1.0 },
        gpu: Rate { bytes: 10e6, seconds: 0.01 },
        most: gpu::MOST_SORTED as u64,
    };

    pub const INVERT: Rates = Rates {
        verb: "restoring",
        code: Rate { bytes: 40e6, seconds: 1.0 },
        whole: true,
        stream: true,
        divided: false,
        cpu: Rate { bytes: 60e6, seconds: 1.0 },
        gpu: Rate { bytes: 10e6, seconds: 0.005 },
        most: gpu::MOST_BYTES as u64,
    };

    /// In coded bytes of blocks that are searched, whose slices are decoded and nothing else is.
    /// Each run takes its time, in DNA as in sources, and its part of them.
    pub const DECODE: Rates = Rates {
        whole: true,
        cpu: Rate { bytes: 13e6, seconds: 1.0 },
        gpu: Rate { bytes: 10e6, seconds: 0.016 },
        ..Rates::SEARCH
    };

    /// In symbols of patterns. All threads take part in each search on the CPU.
    pub const SEARCH: Rates = Rates {
        verb: "searching",
        code: Rate { bytes: 1.0, seconds: 0.0 },
        whole: false,
        stream: false,
        divided: true,
        cpu: Rate { bytes: 20e6, seconds: 1.0 },
        gpu: Rate { bytes: 1e9, seconds: 0.2 },
        most: u64::MAX,
    };

    /// Of a text whose suffix array and LCP array are made.
    pub const LCP: Rates = Rates {
        verb: "sorting",
        divided: false,
        cpu: Rate { bytes: 10e6, seconds: 1.0 },
        gpu: Rate { bytes: 10e6, seconds: 0.02 },
        most: gpu::MOST_BYTES as u64,
        ..Rates::SEARCH
    };

    /// In queries.
    pub const EXTENSIONS: Rates = Rates {
        verb: "answering",
        cpu: Rate { bytes: 4e6, seconds: 1.0 },
        gpu: Rate { bytes: 100e6, seconds: 0.5 },
        ..Rates::SEARCH
    };
}

/// Seconds from the first call of the driver to a GPU that works, on a machine of so many: the
/// driver looks at them all; the context, the kernels, the memory.
pub(super) fn opens_in(gpus: usize) -> f64 {
    0.1 + 0.15 * gpus.max(1) as f64
}

/// The same on this machine, now. How many GPUs it has says its kernel: the driver, which knows
/// better, takes long to be asked.
pub(super) fn opens_here_in() -> f64 {
    match HAS_OPENED.load(Ordering::Relaxed) {
        true => opens_in(1),
        false => opens_in(fs::read_dir("/proc/driver/nvidia/gpus").map_or(0, Iterator::count)),
    }
}

/// Whether a GPU was opened before, which the driver then keeps for this process.
pub(super) static HAS_OPENED: AtomicBool = AtomicBool::new(false);

/// Bytes done and the seconds they took; the first of them are a guess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    bytes: f64,
    seconds: f64,
}

impl Rate {
    /// Adds a measurement.
    pub fn add(&mut self, bytes: u64, seconds: f64) {
        self.bytes += bytes as f64;
        self.seconds += seconds;
    }

    /// The seconds that `bytes` take.
    pub fn seconds(&self, bytes: f64) -> f64 {
        bytes * self.seconds / self.bytes
    }
}
