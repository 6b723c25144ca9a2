//! A damaged file through every door of the library.

use crate::common::mutation::random::Random;
use crate::tally::End;
use bwz::{Archive, Decoder, Error, Options};
use std::io::{Cursor, Read};

/// A plain search takes too long in more bytes than these.
const MOST_SEARCHED: usize = 100_000;

/// What `decompress` gave out, and how it ended.
struct Outcome {
    output: Vec<u8>,
    end: Result<(), Error>,
}

/// Decompresses, reads, recovers and searches `file`; gives what `decompress` gave out and how it ended. Panics where one door contradicts another.
pub fn visit(file: &[u8], random: &mut Random) -> (Vec<u8>, End) {
    let options = Options::new().threads(1 + random.below(2)).memory(64 << 20);
    let mut output = Vec::new();
    let end = bwz::decompress(file, &mut output, &options).map(|summary| {
        assert_eq!(summary.raw_size, output.len() as u64, "the size that decompress tells");
        assert_eq!(summary.coded_size, file.len() as u64, "the size of the file");
    });
    let outcome = Outcome { output, end };
    if random.one_in(8) {
        pull(file, &outcome, &options);
    }
    save(file, &outcome, &options);
    match Archive::open(Cursor::new(file), &options) {
        Ok(mut archive) => {
            read(&mut archive, &outcome, random);
            search(&mut archive, &outcome, random);
        }
        Err(e) => assert!(outcome.end.is_err(), "a sound file cannot be opened: {e}"),
    }
    let end = match outcome.end {
        Ok(()) => End::Accepted,
        Err(Error::Format { what, .. }) => End::Rejected(what.into_owned()),
        Err(Error::Limit { .. }) => End::TooLarge,
        Err(e) => panic!("{e:?}"),
    };
    (outcome.output, end)
}

/// A `Decoder` gives what `decompress` gives.
fn pull(file: &[u8], outcome: &Outcome, options: &Options) {
    let mut pulled = Vec::new();
    let end = Decoder::new(file, options).read_to_end(&mut pulled);
    assert_eq!(end.is_ok(), outcome.end.is_ok(), "Decoder and decompress end otherwise");
    assert!(end.is_err() || pulled == outcome.output, "Decoder gives other bytes");
}

fn save(file: &[u8], outcome: &Outcome, options: &Options) {
    let mut saved = Vec::new();
    match bwz::recover(Cursor::new(file), &mut saved, options) {
        Ok(recovery) => {
            assert_eq!(recovery.raw_size, saved.len() as u64, "the size that recover tells");
            if outcome.end.is_ok() {
                assert_eq!(recovery.lost, [], "recover misses something in a sound file");
                assert!(saved == outcome.output, "recover saves other bytes of a sound file");
            }
        }
        Err(e) => assert!(outcome.end.is_err(), "recover fails on a sound file: {e}"),
    }
}

/// Ranges of a sound file are what `decompress` gives.
fn read(archive: &mut Archive<Cursor<&[u8]>>, outcome: &Outcome, random: &mut Random) {
    let size = archive.raw_size();
    let start = random.next() % (size + 1);
    let part = start..start + random.next() % (size - start + 1);
    for range in [0..size, part] {
        let mut bytes = Vec::new();
        let end = archive.read_range(range.clone(), &mut bytes);
        if outcome.end.is_ok() {
            let wanted = &outcome.output[range.start as usize..range.end as usize];
            end.unwrap_or_else(|e| panic!("{range:?} of a sound file: {e}"));
            assert!(bytes == wanted, "{range:?}: other bytes");
        }
    }
}

/// Searches of a sound file find what a plain search finds.
fn search(archive: &mut Archive<Cursor<&[u8]>>, outcome: &Outcome, random: &mut Random) {
    let (raw, size) = (&outcome.output, archive.raw_size());
    let patterns = patterns(raw, archive, random);
    let counts = archive.count(&patterns);
    let compared = outcome.end.is_ok() && raw.len() <= MOST_SEARCHED;
    let limit = if compared { usize::MAX } else { 100 };
    let found = archive.locate(&patterns, limit);
    let start = random.next() % (size + 1);
    let range = start..size.min(start + random.next() % 3000);
    let extract = archive.extract(range.clone());
    if !compared {
        return;
    }
    let wanted: Vec<Vec<u64>> = patterns.iter().map(|pattern| occurrences(raw, pattern)).collect();
    let counts = counts.unwrap_or_else(|e| panic!("count in a sound file: {e}"));
    let wanted_counts: Vec<u64> = wanted.iter().map(|found| found.len() as u64).collect();
    assert_eq!(counts, wanted_counts, "wrong counts");
    let found = found.unwrap_or_else(|e| panic!("locate in a sound file: {e}"));
    assert!(found.iter().map(|found| &found.positions).eq(&wanted), "wrong positions");
    let extract = extract.unwrap_or_else(|e| panic!("extract from a sound file: {e}"));
    assert!(extract == raw[range.start as usize..range.end as usize], "wrong bytes extracted");
}

/// A few patterns that occur in `raw`, one across two blocks, and some that may not.
fn patterns(raw: &[u8], archive: &Archive<Cursor<&[u8]>>, random: &mut Random) -> Vec<Vec<u8>> {
    let mut slice = |at: usize, most: usize| {
        let end = raw.len().min(at + 1 + random.below(most));
        raw[at.min(end)..end].to_vec()
    };
    let end = archive.blocks().first().map_or(0, |block| block.raw.end as usize);
    let across = slice(end.min(raw.len()).saturating_sub(3), 20);
    let start = random.below(raw.len());
    let mut slice = |most: usize| {
        let end = raw.len().min(start + 1 + random.below(most));
        raw[start.min(end)..end].to_vec()
    };
    let (short, long) = (slice(3), slice(200));
    vec![across, short, long, random.bytes(2), vec![random.next() as u8]]
}

/// Where `pattern` occurs in `raw`; an empty one everywhere.
pub fn occurrences(raw: &[u8], pattern: &[u8]) -> Vec<u64> {
    match pattern.len() {
        0 => (0..=raw.len() as u64).collect(),
        len => {
            (0..).zip(raw.windows(len)).filter(|(_, at)| *at == pattern).map(|(n, _)| n).collect()
        }
    }
}
