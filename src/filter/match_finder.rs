//! The match finder for a text that repeats itself as a whole, for [`super::matches`].
//!
//! Every fourth position is entered into a table by the hash of its 24-byte key ([`KeyTable`]).
//! Then each stretch of the text is parsed from left to right, and may refer to all of the text
//! before it. At the end of a match the candidates are the repeat offsets, at once or after a few
//! literals, and the entries of the table, lengthened backwards. The value of a candidate is the
//! number of bytes that it covers, at the average price of a byte so far, less its own price. If
//! matches are long, a new distance is as good as the old one; if they are short, a repeat offset
//! pays. Among literals three quarters of the positions are skipped, which can hide only short
//! matches.
//!
//! The first stretch is parsed alone and gives the price of a byte; the others are then parsed in
//! parallel. A parse begins somewhat before its stretch, so that at the start of the stretch it
//! agrees with the one before; the result hardly differs from a parse of the whole text. It does
//! not depend on the number of threads. The cost is about 15 ns per literal and 2 ns per matched
//! byte, summed over the threads.

use super::key_table::{KEY, KeyTable, MOST_LOOKED_UP, STEP};
use super::matches::{CodedMatch, LEAST, LEAST_NEW, RepeatOffsets};
use crate::base::equal_bytes::{common_prefix, common_suffix};
use crate::base::error::Flaw;
use crate::base::threads::{Threads, stretches};
use std::ops::Range;

/// Maximum number of earlier positions of a key that are tried.
const DEPTH: usize = 16;
/// Maximum number of literals before a match at the last distance.
const DETOUR: usize = 8;

/// Price of a literal in bits.
const LITERAL: f64 = 2.5;
/// Price in bits of a match at the last distance; the prices of matches are those of their numbers
/// in the coder.
const SAME: f64 = 13.0;
/// Price in bits of a match at another repeat offset.
const KNOWN: f64 = 17.0;
/// Price in bits of a match at a new distance.
const NEW: f64 = 30.0;
/// Price in bits of a match found by its key whose distance is a repeat offset or near the last.
const CLOSE: f64 = 19.0;

/// Expected cost of a match in the BWT in bits, besides that of its bytes.
const TRANSFORMED: f64 = 20.0;
/// Expected cost of a byte of a match in the BWT in bits.
const TRANSFORMED_BYTE: f64 = 1.0 / 40.0;

/// Maximum number of stretches in which a text is parsed.
const STRETCHES: usize = 32;
/// Minimum size of a stretch in bytes, except of the last.
const LEAST_STRETCH: usize = 2 << 20;
/// Bytes before and behind a stretch that its parse includes.
const LEAD: usize = 64 << 10;

/// The matches in `text`, if they are worth removing.
pub(crate) fn find(text: &[u8], pool: &Threads) -> Result<Option<Vec<CodedMatch>>, Flaw> {
    let table = KeyTable::new(text, pool)?;
    let size = text.len().div_ceil(STRETCHES).max(LEAST_STRETCH);
    let parse = |stretch: Range<usize>, before: CodedBits| {
        let text = &text[..text.len().min(stretch.end + LEAD)];
        Parse::new(text, &table, stretch.start.saturating_sub(LEAD), before).run(stretch.end)
    };
    let (matches, first) = pool.install(|| parse(0..text.len().min(size), CodedBits::default()));
    let mut parsed = vec![matches];
    let others = stretches(text.len(), size).skip(1);
    parsed.extend(pool.map(others, |stretch| parse(stretch, first).0));
    drop(table);
    Ok(pool.install(|| {
        let mut all = Joined::default();
        parsed
            .iter()
            .zip(stretches(text.len(), size))
            .for_each(|(parsed, stretch)| {
                parsed
                    .iter()
                    .for_each(|found| all.add(found, &stretch));
            });
        all.worth()
    }))
}

/// A number of bytes and the bits that they took.
#[derive(Clone, Copy, Default)]
struct CodedBits {
    bits: f64,
    bytes: usize,
}

/// The matches of all stretches in order.
#[derive(Default)]
struct Joined {
    matches: Vec<CodedMatch>,
    repeat_offsets: RepeatOffsets,
    /// The end of the last match.
    end: usize,
    /// Price of all matches in bits.
    price: f64,
}

impl Joined {
    /// Adds the part of a match that lies in its stretch, unless that is too short for its
    /// distance.
    fn add(&mut self, found: &MatchCandidate, stretch: &Range<usize>) {
        let &MatchCandidate {
            from,
            end,
            distance,
            price,
        } = found;
        let from = from.max(stretch.start);
        let end = end.min(stretch.end);
        let goes_on = from == self.end && distance == self.repeat_offsets.0[0];
        if from < end && goes_on {
            self.matches
                .last_mut()
                .expect("one of this distance")
                .length += end - from;
            self.end = end;
            return;
        }
        let is_near = self.repeat_offsets.is_near(distance);
        if end < from + if is_near { LEAST } else { LEAST_NEW } {
            return;
        }
        self.matches.push(CodedMatch {
            literals: from - self.end,
            distance,
            length: end - from,
        });
        self.repeat_offsets.use_again(distance);
        self.price += price;
        self.end = end;
    }

