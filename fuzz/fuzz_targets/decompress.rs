//! Any bytes as a file, through every door that reads one, under small limits: never a panic, a hang or much memory.
//!
//! Checksums are not compared under fuzzing, so that changed bytes reach the decoders behind them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|file: &[u8]| {
    let options = bwz::Options::new().threads(1).memory(12 << 20);
    let mut raw = Vec::new();
    let end = bwz::decompress(file, &mut raw, &options);
    if let Ok(summary) = &end {
        assert_eq!((summary.raw_size, summary.coded_size), (raw.len() as u64, file.len() as u64));
    }
    if let Ok(mut archive) = bwz::Archive::open(Cursor::new(file), &options) {
        let (size, mut whole) = (archive.raw_size(), Vec::new());
        if archive.read_range(0..size, &mut whole).is_ok() {
            assert_eq!(whole.len() as u64, size);
        }
    }
    let _ = bwz::recover(Cursor::new(file), std::io::sink(), &options);
});
