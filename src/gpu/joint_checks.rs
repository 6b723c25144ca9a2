//! Helpers for tests of sorts by several GPUs: processors, expected results, short texts.

use super::interface::{SortedBlock, SortedText};
use super::joint_sorter::JointSorter;
use super::sort_checks;
use super::testing::random;
use crate::bwt;
use crate::cases;

/// Numbers of processors that are tested.
pub(crate) const PROCESSORS: [usize; 4] = [1, 2, 3, 4];

/// A sorter of `count` processors on the GPUs of the machine, in turn.
pub(crate) fn processors(count: usize) -> JointSorter {
    let gpus = crate::gpu::devices().unwrap().len();
    JointSorter::new(
        &(0..count)
            .map(|number| (number % gpus) as u32)
            .collect::<Vec<_>>(),
    )
    .unwrap()
}

/// The suffix array by libsais.
pub(crate) fn expected(text: &[u8]) -> Vec<u64> {
    bwt::wide(sort_checks::expected(text))
}

/// The BWT by its definition, from a suffix array.
pub(crate) fn transform(text: &[u8], sa: &[u64], rate: usize) -> SortedText {
    let sa: Vec<u32> = sa.iter().map(|&row| row as u32).collect();
    let SortedBlock { bytes, samples } = sort_checks::transform(text, &sa, rate);
    let samples = bwt::wide(samples);
    SortedText { bytes, samples }
}

/// A text of 1 to 80 bytes, of 1 to 4 different ones.
pub(crate) fn small_string(seed: u64) -> Vec<u8> {
    let numbers = random(82, 1 << 40, seed);
    let alphabet = numbers[0] % 4 + 1;
    let len = numbers[1] % 80 + 1;
    numbers[2..][..len as usize]
        .iter()
        .map(|n| (n % alphabet) as u8 * 85)
        .collect()
}

/// Calls `check` with the name and the text of each named case.
pub(crate) fn for_named_cases(mut check: impl FnMut(&str, &[u8])) {
    for (name, text) in &cases::all() {
        if !text.is_empty() {
            check(name, text);
        }
    }
}

/// Calls `check` with the name and the text of shapes of several sizes.
pub(crate) fn for_shapes(mut check: impl FnMut(&str, &[u8])) {
    for size in [2500, 40_000, 600_000] {
        for (name, text) in &cases::shapes(size) {
            if text.len() > 300 {
                check(name, text);
            }
        }
    }
}

/// Number of small strings that are tested: `BWZ_SMALL_STRINGS`, or 300.
pub(crate) fn small_strings() -> u64 {
    let tries = std::env::var("BWZ_SMALL_STRINGS");
    tries
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300)
}
