//! Inputs that once broke something, kept by the fuzz target that found them: `tests/crashes/<target>/<name>`.
//!
//! A crash of `decompress` is a file; it is read through every door here. Crashes of the other targets are replayed by cargo-fuzz
//! (`cargo +nightly fuzz run <target> tests/crashes/<target>`), and stand as a case in `tests/common/cases.rs` too.

mod common;

use std::fs;
use std::io::Cursor;
use std::path::Path;

#[test]
fn no_kept_crash_of_the_decoder_comes_back() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crashes/decompress");
    let entries = fs::read_dir(&dir).map(|entries| entries.collect()).unwrap_or_else(|_| vec![]);
    for entry in entries {
        let file = fs::read(entry.unwrap().path()).unwrap();
        let (raw, end) = common::decompressed(&file);
        assert!(end.is_err() || raw.len() as u64 == end.unwrap().raw_size);
        let options = common::options(1).memory(64 << 20);
        let _ = bwz::Archive::open(Cursor::new(&file), &options);
        let _ = bwz::recover(Cursor::new(&file), std::io::sink(), &options);
    }
}
