//! How long sorting takes: a guess to begin with, and what is measured counts more with every block.

/// Bytes sorted, and the seconds that took. The first of them are made up.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    bytes: f64,
    seconds: f64,
}

impl Pace {
    /// One thread of a CPU.
    pub const CPU: Pace = Pace { bytes: 20e6, seconds: 1.0 };

    /// A sorter on a GPU, of those that share it.
    pub const GPU: Pace = Pace { bytes: 100e6, seconds: 0.2 };

    /// Adds what was measured.
    pub fn add(&mut self, bytes: u64, seconds: f64) {
        self.bytes += bytes as f64;
        self.seconds += seconds;
    }

    /// The seconds that sorting so many bytes takes.
    pub fn seconds(&self, bytes: u64) -> f64 {
        bytes as f64 * self.seconds / self.bytes
    }
}
