//! Long-range matches in a text that is not repetitive as a whole, for [`super::matches`].
//!
//! The BWT brings a repeat next to the bytes that it repeats, but the coder still has to code, byte
//! by byte, that a run continues. That costs half a bit a byte in a book, and next to nothing in a
//! log with lines that are all alike. A match is worth the cost of its bytes there. [`find`] looks
//! at content-defined positions, as zstd's long-distance matching does. The 8 bytes at such a
//! position are a context, and the byte before them is the one that the BWT holds for it. If that
//! byte was the same several times in succession, the context has a run of that length. The
//! fraction of such runs that continue is counted on the way and gives the price of a byte. The 24
//! bytes at a position are its key, whose last occurrence is looked up. The match around it is
//! taken if its bytes cost more in the BWT than the match does.
//!
//! There are three steps, the first two on all threads. The positions of a part of the text and
//! their hashes are computed, stretch by stretch. The earlier position with each hash is found,
//! table slot by table slot (both in `last_seen`). The search itself then needs only a look at most
//! positions. The matches do not depend on the number of threads.
//!
//! The gain is 1 to 2 % of the coded size on source trees, genomes and shared libraries. The search
//! takes 1 to 2 ns a byte, a fifth of it in the last step, and at most a byte of memory per byte.

use super::last_seen::{Before, KEY, KINDS, LastSeen, Positions};
use super::matches::CodedMatch;
#[cfg(test)]
use crate::base::content_defined;
use crate::base::content_defined::{CommonPositions, STRETCH};
use crate::base::equal_bytes::{common_prefix, common_suffix};
use crate::base::error::Flaw;
use crate::base::threads::{Threads, stretches};
use std::ops::Range;

/// Distance in bytes between positions above which they have runs of one byte between them, which
/// cost nothing.
const SPARSE: u64 = 128;

/// Minimum length of a match.
const LEAST: usize = 64;
/// Maximum number of bytes by which a match may reach back over earlier ones that were not taken:
/// without a bound, those bytes could be compared again for each later match. Over bytes without
/// matches it may reach back without a bound.
const OVERLAP: usize = 64 << 10;
/// Bytes for which at least one bit must be saved on average, or else no matches are taken.
const BYTES_A_BIT: u64 = 1000;

/// Cost of a match in bits for coding its numbers.
const MATCH_COST: u64 = 44;
/// Additional cost of a match in bits for the contexts that it splits, in a text that consists of
/// matches. It is in proportion to the part of the text that is matched.
const SPLIT_COST: u64 = 200;

/// Number of parts in which a text is searched: all positions at once would take more memory.
const PARTS: usize = 4;

/// The matches in `text`, if they gain enough. `known` are positions found before.
pub(super) fn find(
    text: &[u8],
    known: &CommonPositions,
    pool: &Threads,
) -> Result<Option<Vec<CodedMatch>>, Flaw> {
    let mut search = MatchSearch::new(text);
    let mut seen = LastSeen::new(text.len())?;
    let stretches: Vec<Range<usize>> = stretches(text.len(), STRETCH).collect();
    for part in stretches.chunks(stretches.len().div_ceil(PARTS).max(1)) {
        let log = seen.log;
        let positions = pool.map(part, |stretch| {
            Positions::new(text, known, stretch.clone(), log)
        });
        let positions = positions
            .into_iter()
            .collect::<Result<Vec<_>, Flaw>>()?;
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

/// A match under consideration: `from..end` of the text.
struct LongMatch {
    from: usize,
    end: usize,
    distance: usize,
    /// Number of positions in it.
    positions: u64,
    /// Sum of the costs of a byte in the BWT at each of these positions.
    price: u64,
}

struct MatchSearch<'a> {
    text: &'a [u8],
    runs: RunPrices,
    found: Option<LongMatch>,
    /// Bytes in matches, taken or not.
    matched: usize,
    matches: Vec<CodedMatch>,
    /// Sum of the matches' values less their costs.
    gain: u64,
    /// The end of the last taken match.
    start: usize,
    /// The end of the last match, taken or not.
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

    /// Visits a position, with the earlier state of its context and of its key. All positions are
    /// visited in order.
    fn visit(&mut self, at: usize, [context, key]: [Option<Before>; KINDS]) {
        if self
            .found
            .as_ref()
            .is_some_and(|found| at >= found.end)
        {
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
            found.price += if context.goes_on {
                self.runs.price(run)
            } else {
                0
            };
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

    /// Takes the match under consideration if it is worth its cost.
    fn settle(&mut self) {
        let Some(found) = self.found.take() else {
            return;
        };
        let length = found.end - found.from;
        self.matched += length;
        self.seen = found.end;
        let sparse = found.positions * SPARSE < length as u64;
        let worth = if sparse {
            0
        } else {
            found.price * length as u64 / found.positions
        };
        let cost = MATCH_COST * BIT + SPLIT_COST * BIT * self.matched as u64 / found.end as u64;
        if worth > cost {
            let literals = found.from - self.start;
            self.matches.push(CodedMatch {
                literals,
                distance: found.distance,
                length,
            });
            self.gain += worth - cost;
            self.start = found.end;
        }
    }
}

/// For each range of run lengths, how often a run of that length was seen and how often it
/// continued.
struct RunPrices([(u32, u32); 32]);

/// Units of a price per bit.
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

    /// The cost of coding that a run of this length continues.
    fn price(&self, run: u8) -> u64 {
        let (seen, on) = self.0[Self::bucket(run)];
        log2(seen) - log2(on)
    }

    /// The bucket of a run length: single lengths to 15, then four buckets per doubling.
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

/// The base-2 logarithm of `number` in units of 1 / [`BIT`]. It is linear between the powers of 2,
/// so that it is the same on every machine.
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

    /// Words, with every tenth range of 3000 bytes repeated far behind.
    fn with_repeats(size: usize) -> Vec<u8> {
        let text = cases::text(size);
        let again = text
            .chunks(3000)
            .step_by(10)
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>();
        [text, again.concat()].concat()
    }

    #[test]
    fn matches_in_other_text_are_taken_out_and_come_back() {
        let text = with_repeats(400_000);
        assert!(!content_defined::is_repetitive(&text, &Threads::Calling).unwrap());
        let found = find(&text).unwrap().unwrap();
        let removed: usize = found.iter().map(|found| found.length).sum();
        assert!(
            (35_000..45_000).contains(&removed),
            "{removed} bytes in {} matches",
            found.len()
        );
        let mut literals = text.clone();
        let mut side = Vec::new();
        matches::encode(&mut literals, &found, &mut side);
        assert_eq!(literals.len(), text.len() - removed);
        assert!(matches::decode(&literals, &mut &side[..], text.len()).unwrap() == text);
    }

    #[test]
    fn repeats_that_cost_nothing_stay() {
        let line =
            |n| format!("2026-01-01 worker {n}: a line that is like all the others of its log\n");
        let log: String = cases::random(4000, 250)
            .into_iter()
            .map(line)
            .collect();
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
            assert!(
                (log2(number) as f64 - wanted).abs() < 0.09 * BIT as f64,
                "of {number}"
            );
        }
    }
}
