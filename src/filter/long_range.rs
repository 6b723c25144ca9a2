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
//! their hashes, stretch by stretch; what was at these hashes before, table slot by table slot; the
//! search itself, which needs no more than a look at most positions. What is found does not depend
//! on the threads.
//!
//! On trees of source, genomes and shared libraries 1 to 2 % of the coded size. 1 to 2 1/2 ns a
//! byte, a fifth of it in the last step; a byte of memory per byte at most.

use super::match_finder::{common, common_end};
use super::matches::CodedMatch;
use crate::allocation;
use crate::bwt::content_defined::{self, STRETCH, hash};
use crate::error::Flaw;
use crate::threads::{Threads, stretches};
use std::hint::black_box;
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that tell what comes next, and bytes that tell what they repeat.
const CONTEXT: usize = 8;
const KEY: usize = 24;
/// Positions are one in 2^5 places, and this far apart.
const RARE: u32 = 5;
const APART: usize = 8;
/// Positions that are looked up at once.
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

/// The parts that a text is searched in, since all positions at once take more memory.
const PARTS: usize = 4;
/// The threads that look up one kind of hash, each in its share of the slots.
const SHARES: usize = 16;

/// The matches in `text`, if there are enough that are worth taking out.
pub(super) fn find(text: &[u8], pool: &Threads) -> Result<Option<Vec<CodedMatch>>, Flaw> {
    let (mut search, mut seen) = (MatchSearch::new(text), LastSeen::new(text.len())?);
    let stretches: Vec<Range<usize>> = stretches(text.len(), STRETCH).collect();
    for part in stretches.chunks(stretches.len().div_ceil(PARTS).max(1)) {
        let log = seen.log;
        let positions = pool.map(part, |stretch| Positions::new(text, stretch.clone(), log));
        let positions = positions.into_iter().collect::<Result<Vec<_>, Flaw>>()?;
        seen.enter_all(&positions, pool);
        pool.install(|| positions.iter().for_each(|stretch| stretch.visit(&mut search)));
    }
    search.settle();
    Ok((search.gain * BYTES_A_BIT > text.len() as u64 * BIT).then_some(search.matches))
}

/// The kinds of hashes: of the context at a position, and of the key.
const KINDS: usize = 2;

/// The content-defined positions in a stretch.
struct Positions {
    start: usize,
    /// For each position the share of the slots that its context's hash has, and its key's.
    shares: Vec<[u8; KINDS]>,
    /// For each kind of hash the positions by their shares, and in each in their order: an
    /// [`Entry`], and once that is entered what was [`Before`] it.
    entries: [Vec<AtomicU64>; KINDS],
    /// Where the entries of each share end.
    ends: [[u32; SHARES]; KINDS],
}

impl Positions {
    /// Of twice as many positions as usual no more, so that the memory for them is bounded.
    fn new(text: &[u8], stretch: Range<usize>, log: u32) -> Result<Self, Flaw> {
        let (start, most) = (stretch.start, stretch.len() >> (RARE - 1));
        let mut places = allocation::with_capacity(most).ok_or(Flaw::NO_MEMORY)?;
        content_defined::for_each::<RARE>(text, stretch, APART, KEY, |at| {
            if places.len() < most {
                places.push((at - start) as u32);
            }
        });
        let mut shares = allocation::with_capacity(places.len()).ok_or(Flaw::NO_MEMORY)?;
        let mut found = allocation::with_capacity(places.len()).ok_or(Flaw::NO_MEMORY)?;
        let mut next = [[0; SHARES]; KINDS];
        for place in places {
            let at = start + place as usize;
            let before = if at > 0 { text[at - 1] } else { 0 };
            let hashes = [hash(&text[at..at + CONTEXT]), hash(&text[at..at + KEY])];
            let of = hashes.map(|hash| (hash >> (64 - SHARES.ilog2())) as u8);
            (0..KINDS).for_each(|kind| next[kind][usize::from(of[kind])] += 1);
            shares.push(of);
            found.push(hashes.map(|hash| Entry::new(hash, log, before, place).0));
        }
        let mut entries = [const { Vec::new() }; KINDS];
        for (kind, entries) in entries.iter_mut().enumerate() {
            *entries = allocation::zeroed(found.len()).ok_or(Flaw::NO_MEMORY)?;
            let mut count = 0;
            next[kind].iter_mut().for_each(|next| count += mem::replace(next, count));
            for (of, found) in shares.iter().zip(&found) {
                let next = &mut next[kind][usize::from(of[kind])];
                entries[*next as usize] = AtomicU64::new(found[kind]);
                *next += 1;
            }
        }
        Ok(Positions { start, shares, entries, ends: next })
    }

    /// The entries of a share.
    fn share(&self, kind: usize, share: usize) -> &[AtomicU64] {
        &self.entries[kind][self.starts(kind, share)..self.ends[kind][share] as usize]
    }

    fn starts(&self, kind: usize, share: usize) -> usize {
        share.checked_sub(1).map_or(0, |before| self.ends[kind][before] as usize)
    }

    /// Has the search look at all of them, in order.
    fn visit(&self, search: &mut MatchSearch) {
        let mut next = [0, 1].map(|kind| std::array::from_fn(|share| self.starts(kind, share)));
        for of in &self.shares {
            let mut seen = [0; KINDS];
            for kind in 0..KINDS {
                let next: &mut [usize; SHARES] = &mut next[kind];
                let next = &mut next[usize::from(of[kind])];
                seen[kind] = self.entries[kind][*next].load(Ordering::Relaxed);
                *next += 1;
            }
            search.visit(self.start + Before::place(seen[0]), seen.map(Before::unpack));
        }
    }
}

