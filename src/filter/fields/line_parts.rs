//! Raw block -> text and parameters.
//!
//! Parts of the block are parsed in parallel, and then columns are written in parallel. The result
//! depends on the block and the slots alone, not on the number of threads.

use super::choose_forms::{Chosen, Forms};
use super::choose_packed;
use super::column_form::Form;
use super::column_values::{self, ColumnValues, Group, Templates, count};
use super::known_forms::KnownForms;
use super::merged_templates::{Merged, MergedTemplates};
use super::parsed_lines::{Allowed, ParsedLines};
use super::predictions::Room;
use super::templates::write_number;
use super::tokens::Tokens;
use super::write_columns::{Writer, join};
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::base::threads::Threads;
use std::ops::Range;

/// Minimum bytes of the block per value or group, which bounds the memory.
///
/// A value takes 12 bytes and a group 16. Together with the block and its columns this is 6 bytes
/// per byte of the block, as much as the sort takes. If a block has as many templates as it may,
/// these take up to 1.3 bytes more, and there are fewer values.
const BYTES_OF_VALUE: usize = 4;

/// Maximum number of parts of a block.
const MOST_PARTS: usize = 64;
/// Minimum size of a part, in bytes.
const LEAST_PART: usize = 256 << 10;

/// Number of values of the columns that one task writes together.
const TASK: usize = 1 << 16;

/// Maximum number of templates if fields are kept in them. If there are more, the kept fields have
/// many values, although the sample had few, and no field is kept.
const MOST_BY_KEPT: usize = 4096;

/// A block that is taken apart.
#[derive(Debug)]
pub(crate) struct Apart {
    pub text: Vec<u8>,
    /// Parameters of the filter.
    pub side: Vec<u8>,
    /// Range of the text with the lines that fit no template. These are no lines of fields, if
    /// there are any.
    pub whole_lines: Range<usize>,
    /// The forms of the columns, for other blocks.
    pub forms: KnownForms,
}

/// Takes `block` apart by `tokens`. `None` if it has too many slots, or does not get smaller. The
/// caller is not a thread of the `pool`.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(crate) fn take_apart(
    block: &[u8],
    tokens: Tokens,
    pool: &Threads,
) -> Result<Option<Apart>, Flaw> {
    take_apart_like(block, tokens, &KnownForms::default(), pool)
}

/// Does the same as [`take_apart`]. Columns that have the same place as those of another block take
/// over their forms, if these suit them.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(crate) fn take_apart_like(
    block: &[u8],
    tokens: Tokens,
    known: &KnownForms,
    pool: &Threads,
) -> Result<Option<Apart>, Flaw> {
    let is_smaller = |apart: &Apart| apart.text.len() + apart.side.len() < block.len();
    Ok(take_any_apart(block, tokens, known, pool)?.filter(is_smaller))
}

/// Does the same as [`take_apart_like`], but also returns a result that is not smaller.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(super) fn take_any_apart(
    block: &[u8],
    tokens: Tokens,
    known: &KnownForms,
    pool: &Threads,
) -> Result<Option<Apart>, Flaw> {
    if u32::try_from(block.len()).is_err() {
        return Ok(None);
    }
    let Some((parts, templates)) = parse(block, tokens, pool)? else {
        return Ok(None);
    };
    let of_parts: usize = parts.iter().map(|part| part.values.len()).sum();
    let Some(left) = (block.len() / BYTES_OF_VALUE).checked_sub(of_parts) else {
        return Ok(None);
    };
    let lines: usize = parts.iter().map(|part| part.numbers.len()).sum();
    let Some(values) = ColumnValues::new(block, parts, &templates, left, pool)? else {
        return Ok(None);
    };
    let mut side = Vec::new();
    leb128::write(templates.names.len(), &mut side);
    leb128::write(lines * 2 + usize::from(!block.ends_with(b"\n")), &mut side);
    text(block, values, &templates, side, known, pool).map(Some)
}

