//! The code of an index's counts, FORMAT.md section 10.2: adaptive exp-Golomb numbers, with runs of
//! zeros, and without the row that follows from the others.
//!
//! A byte occurs about as often in a slice as in the slices before it, since neighbouring slices
//! have similar contexts. So the order of the code follows a running mean. About 5 % smaller than
//! planes of bytes compressed by zstd.

use super::field_bytes::ensure;
use crate::base::error::Flaw;

/// The mean at the start of a row.
const FIRST_MEAN: u64 = 16;

/// Maximum number of zeros before the one of a number.
const MOST_ZEROS: u32 = 31;

const WRONG: Flaw = Flaw("the index's counts are not valid");

/// The order of the code of the next count, from the mean of the counts before it.
fn order(mean: u64) -> u32 {
    (3 * mean / 4).max(1).ilog2()
}

/// Bits, the least significant first.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl BitWriter {
    /// Appends the low `count` bits of `bits`, at most 32. The others are 0.
    fn put(&mut self, bits: u64, count: u32) {
        self.pending |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// Appends a number of order `order`.
    fn number(&mut self, number: u64, order: u32) {
        let sum = number + (1 << order);
        let bits = sum.ilog2();
        self.put(0, bits - order);
        self.put(1, 1);
        self.put(sum & !(1 << bits), bits);
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}

/// Reads what [`BitWriter`] writes. Behind the last byte it reads zeros.
struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits read so far.
    at: usize,
}

impl BitReader<'_> {
    /// At least the next 57 bits.
    fn peek(&self) -> u64 {
        let from = self.at / 8;
        let word = match self.bytes.get(from..from + 8) {
            Some(eight) => u64::from_le_bytes(eight.try_into().expect("eight bytes")),
            None => {
                let mut eight = [0; 8];
                let left = self.bytes.get(from..).unwrap_or_default();
                eight[..left.len()].copy_from_slice(left);
                u64::from_le_bytes(eight)
            }
        };
        word >> (self.at % 8)
    }

    /// Reads a number of order `order`, which is at most 30.
    fn number(&mut self, order: u32) -> Result<u64, Flaw> {
        let zeros = self.peek().trailing_zeros();
        ensure(zeros <= MOST_ZEROS, WRONG.0)?;
        self.at += zeros as usize + 1;
        let bits = zeros + order;
        let low = self.low(bits);
        Ok((1 << bits) + low - (1 << order))
    }

    /// Reads `count` bits, at most 61.
    fn low(&mut self, count: u32) -> u64 {
        let first = count.min(32);
        let low = self.peek() & ((1 << first) - 1);
        self.at += first as usize;
        let more = count - first;
        let high = self.peek() & ((1 << more) - 1);
        self.at += more as usize;
        low | high << first
    }

    /// Fails unless all bytes were read and the bits after the last number are 0.
    fn finish(self) -> Result<(), Flaw> {
        let used = self.at.div_ceil(8) == self.bytes.len();
        ensure(
            used && (self.at.is_multiple_of(8) || self.peek() == 0),
            WRONG.0,
        )
    }
}

/// Appends the code of `rows`, each with one count per slice.
pub(crate) fn write(rows: &[&[u32]], out: &mut Vec<u8>) {
    let sum = |row: &&[u32]| row.iter().copied().map(u64::from).sum::<u64>();
    let largest = rows.iter().map(sum).max();
    let omitted = rows
        .iter()
        .position(|row| Some(sum(row)) == largest);
    let omitted = omitted.unwrap_or(0);
    out.push(omitted as u8);
    let mut bits = BitWriter::default();
    let others = rows.iter().enumerate();
    for (_, row) in others.filter(|&(n, _)| n != omitted) {
        write_row(row, &mut bits);
    }
    out.extend(bits.finish());
}

fn write_row(row: &[u32], bits: &mut BitWriter) {
    let mut mean = FIRST_MEAN;
    let mut least = 0;
    let mut rest = row;
    while let Some((&count, behind)) = rest.split_first() {
        rest = behind;
        bits.number(u64::from(count) - least, order(mean));
        mean = (mean + u64::from(count)) / 2;
        least = 0;
        if count == 0 && !rest.is_empty() {
            let zeros = rest
                .iter()
                .take_while(|&&count| count == 0)
                .count();
            bits.number(zeros as u64, 0);
            rest = &rest[zeros..];
            least = 1;
        }
    }
}

