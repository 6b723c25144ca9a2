//! Code that several test files share.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod archives;
pub mod cases;
pub mod draft_8;
pub mod layout;
pub mod mutation;
pub mod rounds;
pub mod say;

use bwz::internals::{self, BlockBytes};
use bwz::{Archive, Error, Event, Options};
use std::io::{Read, Seek};
use std::sync::{Arc, Mutex};

/// Options by which small inputs have many blocks.
pub fn options(block_size: u32) -> Options {
    Options::new()
        .with_block_size(block_size.into())
        .unwrap()
        .threads(2)
        .memory(1 << 30)
}

/// `options` with a listener that keeps warnings, and these.
pub fn hearing(options: Options) -> (Options, Arc<Mutex<Vec<String>>>) {
    let warnings = Arc::default();
    let heard: Arc<Mutex<Vec<String>>> = Arc::clone(&warnings);
    let options = options.on_event(move |event| {
        if let Event::Warning(what) = event {
            heard.lock().unwrap().push(what);
        }
    });
    (options, warnings)
}

/// The result of `work`, and the warnings given during it.
pub fn heard<T>(options: Options, work: impl FnOnce(&Options) -> T) -> (T, Vec<String>) {
    let (options, warnings) = hearing(options);
    let done = work(&options);
    let warnings = warnings.lock().unwrap().clone();
    (done, warnings)
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

/// `raw`, of at least 8000 bytes, as one frame whose blocks have different sizes. It has an index
/// of the given sample rate, if one is given.
pub fn uneven(raw: &[u8], rate: Option<u32>) -> Vec<u8> {
    let pieces = uneven_pieces(raw);
    internals::frame(
        pieces
            .into_iter()
            .map(|piece| block_of(piece, rate)),
        &[],
    )
    .unwrap()
}

/// The raw bytes of the blocks of [`uneven`].
pub fn uneven_pieces(mut raw: &[u8]) -> Vec<&[u8]> {
    let pieces = [1, 3000, 2, 700, 4000, 1];
    let mut pieces: Vec<_> = pieces
        .iter()
        .map(|&size| raw.split_off(..size).unwrap())
        .collect();
    pieces.push(raw);
    pieces
}

/// A block that is not yet in a file.
pub fn block_of(raw: &[u8], rate: Option<u32>) -> BlockBytes {
    let file = indexed(raw, 1 << 20, rate);
    internals::blocks(&file, &options(1))
        .next()
        .unwrap()
        .unwrap()
}

/// Sequences in lines of 60, as one FASTA file.
pub fn fasta(size: usize) -> Vec<u8> {
    let letters = cases::random(size, 4);
    let mut raw = Vec::new();
    for (n, sequence) in letters.chunks(2500).enumerate() {
        raw.extend(format!(">sequence {n}\n").bytes());
        for line in sequence.chunks(60) {
            raw.extend(
                line.iter()
                    .map(|&letter| b"ACGT"[usize::from(letter)]),
            );
            raw.push(b'\n');
        }
    }
    raw
}

/// FASTA with lower case, CRLF line ends, lines of other widths, comments, blank lines, records
/// without residues, headers with UTF-8 characters beyond ASCII, and no line end at the end.
pub fn odd_fasta() -> Vec<u8> {
    let mut raw = b";a comment\n\n".to_vec();
    for (n, sequence) in cases::random(12_000, 7).chunks(1100).enumerate() {
        raw.extend(format!(">s\u{e9}quence {n} \u{1}\n").bytes());
        for (line, letters) in sequence.chunks(50 + n % 3).enumerate() {
            let soft = if line / 7 % 3 == 1 { 0x20 } else { 0 };
            raw.extend(
                letters
                    .iter()
                    .map(|&letter| b"ACGTN*-"[usize::from(letter)] | soft),
            );
            raw.extend(if n % 4 == 1 { &b"\r\n"[..] } else { b"\n" });
            if line % 40 == 13 {
                raw.extend([&b"\n"[..], b"12 not residues\n", b"; note\n", b"ACG\n"][n % 4]);
            }
        }
        raw.extend(if n % 5 == 2 { &b">empty\n"[..] } else { b"" });
    }
    raw.pop();
    raw
}

/// FASTA whose lines of sequences contain blanks, and bytes that are no residues.
pub fn fasta_with_blanks() -> Vec<u8> {
    let mut raw = b"\xEF\xBB\xBF> s0 of blanks\n".to_vec();
    for (n, letters) in cases::random(12_000, 4).chunks(60).enumerate() {
        raw.extend(
            letters
                .iter()
                .map(|&letter| b"ACGT"[usize::from(letter)]),
        );
        match n % 9 {
            2 => raw.extend(b"  \t"),
            4 => raw.insert(raw.len() - 30, b' '),
            5 => raw.extend(b"1?"),
            7 => raw.extend(b"\xC2\xA0\r"),
            _ => {}
        }
        raw.push(b'\n');
        if n % 40 == 39 {
            raw.extend(format!(">  s{n}\n").bytes());
        }
    }
    raw
}

/// FASTQ whose bases and qualities are wrapped, except in some records.
pub fn wrapped_fastq() -> Vec<u8> {
    let mut raw = Vec::new();
    for (n, letters) in cases::random(12_000, 4).chunks(130).enumerate() {
        let width = if n % 3 == 1 { letters.len() } else { 50 };
        raw.extend(format!("@read{n}\n").bytes());
        for line in letters.chunks(width) {
            raw.extend(
                line.iter()
                    .map(|&letter| b"ACGT"[usize::from(letter)]),
            );
            raw.extend(if n % 7 == 6 { &b" \n"[..] } else { b"\n" });
        }
        raw.extend(b"+\n");
        for line in letters.chunks(width) {
            raw.extend(
                line.iter()
                    .map(|&letter| b"@+I#"[usize::from(letter)]),
            );
            raw.push(b'\n');
        }
    }
    raw
}

/// `raw`, which is FASTA or FASTQ, as blocks of about 5000 bytes with an index of their sequences.
pub fn indexed_sequences(raw: &[u8]) -> Vec<u8> {
    indexed(raw, 5000, Some(8))
}

/// A frame of two blocks with tables. One of the blocks has tables too.
pub fn with_tables(raw: &[u8], rate: Option<u32>) -> Vec<u8> {
    let tables: [(u16, &[u8]); 3] = [(0x8005, b"content"), (0xFFFF, b""), (0x8000, &[7; 300])];
    let (first, second) = raw.split_at(raw.len() / 2);
    let first = internals::with_tables(block_of(first, rate), &tables).unwrap();
    internals::frame([first, block_of(second, rate)], &tables).unwrap()
}

/// The bytes to which `file` restores, and how that ended.
pub fn decompressed(file: &[u8]) -> (Vec<u8>, Result<bwz::Summary, Error>) {
    let mut raw = Vec::new();
    let end = bwz::decompress(file, &mut raw, &options(1 << 20).memory(64 << 20));
    (raw, end)
}

/// The last position of each pattern.
pub fn last<R: Read + Seek + Send>(
    archive: &mut Archive<R>,
    patterns: &[Vec<u8>],
) -> Vec<Option<u64>> {
    let found = archive
        .searcher()
        .and_then(|mut searcher| searcher.locate_last(patterns))
        .unwrap();
    let all = found
        .into_iter()
        .map(|mut of| (of.positions.pop(), of.positions));
    all.map(|(last, others)| {
        assert!(others.is_empty());
        last
    })
    .collect()
}
