//! Choice of the slots of a block of lines, or that it is no block of fields, by samples.
//!
//! Most other data is rejected by a few lines. Otherwise the coded sizes of samples decide. These
//! are the same on every machine.

use super::coded_size::coded_size;
use super::line_parts::take_apart;
use super::tokens::{Kept, Tokens};
use crate::base::error::Flaw;
use crate::base::threads::Threads;
use std::collections::HashSet;
use std::ops::Range;

/// Number of windows in a sample.
const WINDOWS: usize = 3;
/// Bytes per window, by default.
const WINDOW: usize = 96 << 10;

/// Range of the average line length of a sample, in bytes.
const LINES: Range<usize> = 8..2048;

/// Bytes that may delimit fields.
const DELIMITERS: [u8; 5] = *b",\t;| ";

/// The sample has to get smaller by at least one part in this number, unless its lines are reads.
const LEAST_GAIN: usize = 64;

/// Maximum number of fields kept in templates.
const MOST_KEPT: usize = 3;
/// A field may be kept if it has at most this many different values in the sample.
const MOST_VALUES: usize = 16;
/// Maximum number of fields that are tried.
const MOST_TRIED: usize = 8;
/// Each field that is kept has to make the sample smaller by at least one part in this number.
const LEAST_KEPT_GAIN: usize = 128;

/// The slots with which a sample of a block is smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub tokens: Tokens,
    /// True if taking the block apart gains enough.
    pub gains: bool,
}

impl Chosen {
    /// Returns the slots if they gain enough.
    pub(crate) fn slots(self) -> Option<Tokens> {
        self.gains.then_some(self.tokens)
    }

    /// Returns the best of the ways to store a sample, if there is one besides the sample as it
    /// is, which is the first. Each comes with its coded size.
    pub(crate) fn best(ways: &[(usize, Option<Tokens>)]) -> Option<(usize, Self)> {
        let (whole, _) = ways[0];
        let &(size, tokens) = ways[1..].iter().min_by_key(|(size, _)| *size)?;
        let tokens = tokens?;
        let gains = tokens.gain_enough(size, whole);
        Some((size, Chosen { tokens, gains }))
    }
}

/// Returns the slots with which a sample of `block` is smallest, or `None` if it does not look like
/// lines of fields. The caller is not a thread of the `pool`.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(crate) fn choose(block: &[u8], pool: &Threads) -> Result<Option<Chosen>, Flaw> {
    let sample = sample(block, WINDOW);
    let candidates = candidates(&sample);
    if candidates.is_empty() {
        return Ok(None);
    }
    let ways = [None]
        .into_iter()
        .chain(candidates.into_iter().map(Some));
    let sizes = pool.map(ways, |tokens| Ok((size_apart(&sample, tokens)?, tokens)));
    let sizes = sizes
        .into_iter()
        .collect::<Result<Vec<_>, Flaw>>()?;
    let (whole, _) = sizes[0];
    let Some((size, best)) = Chosen::best(&sizes) else {
        return Ok(None);
    };
    if size >= whole {
        return Ok(Some(best));
    }
    let (size, tokens) = match best.tokens {
        Tokens::Fields(delimiter) => keep_fields(&sample, delimiter, size, pool)?,
        Tokens::Words => {
            let merged = size_apart(&sample, Some(Tokens::MergedWords))?;
            let tokens = if merged < size {
                Tokens::MergedWords
            } else {
                Tokens::Words
            };
            (size.min(merged), tokens)
        }
        tokens => (size, tokens),
    };
    let gains = tokens.gain_enough(size, whole);
    Ok(Some(Chosen { tokens, gains }))
}

impl Tokens {
    /// Returns true if a sample of `whole` coded bytes is worth taking apart when it then takes
    /// `size` bytes.
    pub fn gain_enough(&self, size: usize, whole: usize) -> bool {
        let least = if *self == Tokens::Reads {
            0
        } else {
            whole / LEAST_GAIN
        };
        size < whole - least
    }
}

