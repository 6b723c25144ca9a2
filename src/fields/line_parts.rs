//! Raw block -> text and parameters.
//!
//! Parts of the block are parsed side by side, then columns are written side by side. What comes of
//! it depends on the block alone.

use super::column_form::{EMPTY, Form, LEAST_VALUES, raised};
use super::column_values::{self, ColumnValues, Group, LineValue, Templates, count};
use super::numbers::{self, Pattern};
use super::parsed_lines::{Allowed, ParsedLines, Value, push_bytes};
use super::predictions::{NO_NUMBER, NOWHERE, Predictions, Room};
use super::templates::write_number;
use super::tokens::Tokens;
use super::value_cost::Sample;
use crate::allocation;
use crate::error::Flaw;
use crate::leb128;
use crate::threads::Threads;
use std::ops::Range;

/// Values of a block at most, with the groups that they are in, as a share of its bytes: this
/// bounds the memory. A value takes 12 bytes and a group 16: with the block and its columns that is
/// 6 bytes per byte, as much as the sort takes. Templates take up to 1.3 more where a block has as
/// many as it may, and fewer values then.
const BYTES_OF_VALUE: usize = 4;

/// A block has so many parts at most, each of so many bytes at least.
const MOST_PARTS: usize = 64;
const LEAST_PART: usize = 256 << 10;

/// Columns of so many values together are written in one task.
const TASK: usize = 1 << 16;

/// Values that a form is chosen by: neighbours, so that they repeat as often as all do.
const SAMPLED: usize = 8192;

/// Slots before a column that may predict it.
const MOST_DISTANCE: usize = 16;

/// Where fields that stay in the templates make more of these, their values are not few, whatever a
/// sample said of them: then no field stays.
const MOST_BY_KEPT: usize = 4096;

/// The text of a block and its parameters.
pub(super) type TextAndSide = (Vec<u8>, Vec<u8>);

/// Takes `block` apart by `tokens`: the text and the parameters. `None` where it has too many slots
/// or does not get smaller. This is for those who are no thread of the `pool`.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub fn take_apart(
    block: &[u8],
    tokens: Tokens,
    pool: &Threads,
) -> Result<Option<TextAndSide>, Flaw> {
    let is_smaller = |(text, side): &TextAndSide| text.len() + side.len() < block.len();
    Ok(take_any_apart(block, tokens, pool)?.filter(is_smaller))
}

/// [`take_apart`], even where it does not get smaller.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub(super) fn take_any_apart(
    block: &[u8],
    tokens: Tokens,
    pool: &Threads,
) -> Result<Option<TextAndSide>, Flaw> {
    if u32::try_from(block.len()).is_err() {
        return Ok(None);
    }
    let Some((parts, templates)) = parse(block, tokens, pool)? else { return Ok(None) };
    let of_parts: usize = parts.iter().map(|part| part.values.len()).sum();
    let Some(left) = (block.len() / BYTES_OF_VALUE).checked_sub(of_parts) else { return Ok(None) };
    let lines: usize = parts.iter().map(|part| part.numbers.len()).sum();
    let Some(values) = ColumnValues::new(parts, &templates, left, pool)? else { return Ok(None) };
    let mut side = Vec::new();
    leb128::write(templates.names.len(), &mut side);
    leb128::write(lines * 2 + usize::from(!block.ends_with(b"\n")), &mut side);
    Ok(Some((text(block, values, templates, pool)?, side)))
}

/// The lines of `block` and their templates. `None` where there are too many values.
fn parse(
    block: &[u8],
    tokens: Tokens,
    pool: &Threads,
) -> Result<Option<(Vec<ParsedLines>, Templates)>, Flaw> {
    let (mut templates, ranges) = (Templates::new(block.len()), parts(block));
    let parsed = |allowed: Allowed| -> Result<Option<Vec<ParsedLines>>, Flaw> {
        let parse = |range| ParsedLines::of(block, range, tokens, allowed);
        pool.map(ranges.iter().cloned(), parse).into_iter().collect()
    };
    let Some(parts) = parsed(&|_, _| true)? else { return Ok(None) };
    let all = parts.iter().fold(true, |all, part| all & templates.add(part));
    if let Tokens::FieldsBy(delimiter, _) = tokens
        && (!all || templates.names.len() > MOST_BY_KEPT)
    {
        drop(parts);
        return parse(block, Tokens::Fields(delimiter), pool);
    }
    if all {
        return Ok(Some((parts, templates)));
    }
    drop(parts);
    let parts = parsed(&|hash, name| templates.have(hash, name))?;
    Ok(parts.map(|parts| (parts, templates)))
}