/// Reads the counts of `rows` bytes, at least 1, in slices of these sizes: row after row.
pub(super) fn read(code: &[u8], rows: usize, sizes: &[u32]) -> Result<Vec<u32>, Flaw> {
    let (&omitted, bytes) = code.split_first().ok_or(WRONG)?;
    let omitted = usize::from(omitted);
    ensure(omitted < rows, WRONG.0)?;
    let mut bits = BitReader { bytes, at: 0 };
    let mut left = sizes.to_vec();
    let mut counts = Vec::new();
    for n in 0..rows {
        let start = counts.len();
        if n == omitted {
            counts.extend_from_slice(sizes);
            continue;
        }
        read_row(&mut bits, sizes, &mut counts)?;
        for (left, count) in left.iter_mut().zip(&counts[start..]) {
            *left = left.checked_sub(*count).ok_or(WRONG)?;
        }
    }
    bits.finish()?;
    let start = omitted * sizes.len();
    counts[start..start + sizes.len()].copy_from_slice(&left);
    Ok(counts)
}

/// Appends a row with one count per slice.
/// Reads counts and writes them again.
pub(crate) fn again(code: &[u8], rows: usize, sizes: &[u32]) -> Result<Vec<u8>, Flaw> {
    ensure((1..=256).contains(&rows) && !sizes.is_empty(), WRONG.0)?;
    let counts = read(code, rows, sizes)?;
    let rows: Vec<&[u32]> = counts.chunks_exact(sizes.len()).collect();
    let mut out = Vec::new();
    write(&rows, &mut out);
    Ok(out)
}

fn read_row(bits: &mut BitReader, sizes: &[u32], counts: &mut Vec<u32>) -> Result<(), Flaw> {
    let mut mean = FIRST_MEAN;
    let mut least = 0;
    let mut rest = sizes;
    while let Some((&size, behind)) = rest.split_first() {
        rest = behind;
        let count = bits.number(order(mean))? + least;
        ensure(count <= u64::from(size), WRONG.0)?;
        counts.push(count as u32);
        mean = (mean + count) / 2;
        least = 0;
        if count == 0 && !rest.is_empty() {
            let zeros = bits.number(0)?;
            ensure(zeros <= rest.len() as u64, WRONG.0)?;
            counts.resize(counts.len() + zeros as usize, 0);
            rest = &rest[zeros as usize..];
            least = 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    fn coded(rows: &[Vec<u32>]) -> (Vec<u8>, Vec<u32>) {
        let mut out = Vec::new();
        let slices: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        write(&slices, &mut out);
        let size = |k: usize| rows.iter().map(|row| row[k]).sum();
        (out, (0..rows[0].len()).map(size).collect())
    }

    fn survive(rows: &[Vec<u32>]) -> Vec<u8> {
        let (bytes, sizes) = coded(rows);
        assert_eq!(read(&bytes, rows.len(), &sizes), Ok(rows.concat()));
        assert!(read(&[&bytes[..], &[0]].concat(), rows.len(), &sizes).is_err());
        bytes
    }

    #[test]
    fn counts_survive() {
        assert_eq!(survive(&[vec![512]]), [0]);
        survive(&[vec![0, 0, 0, 5], vec![3, 0, 0, 0], vec![0, 0, 7, 0]]);
        survive(&[vec![0; 9], vec![1; 9]]);
        survive(&[vec![(1 << 31) - 2, 0, 1], vec![1, 0, (1 << 31) - 3]]);
        let random = cases::random(8000, 5);
        for rows in [1, 2, 7, 200] {
            let row = |n: usize| {
                let of = random[n * 40..].chunks(4).take(10);
                of.map(|four| u32::from_le_bytes(four.try_into().unwrap()) >> (9 + n % 23))
                    .collect()
            };
            survive(&(0..rows).map(row).collect::<Vec<_>>());
        }
    }

    #[test]
    fn damage_is_noticed_or_keeps_the_sums() {
        let rows: Vec<Vec<u32>> = (0..5)
            .map(|n| (0..30).map(|k| n * k % 7).collect())
            .collect();
        let (bytes, sizes) = coded(&rows);
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            if let Ok(counts) = read(&bad, 5, &sizes) {
                let sum = |k: usize| (0..5).map(|n| counts[30 * n + k]).sum::<u32>();
                assert!((0..30).all(|k| sum(k) == sizes[k]), "bit {bit}");
            }
        }
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], 5, &sizes).is_err(), "cut to {cut}");
        }
    }
}
