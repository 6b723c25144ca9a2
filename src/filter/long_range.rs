//! Long-range matches in a text that is not repetitive as a whole, for [`super::matches`].
//!
//! The BWT brings a repeat next to what it repeats, but the coder still has to code, byte by
//! byte, that a run goes on: that is half a bit in a book, next to nothing in a log whose lines are
//! all alike. A match is worth what its bytes would cost there. [`find`] looks at content-defined
//! positions, as zstd's long-distance matching does. The 8 bytes at one are a context, and the byte
//! before them is the one that the BWT holds for it. If that was the same byte so many times in a
//! row, the context has a run of that length; how often such runs go on is counted meanwhile, and
//! gives the price of a byte. The 24 bytes at a position tell where they stood last. The match
//! around them is taken if its bytes cost more in the BWT than the match does.
//!
//! Three steps, of which all threads take the first two: the positions of a part of the text and
//! their hashes, stretch by stretch; what was at these hashes before, table slot by table slot
//! (both in `last_seen`); the search itself, which needs no more than a look at most positions.
//! What is found does not depend on the threads.
//!
//! On trees of source, genomes and shared libraries 1 to 2 % of the coded size. 1 to 2 ns a byte,
//! a fifth of it in the last step; a byte of memory per byte at most.

use super::last_seen::{Before, KEY, KINDS, LastSeen, Positions};
use super::matches::CodedMatch;
#[cfg(test)]
use crate::bwt::content_defined;
use crate::bwt::content_defined::{CommonPositions, STRETCH};
use crate::bwt::equal_bytes::{common_prefix, common_suffix};
use crate::error::Flaw;
use crate::threads::{Threads, stretches};
use std::ops::Range;

/// Positions further apart than this have runs of one byte between them, which cost nothing.
const SPARSE: u64 = 128;

/// Shorter matches are left alone.
const LEAST: usize = 64;
/// How far a match may reach back over earlier ones that were left alone: without a bound those
/// bytes could be compared again for each match behind them. Where no match was, it may reach back
/// as far as it likes.
const OVERLAP: usize = 64 << 10;
/// A text that would not get smaller by a bit for so many bytes is left alone.
const BYTES_A_BIT: u64 = 1000;

/// The cost of a match in bits: its numbers, and the contexts that it tears apart. These are the
/// worse to lose the more of the text is matched: by `SPLIT_COST` in a text of nothing else.
const MATCH_COST: u64 = 44;
const SPLIT_COST: u64 = 200;

/// The parts that a text is searched in, since all positions at once take more memory.
const PARTS: usize = 4;

/// The matches in `text`, if enough of them are worth taking out. Its positions may be known.
pub(super) fn find(
    text: &[u8],
    known: &CommonPositions,
    pool: &Threads,
) -> Result<Option<Vec<CodedMatch>>, Flaw> {
    let (mut search, mut seen) = (MatchSearch::new(text), LastSeen::new(text.len())?);
    let stretches: Vec<Range<usize>> = stretches(text.len(), STRETCH).collect();
    for part in stretches.chunks(stretches.len().div_ceil(PARTS).max(1)) {
        let log = seen.log;
        let positions = pool.map(part, |stretch| Positions::new(text, known, stretch.clone(), log));
        let positions = positions.into_iter().collect::<Result<Vec<_>, Flaw>>()?;
        seen.enter_all(&positions, pool);
        pool.install(|| {
            for stretch in &positions {
                stretch.each(text, |at, seen| search.visit(at, seen));
            }
        });
    }
    search.settle();
    Ok((search.gain * BYTES_A_BIT > text.len() as u64 * BIT).then_some(search.matches))
}

/// A match that is looked at: `from..end` of the text.
struct LongMatch {
    from: usize,
    end: usize,
    distance: usize,
    /// Positions in it, and what they say that a byte costs there, all together.
    positions: u64,
    price: u64,
}

struct MatchSearch<'a> {
    text: &'a [u8],
    runs: RunPrices,
    found: Option<LongMatch>,
    /// Bytes in matches, whether they were taken or not.
    matched: usize,
    matches: Vec<CodedMatch>,
    /// The worth of the matches, less their cost.
    gain: u64,
    /// The end of the last taken match.
    start: usize,
    /// The end of the last match, whether it was taken or not.
    seen: usize,
}

impl<'a> MatchSearch<'a> {
    fn new(text: &'a [u8]) -> Self {
        MatchSearch {
            text,
            runs: RunPrices::new(),
            found: None,
            matched: 0,
            matches: Vec::new(),
            gain: 0,
            start: 0,
            seen: 0,
        }
    }

    /// Looks at a position and what was before at its context and key: all are, in order.
    fn visit(&mut self, at: usize, [context, key]: [Option<Before>; KINDS]) {
        if self.found.as_ref().is_some_and(|found| at >= found.end) {
            self.settle();
        }
        if self.found.is_none()
            && let Some(key) = &key
        {
            self.found = self.match_around(key.last as usize, at);
        }
        let Some(context) = context else { return };
        if let Some(found) = &mut self.found {
            let run = context.run.max(key.map_or(0, |key| key.run));
            found.positions += 1;
            found.price += if context.goes_on { self.runs.price(run) } else { 0 };
        }
        self.runs.learn(context.run, context.goes_on);
    }

