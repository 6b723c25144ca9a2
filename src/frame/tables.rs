//! Tables, FORMAT.md section 8.2: data of a frame or a block beside the bytes that it restores.
//! Each table has a type, so that a reader can recognise the tables that it knows.
//!
//! A reader passes over an unknown table if its type says that it may. Any other unknown table is
//! needed by a later version, and the reader refuses the frame or the block that has it. Tables
//! that are passed over are read in small pieces and take no memory.

use super::field_bytes::ensure;
use crate::base::error::{Flaw, Unknown, Unreadable};
use crate::base::leb128;
use crc32fast::Hasher;
use std::io::{self, Read, Seek, SeekFrom};

pub(crate) const LONG_TABLES: Flaw = Flaw("the tables are longer than the block");
const MISFIT: Flaw = Flaw("the sizes of the tables do not add up");

/// Maximum number of tables in one place.
const MOST_TABLES: usize = 256;

/// Types of tables. Those up to `7FFF` must be known.
pub(crate) const SEQUENCES: u16 = 0x8001;
pub(crate) const RECORDS: u16 = 0x8002;
pub(crate) const STREAM_CHECK: u16 = 0x8003;
pub(crate) const MEMBERS: u16 = 0x8004;
pub(crate) const CONTENT_SIZE: u16 = 0x8010;
pub(crate) const METADATA: u16 = 0x8011;
pub(crate) const INDEX: u16 = 0x8020;

/// The fields in front of one table.
struct TableHeader {
    kind: u16,
    size: u64,
    /// CRC-32 of the fields above, as they are stored, and the content.
    checksum: u32,
    /// Type and Size as they are stored.
    signed: Vec<u8>,
}

impl TableHeader {
    fn read(input: &mut (impl Read + ?Sized)) -> io::Result<Result<Self, Flaw>> {
        let mut signed = fixed::<2>(input)?.to_vec();
        let kind = u16::from_le_bytes([signed[0], signed[1]]);
        let size = match varint(input, &mut signed)? {
            Ok(size) => size,
            Err(flaw) => return Ok(Err(flaw)),
        };
        Ok(Ok(TableHeader {
            kind,
            size,
            checksum: u32::from_le_bytes(fixed(input)?),
            signed,
        }))
    }

    /// Bytes of these fields.
    fn len(&self) -> u64 {
        self.signed.len() as u64 + 4
    }

    /// The type, if a reader that does not know it must refuse the data. No version of the format
    /// has defined such a type yet.
    fn must_be_known(&self) -> Option<Unknown> {
        (self.kind < 0x8000).then_some(Unknown {
            what: "a table of type",
            id: self.kind,
        })
    }

    /// Reads the content and checks it.
    fn content(&self, input: &mut (impl Read + ?Sized)) -> io::Result<Result<Vec<u8>, Flaw>> {
        let mut content = Vec::new();
        input.take(self.size).read_to_end(&mut content)?;
        Ok(self.check(&mut &content[..])?.map(|()| content))
    }

    /// Skips the content and checks it.
    fn check(&self, input: &mut (impl Read + ?Sized)) -> io::Result<Result<(), Flaw>> {
        let mut hasher = Hasher::new();
        hasher.update(&self.signed);
        let mut piece = vec![0; self.size.min(1 << 16) as usize];
        let mut left = self.size;
        while left > 0 {
            let now = left.min(piece.len() as u64);
            input.read_exact(&mut piece[..now as usize])?;
            hasher.update(&piece[..now as usize]);
            left -= now;
        }
        let sound = cfg!(fuzzing) || hasher.finalize() == self.checksum;
        Ok(ensure(sound, "a table is damaged: its checksum is wrong"))
    }
}

/// Reads tables, beginning with Tables_Size, and checks them all. Returns the size of everything
/// read.
///
/// # Errors
/// Errors of the input, which may end too early.
pub(crate) fn check(input: &mut (impl Read + ?Sized)) -> io::Result<Result<u64, Unreadable>> {
    walk(input, |input, table, _| table.check(input))
}

/// Reads tables as [`check`] does. Returns the content of those whose type is in `wanted`, each up
/// to `longest` bytes.
pub(crate) fn read_wanted(
    input: &mut (impl Read + ?Sized),
    wanted: &[u16],
    longest: u64,
) -> io::Result<Result<ReadTables, Unreadable>> {
    let mut contents = Vec::new();
    let size = walk(input, |input, table, _| {
        if !wanted.contains(&table.kind) || table.size > longest {
            return table.check(input);
        }
        let read = table.content(input)?;
        Ok(read.map(|content| contents.push((table.kind, content))))
    })?;
    Ok(size.map(|size| ReadTables { size, contents }))
}