    /// The matches, if they cost less than their bytes would in the BWT.
    fn worth(self) -> Option<Vec<CodedMatch>> {
        let removed = self
            .matches
            .iter()
            .map(|found| found.length)
            .sum::<usize>() as f64;
        let worth = TRANSFORMED * self.matches.len() as f64 + TRANSFORMED_BYTE * removed;
        (self.price < worth).then_some(self.matches)
    }
}

/// A candidate for the next match: `from..end` of the text.
struct MatchCandidate {
    from: usize,
    end: usize,
    distance: usize,
    price: f64,
}

/// The best match so far, as seen from `at`, for a price of `byte` bits per byte.
struct Best {
    at: usize,
    byte: f64,
    found: Option<(f64, MatchCandidate)>,
}

impl Best {
    fn offer(&mut self, found: MatchCandidate) {
        let skipped = found.from as f64 - self.at as f64;
        let value = (found.end - self.at) as f64 * self.byte - found.price - skipped * LITERAL;
        if self
            .found
            .as_ref()
            .is_none_or(|(most, _)| value > *most)
        {
            self.found = Some((value, found));
        }
    }
}

/// A parse of the end of a text.
struct Parse<'a> {
    text: &'a [u8],
    table: &'a KeyTable,
    repeat_offsets: RepeatOffsets,
    /// Its first position.
    first: usize,
    /// The cost of the bytes before the end of the first stretch, unless this is that stretch.
    before: CodedBits,
    /// The end of the last match.
    start: usize,
    /// Literals before `start`.
    literals: usize,
    matches: Vec<MatchCandidate>,
    /// Price of all matches so far in bits.
    price: f64,
    ahead: LookAhead,
}

/// The places of the keys at neighbouring positions, which are fetched together: each lookup alone
/// would wait for memory twice.
struct LookAhead {
    first: usize,
    ranges: Vec<Range<u32>>,
    /// True if the positions that are skipped were left out.
    has_gaps: bool,
}

/// Maximum number of positions that are fetched together.
const AHEAD: usize = MOST_LOOKED_UP;

/// Among literals, `STEP` positions of each `PASSED` are looked at.
const PASSED: usize = 4 * STEP;

/// Returns true if this position is skipped among literals.
fn is_passed_by(at: usize) -> bool {
    at % PASSED >= STEP
}

impl<'a> Parse<'a> {
    fn new(text: &'a [u8], table: &'a KeyTable, first: usize, before: CodedBits) -> Self {
        Parse {
            text,
            table,
            repeat_offsets: RepeatOffsets::default(),
            first,
            before,
            start: first,
            literals: 0,
            matches: Vec::new(),
            price: 0.0,
            ahead: LookAhead {
                first,
                ranges: Vec::with_capacity(AHEAD),
                has_gaps: false,
            },
        }
    }

    /// The matches up to `end` or across it, and the cost of all bytes.
    fn run(mut self, end: usize) -> (Vec<MatchCandidate>, CodedBits) {
        let mut at = self.first;
        while at < end && at + KEY <= self.text.len() {
            match self.best(at) {
                Some(best) => {
                    at = best.end;
                    self.take(best);
                }
                None => at = self.after(at),
            }
        }
        let bits = self.price + LITERAL * (self.literals + at.saturating_sub(self.start)) as f64;
        (self.matches, CodedBits { bits, bytes: at })
    }

    /// The position to look at after `at`, which has no match. Among literals most are skipped: the
    /// table has a key at one of any `STEP` positions in a row, so no match of at least `KEY +
    /// PASSED + STEP` bytes is missed, and shorter ones at a new distance are worth little.
    fn after(&self, at: usize) -> usize {
        let next = at + 1;
        let passed = self.is_among_literals(next) && is_passed_by(next);
        if passed {
            next.next_multiple_of(PASSED)
        } else {
            next
        }
    }

    /// Returns true if `at` is too far behind the last match to be related to it.
    fn is_among_literals(&self, at: usize) -> bool {
        at > self.start + DETOUR
    }

    /// The average cost of a byte so far in bits. The bytes between the first stretch and the start
    /// of this parse are assumed to cost as much as those since.
    fn price_of_byte(&self, at: usize) -> f64 {
        let literals = (self.literals + at - self.start) as f64;
        let own = (self.price + LITERAL * literals) / ((at - self.first).max(1) as f64);
        let others = at.saturating_sub(self.before.bytes) as f64;
        LITERAL.min((self.before.bits + own * others) / at.max(1) as f64)
    }

