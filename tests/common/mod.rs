//! What several test files share.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod cases;
pub mod mutation;
pub mod say;

use bwz::Options;

/// Options under which small inputs make many blocks.
pub fn options(block_size: u32) -> Options {
    Options::new().with_block_size(block_size).unwrap().threads(2).memory(1 << 30)
}

/// `raw` as a file of blocks of `block_size` bytes.
pub fn compressed(raw: &[u8], block_size: u32) -> Vec<u8> {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, &options(block_size)).unwrap();
    file
}

/// `raw` as a file with an index of the given sample rate, if one is given.
pub fn indexed(raw: &[u8], block_size: u32, rate: Option<u32>) -> Vec<u8> {
    let options = options(block_size);
    let options = rate.map_or(options.clone(), |rate| options.index(rate).unwrap());
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, &options).unwrap();
    file
}

/// What `file` restores to, and how that ended.
pub fn decompressed(file: &[u8]) -> (Vec<u8>, Result<bwz::Summary, bwz::Error>) {
    let mut raw = Vec::new();
    let end = bwz::decompress(file, &mut raw, &options(1 << 20).memory(64 << 20));
    (raw, end)
}
