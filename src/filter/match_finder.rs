//! The match finder for a text that repeats itself as a whole, for [`super::matches`].
//!
//! Each stretch of the text is parsed from left to right, and may refer to all of the text before
//! it. At the end of a match the candidates are the repeat offsets, at once or after a few
//! literals, and earlier occurrences of the keys at the next content-defined positions, lengthened
//! both ways ([`KeyedPositions`]). The value of a candidate is the number of bytes that it covers,
//! at the average price of a byte so far, less its own price. If matches are long, a new distance
//! is as good as the old one; if they are short, a repeat offset pays. Matches without such a
//! position in them are missed unless they are at a repeat offset; they are short, and gain little.
//!
//! The first stretch is parsed alone and gives the price of a byte; the others are then parsed in
//! parallel. A parse begins somewhat before its stretch, so that at the start of the stretch it
//! agrees with the one before; the result hardly differs from a parse of the whole text. It does
//! not depend on the number of threads.
//!
//! A table of every fourth position, which was here before, made parts of an archive with much GPU
//! code 0.1 and 0.5 % smaller, but half of the time of all filters was spent on its cache misses
//! (28 November 2026).

use super::keyed_positions::{KEY, KeyedPositions};
use super::long_runs;
use super::matches::{CodedMatch, LEAST, LEAST_NEW, RepeatOffsets};
use crate::base::equal_bytes::{common_prefix, common_suffix};
use crate::base::error::Flaw;
use crate::base::threads::{Threads, stretches};
use std::ops::Range;

/// Maximum number of earlier positions of a key that are tried.
const DEPTH: usize = 64;
/// Maximum number of literals before a match at the last distance.
const DETOUR: usize = 8;
/// Bytes behind the first match found in which others compete with it.
const NEARBY: usize = 24;

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
    let positions = KeyedPositions::new(text, pool)?;
    let size = text.len().div_ceil(STRETCHES).max(LEAST_STRETCH);
    let parse = |stretch: Range<usize>, before: CodedBits| {
        let text = &text[..text.len().min(stretch.end + LEAD)];
        Parse::new(text, &positions, stretch.start.saturating_sub(LEAD), before).run(stretch.end)
    };
    let (matches, first) = pool.install(|| parse(0..text.len().min(size), CodedBits::default()));
    let mut parsed = vec![matches];
    let others = stretches(text.len(), size).skip(1);
    parsed.extend(pool.map(others, |stretch| parse(stretch, first).0));
    drop(positions);
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
    /// The end of the positions that are looked at after the first match was found at `at`.
    fn end_of_search(&self, at: usize) -> Option<usize> {
        self.found
            .as_ref()
            .map(|(_, found)| found.end.min(at + NEARBY))
    }

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
    positions: &'a KeyedPositions,
    repeat_offsets: RepeatOffsets,
    /// Its first position.
    first: usize,
    /// The cost of the bytes before the end of the first stretch, unless this is that stretch.
    before: CodedBits,
    /// The end of the last match.
    start: usize,
    /// The number of the first position from `start` on.
    next: usize,
    /// Literals before `start`.
    literals: usize,
    matches: Vec<MatchCandidate>,
    /// Price of all matches so far in bits.
    price: f64,
}

impl<'a> Parse<'a> {
    fn new(text: &'a [u8], positions: &'a KeyedPositions, first: usize, before: CodedBits) -> Self {
        Parse {
            text,
            positions,
            repeat_offsets: RepeatOffsets::default(),
            first,
            before,
            start: first,
            next: positions.first_from(first),
            literals: 0,
            matches: Vec::new(),
            price: 0.0,
        }
    }

    /// The matches up to `end` or across it, and the cost of all bytes.
    fn run(mut self, end: usize) -> (Vec<MatchCandidate>, CodedBits) {
        while self.start < end
            && let Some(best) = self.next_match(end)
        {
            self.take(best);
        }
        let at = self.start.max(end);
        let bits = self.price + LITERAL * (self.literals + at - self.start) as f64;
        (self.matches, CodedBits { bits, bytes: at })
    }

    /// The average cost of a byte so far in bits. The bytes between the first stretch and the start
    /// of this parse are assumed to cost as much as those since.
    fn price_of_byte(&self, at: usize) -> f64 {
        let literals = (self.literals + at - self.start) as f64;
        let own = (self.price + LITERAL * literals) / ((at - self.first).max(1) as f64);
        let others = at.saturating_sub(self.before.bytes) as f64;
        LITERAL.min((self.before.bits + own * others) / at.max(1) as f64)
    }

    /// The next match, if one begins before `end`: the best of the first that is found and those
    /// soon after it that it would hide.
    fn next_match(&self, end: usize) -> Option<MatchCandidate> {
        let mut best = Best {
            at: self.start,
            byte: self.price_of_byte(self.start),
            found: None,
        };
        self.at_repeat_offsets(&mut best);
        let mut end = best.end_of_search(self.start).unwrap_or(end);
        let mut passed = self.start;
        for number in self.next.. {
            let at = self
                .positions
                .get(number)
                .unwrap_or(self.text.len());
            if best.found.is_none() {
                self.run_between(passed, at.min(end), &mut best);
                end = best.end_of_search(passed).unwrap_or(end);
            }
            if at >= end {
                break;
            }
            passed = at;
            let is_first = best.found.is_none();
            if is_first {
                best.byte = self.price_of_byte(at);
            }
            self.by_key(number, at, &mut best);
            if is_first {
                end = best.end_of_search(at).unwrap_or(end);
            }
        }
        best.found.map(|(_, found)| found)
    }

    /// Offers the first long run between two keyed positions.
    fn run_between(&self, from: usize, to: usize, best: &mut Best) {
        if let Some(run) = long_runs::first(self.text, from..to) {
            best.offer(MatchCandidate {
                from: run.start,
                end: run.end,
                distance: 1,
                price: NEW,
            });
        }
    }

    /// Offers matches at the repeat offsets, right after a match.
    fn at_repeat_offsets(&self, best: &mut Best) {
        for (ago, &distance) in self.repeat_offsets.0.iter().enumerate() {
            let detour = if ago == 0 { DETOUR } else { 1 };
            for from in self.start..self.start + detour {
                let earlier = from
                    .checked_sub(distance)
                    .filter(|_| distance > 0);
                let text = |at: usize| self.text.get(at..).unwrap_or_default();
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

    /// Offers matches of the key at position `at` of this number, lengthened both ways.
    fn by_key(&self, number: usize, at: usize, best: &mut Best) {
        let mut longest = LEAST_NEW - 1;
        for earlier in self.positions.before(number).take(DEPTH) {
            // With the bytes before it, only a match longer than this beats the longest.
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

    fn take(&mut self, best: MatchCandidate) {
        self.literals += best.from - self.start;
        self.price += best.price;
        self.repeat_offsets.use_again(best.distance);
        self.start = best.end;
        while self
            .positions
            .get(self.next)
            .is_some_and(|at| at < self.start)
        {
            self.next += 1;
        }
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

    #[test]
    fn long_runs_are_matches() {
        let version = cases::random(50_000, 256);
        let run = vec![0; 100_000];
        let text = [&version[..], &run, &version, &run, &version, &run].concat();
        let matches = find(&text, &Threads::Calling).unwrap().unwrap();
        let literals = text.len()
            - matches
                .iter()
                .map(|found| found.length)
                .sum::<usize>();
        assert!(literals < 50_200, "{literals} literals");
        assert!(matches.len() < 10, "{} matches", matches.len());
    }
}
