//! Whole files through the GPU, forwards and back: the same bytes as on the CPU, and no block lost
//! if there is no GPU. Searches on the GPU find the same matches.

#![cfg(feature = "cuda")]

use crate::common;
use crate::common::say::{say, skip};
use crate::common::{cases, heard, indexed};
use bwz::internals;
use bwz::{Archive, Device, GpuSet, Matches, Options};
use std::env;
use std::io::Cursor;

fn gpu(number: u32) -> Device {
    Device::Cuda(GpuSet::new([number]).unwrap())
}

/// A compressed file, and the warnings given while it was made.
fn compressed(raw: &[u8], options: Options) -> (Vec<u8>, Vec<String>) {
    heard(options, |options| {
        let mut file = Vec::new();
        bwz::compress(raw, &mut file, options).unwrap();
        file
    })
}

/// Counts and matches of patterns in a file, in one batch and one by one, and the warnings given
/// during the search.
fn searched(
    file: &[u8],
    patterns: &[Vec<u8>],
    limit: usize,
    options: Options,
) -> ((Vec<u64>, Vec<Matches>), Vec<String>) {
    heard(options, |options| {
        let mut archive = Archive::open(Cursor::new(file), options).unwrap();
        let counts = archive.count(patterns).unwrap();
        let matches = archive.locate(patterns, limit).unwrap();
        let streamed: Vec<_> = archive
            .counts(patterns)
            .map(|found| found.unwrap().1)
            .collect();
        assert!(streamed == counts);
        let streamed: Vec<_> = archive
            .matches(patterns, limit)
            .map(|found| found.unwrap().1)
            .collect();
        assert!(streamed == matches);
        (counts, matches)
    })
}

/// Patterns from all parts of the text, patterns that are not in it, and the hard ones.
fn patterns(text: &[u8], count: usize) -> Vec<Vec<u8>> {
    let mut patterns = vec![
        vec![],
        vec![0],
        vec![255],
        b"aa".to_vec(),
        b"\0\xff".to_vec(),
        b"not there".to_vec(),
    ];
    patterns.push([text, b"x"].concat());
    patterns.push(text[..text.len().min(5000)].to_vec());
    patterns.extend((0..count.min(10 * text.len())).map(|n| {
        let at = n * 7919 % text.len();
        text[at..text.len().min(at + [1, 4, 30, 110][n % 4])].to_vec()
    }));
    patterns
}

/// The bytes to which a file restores, and how that ended.
type Restored = (Vec<u8>, Result<(), String>);

/// A restored file, and the warnings given during that.
fn restored(file: &[u8], options: Options) -> (Restored, Vec<String>) {
    heard(options, |options| {
        let mut raw = Vec::new();
        let end = bwz::decompress(file, &mut raw, options);
        (raw, end.map(drop).map_err(|e| e.to_string()))
    })
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

#[test]
fn a_gpu_that_is_not_there_is_one_warning() {
    let raw = cases::text(10_000);
    let options = common::options(1000).threads(4);
    let (expected, none) = compressed(&raw, options.clone().device(Device::Cpu));
    let (file, warnings) = compressed(&raw, options.device(gpu(99)));
    assert!(file == expected && none.is_empty());
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("; sorting on the CPU"),
        "{warnings:?}"
    );
}

#[test]
fn a_gpu_that_is_not_there_is_one_warning_on_the_way_back() {
    let raw = cases::text(10_000);
    let options = common::options(1000).threads(4);
    let file = compressed(&raw, options.clone()).0;
    let (back, warnings) = restored(&file, options.clone().device(gpu(99)));
    assert_eq!(back, (raw.clone(), Ok(())));
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("; restoring on the CPU"),
        "{warnings:?}"
    );
    let (back, warnings) = restored(&file, options.device(Device::Cpu));
    assert!(back == (raw, Ok(())) && warnings.is_empty());
}

