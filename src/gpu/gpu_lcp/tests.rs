//! Compares suffix arrays and LCP arrays with those of libsais, and tests what a failing GPU leaves
//! behind.

use super::*;
use crate::cases;
use crate::gpu::lcp_checks::{all_rows, check};
use crate::gpu::testing::{gpu, random, say};

#[test]
fn named_cases() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0).unwrap();
    let mut count = 0;
    for (name, text) in cases::all()
        .iter()
        .filter(|(_, text)| !text.is_empty())
    {
        check(&mut sorter, name, text, 0);
        check(&mut sorter, name, text, text[text.len() / 3]);
        count += 2;
    }
    say(format_args!("{count} LCP arrays"));
}

/// Long common prefixes that end in each step: within a thread's part, a warp's part, and each
/// window.
#[test]
fn long_prefixes() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0).unwrap();
    for (name, text) in cases::shapes(3_000_000)
        .iter()
        .filter(|(_, text)| text.len() > 300)
    {
        check(&mut sorter, name, text, 0);
    }
    for border in [
        64,
        4096,
        4096 + 4 * 16384,
        4096 + 68 * 16384,
        4096 + 1092 * 16384,
    ] {
        let word = cases::random(border + 5000, 256);
        // Each copy differs from the one before it one byte later.
        let copies = (0..6).flat_map(|n| [&word[..border - 3 + n], &[n as u8]].concat());
        check(
            &mut sorter,
            &format!("copies of {border}"),
            &copies.collect::<Vec<_>>(),
            0,
        );
    }
}

/// Few common prefixes are long, and some of them have breaks. So the first bytes of all rows are
/// compared, and ends are found only for the long ones.
#[test]
fn few_long_prefixes() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0).unwrap();
    for alphabet in [4, 256] {
        let word = cases::random(600_000, alphabet);
        let parts = [
            &word[..],
            &word[100..70_100],
            &[9],
            &word[5000..5100],
            &word[..40],
        ];
        let text = [&parts.concat()[..], &[200; 300]].concat();
        for least in [0, 1, 2, 201] {
            check(
                &mut sorter,
                &format!("few of {alphabet} symbols"),
                &text,
                least,
            );
        }
    }
}

#[test]
fn small_strings() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuLcpSorter::new(0).unwrap();
    for seed in 0..300 {
        let alphabet = seed % 4 + 1;
        let len = random(1, 80, seed)[0] as usize + 1;
        let text: Vec<u8> = random(len, alphabet, seed + 1)
            .into_iter()
            .map(|c| c as u8 * 85)
            .collect();
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
    let mut sorter = GpuLcpSorter::new(0).unwrap();
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
    let mut sorter = GpuLcpSorter::new(0).unwrap();
    let text = [cases::text(20_000), cases::text(20_000)].concat();
    let mut failures = 0;
    loop {
        sorter
            .input(text.len())
            .unwrap()
            .copy_from_slice(&text);
        sorter.fail_after(failures);
        match sorter.select_rows(1, LcpRows::AtLeast(20)) {
            Err(Error::Device(_)) => failures += 1,
            found => break assert!(!found.unwrap().lcp.is_empty()),
        }
    }
    assert!(failures >= 10, "{failures} kernels were launched");
    failures = 0;
    loop {
        sorter
            .input(text.len())
            .unwrap()
            .copy_from_slice(&text);
        sorter.fail_after(failures);
        match all_rows(&mut sorter, text.len(), 1) {
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
    let mut sorter = GpuLcpSorter::new(0).unwrap();
    let text = cases::text(5 << 20);
    for chunks in 0..6 {
        sorter
            .input(text.len())
            .unwrap()
            .copy_from_slice(&text);
        let mut left = chunks;
        let failed = sorter.sort_input(0, |_| {
            left -= 1;
            if left < 0 {
                Err(Error::Usage("enough".into()))
            } else {
                Ok(())
            }
        });
        assert!(matches!(failed, Err(Error::Usage(_))), "{chunks}");
    }
    check(&mut sorter, "after failures", &text, 0);
}
