//! Templates, and the columns of their slots.

use super::short_moves::USUAL;
use crate::base::content_defined;
use crate::base::error::Flaw;
use std::collections::HashMap;
use std::ops::Range;

/// Byte for a slot in a template. Lines that hold this byte have no slots.
pub(super) const SLOT: u8 = 1;

/// Byte for a line end in the template of a record. Lines that hold this byte have no slots.
pub(super) const LINE_END: u8 = 2;

/// Number of the template of a line that is stored whole, in [`WHOLE_LINES`].
pub(super) const WHOLE: usize = 0;
/// Number of the column of lines that are stored whole.
pub(super) const WHOLE_LINES: u32 = 0;

/// Numbers below this take one byte, others two.
const ONE_BYTE: usize = 192;
/// Maximum number of templates of a block, [`WHOLE`] included. Their numbers then take at most two
/// bytes.
pub(super) const MOST: usize = ONE_BYTE + (255 - ONE_BYTE) * 256;

/// Maximum number of slots of all templates, however large the block is.
pub(super) const MOST_SLOTS: usize = 1 << 18;

/// Number of slots, values and columns that any block may have. It is the maximum number of slots
/// of a line.
const LEAST: usize = 1024;

/// Maximum number of slots of all templates of a block of `size` bytes.
pub(super) fn most_slots(size: usize) -> usize {
    (size / 4 + LEAST).min(MOST_SLOTS)
}

/// Maximum number of values of a block of `size` bytes.
pub(super) fn most_values(size: usize) -> usize {
    size / 4 + LEAST
}

/// Maximum number of columns of a block of `size` bytes, that of whole lines included. Each takes
/// some hundred bytes of memory.
pub(super) fn most_columns(size: usize) -> usize {
    size / 128 + LEAST
}

/// Appends the number of a template.
pub(super) fn write_number(number: usize, out: &mut Vec<u8>) {
    match number.checked_sub(ONE_BYTE) {
        None => out.push(number as u8),
        Some(above) => out.extend([(ONE_BYTE + above / 256) as u8, (above % 256) as u8]),
    }
}

/// Takes the number of one of `count` templates off the front of `bytes`.
pub(super) fn read_number(bytes: &mut &[u8], count: usize) -> Result<usize, Flaw> {
    let (number, rest) = match **bytes {
        [low, ref rest @ ..] if usize::from(low) < ONE_BYTE => (usize::from(low), rest),
        [high, low, ref rest @ ..] => (
            ONE_BYTE + (usize::from(high) - ONE_BYTE) * 256 + usize::from(low),
            rest,
        ),
        _ => return Err(Flaw("the lines of a block of fields end too early")),
    };
    *bytes = rest;
    if number < count {
        Ok(number)
    } else {
        Err(Flaw("a line has a template that does not exist"))
    }
}

/// Memory of a template in bytes, without its name and slots: itself and its allocations.
pub(super) const OF_TEMPLATE: usize = size_of::<Template>() + USUAL + 64;
/// Memory of a slot, in bytes.
pub(super) const OF_SLOT: usize = size_of::<(Range<u32>, u32)>() + size_of::<u32>();
/// Memory of a column's entry in [`Columns`] in bytes, without the text in front of the slot.
pub(super) const OF_PLACE: usize = 2 * size_of::<((u32, Box<[u8]>), u32)>() + 48;

/// Template by which lines are put together.
pub(super) struct Template {
    /// Bytes of the template, with real line ends, and [`USUAL`] bytes of padding.
    pub name: Vec<u8>,
    /// For each slot, the range of the name with the bytes in front of it, from the slot before on,
    /// and its column.
    pub slots: Vec<(Range<u32>, u32)>,
    /// Range of the name with the bytes behind the last slot.
    pub end: Range<u32>,
    pub lines: usize,
}

