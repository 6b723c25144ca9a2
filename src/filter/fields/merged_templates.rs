//! Templates that differ in one word become one, with a slot in the place of the word.
//!
//! [`Tokens::Words`](super::Tokens::Words) finds slots in each line alone, so that a name without a
//! digit stays in the template, though every line may have another one. Where enough templates of
//! the block are the same but for one word, it is a slot of them all, and the columns behind it are
//! one. Words end at spaces at first, and then are letters in a row. The idea is Drain's (He et al.
//! 2017). Lines are not parsed again: cost is a few hashes for each word of a template, and a pass
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

/// Words of all templates that any block may have, and those of large ones as a share of their
/// bytes: what is counted takes up to 50 bytes for each. And the bytes of all templates, which are
/// here once more, as such a share.
const MOST_WORDS: usize = 1 << 17;
const BYTES_OF_WORD: usize = 32;
const BYTES_OF_NAME: usize = 4;

/// The templates of a block that are merged with others, by their names.
#[derive(Debug, Default)]
pub(super) struct MergedTemplates {
    by_name: HashMap<Box<[u8]>, Merged>,
}

/// What becomes of a template.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    pub named: Named,
    /// The words of the template that it was which are values now, ascending.
    values: Vec<Range<usize>>,
}

impl MergedTemplates {
    /// Those of a block of `size` bytes; none where its templates are too long or have too many
    /// words.
    pub fn of(parts: &[ParsedLines], size: usize) -> Self {
        let names = parts.iter().flat_map(|part| &part.templates).map(|named| &*named.name);
        let mut names: Vec<&[u8]> = names.collect();
        names.sort_unstable();
        names.dedup();
        let bytes: usize = names.iter().map(|name| name.len()).sum();
        let words: usize = names.iter().map(|name| letters(name)).sum();
        if bytes > size / BYTES_OF_NAME || words > MOST_WORDS.max(size / BYTES_OF_WORD) {
            return MergedTemplates::default();
        }
        let mut by_name = merged(&names, Kind::BetweenSpaces);
        let of = |name: &[u8]| by_name.get(name).map(|merged| merged.named.name.clone());
        let between = names.iter().map(|name| of(name).unwrap_or((*name).into()));
        let between: Vec<Box<[u8]>> = between.collect();
        let mut different: Vec<&[u8]> = between.iter().map(|name| &**name).collect();
        different.sort_unstable();
        different.dedup();
        let again = merged(&different, Kind::Letters);
        for (name, before) in names.iter().zip(&between) {
            let Some(after) = again.get(before) else { continue };
            match by_name.get_mut(*name) {
                Some(merged) => merged.merge(after),
                None => drop(by_name.insert((*name).into(), after.clone())),
            }
        }
        MergedTemplates { by_name }
    }

    /// What becomes of a template, where it is merged.
    pub fn get(&self, name: &[u8]) -> Option<&Merged> {
        self.by_name.get(name)
    }

