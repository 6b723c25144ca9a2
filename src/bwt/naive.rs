//! The transform straight from its definition, and the blocks on which every implementation is
//! tested.
//!
//! It is too simple to be wrong, and too slow for anything but tests: O(n^2 log n).

use super::{Bwt, cases};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Sorts the suffixes as strings. The empty suffix, that of the sentinel, comes first.
pub(super) fn sort(block: &[u8], sample_rate: u32) -> Bwt {
    let mut sa: Vec<usize> = (0..=block.len()).collect();
    sa.sort_by_key(|&pos| &block[pos..]);
    let row_of = |pos: usize| sa.iter().position(|&p| p == pos).unwrap() as u64;
    Bwt {
        bytes: sa
            .iter()
            .filter(|&&pos| pos > 0)
            .map(|&pos| block[pos - 1])
            .collect(),
        sample_rate,
        samples: (0..block.len())
            .step_by(sample_rate as usize)
            .map(row_of)
            .collect(),
    }
}

/// One LF step for each byte, each computed by counting. The rows must be those of a real
/// transform.
pub(super) fn invert(bwt: &Bwt) -> Vec<u8> {
    let primary = bwt.samples[0] as usize;
    let mut text = Vec::new();
    let mut row = 0;
    while row != primary {
        let at = if row < primary { row } else { row - 1 };
        let c = bwt.bytes[at];
        text.push(c);
        let smaller = bwt.bytes.iter().filter(|&&b| b < c).count();
        row = 1
            + smaller
            + bwt.bytes[..at]
                .iter()
                .filter(|&&b| b == c)
                .count();
    }
    text.reverse();
    text
}

/// Named test blocks, small enough for this module: all lengths up to 300, all shapes, and lengths
/// near those of lanes and samples.
pub(super) fn blocks() -> Vec<(String, Vec<u8>)> {
    let mut blocks: Vec<_> = (1..=300)
        .map(|len| (format!("random, {len} bytes"), cases::random(len, 256)))
        .collect();
    for border in [64, 128, 256, 512, 1024, 2048] {
        for len in border - 1..=border + 1 {
            blocks.push((format!("all equal, {len}"), vec![b'a'; len]));
            blocks.push((
                format!("ab repeated, {len}"),
                b"ab".repeat(len)[..len].to_vec(),
            ));
            blocks.push((format!("text, {len}"), cases::text(len)));
        }
    }
    blocks.extend(
        cases::shapes(2500)
            .into_iter()
            .filter(|(_, block)| !block.is_empty()),
    );
    blocks
}

/// Pools with the numbers of threads to test.
pub(super) fn pools() -> Vec<ThreadPool> {
    let pool = |threads| {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    [1, 2, 3, 7].map(pool).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banana() {
        let bwt = sort(b"banana", 2);
        assert_eq!(bwt.bytes, b"annbaa");
        assert_eq!(bwt.samples, [4, 6, 5]);
        assert_eq!(invert(&bwt), b"banana");
    }
}
