//! The different phrases of a block in sorted order, and their suffixes.

use super::super::sort_limits::{ParsingLimits, no_memory};
use super::phrases::{Phrases, WINDOW};
use crate::base::allocation;
use crate::base::error::Error;
use libsais::SuffixArrayConstruction;
use rayon::prelude::*;

/// Each phrase once. Phrases are *named* by their rank.
///
/// They are in the order of their names, except for the last phrase of the block, which is at the
/// end: it has no window behind it, and its end is smaller than all bytes, like the end of the
/// dictionary for libsais.
pub(super) struct Dictionary {
    pub bytes: Vec<u8>,
    /// The start of each phrase, and the end of the last.
    starts: Vec<u32>,
    /// Set of the first bytes of the phrases.
    firsts: MarkedPlaces,
    last_name: u32,
}

/// A suffix of a phrase.
#[derive(Clone, Copy)]
pub(super) struct Suffix {
    /// Its position in the dictionary.
    pub at: u32,
    pub len: u32,
    /// Its phrase.
    pub name: u32,
    /// True if it is the whole phrase.
    pub whole: bool,
}

impl Dictionary {
    /// Sorts the phrases. Returns the dictionary and the name of each phrase of the block, or
    /// `None` if they exceed the limits.
    pub(super) fn new(
        phrases: &Phrases,
        equal: &[u32],
        limits: ParsingLimits,
    ) -> Result<Option<(Self, Vec<i32>)>, Error> {
        let different = equal
            .par_iter()
            .enumerate()
            .filter(|&(k, &first)| k == first as usize);
        let mut sorted: Vec<(u128, u32)> = different
            .map(|(k, &first)| (prefix(phrases.bytes(k)), first))
            .collect();
        let bytes = |phrase: u32| phrases.bytes(phrase as usize);
        let len: usize = sorted
            .iter()
            .map(|&(_, phrase)| bytes(phrase).len())
            .sum();
        let squares: usize = sorted
            .iter()
            .map(|&(_, phrase)| bytes(phrase).len().pow(2))
            .sum();
        let block = phrases.bytes_in_block();
        if len * limits.dictionary_share > block || squares / limits.squares > block {
            return Ok(None);
        }
        sorted.par_sort_unstable_by(|x, y| {
            x.0.cmp(&y.0)
                .then_with(|| bytes(x.1).cmp(bytes(y.1)))
        });
        let mut name_of = allocation::zeroed::<u32>(equal.len()).ok_or_else(no_memory)?;
        (0..)
            .zip(&sorted)
            .for_each(|(name, &(_, phrase))| name_of[phrase as usize] = name);
        let mut names = allocation::zeroed::<i32>(equal.len()).ok_or_else(no_memory)?;
        let name = |(name, &first): (&mut i32, &u32)| *name = name_of[first as usize] as i32;
        names.par_iter_mut().zip(equal).for_each(name);
        let last_name = name_of[equal[equal.len() - 1] as usize];
        let last = sorted.remove(last_name as usize);
        let mut dictionary = Dictionary {
            bytes: allocation::with_capacity(len).ok_or_else(no_memory)?,
            starts: allocation::with_capacity(sorted.len() + 2).ok_or_else(no_memory)?,
            firsts: MarkedPlaces::default(),
            last_name,
        };
        for (_, phrase) in sorted.into_iter().chain([last]) {
            dictionary
                .starts
                .push(dictionary.bytes.len() as u32);
            dictionary.bytes.extend_from_slice(bytes(phrase));
        }
        dictionary.firsts = MarkedPlaces::new(len, dictionary.starts.iter().copied());
        dictionary.starts.push(len as u32);
        Ok(Some((dictionary, names)))
    }

    /// Number of phrases.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The suffix array of the bytes.
    pub(super) fn suffixes(&self) -> Result<Vec<i32>, Error> {
        let mut suffixes = allocation::zeroed(self.bytes.len()).ok_or_else(no_memory)?;
        SuffixArrayConstruction::for_text(&self.bytes[..])
            .in_borrowed_buffer(&mut suffixes[..])
            .single_threaded()
            .run()
            .map_err(|_| no_memory())?;
        Ok(suffixes)
    }

    /// The start of a phrase.
    pub(super) fn start(&self, name: u32) -> u32 {
        let place = match name {
            _ if name == self.last_name => self.len() - 1,
            _ => name as usize - usize::from(name > self.last_name),
        };
        self.starts[place]
    }

    /// The byte of the block before the window that ends a phrase. For the last phrase, which has
    /// no such window, it is 0 and never used.
    pub(super) fn last_byte(&self, name: u32) -> u8 {
        let place = name as usize - usize::from(name > self.last_name);
        match name == self.last_name {
            true => 0,
            false => self.bytes[self.starts[place + 1] as usize - WINDOW - 1],
        }
    }

    /// The suffix at `at`, if suffixes of the block begin with it. None does if it is in the window
    /// of the next phrase.
    #[inline(always)]
    pub(super) fn suffix(&self, at: u32) -> Option<Suffix> {
        let place = self.firsts.up_to(at) - 1;
        let start = self.starts[place];
        let end = self.starts[place + 1];
        let is_last = place + 2 == self.starts.len();
        let name = match is_last {
            true => self.last_name,
            false => place as u32 + u32::from(place as u32 >= self.last_name),
        };
        let len = end - at;
        (len > WINDOW as u32 || is_last).then_some(Suffix {
            at,
            len,
            name,
            whole: at == start,
        })
    }

    /// Returns true if two suffixes are equal strings.
    #[inline]
    pub(super) fn are_equal(&self, x: Suffix, y: Suffix) -> bool {
        let bytes = |suffix: Suffix| &self.bytes[suffix.at as usize..][..suffix.len as usize];
        x.len == y.len && bytes(x) == bytes(y)
    }

    /// The byte before a suffix that is not whole.
    #[inline(always)]
    pub(super) fn before(&self, suffix: Suffix) -> u8 {
        self.bytes[suffix.at as usize - 1]
    }
}

/// The first 16 bytes of a phrase, which mostly suffice to compare it.
fn prefix(phrase: &[u8]) -> u128 {
    let mut prefix = [0; 16];
    let len = phrase.len().min(16);
    prefix[..len].copy_from_slice(&phrase[..len]);
    u128::from_be_bytes(prefix)
}

/// A set of positions, with the number of members before each 64 positions.
#[derive(Default)]
struct MarkedPlaces(Vec<Word>);

#[derive(Clone, Copy, Default)]
struct Word {
    bits: u64,
    before: u32,
}

impl MarkedPlaces {
    fn new(len: usize, places: impl Iterator<Item = u32>) -> Self {
        let mut words = vec![Word::default(); len / 64 + 1];
        places.for_each(|place| words[place as usize / 64].bits |= 1 << (place % 64));
        let mut before = 0;
        for word in &mut words {
            word.before = before;
            before += word.bits.count_ones();
        }
        MarkedPlaces(words)
    }

    /// Number of members up to and including `place`.
    #[inline(always)]
    fn up_to(&self, place: u32) -> usize {
        let word = self.0[place as usize / 64];
        (word.before + (word.bits << (63 - place % 64)).count_ones()) as usize
    }
}
