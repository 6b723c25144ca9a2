//! Compares the sort of bwz with libsais. Also tests what a failing GPU leaves behind.

use super::*;
use crate::cases;
use crate::coder::{self, CodedBwt, Coding};
use crate::gpu::BwtDecoder;
use crate::gpu::sort_checks::{self, expected, transform};
use crate::gpu::testing::{gpu, lacks_memory, most_memory, random, say};
use std::ops::Range;

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

/// Sorts a large text. Returns its BWT, or `None` if the GPU has too little memory.
fn sorted_if_fits(sorter: &mut GpuSorter, text: &[u8], rate: u32) -> Option<crate::bwt::Bwt> {
    sorter
        .input(text.len())
        .unwrap()
        .copy_from_slice(text);
    let sorted = sorter.sort_input(rate);
    if lacks_memory(&sorted) {
        return None;
    }
    let sorted = sorted.unwrap();
    Some(crate::bwt::Bwt {
        bytes: sorted.bytes.to_vec(),
        sample_rate: rate,
        samples: crate::bwt::wide(sorted.samples.to_vec()),
    })
}

/// Positions that need all 32 bits: a block is sorted, coded and restored, and its slices are those
/// of the CPU. A GPU with less memory takes as large a block as it can.
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
    let sorted = [1, 4, 16, 64].into_iter().find_map(|every| {
        let text = bases(len as usize, every);
        let bwt = sorted_if_fits(&mut sorter, &text, rate)?;
        Some((text, bwt))
    });
    let (text, bwt) = sorted.expect("memory for few repeats");
    say(format_args!(
        "{len} bytes; unresolved after each round: {:?}",
        sorter.report().rounds
    ));
    let crate::bwt::Bwt { bytes, samples, .. } = bwt;
    let text = &text[..];
    let coded = coded_as_by_the_cpu(&mut sorter, text, rate, &bytes);
    drop(sorter);
    for inverse in [
        GpuInverse::new(0),
        GpuInverse::new(0).map(GpuInverse::with_wide_rows),
    ] {
        restores(inverse.unwrap(), text, &bytes, &coded, &samples, rate);
    }
}

/// Sorts a text again and encodes it on the GPU; the CPU encodes its BWT. Both give the same.
fn coded_as_by_the_cpu(sorter: &mut GpuSorter, text: &[u8], rate: u32, bwt: &[u8]) -> CodedBwt {
    let limits = SliceLimits::new(text.len(), coder::Effort::Default);
    let mut encoder = BwtEncoder::new(0).unwrap();
    sorter
        .reserve_encoder(&mut encoder, text.len() as u32, limits)
        .unwrap();
    assert_eq!(encoder.memory(), 0, "it works in the memory of the sort");
    sorter
        .input(text.len())
        .unwrap()
        .copy_from_slice(text);
    let began = Instant::now();
    let (encoded, _) = sorter
        .sort_and_encode(rate, &mut encoder, limits)
        .unwrap();
    let ended = encoded.ended;
    let coded = encoder.take(encoded, 8).unwrap();
    let [_, _, sorted, _] = sorter.report().times.unwrap();
    say(format_args!(
        "sorted in {:.3} s, coded in {:.3} s",
        (sorted - began).as_secs_f64(),
        (ended - sorted).as_secs_f64()
    ));
    let expected = coder::encode_slices(bwt, limits, Coding::StaticRans);
    assert!(coded == expected, "the slices of the CPU");
    coded
}

/// Inverts a BWT, coded and not, and compares the text.
fn restores(
    mut inverse: GpuInverse,
    text: &[u8],
    bwt: &[u8],
    coded: &CodedBwt,
    samples: &[u64],
    rate: u32,
) {
    let mut equal = 0;
    let mut compare = |range: Range<u64>, bytes: &[u8]| {
        equal +=
            usize::from(text[range.start as usize..range.end as usize] == *bytes) * bytes.len();
    };
    let fill = |range: Range<u64>, room: &mut [u8]| {
        room.copy_from_slice(&bwt[range.start as usize..range.end as usize]);
    };
    let from = Instant::now();
    inverse
        .invert_portions(bwt.len() as u64, rate, samples, fill, &mut compare)
        .unwrap();
    let inverted = Instant::now();
    let mut decoder = BwtDecoder::new(0).unwrap();
    let decoded = inverse
        .invert_coded_portions(&mut decoder, coded, rate, samples, &mut compare)
        .unwrap();
    let end = Instant::now();
    assert_eq!(equal, 2 * text.len());
    say(format_args!(
        "inverted in {:.3} s with copies; decoded in {:.3} s, inverted in {:.3} s; {:.1} bytes per byte",
        (inverted - from).as_secs_f64(),
        (decoded.unwrap() - inverted).as_secs_f64(),
        (end - decoded.unwrap()).as_secs_f64(),
        inverse.memory() as f64 / text.len() as f64
    ));
}