#[test]
fn a_gpu_that_is_not_there_leaves_the_work_to_the_others() {
    if !has_gpu() {
        return;
    }
    let raw = cases::text(10_000);
    let options = common::options(1000).threads(4);
    let (expected, _) = compressed(&raw, options.clone().device(Device::Cpu));
    let some = Device::Cuda(GpuSet::new([0, 99]).unwrap());
    let (file, warnings) = compressed(&raw, options.device(some));
    assert!(file == expected);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    let start = "cuda:99: ";
    let end = "; sorting on the other GPUs";
    assert!(
        warning.starts_with(start) && warning.ends_with(end),
        "{warning}"
    );
}

#[test]
fn every_device_writes_the_same_file() {
    if !has_gpu() {
        return;
    }
    let device = gpu(0);
    for (name, raw) in cases::named() {
        for (block_size, threads) in [(5000, 1), (5000, 7), (1 << 20, 4)] {
            let options = common::options(block_size).threads(threads);
            let (expected, _) = compressed(&raw, options.clone().device(Device::Cpu));
            let (file, warnings) = compressed(&raw, options.device(device));
            assert!(file == expected, "{name}, blocks of {block_size}");
            assert!(warnings.is_empty(), "{name}: {warnings:?}");
        }
    }
}

#[test]
fn every_device_restores_the_same() {
    if !has_gpu() {
        return;
    }
    let mut count = 0;
    for (name, raw) in cases::named() {
        for (block_size, rate) in [
            (5000, None),
            (5000, Some(8)),
            (1 << 20, None),
            (1 << 20, Some(0)),
        ] {
            let file = common::indexed(&raw, block_size, rate);
            let options = common::options(block_size)
                .threads(4)
                .device(gpu(0));
            let (back, warnings) = restored(&file, options);
            assert!(
                back == (raw.clone(), Ok(())),
                "{name}, blocks of {block_size}"
            );
            assert!(warnings.is_empty(), "{name}: {warnings:?}");
            count += 1;
        }
    }
    say(format_args!("{count} files restored"));
}

/// Damage at any place is the same error on every device, with the same output before it.
#[test]
fn damage_is_the_same_on_every_device() {
    if !has_gpu() {
        return;
    }
    let raw = cases::text(30_000);
    let mut count = 0;
    let file = compressed(&raw, common::options(4000)).0;
    for at in (0..file.len()).step_by(13) {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        let [on_cpu, on_gpu] = [Device::Cpu, gpu(0)]
            .map(|device| restored(&damaged, common::options(4000).device(device)));
        assert_eq!(on_cpu, on_gpu, "byte {at}");
        count += 1;
    }
    say(format_args!("{count} damaged files restored alike"));
}

