//! Static rANS: models and slices coded and decoded, damaged ones, and any bytes.
#![no_main]

#[path = "../keeper.rs"]
mod keeper;

#[path = "../../tests/common/targets/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each target uses one of them")]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::slices(bytes));
