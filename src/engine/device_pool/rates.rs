//! The speed of a kind of work, and the time to open a GPU. Speeds begin as guesses, and
//! measurements weigh more and more.

use crate::gpu;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

/// A kind of work on blocks, and its speeds. The unit of work is a byte of a block, or another unit
/// that the pool's user counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// The CPU's activity if a GPU fails, for the warning.
    pub verb: &'static str,
    /// Speed of one thread at coding or decoding a block. The CPU does this for the blocks of
    /// either device, unless `whole` is true.
    pub code: Rate,
    /// True if a GPU that does this work codes or decodes the block too.
    pub whole: bool,
    /// True if blocks come in a stream: many more may follow those that have come.
    pub stream: bool,
    /// True if threads of the CPU divide a block among them without loss.
    pub divided: bool,
    /// Speed of one thread of the CPU at this work.
    pub cpu: Rate,
    /// Speed of one lease of a GPU that several leases share.
    pub gpu: Rate,
    /// Maximum block size for a GPU. Larger blocks are done on the CPU.
    pub most: u64,
}

impl Rates {
    pub(crate) const SORT: Rates = Rates {
        verb: "sorting",
        code: Rate {
            bytes: 20e6,
            seconds: 1.0,
        },
        whole: true,
        stream: true,
        divided: false,
        cpu: Rate {
            bytes: 20e6,
            seconds: 1.0,
        },
        gpu: Rate {
            bytes: 10e6,
            seconds: 0.01,
        },
        most: gpu::MOST_SORTED as u64,
    };

    pub(crate) const INVERT: Rates = Rates {
        verb: "restoring",
        code: Rate {
            bytes: 40e6,
            seconds: 1.0,
        },
        whole: true,
        stream: true,
        divided: false,
        cpu: Rate {
            bytes: 60e6,
            seconds: 1.0,
        },
        gpu: Rate {
            bytes: 10e6,
            seconds: 0.005,
        },
        most: gpu::MOST_INVERTED,
    };

    /// Rates in coded bytes of searched blocks. Their slices are decoded and nothing more. The time
    /// depends on the number of runs, and so does the coded size, in DNA as in source code.
    pub(crate) const DECODE: Rates = Rates {
        whole: true,
        cpu: Rate {
            bytes: 13e6,
            seconds: 1.0,
        },
        gpu: Rate {
            bytes: 10e6,
            seconds: 0.016,
        },
        ..Rates::SEARCH
    };

    /// Rates in symbols of patterns. All threads take part in each search on the CPU.
    pub(crate) const SEARCH: Rates = Rates {
        verb: "searching",
        code: Rate {
            bytes: 1.0,
            seconds: 0.0,
        },
        whole: false,
        stream: false,
        divided: true,
        cpu: Rate {
            bytes: 20e6,
            seconds: 1.0,
        },
        gpu: Rate {
            bytes: 1e9,
            seconds: 0.2,
        },
        most: u64::MAX,
    };

    /// Rates in bytes of a text whose suffix array and LCP array are built.
    pub(crate) const LCP: Rates = Rates {
        verb: "sorting",
        divided: false,
        cpu: Rate {
            bytes: 10e6,
            seconds: 1.0,
        },
        gpu: Rate {
            bytes: 10e6,
            seconds: 0.02,
        },
        most: gpu::MOST_NARROW as u64,
        ..Rates::SEARCH
    };

    /// Rates in queries.
    pub(crate) const EXTENSIONS: Rates = Rates {
        verb: "answering",
        cpu: Rate {
            bytes: 4e6,
            seconds: 1.0,
        },
        gpu: Rate {
            bytes: 100e6,
            seconds: 0.5,
        },
        ..Rates::SEARCH
    };
}

/// Seconds from the first call of the driver to a working GPU, on a machine with `gpus` GPUs. The
/// driver looks at all of them. Then the context, the kernels and the memory are set up.
pub(super) fn opens_in(gpus: usize) -> f64 {
    0.1 + 0.15 * gpus.max(1) as f64
}

/// Seconds from the first call of the driver to a working GPU, on this machine and now. The number
/// of GPUs comes from the operating system: asking the driver, which knows better, takes long.
pub(super) fn opens_here_in() -> f64 {
    match HAS_OPENED.load(Ordering::Relaxed) {
        true => opens_in(1),
        false => opens_in(fs::read_dir("/proc/driver/nvidia/gpus").map_or(0, Iterator::count)),
    }
}

/// True if a GPU was opened before. The driver then keeps it for this process.
pub(super) static HAS_OPENED: AtomicBool = AtomicBool::new(false);

/// Bytes done, and the seconds they took. The first of both are a guess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    bytes: f64,
    seconds: f64,
}

impl Rate {
    /// Adds a measurement.
    pub(crate) fn add(&mut self, bytes: u64, seconds: f64) {
        self.bytes += bytes as f64;
        self.seconds += seconds;
    }

    /// The seconds that `bytes` take.
    pub(crate) fn seconds(&self, bytes: f64) -> f64 {
        bytes * self.seconds / self.bytes
    }
}
