//! Words of templates that become slots: the words in which otherwise equal templates differ.
//!
//! A template is compared by the sum of the hashes of its words. With a slot in place of one word,
//! the sum is that of every template that differs in this word alone. The cost is two hashes for
//! each word, in each of a few rounds.

use super::templates::SLOT;
use crate::base::content_defined;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::iter;
use std::mem;
use std::ops::Range;

/// Minimum number of templates that are merged if they differ in one word between spaces.
///
/// Two are enough if one of them has a slot at this word. Words of letters are merged only then.
const LEAST: u32 = 8;

/// Maximum number of words of a template that become slots, for each kind of word.
const ROUNDS: usize = 3;

/// Kind of words that templates are compared by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    BetweenSpaces,
    /// Letters in a row. The bytes between two such words are a word too, which never differs.
    Letters,
}

impl Kind {
    /// Returns true if templates may differ in `word`: a slot, or a word of this kind without one.
    pub(super) fn may_differ(self, word: &[u8]) -> bool {
        match (self, word) {
            (_, [SLOT]) => true,
            (Kind::BetweenSpaces, _) => !word.is_empty() && !word.contains(&SLOT),
            (Kind::Letters, _) => word[0].is_ascii_alphabetic(),
        }
    }
}

/// Splits a template into its words.
pub(super) fn words(name: &[u8], kind: Kind) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    iter::from_fn(move || {
        let rest = name.get(start..)?;
        let (len, next) = match kind {
            Kind::BetweenSpaces => {
                let len = memchr::memchr(b' ', rest).unwrap_or(rest.len());
                (len, len + 1)
            }
            Kind::Letters => {
                let class = |byte: u8| {
                    if byte == SLOT {
                        2
                    } else {
                        u8::from(byte.is_ascii_alphabetic())
                    }
                };
                let first = class(*rest.first()?);
                let len = rest
                    .iter()
                    .position(|&byte| class(byte) != first)
                    .unwrap_or(rest.len());
                (len, len)
            }
        };
        start += next;
        Some(start - next..start - next + len)
    })
}

/// Counts the words of letters of a template.
pub(super) fn letters(name: &[u8]) -> usize {
    let words = words(name, Kind::Letters).map(|word| &name[word]);
    words
        .filter(|word| Kind::Letters.may_differ(word))
        .count()
}

/// Templates while they are merged. If different words have equal hashes, other words may become
/// slots. This does no other harm.
pub(super) struct Forms {
    forms: Vec<Form>,
    /// Index in `forms` of each name's form.
    of_names: Vec<usize>,
}

/// A template as the hashes of its words, each with its position in the template.
struct Form {
    words: Vec<u64>,
    /// True for each word that may differ from those of other templates.
    may_differ: Vec<bool>,
    sum: u64,
}

/// Hashes a word, or a slot, at its position in a template.
fn hash_at(place: usize, word: &[u8]) -> u64 {
    let eight = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(eight)
    };
    content_defined::hash_words(iter::once(place as u64).chain(word.chunks(8).map(eight)))
}

impl Form {
    fn of(name: &[u8], kind: Kind) -> Self {
        let words_of = || words(name, kind).map(|word| &name[word]);
        let hashes = words_of()
            .enumerate()
            .map(|(place, word)| hash_at(place, word));
        let words: Vec<u64> = hashes.collect();
        let may_differ = words_of()
            .map(|word| kind.may_differ(word))
            .collect();
        // The number of words is added, since templates may end in different numbers of empty
        // words.
        let sum = words
            .iter()
            .fold(words.len() as u64, |sum, &word| sum.wrapping_add(word));
        Form {
            words,
            may_differ,
            sum,
        }
    }

    /// Yields each word that may become a slot, and the sum that the form then has.
    fn with_slot(&self) -> impl Iterator<Item = (usize, u64)> {
        let places = (0..self.words.len()).filter(|&place| self.may_differ[place]);
        places.map(|place| {
            let others = self.sum.wrapping_sub(self.words[place]);
            (place, others.wrapping_add(hash_at(place, &[SLOT])))
        })
    }
}

