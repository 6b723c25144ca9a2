//! Tables, FORMAT.md section 8.2: what a block or a frame has beside what restores it, each of a
//! type, so that readers can tell what they know.
//!
//! A reader passes those that it does not know and may pass, and refuses a file with others as one
//! of a later version. Tables that are passed are read in small pieces: they take no memory.

use super::field_bytes::{ensure, put_uint, u32_at, uint_at};
use crate::base::error::Flaw;
use crc32fast::Hasher;
use std::io::{self, Read, Seek, SeekFrom};

/// What stands in front of all tables: the size of what follows.
pub(crate) const TABLES_SIZE: usize = 5;

pub(crate) const LONG_TABLES: Flaw = Flaw("the tables are longer than the block");
const MISFIT: Flaw = Flaw("the sizes of the tables do not add up");

/// What stands in front of one table.
struct TableHeader {
    kind: u8,
    size: u64,
    /// CRC-32 of the fields above and the content.
    checksum: u32,
}

impl TableHeader {
    const SIZE: usize = 10;

    fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        TableHeader { kind: bytes[0], size: uint_at::<5>(bytes, 1), checksum: u32_at(bytes, 6) }
    }

    fn signed(&self) -> [u8; 6] {
        let mut bytes = [self.kind; 6];
        put_uint::<5>(&mut bytes, 1, self.size);
        bytes
    }

    /// Whether a reader that does not know the type must not go on.
    fn must_be_known(&self) -> bool {
        self.kind >= 128
    }

    /// Reads the content and checks it.
    fn read(&self, input: &mut (impl Read + ?Sized)) -> io::Result<Result<Vec<u8>, Flaw>> {
        let mut content = Vec::new();
        input.take(self.size).read_to_end(&mut content)?;
        Ok(self.check(&mut &content[..])?.map(|()| content))
    }

    /// Passes the content and checks it.
    fn check(&self, input: &mut (impl Read + ?Sized)) -> io::Result<Result<(), Flaw>> {
        let mut hasher = Hasher::new();
        hasher.update(&self.signed());
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

/// Reads tables, Tables_Size in front, and checks them all. Gives the size of all of it.
///
/// # Errors
/// Of the input, which may end too early.
pub(crate) fn check(input: &mut (impl Read + ?Sized)) -> io::Result<Result<u64, Flaw>> {
    walk(input, |input, table| table.check(input))
}

/// The same without reading what need not be read, in a file that does not end here.
pub(crate) fn pass(input: &mut (impl Read + Seek + ?Sized)) -> io::Result<Result<u64, Flaw>> {
    Ok(find(input, None, None)?.map(|found| found.size))
}

/// Tables that were passed.
pub(crate) struct FoundTables {
    /// That of all of it, Tables_Size included.
    pub size: u64,
    /// The content of the table that was looked for.
    pub content: Option<Vec<u8>>,
    /// The place of the last table of the other type that was looked for.
    pub place: Option<TablePlace>,
}

/// Where a table stands in a file, and the size of its content.
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
    let header = TableHeader::from_bytes(&fixed(input)?);
    if header.size != place.size {
        return Ok(Err(MISFIT));
    }
    header.read(input)
}

/// [`pass`], and the content of the last table of a type, which is checked; but not of one that
/// is longer than such a table can be. Of another type, `placed`, the place alone is given.
pub(crate) fn find(
    input: &mut (impl Read + Seek + ?Sized),
    wanted: Option<(u8, u64)>,
    placed: Option<u8>,
) -> io::Result<Result<FoundTables, Flaw>> {
    let mut content = None;
    let mut place = None;
    let passed = walk(input, |input, table| {
        if wanted.is_some_and(|(kind, longest)| table.kind == kind && table.size <= longest) {
            return Ok(table.read(input)?.map(|found| content = Some(found)));
        }
        if placed == Some(table.kind) {
            let offset = input.stream_position()? - TableHeader::SIZE as u64;
            place = Some(TablePlace { offset, size: table.size });
        }
        // A size of 40 bits fits.
        input.seek(SeekFrom::Current(table.size as i64)).map(|_| Ok(()))
    });
    match passed {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(Err(MISFIT)),
        passed => Ok(passed?.map(|size| FoundTables { size, content, place })),
    }
}

