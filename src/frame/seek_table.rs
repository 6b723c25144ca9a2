//! Seek_Table, FORMAT.md chapter 5: where each block of a frame is, and what it needs of a reader.
//!
//! The facts about the blocks are stored by columns. Those of blocks that are alike take no bytes.

use super::block_header::{BlockHeader, BlockKind};
use super::field_bytes::ensure;
use super::filter_list::FilterIds;
use super::packed_array::{read_column, write_column};
use crate::base::error::Flaw;
use crate::base::leb128;
use crc32fast::Hasher;
use std::collections::HashMap;

pub(crate) const SEEK_MARKER: [u8; 8] = [0xB5, 0xE1, 0x7A, 0x96, 0xD3, 0x2B, 0xF0, 0x7C];

pub(crate) const MISFIT: Flaw = Flaw("the seek table has the wrong size");
const WRONG: Flaw = Flaw("the seek table's entries are not valid");

/// Bits of Content_Flags.
/// In place of the size of a front that cannot be measured.
pub(super) const UNMEASURED: u64 = u64::MAX;

const LINE_FEEDS: u8 = 1;
pub(super) const TABLES: u8 = 2;

/// The form of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockShape {
    pub kind: BlockKind,
    /// Its filters. Empty if the kind or the coding of the block is not known.
    pub filters: FilterIds,
}

/// The facts about one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Number of its shape in the list of the table.
    shape: u32,
    pub raw_size: u64,
    /// Bytes of the block in the file, its header included.
    pub coded_size: u64,
    /// Bytes from the start of the block to the end of its models, if it has an index; else 0.
    pub front_size: u64,
    /// Line feeds in the raw bytes, if the table has that column; else 0.
    pub line_feeds: u64,
}

/// The sizes of one block, as an [`Entry`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntrySizes {
    pub raw_size: u64,
    pub coded_size: u64,
    pub front_size: u64,
    pub line_feeds: u64,
}

/// The content of a seek table. The tables of the frame, which follow it, are not part of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeekTable {
    /// The different shapes of blocks, in the order of their first use.
    shapes: Vec<BlockShape>,
    numbers: HashMap<ShapeKey, u32>,
    entries: Vec<Entry>,
    /// True if line feeds were counted.
    pub has_line_feeds: bool,
    /// True if tables follow.
    pub tables: bool,
}

/// The stored form of a shape.
type ShapeKey = ([u8; 4], FilterIds);

/// The sizes of a frame that stand in its footer, and give those of its last block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub raw_size: u64,
    /// Bytes of all blocks in the file.
    pub coded_size: u64,
}

/// Maximum size of the content for a number of blocks: 64 bytes, and for each block 5 columns of 6
/// bytes or less, and a shape. It bounds what a reader of a pipe takes in.
pub(crate) fn longest(blocks: u64) -> u64 {
    64 + 64 * blocks
}

impl SeekTable {
    /// A table without blocks, for a writer that counts line feeds.
    pub(crate) fn with_line_feeds() -> Self {
        SeekTable {
            has_line_feeds: true,
            ..SeekTable::default()
        }
    }

    /// Adds the next block of the frame. Its sizes are those of an [`Entry`].
    pub(crate) fn add(&mut self, shape: BlockShape, sizes: EntrySizes) {
        let next = self.shapes.len() as u32;
        let number = *self.numbers.entry(shape.key()).or_insert(next);
        if number == next {
            self.shapes.push(shape);
        }
        let EntrySizes {
            raw_size,
            coded_size,
            front_size,
            line_feeds,
        } = sizes;
        self.entries.push(Entry {
            shape: number,
            raw_size,
            coded_size,
            front_size,
            line_feeds,
        });
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Bytes of all blocks in the file.
    pub(crate) fn coded_size(&self) -> u64 {
        self.entries
            .iter()
            .map(|entry| entry.coded_size)
            .sum()
    }

    pub(crate) fn shape(&self, entry: &Entry) -> BlockShape {
        self.shapes[entry.shape as usize]
    }

    /// True if the blocks of both tables have the same shapes and sizes. Numbers of line feeds are
    /// not compared, nor are fronts that are [`UNMEASURED`] in `other`.
    pub(crate) fn has_blocks_of(&self, other: &SeekTable) -> bool {
        let fronts = self.entries.iter().zip(&other.entries);
        let mut fronts = fronts.map(|(own, other)| [own.front_size, other.front_size]);
        let facts = |entry: &Entry| (entry.shape, entry.raw_size, entry.coded_size);
        self.shapes == other.shapes
            && self
                .entries
                .iter()
                .map(facts)
                .eq(other.entries.iter().map(facts))
            && fronts.all(|[own, other]| own == other || other == UNMEASURED)
    }

    /// The stored table, from Seek_Marker to the end of Content.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let content = self.content();
        let mut size = Vec::new();
        leb128::write(content.len(), &mut size);
        let checksum = checksum(&size, &content).to_le_bytes();
        [&SEEK_MARKER[..], &size, &checksum, &content].concat()
    }