impl Template {
    /// Creates the template of `name`, whose slots have these columns. It has no lines yet.
    pub(super) fn new(name: &[u8], columns: &[u32]) -> Self {
        let mut start = 0;
        let slots = memchr::memchr_iter(SLOT, name)
            .zip(columns)
            .map(|(end, &column)| {
                let text = start..end as u32;
                start = text.end + 1;
                (text, column)
            });
        let slots = slots.collect();
        let line_end = |&byte: &u8| if byte == LINE_END { b'\n' } else { byte };
        let padded = name
            .iter()
            .chain(&[0; USUAL])
            .map(line_end)
            .collect();
        Template {
            name: padded,
            slots,
            end: start..name.len() as u32,
            lines: 0,
        }
    }
}

/// Columns by their place: a column has the slots behind the same bytes and the same slots. The
/// first column is [`WHOLE_LINES`].
#[derive(Debug, Default)]
pub(super) struct Columns {
    by_place: HashMap<(u32, Box<[u8]>), u32>,
    /// Number of slots before each column's slot.
    pub depths: Vec<u32>,
    /// Hash of each column's place, which is the same in every block.
    pub keys: Vec<u64>,
}

impl Columns {
    pub(super) fn new() -> Self {
        Columns {
            by_place: HashMap::new(),
            depths: vec![0],
            keys: vec![0],
        }
    }

    /// Returns the columns of a template's slots. New columns are numbered in their order. `None`
    /// if more than `left` are new.
    pub(super) fn of(&mut self, template: &[u8], mut left: usize) -> Option<Vec<u32>> {
        let mut columns = Vec::new();
        let mut before = WHOLE_LINES;
        let mut parts = template.split(|&byte| byte == SLOT).peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_some() {
                let next = self.depths.len() as u32;
                let column = *self
                    .by_place
                    .entry((before, part.into()))
                    .or_insert(next);
                if column == next {
                    left = left.checked_sub(1)?;
                    self.depths.push(columns.len() as u32);
                    self.keys
                        .push(key(self.keys[before as usize], part));
                }
                columns.push(column);
                before = column;
            }
        }
        Some(columns)
    }
}

/// Returns the key of the column behind a text, which is behind the column of the key `before`.
fn key(before: u64, text: &[u8]) -> u64 {
    let eight = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(eight)
    };
    let front = [before, text.len() as u64];
    content_defined::hash_words(front.into_iter().chain(text.chunks(8).map(eight)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_behind_the_same_bytes_share_a_column() {
        let mut columns = Columns::new();
        let mut of = |template: &[u8]| columns.of(template, 9).unwrap();
        assert_eq!(of(b"at \x01: \x01"), [1, 2]);
        assert_eq!(of(b"at \x01, \x01 \x01"), [1, 3, 4]);
        assert_eq!(of(b"\x01\x01"), [5, 6]);
        assert_eq!(of(b"none"), [0; 0]);
        assert_eq!(columns.of(b"a \x01 \x01", 1), None);
        assert_eq!(columns.depths[..7], [0, 0, 1, 1, 2, 0, 1]);
    }

    #[test]
    fn names_are_cut_at_their_slots() {
        let template = Template::new(b"\x01 at \x02\x01\x01.", &[4, 5, 4]);
        assert_eq!(
            template.name,
            [&b"\x01 at \n\x01\x01."[..], &[0; USUAL]].concat()
        );
        assert_eq!(template.slots, [(0..0, 4), (1..6, 5), (7..7, 4)]);
        assert_eq!(template.end, 8..9);
        assert_eq!(Template::new(b"none", &[]).end, 0..4);
    }

    #[test]
    fn numbers_of_templates_survive() {
        for number in [0, 1, 191, 192, 447, 448, MOST - 1] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(read_number(&mut &bytes[..], MOST), Ok(number));
            assert!(read_number(&mut &bytes[..], number).is_err());
            assert!(read_number(&mut &bytes[..bytes.len() - 1], MOST).is_err());
        }
        assert!(read_number(&mut &[255, 0][..], MOST).is_err());
    }
}
