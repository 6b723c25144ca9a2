//! Flushes of the encoder: they end blocks, and everything before them can be restored.

use crate::common::{cases, compressed, decompressed, fasta, options};
use bwz::{Archive, Encoder, Error, Options};
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

/// An output that is looked at while an encoder writes to it.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes `pieces` with a flush after each. Returns the file after each flush, and the whole file.
fn flushed(pieces: &[&[u8]], options: &Options) -> (Vec<Vec<u8>>, Vec<u8>) {
    let sink = Sink::default();
    let mut encoder = Encoder::new(sink.clone(), options);
    let mut so_far = Vec::new();
    for piece in pieces {
        encoder.write_all(piece).unwrap();
        encoder.flush().unwrap();
        so_far.push(sink.bytes());
    }
    encoder.finish().unwrap();
    (so_far, sink.bytes())
}

fn raw_sizes(file: Vec<u8>) -> Vec<u64> {
    let archive = Archive::open(Cursor::new(file), &options(1 << 20)).unwrap();
    let sizes = archive
        .blocks()
        .iter()
        .map(|block| block.raw.end - block.raw.start);
    sizes.collect()
}

#[test]
fn everything_before_a_flush_can_be_restored() {
    let raw = cases::text(200_000);
    let pieces = [
        &raw[..1],
        &raw[1..70_000],
        &raw[70_000..70_010],
        &raw[70_010..],
    ];
    let (so_far, file) = flushed(&pieces, &options(1 << 16));
    let mut written = 0;
    for (part, piece) in so_far.iter().zip(pieces) {
        written += piece.len();
        let (restored, end) = decompressed(part);
        assert!(restored == raw[..written], "{written}");
        assert!(matches!(end, Err(Error::Format { .. })), "{end:?}");
        let mut saved = Vec::new();
        bwz::recover(Cursor::new(part), &mut saved, &options(1 << 16)).unwrap();
        assert!(saved == raw[..written], "{written}");
    }
    assert!(decompressed(&file).0 == raw);
    let sizes = [1, 65_536, 69_999 - 65_536, 10, 65_536, 129_990 - 65_536];
    assert_eq!(raw_sizes(file), sizes);
}

#[test]
fn an_empty_flush_writes_no_block() {
    let (so_far, file) = flushed(&[b"", b"", b"text", b"", b""], &options(1 << 16));
    assert_eq!(so_far[1], b"");
    assert_eq!(so_far[2], so_far[4]);
    assert_eq!(raw_sizes(file), [4]);
    let (_, empty) = flushed(&[b""], &options(1 << 16));
    assert_eq!(empty, compressed(b"", 1 << 16));
}

#[test]
fn flushed_files_do_not_depend_on_threads() {
    let raw = cases::text(300_000);
    let pieces: Vec<_> = raw.chunks(37_000).collect();
    let file = |threads| flushed(&pieces, &options(1 << 16).threads(threads)).1;
    assert!(file(1) == file(4));
}

/// Blocks of sequences and of lines then end within a record, which no other block does.
#[test]
fn a_flush_within_a_record_leaves_nothing_behind() {
    let raw = fasta(9000);
    let pieces: Vec<_> = raw.chunks(1777).collect();
    for options in [
        options(1 << 12).index(8).unwrap(),
        options(1 << 12).split_at(b'\n'),
    ] {
        let (so_far, file) = flushed(&pieces, &options);
        for (number, part) in so_far.iter().enumerate() {
            let written = raw.len().min((number + 1) * 1777);
            assert!(decompressed(part).0 == raw[..written], "{number}");
        }
        assert!(decompressed(&file).0 == raw);
    }
}
