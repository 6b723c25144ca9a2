//! Compares the sort of bwz with libsais. Also tests what a failing GPU leaves behind.

use super::*;
use crate::cases;
use crate::coder::{self, Coding};
use crate::gpu::sort_checks::{self, expected, transform};
use crate::gpu::testing::{gpu, lacks_memory, most_memory, random, say};

/// The sort of bwz, with memory for all its methods and without.
fn sorters() -> [(&'static str, GpuSorter); 2] {
    let scarce = GpuSorter::new(0).unwrap();
    scarce.make_scarce();
    [
        ("default", GpuSorter::new(0).unwrap()),
        ("default without memory", scarce),
    ]
}

#[test]
fn named_cases() {
    if gpu().is_some() {
        sort_checks::named_cases(&mut sorters());
    }
}

#[test]
fn borders() {
    if gpu().is_some() {
        sort_checks::borders(&mut sorters());
    }
}

#[test]
fn large_shapes() {
    if gpu().is_some() {
        sort_checks::large_shapes(&mut sorters());
    }
}

#[test]
fn every_kernel_once() {
    if gpu().is_some() {
        sort_checks::every_kernel_once(&mut sorters());
    }
}

#[test]
fn small_strings() {
    if gpu().is_some() {
        sort_checks::small_strings(&mut sorters());
    }
}

#[test]
fn a_failure_leaves_the_sorter_usable() {
    if gpu().is_some() {
        sort_checks::a_failure_leaves_the_sorter_usable(&mut sorters());
    }
}

/// `default` sorts texts with many repeats like `skew-pd`, unless the repeats are long or memory is
/// scarce.
#[test]
fn the_way_of_default() {
    if gpu().is_none() {
        return;
    }
    let phrases = cases::random(900_000, 26);
    let phrases: Vec<&[u8]> = phrases.chunks(60).collect();
    let order = random(20_000, phrases.len() as u64, 1);
    let phrases: Vec<u8> = order
        .into_iter()
        .flat_map(|n| phrases[n as usize])
        .copied()
        .collect();
    let texts = [
        cases::random(1_200_000, 26),
        phrases,
        cases::random(600_000, 26).repeat(2),
    ];
    for (text, repeated) in texts.iter().zip([false, true, false]) {
        let sa = expected(text);
        let memory = |scarce: bool| {
            let mut sorter = GpuSorter::new(0).unwrap();
            if scarce {
                sorter.make_scarce();
            }
            assert!(sorter.sort(text, 64).unwrap() == transform(text, &sa, 64));
            assert!(sorter.suffix_array(text).unwrap() == sa);
            sorter.report().memory / text.len()
        };
        let any = memory(false);
        let little = memory(true);
        assert_eq!(any > little, repeated, "{any} and {little} bytes");
    }
}

/// A BWT sorted and encoded on the device has the same slices as one encoded by the CPU.
#[test]
fn transforms_are_coded_where_they_are() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuSorter::new(0).unwrap();
    let mut encoder = BwtEncoder::new(0).unwrap();
    let mut blocks = 0;
    let limits = SliceLimits {
        runs: 3000,
        bytes: 1 << 24,
    };
    for (name, text) in cases::all()
        .iter()
        .filter(|(_, text)| !text.is_empty())
    {
        let sorted = sorter.sort(text, 64).unwrap();
        let expected = coder::encode_slices(&sorted.bytes, limits, Coding::StaticRans);
        sorter
            .input(text.len())
            .unwrap()
            .copy_from_slice(text);
        let (encoded, samples) = sorter
            .sort_and_encode(64, &mut encoder, limits)
            .unwrap();
        assert!(
            samples == sorted.samples && encoded.models == expected.models,
            "{name}"
        );
        let counts = text.iter().fold([0; 256], |mut counts, &byte| {
            counts[usize::from(byte)] += 1;
            counts
        });
        assert!(encoded.byte_counts == counts, "{name}: counts of bytes");
        assert!(encoded.raw_sizes == expected.raw_sizes, "{name}: slices");
        assert!(
            encoder.download(&encoded).unwrap() == expected.slices.concat(),
            "{name}: bytes"
        );
        blocks += 1;
    }
    say(format_args!("{blocks} blocks sorted and coded"));
}

/// Random bases, and in each `every`-th piece of them a run of up to 2^22 of one base or a copy
/// with a few changes.
fn bases(len: usize, every: usize) -> Vec<u8> {
    const PIECE: usize = 1 << 23;
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    };
    let mut text: Vec<u8> = Vec::with_capacity(len + 32);
    while text.len() < len {
        let bits = next();
        text.extend((0..32).map(|base| b"ACGT"[(bits >> (2 * base)) as usize & 3]));
    }
    text.truncate(len);
    for start in (PIECE..len).step_by(every * PIECE) {
        let size = (next() % (1 << (10 + next() % 13))) as usize;
        let size = size.min(len - start);
        if next() % 2 == 0 {
            text[start..start + size].fill(b'A');
        } else {
            let from = (next() % (start - size) as u64) as usize;
            text.copy_within(from..from + size, start);
            text[start..start + size]
                .iter_mut()
                .step_by(997)
                .for_each(|base| *base = b'C');
        }
    }
    text
}

/// Sorts a large text and inverts the result. Returns false if the GPU has too little memory.
fn is_sorted_right(sorter: &mut GpuSorter, text: &[u8], rate: u32) -> bool {
    sorter
        .input(text.len())
        .unwrap()
        .copy_from_slice(text);
    let sorted = sorter.sort_input(rate);
    if lacks_memory(&sorted) {
        return false;
    }
    let sorted = sorted.unwrap();
    let samples = crate::bwt::wide(sorted.samples.to_vec());
    let bwt = crate::bwt::Bwt {
        bytes: sorted.bytes.to_vec(),
        sample_rate: rate,
        samples,
    };
    assert!(crate::bwt::invert(bwt).unwrap() == text);
    true
}

/// Positions that need all 32 bits. A GPU with less memory sorts as large a block as it can.
#[test]
fn a_block_above_2_gib() {
    const LEN: u32 = (1 << 31) + 1_234_567;
    if gpu().is_none() {
        return;
    }
    let _alone = most_memory();
    let rate = 1 << 20;
    let mut sorter = GpuSorter::new(0).unwrap();
    let mut len = LEN;
    while let Err(e) = sorter.reserve(len, rate) {
        assert!(len > 1 << 28, "{e}");
        len -= len / 4;
    }
    // Repeats need memory beyond the reserved one. There are as many as the GPU has memory for.
    let is_sorted = [1, 4, 16, 64]
        .into_iter()
        .any(|every| is_sorted_right(&mut sorter, &bases(len as usize, every), rate));
    assert!(is_sorted, "the GPU lacks memory even for few repeats");
    say(format_args!(
        "{len} bytes; unresolved after each round: {:?}",
        sorter.report().rounds
    ));
}