/// Tables that were read.
pub(crate) struct ReadTables {
    /// Size of all tables, Tables_Size included.
    pub size: u64,
    /// The type and the content of each wanted table.
    contents: Vec<(u16, Vec<u8>)>,
}

impl ReadTables {
    /// The content of the table of a type.
    pub(crate) fn take(&mut self, kind: u16) -> Option<Vec<u8>> {
        let at = self
            .contents
            .iter()
            .position(|(found, _)| *found == kind)?;
        Some(self.contents.swap_remove(at).1)
    }
}

/// Passes over tables as [`check`] does, but seeks over the content that need not be read. The
/// tables must not be the end of the file.
pub(crate) fn pass(input: &mut (impl Read + Seek + ?Sized)) -> io::Result<Result<u64, Unreadable>> {
    Ok(find(input, &[], 0, &[])?.map(|found| found.tables.size))
}

/// The tables of a frame that were found.
pub(crate) struct FoundTables {
    pub tables: ReadTables,
    /// The type and the place of each table that was to be placed.
    places: Vec<(u16, TablePlace)>,
}

impl FoundTables {
    /// The place of the table of a type.
    pub(crate) fn place(&self, kind: u16) -> Option<TablePlace> {
        let mut places = self.places.iter();
        places
            .find(|(found, _)| *found == kind)
            .map(|(_, place)| *place)
    }
}

/// The offset of a table in a file, and the size of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TablePlace {
    pub offset: u64,
    pub size: u64,
}

/// Reads the content of a table that was found, and checks it.
pub(crate) fn read_table(
    input: &mut (impl Read + Seek + ?Sized),
    place: TablePlace,
) -> io::Result<Result<Vec<u8>, Flaw>> {
    input.seek(SeekFrom::Start(place.offset))?;
    match TableHeader::read(input)? {
        Ok(header) if header.size == place.size => header.content(input),
        Ok(_) => Ok(Err(MISFIT)),
        Err(flaw) => Ok(Err(flaw)),
    }
}

/// Passes over tables as [`pass`] does. The contents of tables whose type is in `wanted` are read
/// and checked, unless they are longer than `longest`. For a type in `placed`, only the place of
/// the table is returned.
pub(crate) fn find(
    input: &mut (impl Read + Seek + ?Sized),
    wanted: &[u16],
    longest: u64,
    placed: &[u16],
) -> io::Result<Result<FoundTables, Unreadable>> {
    let mut contents = Vec::new();
    let mut places = Vec::new();
    let start = input.stream_position()?;
    let passed = walk(input, |input, table, offset| {
        if wanted.contains(&table.kind) && table.size <= longest {
            let read = table.content(input)?;
            return Ok(read.map(|content| contents.push((table.kind, content))));
        }
        if placed.contains(&table.kind) {
            let place = TablePlace {
                offset: start + offset,
                size: table.size,
            };
            places.push((table.kind, place));
        }
        // A size of 40 bits fits in `i64`.
        input
            .seek(SeekFrom::Current(table.size as i64))
            .map(|_| Ok(()))
    });
    match passed {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(Err(MISFIT.into())),
        passed => Ok(passed?.map(|size| FoundTables {
            tables: ReadTables { size, contents },
            places,
        })),
    }
}

