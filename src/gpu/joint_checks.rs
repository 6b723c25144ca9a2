//! Helpers for tests of sorts by several GPUs: processors, expected results, short texts.

use super::interface::{SortedBlock, SortedText};
use super::joint_sorter::JointSorter;
use super::sort_checks;
use super::testing::random;
use crate::bwt;

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
    let SortedBlock { bytes, samples } = sort_checks::transform(text, &bwt::narrow(sa), rate);
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
