//! Columns of a block, written in their forms.
//!
//! Columns whose values do not depend on each other are written part by part, in parallel. This
//! reads each part of the block once. Each of the other columns is written as a whole.

use super::column_form::{EMPTY, Form, LEAST_VALUES, raised};
use super::column_values::{ColumnValues, Group, LineValue, count};
use super::lists::{self, Separator};
use super::numbers::{self, Pattern};
use super::packed_columns::MOST_LAYOUTS;
use super::packed_layout::Layout;
use super::packed_words;
use super::parsed_lines::Value;
use super::predictions::{NO_NUMBER, NOWHERE, Predictions};
use super::short_moves::push_bytes;
use super::templates::WHOLE_LINES;
use crate::base::allocation;
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::base::threads::Threads;
use std::ops::Range;

/// Writer of columns.
pub(super) struct Writer<'b> {
    pub block: &'b [u8],
    pub values: &'b ColumnValues<'b>,
}

/// All written columns: the bytes of each part for the columns that are written part by part, and
/// the columns that are written whole.
pub(super) struct WrittenColumns {
    parts: Vec<Written>,
    whole: Vec<Vec<u8>>,
}

/// Bytes of a part's columns, one after the other, and the end of each.
struct Written {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Appends the columns to the front of the text. Returns the text, and the range of it with the
/// lines that have no template.
pub(super) fn join(
    front: Vec<u8>,
    columns: &[&[Group]],
    forms: &[Form],
    WrittenColumns { parts, whole }: WrittenColumns,
) -> Result<(Vec<u8>, Range<usize>), Flaw> {
    let sizes = parts
        .iter()
        .map(|part| &part.bytes)
        .chain(&whole)
        .map(Vec::len);
    // A form takes a few bytes.
    let size = front.len() + sizes.sum::<usize>() + 4 * columns.len();
    let mut text = allocation::with_capacity(size).ok_or(Flaw::NO_MEMORY)?;
    text.extend_from_slice(&front);
    let mut whole = whole.into_iter();
    let mut next = vec![(0, 0); parts.len()];
    let mut whole_lines = text.len()..text.len();
    for (column, form) in columns
        .iter()
        .zip(forms)
        .filter(|(_, form)| **form != Form::Packed)
    {
        if count(column) >= LEAST_VALUES {
            form.write(&mut text);
        }
        if form.is_written_whole() {
            text.extend(whole.next().expect("each is written"));
        } else {
            for part in column.iter().map(|group| group.part as usize) {
                let (group, start) = &mut next[part];
                let end = parts[part].ends[*group];
                text.extend_from_slice(&parts[part].bytes[*start..end]);
                (*group, *start) = (*group + 1, end);
            }
        }
        if column[0].column == WHOLE_LINES {
            whole_lines.end = text.len();
        }
    }
    Ok((text, whole_lines))
}

impl<'b> Writer<'b> {
    fn bytes(&self, value: Value) -> &'b [u8] {
        &self.block[value.range()]
    }

