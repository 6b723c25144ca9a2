//! Whole files from the GPU: the same bytes as from the CPU, and no block lost where there is no GPU.

#![cfg(feature = "cuda")]

mod common;

use bwz::{Device, Event, Options};
use common::cases;
use std::env;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A file, and the warnings that came while it was made.
fn compressed(raw: &[u8], options: Options) -> (Vec<u8>, Vec<String>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let options = options.on_event(move |event| {
        if let Event::Warning(what) = event {
            listener.lock().unwrap().push(what);
        }
    });
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, &options).unwrap();
    let warnings = heard.lock().unwrap().clone();
    (file, warnings)
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