fn walk<R: Read + ?Sized>(
    input: &mut R,
    mut pass: impl FnMut(&mut R, &TableHeader) -> io::Result<Result<(), Flaw>>,
) -> io::Result<Result<u64, Flaw>> {
    let size = uint_at::<TABLES_SIZE>(&fixed::<TABLES_SIZE>(input)?, 0);
    let mut left = size;
    loop {
        let Some(behind) = left.checked_sub(TableHeader::SIZE as u64) else {
            return Ok(Err(MISFIT));
        };
        let table = TableHeader::from_bytes(&fixed(input)?);
        let Some(behind) = behind.checked_sub(table.size) else { return Ok(Err(MISFIT)) };
        // What asks for a later version must not be damage.
        let sound = match table.must_be_known() {
            true => table.check(input)?.and(Err(Flaw::LATER_TABLE)),
            false => pass(input, &table)?,
        };
        if let Err(flaw) = sound {
            return Ok(Err(flaw));
        }
        left = behind;
        if left == 0 {
            return Ok(Ok(TABLES_SIZE as u64 + size));
        }
    }
}

fn fixed<const N: usize>(input: &mut (impl Read + ?Sized)) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map(|()| bytes)
}

/// Takes tables off the front of `bytes`, Tables_Size included, and checks them.
pub(crate) fn take<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Flaw> {
    let size = check(&mut &**bytes).map_err(|_| LONG_TABLES)??;
    bytes.split_off(..size as usize).ok_or(LONG_TABLES)
}

/// Some tables, each a type and a content, as they stand in a file.
pub(crate) fn to_bytes(tables: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; TABLES_SIZE];
    for &(kind, content) in tables {
        let signed = TableHeader { kind, size: content.len() as u64, checksum: 0 }.signed();
        let mut hasher = Hasher::new();
        hasher.update(&signed);
        hasher.update(content);
        bytes.extend(signed);
        bytes.extend(hasher.finalize().to_le_bytes());
        bytes.extend(content);
    }
    let size = (bytes.len() - TABLES_SIZE) as u64;
    put_uint::<TABLES_SIZE>(&mut bytes, 0, size);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// What is said of tables that are read from the start, and of those that are passed by.
    fn both(bytes: &[u8]) -> [Option<Result<u64, Flaw>>; 2] {
        [check(&mut &*bytes).ok(), pass(&mut Cursor::new(bytes)).ok()]
    }

    #[test]
    fn tables_are_passed_and_damage_is_noticed() {
        let large = vec![7; 100_000];
        let bytes = to_bytes(&[(0, b""), (127, b"content"), (5, &large)]);
        let size = bytes.len();
        assert_eq!(size, 5 + 10 + 17 + 10 + 100_000);
        assert_eq!(both(&[&bytes[..], b"more"].concat()), [Some(Ok(size as u64)); 2]);
        for cut in 0..50 {
            assert_eq!(both(&bytes[..cut])[0], None, "cut to {cut}");
        }
        for bit in 0..8 * 60 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(both(&bad)[0], Some(Ok(_))), "bit {bit}");
        }
        let mut rest = &[&bytes[..], b"more"].concat()[..];
        assert_eq!((take(&mut rest).map(<[u8]>::len), rest), (Ok(size), &b"more"[..]));
        assert!(take(&mut &bytes[..size - 1]).is_err());
    }

    #[test]
    fn a_type_that_must_be_known_is_of_a_later_version_unless_it_is_damage() {
        let mut bytes = to_bytes(&[(128, b"content"), (1, b"")]);
        assert_eq!(both(&bytes), [Some(Err(Flaw::LATER_TABLE)); 2]);
        bytes[5] ^= 1;
        let damaged = both(&bytes);
        assert!(damaged[0].is_some_and(|end| end.is_err()) && damaged[0] == damaged[1]);
        assert_ne!(damaged[0], Some(Err(Flaw::LATER_TABLE)));
    }

    #[test]
    fn there_is_a_table_and_nothing_behind_the_last() {
        assert_eq!(both(&to_bytes(&[])), [Some(Err(MISFIT)); 2]);
        let mut bytes = to_bytes(&[(1, b"content")]);
        bytes[0] += 1;
        bytes.extend([0; 20]);
        assert_eq!(both(&bytes), [Some(Err(MISFIT)); 2]);
    }
}