impl Forms {
    /// Merges templates as far as possible.
    pub(super) fn merged(names: &[&[u8]], kind: Kind) -> Self {
        let mut forms = Forms::of(names, kind);
        let least = match kind {
            Kind::BetweenSpaces => LEAST,
            Kind::Letters => u32::MAX,
        };
        for _ in 0..ROUNDS {
            if !forms.merge(least) {
                break;
            }
        }
        forms
    }

    fn of(names: &[&[u8]], kind: Kind) -> Self {
        let forms = names
            .iter()
            .map(|name| Form::of(name, kind))
            .collect();
        Forms {
            forms,
            of_names: (0..names.len()).collect(),
        }
    }

    /// For each word of a name, true if it is a slot.
    pub(super) fn slots(&self, name: usize) -> impl Iterator<Item = bool> {
        let words = self.forms[self.of_names[name]]
            .words
            .iter()
            .enumerate();
        words.map(|(place, &word)| word == hash_at(place, &[SLOT]))
    }

    /// Merges each form with the forms that differ from it in one word: the word at which most
    /// other forms do. Returns true if a form changed.
    fn merge(&mut self, least: u32) -> bool {
        let alike = count(
            self.forms
                .iter()
                .flat_map(Form::with_slot)
                .map(|(_, sum)| sum),
        );
        let all: HashSet<u64, Seeded> = self.forms.iter().map(|form| form.sum).collect();
        let least = |sum: &u64| if all.contains(sum) { 2 } else { least };
        let best = |form: &Form| {
            let usual = form
                .with_slot()
                .filter(|(_, sum)| alike[sum] >= least(sum));
            usual.max_by_key(|(place, sum)| (alike[sum], Reverse(*place)))
        };
        let chosen: Vec<Option<(usize, u64)>> = self.forms.iter().map(best).collect();
        let takers = count(chosen.iter().flatten().map(|&(_, sum)| sum));
        let mut any = false;
        for (form, chosen) in self.forms.iter_mut().zip(chosen) {
            if let Some((place, sum)) = chosen.filter(|(_, sum)| takers[sum] >= least(sum)) {
                any |= form.sum != sum;
                form.words[place] = hash_at(place, &[SLOT]);
                form.sum = sum;
            }
        }
        self.join();
        any
    }

    /// Removes duplicate forms.
    fn join(&mut self) {
        let mut by_sum = HashMap::<_, _, Seeded>::default();
        let mut kept = Vec::new();
        let numbers: Vec<usize> = mem::take(&mut self.forms)
            .into_iter()
            .map(|form| {
                *by_sum.entry(form.sum).or_insert_with(|| {
                    kept.push(form);
                    kept.len() - 1
                })
            })
            .collect();
        self.of_names
            .iter_mut()
            .for_each(|name| *name = numbers[*name]);
        self.forms = kept;
    }
}

/// Number of occurrences of each sum.
type Counts = HashMap<u64, u32, Seeded>;

/// Hasher of sums with a random seed. No text can be made to collide in its tables, since the seed
/// is not known.
#[derive(Clone, Copy)]
struct Seeded {
    seed: u64,
    hash: u64,
}

impl Default for Seeded {
    fn default() -> Self {
        Seeded {
            seed: RandomState::new().hash_one(0),
            hash: 0,
        }
    }
}

impl BuildHasher for Seeded {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for Seeded {
    fn write_u64(&mut self, sum: u64) {
        let product = u128::from(sum ^ self.seed) * u128::from(self.seed | 1);
        self.hash = product as u64 ^ (product >> 64) as u64;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("sums are words")
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

/// Counts the occurrences of each value.
fn count(values: impl Iterator<Item = u64>) -> Counts {
    let mut counts = Counts::default();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}