/// A position and its hash in 64 bits: from the lowest its place in the stretch, the byte before
/// it, the hash's print, and its slot in a share.
#[derive(Clone, Copy)]
struct Entry(u64);

/// Bits of a place in a stretch.
const PLACE_BITS: u32 = STRETCH.ilog2();
const PLACE: u64 = (1 << PLACE_BITS) - 1;

/// Bits of a slot in a share of the table of the largest text.
const _: () = assert!(PLACE_BITS + 8 + 16 + (32 - 6 - SHARES.ilog2()) <= 64);

impl Entry {
    fn new(hash: u64, log: u32, before: u8, place: u32) -> Self {
        let slot = hash << SHARES.ilog2() >> (64 - (log - SHARES.ilog2()));
        let print = hash as u16;
        Entry(
            ((slot << 16 | u64::from(print)) << 8 | u64::from(before)) << PLACE_BITS
                | u64::from(place),
        )
    }

    fn place(self) -> u64 {
        self.0 & PLACE
    }

    fn before(self) -> u8 {
        (self.0 >> PLACE_BITS) as u8
    }

    fn print(self) -> u16 {
        (self.0 >> (PLACE_BITS + 8)) as u16
    }

    fn slot(self) -> usize {
        (self.0 >> (PLACE_BITS + 24)) as usize
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
            self.matches.push(CodedMatch { literals, distance: found.distance, length });
            self.gain += worth - cost;
            self.start = found.end;
        }
    }
}

/// The slot of a position before it was entered.
struct Before {
    last: u32,
    run: u8,
    goes_on: bool,
}

impl Before {
    /// What was seen, if anything, above the position's place.
    fn pack(before: Option<Self>, place: u64) -> u64 {
        let seen = before.map_or(0, |Before { last, run, goes_on }| {
            u64::from(last) << 10 | u64::from(run) << 2 | u64::from(goes_on) << 1 | 1
        });
        seen << PLACE_BITS | place
    }

    fn unpack(packed: u64) -> Option<Self> {
        let seen = packed >> PLACE_BITS;
        let (last, run, goes_on) = ((seen >> 10) as u32, (seen >> 2) as u8, seen & 2 != 0);
        (seen & 1 != 0).then_some(Before { last, run, goes_on })
    }

    fn place(packed: u64) -> usize {
        (packed & PLACE) as usize
    }
}

/// The positions so far: the last of each hash of contexts, and of keys.
struct LastSeen {
    slots: [Vec<Slot>; KINDS],
    log: u32,
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
        let slots = || allocation::filled(Slot::default(), 1 << log).ok_or(Flaw::NO_MEMORY);
        Ok(LastSeen { slots: [slots()?, slots()?], log })
    }

    /// Enters positions in their order, and gives each what it finds there. A thread takes a share
    /// of the slots, and the positions that have them, so that the slots stay in its cache.
    fn enter_all(&mut self, positions: &[Positions], pool: &Threads) {
        let size = self.slots[0].len() / SHARES;
        let shares = self.slots.iter_mut().enumerate().flat_map(|(kind, slots)| {
            slots.chunks_mut(size).enumerate().map(move |(n, slots)| (kind, n, slots))
        });
        pool.each(shares, |(kind, n, slots)| {
            for stretch in positions {
                enter(slots, stretch.start as u32, stretch.share(kind, n));
            }
        });
    }
}

/// Enters the positions of a stretch from `start` that have these slots.
fn enter(slots: &mut [Slot], start: u32, entries: &[AtomicU64]) {
    let load = |entry: &AtomicU64| Entry(entry.load(Ordering::Relaxed));
    for batch in entries.chunks(BATCH) {
        // Waits for memory once, not at each of them.
        black_box(batch.iter().fold(0, |all, entry| all ^ slots[load(entry).slot()].print));
        for packed in batch {
            let entry = load(packed);
            let before = slots[entry.slot()].enter(entry, start);
            packed.store(Before::pack(before, entry.place()), Ordering::Relaxed);
        }
    }
}

impl Slot {
    fn enter(&mut self, entry: Entry, start: u32) -> Option<Before> {
        let (print, before) = (entry.print(), entry.before());
        let known = (self.print == print && self.last > 0).then_some(Before {
            last: self.last,
            run: self.run,
            goes_on: self.before == before,
        });
        let run = match &known {
            Some(known) if known.goes_on => known.run.saturating_add(1),
            // A context is not a new one for one exception.
            Some(known) => known.run / 4,
            None => 0,
        };
        *self = Slot { last: start + entry.place() as u32, print, run, before };
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
        assert!(!content_defined::is_repetitive(&text, &Threads::Calling).unwrap());
        let found = find(&text, &Threads::Calling).unwrap().unwrap();
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
        assert!(find(log.as_bytes(), &Threads::Calling).unwrap().is_none());
        assert!(find(&vec![0; 200_000], &Threads::Calling).unwrap().is_none());
        for (name, text) in cases::shapes(300_000) {
            if ["text", "random", "DNA", "random bits"].contains(&name.as_str()) {
                assert!(find(&text, &Threads::Calling).unwrap().is_none(), "{name}");
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