    fn content(&self) -> Vec<u8> {
        let mut out = Vec::new();
        leb128::write(self.entries.len(), &mut out);
        let has_line_feeds = self.has_line_feeds && !self.entries.is_empty();
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        out.push(flag(has_line_feeds, LINE_FEEDS) | flag(self.tables, TABLES));
        if self.entries.is_empty() {
            return out;
        }
        leb128::write(self.shapes.len(), &mut out);
        self.shapes
            .iter()
            .for_each(|shape| shape.write(&mut out));
        let mut column = |field: fn(&Entry) -> u64, count: usize| {
            let values: Vec<u64> = self.entries[..count].iter().map(field).collect();
            if !values.is_empty() {
                write_column(&values, &mut out);
            }
        };
        let count = self.entries.len();
        if self.shapes.len() > 1 {
            column(|entry| entry.shape.into(), count);
        }
        column(|entry| entry.raw_size, count - 1);
        column(|entry| entry.coded_size, count - 1);
        if self.shapes.iter().any(BlockShape::is_indexed) {
            column(|entry| entry.front_size, count);
        }
        if has_line_feeds {
            column(|entry| entry.line_feeds, count);
        }
        out
    }

    /// Parses the content. The caller has bounded its number of blocks.
    pub(crate) fn from_content(mut content: &[u8], totals: Totals) -> Result<Self, Flaw> {
        let bytes = &mut content;
        let count = block_count(bytes)?;
        let flags = *bytes.split_off_first().ok_or(MISFIT)?;
        let reserved = flags & !(LINE_FEEDS | TABLES) != 0 || count == 0 && flags & LINE_FEEDS != 0;
        ensure(!reserved, "a reserved bit of the seek table is set")?;
        let mut table = SeekTable {
            has_line_feeds: flags & LINE_FEEDS != 0,
            tables: flags & TABLES != 0,
            ..SeekTable::default()
        };
        if count > 0 {
            table.read_entries(bytes, count, totals)?;
        }
        ensure(bytes.is_empty(), MISFIT.0)?;
        Ok(table)
    }

    /// Takes the entries of `count` blocks off the front of `bytes`.
    fn read_entries(
        &mut self,
        bytes: &mut &[u8],
        count: usize,
        totals: Totals,
    ) -> Result<(), Flaw> {
        let shape_count = leb128::read(bytes)?;
        let fits = (1..=count.min(bytes.len())).contains(&shape_count);
        ensure(fits, WRONG.0)?;
        let shapes: Vec<BlockShape> = (0..shape_count)
            .map(|_| BlockShape::read(bytes))
            .collect::<Result<_, _>>()?;
        let numbers = match shape_count {
            1 => vec![0; count],
            _ => read_column(bytes, count)?,
        };
        let raw_sizes = with_last(bytes, count, totals.raw_size)?;
        let coded_sizes = with_last(bytes, count, totals.coded_size)?;
        let front_sizes = match shapes.iter().any(BlockShape::is_indexed) {
            true => read_column(bytes, count)?,
            false => vec![0; count],
        };
        let line_feeds = match self.has_line_feeds {
            true => read_column(bytes, count)?,
            false => vec![0; count],
        };
        for n in 0..count {
            let shape = *shapes.get(numbers[n] as usize).ok_or(WRONG)?;
            let coded_size = coded_sizes[n].saturating_sub(BlockHeader::SIZE as u64);
            shape
                .kind
                .check_sizes(raw_sizes[n], coded_size)
                .map_err(|_| WRONG)?;
            let sizes = EntrySizes {
                raw_size: raw_sizes[n],
                coded_size: coded_sizes[n],
                front_size: front_sizes[n],
                line_feeds: line_feeds[n],
            };
            ensure(shape.allows(&sizes), WRONG.0)?;
            self.add(shape, sizes);
        }
        ensure(self.shapes == shapes, WRONG.0)
    }
}

