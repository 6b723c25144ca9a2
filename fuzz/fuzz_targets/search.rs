//! Search against a plain search, in files of any bytes, and in any bytes as a file.
#![no_main]

#[path = "../../tests/common/targets.rs"]
#[allow(dead_code, reason = "each target uses one of them")]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::search(bytes));