/// Parts of whole lines.
fn parts(block: &[u8]) -> Vec<Range<usize>> {
    let size = block.len().div_ceil(MOST_PARTS).max(LEAST_PART);
    let (mut parts, mut start) = (Vec::new(), 0);
    while start < block.len() {
        let least = (start + size).min(block.len());
        let feed = memchr::memchr(b'\n', &block[least..]);
        let end = feed.map_or(block.len(), |feed| least + feed + 1);
        parts.push(start..end);
        start = end;
    }
    parts
}

fn text(
    block: &[u8],
    values: ColumnValues,
    templates: Templates,
    pool: &Threads,
) -> Result<Vec<u8>, Flaw> {
    let mut front = Vec::new();
    for name in &templates.names {
        front.extend_from_slice(name);
        front.push(b'\n');
    }
    for number in values.parts.iter().flat_map(|part| &part.lines.numbers) {
        write_number((*number).into(), &mut front);
    }
    let columns = values.columns();
    let writer = Writer { block, values: &values };
    let forms = pool.map(tasks(&columns), |task| -> Vec<Form> {
        let depth = |column: &[Group]| templates.depth(column[0].column);
        columns[task].iter().map(|column| writer.form(column, depth(column))).collect()
    });
    let mut forms: Vec<Form> = forms.into_iter().flatten().collect();
    let mut room = Room::new();
    for (column, form) in columns.iter().zip(&mut forms) {
        if form.has_table() && !room.take(count(column)) {
            *form = Form::Text;
        }
    }
    let written = writer.write(&columns, &forms, pool)?;
    let groups = values.into_groups();
    join(front, &column_values::columns(&groups), &forms, written)
}

/// Columns that are worked on together.
fn tasks(columns: &[&[Group]]) -> Vec<Range<usize>> {
    let (mut tasks, mut start, mut values) = (Vec::new(), 0, 0);
    for (at, column) in columns.iter().enumerate() {
        values += count(column);
        if values >= TASK || at + 1 == columns.len() {
            tasks.push(start..at + 1);
            (start, values) = (at + 1, 0);
        }
    }
    tasks
}

/// Writes columns.
struct Writer<'b> {
    block: &'b [u8],
    values: &'b ColumnValues,
}

/// All columns: of each part those that need no key, and those that do.
struct WrittenColumns {
    parts: Vec<Written>,
    by_key: Vec<Vec<u8>>,
}

/// What a part has of columns that need no key, one after the other, and where each ends.
struct Written {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Appends the columns to the front of the text, in their order.
fn join(
    front: Vec<u8>,
    columns: &[&[Group]],
    forms: &[Form],
    WrittenColumns { parts, by_key }: WrittenColumns,
) -> Result<Vec<u8>, Flaw> {
    let sizes = parts.iter().map(|part| &part.bytes).chain(&by_key).map(Vec::len);
    // Forms are few bytes more.
    let size = front.len() + sizes.sum::<usize>() + 4 * columns.len();
    let mut text = allocation::with_capacity(size).ok_or(Flaw::NO_MEMORY)?;
    text.extend_from_slice(&front);
    let (mut by_key, mut next) = (by_key.into_iter(), vec![(0, 0); parts.len()]);
    for (column, form) in columns.iter().zip(forms) {
        if count(column) >= LEAST_VALUES {
            form.write(&mut text);
        }
        if form.has_key() {
            text.extend(by_key.next().expect("each is written"));
            continue;
        }
        for part in column.iter().map(|group| group.part as usize) {
            let (group, start) = &mut next[part];
            let end = parts[part].ends[*group];
            text.extend_from_slice(&parts[part].bytes[*start..end]);
            (*group, *start) = (*group + 1, end);
        }
    }
    Ok(text)
}

impl<'b> Writer<'b> {
    fn bytes(&self, value: Value) -> &'b [u8] {
        &self.block[value.range()]
    }