    /// Yields the values of a column.
    pub(super) fn own<'w>(&'w self, column: &'w [Group]) -> impl Iterator<Item = &'b [u8]> + 'w {
        self.values
            .of(column)
            .map(|value| self.bytes(value.own()))
    }

    /// Writes the columns in these forms.
    pub(super) fn write(
        &self,
        columns: &[&[Group]],
        forms: &[Form],
        pool: &Threads,
    ) -> Result<WrittenColumns, Flaw> {
        let mut of_parts = vec![Vec::new(); self.values.parts.len()];
        let mut whole = Vec::new();
        for (&column, form) in columns.iter().zip(forms) {
            match form {
                Form::Packed => {}
                form if form.is_written_whole() => whole.push((column, form)),
                form => (0..column.len()).for_each(|place| {
                    of_parts[column[place].part as usize].push((&column[..=place], form));
                }),
            }
        }
        let parts = pool.map(of_parts, |groups| self.part(&groups));
        let whole = pool.map(whole, |(column, form)| self.whole(column, form));
        let whole = whole
            .into_iter()
            .collect::<Result<Vec<_>, Flaw>>()?;
        Ok(WrittenColumns { parts, whole })
    }

    /// Writes the packed columns as they are in the parameters: first their number, then each
    /// column.
    ///
    /// A column begins with the number of columns that it skips, doubled. If its layout is that of
    /// the packed column before, this is 1 more. Otherwise the number of the layout follows, or a
    /// new layout. Then come the values.
    pub(super) fn packed(
        &self,
        columns: &[&[Group]],
        packed: &[(usize, Layout)],
        pool: &Threads,
    ) -> Vec<u8> {
        let mut side = Vec::new();
        leb128::write(packed.len(), &mut side);
        let values = pool.map(packed, |(at, layout)| {
            let mut out = Vec::new();
            packed_words::pack(layout, self.own(columns[*at]), &mut out);
            out
        });
        let mut next = 0;
        let mut before = None;
        let mut layouts = Vec::new();
        for ((at, layout), values) in packed.iter().zip(values) {
            let column = columns[*at][0].column;
            let is_same = before == Some(layout);
            leb128::write(
                (column - next) as usize * 2 + usize::from(is_same),
                &mut side,
            );
            if !is_same {
                let known = layouts.iter().position(|known| *known == layout);
                side.push(known.map_or(0, |known| known as u8 + 1));
                if known.is_none() {
                    layout.write(&mut side);
                    layouts.extend((layouts.len() < MOST_LAYOUTS).then_some(layout));
                }
            }
            side.extend(values);
            (next, before) = (column + 1, Some(layout));
        }
        side
    }

    /// Writes the last group of each row. The groups before it belong to the same column.
    fn part(&self, groups: &[(&[Group], &Form)]) -> Written {
        let mut written = Written {
            bytes: Vec::new(),
            ends: Vec::new(),
        };
        for (groups, form) in groups {
            let [before @ .., group] = groups else {
                continue;
            };
            match form {
                Form::Numbers(pattern) => {
                    self.numbers(before, group, pattern, &mut written.bytes);
                }
                Form::Raised => self.raised(group, &mut written.bytes),
                _ => self.text(group, &mut written.bytes),
            }
            written.ends.push(written.bytes.len());
        }
        written
    }

    fn text(&self, group: &Group, out: &mut Vec<u8>) {
        for value in self.values.of_group(group) {
            push_bytes(self.block, value.own().range(), out);
            out.push(b'\n');
        }
    }

    fn raised(&self, group: &Group, out: &mut Vec<u8>) {
        for value in self.values.of_group(group) {
            push_raised(self.bytes(value.own()), out);
            out.push(b'\n');
        }
    }

    fn numbers(&self, before: &[Group], group: &Group, pattern: &Pattern, out: &mut Vec<u8>) {
        let parse = |value: LineValue| pattern.parse(self.bytes(value.own()));
        let all_before = before
            .iter()
            .rev()
            .flat_map(|group| self.values.of_group(group).rev());
        let mut before = all_before
            .into_iter()
            .find_map(parse)
            .unwrap_or(0);
        for value in self.values.of_group(group) {
            if let Some(number) = self.difference(value, before, pattern, out) {
                before = number;
            }
        }
    }

    /// Writes a value as its difference to a number. Returns its own number, if it is one.
    fn difference(
        &self,
        value: LineValue,
        before: i64,
        pattern: &Pattern,
        out: &mut Vec<u8>,
    ) -> Option<i64> {
        let number = pattern.parse(self.bytes(value.own()));
        match number {
            Some(number) => numbers::write(numbers::zigzag(number - before), out),
            None => {
                out.push(0);
                out.extend_from_slice(self.bytes(value.own()));
                out.push(b'\n');
            }
        }
        number
    }

    fn whole(&self, column: &[Group], form: &Form) -> Result<Vec<u8>, Flaw> {
        match form {
            Form::Predicted { distance, raised } => self.predicted(column, *distance, *raised),
            Form::NumbersByKey { distance, pattern } => {
                self.numbers_by_key(column, *distance, pattern)
            }
            Form::Sums {
                plus,
                minus,
                pattern,
            } => Ok(self.sums(column, *plus, *minus, pattern)),
            Form::Joined { distance, raised } => self.joined(column, *distance, *raised),
            Form::Lists {
                distance,
                separator,
            } => self.lists(column, *distance, separator),
            Form::Text | Form::Numbers(_) | Form::Raised | Form::Packed => {
                unreachable!("these are written elsewhere")
            }
        }
    }

    fn joined(&self, column: &[Group], distance: usize, is_raised: bool) -> Result<Vec<u8>, Flaw> {
        let size: usize = self
            .values
            .of(column)
            .map(|value| value.own().len as usize)
            .sum();
        // The difference of two lengths usually takes one byte, and up to three.
        let room = size + 3 * count(column);
        let mut out = allocation::with_capacity(room).ok_or(Flaw::NO_MEMORY)?;
        if distance == 0 {
            let mut before = 0;
            for value in self.values.of(column) {
                let len = i64::from(value.own().len);
                numbers::write(numbers::zigzag(len - before), &mut out);
                before = len;
            }
        } else {
            leb128::write(size, &mut out);
        }
        for value in self.values.of(column) {
            match is_raised {
                true => push_raised(self.bytes(value.own()), &mut out),
                false => out.extend_from_slice(self.bytes(value.own())),
            }
        }
        Ok(out)
    }

    fn lists(
        &self,
        column: &[Group],
        distance: usize,
        separator: &Separator,
    ) -> Result<Vec<u8>, Flaw> {
        let mut out = Vec::new();
        for value in self.values.of(column) {
            let key = if distance == 0 {
                &[]
            } else {
                self.bytes(value.before(distance))
            };
            // One byte for each item, which may be empty, besides its own bytes.
            let most = 2 * value.own().len as usize + 2;
            allocation::reserve(&mut out, most).ok_or(Flaw::NO_MEMORY)?;
            lists::write(self.bytes(value.own()), key, separator, &mut out);
            out.push(b'\n');
        }
        Ok(out)
    }

    fn numbers_by_key(
        &self,
        column: &[Group],
        distance: usize,
        pattern: &Pattern,
    ) -> Result<Vec<u8>, Flaw> {
        let mut predictions = Predictions::new(count(column), NO_NUMBER)?;
        let mut before = 0;
        let mut out = Vec::new();
        for value in self.values.of(column) {
            let last = predictions.last(self.bytes(value.before(distance)));
            if *last != NO_NUMBER {
                before = *last;
            }
            before = self
                .difference(value, before, pattern, &mut out)
                .unwrap_or(before);
            *last = before;
        }
        Ok(out)
    }

    fn sums(&self, column: &[Group], plus: usize, minus: usize, pattern: &Pattern) -> Vec<u8> {
        let mut out = Vec::new();
        for value in self.values.of(column) {
            let number = |distance| match distance {
                0 => 0,
                _ => numbers::of_slot(self.bytes(value.before(distance))),
            };
            self.difference(value, number(plus) - number(minus), pattern, &mut out);
        }
        out
    }

    fn predicted(
        &self,
        column: &[Group],
        distance: usize,
        is_raised: bool,
    ) -> Result<Vec<u8>, Flaw> {
        let mut predictions = Predictions::new(count(column), NOWHERE)?;
        let mut out = Vec::new();
        for value in self.values.of(column) {
            let key = self.bytes(value.before(distance));
            let own = value.own();
            let last = predictions.last(key);
            let predicted = match *last {
                NOWHERE => key,
                Range { start, end } => &self.block[start as usize..end as usize],
            };
            if predicted != self.bytes(own) {
                match own.len {
                    0 => out.extend_from_slice(EMPTY),
                    _ if is_raised => push_raised(self.bytes(own), &mut out),
                    _ => push_bytes(self.block, own.range(), &mut out),
                }
            }
            out.push(b'\n');
            *last = own.start..own.start + own.len;
        }
        Ok(out)
    }
}

/// Appends a value, raised.
fn push_raised(value: &[u8], out: &mut Vec<u8>) {
    out.extend(value.iter().map(|&byte| raised(byte)));
}
