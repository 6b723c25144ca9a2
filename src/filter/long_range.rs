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
//! On trees of source, genomes and shared libraries 1 to 2 % of the coded size. 1 to 2 1/2 ns a
//! byte; half a byte of memory per byte.

use super::match_finder::{common, common_end};
use super::matches::Match;
use crate::allocation;
use crate::bwt::content_defined::{self, hash};
use crate::error::Flaw;

/// Bytes that tell what comes next, and bytes that tell what they repeat.
const CONTEXT: usize = 8;
const KEY: usize = 24;
/// Positions are one in 2^5 places, and this far apart.
const RARE: u32 = 5;
const APART: usize = 8;
/// Positions that are fetched from the tables at once.
const BATCH: usize = 32;
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

/// The matches in `text`, if there are enough that are worth taking out.
pub(super) fn find(text: &[u8]) -> Result<Option<Vec<Match>>, Flaw> {
    let mut search = Search::new(text)?;
    let mut batch = Vec::with_capacity(BATCH);
    content_defined::for_each::<RARE>(text, APART, KEY, |at| {
        batch.push(Position::new(text, at));
        if batch.len() == BATCH {
            search.visit_all(&batch);
            batch.clear();
        }
    });
    search.visit_all(&batch);
    search.settle();
    Ok((search.gain * BYTES_A_BIT > text.len() as u64 * BIT).then_some(search.matches))
}

/// A content-defined position, and the hashes of the bytes there.
struct Position {
    at: usize,
    before: u8,
    context: u64,
    key: u64,
}

impl Position {
    fn new(text: &[u8], at: usize) -> Self {
        let before = if at > 0 { text[at - 1] } else { 0 };
        let (context, key) = (hash(&text[at..at + CONTEXT]), hash(&text[at..at + KEY]));
        Position { at, before, context, key }
    }
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

struct Search<'a> {
    text: &'a [u8],
    contexts: LastSeen,
    keys: LastSeen,
    runs: RunPrices,
    found: Option<LongMatch>,
    /// Bytes in matches, whether they were taken or not.
    matched: usize,
    matches: Vec<Match>,
    /// The worth of the matches, less their cost.
    gain: u64,
    /// The end of the last taken match.
    start: usize,
    /// The end of the last match, whether it was taken or not.
    seen: usize,
}

impl<'a> Search<'a> {
    fn new(text: &'a [u8]) -> Result<Self, Flaw> {
        Ok(Search {
            text,
            contexts: LastSeen::new(text.len())?,
            keys: LastSeen::new(text.len())?,
            runs: RunPrices::new(),
            found: None,
            matched: 0,
            matches: Vec::new(),
            gain: 0,
            start: 0,
            seen: 0,
        })
    }

    /// Looks at positions: all are, in order.
    fn visit_all(&mut self, positions: &[Position]) {
        // Waits for memory once, not at each of them.
        std::hint::black_box(positions.iter().fold(0, |all, position| {
            all ^ self.contexts.touch(position.context) ^ self.keys.touch(position.key)
        }));
        for position in positions {
            self.visit(position);
        }
    }

    fn visit(&mut self, &Position { at, before, context, key }: &Position) {
        if self.found.as_ref().is_some_and(|found| at >= found.end) {
            self.settle();
        }
        let context = self.contexts.enter(context, at, before);
        let key = self.keys.enter(key, at, before);
        if self.found.is_none()
            && let Some(key) = &key
        {
            self.found = self.match_around(key.last, at);
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
        let length = common(self.text, last, at);
        if length < KEY {
            return None;
        }
        let least = self.start.max(self.seen.saturating_sub(OVERLAP));
        let behind = common_end(&self.text[least..at], &self.text[..last]);
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
            self.matches.push(Match { literals, distance: found.distance, length });
            self.gain += worth - cost;
            self.start = found.end;
        }
    }
}

/// The slot of a position before it was entered.
struct Before {
    /// The last position of these bytes.
    last: usize,
    /// The times in a row that one byte preceded them, beyond the first.
    run: u8,
    /// Whether they are again.
    goes_on: bool,
}

/// The positions so far: the last of each hash.
struct LastSeen {
    slots: Vec<Slot>,
    shift: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// 0 where there is none.
    last: u32,
    print: u16,
    run: u8,
    before: u8,
}

impl LastSeen {
    fn new(size: usize) -> Result<Self, Flaw> {
        let log = (size / 64).next_power_of_two().ilog2().max(6);
        let slots = allocation::filled(Slot::default(), 1 << log).ok_or(Flaw::NO_MEMORY)?;
        Ok(LastSeen { slots, shift: 64 - log })
    }

    fn touch(&self, hash: u64) -> u16 {
        self.slots[(hash >> self.shift) as usize].print
    }

    fn enter(&mut self, hash: u64, at: usize, before: u8) -> Option<Before> {
        let slot = &mut self.slots[(hash >> self.shift) as usize];
        let print = hash as u16;
        let known = (slot.print == print && slot.last > 0).then_some(Before {
            last: slot.last as usize,
            run: slot.run,
            goes_on: slot.before == before,
        });
        let run = match &known {
            Some(known) if known.goes_on => known.run.saturating_add(1),
            // A context is not a new one for one exception.
            Some(known) => known.run / 4,
            None => 0,
        };
        *slot = Slot { last: at as u32, print, run, before };
        known
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

    /// Words, of which one stretch of 3000 bytes in ten comes a second time, far behind.
    fn with_repeats(size: usize) -> Vec<u8> {
        let text = cases::text(size);
        let again = text.chunks(3000).step_by(10).map(<[u8]>::to_vec).collect::<Vec<_>>();
        [text, again.concat()].concat()
    }

    #[test]
    fn matches_in_other_text_are_taken_out_and_come_back() {
        let text = with_repeats(400_000);
        assert!(!content_defined::is_repetitive(&text).unwrap());
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
