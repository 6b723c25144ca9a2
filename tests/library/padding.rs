//! Zeros behind the last frame, up to the end of the file, are padding for every reader.

use crate::common::cases;
use bwz::{Archive, Decoder, Encoder, Error, Lost, Options};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

fn options() -> Options {
    Options::new().with_block_size(1_000).unwrap()
}

fn compressed(raw: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, &options()).unwrap();
    file
}

fn padded(file: &[u8], zeros: usize) -> Vec<u8> {
    [file, &vec![0; zeros]].concat()
}

/// Sizes of padding around the sizes of single reads, and a record of tape.
const SIZES: [usize; 12] = [1, 2, 15, 16, 17, 31, 32, 33, 512, 10_240, 65_536, 3_000_000];

fn decoded(file: &[u8]) -> io::Result<Vec<u8>> {
    let mut raw = Vec::new();
    Decoder::new(file, &options()).read_to_end(&mut raw)?;
    Ok(raw)
}

#[test]
fn every_reader_passes_over_it() {
    let raw = cases::random(3_500, 4);
    let whole = compressed(&raw);
    let two = [&whole[..], &compressed(b"")].concat();
    for file in [&whole, &two] {
        for zeros in SIZES {
            let padded = padded(file, zeros);
            let mut restored = Vec::new();
            let summary = bwz::decompress(&padded[..], &mut restored, &options()).unwrap();
            assert_eq!(summary.coded_size, file.len() as u64);
            assert!(
                restored == raw && decoded(&padded).unwrap() == raw,
                "{zeros} zeros"
            );
            let mut archive = Archive::open(Cursor::new(&padded), &options()).unwrap();
            assert_eq!(archive.coded_size(), file.len() as u64);
            assert!(archive.extract(10..3_490).unwrap() == raw[10..3_490]);
            let mut saved = Vec::new();
            let recovery = bwz::recover(Cursor::new(&padded), &mut saved, &options()).unwrap();
            assert!(
                recovery.is_complete() && saved == raw,
                "{zeros} zeros: {recovery:?}"
            );
        }
    }
}

#[test]
fn anything_else_there_is_an_error_to_all() {
    let file = compressed(b"some bytes");
    let one = |at: usize, len: usize| {
        let mut tail = vec![0; len];
        tail[at] = 1;
        tail
    };
    let tails = [
        one(0, 1),
        one(1, 2),
        one(15, 16),
        one(16, 17),
        one(31, 40),
        one(70_000, 90_000),
        one(99_999, 100_000),
        [vec![0; 7], file.clone()].concat(),
        [vec![0; 512], file.clone(), vec![0; 512]].concat(),
        b"\0\xF7bwz".to_vec(),
    ];
    for tail in tails {
        let bad = [&file[..], &tail].concat();
        let place = tail.iter().position(|&byte| byte != 0).unwrap() + file.len();
        let mut raw = Vec::new();
        let error = bwz::decompress(&bad[..], &mut raw, &options()).unwrap_err();
        let Error::Format { what, offset, .. } = &error else {
            panic!("{error}")
        };
        assert!(
            what.contains("trailing garbage") && raw == b"some bytes",
            "{error}"
        );
        let at_frame = *offset == file.len() as u64;
        assert!(*offset == place as u64 || at_frame, "{error}");
        assert!(decoded(&bad).is_err());
        let opened = Archive::open(Cursor::new(&bad), &options());
        assert!(
            matches!(opened, Err(Error::Format { .. })),
            "{} bytes behind",
            tail.len()
        );
    }
}

#[test]
fn zeros_alone_or_in_front_are_no_file() {
    for file in [
        vec![0; 1],
        vec![0; 16],
        vec![0; 100_000],
        padded(&[0; 16], 5),
    ] {
        assert!(matches!(decoded(&file), Err(e) if e.to_string().contains("not a bwz file")));
        let error = Archive::open(Cursor::new(&file), &options()).unwrap_err();
        assert!(error.to_string().contains("not a bwz file"), "{error}");
        assert!(bwz::recover(Cursor::new(&file), Vec::new(), &options()).is_err());
    }
    let behind = [&[0; 16][..], &compressed(b"x")].concat();
    assert!(decoded(&behind).is_err());
    assert!(Archive::open(Cursor::new(&behind), &options()).is_err());
}

