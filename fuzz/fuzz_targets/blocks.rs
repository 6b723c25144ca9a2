//! Any bytes as a file, on one thread; checksums are not compared under fuzzing, so that changed bytes reach what is behind them.
#![no_main]

#[path = "../../tests/common/targets/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each target uses one of them")]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::blocks(bytes));
