//! Text and parameters -> raw block.
//!
//! The lines are restored in one pass. Each column keeps its position in the text, and the arrays
//! of its form.

use super::block_writer::BlockWriter;
use super::column_form::{EMPTY, Form, LEAST_VALUES, raised};
use super::kept_hashes::KeptHashes;
use super::lists;
use super::numbers::{self, Pattern};
use super::packed_columns::PackedColumns;
use super::packed_words::Unpacker;
use super::predictions::{NO_NUMBER, NOWHERE, Predictions, Room, array_bytes};
use super::short_moves::{USUAL, line_end, lines};
use super::side_memory::SideMemory;
use super::templates::{
    self, Columns, MOST, SLOT, Template, WHOLE_LINES, most_columns, most_slots, most_values,
    read_number,
};
use crate::base::allocation;
use crate::base::error::Flaw;
use crate::base::leb128;
use std::ops::Range;

const ENDS: Flaw = Flaw("the text of a block of fields ends too early");
const LIMITS: Flaw = Flaw("a block of fields has too many slots, columns, values or predictions");
const SIZE: Flaw = Flaw("the lines of a block of fields do not add up to it");

/// Puts a block of `size` bytes together, by the parameters at the front of `side`.
///
/// # Errors
/// A [`Flaw`] if the text is not that of such a block. Any text is safe: its size and `size` bound
/// the time and the memory.
pub(crate) fn put_together(text: &[u8], side: &mut &[u8], size: usize) -> Result<Vec<u8>, Flaw> {
    put_together_in(text, side, size, &mut SideMemory::unlimited())
}

/// Does the same as [`put_together`], within `memory` for everything but the block and its text.
///
/// # Errors
/// As [`put_together`], and if the memory does not suffice. Then `memory` tells the need.
pub(crate) fn put_together_in(
    text: &[u8],
    side: &mut &[u8],
    size: usize,
    memory: &mut SideMemory,
) -> Result<Vec<u8>, Flaw> {
    let count = leb128::read(side)?;
    let lines_and_end = leb128::read(side)?;
    let lines = lines_and_end / 2;
    let ends = lines_and_end % 2 == 0;
    if count >= MOST || lines > size || u32::try_from(size).is_err() {
        return Err(SIZE);
    }
    let mut beside: &[u8] = side;
    let packed = PackedColumns::new(&mut beside, size)?;
    let mut rest = text;
    let room = Room::new();
    let later = room.bytes_left(most_values(size)) + packed.layout_bytes_left();
    let later = later + most_columns(size) * COLUMN;
    let (mut templates, depths) = read_templates(&mut rest, count, size, |bytes| {
        memory.take(bytes, later + most_slots(size) * templates::OF_SLOT)
    })?;
    let mut numbers = rest;
    for _ in 0..lines {
        templates[read_number(&mut rest, count + 1)?].lines += 1;
    }
    // Empty joined values take no room in the text, but they take time.
    let values = |template: &Template| {
        template
            .slots
            .len()
            .saturating_mul(template.lines)
    };
    if templates
        .iter()
        .map(values)
        .fold(0, usize::saturating_add)
        > most_values(size)
    {
        return Err(LIMITS);
    }
    let columns = read_columns(&templates, &depths, rest, packed, room, memory)?;
    *side = &side[side.len() - beside.len()..];
    let block = BlockWriter::new(size)?;
    let hashes = KeptHashes::new();
    let mut join = Join {
        block,
        columns,
        slots: Vec::new(),
        unpacked: Vec::new(),
        hashes,
    };
    for number in 1..=lines {
        join.line(&templates[read_number(&mut numbers, count + 1)?])?;
        if number < lines || ends {
            join.block.push(b"\n")?;
        }
    }
    if join.columns.iter().all(Column::is_done) {
        join.block.whole()
    } else {
        Err(SIZE)
    }
}

