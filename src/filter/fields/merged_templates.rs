//! Templates that differ in one word are merged: the word becomes a slot.
//!
//! [`Tokens::Words`](super::Tokens::Words) finds slots in each line alone. A name without a digit
//! then stays in the template, even if it differs in every line. If enough templates of the block
//! are equal but for one word, this word becomes a slot in all of them, and they share the columns
//! behind it. Words end at spaces in a first pass, and are letters in a row in a second. The idea
//! is Drain's (He et al. 2017).
//!
//! Lines are not parsed again. The cost is a few hashes for each word of a template, and a pass
//! over the values.

use super::alike_templates::{Forms, Kind, letters, words};
use super::parsed_lines::{Named, ParsedLines, Value, hash_of};
use super::templates::{SLOT, WHOLE};
use crate::base::allocation;
use crate::base::error::Flaw;
use crate::base::threads::Threads;
use std::collections::HashMap;
use std::mem;
use std::ops::Range;

/// Maximum number of words in all templates of a small block. Counting takes up to 50 bytes for
/// each.
const MOST_WORDS: usize = 1 << 17;
/// Minimum bytes of a large block per word of its templates.
const BYTES_OF_WORD: usize = 32;
/// Minimum bytes of a block per byte of its templates, of which there is a copy here.
const BYTES_OF_NAME: usize = 4;

/// Merged templates of a block, by the names that they had before.
#[derive(Debug, Default)]
pub(super) struct MergedTemplates {
    by_name: HashMap<Box<[u8]>, Merged>,
}

/// Template that another one becomes, with more slots.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    pub named: Named,
    /// Words of the old template that are values now, ascending.
    values: Vec<Range<usize>>,
}

impl MergedTemplates {
    /// Merges the templates of a block of `size` bytes. Merges none if they are too long or have
    /// too many words.
    pub(super) fn of(parts: &[ParsedLines], size: usize) -> Self {
        let names = parts
            .iter()
            .flat_map(|part| &part.templates)
            .map(|named| &*named.name);
        let mut names: Vec<&[u8]> = names.collect();
        names.sort_unstable();
        names.dedup();
        let bytes: usize = names.iter().map(|name| name.len()).sum();
        let words: usize = names.iter().map(|name| letters(name)).sum();
        if bytes > size / BYTES_OF_NAME || words > MOST_WORDS.max(size / BYTES_OF_WORD) {
            return MergedTemplates::default();
        }
        let mut by_name = merged(&names, Kind::BetweenSpaces);
        let of = |name: &[u8]| {
            by_name
                .get(name)
                .map(|merged| merged.named.name.clone())
        };
        let between = names
            .iter()
            .map(|name| of(name).unwrap_or((*name).into()));
        let between: Vec<Box<[u8]>> = between.collect();
        let mut different: Vec<&[u8]> = between.iter().map(|name| &**name).collect();
        different.sort_unstable();
        different.dedup();
        let again = merged(&different, Kind::Letters);
        for (name, before) in names.iter().zip(&between) {
            let Some(after) = again.get(before) else {
                continue;
            };
            match by_name.get_mut(*name) {
                Some(merged) => merged.merge(after),
                None => drop(by_name.insert((*name).into(), after.clone())),
            }
        }
        MergedTemplates { by_name }
    }

    /// Returns the new template of a merged one.
    pub(super) fn get(&self, name: &[u8]) -> Option<&Merged> {
        self.by_name.get(name)
    }

