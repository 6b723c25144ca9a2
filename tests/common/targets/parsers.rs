//! The structures of a file, each alone.

use bwz::internals;
use bwz::internals::sequence::Kind;
use std::fmt::Debug;

/// A structure that is read is written again unchanged, except for checksums. Tables may have
/// several forms; written twice, they are the same.
pub fn parsers(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    match choice % 6 {
        0 if *choice < 128 => header::<19, 23, _>(bytes, internals::frame_header),
        0 => table(bytes, internals::header_tables),
        1 => header::<37, 41, _>(bytes, internals::block_header),
        2 if *choice < 128 => header::<28, 36, _>(bytes, internals::footer),
        2 => counts(bytes, usize::from((choice - 128) / 6) + 1),
        3 => table(bytes, |bytes| {
            // Totals that fit: those of the block sizes that the content of seeds has.
            internals::seek_content(bytes, (choice / 6).into(), 1 << 24, 1 << 20)
        }),
        4 => {
            if let Some((header, tables)) = bytes.split_first_chunk() {
                table(tables, |tables| internals::payload(header, tables));
            }
        }
        _ if *choice == 245 => table(bytes, |bytes| internals::records(bytes, Kind::Fasta)),
        _ if *choice == 251 => table(bytes, |bytes| internals::records(bytes, Kind::Fastq)),
        _ if *choice == 239 => table(bytes, |bytes| internals::members(bytes, 1 << 24)),
        _ if *choice == 233 => tar(bytes),
        _ if *choice > 5 => table(bytes, |bytes| {
            internals::sequences(bytes, (choice / 6).into())
        }),
        _ => {
            let [read, passed] = internals::tables(bytes);
            assert!(read.is_none() || read == passed);
        }
    }
}

/// A structure of `SIZE` bytes, `SIGNED` of which are checked by a checksum behind them.
fn header<const SIGNED: usize, const SIZE: usize, E>(
    bytes: &[u8],
    reread: fn(&[u8; SIZE]) -> Result<[u8; SIZE], E>,
) {
    if let Some(bytes) = bytes.first_chunk()
        && let Ok(again) = reread(bytes)
    {
        assert_eq!(bytes[..SIGNED], again[..SIGNED]);
    }
}

fn table<E: Debug>(bytes: &[u8], reread: impl Fn(&[u8]) -> Result<Vec<u8>, E>) {
    if let Ok(again) = reread(bytes) {
        assert_eq!(reread(&again).unwrap(), again);
    }
}

/// The members of an archive that is whole have a table.
fn tar(bytes: &[u8]) {
    let (members, is_whole) = internals::walk_tar(bytes);
    for member in &members {
        assert!(member.offset < member.data.start && member.data.start <= member.data.end);
    }
    if is_whole && let Some(content) = internals::members_content(&members) {
        let size = bytes.len() as u64;
        assert_eq!(internals::members_table(&content, size).unwrap(), members);
    }
}

/// Counts in a few slices, whose sizes are the first bytes. Coded again, they may take other bytes,
/// since another row may be left out.
fn counts(bytes: &[u8], rows: usize) {
    let Some((sizes, coded)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    let sizes: Vec<u32> = sizes
        .chunks(2)
        .map(|two| u32::from(u16::from_le_bytes([two[0], two[1]])) + 1)
        .collect();
    table(coded, |coded| internals::counts(coded, rows, &sizes));
}
