//! Text like a genome, of any size, on standard output: what blocks above 2 GiB are measured with.
//!
//!     cargo bench --bench dna -- 3100000000 repeats > /dev/shm/dna
//!
//! Half a genome is copies of other parts of it, most of them short and old. So with `repeats` half
//! of this text is: 300 to 4000 bases at a time, from anywhere before, of which one in 7 was
//! changed since; one copy in 50 is young, up to 100,000 bases with one in 1000 changed. What is
//! between, and with `plain` all of it, are random bases, 41 % of them G and C as in ours. The same
//! arguments give the same bytes.

use std::io::{self, Write};

/// xorshift64*, by S. Vigna.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 to `below` - 1.
    fn below(&mut self, below: usize) -> usize {
        ((u128::from(self.next()) * below as u128) >> 64) as usize
    }
}

/// What 16 bits of a random number are as a base.
fn bases() -> Vec<u8> {
    let base = |bits: usize| match (bits * 1000) >> 16 {
        0..295 => b'A',
        295..500 => b'C',
        500..705 => b'G',
        _ => b'T',
    };
    (0..1 << 16).map(base).collect()
}

/// Copies `len` bases from `from` on to the end, of which about one in `every` becomes another.
fn copy(text: &mut Vec<u8>, random: &mut Random, from: usize, len: usize, every: usize) {
    let start = text.len();
    text.extend_from_within(from..from + len);
    let mut at = start + random.below(2 * every);
    while at < text.len() {
        text[at] = b"ACGT"[random.below(4)];
        at += 1 + random.below(2 * every);
    }
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let size = arguments.first().and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let repeats = arguments.get(1).is_none_or(|word| word == "repeats");
    let (bases, mut random) = (bases(), Random(0x9E37_79B9_7F4A_7C15));
    let mut text: Vec<u8> = Vec::with_capacity(size + 200_000);
    while text.len() < size {
        for _ in 0..1 + random.below(1000) {
            let bits = random.next();
            text.extend([0, 16, 32, 48].map(|shift| bases[(bits >> shift) as usize & 0xFFFF]));
        }
        if repeats && text.len() > 100_000 {
            let (len, every) = match random.below(50) {
                0 => (1 + random.below(100_000), 1000),
                _ => (300 + random.below(3400), 7),
            };
            let from = random.below(text.len() - len);
            copy(&mut text, &mut random, from, len, every);
        }
    }
    text.truncate(size);
    io::stdout().lock().write_all(&text).expect("standard output takes it");
}
