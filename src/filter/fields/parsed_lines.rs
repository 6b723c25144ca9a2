//! Part of a block as lines, or as records of lines: the template of each, and the values of its
//! slots.
//!
//! Parts are parsed in parallel. Each part numbers its own templates, in the order of their first
//! lines.

use super::short_moves::push_bytes;
use super::templates::{LINE_END, MOST, SLOT, WHOLE};
use super::tokens::{LONGEST_LINE, Tokens, first_line};
use crate::base::allocation;
use crate::base::content_defined;
use crate::base::error::Flaw;
use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of slots of a line. Lines with more are stored whole.
const MOST_SLOTS: usize = 1024;

/// Minimum bytes of a part per value. The limit of a whole block is stricter.
const BYTES_OF_VALUE: usize = 3;

/// A value as a range of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub start: u32,
    pub len: u32,
}

impl Value {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// Returns true if lines may have the template of this hash and name.
pub(super) type Allowed<'a> = &'a (dyn Fn(u64, &[u8]) -> bool + Sync);

/// Lines of a part of a block.
#[derive(Debug, Default)]
pub(super) struct ParsedLines {
    /// Templates, without the template of whole lines.
    pub templates: Vec<Named>,
    /// Template of each line or record: [`WHOLE`], or its index in `templates` plus 1.
    pub numbers: Vec<u16>,
    /// Values, line by line.
    pub values: Vec<Value>,
}

/// Template with its hash.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub hash: u64,
    pub name: Box<[u8]>,
}

impl ParsedLines {
    /// Parses the lines of `part` of `block`. The part begins at the start of a line, and ends at
    /// the end of one. Lines whose template is not `allowed` are stored whole. `None` if there are
    /// too many values.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn of(
        block: &[u8],
        part: Range<usize>,
        tokens: Tokens,
        allowed: Allowed,
    ) -> Result<Option<Self>, Flaw> {
        let most = Self::most_values(part.len());
        let values = allocation::with_capacity(most).ok_or(Flaw::NO_MEMORY)?;
        let mut parsed = ParsedLines {
            values,
            ..ParsedLines::default()
        };
        let mut known = HashMap::new();
        let mut slots = Vec::new();
        let mut name = Vec::new();
        let mut start = part.start;
        while start < part.end {
            let rest = &block[start..part.end];
            let mut number = WHOLE;
            let mut len = first_line(rest);
            if let Some(next) = tokens.next(rest)
                && split_line(&rest[..next], tokens, &mut slots, &mut name)
            {
                number = parsed.number(&mut name, &mut known, allowed);
                len = if number == WHOLE { len } else { next };
            }
            if number == WHOLE {
                slots.clear();
                slots.push(0..len);
            }
            if parsed.values.len() + slots.len() > most {
                return Ok(None);
            }
            parsed.numbers.push(number as u16);
            parsed
                .values
                .extend(slots.iter().map(|slot| Value {
                    start: (start + slot.start) as u32,
                    len: slot.len() as u32,
                }));
            start += len + 1;
        }
        parsed.values.shrink_to_fit();
        Ok(Some(parsed))
    }

    /// Maximum number of values of a part of `size` bytes.
    pub(super) fn most_values(size: usize) -> usize {
        size / BYTES_OF_VALUE
    }

    /// Returns the number of a template; [`WHOLE`] if it is not allowed, or there are too many.
    fn number(
        &mut self,
        name: &mut Vec<u8>,
        known: &mut HashMap<u64, u16>,
        allowed: Allowed,
    ) -> usize {
        let hash = hash_of(name);
        if let Some(&number) = known.get(&hash) {
            // If another template has the same hash, this one has no number.
            let is_same = *self.templates[usize::from(number) - 1].name == **name;
            return if is_same { number.into() } else { WHOLE };
        }
        let number = self.templates.len() + 1;
        if number == MOST || !allowed(hash, name) {
            return WHOLE;
        }
        self.templates.push(Named {
            hash,
            name: name.as_slice().into(),
        });
        known.insert(hash, number as u16);
        number
    }
}

/// Hashes a template. Afterwards `name` is the same as before.
pub(super) fn hash_of(name: &mut Vec<u8>) -> u64 {
    let len = name.len();
    name.resize(len.next_multiple_of(8), 0);
    let hash = content_defined::hash(name);
    name.truncate(len);
    hash
}

/// Sets `name` to the template of a line or record. Returns false if it has to be stored whole.
fn split_line(
    line: &[u8],
    tokens: Tokens,
    slots: &mut Vec<Range<usize>>,
    name: &mut Vec<u8>,
) -> bool {
    let is_record = tokens == Tokens::Reads;
    if line.len() > LONGEST_LINE && !is_record || memchr::memchr2(SLOT, LINE_END, line).is_some() {
        return false;
    }
    tokens.find(line, slots);
    name.clear();
    let mut end = 0;
    for slot in slots.iter() {
        push_bytes(line, end..slot.start, name);
        name.push(SLOT);
        end = slot.end;
    }
    push_bytes(line, end..line.len(), name);
    if is_record {
        name.iter_mut()
            .filter(|byte| **byte == b'\n')
            .for_each(|byte| *byte = LINE_END);
    }
    slots.len() <= MOST_SLOTS
}
