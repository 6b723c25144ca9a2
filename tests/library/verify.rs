//! Blocks with false content and matching checksums. A search that decodes a block detects it, and
//! a search by an index does if it is asked to verify.

use crate::common;
use crate::common::layout::FOOTER;
use crate::common::mutation::parts::{self, Kind, Part};
use crate::common::mutation::random::Random;
use crate::common::mutation::repair::{self, Care};
use crate::common::{cases, compressed, indexed, options};
use bwz::{Archive, Error, Result};
use std::io::Cursor;

/// The file with its parts changed. All checksums but those of raw bytes are made right again.
fn changed(file: &[u8], change: impl FnOnce(&mut [Part])) -> Vec<u8> {
    let mut parts = parts::parse(file);
    change(&mut parts);
    repair::sign(&mut parts, Care::All, &mut Random::new(0));
    parts::join(&parts)
}

/// The first part of a kind.
fn first(parts: &mut [Part], kind: Kind) -> &mut Part {
    parts
        .iter_mut()
        .find(|part| part.kind == kind)
        .unwrap()
}

/// A text of 37,500 runs, which are one slice, with an index too.
fn text() -> Vec<u8> {
    cases::random(50_000, 4)
}

/// The only sample states another row, so counts and positions that depend on it may be anything.
fn with_wrong_sample(file: &[u8]) -> Vec<u8> {
    changed(file, |parts| first(parts, Kind::Samples).bytes[1] ^= 1)
}

/// The checksums of the raw bytes and of the stream belong to another text.
fn with_wrong_raw_checksum(file: &[u8]) -> Vec<u8> {
    changed(file, |parts| {
        first(parts, Kind::BlockHeader).set(22, 4, 0x0101_0101);
    })
}

fn with_wrong_stream_checksum(mut file: Vec<u8>) -> Vec<u8> {
    let footer = file.len() - FOOTER;
    file[footer + 16..footer + 20].copy_from_slice(&[1; 4]);
    let checksum = crc32fast::hash(&file[footer..footer + 28]);
    file[footer + 28..footer + 32].copy_from_slice(&checksum.to_le_bytes());
    file
}

/// The index of the first block has another Head.
fn with_wrong_head(file: &[u8]) -> Vec<u8> {
    changed(file, |parts| first(parts, Kind::Edge).bytes[0] ^= 1)
}

/// The results of searches of all kinds, or the first error of any.
fn search(file: &[u8], verify: bool) -> Result<(u64, usize)> {
    let open = || Archive::open(Cursor::new(file), &options(1).verify(verify));
    let pattern = &text()[1000..1005];
    let count = open()?.count(&[pattern])?[0];
    let many: Vec<&[u8]> = vec![pattern; 5_000];
    assert_eq!(open()?.count(&many)?, vec![count; 5_000]);
    let located = open()?.locate(&[pattern], usize::MAX)?;
    assert_eq!(located[0].count, count);
    // In several batches, for which blocks are kept.
    let mut archive = Archive::open(
        Cursor::new(file),
        &options(1).memory(40 << 20).verify(verify),
    )?;
    for found in archive.counts(&many) {
        assert_eq!(found?.1, count);
    }
    Ok((count, located[0].positions.len()))
}

fn assert_damaged(what: &str, end: Result<(u64, usize)>) {
    assert!(matches!(end, Err(Error::Format { .. })), "{what}: {end:?}");
}

#[test]
fn a_block_without_an_index_is_checked_as_when_it_is_restored() {
    let file = compressed(&text(), 1 << 20);
    let wanted = search(&file, false).unwrap();
    assert_eq!(search(&file, true).unwrap(), wanted);
    for (what, bad) in [
        ("sample", with_wrong_sample(&file)),
        ("raw checksum", with_wrong_raw_checksum(&file)),
        ("stream checksum", with_wrong_stream_checksum(file.clone())),
    ] {
        assert!(common::decompressed(&bad).1.is_err(), "{what}");
        assert_damaged(what, search(&bad, false));
    }
}

#[test]
fn an_index_that_lies_is_found_out_if_asked_for() {
    // A block of several slices, so that a search for one pattern leaves the block in the file.
    let raw = cases::random(4 << 20, 4);
    let file = indexed(&raw, 4 << 20, Some(8));
    let one = |file: &[u8], verify| {
        let options = options(1).verify(verify);
        let mut archive = Archive::open(Cursor::new(file), &options)?;
        let count = archive.count(&[&raw[1000..1012]])?[0];
        let pieces = archive.extract(9..19)?;
        Ok((count, pieces.len(), archive.search_cost().blocks))
    };
    let (count, _, decoded) = one(&file, false).unwrap();
    assert_eq!(decoded, 0, "the search is by the index");
    assert_eq!(one(&file, true).unwrap(), (count, 10, 2));
    let bad = with_wrong_raw_checksum(&file);
    assert_eq!(
        one(&bad, false).unwrap(),
        (count, 10, 0),
        "what is not read is not checked"
    );
    let end: Result<_> = one(&bad, true);
    assert!(matches!(end, Err(Error::Format { .. })), "{end:?}");
    let extracted = Archive::open(Cursor::new(&bad), &options(1).verify(true))
        .and_then(|mut archive| archive.extract(9..19));
    assert!(
        matches!(extracted, Err(Error::Format { .. })),
        "{extracted:?}"
    );
}

#[test]
fn an_index_decoded_with_its_block_is_checked() {
    let raw = text();
    let file = indexed(&raw, 1 << 20, Some(256));
    assert!(search(&file, true).is_ok());
    let bad = with_wrong_head(&file);
    assert_damaged("head", search(&bad, true));
    // No match is near an end of the block, so the search has no use for Head.
    assert!(search(&bad, false).is_ok());
}

/// Even a pattern that needs no search is not found in a damaged file, if verification is asked
/// for.
#[test]
fn the_empty_pattern_is_verified_too() {
    let bad = with_wrong_raw_checksum(&compressed(&text(), 1 << 20));
    let count = |verify| {
        Archive::open(Cursor::new(&bad), &options(1).verify(verify))
            .and_then(|mut archive| archive.count(&[""]))
    };
    assert_eq!(count(false).unwrap(), [50_001]);
    assert!(count(true).is_err());
}
