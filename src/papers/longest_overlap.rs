//! The longest region that two sequences have in common, by the method of the paper, on one thread.
//!
//! Y. Zhong et al., *Solving the longest overlap region problem for noncoding DNA sequences with
//! GPU*, arXiv:1404.3448, 2014.
//!
//! # As in the paper
//! Both sequences are joined by a symbol that occurs in neither. The suffix array of the joined
//! text is built by DC3 (J. Karkkainen, P. Sanders and S. Burkhardt, *Linear work suffix array
//! construction*, 2006), which sorts triples and pairs by radix sort; the LCP array by T. Kasai et
//! al., *Linear-time longest-common-prefix computation*, 2001. Range minima of it then give the
//! longest common prefix of each suffix and the last one before it that begins in the other
//! sequence.
//!
//! # Different
//! The range minima are those of [`RangeMinima`], a sparse table over blocks of 64 values, and not
//! a Cartesian tree with lowest common ancestors. Nothing runs on a GPU here. The product's form,
//! on CPU or GPU, is [`overlap::longest_common`](crate::overlap::longest_common): it finds all
//! longest regions, on both strands, from neighbours in the suffix array alone, and bytes that are
//! no bases match nothing there. A test compares the two.
//!
//! # Figures
//! Two sequences of 1 million bases take 0.62 s, and 0.93 ms by the product on an H200
//! (kernels/README.md). Memory: 4 bytes per base for each of the symbols, the suffix array, the LCP
//! array and the rows, and as much again while DC3 works.

use super::dc3::dc3;
use crate::analysis::lcp::RangeMinima;
use crate::base::error::{Error, Result};
use crate::options::Options;

/// The longest region that two sequences have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongestOverlap {
    /// Its length in bytes.
    pub length: usize,
    /// Its start in the first sequence.
    pub in_first: usize,
    /// Its start in the second sequence.
    pub in_second: usize,
}

/// Number of symbols in the joined text: 0 behind its end, the border, and the bytes.
const SYMBOLS: usize = 258;
/// Symbol between the sequences.
const BORDER: u32 = 1;

/// Finds the longest region that two sequences have in common. If there are several, it is the one
/// whose suffixes come first in the suffix array.
///
/// ```
/// use bwz::papers::longest_overlap;
///
/// let found = longest_overlap(b"GGGATTACATTTC", b"CCGATTACAGG")?;
/// assert_eq!((found.length, found.in_first, found.in_second), (7, 2, 2));
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] for more than 2^31 - 2 bytes together, [`Error::Io`] if there is no memory.
pub fn longest_overlap(first: &[u8], second: &[u8]) -> Result<LongestOverlap> {
    let n = first.len() + second.len() + 1;
    if n > i32::MAX as usize {
        return Err(Error::Usage(
            "two sequences have up to 2^31 - 2 bytes together".into(),
        ));
    }
    let symbol = |&byte: &u8| u32::from(byte) + BORDER + 1;
    let mut text = Vec::with_capacity(n + 3);
    text.extend(first.iter().map(symbol));
    text.push(BORDER);
    text.extend(second.iter().map(symbol));
    let suffixes = dc3(text.clone(), SYMBOLS);
    let lcp = kasai(&text, &suffixes);
    let minima = RangeMinima::new(lcp, &Options::new().memory(u64::MAX))?;
    let mut last_rows = [None; 2];
    let mut found = LongestOverlap::default();
    for (row, &position) in suffixes.iter().enumerate() {
        let position = position as usize;
        let side = usize::from(position > first.len());
        last_rows[side] = Some(row);
        let Some(other) = last_rows[1 - side] else {
            continue;
        };
        let length = minima.least(other + 1..row + 1).unwrap_or(0) as usize;
        if length > found.length {
            let mut starts = [position, suffixes[other] as usize];
            starts.sort_unstable();
            let in_second = starts[1] - first.len() - 1;
            found = LongestOverlap {
                length,
                in_first: starts[0],
                in_second,
            };
        }
    }
    Ok(found)
}

/// The LCP array, by Kasai et al. The border ends a common prefix, since it occurs once.
fn kasai(text: &[u32], suffixes: &[u32]) -> Vec<u32> {
    let mut rows = vec![0; suffixes.len()];
    suffixes
        .iter()
        .zip(0..)
        .for_each(|(&pos, row)| rows[pos as usize] = row);
    let mut lcp = vec![0; suffixes.len()];
    let mut length = 0;
    for (pos, &row) in rows.iter().enumerate() {
        let row: usize = row;
        if row == 0 {
            length = 0;
            continue;
        }
        let before = suffixes[row - 1] as usize;
        while text
            .get(pos + length)
            .is_some_and(|symbol| text.get(before + length) == Some(symbol))
        {
            length += 1;
        }
        lcp[row] = length as u32;
        length = length.saturating_sub(1);
    }
    lcp
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::overlap::{Sequences, Strands, longest_common};
    use crate::cases;
    use proptest::prelude::*;

    /// The length of the longest region that the product finds.
    fn by_product(first: &[u8], second: &[u8]) -> usize {
        let mut a = Sequences::new();
        let mut b = Sequences::new();
        a.add(b"a", first).unwrap();
        b.add(b"b", second).unwrap();
        let found = longest_common(&a, &b, Strands::Forward, &Options::new()).unwrap();
        found
            .first()
            .map_or(0, |region| region.length as usize)
    }

    fn check(first: &[u8], second: &[u8]) {
        let found = longest_overlap(first, second).unwrap();
        assert_eq!(found.length, by_product(first, second));
        let region = &first[found.in_first..][..found.length];
        assert_eq!(region, &second[found.in_second..][..found.length]);
    }

    #[test]
    fn the_product_finds_the_same_length() {
        let bases = |len: usize| -> Vec<u8> {
            cases::random(len, 4)
                .into_iter()
                .map(|n| b"ACGT"[usize::from(n) % 4])
                .collect()
        };
        let first = bases(5000);
        let mut second = bases(7000);
        second[1000..3000].copy_from_slice(&first[2000..4000]);
        second[1700] = b'A';
        check(&first, &second);
        check(&[b'A'; 300], &[b'A'; 200]);
        check(b"", b"ACGT");
        check(b"A", b"C");
    }

    proptest! {
        #[test]
        fn short_sequences(first in "[ACGT]{0,40}", second in "[AC]{0,40}") {
            check(first.as_bytes(), second.as_bytes());
        }
    }
}
