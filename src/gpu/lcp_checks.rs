//! Checks of LCP arrays on a GPU, which the tests of each sort call. The arrays are compared with
//! those of libsais.

use super::gpu_lcp::GpuLcpSorter;
use super::interface::LcpRows;
use super::lcp_chunk::LcpChunk;
use crate::base::error::Result;
use libsais::SuffixArrayConstruction;

/// The suffix array and the LCP array by libsais.
pub(crate) fn expected(text: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let sa = SuffixArrayConstruction::for_text(text)
        .in_owned_buffer32()
        .single_threaded()
        .run();
    let permuted = sa
        .unwrap()
        .plcp_construction()
        .single_threaded()
        .run()
        .unwrap();
    let lcp = permuted
        .lcp_construction()
        .single_threaded()
        .run()
        .unwrap();
    let unsigned = |all: &[i32]| all.iter().map(|n| n.cast_unsigned()).collect();
    (unsigned(lcp.suffix_array()), unsigned(lcp.lcp()))
}

/// Distance from each position to the next byte below `least`.
pub(crate) fn pieces(text: &[u8], least: u8) -> Vec<u32> {
    let mut pieces = vec![0; text.len()];
    let mut length = 0;
    for (piece, &byte) in pieces.iter_mut().zip(text).rev() {
        length = if byte < least { 0 } else { length + 1 };
        *piece = length;
    }
    pieces
}

/// All rows in the order in which they arrive: first those of the suffix array.
pub(crate) fn all_rows(
    sorter: &mut GpuLcpSorter,
    n: usize,
    least: u8,
) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut suffixes = vec![0; n];
    let mut lcp = vec![0; n];
    let mut next = 0;
    sorter.sort_input(least, |chunk| {
        let (first, len) = match chunk {
            LcpChunk::Suffixes { first, suffixes } => (first, suffixes.len()),
            LcpChunk::Packed { first, len, .. } => (first, len),
            LcpChunk::Lcp { first, bytes, .. } => (n + first, bytes.len()),
        };
        assert_eq!(first, next);
        next += len;
        chunk.write(&mut suffixes, &mut lcp)
    })?;
    assert_eq!(next, 2 * n);
    Ok((suffixes, lcp))
}

/// Compares all rows, and the wanted ones, with the expected ones.
pub(crate) fn check(sorter: &mut GpuLcpSorter, name: &str, text: &[u8], least: u8) {
    let (suffixes, mut lcp) = expected(text);
    let pieces = pieces(text, least);
    for (lcp, &pos) in lcp.iter_mut().zip(&suffixes) {
        *lcp = pieces[pos as usize].min(*lcp);
    }
    sorter
        .input(text.len())
        .unwrap()
        .copy_from_slice(text);
    let found = all_rows(sorter, text.len(), least).unwrap();
    assert!(
        found.0 == suffixes,
        "{name}, {} bytes: suffixes",
        text.len()
    );
    assert!(
        found.1 == lcp,
        "{name}, {} bytes, from {least}: LCP",
        text.len()
    );

    let border = text.len() as u32 / 2;
    let is_across = |row: usize| (suffixes[row] < border) != (suffixes[row - 1] < border);
    let longest = (1..text.len())
        .filter(|&row| is_across(row))
        .map(|row| lcp[row])
        .max();
    let wanted = [
        (LcpRows::AtLeast(0), 1),
        (LcpRows::AtLeast(20), 20),
        (LcpRows::LongestAcross(border), longest.unwrap_or(0).max(1)),
    ];
    for (wanted, length) in wanted {
        let next = |row: usize| lcp.get(row + 1).copied().unwrap_or(0);
        let rows = (0..lcp.len()).filter(|&row| lcp[row].max(next(row)) >= length);
        let (rows, of): (Vec<u32>, Vec<u32>) = rows.map(|row| (suffixes[row], lcp[row])).unzip();
        let found = sorter.select_rows(least, wanted).unwrap();
        assert!(
            found.suffixes == rows && found.lcp == of,
            "{name}: rows {wanted:?}"
        );
    }
}