    /// The best match that covers `at` or comes soon after it.
    fn best(&mut self, at: usize) -> Option<MatchCandidate> {
        let fresh = at == self.start;
        if self.is_among_literals(at) && self.places(at, true)?.is_empty() {
            return None;
        }
        let mut best = Best {
            at,
            byte: self.price_of_byte(at),
            found: None,
        };
        if fresh {
            self.at_repeat_offsets(at, &mut best);
        }
        self.by_key(at, &mut best);
        if fresh || best.found.is_some() {
            for from in at + 1..at + STEP {
                self.by_key(from, &mut best);
            }
        }
        best.found.map(|(_, found)| found)
    }

    /// Offers matches at the repeat offsets, right after a match.
    fn at_repeat_offsets(&self, at: usize, best: &mut Best) {
        for (ago, &distance) in self.repeat_offsets.0.iter().enumerate() {
            let detour = if ago == 0 { DETOUR } else { 1 };
            for from in at..at + detour {
                let earlier = from
                    .checked_sub(distance)
                    .filter(|_| distance > 0);
                let text = |at: usize| &self.text[at..];
                let length = earlier.map_or(0, |earlier| common_prefix(text(earlier), text(from)));
                if length >= LEAST {
                    let price = if ago == 0 { SAME } else { KNOWN };
                    best.offer(MatchCandidate {
                        from,
                        end: from + length,
                        distance,
                        price,
                    });
                    break;
                }
            }
        }
    }

    /// Offers matches of the key at `at`, lengthened both ways.
    fn by_key(&mut self, at: usize, best: &mut Best) {
        let Some(places) = self.places(at, false) else {
            return;
        };
        let mut longest = LEAST_NEW - 1;
        for earlier in self.table.before(places, at).take(DEPTH) {
            // With the bytes before it, only a match longer than this beats the longest: in runs
            // all candidates are equally long, and are rejected at once.
            let known = longest - (at - self.start).min(longest);
            if self.text.get(earlier + known) != self.text.get(at + known) {
                continue;
            }
            let length = common_prefix(&self.text[earlier..], &self.text[at..]);
            if length < KEY {
                continue;
            }
            let before = &self.text[self.start..at];
            let same = &self.text[..earlier];
            let behind = common_suffix(before, same);
            if behind + length > longest {
                longest = behind + length;
                let distance = at - earlier;
                let price = if self.repeat_offsets.is_near(distance) {
                    CLOSE
                } else {
                    NEW
                };
                best.offer(MatchCandidate {
                    from: at - behind,
                    end: at + length,
                    distance,
                    price,
                });
            }
        }
    }

    /// The range in the table of the places of the key at `at`, or `None` at the end of the text.
    /// Among literals many are looked up ahead, without those that are skipped.
    fn places(&mut self, at: usize, among_literals: bool) -> Option<Range<u32>> {
        let LookAhead {
            first,
            ranges,
            has_gaps,
        } = &mut self.ahead;
        let is_known = (*first..*first + ranges.len()).contains(&at);
        if !is_known || *has_gaps && is_passed_by(at) {
            (*first, *has_gaps) = (at, among_literals);
            let count = match among_literals {
                true => AHEAD,
                // Literals follow.
                false if at == self.start => DETOUR + STEP,
                false => STEP,
            };
            let skip = |at| among_literals && is_passed_by(at);
            self.table
                .look_up(self.text, at..at + count, skip, ranges);
        }
        ranges.get(at - *first).cloned()
    }

    fn take(&mut self, best: MatchCandidate) {
        self.literals += best.from - self.start;
        self.price += best.price;
        self.repeat_offsets.use_again(best.distance);
        self.start = best.end;
        self.matches.push(best);
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;
    use crate::base::content_defined;

    /// Copies of random letters with one letter in `rate` changed.
    fn versions(rate: usize) -> Vec<u8> {
        let first: Vec<u8> = cases::random(50_000, 4)
            .iter()
            .map(|b| b"ACGT"[usize::from(*b)])
            .collect();
        let mut all = first.clone();
        for version in 1..6 {
            let mut copy = first.clone();
            copy.iter_mut()
                .skip(version)
                .step_by(rate)
                .for_each(|b| *b = b"CGTA"[usize::from(*b >> 1 & 3)]);
            all.extend(copy);
        }
        all
    }

    #[test]
    fn repeats_are_found_and_only_once_looked_for_elsewhere() {
        for rate in [150, 1000] {
            let text = versions(rate);
            assert!(content_defined::is_repetitive(&text, &Threads::Calling).unwrap());
            let matches = find(&text, &Threads::Calling).unwrap().unwrap();
            let literals = text.len()
                - matches
                    .iter()
                    .map(|found| found.length)
                    .sum::<usize>();
            assert!(literals < 60_000, "{literals} literals at {rate}");
            assert!(matches.len() < 5 * 50_000 / rate * 2);
        }
        for (name, text) in cases::shapes(300_000) {
            if ["text", "random", "DNA", "random bits", "records"].contains(&name.as_str()) {
                assert!(
                    !content_defined::is_repetitive(&text, &Threads::Calling).unwrap(),
                    "{name}"
                );
            }
        }
    }
}
