//! Compares every algorithm with libsais: suffix arrays, BWTs and samples. Also tests what a
//! failing GPU leaves behind.

use super::*;
use crate::cases;
use crate::coder::{self, Coding};
use crate::gpu::testing::{gpu, random, say};
use libsais::SuffixArrayConstruction;

/// Sorters of every algorithm, or of the one that `BWZ_ALGORITHM` names; also `default` without the
/// memory to choose `skew-pd`.
fn sorters() -> Vec<(&'static str, GpuSorter)> {
    let one = std::env::var("BWZ_ALGORITHM").ok();
    let all = Algorithm::ALL.into_iter().chain([(SCARCE, Algorithm::Default)]);
    let all = all.filter(|(name, _)| one.as_ref().is_none_or(|one| one == name));
    let sorter = |(name, algorithm)| {
        let sorter = GpuSorter::new(0, algorithm).unwrap();
        if name == SCARCE {
            sorter.make_scarce();
        }
        (name, sorter)
    };
    all.map(sorter).collect()
}

const SCARCE: &str = "default without memory";

fn expected(text: &[u8]) -> Vec<u32> {
    let sa = SuffixArrayConstruction::for_text(text).in_owned_buffer32().single_threaded().run();
    sa.unwrap().into_vec().into_iter().map(i32::cast_unsigned).collect()
}

/// The BWT by its definition, from a suffix array.
fn transform(text: &[u8], sa: &[u32], rate: usize) -> SortedBlock {
    let n = text.len();
    let before = sa.iter().filter(|&&p| p > 0).map(|&p| text[p as usize - 1]);
    let mut samples = vec![0; n.div_ceil(rate)];
    for (row, &p) in (1..).zip(sa) {
        if (p as usize).is_multiple_of(rate) {
            samples[p as usize / rate] = row;
        }
    }
    SortedBlock { bytes: std::iter::once(text[n - 1]).chain(before).collect(), samples }
}

fn check(sorters: &mut [(&'static str, GpuSorter)], name: &str, text: &[u8], with_bwt: bool) {
    let sa = expected(text);
    for (algorithm, sorter) in sorters {
        let got = sorter.suffix_array(text).unwrap();
        assert!(got == sa, "{algorithm}: {name}, {} bytes", text.len());
        if with_bwt {
            let sorted = sorter.sort(text, 64).unwrap();
            assert!(sorted == transform(text, &sa, 64), "{algorithm}: transform of {name}");
        }
    }
}

#[test]
fn named_cases() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    let mut count = 0;
    for (name, text) in cases::all().iter().filter(|(_, text)| !text.is_empty()) {
        check(&mut sorters, name, text, true);
        count += sorters.len();
    }
    say(format_args!("{count} sorts"));
}

/// Sizes around those of tiles, and around those that fill a GPU.
#[test]
fn borders() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    let mut count = 0;
    for border in [128, 384, 768, 1280, 1536, 2048, 2560, 4096, 12_288, 152_064, 506_880] {
        for size in border - 1..=border + 1 {
            let texts = [cases::text(size), cases::fibonacci(size), vec![0; size]];
            for (n, text) in texts.iter().enumerate() {
                check(&mut sorters, &format!("border text {n}"), text, true);
                count += 2 * sorters.len();
            }
        }
    }
    say(format_args!("{count} sorts"));
}