    /// Gives the lines of `parts`, which stand at `ranges` of the block, the merged templates.
    /// `None` where a part has too many values then.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`].
    pub fn apply(
        &self,
        parts: Vec<ParsedLines>,
        ranges: &[Range<usize>],
        pool: &Threads,
    ) -> Result<Option<Vec<ParsedLines>>, Flaw> {
        if self.by_name.is_empty() {
            return Ok(Some(parts));
        }
        let apply = |(part, range)| self.of_part(part, range);
        pool.map(parts.into_iter().zip(ranges), apply).into_iter().collect()
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
        let more = part.numbers.iter().filter_map(number).map(|n| slots[n].more).sum::<usize>();
        let before = part.values.len();
        if before + more > ParsedLines::most_values(range.len()) {
            return Ok(None);
        }
        allocation::handled(|| part.values.try_reserve_exact(more)).or(Err(Flaw::NO_MEMORY))?;
        // The values move to the end, and from there to their places behind the new ones.
        part.values.resize(before + more, Value { start: 0, len: 0 });
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
                    Some(len) => Value { start: (at + gap) as u32, len },
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

    /// Gives the lines the numbers of merged templates.
    fn rename(&self, part: &mut ParsedLines) {
        let mut known: HashMap<Box<[u8]>, u16> = HashMap::new();
        let mut numbers = vec![WHOLE as u16];
        for named in mem::take(&mut part.templates) {
            let named = self.get(&named.name).map_or(named, |merged| merged.named.clone());
            let next = part.templates.len() as u16 + 1;
            let number = *known.entry(named.name.clone()).or_insert(next);
            if number == next {
                part.templates.push(named);
            }
            numbers.push(number);
        }
        part.numbers.iter_mut().for_each(|number| *number = numbers[usize::from(*number)]);
    }
}

impl Merged {
    /// `None` where no word becomes a slot that was none.
    fn of(template: &[u8], kind: Kind, is_slot: impl Iterator<Item = bool>) -> Option<Self> {
        let new = words(template, kind).zip(is_slot).filter(|(word, is_slot)| {
            *is_slot && kind.may_differ(&template[word.clone()]) && template[word.clone()] != [SLOT]
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
        let named = Named { hash: hash_of(&mut name), name: name.into() };
        (!values.is_empty()).then_some(Merged { named, values })
    }

    /// Merges it once more, as `after` says of the template that it has become.
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
        *self = Merged { named: after.named.clone(), values };
    }
}

/// Where the slots of a template's lines are.
struct LineSlots {
    /// The bytes in front of each, and the length of one that is new.
    slots: Vec<(usize, Option<u32>)>,
    /// The bytes behind the last.
    tail: usize,
    /// How many are new.
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
        LineSlots { slots, tail: gap, more: new.len() }
    }
}

/// What becomes of templates of different names.
fn merged(names: &[&[u8]], kind: Kind) -> HashMap<Box<[u8]>, Merged> {
    let forms = Forms::merged(names, kind);
    let merged = |(n, name): (usize, &&[u8])| {
        Some((Box::from(*name), Merged::of(name, kind, forms.slots(n))?))
    };
    names.iter().enumerate().filter_map(merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(names: &[&str]) -> Vec<String> {
        let templates = names.iter().map(|name| name.replace('_', "\x01").into_bytes());
        let named = |name: Vec<u8>| Named { hash: hash_of(&mut name.clone()), name: name.into() };
        let templates: Vec<Named> = templates.map(named).collect();
        let parts = [ParsedLines { templates, ..ParsedLines::default() }];
        let merged = MergedTemplates::of(&parts, 1 << 20);
        let name = |Named { name, .. }: &Named| {
            merged.get(name).map_or(name.clone(), |of| of.named.name.clone())
        };
        let names = parts[0].templates.iter().map(name);
        names.map(|name| String::from_utf8(name.into()).unwrap().replace('\x01', "_")).collect()
    }

    const USERS: [&str; 8] = ["ann", "bob", "cy", "dee", "eve", "fay", "gus", "hal"];

    /// A template for each user.
    fn of_users(template: &str) -> Vec<String> {
        USERS.iter().map(|user| template.replace("USER", user)).collect()
    }

    fn assert_merged(names: &[String], wanted: &[&str]) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(merged(&names), wanted);
    }

    #[test]
    fn a_word_that_enough_templates_differ_in_is_a_slot() {
        let users = of_users("for USER at _");
        assert_merged(&users, &["for _ at _"; 8]);
        assert_merged(&users[1..], &users[1..].iter().map(String::as_str).collect::<Vec<_>>());
        // Two are enough where one has a slot there, which stays as it is.
        assert_merged(&["for _ at _".into(), users[3].clone()], &["for _ at _"; 2]);
        // Words that hold a slot beside something else do not count, nor do empty ones; and a
        // longer template is another one.
        for other in ["for a_ at _", "for  at _", "for ann at _ "] {
            let names = [&[other.to_owned()], &users[1..]].concat();
            assert_merged(&names, &names.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    #[test]
    fn letters_where_another_template_has_a_slot_are_a_slot() {
        let ids = ["id=_-_-_;", "id=_-_-cafe;", "id=fade-_-_;", "id=be-_-cafe;", "id=_-_;"];
        let wanted = ["id=_-_-_;", "id=_-_-_;", "id=_-_-_;", "id=be-_-cafe;", "id=_-_;"];
        // What differs in two words does not become what another one was.
        assert_eq!(merged(&ids), wanted);
        // Behind a word that is a slot by then.
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
