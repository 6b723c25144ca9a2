//! Files that are restored to a GPU: the same bytes as on the host, and the same errors.

use super::*;
use crate::cases;
use crate::coder::{Coding, Effort};
use crate::frame::BlockKind;
use crate::gpu::DeviceBuffer;
use crate::gpu::testing::{gpu, say};
use crate::options::Options;
use crate::options::events::Listener;
use std::io::Cursor;

type MemoryArchive = Archive<Cursor<Vec<u8>>>;

/// A file of blocks of `block_size` bytes.
fn file_of(raw: &[u8], options: &Options) -> Vec<u8> {
    let mut file = Vec::new();
    crate::compress(raw, &mut file, options).unwrap();
    file
}

fn open(file: &[u8], options: &Options) -> MemoryArchive {
    Archive::open(Cursor::new(file.to_vec()), options).unwrap()
}

fn blocks_of(size: u64) -> Options {
    Options::new().with_block_size(size).unwrap()
}

/// All bytes of a buffer.
fn content(buffer: &mut DeviceBuffer) -> Vec<u8> {
    let mut bytes = Vec::new();
    let memory = buffer.slice();
    memory.reader().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Fills a buffer with a byte that tells if it was written.
fn untouched(len: usize) -> DeviceBuffer {
    let mut buffer = DeviceBuffer::new(0, len).unwrap();
    buffer
        .slice()
        .span()
        .write(0, &vec![0xEE; len])
        .unwrap();
    buffer
}

/// Raw streams of several blocks, and the options that they are compressed with.
fn streams() -> Vec<(&'static str, Vec<u8>, Options)> {
    let noise = cases::random(700_000, 40);
    let text = cases::text(900_000);
    let small = blocks_of(100_000);
    let best = small.clone().effort(Effort::Best);
    let indexed = small.clone().index(64).unwrap();
    vec![
        ("noise", noise.clone(), small.clone()),
        ("fast", noise.clone(), small.clone().effort(Effort::Fast)),
        ("one short block", noise[..1000].to_vec(), small.clone()),
        ("stored", cases::random(500_000, 256), small.clone()),
        ("context mixing", noise, best),
        ("indexed", text.clone(), indexed),
        ("text", text, small.clone()),
        ("runs", vec![7; 400_000], small),
        (
            "large blocks",
            cases::random(9_000_000, 64),
            blocks_of(3_000_000),
        ),
    ]
}

/// Number of the blocks that need not come to the host.
fn plain_blocks(archive: &MemoryArchive) -> u64 {
    let is_plain = |block: &&BlockInfo| match block.shape.kind {
        BlockKind::Bwt(shape) => {
            shape.coding == Coding::StaticRans && !shape.indexed && !shape.filtered
        }
        _ => false,
    };
    archive.blocks().iter().filter(is_plain).count() as u64
}

#[test]
fn the_bytes_are_those_of_the_host() {
    if gpu().is_none() {
        return;
    }
    let decoder = GpuDecoder::new(0).unwrap();
    let mut ways = [0, 0];
    for (name, raw, options) in streams() {
        let mut archive = open(&file_of(&raw, &options), &options);
        let mut out = untouched(raw.len() + 3);
        let size = raw.len() as u64;
        let done = archive
            .read_range_to_gpu(&decoder, 0..size, &mut out.slice())
            .unwrap();
        let found = content(&mut out);
        assert!(found[..raw.len()] == raw, "{name}");
        assert_eq!(found[raw.len()..], [0xEE; 3], "{name}: behind the bytes");
        let blocks = archive.blocks().len() as u64;
        assert_eq!(done.on_gpu, plain_blocks(&archive), "{name}");
        assert_eq!(done.on_gpu + done.by_host, blocks, "{name}");
        assert_eq!(done.cost.blocks, blocks, "{name}");
        ways[0] += done.on_gpu;
        ways[1] += done.by_host;
    }
    assert!(ways[0] >= 18 && ways[1] >= 21, "{ways:?}");
    say(format_args!(
        "{} blocks on the GPU, {} by the host",
        ways[0], ways[1]
    ));
}

#[test]
fn a_build_without_cuda_says_so() {
    if crate::gpu::is_built() {
        return;
    }
    assert!(matches!(GpuDecoder::new(0), Err(Error::Device(_))));
    assert!(matches!(DeviceBuffer::new(0, 10), Err(Error::Device(_))));
}

#[test]
fn ranges_begin_and_end_anywhere() {
    if gpu().is_none() {
        return;
    }
    let decoder = GpuDecoder::new(0).unwrap();
    let raw = [cases::random(450_000, 50), cases::random(150_000, 256)].concat();
    let options = blocks_of(100_000);
    let two_frames = [file_of(&raw, &options), file_of(&raw, &options)].concat();
    let raw = raw.repeat(2);
    let mut archive = open(&two_frames, &options);
    let borders = [
        0, 1, 99_999, 100_000, 100_001, 449_000, 512_345, 600_000, 812_000, 1_200_000,
    ];
    let mut count = 0;
    for from in borders {
        for to in borders.into_iter().filter(|&to| to >= from) {
            let len = (to - from) as usize;
            let mut out = untouched(len);
            let done = archive
                .read_range_to_gpu(&decoder, from..to, &mut out.slice())
                .unwrap();
            let found = content(&mut out);
            assert!(found == raw[from as usize..to as usize], "{from}..{to}");
            assert!(len == 0 || done.on_gpu + done.by_host > 0);
            count += 1;
        }
    }
    say(format_args!("{count} ranges restored"));
}

#[test]
fn memory_that_is_too_small_or_elsewhere_is_not_written() {
    if gpu().is_none() {
        return;
    }
    let decoder = GpuDecoder::new(0).unwrap();
    let raw = cases::random(300_000, 40);
    let options = blocks_of(100_000);
    let mut archive = open(&file_of(&raw, &options), &options);
    let mut out = untouched(299_999);
    let end = archive.read_range_to_gpu(&decoder, 0..300_000, &mut out.slice());
    assert!(matches!(end, Err(Error::Usage(_))), "{end:?}");
    let outside = archive.read_range_to_gpu(&decoder, 5..300_001, &mut out.slice());
    assert!(matches!(outside, Err(Error::Usage(_))), "{outside:?}");
    let limited = options.clone().limit_output(1000);
    let mut archive = open(&file_of(&raw, &options), &limited);
    let end = archive.read_range_to_gpu(&decoder, 0..200_000, &mut out.slice());
    assert!(matches!(end, Err(Error::OutputLimit { .. })), "{end:?}");
    assert!(content(&mut out) == [0xEE; 299_999]);
    assert!(matches!(GpuDecoder::new(1000), Err(Error::Device(_))));
}

/// Damage that only the checksum of the raw bytes shows, damage of slices, and of the payload.
#[test]
fn damaged_blocks_are_errors() {
    if gpu().is_none() {
        return;
    }
    let decoder = GpuDecoder::new(0).unwrap();
    let raw = cases::random(300_000, 40);
    let (listener, warnings) = Listener::of_warnings();
    let mut options = blocks_of(100_000);
    options.run.listener = listener;
    let file = file_of(&raw, &options);
    let middle = open(&file, &options).blocks()[1].coded.clone();
    let mut errors = 0;
    for at in [
        middle.start + 60,
        middle.start + 3000,
        middle.end - 1,
        middle.end - 5000,
    ] {
        let mut damaged = file.clone();
        damaged[at as usize] ^= 4;
        let mut archive = open(&damaged, &options);
        let mut out = untouched(300_000);
        let mut host = Vec::new();
        let expected = archive
            .read_range(0..300_000, &mut host)
            .unwrap_err();
        let found = archive
            .read_range_to_gpu(&decoder, 0..300_000, &mut out.slice())
            .unwrap_err();
        assert_eq!(found.to_string(), expected.to_string(), "byte {at}");
        // The blocks beside it are sound.
        archive
            .read_range_to_gpu(&decoder, 0..100_000, &mut out.slice())
            .unwrap();
        assert!(content(&mut out)[..100_000] == raw[..100_000]);
        errors += 1;
    }
    assert!(warnings.lock().unwrap().is_empty());
    say(format_args!("{errors} errors"));
}

/// Bytes on the GPU are compressed like the same bytes on the host.
#[test]
fn compressed_from_a_gpu_they_are_the_same_file() {
    if gpu().is_none() {
        return;
    }
    let raw = cases::text(20_000_000);
    let options = blocks_of(5_000_000);
    let mut buffer = untouched(raw.len());
    buffer.slice().span().write(0, &raw).unwrap();
    let mut file = Vec::new();
    crate::compress(buffer.slice().reader(), &mut file, &options).unwrap();
    assert!(file == file_of(&raw, &options));
    say("1 file");
}