    fn form(&self, column: &[Group], depth: usize) -> Form {
        let count = count(column);
        if count < LEAST_VALUES {
            return Form::Text;
        }
        let skipped = count.saturating_sub(SAMPLED) / 2;
        let sampled: Vec<LineValue> = self.values.of(column).skip(skipped).take(SAMPLED).collect();
        let own = sampled.iter().map(|value| self.bytes(value.own())).collect();
        Sample::new(own).best_form(depth.min(MOST_DISTANCE), |distance, number| {
            self.bytes(sampled[number].before(distance))
        })
    }

    /// Writes the columns: those that need a key each by itself, the others part by part, which
    /// reads each part of the block once.
    fn write(
        &self,
        columns: &[&[Group]],
        forms: &[Form],
        pool: &Threads,
    ) -> Result<WrittenColumns, Flaw> {
        let mut of_parts = vec![Vec::new(); self.values.parts.len()];
        let mut by_key = Vec::new();
        for (&column, form) in columns.iter().zip(forms) {
            match form.has_key() {
                true => by_key.push((column, form)),
                false => (0..column.len()).for_each(|place| {
                    of_parts[column[place].part as usize].push((&column[..=place], form));
                }),
            }
        }
        let parts = pool.map(of_parts, |groups| self.part(&groups));
        let by_key = pool.map(by_key, |(column, form)| self.by_key(column, form));
        let by_key = by_key.into_iter().collect::<Result<Vec<_>, Flaw>>()?;
        Ok(WrittenColumns { parts, by_key })
    }

    /// Writes the last of each row of groups; those before it are of the same column.
    fn part(&self, groups: &[(&[Group], &Form)]) -> Written {
        let mut written = Written { bytes: Vec::new(), ends: Vec::new() };
        for (groups, form) in groups {
            let [before @ .., group] = groups else { continue };
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
        let all_before = before.iter().rev().flat_map(|group| self.values.of_group(group).rev());
        let mut before = all_before.into_iter().find_map(parse).unwrap_or(0);
        for value in self.values.of_group(group) {
            if let Some(number) = self.difference(value, before, pattern, out) {
                before = number;
            }
        }
    }

    /// Writes a value as its difference to a number, and gives its own, if it is one.
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

    fn by_key(&self, column: &[Group], form: &Form) -> Result<Vec<u8>, Flaw> {
        match form {
            Form::Predicted { distance, raised } => self.predicted(column, *distance, *raised),
            Form::NumbersByKey { distance, pattern } => {
                self.numbers_by_key(column, *distance, pattern)
            }
            Form::Sums { plus, minus, pattern } => Ok(self.sums(column, *plus, *minus, pattern)),
            Form::Text | Form::Numbers(_) | Form::Raised => unreachable!("these need no key"),
        }
    }

    fn numbers_by_key(
        &self,
        column: &[Group],
        distance: usize,
        pattern: &Pattern,
    ) -> Result<Vec<u8>, Flaw> {
        let mut predictions = Predictions::new(count(column), NO_NUMBER)?;
        let (mut before, mut out) = (0, Vec::new());
        for value in self.values.of(column) {
            let last = predictions.last(self.bytes(value.before(distance)));
            if *last != NO_NUMBER {
                before = *last;
            }
            before = self.difference(value, before, pattern, &mut out).unwrap_or(before);
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
        let (mut predictions, mut out) = (Predictions::new(count(column), NOWHERE)?, Vec::new());
        for value in self.values.of(column) {
            let (key, own) = (self.bytes(value.before(distance)), value.own());
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

/// Appends a value that is no text.
fn push_raised(value: &[u8], out: &mut Vec<u8>) {
    out.extend(value.iter().map(|&byte| raised(byte)));
}
