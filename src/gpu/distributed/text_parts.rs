//! How a text, its ranks and its rows lie on several GPUs: in parts of one size, of which the last
//! ones may be smaller or empty.

use std::ops::Range;

/// The parts of so many items, bytes or rows, on several GPUs.
#[derive(Clone, Copy, Debug)]
pub struct TextParts {
    n: u64,
    size: u64,
}

impl TextParts {
    pub fn new(n: u64, gpus: usize) -> Self {
        TextParts { n, size: n.div_ceil(gpus as u64).max(1) }
    }

    /// All items.
    pub fn len(self) -> u64 {
        self.n
    }

    /// Items of a whole part: GPU i / size holds item i.
    pub fn size(self) -> u64 {
        self.size
    }

    /// The items of a GPU.
    pub fn range(self, gpu: usize) -> Range<u64> {
        let border = |gpu: u64| gpu.saturating_mul(self.size).min(self.n);
        border(gpu as u64)..border(gpu as u64 + 1)
    }

    /// How many that are.
    pub fn part_len(self, gpu: usize) -> u64 {
        let range = self.range(gpu);
        range.end - range.start
    }
}
