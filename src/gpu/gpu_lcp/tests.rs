//! Compares suffix arrays and LCP arrays with those of libsais, and tests what a failing GPU leaves
//! behind.

use super::*;
use crate::cases;
use crate::gpu::testing::{gpu, random, say};
use libsais::SuffixArrayConstruction;

/// The suffix array and the LCP array by libsais.
fn expected(text: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let sa = SuffixArrayConstruction::for_text(text).in_owned_buffer32().single_threaded().run();
    let permuted = sa.unwrap().plcp_construction().single_threaded().run().unwrap();
    let lcp = permuted.lcp_construction().single_threaded().run().unwrap();
    let unsigned = |all: &[i32]| all.iter().map(|n| n.cast_unsigned()).collect();
    (unsigned(lcp.suffix_array()), unsigned(lcp.lcp()))
}

/// Distance from each position to the next byte below `least`.
fn pieces(text: &[u8], least: u8) -> Vec<u32> {
    let mut pieces = vec![0; text.len()];
    let mut length = 0;
    for (piece, &byte) in pieces.iter_mut().zip(text).rev() {
        length = if byte < least { 0 } else { length + 1 };
        *piece = length;
    }
    pieces
}

/// All rows in the order in which they arrive: first those of the suffix array.
fn all_rows(sorter: &mut GpuLcpSorter, least: u8) -> Result<(Vec<u32>, Vec<u32>)> {
    let n = sorter.text.1;
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
fn check(sorter: &mut GpuLcpSorter, name: &str, text: &[u8], least: u8) {
    let (suffixes, mut lcp) = expected(text);
    let pieces = pieces(text, least);
    for (lcp, &pos) in lcp.iter_mut().zip(&suffixes) {
        *lcp = pieces[pos as usize].min(*lcp);
    }
    sorter.input(text.len()).unwrap().copy_from_slice(text);
    let found = all_rows(sorter, least).unwrap();
    assert!(found.0 == suffixes, "{name}, {} bytes: suffixes", text.len());
    assert!(found.1 == lcp, "{name}, {} bytes, from {least}: LCP", text.len());

    let border = text.len() as u32 / 2;
    let is_across = |row: usize| (suffixes[row] < border) != (suffixes[row - 1] < border);
    let longest = (1..text.len()).filter(|&row| is_across(row)).map(|row| lcp[row]).max();
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
        assert!(found.suffixes == rows && found.lcp == of, "{name}: rows {wanted:?}");
    }
}

#[test]
fn named_cases() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0, Algorithm::Default).unwrap();
    let mut count = 0;
    for (name, text) in cases::all().iter().filter(|(_, text)| !text.is_empty()) {
        check(&mut sorter, name, text, 0);
        check(&mut sorter, name, text, text[text.len() / 3]);
        count += 2;
    }
    say(format_args!("{count} LCP arrays"));
}

/// Every algorithm leaves the arrays from which comparisons start.
#[test]
fn every_algorithm() {
    if gpu().is_none() {
        return;
    }
    for (name, algorithm) in Algorithm::ALL {
        let mut sorter = GpuLcpSorter::new(0, algorithm).unwrap();
        for (case, text) in cases::shapes(5000).iter().filter(|(_, text)| !text.is_empty()) {
            check(&mut sorter, &format!("{name}: {case}"), text, 1);
        }
    }
}

/// Long common prefixes that end in each step: within a thread's part, a warp's part, and each
/// window.
#[test]
fn long_prefixes() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0, Algorithm::Default).unwrap();
    for (name, text) in cases::shapes(3_000_000).iter().filter(|(_, text)| text.len() > 300) {
        check(&mut sorter, name, text, 0);
    }
    for border in [64, 4096, 4096 + 4 * 16384, 4096 + 68 * 16384, 4096 + 1092 * 16384] {
        let word = cases::random(border + 5000, 256);
        // Each copy differs from the one before it one byte later.
        let copies = (0..6).flat_map(|n| [&word[..border - 3 + n], &[n as u8]].concat());
        check(&mut sorter, &format!("copies of {border}"), &copies.collect::<Vec<_>>(), 0);
    }
}

/// Few common prefixes are long, and some of them have breaks. So the first bytes of all rows are
/// compared, and ends are found only for the long ones.
#[test]
fn few_long_prefixes() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0, Algorithm::Default).unwrap();
    for alphabet in [4, 256] {
        let word = cases::random(600_000, alphabet);
        let parts = [&word[..], &word[100..70_100], &[9], &word[5000..5100], &word[..40]];
        let text = [&parts.concat()[..], &[200; 300]].concat();
        for least in [0, 1, 2, 201] {
            check(&mut sorter, &format!("few of {alphabet} symbols"), &text, least);
        }
    }
}

#[test]
fn small_strings() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0, Algorithm::Default).unwrap();
    for seed in 0..300 {
        let alphabet = seed % 4 + 1;
        let len = random(1, 80, seed)[0] as usize + 1;
        let text: Vec<u8> =
            random(len, alphabet, seed + 1).into_iter().map(|c| c as u8 * 85).collect();
        check(&mut sorter, "a small string", &text, (seed % 3) as u8);
    }
}

/// The fewest and smallest texts that go through every kernel, for the tools of
/// `compute-sanitizer`.
#[test]
fn every_lcp_kernel_once() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0, Algorithm::Default).unwrap();
    let texts = [cases::text(1500), cases::fibonacci(700), vec![b'a'; 90_000]];
    for (n, text) in texts.iter().enumerate() {
        check(&mut sorter, &format!("text {n}"), text, b'b');
        check(&mut sorter, &format!("text {n}"), text, 0);
    }
}

#[test]
fn a_failure_leaves_the_sorter_usable() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0, Algorithm::Default).unwrap();
    let text = [cases::text(20_000), cases::text(20_000)].concat();
    let mut failures = 0;
    loop {
        sorter.input(text.len()).unwrap().copy_from_slice(&text);
        sorter.fail_after(failures);
        match sorter.select_rows(1, LcpRows::AtLeast(20)) {
            Err(Error::Device(_)) => failures += 1,
            found => break assert!(!found.unwrap().lcp.is_empty()),
        }
    }
    assert!(failures >= 10, "{failures} kernels were launched");
    failures = 0;
    loop {
        sorter.input(text.len()).unwrap().copy_from_slice(&text);
        sorter.fail_after(failures);
        match all_rows(&mut sorter, 1) {
            Err(Error::Device(_)) => failures += 1,
            found => break assert_eq!(found.unwrap().1.len(), text.len()),
        }
    }
    assert!(failures >= 10, "{failures} kernels were launched");
    sorter.fail_after(u32::MAX);
    check(&mut sorter, "after failures", &text, 0);
}

/// The receiver may fail at any chunk, and the caller gets its error.
#[test]
fn a_receiver_that_fails_leaves_the_sorter_usable() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0, Algorithm::Default).unwrap();
    let text = cases::text(5 << 20);
    for chunks in 0..6 {
        sorter.input(text.len()).unwrap().copy_from_slice(&text);
        let mut left = chunks;
        let failed = sorter.sort_input(0, |_| {
            left -= 1;
            if left < 0 { Err(Error::Usage("enough".into())) } else { Ok(()) }
        });
        assert!(matches!(failed, Err(Error::Usage(_))), "{chunks}");
    }
    check(&mut sorter, "after failures", &text, 0);
}
