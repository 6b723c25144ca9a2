//! Whole files from the GPU: the same bytes as from the CPU, and no block lost where there is no GPU. Searched on the GPU, they
//! have the same matches.

#![cfg(feature = "cuda")]

mod common;

use bwz::{Archive, Device, Event, Matches, Options};
use common::{cases, indexed};
use std::env;
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

/// What `work` does, and the warnings that came meanwhile.
fn heard<T>(options: Options, work: impl FnOnce(&Options) -> T) -> (T, Vec<String>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let options = options.on_event(move |event| {
        if let Event::Warning(what) = event {
            listener.lock().unwrap().push(what);
        }
    });
    let done = work(&options);
    let warnings = heard.lock().unwrap().clone();
    (done, warnings)
}

/// A file, and the warnings that came while it was made.
fn compressed(raw: &[u8], options: Options) -> (Vec<u8>, Vec<String>) {
    heard(options, |options| {
        let mut file = Vec::new();
        bwz::compress(raw, &mut file, options).unwrap();
        file
    })
}

/// Counts and matches of patterns in a file, in one batch and one by one, and the warnings that came meanwhile.
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
        let streamed: Vec<_> = archive.counts(patterns).map(|found| found.unwrap().1).collect();
        assert!(streamed == counts);
        let streamed: Vec<_> =
            archive.matches(patterns, limit).map(|found| found.unwrap().1).collect();
        assert!(streamed == matches);
        (counts, matches)
    })
}

/// Patterns from all over the text and beyond it, and the hard ones.
fn patterns(text: &[u8], count: usize) -> Vec<Vec<u8>> {
    let mut patterns =
        vec![vec![], vec![0], vec![255], b"aa".to_vec(), b"\0\xff".to_vec(), b"not there".to_vec()];
    patterns.push([text, b"x"].concat());
    patterns.push(text[..text.len().min(5000)].to_vec());
    patterns.extend((0..count.min(10 * text.len())).map(|n| {
        let at = n * 7919 % text.len();
        text[at..text.len().min(at + [1, 4, 30, 110][n % 4])].to_vec()
    }));
    patterns
}

fn has_gpu() -> bool {
    let found = bwz::gpu::devices().is_ok_and(|devices| !devices.is_empty());
    let required = env::var("BWZ_REQUIRE_GPU").is_ok_and(|v| v == "1");
    assert!(found || !required, "BWZ_REQUIRE_GPU is set, but there is no CUDA device");
    if !found {
        let _ = writeln!(std::io::stdout(), "skipped: no CUDA device");
    }
    found
}

#[test]
fn a_gpu_that_is_not_there_is_one_warning() {
    let raw = cases::text(10_000);
    let options = common::options(1000).threads(4);
    let (expected, none) = compressed(&raw, options.clone().device(Device::Cpu));
    let (file, warnings) = compressed(&raw, options.device(Device::Cuda(999)));
    assert!(file == expected && none.is_empty());
    assert!(warnings.len() == 1 && warnings[0].ends_with("; sorting on the CPU"), "{warnings:?}");
}

#[test]
fn every_device_writes_the_same_file() {
    if !has_gpu() {
        return;
    }
    let gpu = Device::Cuda(0);
    for (name, raw) in cases::named() {
        for (block_size, threads) in [(5000, 1), (5000, 7), (1 << 20, 4)] {
            let options = common::options(block_size).threads(threads);
            let (expected, _) = compressed(&raw, options.clone().device(Device::Cpu));
            let (file, warnings) = compressed(&raw, options.device(gpu));
            assert!(file == expected, "{name}, blocks of {block_size}");
            assert!(warnings.is_empty(), "{name}: {warnings:?}");
        }
    }
}

#[test]
fn any_device_writes_the_same_file() {
    if !has_gpu() {
        return;
    }
    let raw = cases::text(70 << 20);
    let options = Options::new().with_block_size(5 << 20).unwrap().threads(8).memory(4 << 30);
    let (expected, _) = compressed(&raw, options.clone().device(Device::Cpu));
    for device in [Device::Auto, Device::Cuda(0)] {
        let (file, warnings) = compressed(&raw, options.clone().device(device));
        assert!(file == expected, "{device:?}");
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
    let device = Device::Cuda(999);
    let (counts, warnings) = heard(options.device(device), |options| {
        Archive::open(Cursor::new(&file), options).unwrap().count(&patterns).unwrap()
    });
    assert!(counts == expected.0);
    assert!(warnings.len() == 1 && warnings[0].ends_with("; searching on the CPU"), "{warnings:?}");
}

#[test]
fn every_device_finds_the_same() {
    if !has_gpu() {
        return;
    }
    let mut count = 0;
    for (name, raw) in cases::named().into_iter().filter(|(_, raw)| !raw.is_empty()) {
        let patterns = patterns(&raw, 400);
        for (block_size, rate) in [(20_000, Some(64)), (20_000, None), (1 << 20, Some(256))] {
            let file = indexed(&raw, block_size, rate);
            let options = common::options(1);
            let cpu = searched(&file, &patterns, 7, options.clone().device(Device::Cpu));
            let gpu = searched(&file, &patterns, 7, options.device(Device::Cuda(0)));
            assert!(gpu.0 == cpu.0, "{name}, blocks of {block_size}, rate {rate:?}");
            assert!(gpu.1.is_empty(), "{name}: {:?}", gpu.1);
            count += patterns.len();
        }
    }
    let _ = writeln!(std::io::stdout(), "{count} patterns");
}

/// So many patterns that a GPU pays, and so little memory that they take several batches.
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
    for device in [Device::Auto, Device::Cuda(0)] {
        let (found, warnings) = searched(&file, &patterns, 2, options.clone().device(device));
        assert!(found == expected, "{device:?}");
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    let _ = writeln!(std::io::stdout(), "{} patterns", patterns.len());
}
