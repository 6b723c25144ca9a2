//! Generates text like a genome, of any size. The same arguments give the same bytes.
//!
//! Half a genome is copies of other parts of it, most of them short and old.

#![allow(dead_code, reason = "each bench uses a part")]

/// The content of a text beside random bases. 41 % of the bases are G and C, as in the human
/// genome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Genome {
    /// No copies.
    Plain,
    /// Half of the text is copies from anywhere before, of 300 to 4000 bases with one base in 7
    /// changed. One copy in 50 is young: up to 100,000 bases with one in 1000 changed.
    Repeats,
    /// Half of the text is young copies: 100 to 5000 bases with one in 100 changed.
    Young,
}

impl Genome {
    /// The kind with this name.
    pub fn named(name: &str) -> Option<Genome> {
        match name {
            "plain" => Some(Genome::Plain),
            "repeats" => Some(Genome::Repeats),
            "young" => Some(Genome::Young),
            _ => None,
        }
    }

    /// A text of `size` bases.
    pub fn text(self, size: usize) -> Vec<u8> {
        let bases = bases();
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut text: Vec<u8> = Vec::with_capacity(size + 200_000);
        while text.len() < size {
            for _ in 0..1 + random.below(1000) {
                let bits = random.next();
                text.extend([0, 16, 32, 48].map(|shift| bases[(bits >> shift) as usize & 0xFFFF]));
            }
            if text.len() > 100_000 {
                self.repeat(&mut text, &mut random);
            }
        }
        text.truncate(size);
        text
    }

    /// Appends a copy of an earlier part.
    fn repeat(self, text: &mut Vec<u8>, random: &mut Random) {
        let (len, every) = match self {
            Genome::Plain => return,
            Genome::Repeats if random.below(50) == 0 => (1 + random.below(100_000), 1000),
            Genome::Repeats => (300 + random.below(3400), 7),
            // A fourth of the replaced bases get the same base again.
            Genome::Young => (100 + random.below(3800), 75),
        };
        let from = random.below(text.len() - len);
        copy(text, random, from, len, every);
    }
}

/// Bases in capitals, followed by copies of them up to `size`. In each copy, one base in 50 is
/// changed.
pub fn changed_copies(mut text: Vec<u8>, size: usize) -> Vec<u8> {
    assert!(!text.is_empty(), "there is nothing to copy");
    text.make_ascii_uppercase();
    let len = text.len();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    while text.len() < size {
        // A fourth of the replaced bases get the same base again.
        copy(&mut text, &mut random, 0, len, 37);
    }
    text.truncate(size);
    text
}

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

/// The base for each value of 16 random bits.
fn bases() -> Vec<u8> {
    let base = |bits: usize| match (bits * 1000) >> 16 {
        0..295 => b'A',
        295..500 => b'C',
        500..705 => b'G',
        _ => b'T',
    };
    (0..1 << 16).map(base).collect()
}

/// Appends a copy of `len` bases from `from` on. About one base in `every` is replaced.
fn copy(text: &mut Vec<u8>, random: &mut Random, from: usize, len: usize, every: usize) {
    let start = text.len();
    text.extend_from_within(from..from + len);
    let mut at = start + random.below(2 * every);
    while at < text.len() {
        text[at] = b"ACGT"[random.below(4)];
        at += 1 + random.below(2 * every);
    }
}