/// Goes through tables. `pass` leaves the content of a table behind it; it is also given the offset
/// of the table from Tables_Size.
fn walk<R: Read + ?Sized>(
    input: &mut R,
    mut pass: impl FnMut(&mut R, &TableHeader, u64) -> io::Result<Result<(), Flaw>>,
) -> io::Result<Result<u64, Unreadable>> {
    let mut kinds = Vec::new();
    // The rules for all tables come before what is unknown.
    let mut unknown = None;
    let mut one = |input: &mut R, at: u64, left: u64| -> io::Result<Result<u64, Unreadable>> {
        let table = match TableHeader::read(input)? {
            Ok(table) => table,
            Err(flaw) => return Ok(Err(flaw.into())),
        };
        let size = table.len() + table.size;
        if size > left || kinds.contains(&table.kind) || kinds.len() == MOST_TABLES {
            return Ok(Err(MISFIT.into()));
        }
        kinds.push(table.kind);
        // A table that must be known is checked first, so that a damaged table is not taken for
        // one.
        let sound = match table.must_be_known() {
            Some(kind) => {
                unknown = unknown.or(Some(kind));
                table.check(input)?
            }
            None => pass(input, &table, at)?,
        };
        Ok(sound.map(|()| size).map_err(Unreadable::from))
    };
    let mut stored = Vec::new();
    let size = match varint(input, &mut stored)? {
        Ok(size) => size,
        Err(flaw) => return Ok(Err(flaw.into())),
    };
    let before = stored.len() as u64;
    let mut left = size;
    while left > 0 {
        match one(input, before + size - left, left)? {
            Ok(passed) => left -= passed,
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(match unknown {
        Some(unknown) => Err(Unreadable::Unknown(unknown)),
        None => ensure(size > 0, MISFIT.0)
            .map(|()| before + size)
            .map_err(Unreadable::from),
    })
}

/// Reads a varint, and appends its bytes to `stored`.
pub(super) fn varint(
    input: &mut (impl Read + ?Sized),
    stored: &mut Vec<u8>,
) -> io::Result<Result<u64, Flaw>> {
    let start = stored.len();
    loop {
        let [byte] = fixed(input)?;
        stored.push(byte);
        if byte < 0x80 || stored.len() - start == LONGEST_VARINT {
            return Ok(leb128::read(&mut &stored[start..]).map(|number| number as u64));
        }
    }
}

const LONGEST_VARINT: usize = 6;

fn fixed<const N: usize>(input: &mut (impl Read + ?Sized)) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map(|()| bytes)
}

/// Takes tables off the front of `bytes`, Tables_Size included, and checks them. Returns the
/// content of the one table that is `wanted`, if it is there.
pub(crate) fn take(bytes: &mut &[u8], wanted: u16) -> Result<Option<Vec<u8>>, Unreadable> {
    let mut found = read_wanted(&mut &**bytes, &[wanted], u64::MAX).map_err(|_| LONG_TABLES)??;
    bytes
        .split_off(..found.size as usize)
        .ok_or(LONG_TABLES)?;
    Ok(found.take(wanted))
}

/// The stored form of tables, each given as a type and a content.
pub(crate) fn to_bytes(tables: &[(u16, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for &(kind, content) in tables {
        let start = all.len();
        all.extend(kind.to_le_bytes());
        leb128::write(content.len(), &mut all);
        let mut hasher = Hasher::new();
        hasher.update(&all[start..]);
        hasher.update(content);
        all.extend(hasher.finalize().to_le_bytes());
        all.extend(content);
    }
    let mut bytes = Vec::new();
    leb128::write(all.len(), &mut bytes);
    bytes.extend(all);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// The results of reading the tables from the start, and of passing over them.
    fn both(bytes: &[u8]) -> [Option<Result<u64, Unreadable>>; 2] {
        [check(&mut &*bytes).ok(), pass(&mut Cursor::new(bytes)).ok()]
    }

    #[test]
    fn tables_are_passed_and_damage_is_noticed() {
        let large = vec![7; 100_000];
        let bytes = to_bytes(&[(0x8000, b""), (0xFFFF, b"content"), (0x8005, &large)]);
        let size = bytes.len();
        assert_eq!(size, 3 + 7 + 14 + 9 + 100_000);
        assert_eq!(
            both(&[&bytes[..], b"more"].concat()),
            [Some(Ok(size as u64)); 2]
        );
        for cut in 0..50 {
            assert_eq!(both(&bytes[..cut])[0], None, "cut to {cut}");
        }
        for bit in 0..8 * 60 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(both(&bad)[0], Some(Ok(_))), "bit {bit}");
        }
        let mut rest = &[&bytes[..], b"more"].concat()[..];
        let taken = take(&mut rest, 0xFFFF).unwrap();
        assert_eq!(
            (taken.as_deref(), rest),
            (Some(&b"content"[..]), &b"more"[..])
        );
        assert!(take(&mut &bytes[..size - 1], 0).is_err());
    }

    #[test]
    fn a_table_that_must_be_known_is_unknown_unless_it_is_damaged() {
        let mut bytes = to_bytes(&[(0x7FFF, b"content"), (0x8001, b"")]);
        let unknown = Unreadable::Unknown(Unknown {
            what: "a table of type",
            id: 0x7FFF,
        });
        assert_eq!(both(&bytes), [Some(Err(unknown)); 2]);
        bytes[1] ^= 1;
        let damaged = both(&bytes);
        assert!(damaged[0].is_some_and(|end| end.is_err()) && damaged[0] == damaged[1]);
        assert_ne!(damaged[0], Some(Err(unknown)));
    }

    #[test]
    fn there_is_a_table_of_each_type_and_nothing_behind_the_last() {
        assert_eq!(both(&to_bytes(&[])), [Some(Err(MISFIT.into())); 2]);
        let mut bytes = to_bytes(&[(0x8001, b"content")]);
        bytes[0] += 1;
        bytes.extend([0; 20]);
        assert_eq!(both(&bytes)[0].map(|end| end.is_ok()), Some(false));
        let twice = to_bytes(&[(0x8001, b"one"), (0x8001, b"two")]);
        assert_eq!(both(&twice), [Some(Err(MISFIT.into())); 2]);
    }
}