/// Chooses the fields that stay in the templates of `sample`. `size` is the coded size if all
/// fields are slots. Fields are added one at a time, the best first, while they gain enough.
///
/// Returns the coded size and the slots.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(super) fn keep_fields(
    sample: &[u8],
    delimiter: u8,
    mut size: usize,
    pool: &Threads,
) -> Result<(usize, Tokens), Flaw> {
    let mut places = places_of_few_values(sample, delimiter);
    let mut kept = Kept::NONE;
    let mut tokens = Tokens::Fields(delimiter);
    for _ in 0..MOST_KEPT {
        let sizes = pool.map(places, |place| {
            let tokens = Tokens::FieldsBy(delimiter, kept.and(place));
            Ok((size_apart(sample, Some(tokens))?, place))
        });
        let sizes = sizes
            .into_iter()
            .collect::<Result<Vec<_>, Flaw>>()?;
        let Some(&(least, best)) = sizes.iter().min() else {
            break;
        };
        if least >= size - size / LEAST_KEPT_GAIN {
            break;
        }
        // A field that gains nothing now rarely gains beside another.
        let others = sizes
            .iter()
            .filter(|&&(of, place)| of < size && place != best);
        places = others.map(|&(_, place)| place).collect();
        (size, kept) = (least, kept.and(best));
        tokens = Tokens::FieldsBy(delimiter, kept);
    }
    Ok((size, tokens))
}

/// Returns the positions of the first fields that have few different values, but more than one.
fn places_of_few_values(sample: &[u8], delimiter: u8) -> Vec<usize> {
    let mut slots = Vec::new();
    let mut values = vec![HashSet::new(); Kept::MOST];
    for line in sample
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        Tokens::Fields(delimiter).find(line, &mut slots);
        for (slot, values) in slots.iter().zip(&mut values) {
            if values.len() <= MOST_VALUES {
                values.insert(&line[slot.clone()]);
            }
        }
    }
    let few = values
        .iter()
        .enumerate()
        .filter(|(_, of)| (2..=MOST_VALUES).contains(&of.len()));
    few.map(|(place, _)| place)
        .take(MOST_TRIED)
        .collect()
}

/// Returns the coded size of a sample, taken apart by `tokens`, or as it is if they are `None`.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(crate) fn size_apart(sample: &[u8], tokens: Option<Tokens>) -> Result<usize, Flaw> {
    let Some(tokens) = tokens else {
        return coded_size(sample);
    };
    match take_apart(sample, tokens, &Threads::Calling)? {
        Some(apart) => Ok(coded_size(&apart.text)? + apart.side.len()),
        None => Ok(usize::MAX),
    }
}

/// Returns whole lines from all over `block`, taken from a few windows of `window` bytes each. A
/// block that is no larger than these is returned whole.
pub(crate) fn sample(block: &[u8], window: usize) -> Vec<u8> {
    if block.len() <= WINDOWS * window {
        return block.to_vec();
    }
    let step = block.len().saturating_sub(window) / (WINDOWS - 1);
    let mut sample = Vec::new();
    for start in (0..WINDOWS).map(|n| n * step) {
        let window = &block[start..(start + window).min(block.len())];
        let first = memchr::memchr(b'\n', window).map_or(window.len(), |feed| feed + 1);
        let end = memchr::memrchr(b'\n', window).map_or(0, |feed| feed + 1);
        sample.extend_from_slice(&window[first.min(end)..end]);
    }
    sample
}

/// Returns the slots that the lines of a sample may have. There are none if it does not look like
/// lines of fields.
pub(crate) fn candidates(sample: &[u8]) -> Vec<Tokens> {
    let reads = &sample[Tokens::Reads.start(sample)..];
    if Tokens::Reads.next(reads).is_some() {
        return vec![Tokens::Reads];
    }
    let lines: Vec<&[u8]> = sample.split(|&byte| byte == b'\n').collect();
    let is_binary = sample
        .iter()
        .filter(|&&byte| byte < b'\t')
        .count()
        > lines.len() / 64;
    if lines.len() < 16 || !LINES.contains(&(sample.len() / lines.len())) || is_binary {
        return Vec::new();
    }
    let mut candidates = Vec::new();
    let mut slots = Vec::new();
    let mut slots_of = |line: &[u8], tokens: Tokens| {
        tokens.find(line, &mut slots);
        slots.len()
    };
    let with_words = lines
        .iter()
        .filter(|line| slots_of(line, Tokens::Words) > 0)
        .count();
    if with_words * 2 > lines.len() {
        candidates.push(Tokens::Words);
    }
    let fields = DELIMITERS.into_iter().map(Tokens::Fields);
    for tokens in fields.chain([Tokens::Tuples]) {
        let mut counts = [0; 64];
        lines
            .iter()
            .for_each(|line| counts[slots_of(line, tokens).min(63)] += 1);
        // Most lines of a table have the same number of fields; lines of text differ in words.
        counts[..3].fill(0);
        counts.sort_unstable();
        if (counts[63] + counts[62]) * 10 >= lines.len() * 6 {
            candidates.push(tokens);
        }
    }
    candidates
}