    /// The match that covers `at` and repeats the bytes around `last`.
    fn match_around(&self, last: usize, at: usize) -> Option<LongMatch> {
        let length = common_prefix(&self.text[last..], &self.text[at..]);
        if length < KEY {
            return None;
        }
        let least = self.start.max(self.seen.saturating_sub(OVERLAP));
        let behind = common_suffix(&self.text[least..at], &self.text[..last]);
        (behind + length >= LEAST).then_some(LongMatch {
            from: at - behind,
            end: at + length,
            distance: at - last,
            positions: 0,
            price: 0,
        })
    }

    /// Takes the match that was looked at, or leaves it.
    fn settle(&mut self) {
        let Some(found) = self.found.take() else { return };
        let length = found.end - found.from;
        self.matched += length;
        self.seen = found.end;
        let sparse = found.positions * SPARSE < length as u64;
        let worth = if sparse { 0 } else { found.price * length as u64 / found.positions };
        let cost = MATCH_COST * BIT + SPLIT_COST * BIT * self.matched as u64 / found.end as u64;
        if worth > cost {
            let literals = found.from - self.start;
            self.matches.push(CodedMatch { literals, distance: found.distance, length });
            self.gain += worth - cost;
            self.start = found.end;
        }
    }
}

/// The number of times that runs went on, by their length so far.
struct RunPrices([(u32, u32); 32]);

/// The unit of prices: one part in so many of a bit.
const BIT: u64 = 256;

impl RunPrices {
    fn new() -> Self {
        RunPrices([(2, 1); 32])
    }

    fn learn(&mut self, run: u8, goes_on: bool) {
        let (seen, on) = &mut self.0[Self::bucket(run)];
        *seen += 1;
        *on += u32::from(goes_on);
    }

    /// The cost of telling that such a run goes on.
    fn price(&self, run: u8) -> u64 {
        let (seen, on) = self.0[Self::bucket(run)];
        log2(seen) - log2(on)
    }

    /// Single lengths to 15, then four to a doubling.
    fn bucket(run: u8) -> usize {
        match run {
            0..16 => run.into(),
            _ => {
                let log = run.ilog2();
                (4 * log + (u32::from(run) >> (log - 2) & 3)) as usize
            }
        }
    }
}

/// The logarithm of `number`, in units of [`BIT`]; linear between the powers of 2, so that it is
/// the same everywhere.
fn log2(number: u32) -> u64 {
    let log = number.ilog2();
    let part = (u64::from(number) << 8 >> log) - BIT;
    u64::from(log) * BIT + part
}

#[cfg(test)]
mod tests {
    use super::super::{cases, matches};
    use super::*;

    fn find(text: &[u8]) -> Result<Option<Vec<CodedMatch>>, Flaw> {
        super::find(text, &CommonPositions::default(), &Threads::Calling)
    }

    /// Words, of which one stretch of 3000 bytes in ten comes a second time, far behind.
    fn with_repeats(size: usize) -> Vec<u8> {
        let text = cases::text(size);
        let again = text.chunks(3000).step_by(10).map(<[u8]>::to_vec).collect::<Vec<_>>();
        [text, again.concat()].concat()
    }

    #[test]
    fn matches_in_other_text_are_taken_out_and_come_back() {
        let text = with_repeats(400_000);
        assert!(!content_defined::is_repetitive(&text, &Threads::Calling).unwrap());
        let found = find(&text).unwrap().unwrap();
        let removed: usize = found.iter().map(|found| found.length).sum();
        assert!((35_000..45_000).contains(&removed), "{removed} bytes in {} matches", found.len());
        let (mut literals, mut side) = (text.clone(), Vec::new());
        matches::encode(&mut literals, &found, &mut side);
        assert_eq!(literals.len(), text.len() - removed);
        assert!(matches::decode(&literals, &mut &side[..], text.len()).unwrap() == text);
    }

    #[test]
    fn repeats_that_cost_nothing_stay() {
        let line =
            |n| format!("2026-01-01 worker {n}: a line that is like all the others of its log\n");
        let log: String = cases::random(4000, 250).into_iter().map(line).collect();
        assert!(find(log.as_bytes()).unwrap().is_none());
        assert!(find(&vec![0; 200_000]).unwrap().is_none());
        for (name, text) in cases::shapes(300_000) {
            if ["text", "random", "DNA", "random bits"].contains(&name.as_str()) {
                assert!(find(&text).unwrap().is_none(), "{name}");
            }
        }
    }

    #[test]
    fn logarithms_are_close() {
        for number in [1, 2, 3, 5, 100, 65_535, u32::MAX] {
            let wanted = f64::from(number).log2() * BIT as f64;
            assert!((log2(number) as f64 - wanted).abs() < 0.09 * BIT as f64, "of {number}");
        }
    }
}
