//! Helpers for tests of sorts by several GPUs: processors, expected results, short texts.

use super::interface::SortedText;
use super::joint_sorter::JointSorter;
use super::testing::random;
use libsais::SuffixArrayConstruction;

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
    let sa = SuffixArrayConstruction::for_text(text)
        .in_owned_buffer32()
        .single_threaded()
        .run();
    sa.unwrap()
        .into_vec()
        .into_iter()
        .map(|pos| u64::from(pos.cast_unsigned()))
        .collect()
}

/// The BWT by its definition, from a suffix array.
pub(crate) fn transform(text: &[u8], sa: &[u64], rate: usize) -> SortedText {
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
    SortedText {
        bytes: std::iter::once(text[n - 1])
            .chain(before)
            .collect(),
        samples,
    }
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
