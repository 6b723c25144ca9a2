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
        0 => header::<12, 16, _>(bytes, internals::frame_header),
        1 => header::<38, 42, _>(bytes, internals::block_header),
        2 => header::<24, 32, _>(bytes, internals::footer),
        3 => table(bytes, |bytes| {
            internals::seek_table(bytes, u64::from(choice / 6))
        }),
        4 => {
            if let Some((header, tables)) = bytes.split_first_chunk() {
                table(tables, |tables| internals::payload(header, tables));
            }
        }
        _ if *choice == 245 => table(bytes, |bytes| internals::records(bytes, Kind::Fasta)),
        _ if *choice == 251 => table(bytes, |bytes| internals::records(bytes, Kind::Fastq)),
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
