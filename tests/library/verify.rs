//! Blocks with false content and matching checksums. A search that decodes a block detects it, and
//! a search by an index does if it is asked to verify.

use crate::common;
use crate::common::{cases, compressed, indexed, options};
use bwz::{Archive, Error, Result};
use std::io::Cursor;
use std::ops::Range;

const BLOCK: usize = 16;
const PAYLOAD: usize = BLOCK + 42;

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn seal(file: &mut [u8], checked: Range<usize>, at: usize) {
    let checksum = crc32fast::hash(&file[checked]);
    put(file, at, &checksum.to_le_bytes());
}

/// Makes the checksums of the first block's payload and header right.
fn seal_block(file: &mut [u8]) {
    let size = u32::from_le_bytes(file[BLOCK + 17..BLOCK + 21].try_into().unwrap()) as usize;
    seal(file, PAYLOAD..PAYLOAD + size, BLOCK + 34);
    seal(file, BLOCK..BLOCK + 38, BLOCK + 38);
}

/// A text of 37,500 runs, which are one slice, with an index too.
fn text() -> Vec<u8> {
    cases::random(50_000, 4)
}

/// The only sample states another row, so counts and positions that depend on it may be anything.
fn with_wrong_sample(mut file: Vec<u8>) -> Vec<u8> {
    file[PAYLOAD + 1] ^= 1;
    seal_block(&mut file);
    file
}

/// The checksums of the raw bytes and of the stream belong to another text.
fn with_wrong_raw_checksum(mut file: Vec<u8>) -> Vec<u8> {
    let footer = file.len() - 32;
    put(&mut file, BLOCK + 22, &[1; 4]);
    put(&mut file, footer + 20, &[1; 4]);
    seal_block(&mut file);
    seal(&mut file, footer..footer + 24, footer + 24);
    file
}

fn with_wrong_stream_checksum(mut file: Vec<u8>) -> Vec<u8> {
    let footer = file.len() - 32;
    put(&mut file, footer + 20, &[1; 4]);
    seal(&mut file, footer..footer + 24, footer + 24);
    file
}

/// The index of the first block, which has one slice, has another Head.
fn with_wrong_head(mut file: Vec<u8>, raw: &[u8]) -> Vec<u8> {
    let head = file
        .windows(128)
        .position(|window| window == &raw[..128])
        .unwrap();
    let index = head - 24;
    let samples = raw.len().div_ceil(256) * usize::from(file[PAYLOAD]);
    let sizes = PAYLOAD + 1 + samples.div_ceil(8);
    put(&mut file, head, &[raw[0] ^ 1]);
    let end = PAYLOAD + u32::from_le_bytes(file[BLOCK + 17..][..4].try_into().unwrap()) as usize;
    let counts = u32::from_le_bytes(file[index + 2..index + 6].try_into().unwrap()) as usize;
    let behind = head + 256 + counts;
    assert!(behind < end);
    let parts = [&file[sizes..index + 16], &file[index + 20..behind]].concat();
    let checksum = crc32fast::hash(&parts);
    put(&mut file, index + 16, &checksum.to_le_bytes());
    seal_block(&mut file);
    file
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
        ("sample", with_wrong_sample(file.clone())),
        ("raw checksum", with_wrong_raw_checksum(file.clone())),
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
    let bad = with_wrong_raw_checksum(file);
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
    let bad = with_wrong_head(file, &raw);
    assert_damaged("head", search(&bad, true));
    assert_damaged("head", search(&bad, false));
}

/// Even a pattern that needs no search is not found in a damaged file, if verification is asked
/// for.
#[test]
fn the_empty_pattern_is_verified_too() {
    let bad = with_wrong_raw_checksum(compressed(&text(), 1 << 20));
    let count = |verify| {
        Archive::open(Cursor::new(&bad), &options(1).verify(verify))
            .and_then(|mut archive| archive.count(&[""]))
    };
    assert_eq!(count(false).unwrap(), [50_001]);
    assert!(count(true).is_err());
}