/// Parses the lines of `block`, and finds their templates. `None` if there are too many values.
fn parse(
    block: &[u8],
    tokens: Tokens,
    pool: &Threads,
) -> Result<Option<(Vec<ParsedLines>, Templates)>, Flaw> {
    let mut templates = Templates::new(block.len());
    let ranges = parts(block, tokens);
    let parsed = |allowed: Allowed| -> Result<Option<Vec<ParsedLines>>, Flaw> {
        let parse = |range| ParsedLines::of(block, range, tokens, allowed);
        pool.map(ranges.iter().cloned(), parse)
            .into_iter()
            .collect()
    };
    let Some(parts) = parsed(&|_, _| true)? else {
        return Ok(None);
    };
    let merged = match tokens {
        Tokens::MergedWords => MergedTemplates::of(&parts, block.len()),
        _ => MergedTemplates::default(),
    };
    let Some(parts) = merged.apply(parts, &ranges, pool)? else {
        return parse(block, Tokens::Words, pool);
    };
    let all = parts
        .iter()
        .fold(true, |all, part| all & templates.add(part));
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
    let parts = parsed(&|hash, name| match merged.get(name) {
        Some(Merged { named, .. }) => templates.have(named.hash, &named.name),
        None => templates.have(hash, name),
    })?;
    let Some(parts) = parts else { return Ok(None) };
    let parts = merged.apply(parts, &ranges, pool)?;
    Ok(parts.map(|parts| (parts, templates)))
}

/// Splits a block into parts of whole lines, or of whole records.
fn parts(block: &[u8], tokens: Tokens) -> Vec<Range<usize>> {
    let size = block.len().div_ceil(MOST_PARTS).max(LEAST_PART);
    let mut parts = Vec::new();
    let mut start = 0;
    while start < block.len() {
        let least = (start + size).min(block.len());
        let end = least + tokens.start(&block[least..]);
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Writes the text, and appends packed columns to `side`.
fn text(
    block: &[u8],
    values: ColumnValues,
    templates: &Templates,
    mut side: Vec<u8>,
    known: &KnownForms,
    pool: &Threads,
) -> Result<Apart, Flaw> {
    let mut front = Vec::new();
    for name in &templates.names {
        front.extend_from_slice(name);
        front.push(b'\n');
    }
    for number in values
        .parts
        .iter()
        .flat_map(|part| &part.lines.numbers)
    {
        write_number((*number).into(), &mut front);
    }
    let columns = values.columns();
    let writer = Writer {
        block,
        values: &values,
    };
    let chosen = pool.map(tasks(&columns), |task| -> Result<Vec<Chosen>, Flaw> {
        let mut forms = Forms::new(&writer, known);
        columns[task]
            .iter()
            .map(|column| {
                let number = column[0].column;
                forms.of(column, templates.depth(number), templates.key(number))
            })
            .collect()
    });
    let chosen = chosen
        .into_iter()
        .collect::<Result<Vec<_>, Flaw>>()?;
    let mut forms = Vec::with_capacity(columns.len());
    let mut candidates = Vec::new();
    let mut made = KnownForms::default();
    for (at, chosen) in chosen.into_iter().flatten().enumerate() {
        forms.push(chosen.form);
        candidates.extend(chosen.candidate.map(|candidate| (at, candidate)));
        if let Some(known) = chosen.known {
            made.add(templates.key(columns[at][0].column), known);
        }
    }
    let packed = choose_packed::choose(&writer, &columns, tasks(&columns), candidates, pool);
    side.extend(writer.packed(&columns, &packed, pool));
    packed
        .iter()
        .for_each(|&(at, _)| forms[at] = Form::Packed);
    let mut room = Room::new();
    for (column, form) in columns.iter().zip(&mut forms) {
        if form.has_table() && !room.take(count(column)) {
            *form = Form::Text;
        }
    }
    let written = writer.write(&columns, &forms, pool)?;
    let groups = values.into_groups();
    let (text, whole_lines) = join(front, &column_values::columns(&groups), &forms, written)?;
    Ok(Apart {
        text,
        side,
        whole_lines,
        forms: made,
    })
}

/// Groups the columns into tasks.
fn tasks(columns: &[&[Group]]) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let mut start = 0;
    let mut values = 0;
    for (at, column) in columns.iter().enumerate() {
        values += count(column);
        if values >= TASK || at + 1 == columns.len() {
            tasks.push(start..at + 1);
            (start, values) = (at + 1, 0);
        }
    }
    tasks
}