    /// Gives the merged templates to the lines of `parts`, which are at `ranges` of the block.
    /// `None` if a part then has too many values.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn apply(
        &self,
        parts: Vec<ParsedLines>,
        ranges: &[Range<usize>],
        pool: &Threads,
    ) -> Result<Option<Vec<ParsedLines>>, Flaw> {
        if self.by_name.is_empty() {
            return Ok(Some(parts));
        }
        let apply = |(part, range)| self.of_part(part, range);
        pool.map(parts.into_iter().zip(ranges), apply)
            .into_iter()
            .collect()
    }

    fn of_part(
        &self,
        mut part: ParsedLines,
        range: &Range<usize>,
    ) -> Result<Option<ParsedLines>, Flaw> {
        let slots: Vec<LineSlots> = part
            .templates
            .iter()
            .map(|named| LineSlots::of(named, self.get(&named.name)))
            .collect();
        let number = |&number: &u16| usize::from(number).checked_sub(1);
        let more = part
            .numbers
            .iter()
            .filter_map(number)
            .map(|n| slots[n].more)
            .sum::<usize>();
        let before = part.values.len();
        if before + more > ParsedLines::most_values(range.len()) {
            return Ok(None);
        }
        allocation::handled(|| part.values.try_reserve_exact(more)).or(Err(Flaw::NO_MEMORY))?;
        // The values move to the end, and from there back to their places behind the new ones.
        part.values
            .resize(before + more, Value { start: 0, len: 0 });
        part.values.copy_within(..before, more);
        let mut from = more;
        let mut to = 0;
        let mut at = range.start;
        for line in part.numbers.iter().map(number) {
            let whole = [(0, None)];
            let (slots, tail) = match line {
                Some(n) => (&slots[n].slots[..], slots[n].tail),
                None => (&whole[..], 0),
            };
            for &(gap, word) in slots {
                let value = match word {
                    Some(len) => Value {
                        start: (at + gap) as u32,
                        len,
                    },
                    None => {
                        from += 1;
                        part.values[from - 1]
                    }
                };
                part.values[to] = value;
                to += 1;
                at = value.range().end;
            }
            at += tail + 1;
        }
        self.rename(&mut part);
        Ok(Some(part))
    }

    /// Gives the lines the numbers of the merged templates.
    fn rename(&self, part: &mut ParsedLines) {
        let mut known: HashMap<Box<[u8]>, u16> = HashMap::new();
        let mut numbers = vec![WHOLE as u16];
        for named in mem::take(&mut part.templates) {
            let named = self
                .get(&named.name)
                .map_or(named, |merged| merged.named.clone());
            let next = part.templates.len() as u16 + 1;
            let number = *known.entry(named.name.clone()).or_insert(next);
            if number == next {
                part.templates.push(named);
            }
            numbers.push(number);
        }
        part.numbers
            .iter_mut()
            .for_each(|number| *number = numbers[usize::from(*number)]);
    }
}

impl Merged {
    /// Creates the template in which the words that `is_slot` marks are slots. `None` if no word is
    /// a new slot.
    fn of(template: &[u8], kind: Kind, is_slot: impl Iterator<Item = bool>) -> Option<Self> {
        let new = words(template, kind)
            .zip(is_slot)
            .filter(|(word, is_slot)| {
                *is_slot
                    && kind.may_differ(&template[word.clone()])
                    && template[word.clone()] != [SLOT]
            });
        let values: Vec<Range<usize>> = new.map(|(word, _)| word).collect();
        let mut name = Vec::new();
        let mut end = 0;
        for word in &values {
            name.extend_from_slice(&template[end..word.start]);
            name.push(SLOT);
            end = word.end;
        }
        name.extend_from_slice(&template[end..]);
        let named = Named {
            hash: hash_of(&mut name),
            name: name.into(),
        };
        (!values.is_empty()).then_some(Merged { named, values })
    }

    /// Applies a second merge, in which the template that this became turned into `after`.
    fn merge(&mut self, after: &Merged) {
        let mut values = Vec::new();
        let mut shorter = 0;
        let mut before = self.values.iter().peekable();
        for value in &after.values {
            while let Some(one) = before.next_if(|one| one.start - shorter < value.start) {
                shorter += one.len() - 1;
                values.push(one.clone());
            }
            values.push(value.start + shorter..value.end + shorter);
        }
        values.extend(before.cloned());
        *self = Merged {
            named: after.named.clone(),
            values,
        };
    }
}

/// Layout of the slots in the lines of a template.
struct LineSlots {
    /// For each slot, the number of bytes in front of it, and the length of its value if the slot
    /// is new.
    slots: Vec<(usize, Option<u32>)>,
    /// Number of bytes behind the last slot.
    tail: usize,
    /// Number of new slots.
    more: usize,
}