#[test]
fn large_shapes() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    let mut count = 0;
    for (name, text) in cases::shapes(3_000_000).iter().filter(|(_, text)| text.len() > 300) {
        check(&mut sorters, name, text, false);
        count += sorters.len();
    }
    say(format_args!("{count} sorts"));
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
    let phrases: Vec<u8> = order.into_iter().flat_map(|n| phrases[n as usize]).copied().collect();
    let texts = [cases::random(1_200_000, 26), phrases, cases::random(600_000, 26).repeat(2)];
    for (text, repeated) in texts.iter().zip([false, true, false]) {
        let sa = expected(text);
        let memory = |scarce: bool| {
            let mut sorter = GpuSorter::new(0, Algorithm::Default).unwrap();
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

/// More large groups than fit into a key beside two ranks, so that `skew-pd` sorts them by one
/// rank.
#[test]
fn ranks_too_long_for_pairs() {
    if gpu().is_none() {
        return;
    }
    let word = cases::random(260_000, 4);
    let text: Vec<u8> = word.iter().copied().cycle().take(200 * word.len()).collect();
    let mut sorter = GpuSorter::new(0, Algorithm::SkewPd).unwrap();
    assert!(sorter.suffix_array(&text).unwrap() == expected(&text));
}

/// The fewest and smallest texts that go through every kernel, for the tools of
/// `compute-sanitizer`.
#[test]
fn every_kernel_once() {
    if gpu().is_none() {
        return;
    }
    let cycle = |word: &[u8], len| word.iter().copied().cycle().take(len).collect::<Vec<u8>>();
    let texts = [
        cases::text(1500),
        cases::fibonacci(700),
        cycle(b"a", 600),
        cycle(&cases::text(40), 4000),
        [cases::random(500, 4), cases::random(500, 4), cases::text(500)].concat(),
    ];
    let mut sorters = sorters();
    for (n, text) in texts.iter().enumerate() {
        check(&mut sorters, &format!("text {n}"), text, true);
    }
    say(format_args!("{} sorts", 2 * texts.len() * sorters.len()));
}

#[test]
fn small_strings() {
    if gpu().is_none() {
        return;
    }
    let tries: u64 =
        std::env::var("BWZ_SMALL_STRINGS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut sorters = sorters();
    for seed in 0..tries {
        let alphabet = seed % 4 + 1;
        let len = random(1, 80, seed)[0] as usize + 1;
        let text: Vec<u8> =
            random(len, alphabet, seed + 1).into_iter().map(|c| c as u8 * 85).collect();
        check(&mut sorters, "a small string", &text, false);
    }
    say(format_args!("{} sorts", tries * sorters.len() as u64));
}

#[test]
fn a_failure_leaves_the_sorter_usable() {
    if gpu().is_none() {
        return;
    }
    let text = cases::text(50_000);
    for (name, mut sorter) in sorters() {
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

/// A BWT sorted and encoded on the device has the same slices as one encoded by the CPU.
#[test]
fn transforms_are_coded_where_they_are() {
    if gpu().is_none() {
        return;
    }
    let mut sorter = GpuSorter::new(0, Algorithm::Default).unwrap();
    let mut encoder = BwtEncoder::new(0).unwrap();
    let mut blocks = 0;
    let limits = SliceLimits { runs: 3000, bytes: 1 << 24 };
    for (name, text) in cases::all().iter().filter(|(_, text)| !text.is_empty()) {
        let sorted = sorter.sort(text, 64).unwrap();
        let expected = coder::encode_slices(&sorted.bytes, limits, Coding::StaticRans);
        sorter.input(text.len()).unwrap().copy_from_slice(text);
        let (encoded, samples) = sorter.sort_and_encode(64, &mut encoder, limits).unwrap();
        assert!(samples == sorted.samples && encoded.models == expected.models, "{name}");
        let counts = text.iter().fold([0; 256], |mut counts, &byte| {
            counts[usize::from(byte)] += 1;
            counts
        });
        assert!(encoded.byte_counts == counts, "{name}: counts of bytes");
        assert!(encoded.raw_sizes == expected.raw_sizes, "{name}: slices");
        assert!(encoder.download(&encoded).unwrap() == expected.slices.concat(), "{name}: bytes");
        blocks += 1;
    }
    say(format_args!("{blocks} blocks sorted and coded"));
}

/// Random bases with runs of up to 2^22 of one base, and copies with a few changes.
fn bases(len: usize) -> Vec<u8> {
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
    for start in (PIECE..len).step_by(PIECE) {
        let size = (next() % (1 << (10 + next() % 13))) as usize;
        let size = size.min(len - start);
        if next() % 2 == 0 {
            text[start..start + size].fill(b'A');
        } else {
            let from = (next() % (start - size) as u64) as usize;
            text.copy_within(from..from + size, start);
            text[start..start + size].iter_mut().step_by(997).for_each(|base| *base = b'C');
        }
    }
    text
}

/// Positions that need all 32 bits.
#[test]
fn a_block_above_2_gib() {
    const LEN: u32 = (1 << 31) + 1_234_567;
    if gpu().is_none() {
        return;
    }
    let rate = 1 << 20;
    let mut sorter = GpuSorter::new(0, Algorithm::Default).unwrap();
    if let Err(e) = sorter.reserve(LEN, rate) {
        return say(format_args!("skipped: {e}"));
    }
    let text = bases(LEN as usize);
    sorter.input(text.len()).unwrap().copy_from_slice(&text);
    // Repeats need memory beyond the reserved one, which a GPU of 80 GB does not have.
    let sorted = match sorter.sort_input(rate) {
        Err(Error::Device(e)) if e.contains("OUT_OF_MEMORY") => {
            return say(format_args!("skipped: {e}"));
        }
        sorted => sorted.unwrap(),
    };
    let samples = crate::bwt::wide(sorted.samples.to_vec());
    let bwt = crate::bwt::Bwt { bytes: sorted.bytes.to_vec(), sample_rate: rate, samples };
    assert!(crate::bwt::invert(bwt).unwrap() == text);
    say(format_args!("unresolved after each round: {:?}", sorter.report().rounds));
}
