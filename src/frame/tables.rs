//! Tables, FORMAT.md section 8.2: data of a block or a frame that is not needed to restore it. Each
//! table has a type, so that a reader can recognise the tables that it knows.
//!
//! A reader skips an unknown table if its type says that it may be skipped. Any other unknown table
//! belongs to a later version of the format, and the reader refuses the file. Tables that are
//! skipped are read in small pieces and take no memory.

use super::field_bytes::{ensure, put_uint, u32_at, uint_at};
use crate::base::error::Flaw;
use crc32fast::Hasher;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes of Tables_Size, the size of all tables that follow it.
pub(crate) const TABLES_SIZE: usize = 5;

pub(crate) const LONG_TABLES: Flaw = Flaw("the tables are longer than the block");
const MISFIT: Flaw = Flaw("the sizes of the tables do not add up");

/// The fields in front of one table.
struct TableHeader {
    kind: u8,
    size: u64,
    /// CRC-32 of the fields above and the content.
    checksum: u32,
}

impl TableHeader {
    const SIZE: usize = 10;

    fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        TableHeader {
            kind: bytes[0],
            size: uint_at::<5>(bytes, 1),
            checksum: u32_at(bytes, 6),
        }
    }

    fn signed(&self) -> [u8; 6] {
        let mut bytes = [self.kind; 6];
        put_uint::<5>(&mut bytes, 1, self.size);
        bytes
    }

    /// True if a reader that does not know the type must refuse the file.
    fn must_be_known(&self) -> bool {
        self.kind >= 128
    }

    /// Reads the content and checks it.
    fn read(&self, input: &mut (impl Read + ?Sized)) -> io::Result<Result<Vec<u8>, Flaw>> {
        let mut content = Vec::new();
        input.take(self.size).read_to_end(&mut content)?;
        Ok(self.check(&mut &content[..])?.map(|()| content))
    }

    /// Skips the content and checks it.
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

/// Reads tables, beginning with Tables_Size, and checks them all. Returns the size of everything
/// read.
///
/// # Errors
/// Errors of the input, which may end too early.
pub(crate) fn check(input: &mut (impl Read + ?Sized)) -> io::Result<Result<u64, Flaw>> {
    walk(input, |input, table| table.check(input))
}

/// Skips tables as [`check`] does, but seeks over the content that need not be read. The tables
/// must not be the end of the file.
pub(crate) fn pass(input: &mut (impl Read + Seek + ?Sized)) -> io::Result<Result<u64, Flaw>> {
    Ok(find(input, None, None)?.map(|found| found.size))
}

/// The result of skipping tables.
pub(crate) struct FoundTables {
    /// Size of all tables, Tables_Size included.
    pub size: u64,
    /// The content of the table that was wanted.
    pub content: Option<Vec<u8>>,
    /// The place of the last table of the type that was to be placed.
    pub place: Option<TablePlace>,
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
    let header = TableHeader::from_bytes(&fixed(input)?);
    if header.size != place.size {
        return Ok(Err(MISFIT));
    }
    header.read(input)
}

/// Skips tables as [`pass`] does, and finds two kinds of them. For the type in `wanted`, the
/// content of the last such table is read and checked, unless it is longer than the maximum size
/// given there. For the type `placed`, only the place of the last such table is returned.
pub(crate) fn find(
    input: &mut (impl Read + Seek + ?Sized),
    wanted: Option<(u8, u64)>,
    placed: Option<u8>,
) -> io::Result<Result<FoundTables, Flaw>> {
    let mut content = None;
    let mut place = None;
    let passed = walk(input, |input, table| {
        if wanted.is_some_and(|(kind, longest)| table.kind == kind && table.size <= longest) {
            return Ok(table
                .read(input)?
                .map(|found| content = Some(found)));
        }
        if placed == Some(table.kind) {
            let offset = input.stream_position()? - TableHeader::SIZE as u64;
            place = Some(TablePlace {
                offset,
                size: table.size,
            });
        }
        // A size of 40 bits fits in `i64`.
        input
            .seek(SeekFrom::Current(table.size as i64))
            .map(|_| Ok(()))
    });
    match passed {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(Err(MISFIT)),
        passed => Ok(passed?.map(|size| FoundTables {
            size,
            content,
            place,
        })),
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
        let Some(behind) = behind.checked_sub(table.size) else {
            return Ok(Err(MISFIT));
        };
        // A table of a later version is checked first, so that a damaged table is not taken for
        // one.
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
    bytes
        .split_off(..size as usize)
        .ok_or(LONG_TABLES)
}

/// The stored form of tables, each given as a type and a content.
pub(crate) fn to_bytes(tables: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; TABLES_SIZE];
    for &(kind, content) in tables {
        let signed = TableHeader {
            kind,
            size: content.len() as u64,
            checksum: 0,
        }
        .signed();
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

    /// The results of reading the tables from the start, and of skipping them.
    fn both(bytes: &[u8]) -> [Option<Result<u64, Flaw>>; 2] {
        [check(&mut &*bytes).ok(), pass(&mut Cursor::new(bytes)).ok()]
    }

    #[test]
    fn tables_are_passed_and_damage_is_noticed() {
        let large = vec![7; 100_000];
        let bytes = to_bytes(&[(0, b""), (127, b"content"), (5, &large)]);
        let size = bytes.len();
        assert_eq!(size, 5 + 10 + 17 + 10 + 100_000);
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
        assert_eq!(
            (take(&mut rest).map(<[u8]>::len), rest),
            (Ok(size), &b"more"[..])
        );
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