/// Takes Block_Count off the front of the content. A block takes more than one byte in the file, so
/// that the caller can bound it.
pub(crate) fn block_count(content: &mut &[u8]) -> Result<usize, Flaw> {
    leb128::read(content).map_err(|_| MISFIT)
}

/// Checks the content of a table that has this size, as stored, and this checksum.
pub(crate) fn check(stored_size: &[u8], stored: u32, content: &[u8]) -> Result<(), Flaw> {
    let sound = cfg!(fuzzing) || checksum(stored_size, content) == stored;
    ensure(sound, "the seek table is damaged: its checksum is wrong")
}

/// Reads the content of the table of `blocks` blocks and writes the table again.
pub(crate) fn again(
    content: &[u8],
    blocks: usize,
    raw_size: u64,
    coded_size: u64,
) -> Result<Vec<u8>, Flaw> {
    ensure(block_count(&mut &content[..])? == blocks, MISFIT.0)?;
    let totals = Totals {
        raw_size,
        coded_size,
    };
    SeekTable::from_content(content, totals).map(|table| table.content())
}

/// Takes a column of sizes without the last one, which is what is left of the total.
fn with_last(bytes: &mut &[u8], count: usize, total: u64) -> Result<Vec<u64>, Flaw> {
    let mut sizes = match count {
        1 => Vec::new(),
        _ => read_column(bytes, count - 1)?,
    };
    // Fewer than 2^40 sizes below 2^41.
    let sum = sizes
        .iter()
        .try_fold(0_u64, |sum, &size| sum.checked_add(size));
    let last = sum
        .and_then(|sum| total.checked_sub(sum))
        .ok_or(WRONG)?;
    sizes.push(last);
    ensure(!sizes.contains(&0), WRONG.0)?;
    Ok(sizes)
}

impl BlockShape {
    fn key(&self) -> ShapeKey {
        (self.kind.to_bytes(), self.filters)
    }

    fn is_indexed(&self) -> bool {
        matches!(self.kind, BlockKind::Bwt(shape) if shape.indexed)
    }

    /// True if a block of this shape may have a front of this size and this number of line feeds.
    fn allows(&self, sizes: &EntrySizes) -> bool {
        let header = BlockHeader::SIZE as u64;
        let front_fits = match self.is_indexed() {
            true => (header + 1..sizes.coded_size).contains(&sizes.front_size),
            false => sizes.front_size == 0,
        };
        front_fits && sizes.line_feeds <= sizes.raw_size
    }

    fn is_filtered(&self) -> bool {
        matches!(self.kind, BlockKind::Bwt(shape) if shape.filtered)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.kind.to_bytes());
        if self.is_filtered() {
            self.filters.write(out);
        }
    }

    fn read(bytes: &mut &[u8]) -> Result<Self, Flaw> {
        let kind = bytes.split_off(..4).ok_or(MISFIT)?;
        let mut shape = BlockShape {
            kind: BlockKind::from_bytes([kind[0], kind[1], kind[2], kind[3]])?,
            filters: FilterIds::default(),
        };
        if shape.is_filtered() {
            shape.filters = FilterIds::read(bytes)?;
        }
        if let BlockKind::Bwt(form) = shape.kind {
            form.check_filters(shape.filters)?;
        }
        Ok(shape)
    }
}