impl LineSlots {
    fn of(Named { name, .. }: &Named, merged: Option<&Merged>) -> Self {
        let new = merged.map_or(&[][..], |merged| &merged.values);
        let mut slots = Vec::new();
        let mut gap = 0;
        let mut at = 0;
        let mut words = new.iter().peekable();
        while at < name.len() {
            if let Some(word) = words.next_if(|word| word.start == at) {
                slots.push((mem::take(&mut gap), Some(word.len() as u32)));
                at = word.end;
                continue;
            }
            match name[at] {
                SLOT => slots.push((mem::take(&mut gap), None)),
                _ => gap += 1,
            }
            at += 1;
        }
        LineSlots {
            slots,
            tail: gap,
            more: new.len(),
        }
    }
}

/// Merges templates that have different names.
fn merged(names: &[&[u8]], kind: Kind) -> HashMap<Box<[u8]>, Merged> {
    let forms = Forms::merged(names, kind);
    let merged = |(n, name): (usize, &&[u8])| {
        Some((Box::from(*name), Merged::of(name, kind, forms.slots(n))?))
    };
    names
        .iter()
        .enumerate()
        .filter_map(merged)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(names: &[&str]) -> Vec<String> {
        let templates = names
            .iter()
            .map(|name| name.replace('_', "\x01").into_bytes());
        let named = |name: Vec<u8>| Named {
            hash: hash_of(&mut name.clone()),
            name: name.into(),
        };
        let templates: Vec<Named> = templates.map(named).collect();
        let parts = [ParsedLines {
            templates,
            ..ParsedLines::default()
        }];
        let merged = MergedTemplates::of(&parts, 1 << 20);
        let name = |Named { name, .. }: &Named| {
            merged
                .get(name)
                .map_or(name.clone(), |of| of.named.name.clone())
        };
        let names = parts[0].templates.iter().map(name);
        names
            .map(|name| {
                String::from_utf8(name.into())
                    .unwrap()
                    .replace('\x01', "_")
            })
            .collect()
    }

    const USERS: [&str; 8] = ["ann", "bob", "cy", "dee", "eve", "fay", "gus", "hal"];

    /// Makes a template for each user.
    fn of_users(template: &str) -> Vec<String> {
        USERS
            .iter()
            .map(|user| template.replace("USER", user))
            .collect()
    }

    fn assert_merged(names: &[String], wanted: &[&str]) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(merged(&names), wanted);
    }

    #[test]
    fn a_word_that_enough_templates_differ_in_is_a_slot() {
        let users = of_users("for USER at _");
        assert_merged(&users, &["for _ at _"; 8]);
        assert_merged(
            &users[1..],
            &users[1..]
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        // Two are enough if one has a slot at this word, which stays as it is.
        assert_merged(&["for _ at _".into(), users[3].clone()], &["for _ at _"; 2]);
        // Words that hold a slot beside other bytes do not count, nor do empty ones. A longer
        // template is another one.
        for other in ["for a_ at _", "for  at _", "for ann at _ "] {
            let names = [&[other.to_owned()], &users[1..]].concat();
            assert_merged(
                &names,
                &names
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>(),
            );
        }
    }

    #[test]
    fn letters_where_another_template_has_a_slot_are_a_slot() {
        let ids = [
            "id=_-_-_;",
            "id=_-_-cafe;",
            "id=fade-_-_;",
            "id=be-_-cafe;",
            "id=_-_;",
        ];
        let wanted = [
            "id=_-_-_;",
            "id=_-_-_;",
            "id=_-_-_;",
            "id=be-_-cafe;",
            "id=_-_;",
        ];
        // Templates that differ in two words are not merged.
        assert_eq!(merged(&ids), wanted);
        // Letters behind a word that is a slot by then.
        let ids = [of_users("of USER: _-_"), of_users("of USER: _-ab")].concat();
        assert_merged(&ids, &["of _ _-_"; 16]);
    }

    #[test]
    fn two_words_are_slots_where_both_differ() {
        let pair = |n: usize| format!("{} to {}", USERS[n / 8], USERS[n % 8]);
        let pairs: Vec<String> = (0..64).map(pair).collect();
        assert_merged(&pairs, &["_ to _"; 64]);
    }
}
