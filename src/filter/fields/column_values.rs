//! Values of a block's columns, found by way of its lines.

use super::parsed_lines::{Named, ParsedLines, Value};
use super::templates::{self, Columns, MOST, SLOT, WHOLE_LINES};
use crate::base::allocation;
use crate::base::cache_lines::prefetch;
use crate::base::error::Flaw;
use crate::base::threads::Threads;
use std::collections::HashMap;

/// Number of values between a prefetch and its use.
const AHEAD: usize = 8;

/// Templates of a block, gathered from its parts one after the other.
pub(super) struct Templates {
    pub names: Vec<Box<[u8]>>,
    /// Columns of each template's slots. The first entry is the template of whole lines.
    pub columns: Vec<Box<[u32]>>,
    places: Columns,
    by_hash: HashMap<u64, u16>,
    slots_left: usize,
    most_columns: usize,
    bytes_left: usize,
}

impl Templates {
    /// Creates an empty list. The limits follow from the block's size, `len` bytes, and bound the
    /// memory: names have at most `len` / 2 bytes, and there are about `len` / 128 columns of about
    /// 100 bytes.
    pub(super) fn new(len: usize) -> Self {
        Templates {
            names: Vec::new(),
            columns: vec![Box::from([WHOLE_LINES])],
            places: Columns::new(),
            by_hash: HashMap::new(),
            slots_left: templates::most_slots(len),
            most_columns: templates::most_columns(len),
            bytes_left: len / 2,
        }
    }

    /// Adds the templates of a part as long as there is room. Returns true if all of them are in
    /// the list.
    pub(super) fn add(&mut self, part: &ParsedLines) -> bool {
        part.templates
            .iter()
            .fold(true, |all, Named { hash, name }| {
                let is_new = !self.by_hash.contains_key(hash);
                all & (self.have(*hash, name) || is_new && self.insert(*hash, name))
            })
    }

    /// Returns true if a template is in the list.
    pub(super) fn have(&self, hash: u64, name: &[u8]) -> bool {
        let known = self.by_hash.get(&hash);
        // A template of the same hash may have another name.
        known.is_some_and(|&number| *self.names[usize::from(number) - 1] == *name)
    }

    fn insert(&mut self, hash: u64, name: &[u8]) -> bool {
        let slots = name.iter().filter(|&&byte| byte == SLOT).count();
        let number = self.columns.len();
        let has_columns = self.places.depths.len() + slots <= self.most_columns;
        let has_room = slots <= self.slots_left && name.len() <= self.bytes_left;
        if number == MOST || !has_room || !has_columns {
            return false;
        }
        self.slots_left -= slots;
        self.bytes_left -= name.len();
        self.names.push(name.into());
        let columns = self
            .places
            .of(name, usize::MAX)
            .expect("there is no limit");
        self.columns.push(columns.into());
        self.by_hash.insert(hash, number as u16);
        true
    }

    /// Number of slots before the column's slot in its templates.
    pub(super) fn depth(&self, column: u32) -> usize {
        self.places.depths[column as usize] as usize
    }

    /// Hash of the column's place, which is the same in every block.
    pub(super) fn key(&self, column: u32) -> u64 {
        self.places.keys[column as usize]
    }

    /// Replaces the part's template numbers by those of the block.
    fn renumber(&self, part: &mut ParsedLines) {
        let mut numbers = vec![0];
        numbers.extend(
            part.templates
                .iter()
                .map(|named| self.by_hash[&named.hash]),
        );
        part.numbers
            .iter_mut()
            .for_each(|number| *number = numbers[usize::from(*number)]);
        part.templates = Vec::new();
    }
}

/// Values of a column within one part: a range of its `by_column`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub column: u32,
    pub part: u32,
    pub start: u32,
    pub end: u32,
}

/// Lines of a part, and the values of each column in it.
#[derive(Debug)]
pub(super) struct Part {
    pub lines: ParsedLines,
    /// Indices into `lines.values`, column by column.
    by_column: Vec<u32>,
}

/// All values of a block.
pub(super) struct ColumnValues<'b> {
    /// The block that has the values' bytes.
    block: &'b [u8],
    pub parts: Vec<Part>,
    /// Groups, ascending by column, then by part.
    groups: Vec<Group>,
}

