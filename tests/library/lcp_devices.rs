//! Suffix arrays, LCP arrays, queries and overlaps on the GPU: the same results as on the CPU, and
//! nothing lost if there is no GPU.

#![cfg(feature = "cuda")]

use crate::common;
use crate::common::cases;
use crate::common::say::{say, skip};
use bwz::lcp::{Extensions, LcpArrays, LcpSorter, RangeMinima};
use bwz::overlap::{
    Sequences, Strands, longest_common, maximal_matches, read_overlaps, unique_matches,
};
use bwz::{Device, GpuSet, Options};
use std::env;

/// The result of `work` on a GPU, and the warnings given during it.
fn heard<T>(number: u32, work: impl FnOnce(&Options) -> T) -> (T, Vec<String>) {
    let device = Device::Cuda(GpuSet::new([number]).unwrap());
    common::heard(Options::new().threads(2).device(device), work)
}

fn on_cpu() -> Options {
    Options::new().threads(2).device(Device::Cpu)
}

fn has_gpu() -> bool {
    let found = bwz::cuda::devices().is_ok_and(|devices| !devices.is_empty());
    let required = env::var("BWZ_REQUIRE_GPU").is_ok_and(|v| v == "1");
    assert!(
        found || !required,
        "BWZ_REQUIRE_GPU is set, but there is no CUDA device"
    );
    if !found {
        skip("no CUDA device");
    }
    found
}

/// Pairs of positions in a text.
fn pairs(count: usize, len: usize) -> Vec<(u32, u32)> {
    let bytes = cases::random(8 * count, 256);
    let pos = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap()) % len as u32;
    bytes
        .chunks_exact(8)
        .map(|two| (pos(&two[..4]), pos(&two[4..])))
        .collect()
}

#[test]
fn a_gpu_that_is_not_there_is_one_warning() {
    let text = cases::text(10_000);
    let expected = LcpArrays::new(&text, &on_cpu()).unwrap();
    let (arrays, warnings) = heard(99, |options| LcpArrays::new(&text, options).unwrap());
    assert!(arrays == expected);
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("; sorting on the CPU"),
        "{warnings:?}"
    );

    let pairs = pairs(1000, text.len());
    let extensions = Extensions::new(expected, &on_cpu()).unwrap();
    let expected = extensions.all(&pairs, &on_cpu()).unwrap();
    let (found, warnings) = heard(99, |options| {
        Extensions::new(arrays, options)
            .unwrap()
            .all(&pairs, options)
            .unwrap()
    });
    assert!(found == expected);
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("; answering on the CPU"),
        "{warnings:?}"
    );
}

#[test]
fn every_device_gives_the_same_arrays() {
    if !has_gpu() {
        return;
    }
    let mut count = 0;
    let (found, warnings) = heard(0, |options| {
        let sorter = LcpSorter::new(options).unwrap();
        let of = |(name, text): (String, Vec<u8>)| {
            count += 1;
            let least = text.get(text.len() / 2).copied().unwrap_or(0);
            let pieces = sorter.sort_pieces(&text, least).unwrap();
            let same = sorter.sort(&text).unwrap() == LcpArrays::new(&text, &on_cpu()).unwrap()
                && pieces == LcpArrays::of_pieces(&text, least, &on_cpu()).unwrap();
            assert!(same, "{name}");
        };
        cases::named().into_iter().for_each(of);
    });
    assert_eq!((found, warnings), ((), vec![]));
    say(format_args!("{count} texts"));
}

#[test]
fn every_device_answers_the_same() {
    if !has_gpu() {
        return;
    }
    for (name, text) in cases::shapes(50_000)
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
    {
        let pairs = pairs(1_000_000, text.len());
        let arrays = LcpArrays::new(&text, &on_cpu()).unwrap();
        let minima = RangeMinima::new(arrays.lcp.clone(), &on_cpu()).unwrap();
        let least = minima.all(&pairs, &on_cpu()).unwrap();
        let extensions = Extensions::new(arrays.clone(), &on_cpu()).unwrap();
        let longest = extensions.all(&pairs, &on_cpu()).unwrap();
        let (found, warnings) = heard(0, |options| {
            let minima = RangeMinima::new(arrays.lcp.clone(), options).unwrap();
            let extensions = Extensions::new(arrays, options).unwrap();
            let twice = [(); 2].map(|()| extensions.all(&pairs, options).unwrap());
            assert!(twice[0] == twice[1]);
            (minima.all(&pairs, options).unwrap(), twice)
        });
        assert!(found.0 == least && found.1[0] == longest, "{name}");
        assert_eq!(warnings, [""; 0]);
    }
}

/// Sequences with long common parts on both strands, and reads of them.
fn sequences() -> (Sequences, Sequences, Sequences) {
    let base = |n: u8| b"ACGT"[usize::from(n)];
    let bases: Vec<u8> = cases::random(60_000, 4)
        .into_iter()
        .map(base)
        .collect();
    let mut other = bases[20_000..50_000].to_vec();
    other
        .iter_mut()
        .step_by(997)
        .for_each(|base| *base = b'N');
    let complement = |base: &u8| match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        other => *other,
    };
    let reverse: Vec<u8> = bases[..10_000]
        .iter()
        .rev()
        .map(complement)
        .collect();
    let mut a = Sequences::new();
    let mut b = Sequences::new();
    let mut reads = Sequences::new();
    a.add(b"a1", &bases[..40_000]).unwrap();
    a.add(b"a2", &bases[40_000..]).unwrap();
    b.add(b"b1", &other).unwrap();
    b.add(b"b2", &reverse).unwrap();
    b.add(b"b3", &[&b"AC".repeat(3000)[..], &bases[..500]].concat())
        .unwrap();
    for n in 0..2000 {
        reads
            .add(
                format!("r{n}").as_bytes(),
                &bases[n * 7919 % 59_800..][..100 + n % 90],
            )
            .unwrap();
    }
    (a, b, reads)
}

#[test]
fn every_device_finds_the_same_overlaps() {
    if !has_gpu() {
        return;
    }
    let (a, b, reads) = sequences();
    for strands in [Strands::Forward, Strands::Both] {
        let all = |options: &Options| {
            let regions = longest_common(&a, &b, strands, options).unwrap();
            let matches = [9, 12, 20, 300].map(|least| {
                let all = maximal_matches(&a, &b, least, strands, options).unwrap();
                (
                    all,
                    unique_matches(&a, &b, least, strands, options).unwrap(),
                )
            });
            (
                regions,
                matches,
                read_overlaps(&reads, 31, strands, options).unwrap(),
            )
        };
        let expected = all(&on_cpu());
        assert!(!expected.0.is_empty() && expected.2.len() > 1000);
        let (found, warnings) = heard(0, all);
        assert!(found == expected, "{strands:?}");
        assert_eq!(warnings, [""; 0]);
    }
}
