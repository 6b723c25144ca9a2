//! Suffix arrays and LCP arrays by their definitions, for tests.

use super::LcpArrays;

/// Number of leading bytes that both have in common.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter()
        .zip(b)
        .take_while(|(a, b)| a == b)
        .count()
}

/// The suffixes sorted as strings, and the common prefixes of neighbours.
pub(super) fn arrays(text: &[u8]) -> LcpArrays {
    let mut suffixes: Vec<u32> = (0..text.len() as u32).collect();
    suffixes.sort_by_key(|&pos| &text[pos as usize..]);
    let lcp = (0..suffixes.len()).map(|row| match row {
        0 => 0,
        _ => common(
            &text[suffixes[row - 1] as usize..],
            &text[suffixes[row] as usize..],
        ) as u32,
    });
    LcpArrays {
        lcp: lcp.collect(),
        suffixes,
    }
}
