//! Any bytes as a file, on one thread. Checksums are not compared under fuzzing, so that changed
//! bytes reach the code behind them.
#![no_main]

#[path = "../keeper.rs"]
mod keeper;

#[path = "../../tests/common/targets/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each target uses one of them")]
mod targets;

#[path = "../mutator.rs"]
mod mutator;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::blocks(bytes));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutator::mutate(data, size, max_size, seed)
});