/// Takes `count` templates of a block of `size` bytes off the front of `rest`, and puts the
/// template of whole lines before them. Also returns the number of slots in front of each column.
/// Calls `take` with the bytes of memory of each.
fn read_templates(
    rest: &mut &[u8],
    count: usize,
    size: usize,
    mut take: impl FnMut(usize) -> Result<(), Flaw>,
) -> Result<(Vec<Template>, Vec<u32>), Flaw> {
    let mut columns = Columns::new();
    let mut slots_left = most_slots(size);
    let mut templates = vec![Template::new(&[SLOT], &[WHOLE_LINES])];
    for _ in 0..count {
        let name = line(rest)?;
        let slots = name.iter().filter(|&&byte| byte == SLOT).count();
        slots_left = slots_left.checked_sub(slots).ok_or(LIMITS)?;
        take(templates::OF_TEMPLATE + name.len() + slots * templates::OF_SLOT)?;
        let known = columns.depths.len();
        let columns_left = most_columns(size)
            .checked_sub(known)
            .ok_or(LIMITS)?;
        let of_slots = columns.of(name, columns_left).ok_or(LIMITS)?;
        take((columns.depths.len() - known) * (templates::OF_PLACE + COLUMN))?;
        templates.push(Template::new(name, &of_slots));
    }
    Ok((templates, columns.depths))
}

/// A column as it is read: its position in the text, and the state of its form.
struct Column<'t> {
    rest: &'t [u8],
    /// Lengths of the values of a joined column that has them.
    lengths: &'t [u8],
    /// Values of a packed column.
    packed: Option<Box<Unpacker<'t>>>,
    form: Form,
    number: i64,
    /// The printed value of `number`, if the next difference is to that number. In tables most
    /// numbers equal the one before.
    value: [u8; USUAL],
    /// Length of `value` in bytes; 0 if it is not known or is above [`USUAL`].
    len: usize,
    values: Predictions<Range<u32>>,
    numbers: Predictions<i64>,
}

/// Memory of a column and of its unpacker, in bytes.
const COLUMN: usize = size_of::<Column>() + size_of::<Unpacker>() + 64;

/// Reads the forms of the columns, and finds where the values of each start.
fn read_columns<'t>(
    templates: &[Template],
    depths: &[u32],
    mut rest: &'t [u8],
    mut packed: PackedColumns<'_, 't>,
    mut room: Room,
    memory: &mut SideMemory,
) -> Result<Vec<Column<'t>>, Flaw> {
    let mut counts = vec![0_usize; depths.len()];
    for template in templates {
        for &(_, column) in &template.slots {
            counts[column as usize] = counts[column as usize].saturating_add(template.lines);
        }
    }
    let mut values_left: usize = counts.iter().sum();
    let mut columns = allocation::with_capacity(depths.len()).ok_or(Flaw::NO_MEMORY)?;
    for (number, (&count, &depth)) in counts.iter().zip(depths).enumerate() {
        let layouts_left = packed.layout_bytes_left();
        let later = layouts_left + room.bytes_left(values_left);
        let packed = packed
            .of(number, count, |bytes| memory.take(bytes, later))?
            .map(Box::new);
        let form = match count {
            _ if packed.is_some() => Form::Packed,
            0..LEAST_VALUES => Form::Text,
            _ => Form::read(&mut rest, depth)?,
        };
        // A value takes at least one byte, unless another one gives its length.
        let has_room = matches!(form, Form::Packed | Form::Joined { distance: 1.., .. });
        if count > rest.len() && !has_room {
            return Err(ENDS);
        }
        if form.has_table() {
            if !room.take(count) {
                return Err(LIMITS);
            }
            memory.take(
                array_bytes(count),
                layouts_left + room.bytes_left(values_left - count),
            )?;
        }
        values_left -= count;
        let (mut values, mut numbers) = Default::default();
        match form {
            Form::Predicted { .. } => values = Predictions::new(count, NOWHERE)?,
            Form::NumbersByKey { .. } => numbers = Predictions::new(count, NO_NUMBER)?,
            _ => {}
        }
        let (stored, lengths) = match form {
            Form::Joined { distance, .. } => joined(&mut rest, distance, count)?,
            Form::Packed => Default::default(),
            _ => (skip_values(&mut rest, &form, count)?, &[][..]),
        };
        columns.push(Column {
            rest: stored,
            lengths,
            packed,
            form,
            number: 0,
            value: [0; USUAL],
            len: 0,
            values,
            numbers,
        });
    }
    packed.end()?;
    if rest.is_empty() {
        Ok(columns)
    } else {
        Err(Flaw(
            "the text of a block of fields continues after its last column",
        ))
    }
}

/// Skips `count` values at the front of `bytes`, and returns their bytes.
fn skip_values<'t>(bytes: &mut &'t [u8], form: &Form, count: usize) -> Result<&'t [u8], Flaw> {
    let values = *bytes;
    match form.pattern() {
        Some(_) => numbers::skip(bytes, count)?,
        None => *bytes = &values[lines(values, count).ok_or(ENDS)?..],
    }
    Ok(values)
}

