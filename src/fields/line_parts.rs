//! Raw block -> text and parameters.

use super::column_form::{EMPTY, Form, LEAST_VALUES};
use super::numbers::{self, Pattern};
use super::predictions::{Predictions, Room};
use super::templates::{self, Columns, MOST, SLOT, WHOLE, WHOLE_LINES, write_number};
use super::tokens::Tokens;
use super::value_cost::Sample;
use crate::allocation;
use crate::error::Flaw;
use crate::leb128;
use std::collections::HashMap;
use std::ops::Range;

/// Lines that are longer, or have more slots, are stored whole.
const LONGEST_LINE: usize = 1 << 16;
const MOST_SLOTS: usize = 1024;

/// Values of a block at most, as a part of its bytes: this bounds the memory. A value takes 12
/// bytes, and room that a column has for a quarter more: with the block and its text that is 6
/// bytes per byte, as much as the sort takes.
const BYTES_OF_VALUE: usize = 4;

/// Values that a form is chosen by: neighbours, so that they repeat as often as all do.
const SAMPLED: usize = 8192;

/// Slots before a column that may predict it.
const MOST_DISTANCE: usize = 16;

/// The text of a block and its parameters.
pub(super) type TextAndSide = (Vec<u8>, Vec<u8>);

/// Takes `block` apart by `tokens`: the text and the parameters. `None` where it has too many slots
/// or does not get smaller.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub fn take_apart(block: &[u8], tokens: Tokens) -> Result<Option<TextAndSide>, Flaw> {
    let is_smaller = |(text, side): &TextAndSide| text.len() + side.len() < block.len();
    Ok(take_any_apart(block, tokens)?.filter(is_smaller))
}

/// [`take_apart`], even where it does not get smaller.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub(super) fn take_any_apart(block: &[u8], tokens: Tokens) -> Result<Option<TextAndSide>, Flaw> {
    if u32::try_from(block.len()).is_err() {
        return Ok(None);
    }
    let mut side = Vec::new();
    let Some(parts) = LineParts::read(block, tokens)? else { return Ok(None) };
    let text = parts.text()?;
    leb128::write(parts.names.len(), &mut side);
    leb128::write(parts.numbers.len() * 2 + usize::from(!block.ends_with(b"\n")), &mut side);
    Ok(Some((text, side)))
}

/// A value: where it stands in the block, and the number of that of the slot before in its column.
#[derive(Clone, Copy, Debug)]
struct Value {
    start: u32,
    len: u32,
    before: u32,
}

/// A column, and the one of the slot before.
#[derive(Debug, Default)]
struct Column {
    values: Vec<Value>,
    before: u32,
    depth: usize,
}

/// The lines of a block.
struct LineParts<'b> {
    block: &'b [u8],
    /// The templates, without that of whole lines.
    names: Vec<Box<[u8]>>,
    /// The template of each line.
    numbers: Vec<u16>,
    columns: Vec<Column>,
}

impl<'b> LineParts<'b> {
    fn read(block: &'b [u8], tokens: Tokens) -> Result<Option<Self>, Flaw> {
        let columns = vec![Column::default()];
        let mut parts = LineParts { block, names: Vec::new(), numbers: Vec::new(), columns };
        let mut known = Known::new();
        let (mut slots, mut name, mut left) =
            (Vec::new(), Vec::new(), block.len() / BYTES_OF_VALUE);
        let mut start = 0;
        while start < block.len() {
            let end = memchr::memchr(b'\n', &block[start..]).map_or(block.len(), |at| start + at);
            let line = &block[start..end];
            let number = match split_line(line, tokens, &mut slots, &mut name) {
                true => known.number(&name),
                false => None,
            };
            let Some(more) = left.checked_sub(number.map_or(1, |_| slots.len())) else {
                return Ok(None);
            };
            left = more;
            match number {
                Some(number) => parts.add_line(start, number, &slots, &known.columns[number])?,
                None => parts.add_whole(start..end)?,
            }
            start = end + 1;
        }
        parts.names = known.names();
        Ok(Some(parts))
    }

    fn push(&mut self, column: u32, value: Value) -> Result<(), Flaw> {
        let values = &mut self.columns[column as usize].values;
        if values.len() == values.capacity() {
            let more = values.len() / 4 + 4;
            allocation::reserve_exact(values, more).ok_or(Flaw::NO_MEMORY)?;
        }
        values.push(value);
        Ok(())
    }

    fn add_whole(&mut self, line: Range<usize>) -> Result<(), Flaw> {
        self.numbers.push(WHOLE as u16);
        let (start, len) = (line.start as u32, line.len() as u32);
        self.push(WHOLE_LINES, Value { start, len, before: 0 })
    }

    fn add_line(
        &mut self,
        start: usize,
        number: usize,
        slots: &[Range<usize>],
        columns: &[u32],
    ) -> Result<(), Flaw> {
        self.numbers.push(number as u16);
        let (mut before, mut value_before) = (WHOLE_LINES, 0);
        for (depth, (slot, &column)) in slots.iter().zip(columns).enumerate() {
            if column as usize == self.columns.len() {
                self.columns.push(Column { values: Vec::new(), before, depth });
            }
            let value_number = self.columns[column as usize].values.len() as u32;
            let (start, len) = ((start + slot.start) as u32, slot.len() as u32);
            self.push(column, Value { start, len, before: value_before })?;
            (before, value_before) = (column, value_number);
        }
        Ok(())
    }