impl<'b> ColumnValues<'b> {
    /// Groups the values of `parts` of `block` by column. All templates of the parts are in
    /// `templates`. `None` if there are more than `most_groups` groups.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn new(
        block: &'b [u8],
        parts: Vec<ParsedLines>,
        templates: &Templates,
        most_groups: usize,
        pool: &Threads,
    ) -> Result<Option<Self>, Flaw> {
        let grouped = pool.map(parts.into_iter().enumerate(), |(number, mut lines)| {
            templates.renumber(&mut lines);
            group(lines, number as u32, templates)
        });
        let mut parts = Vec::new();
        let mut groups = Vec::new();
        for grouped in grouped {
            let (part, of_part) = grouped?;
            if groups.len() + of_part.len() > most_groups {
                return Ok(None);
            }
            parts.push(part);
            groups.extend(of_part);
        }
        groups.sort_unstable_by_key(|group| (group.column, group.part));
        Ok(Some(ColumnValues {
            block,
            parts,
            groups,
        }))
    }

    /// Returns the groups of each column that has values.
    pub(super) fn columns(&self) -> Vec<&[Group]> {
        columns(&self.groups)
    }

    /// Drops the values, and returns the groups.
    pub(super) fn into_groups(self) -> Vec<Group> {
        self.groups
    }

    /// Yields the values of a column.
    pub(super) fn of<'s>(&'s self, column: &'s [Group]) -> impl Iterator<Item = LineValue<'s>> {
        column
            .iter()
            .flat_map(|group| self.of_group(group))
    }

    /// Yields the values of a column in one part. Their bytes are prefetched, since those of other
    /// columns lie between them.
    pub(super) fn of_group(&self, group: &Group) -> impl DoubleEndedIterator<Item = LineValue<'_>> {
        let (values, places) = self.values_and_places(group);
        places.iter().enumerate().map(move |(n, &at)| {
            if let Some(&ahead) = places.get(n + 2 * AHEAD) {
                prefetch(values, ahead as usize);
            }
            if let Some(&ahead) = places.get(n + AHEAD) {
                prefetch(self.block, values[ahead as usize].start as usize);
            }
            LineValue::new(values, at as usize)
        })
    }

    /// Returns `most` values from the middle of a column, or all if it has fewer.
    pub(super) fn middle(&self, column: &[Group], most: usize) -> Vec<LineValue<'_>> {
        let count = count(column);
        let mut skipped = count.saturating_sub(most) / 2;
        let mut some = Vec::with_capacity(most.min(count));
        for group in column {
            let (values, places) = self.values_and_places(group);
            let passed = skipped.min(places.len());
            skipped -= passed;
            let places = places[passed..].iter().take(most - some.len());
            some.extend(places.map(|&at| LineValue::new(values, at as usize)));
        }
        some
    }

    /// Returns the values of a part, and the indices into them of those of a column.
    fn values_and_places(&self, group: &Group) -> (&[Value], &[u32]) {
        let part = &self.parts[group.part as usize];
        (
            &part.lines.values,
            &part.by_column[group.start as usize..group.end as usize],
        )
    }
}

/// Splits groups by column.
pub(super) fn columns(groups: &[Group]) -> Vec<&[Group]> {
    groups
        .chunk_by(|one, other| one.column == other.column)
        .collect()
}

/// Counts the values of a column.
pub(super) fn count(column: &[Group]) -> usize {
    column
        .iter()
        .map(|group| (group.end - group.start) as usize)
        .sum()
}

/// A value, with the other values of its part.
#[derive(Clone, Copy)]
pub(super) struct LineValue<'s> {
    values: &'s [Value],
    at: usize,
}

impl<'s> LineValue<'s> {
    pub(super) fn new(values: &'s [Value], at: usize) -> Self {
        LineValue { values, at }
    }

    pub(super) fn own(self) -> Value {
        self.values[self.at]
    }

    /// Returns true if `next` is the value directly behind it.
    pub(super) fn is_before(self, next: Self) -> bool {
        self.values.as_ptr() == next.values.as_ptr() && self.at + 1 == next.at
    }

    /// Returns the value `distance` slots before it on its line.
    pub(super) fn before(self, distance: usize) -> Value {
        self.values[self.at - distance]
    }
}

/// Groups the values of a part by column, by a counting sort.
fn group(lines: ParsedLines, part: u32, templates: &Templates) -> Result<(Part, Vec<Group>), Flaw> {
    let mut of_template = vec![0_u32; templates.columns.len()];
    lines
        .numbers
        .iter()
        .for_each(|&number| of_template[usize::from(number)] += 1);
    let mut next = vec![0_u32; templates.places.depths.len()];
    for (columns, count) in templates.columns.iter().zip(of_template) {
        columns
            .iter()
            .for_each(|&column| next[column as usize] += count);
    }
    let mut groups = Vec::new();
    let mut start = 0;
    for (column, next) in (0..).zip(&mut next) {
        let end = start + *next;
        if start < end {
            groups.push(Group {
                column,
                part,
                start,
                end,
            });
        }
        *next = start;
        start = end;
    }
    let mut by_column = allocation::filled(0_u32, lines.values.len()).ok_or(Flaw::NO_MEMORY)?;
    let mut at = 0;
    for &number in &lines.numbers {
        for &column in &templates.columns[usize::from(number)] {
            let next = &mut next[column as usize];
            by_column[*next as usize] = at;
            (*next, at) = (*next + 1, at + 1);
        }
    }
    Ok((Part { lines, by_column }, groups))
}
