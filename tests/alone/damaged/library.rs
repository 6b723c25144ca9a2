//! A damaged file through every entry point of the library.

use super::tally::End;
use crate::common::mutation::parts::{self, Kind};
use crate::common::mutation::random::Random;
use bwz::{Archive, Decoder, Error, Options};
use std::io::{Cursor, Read};
use std::ops::Range;

/// Maximum number of bytes for a plain search, which is slow.
const MOST_SEARCHED: usize = 100_000;

/// The output of `decompress`, and how it ended.
struct Outcome {
    output: Vec<u8>,
    end: Result<(), Error>,
}

/// Decompresses, reads, recovers and searches `file`. Returns the output of `decompress` and how it
/// ended. Panics if two entry points contradict each other.
pub fn visit(file: &[u8], random: &mut Random) -> (Vec<u8>, End) {
    let options = Options::new()
        .threads(1 + random.below(2))
        .memory(64 << 20);
    let mut output = Vec::new();
    let end = bwz::decompress(file, &mut output, &options).map(|summary| {
        assert_eq!(
            summary.raw_size,
            output.len() as u64,
            "the size that decompress tells"
        );
        let (frames, padding) = file.split_at(summary.coded_size as usize);
        assert!(!frames.is_empty(), "the size of the file");
        assert!(
            padding.iter().all(|&byte| byte == 0),
            "the size of the file"
        );
    });
    let outcome = Outcome { output, end };
    if random.one_in(8) {
        pull(file, &outcome, &options);
    }
    save(file, &outcome, &options);
    match Archive::open(Cursor::new(file), &options) {
        Ok(mut archive) => {
            let whole = read(&mut archive, &outcome, random);
            let verify = random.one_in(2);
            let sound = outcome.end.is_ok();
            let options = options.verify(verify);
            let mut archive = Archive::open(Cursor::new(file), &options).unwrap();
            let checked = verify || sound || !is_indexed(file);
            let searched = match archive.has_sequences() {
                true => search_sequences(&mut archive, whole.as_deref(), sound, random),
                false => search(&mut archive, whole.as_deref(), checked, random),
            };
            if let Err(e) = searched {
                // A frame's table may be wrong even in a sound file, since no restored byte depends
                // on it.
                let said = e.to_string();
                let of_table =
                    said.contains("frame's table") || said.contains("there is no record");
                assert!(!sound || of_table, "a search of a sound file fails: {e}");
            }
        }
        Err(e) => assert!(outcome.end.is_err(), "a sound file cannot be opened: {e}"),
    }
    let end = match outcome.end {
        Ok(()) => End::Accepted,
        Err(Error::Format { what, .. }) => End::Rejected(what.into_owned()),
        Err(Error::Unsupported { what, .. }) => End::Unsupported(what.into_owned()),
        Err(Error::Limit { .. } | Error::Version { .. }) => End::Refused,
        Err(e) => panic!("{e:?}"),
    };
    (outcome.output, end)
}

/// True if any block claims to have an index.
fn is_indexed(file: &[u8]) -> bool {
    let parts = parts::parse(file);
    parts
        .iter()
        .any(|part| part.kind == Kind::BlockHeader && part.get(10, 1) & 4 != 0)
}

/// A `Decoder` returns the output of `decompress`.
fn pull(file: &[u8], outcome: &Outcome, options: &Options) {
    let mut pulled = Vec::new();
    let end = Decoder::new(file, options).read_to_end(&mut pulled);
    assert_eq!(
        end.is_ok(),
        outcome.end.is_ok(),
        "Decoder and decompress end otherwise"
    );
    assert!(
        end.is_err() || pulled == outcome.output,
        "Decoder gives other bytes"
    );
}

/// Recovery saves all of a sound file, and no bytes that are not in a damaged one.
fn save(file: &[u8], outcome: &Outcome, options: &Options) {
    let mut saved = Vec::new();
    match bwz::recover(Cursor::new(file), &mut saved, options) {
        Ok(recovery) => {
            let complete = recovery.is_complete();
            let sound = outcome.end.is_ok();
            assert_eq!(
                recovery.raw_size,
                saved.len() as u64,
                "the size that recover tells"
            );
            assert!(
                complete || !sound,
                "recover misses something in a sound file"
            );
            assert!(
                !sound || saved == outcome.output,
                "recover saves other bytes"
            );
            let goes_on = saved.starts_with(&outcome.output);
            assert!(
                goes_on || !complete,
                "recover saves other bytes and misses none"
            );
        }
        Err(e) => assert!(outcome.end.is_err(), "recover fails on a sound file: {e}"),
    }
}

/// Reads the raw bytes by position, all of them and a part. For a sound file they are the output of
/// `decompress`.
fn read(
    archive: &mut Archive<Cursor<&[u8]>>,
    outcome: &Outcome,
    random: &mut Random,
) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    let end = archive.read_range(0..archive.raw_size(), &mut whole);
    let range = range(archive.raw_size(), u64::MAX, random);
    let mut part = Vec::new();
    let part_end = archive.read_range(range.clone(), &mut part);
    if outcome.end.is_ok() {
        end.as_ref()
            .unwrap_or_else(|e| panic!("a sound file is not read: {e}"));
        assert!(whole == outcome.output, "other bytes by position");
    }
    end.ok()?;
    part_end.unwrap_or_else(|e| panic!("a part of what can be read cannot: {e}"));
    assert!(
        part == whole[range.start as usize..range.end as usize],
        "{range:?}: other bytes"
    );
    Some(whole)
}