    fn text(&self) -> Result<Vec<u8>, Flaw> {
        let mut text = allocation::with_capacity(self.block.len()).ok_or(Flaw::NO_MEMORY)?;
        for name in &self.names {
            text.extend_from_slice(name);
            text.push(b'\n');
        }
        self.numbers.iter().for_each(|&number| write_number(number.into(), &mut text));
        let mut room = Room::new();
        for column in &self.columns {
            let mut form = self.form(column);
            if matches!(form, Form::Predicted { .. }) && !room.take(column.values.len()) {
                form = Form::Text;
            }
            if column.values.len() >= LEAST_VALUES {
                form.write(&mut text);
            }
            match &form {
                Form::Text => self.write_text(column, &mut text),
                Form::Numbers(pattern) => self.write_numbers(column, pattern, &mut text),
                Form::Predicted { distance } => {
                    self.write_predicted(column, *distance, &mut text)?
                }
            }
        }
        Ok(text)
    }

    fn bytes(&self, value: &Value) -> &'b [u8] {
        &self.block[value.start as usize..][..value.len as usize]
    }

    /// The value `distance` slots before one of `column`, on the same line.
    fn before<'a>(&'a self, mut column: &'a Column, mut value: Value, distance: usize) -> Value {
        for _ in 0..distance {
            column = &self.columns[column.before as usize];
            value = column.values[value.before as usize];
        }
        value
    }

    fn form(&self, column: &Column) -> Form {
        let count = column.values.len();
        if count < LEAST_VALUES {
            return Form::Text;
        }
        let skipped = count.saturating_sub(SAMPLED) / 2;
        let sampled = &column.values[skipped..][..count.min(SAMPLED)];
        let distances = 0..=column.depth.min(MOST_DISTANCE);
        let values = distances.map(|distance| {
            let value = |&value: &Value| self.bytes(&self.before(column, value, distance));
            sampled.iter().map(value).collect()
        });
        Sample { values: values.collect() }.best_form()
    }

    fn write_text(&self, column: &Column, out: &mut Vec<u8>) {
        for value in &column.values {
            out.extend_from_slice(self.bytes(value));
            out.push(b'\n');
        }
    }

    fn write_numbers(&self, column: &Column, pattern: &Pattern, out: &mut Vec<u8>) {
        let mut before = 0;
        for value in column.values.iter().map(|value| self.bytes(value)) {
            if let Some(number) = pattern.parse(value) {
                numbers::write(numbers::zigzag(number - before), out);
                before = number;
            } else {
                out.push(0);
                out.extend_from_slice(value);
                out.push(b'\n');
            }
        }
    }

    fn write_predicted(
        &self,
        column: &Column,
        distance: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Flaw> {
        let mut predictions = Predictions::new(column.values.len())?;
        for value in &column.values {
            let key = self.bytes(&self.before(column, *value, distance));
            let (last, bytes) = (predictions.last(key), self.bytes(value));
            if self.block[last.start as usize..last.end as usize] != *bytes {
                out.extend_from_slice(if bytes.is_empty() { EMPTY } else { bytes });
            }
            out.push(b'\n');
            *last = value.start..value.start + value.len;
        }
        Ok(())
    }
}

/// Sets `name` to the template of a line, unless it is to be stored whole.
fn split_line(
    line: &[u8],
    tokens: Tokens,
    slots: &mut Vec<Range<usize>>,
    name: &mut Vec<u8>,
) -> bool {
    if line.len() > LONGEST_LINE || memchr::memchr(SLOT, line).is_some() {
        return false;
    }
    tokens.find(line, slots);
    name.clear();
    let mut end = 0;
    for slot in slots.iter() {
        name.extend_from_slice(&line[end..slot.start]);
        name.push(SLOT);
        end = slot.end;
    }
    name.extend_from_slice(&line[end..]);
    slots.len() <= MOST_SLOTS
}

/// The templates that were found.
struct Known {
    numbers: HashMap<Box<[u8]>, usize>,
    /// The columns of each, and how many they may still have.
    columns: Vec<Box<[u32]>>,
    slots_left: usize,
    places: Columns,
}

impl Known {
    fn new() -> Self {
        let of_whole = Box::from([WHOLE_LINES]);
        let slots_left = templates::MOST_SLOTS;
        Known {
            slots_left,
            numbers: HashMap::new(),
            columns: vec![of_whole],
            places: Columns::new(),
        }
    }

    /// The number of a template; `None` where there are too many.
    fn number(&mut self, name: &[u8]) -> Option<usize> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = self.columns.len();
        let slots = name.iter().filter(|&&byte| byte == SLOT).count();
        if number == MOST || slots > self.slots_left {
            return None;
        }
        self.slots_left -= slots;
        self.columns.push(self.places.of(name).into());
        self.numbers.insert(name.into(), number);
        Some(number)
    }

    /// The templates in their order.
    fn names(self) -> Vec<Box<[u8]>> {
        let mut names: Vec<(Box<[u8]>, usize)> = self.numbers.into_iter().collect();
        names.sort_unstable_by_key(|&(_, number)| number);
        names.into_iter().map(|(name, _)| name).collect()
    }
}