/// Takes `count` joined values off the front of `bytes`. Returns them, and their lengths.
fn joined<'t>(
    bytes: &mut &'t [u8],
    distance: usize,
    count: usize,
) -> Result<(&'t [u8], &'t [u8]), Flaw> {
    let lengths = *bytes;
    let size = match distance {
        0 => {
            let mut len = 0;
            let mut size = 0_usize;
            for _ in 0..count {
                len = next_length(bytes, len)?;
                size = size.saturating_add(len as usize);
            }
            size
        }
        _ => leb128::read(bytes)?,
    };
    Ok((bytes.split_off(..size).ok_or(ENDS)?, lengths))
}

/// Takes the length of a joined value off the front of `lengths`, given the length of the value
/// before.
fn next_length(lengths: &mut &[u8], before: i64) -> Result<i64, Flaw> {
    let len = numbers::read(lengths)?.and_then(|difference| before.checked_add(difference));
    len.filter(|&len| len >= 0).ok_or(Flaw(
        "a length of a column of joined values is out of range",
    ))
}

/// Takes bytes and the line end behind them off the front of `bytes`.
#[inline(always)]
fn line<'t>(bytes: &mut &'t [u8]) -> Result<&'t [u8], Flaw> {
    let end = line_end(bytes).ok_or(ENDS)?;
    let line = &bytes[..end];
    *bytes = &bytes[end + 1..];
    Ok(line)
}

impl Column<'_> {
    /// Returns true unless bytes are left in a joined column.
    fn is_done(&self) -> bool {
        !matches!(self.form, Form::Joined { .. }) || self.rest.is_empty()
    }
}

struct Join<'t> {
    block: BlockWriter,
    columns: Vec<Column<'t>>,
    /// Ranges of the block with the values of the line.
    slots: Vec<Range<usize>>,
    /// Buffer of a packed value.
    unpacked: Vec<u8>,
    hashes: KeptHashes,
}