#[test]
fn any_device_writes_the_same_file_and_reads_it() {
    if !has_gpu() {
        return;
    }
    let raw = cases::text(70 << 20);
    let options = Options::new()
        .with_block_size(5 << 20)
        .unwrap()
        .threads(8)
        .memory(4 << 30);
    let (expected, _) = compressed(&raw, options.clone().device(Device::Cpu));
    for device in [Device::Auto, gpu(0), Device::Cuda(GpuSet::ALL)] {
        let (file, warnings) = compressed(&raw, options.clone().device(device));
        assert!(file == expected, "{device:?}");
        assert!(warnings.is_empty(), "{warnings:?}");
        let (back, warnings) = restored(&file, options.clone().device(device));
        assert!(back == (raw.clone(), Ok(())), "{device:?}");
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

#[test]
fn a_search_on_a_gpu_that_is_not_there_is_one_warning() {
    let raw = cases::text(10_000);
    let file = indexed(&raw, 3000, None);
    let patterns = patterns(&raw, 500);
    let options = common::options(1000);
    let (expected, none) = searched(&file, &patterns, 5, options.clone().device(Device::Cpu));
    assert!(none.is_empty());
    let device = gpu(99);
    let (counts, warnings) = heard(options.device(device), |options| {
        Archive::open(Cursor::new(&file), options)
            .unwrap()
            .count(&patterns)
            .unwrap()
    });
    assert!(counts == expected.0);
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("; searching on the CPU"),
        "{warnings:?}"
    );
}

#[test]
fn every_device_finds_the_same() {
    if !has_gpu() {
        return;
    }
    let mut count = 0;
    for (name, raw) in cases::named()
        .into_iter()
        .filter(|(_, raw)| !raw.is_empty())
    {
        let patterns = patterns(&raw, 400);
        for (block_size, rate) in [(20_000, Some(64)), (20_000, None), (1 << 20, Some(256))] {
            let file = indexed(&raw, block_size, rate);
            let options = common::options(1);
            let cpu = searched(&file, &patterns, 7, options.clone().device(Device::Cpu));
            // Large blocks are decoded on a GPU and searched on the CPU.
            for options in [options.clone(), internals::wide(options)] {
                let gpu = searched(&file, &patterns, 7, options.device(gpu(0)));
                assert!(
                    gpu.0 == cpu.0,
                    "{name}, blocks of {block_size}, rate {rate:?}"
                );
                assert!(gpu.1.is_empty(), "{name}: {:?}", gpu.1);
                count += patterns.len();
            }
        }
    }
    say(format_args!("{count} patterns"));
}

/// There are enough patterns for a GPU to pay, and little enough memory that they take several
/// batches.
#[test]
fn any_device_finds_the_same() {
    if !has_gpu() {
        return;
    }
    let raw = cases::text(3 << 20);
    let file = indexed(&raw, 1 << 20, Some(64));
    let patterns = patterns(&raw, 400_000);
    let options = common::options(1).memory(200 << 20);
    let (expected, _) = searched(&file, &patterns, 2, options.clone().device(Device::Cpu));
    for device in [Device::Auto, gpu(0), Device::Cuda(GpuSet::ALL)] {
        let (found, warnings) = searched(&file, &patterns, 2, options.clone().device(device));
        assert!(found == expected, "{device:?}");
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    say(format_args!("{} patterns", patterns.len()));
}

/// A genome of two records in lines, with lower-case letters and a run of N, and reads of both
/// strands.
fn genome_and_reads() -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut bases = cases::random(300_000, 4);
    bases
        .iter_mut()
        .for_each(|base| *base = b"ACGT"[usize::from(*base)]);
    bases[100_000..100_500].fill(b'N');
    bases[200_000..230_000].make_ascii_lowercase();
    let mut raw = Vec::new();
    for (name, record) in [("a", &bases[..170_000]), ("b", &bases[170_000..])] {
        raw.extend(format!(">{name}\n").bytes());
        record
            .chunks(60)
            .for_each(|line| raw.extend([line, b"\n"].concat()));
    }
    let complement = |base: &u8| match base.to_ascii_uppercase() {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        other => other,
    };
    let read = |n: usize| {
        let read = bases[n * 7919 % 299_850..][..50 + n % 100].to_vec();
        if n.is_multiple_of(2) {
            read
        } else {
            read.iter().rev().map(complement).collect()
        }
    };
    let strands = |read: Vec<u8>| [read.iter().rev().map(complement).collect(), read];
    (raw, (0..5000).map(read).flat_map(strands).collect())
}

#[test]
fn every_device_finds_the_same_reads() {
    if !has_gpu() {
        return;
    }
    let (raw, reads) = genome_and_reads();
    for block_size in [100_000, 1 << 20] {
        let file = indexed(&raw, block_size, Some(64));
        assert!(
            Archive::open(Cursor::new(&file[..]), &Options::new())
                .unwrap()
                .has_sequences()
        );
        for (mismatches, reads) in [(0, &reads[..]), (1, &reads[..200])] {
            let options = common::options(1)
                .max_mismatches(mismatches)
                .unwrap();
            let (on_cpu, _) = searched(&file, reads, 10, options.clone().device(Device::Cpu));
            assert!(
                on_cpu
                    .0
                    .iter()
                    .filter(|&&count| count > 0)
                    .count()
                    >= reads.len() / 2
            );
            let (on_gpu, warnings) = searched(&file, reads, 10, options.device(gpu(0)));
            assert!(
                on_gpu == on_cpu,
                "blocks of {block_size}, {mismatches} mismatches"
            );
            assert_eq!(warnings, [""; 0]);
        }
    }
}
