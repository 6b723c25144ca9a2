//! How long sorting and inverting take: a guess to begin with, and what is measured counts more
//! with every block.

/// What is done to blocks, and how fast.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// What the CPU does where a GPU fails.
    pub verb: &'static str,
    /// Bytes a second that one thread gets through all stages of the pipeline, this one included.
    pub whole: f64,
    /// One thread of a CPU.
    pub cpu: Pace,
    /// A sorter on a GPU, of those that share it.
    pub gpu: Pace,
}

impl Work {
    pub const SORTING: Work = Work {
        verb: "sorting",
        whole: 10e6,
        cpu: Pace { bytes: 20e6, seconds: 1.0 },
        gpu: Pace { bytes: 100e6, seconds: 0.2 },
    };

    pub const INVERTING: Work = Work {
        verb: "restoring",
        whole: 30e6,
        cpu: Pace { bytes: 150e6, seconds: 1.0 },
        gpu: Pace { bytes: 100e6, seconds: 0.1 },
    };
}

/// Bytes done, and the seconds that took. The first of them are made up.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    bytes: f64,
    seconds: f64,
}

impl Pace {
    /// Adds what was measured.
    pub fn add(&mut self, bytes: u64, seconds: f64) {
        self.bytes += bytes as f64;
        self.seconds += seconds;
    }

    /// The seconds that so many bytes take.
    pub fn seconds(&self, bytes: u64) -> f64 {
        bytes as f64 * self.seconds / self.bytes
    }
}
