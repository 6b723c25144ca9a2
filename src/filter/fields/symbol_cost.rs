//! Estimated cost of symbols: the entropy of repeated symbols, and the cost to spell each different
//! symbol once. It is in integers, the same on every machine.

/// Cost in sixteenths of a bit.
pub(super) type Cost = u64;
/// Cost of a byte.
pub(super) const BYTE: Cost = 8 * 16;

/// Cost to learn that a byte may follow another one, or occur at a place.
const LEARNT: Cost = 4 * 16;

/// Numbering of different symbols, by their hashes.
pub(super) struct Distinct {
    table: Vec<(u32, u32)>,
    next: u32,
}

impl Distinct {
    /// Creates a numbering of at most `most` symbols.
    pub(super) fn new(most: usize) -> Self {
        Distinct {
            table: vec![(0, u32::MAX); (most * 2).next_power_of_two().max(2)],
            next: 0,
        }
    }

    /// Returns the number of a symbol, which is the next number if the symbol is new.
    pub(super) fn number(&mut self, symbol: u32) -> u32 {
        let shift = 32 - self.table.len().ilog2();
        let mut at = (symbol.wrapping_mul(0x85EB_CA6B) >> shift) as usize;
        while self.table[at].1 != u32::MAX && self.table[at].0 != symbol {
            at = (at + 1) % self.table.len();
        }
        if self.table[at].1 == u32::MAX {
            self.table[at] = (symbol, self.next);
            self.next += 1;
        }
        self.table[at].1
    }
}

/// Values of at most this number of bytes have their pairs of bytes sorted. A table of counts is
/// larger.
const FEW: usize = 512;

/// Returns the cost per byte of different values, each byte predicted by the one before it.
pub(super) fn of_byte(values: &[&[u8]]) -> Cost {
    let size: usize = values.iter().map(|value| value.len() + 1).sum();
    let bits = if size <= FEW {
        of_few_pairs(values)
    } else {
        of_pairs(values)
    };
    bits.div_ceil(size.max(1) as u64)
}

/// Returns the cost of all bytes, each predicted by the one before it. Sorts the pairs of bytes.
fn of_few_pairs(values: &[&[u8]]) -> Cost {
    let mut pairs = Vec::with_capacity(FEW);
    for value in values {
        let mut before = b'\n';
        for &byte in value.iter().chain(b"\n") {
            pairs.push([before, byte]);
            before = byte;
        }
    }
    pairs.sort_unstable();
    let mut bits = 0;
    let mut known = 0;
    for behind in pairs.chunk_by(|one, next| one[0] == next[0]) {
        bits += bits_of(&[behind.len() as u32]);
        for pair in behind.chunk_by(|one, next| one == next) {
            bits -= bits_of(&[pair.len() as u32]);
            known += 1;
        }
    }
    bits + LEARNT * known
}

/// Does the same as [`of_few_pairs`] with a table of counts, for any number of bytes.
fn of_pairs(values: &[&[u8]]) -> Cost {
    const NO_ROW: u16 = u16::MAX;
    // For each byte that others follow, the number of times that each byte follows it.
    let mut row_of = [NO_ROW; 256];
    let mut rows = Vec::<[u32; 256]>::new();
    for value in values {
        let mut before = b'\n';
        for &byte in value.iter().chain(b"\n") {
            let row = &mut row_of[usize::from(before)];
            if *row == NO_ROW {
                *row = rows.len() as u16;
                rows.push([0; 256]);
            }
            rows[usize::from(*row)][usize::from(byte)] += 1;
            before = byte;
        }
    }
    let behind: Vec<u32> = rows.iter().map(|row| row.iter().sum()).collect();
    let pairs = rows.as_flattened();
    let known = pairs.iter().filter(|&&count| count > 0).count() as u64;
    bits_of(&behind) - bits_of(pairs) + LEARNT * known
}

/// Number of occurrences of each byte of coded numbers, by its place in the number.
#[derive(Default)]
pub(super) struct Places(Vec<[u32; 256]>);

impl Places {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if bytes.len() > self.0.len() {
            self.0.resize(bytes.len(), [0; 256]);
        }
        for (place, &byte) in self.0.iter_mut().zip(bytes) {
            place[usize::from(byte)] += 1;
        }
    }

    pub(super) fn cost(&self) -> Cost {
        let of_place = |counts: &[u32; 256]| {
            let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            let known = counts.iter().filter(|&&count| count > 0).count() as u64;
            all * log2(all) - bits_of(counts) + LEARNT * known
        };
        self.0.iter().map(of_place).sum()
    }
}

/// Returns the cost of symbols with these counts, without the cost to spell each once.
pub(super) fn cost(counts: &[u32]) -> Cost {
    let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let of_all = log2(all);
    let again = |&count: &u32| (u64::from(count) - 1) * (of_all - log2(count.into()).min(of_all));
    let known = counts.iter().filter(|&&count| count > 0).count() as u64;
    let repeated = counts.iter().filter(|&&count| count > 1);
    repeated.map(again).sum::<Cost>() + known * (of_all - log2(known))
}

fn bits_of(counts: &[u32]) -> Cost {
    // A single symbol costs nothing.
    let repeated = counts.iter().filter(|&&count| count > 1);
    repeated
        .map(|&count| u64::from(count) * log2(count.into()))
        .sum()
}

/// Returns the logarithm of `number`, 1 or more, in sixteenths. It is linear between powers of two.
pub(super) fn log2(number: u64) -> u64 {
    let whole = u64::from(number.max(1).ilog2());
    let of_whole = if whole < 60 {
        (number << 4) >> whole
    } else {
        number >> (whole - 4)
    };
    whole * 16 + of_whole - 16 * u64::from(number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_take_what_any_do() {
        let bytes: Vec<u8> = (0..700_u32)
            .map(|n| (n * n % 23 % 7) as u8 + b'\n')
            .collect();
        for len in 0..40 {
            let values: Vec<&[u8]> = bytes[..len * 17].chunks(1 + len % 5).collect();
            assert_eq!(of_few_pairs(&values), of_pairs(&values));
        }
    }

    #[test]
    fn logarithms_are_near() {
        for number in 1..5000_u64 {
            let exact = (number as f64).log2() * 16.0;
            assert!((log2(number) as f64 - exact).abs() < 2.5, "{number}");
        }
    }
}