/// A range within `size` bytes, with a length of up to `most`.
fn range(size: u64, most: u64, random: &mut Random) -> Range<u64> {
    let start = random.next() % (size + 1);
    start..start + random.next() % (size - start + 1).min(most)
}

/// Searches find the same as a plain search in `whole`, if the whole file can be read. Otherwise
/// they find nothing.
///
/// This holds for searches that check and decode everything. A search by an index in the file is
/// therefore asked to verify it.
fn search(
    archive: &mut Archive<Cursor<&[u8]>>,
    whole: Option<&[u8]>,
    checked: bool,
    random: &mut Random,
) -> bwz::Result<()> {
    let raw = whole.unwrap_or_default();
    let patterns = patterns(raw, archive, random);
    let compared = checked && raw.len() <= MOST_SEARCHED;
    let wanted = |pattern: &Vec<u8>| occurrences(raw, pattern);
    let all = if compared { usize::MAX } else { 100 };
    let range = range(archive.raw_size(), 3000, random);
    let counts = archive.count(&patterns);
    let found = archive.locate(&patterns, all);
    let part = archive.extract(range.clone())?;
    let counts = counts?;
    let found = found?;
    if compared {
        let raw = whole.expect("a search finds something where nothing can be read");
        let wanted: Vec<Vec<u64>> = patterns.iter().map(wanted).collect();
        let sizes = counts.iter().map(|count| *count as usize);
        assert!(sizes.eq(wanted.iter().map(Vec::len)), "wrong counts");
        assert!(
            found
                .iter()
                .map(|found| &found.positions)
                .eq(&wanted),
            "wrong positions"
        );
        assert!(
            part == raw[range.start as usize..range.end as usize],
            "wrong bytes extracted"
        );
    }
    Ok(())
}

/// In a sound file, each match of a search by sequence begins with the right letter, at a base of a
/// record in the list of records.
fn search_sequences(
    archive: &mut Archive<Cursor<&[u8]>>,
    whole: Option<&[u8]>,
    sound: bool,
    random: &mut Random,
) -> bwz::Result<()> {
    let raw = whole.unwrap_or_default();
    let mut patterns = patterns(raw, archive, random);
    patterns
        .iter_mut()
        .for_each(|pattern| pattern.retain(u8::is_ascii_alphabetic));
    patterns.retain(|pattern| !pattern.is_empty());
    let counts = archive.count(&patterns);
    let found = archive.locate(&patterns, usize::MAX);
    let records = archive.records().map(<[_]>::to_vec);
    let counts = counts?;
    let found = found?;
    let records = records?;
    for (pattern, (count, found)) in patterns.iter().zip(counts.iter().zip(found)) {
        let places = archive.places(&found.positions)?;
        if !sound {
            continue;
        }
        assert_eq!(*count, places.len() as u64, "other counts than positions");
        for place in places {
            let byte = raw[place.offset as usize];
            assert!(
                letter(byte) == letter(pattern[0]),
                "{:?} at {} for {:?}",
                char::from(byte),
                place.offset,
                String::from_utf8_lossy(pattern)
            );
            // Residues in front of the first header belong to no record.
            let Some((record, base)) = place.base else {
                continue;
            };
            let record = &records[record as usize];
            let line = |base: u64| base / record.line_bases * record.line_width;
            let offset = || record.offset + line(base) + base % record.line_bases;
            assert!(
                !record.is_regular || place.offset == offset(),
                "another base at {place:?}"
            );
        }
    }
    if let Some(record) = records.get(random.below(records.len())) {
        let bases = archive.region(&record.name, 0..record.length.min(100))?;
        let first = raw.get(record.offset as usize);
        let named = records
            .iter()
            .filter(|other| other.name == record.name)
            .count();
        let alike = bases
            .first()
            .is_none_or(|base| Some(base) == first);
        assert!(!sound || named > 1 || alike, "another base begins a record");
    }
    Ok(())
}

/// A few patterns that occur in `raw`, one across two blocks, and some that may not.
fn patterns(raw: &[u8], archive: &Archive<Cursor<&[u8]>>, random: &mut Random) -> Vec<Vec<u8>> {
    let mut slice = |at: usize, most: usize| {
        let end = raw.len().min(at + 1 + random.below(most));
        raw[at.min(end)..end].to_vec()
    };
    let end = archive
        .blocks()
        .first()
        .map_or(0, |block| block.raw.end as usize);
    let across = slice(end.min(raw.len()).saturating_sub(3), 20);
    let start = random.below(raw.len());
    let mut slice = |most: usize| {
        let end = raw.len().min(start + 1 + random.below(most));
        raw[start.min(end)..end].to_vec()
    };
    let short = slice(3);
    let long = slice(200);
    vec![
        across,
        short,
        long,
        random.bytes(2),
        vec![random.next() as u8],
    ]
}

/// The positions of `pattern` in `raw`. An empty pattern is everywhere.
pub fn occurrences(raw: &[u8], pattern: &[u8]) -> Vec<u64> {
    match pattern.len() {
        0 => (0..=raw.len() as u64).collect(),
        len => (0..)
            .zip(raw.windows(len))
            .filter(|(_, at)| *at == pattern)
            .map(|(n, _)| n)
            .collect(),
    }
}

/// A letter as a search of nucleotides compares it: of either case, U as T.
fn letter(byte: u8) -> u8 {
    match byte.to_ascii_uppercase() {
        b'U' => b'T',
        upper => upper,
    }
}