fn checksum(stored_size: &[u8], content: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(stored_size);
    hasher.update(content);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use crate::coder::Coding;

    const SHAPE: Shape = Shape {
        coding: Coding::StaticRans,
        filtered: false,
        tables: true,
        indexed: true,
        sample_rate_log: 5,
    };

    fn add(table: &mut SeekTable, n: u64) {
        let mut filters = FilterIds::default();
        let kind = match n % 3 {
            0 => BlockKind::Stored,
            1 => BlockKind::Bwt(SHAPE),
            _ => {
                filters = FilterIds::read(&mut &[1, 1][..]).unwrap();
                BlockKind::Bwt(Shape {
                    filtered: true,
                    ..SHAPE
                })
            }
        };
        table.add(
            BlockShape { kind, filters },
            EntrySizes {
                raw_size: 1 << 20,
                coded_size: match kind {
                    BlockKind::Stored => (1 << 20) + 41,
                    _ => 4711 * n + 100,
                },
                front_size: n % 3 * 50,
                line_feeds: n,
            },
        );
    }

    fn table(count: u64) -> SeekTable {
        let mut table = SeekTable {
            has_line_feeds: count > 0,
            tables: count == 3,
            ..SeekTable::default()
        };
        (0..count).for_each(|n| add(&mut table, n));
        table
    }

    fn all(table: &SeekTable) -> (&[BlockShape], &[Entry], [bool; 2]) {
        let flags = [table.has_line_feeds, table.tables];
        (&table.shapes, &table.entries, flags)
    }

    fn reread(bytes: &[u8], table: &SeekTable) -> Result<SeekTable, Flaw> {
        let sum = |field: fn(&Entry) -> u64| table.entries.iter().map(field).sum();
        let totals = Totals {
            raw_size: sum(|entry| entry.raw_size),
            coded_size: sum(|entry| entry.coded_size),
        };
        let mut rest = &bytes[8..];
        let before = rest.len();
        let size = leb128::read(&mut rest)?;
        let stored = &bytes[8..8 + before - rest.len()];
        let (checksum, content) = rest.split_at(4);
        ensure(content.len() == size, MISFIT.0)?;
        let checksum = u32::from_le_bytes(checksum.try_into().unwrap());
        check(stored, checksum, content)?;
        SeekTable::from_content(content, totals)
    }

    #[test]
    fn entries_survive() {
        for count in [0, 1, 2, 3, 100] {
            let table = table(count);
            let bytes = table.to_bytes();
            assert!(bytes.len() as u64 <= 8 + 6 + 4 + longest(count));
            let read = reread(&bytes, &table).unwrap();
            assert_eq!(all(&read), all(&table));
            assert!(read.has_blocks_of(&table));
            for bit in 64..bytes.len() * 8 {
                let mut bad = bytes.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(reread(&bad, &table).is_err(), "bit {bit} of {count} blocks");
            }
        }
        assert_eq!(SeekTable::default().to_bytes().len(), 15);
    }

    #[test]
    fn sizes_must_add_up() {
        let table = table(2);
        let content = table.content();
        let right = Totals {
            raw_size: 2 << 20,
            coded_size: (1 << 20) + 41 + 4811,
        };
        let read = |totals| SeekTable::from_content(&content, totals).map(drop);
        assert_eq!(read(right), Ok(()));
        for short in [
            Totals {
                raw_size: 1 << 20,
                ..right
            },
            Totals {
                coded_size: 99,
                ..right
            },
        ] {
            assert_eq!(read(short), Err(WRONG));
        }
        let longer = [&content[..], &[0]].concat();
        assert_eq!(
            SeekTable::from_content(&longer, right).map(drop),
            Err(MISFIT)
        );
    }

    #[test]
    fn fronts_and_line_feeds_must_be_possible() {
        let header = BlockHeader::SIZE as u64;
        let of = |kind| BlockShape {
            kind,
            filters: FilterIds::default(),
        };
        let allows = |kind, front_size, line_feeds| {
            of(kind).allows(&EntrySizes {
                raw_size: 900,
                coded_size: 500,
                front_size,
                line_feeds,
            })
        };
        let indexed = BlockKind::Bwt(SHAPE);
        for front in [header + 1, 499] {
            assert!(allows(indexed, front, 900), "{front}");
            assert!(!allows(indexed, front, 901), "{front}");
            assert!(!allows(BlockKind::Stored, front, 0), "{front}");
        }
        for front in [0, header, 500, 1 << 39] {
            assert!(!allows(indexed, front, 0), "{front}");
        }
        assert!(allows(BlockKind::Stored, 0, 900));
    }

    #[test]
    fn an_indexed_shape_has_no_known_filters_but_sequences() {
        let read = |ids: &[u8]| {
            let filtered = Shape {
                filtered: true,
                ..SHAPE
            };
            let bytes = [&BlockKind::Bwt(filtered).to_bytes(), ids].concat();
            BlockShape::read(&mut &bytes[..]).map(drop)
        };
        assert_eq!(read(&[1, 1]), Ok(()));
        assert_eq!(read(&[1, 77]), Ok(()));
        for ids in [&[1, 2][..], &[2, 1, 3], &[0], &[1, 128]] {
            assert!(read(ids).is_err(), "{ids:?}");
        }
    }
}