impl Join<'_> {
    /// Appends a line without its end.
    fn line(&mut self, template: &Template) -> Result<(), Flaw> {
        self.slots.clear();
        for (text, column) in &template.slots {
            self.text(template, text)?;
            self.value(*column as usize)?;
        }
        self.text(template, &template.end)
    }

    fn text(&mut self, template: &Template, text: &Range<u32>) -> Result<(), Flaw> {
        self.block
            .push_first(&template.name[text.start as usize..], text.len())
    }

    fn value(&mut self, column: usize) -> Result<(), Flaw> {
        let start = self.block.len();
        if !self.same_number(column)? {
            self.other_value(column)?;
        }
        self.slots.push(start..self.block.len());
        Ok(())
    }

    #[inline(always)]
    fn other_value(&mut self, column: usize) -> Result<(), Flaw> {
        match self.columns[column].form {
            Form::Text => self.stored(column),
            Form::Raised => self.raised(column),
            Form::Packed => self.packed(column),
            Form::Joined { distance, raised } => self.joined(column, distance, raised),
            Form::Predicted { distance, raised } => self.predicted(column, distance, raised),
            Form::Lists { distance, .. } => self.list(column, distance),
            Form::Numbers(_) => {
                let before = self.columns[column].number;
                self.number(column, before)
            }
            Form::NumbersByKey { distance, .. } => self.number_by_key(column, distance),
            Form::Sums { plus, minus, .. } => {
                self.number(column, self.in_slot(plus) - self.in_slot(minus))
            }
        }
    }

    /// Appends the next value and returns true, if it is the number before once more.
    #[inline(always)]
    fn same_number(&mut self, column: usize) -> Result<bool, Flaw> {
        let Column {
            rest, value, len, ..
        } = &mut self.columns[column];
        match **rest {
            [numbers::SAME, ref more @ ..] if *len > 0 => *rest = more,
            _ => return Ok(false),
        }
        self.block.push_first(value, *len)?;
        Ok(true)
    }

    fn stored(&mut self, column: usize) -> Result<(), Flaw> {
        let rest = &mut self.columns[column].rest;
        let stored = *rest;
        let value = line(rest)?;
        self.block.push_first(stored, value.len())
    }

    fn raised(&mut self, column: usize) -> Result<(), Flaw> {
        let start = self.block.len();
        self.stored(column)?;
        raise(self.block.from(start));
        Ok(())
    }

    fn packed(&mut self, column: usize) -> Result<(), Flaw> {
        let values = self.columns[column]
            .packed
            .as_mut()
            .expect("the column is packed");
        values.next(&mut self.unpacked)?;
        self.block.push(&self.unpacked)
    }

    fn joined(&mut self, column: usize, distance: usize, is_raised: bool) -> Result<(), Flaw> {
        let of_key = if distance == 0 {
            0
        } else {
            self.key(distance).len()
        };
        let Column {
            rest,
            lengths,
            number,
            ..
        } = &mut self.columns[column];
        let len = match distance {
            0 => {
                *number = next_length(lengths, *number)?;
                *number as usize
            }
            _ => of_key,
        };
        let (value, more) = rest.split_at_checked(len).ok_or(ENDS)?;
        *rest = more;
        let start = self.block.len();
        self.block.push(value)?;
        if is_raised {
            raise(self.block.from(start));
        }
        Ok(())
    }

    fn list(&mut self, column: usize, distance: usize) -> Result<(), Flaw> {
        let before = match distance {
            0 => 0..0,
            _ => {
                let key = self.key(distance);
                let inside = lists::unquoted(&self.block[key.clone()]);
                key.start + inside.start..key.start + inside.end
            }
        };
        let Column { rest, form, .. } = &mut self.columns[column];
        let Form::Lists { separator, .. } = form else {
            unreachable!("the column is one of lists")
        };
        lists::restore(line(rest)?, before, separator, &mut self.block)
    }

    /// Returns the number in the slot `distance` before the next one; 0 if `distance` is 0.
    fn in_slot(&self, distance: usize) -> i64 {
        match distance {
            0 => 0,
            _ => numbers::of_slot(&self.block[self.key(distance)]),
        }
    }

    /// Returns the value in the slot `distance` before the next one.
    fn key(&self, distance: usize) -> Range<usize> {
        self.slots[self.slots.len() - distance].clone()
    }

    /// Returns the hash of the value in the slot `distance` before the next one.
    fn key_hash(&mut self, distance: usize) -> u32 {
        let slot = self.slots.len() - distance;
        self.hashes
            .of(slot, &self.block, self.slots[slot].clone())
    }

    /// Appends the next value of a column of numbers, whose difference to `before` is stored. Then
    /// keeps its number.
    fn number(&mut self, column: usize, before: i64) -> Result<(), Flaw> {
        let Column {
            rest,
            form,
            number,
            value,
            len,
            ..
        } = &mut self.columns[column];
        *number = before;
        let Some(difference) = numbers::read(rest)? else {
            return self.stored(column);
        };
        *number = number
            .checked_add(difference)
            .ok_or(numbers::OUT_OF_RANGE)?;
        let pattern: &Pattern = form
            .pattern()
            .expect("the column is one of numbers");
        let block = &mut self.block;
        let is_before_next = matches!(form, Form::Numbers(_));
        *len = 0;
        pattern.print(*number, |bytes, size| {
            if let Some(usual) = bytes.first_chunk()
                && size <= USUAL
                && is_before_next
            {
                (*value, *len) = (*usual, size);
            }
            block.push_first(bytes, size)
        })?
    }

    fn number_by_key(&mut self, column: usize, distance: usize) -> Result<(), Flaw> {
        let hash = self.key_hash(distance);
        let Column {
            number, numbers, ..
        } = &mut self.columns[column];
        let place = numbers.place(hash);
        let before = match *numbers.at(place) {
            NO_NUMBER => *number,
            last => last,
        };
        self.number(column, before)?;
        let Column {
            number, numbers, ..
        } = &mut self.columns[column];
        *numbers.at(place) = *number;
        Ok(())
    }

    fn predicted(&mut self, column: usize, distance: usize, is_raised: bool) -> Result<(), Flaw> {
        let key = self.key(distance);
        let hash = self.key_hash(distance);
        let Column { rest, values, .. } = &mut self.columns[column];
        let stored = *rest;
        let place = values.place(hash);
        let last = values.at(place);
        let before = match *last {
            NOWHERE => key,
            Range { start, end } => start as usize..end as usize,
        };
        let start = self.block.len();
        let value = line(rest)?;
        let len = match value {
            b"" => before.len(),
            EMPTY => 0,
            _ => value.len(),
        };
        *last = start as u32..(start + len) as u32;
        match value {
            b"" => self.block.push_within(before)?,
            EMPTY => {}
            _ => self.block.push_first(stored, len)?,
        }
        if is_raised && !value.is_empty() {
            raise(self.block.from(start));
        }
        Ok(())
    }
}

fn raise(value: &mut [u8]) {
    value
        .iter_mut()
        .for_each(|byte| *byte = raised(*byte));
}
