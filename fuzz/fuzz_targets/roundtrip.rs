//! Any bytes under any options are restored, by the library's two pairs of doors.
#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};
use std::io::{Read, Write};

#[derive(arbitrary::Arbitrary, Debug)]
struct Input<'a> {
    block_size: u16,
    threads: u8,
    repeats: u8,
    piece: u16,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input| {
    let raw = input.bytes.repeat(usize::from(input.repeats % 16) + 1);
    let block_size = u32::from(input.block_size).max(raw.len() as u32 / 64) + 1;
    let options = bwz::Options::new().threads(usize::from(input.threads % 3) + 1).memory(256 << 20);
    let options = options.with_block_size(block_size).unwrap();

    let mut file = Vec::new();
    bwz::compress(&raw[..], &mut file, &options).unwrap();
    let mut restored = Vec::new();
    bwz::decompress(&file[..], &mut restored, &options).unwrap();
    assert!(restored == raw);

    let mut encoder = bwz::Encoder::new(Vec::new(), &options);
    raw.chunks(usize::from(input.piece) + 1).for_each(|piece| encoder.write_all(piece).unwrap());
    assert!(encoder.finish().unwrap().0 == file);
    let mut pulled = Vec::new();
    bwz::Decoder::new(&file[..], &options).read_to_end(&mut pulled).unwrap();
    assert!(pulled == raw);
});
