//! Checks of suffix sorts on a GPU, which the tests of each sort call: suffix arrays, BWTs and
//! samples are compared with libsais.

use super::interface::SortedBlock;
use super::sorter::GpuSorter;
use super::testing::{random, say};
use crate::base::error::Error;
use crate::cases;
use libsais::SuffixArrayConstruction;

/// The suffix array by libsais.
pub(crate) fn expected(text: &[u8]) -> Vec<u32> {
    let sa = SuffixArrayConstruction::for_text(text)
        .in_owned_buffer32()
        .single_threaded()
        .run();
    sa.unwrap()
        .into_vec()
        .into_iter()
        .map(i32::cast_unsigned)
        .collect()
}

/// The BWT by its definition, from a suffix array.
pub(crate) fn transform(text: &[u8], sa: &[u32], rate: usize) -> SortedBlock {
    let n = text.len();
    let before = sa
        .iter()
        .filter(|&&p| p > 0)
        .map(|&p| text[p as usize - 1]);
    let mut samples = vec![0; n.div_ceil(rate)];
    for (row, &p) in (1..).zip(sa) {
        if (p as usize).is_multiple_of(rate) {
            samples[p as usize / rate] = row;
        }
    }
    SortedBlock {
        bytes: std::iter::once(text[n - 1])
            .chain(before)
            .collect(),
        samples,
    }
}

fn check(sorters: &mut [(&str, GpuSorter)], name: &str, text: &[u8], with_bwt: bool) {
    let sa = expected(text);
    for (algorithm, sorter) in sorters {
        let got = sorter.suffix_array(text).unwrap();
        assert!(got == sa, "{algorithm}: {name}, {} bytes", text.len());
        if with_bwt {
            let sorted = sorter.sort(text, 64).unwrap();
            assert!(
                sorted == transform(text, &sa, 64),
                "{algorithm}: transform of {name}"
            );
        }
    }
}

pub(crate) fn named_cases(sorters: &mut [(&str, GpuSorter)]) {
    let mut count = 0;
    for (name, text) in cases::all()
        .iter()
        .filter(|(_, text)| !text.is_empty())
    {
        check(sorters, name, text, true);
        count += sorters.len();
    }
    say(format_args!("{count} sorts"));
}

/// Sizes around those of tiles, and around those that fill a GPU.
pub(crate) fn borders(sorters: &mut [(&str, GpuSorter)]) {
    let mut count = 0;
    for border in [
        128, 384, 768, 1280, 1536, 2048, 2560, 4096, 12_288, 152_064, 506_880,
    ] {
        for size in border - 1..=border + 1 {
            let texts = [cases::text(size), cases::fibonacci(size), vec![0; size]];
            for (n, text) in texts.iter().enumerate() {
                check(sorters, &format!("border text {n}"), text, true);
                count += 2 * sorters.len();
            }
        }
    }
    say(format_args!("{count} sorts"));
}

pub(crate) fn large_shapes(sorters: &mut [(&str, GpuSorter)]) {
    let mut count = 0;
    for (name, text) in cases::shapes(3_000_000)
        .iter()
        .filter(|(_, text)| text.len() > 300)
    {
        check(sorters, name, text, false);
        count += sorters.len();
    }
    say(format_args!("{count} sorts"));
}

/// The fewest and smallest texts that go through every kernel, for the tools of
/// `compute-sanitizer`.
pub(crate) fn every_kernel_once(sorters: &mut [(&str, GpuSorter)]) {
    let cycle = |word: &[u8], len| {
        word.iter()
            .copied()
            .cycle()
            .take(len)
            .collect::<Vec<u8>>()
    };
    let texts = [
        cases::text(1500),
        cases::fibonacci(700),
        cycle(b"a", 600),
        cycle(&cases::text(40), 4000),
        [
            cases::random(500, 4),
            cases::random(500, 4),
            cases::text(500),
        ]
        .concat(),
    ];
    for (n, text) in texts.iter().enumerate() {
        check(sorters, &format!("text {n}"), text, true);
    }
    say(format_args!("{} sorts", 2 * texts.len() * sorters.len()));
}

pub(crate) fn small_strings(sorters: &mut [(&str, GpuSorter)]) {
    let tries: u64 = std::env::var("BWZ_SMALL_STRINGS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300);
    for seed in 0..tries {
        let alphabet = seed % 4 + 1;
        let len = random(1, 80, seed)[0] as usize + 1;
        let text: Vec<u8> = random(len, alphabet, seed + 1)
            .into_iter()
            .map(|c| c as u8 * 85)
            .collect();
        check(sorters, "a small string", &text, false);
    }
    say(format_args!("{} sorts", tries * sorters.len() as u64));
}

pub(crate) fn a_failure_leaves_the_sorter_usable(sorters: &mut [(&str, GpuSorter)]) {
    let text = cases::text(50_000);
    for (name, sorter) in sorters {
        let whole = sorter.sort(&text, 64).unwrap();
        let mut failures = 0;
        loop {
            sorter.fail_after(failures);
            match sorter.sort(&text, 64) {
                Err(Error::Device(_)) => failures += 1,
                sorted => break assert_eq!(sorted.unwrap(), whole, "{name}"),
            }
        }
        assert!(failures >= 3, "{name} launched {failures} kernels");
        sorter.fail_after(u32::MAX);
        assert_eq!(sorter.sort(&text, 64).unwrap(), whole, "{name}");
    }
}