/// A file that was cut off and filled up with zeros, as a broken download is. A block that ends in
/// zeros of its own is whole, and the loss is reported.
#[test]
fn zeros_in_the_place_of_a_lost_end_are_no_padding() {
    let noise = cases::random(900, 256);
    let raw = [&noise[..], &[0; 100], &noise].concat();
    let file = compressed(&raw);
    let cut = 23 + 41 + 1_000;
    let cut_off = padded(&file[..cut], file.len() - cut);
    assert!(decoded(&cut_off).is_err());
    let mut saved = Vec::new();
    let recovery = bwz::recover(Cursor::new(&cut_off), &mut saved, &options()).unwrap();
    assert!(saved == raw[..1_000], "{} bytes", saved.len());
    assert_eq!(
        recovery.lost,
        [Lost {
            start: 1_000,
            end: None
        }]
    );
}

/// A file with very many zeros behind it. It counts the reads.
struct LongPadding {
    file: Cursor<Vec<u8>>,
    size: u64,
    pos: u64,
    reads: usize,
}

impl Read for LongPadding {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        self.file.set_position(self.pos);
        let mut count = self.file.read(out)?;
        if count == 0 {
            count = out.len().min((self.size - self.pos) as usize);
            out[..count].fill(0);
        }
        self.pos += count as u64;
        Ok(count)
    }
}

impl Seek for LongPadding {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.pos = match to {
            SeekFrom::Start(pos) => pos,
            SeekFrom::End(by) => self.size.saturating_add_signed(by),
            SeekFrom::Current(by) => self.pos.saturating_add_signed(by),
        };
        Ok(self.pos)
    }
}

#[test]
fn long_padding_is_passed_in_long_steps() {
    let file = Cursor::new(compressed(b"some bytes"));
    let mut input = LongPadding {
        file,
        size: 1 << 29,
        pos: 0,
        reads: 0,
    };
    let archive = Archive::open(&mut input, &options()).unwrap();
    assert_eq!(archive.raw_size(), 10);
    drop(archive);
    assert!(input.reads < 600, "{} reads", input.reads);
    (input.pos, input.reads) = (0, 0);
    let mut raw = Vec::new();
    bwz::decompress(&mut input, &mut raw, &options()).unwrap();
    assert!(
        raw == b"some bytes" && input.reads < 20_000,
        "{} reads",
        input.reads
    );
}

/// An output that records the size of each write.
#[derive(Default)]
struct Sizes(Vec<usize>);

impl Write for Sizes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// So no tape record that is filled up with zeros lies within a small frame, and none holds only a
/// header.
#[test]
fn a_small_frame_is_one_write_and_no_first_write_is_a_header_alone() {
    for size in [0, 1, 5_000, 61_440, 70_000, 300_000, 1_000_000] {
        let raw = cases::random(size, 256);
        let mut sizes = Sizes::default();
        let options = Options::new().with_block_size(65_536).unwrap();
        bwz::compress(&raw[..], &mut sizes, &options).unwrap();
        let mut encoder = Encoder::new(Sizes::default(), &options);
        encoder.write_all(&raw).unwrap();
        for Sizes(sizes) in [sizes, encoder.finish().unwrap().0] {
            let is_one = sizes.len() == 1 && sizes[0] < 61_440;
            assert_eq!(is_one, size < 61_000, "{size}: {sizes:?}");
            assert!(is_one || sizes[0] >= 61_440, "{size}: {sizes:?}");
        }
    }
}

/// Finished bytes are passed on when a flush asks for them.
#[test]
fn a_flush_holds_nothing_back() {
    let raw = cases::random(200_000, 256);
    let options = Options::new().with_block_size(65_536).unwrap();
    let mut encoder = Encoder::new(Vec::new(), &options);
    for part in raw.chunks(1_000) {
        encoder.write_all(part).unwrap();
        encoder.flush().unwrap();
    }
    let (file, _) = encoder.finish().unwrap();
    assert!(decoded(&file).unwrap() == raw);
}
