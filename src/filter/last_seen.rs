//! The last occurrence of the context and of the key at each content-defined position of a text,
//! for [`super::long_range`].
//!
//! A thread hashes the positions of a stretch and sorts them by shares of the slots of two tables.
//! Then a thread enters the positions of one share, stretch after stretch: it looks at no other
//! positions, and its slots stay in its cache. The earlier contents of the slot replace the entry.
//! This takes 18 bytes of memory per position, and 1/4 to 1/2 byte per byte of the text for the
//! tables.

use crate::base::allocation;
use crate::base::cache_lines;
use crate::base::content_defined::{CommonPositions, STRETCH, hash};
use crate::base::error::Flaw;
use crate::base::threads::Threads;
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a context, which predicts the byte before it.
const CONTEXT: usize = 8;
/// Bytes of a key, by which repeats are found.
pub(super) const KEY: usize = 24;
/// One byte in `EVERY` is a position on average.
const EVERY: usize = 32;
/// Minimum distance between positions in bytes.
const APART: usize = 8;
/// Number of positions that are looked up together.
const BATCH: usize = 32;
/// Number of shares of the slots; each is filled by one thread.
const SHARES: usize = 16;

/// Number of kinds of hashes: of the context at a position (0), and of the key (1).
pub(super) const KINDS: usize = 2;

/// The content-defined positions in a stretch.
pub(super) struct Positions {
    start: usize,
    /// For each position the shares of the slots that the hashes of its context and its key belong
    /// to.
    shares: Vec<[u8; KINDS]>,
    /// For each kind of hash the positions by their shares, and in each share in their order: an
    /// [`Entry`], and after it is entered the [`Before`] of its slot.
    entries: [Vec<AtomicU64>; KINDS],
    /// The end of the entries of each share.
    ends: [[u32; SHARES]; KINDS],
}

impl Positions {
    /// The positions of `stretch`. At most twice as many as usual are kept, so that their memory is
    /// bounded.
    pub(super) fn new(
        text: &[u8],
        positions: &CommonPositions,
        stretch: Range<usize>,
        log: u32,
    ) -> Result<Self, Flaw> {
        let start = stretch.start;
        let most = stretch.len() / (EVERY / 2);
        let mut places = allocation::with_capacity(most).ok_or(Flaw::NO_MEMORY)?;
        positions.for_each(text, stretch, APART, |at| {
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
            next[kind]
                .iter_mut()
                .for_each(|next| count += mem::replace(next, count));
            for (of, found) in shares.iter().zip(&found) {
                let next = &mut next[kind][usize::from(of[kind])];
                entries[*next as usize] = AtomicU64::new(found[kind]);
                *next += 1;
            }
        }
        Ok(Positions {
            start,
            shares,
            entries,
            ends: next,
        })
    }

    /// The entries of a share.
    fn share(&self, kind: usize, share: usize) -> &[AtomicU64] {
        &self.entries[kind][self.starts(kind, share)..self.ends[kind][share] as usize]
    }

    fn starts(&self, kind: usize, share: usize) -> usize {
        share
            .checked_sub(1)
            .map_or(0, |before| self.ends[kind][before] as usize)
    }

    /// Calls `visit` with each position in order, and with the earlier state of its context and of
    /// its key.
    pub(super) fn each(&self, text: &[u8], mut visit: impl FnMut(usize, [Option<Before>; KINDS])) {
        let starts = |kind| std::array::from_fn(|share| self.starts(kind, share));
        let mut next: [[usize; SHARES]; KINDS] = std::array::from_fn(starts);
        let mut batch = [[0; KINDS]; BATCH];
        for shares in self.shares.chunks(BATCH) {
            for (of, seen) in shares.iter().zip(&mut batch) {
                *seen = std::array::from_fn(|kind| {
                    let next = &mut next[kind][usize::from(of[kind])];
                    *next += 1;
                    self.entries[kind][*next - 1].load(Ordering::Relaxed)
                });
                if let Some(key) = Before::unpack(seen[1]) {
                    cache_lines::prefetch(text, key.last as usize);
                }
            }
            for seen in &batch[..shares.len()] {
                visit(
                    self.start + Before::place(seen[0]),
                    seen.map(Before::unpack),
                );
            }
        }
    }
}

/// A position and its hash in 64 bits: from the lowest bit its offset in the stretch, the byte
/// before it, the hash's print, and its slot in a share.
#[derive(Clone, Copy)]
struct Entry(u64);

/// Bits of an offset in a stretch.
const PLACE_BITS: u32 = STRETCH.ilog2();
const PLACE: u64 = (1 << PLACE_BITS) - 1;

/// The slot in a share fits, even in the table of the largest text.
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

/// The state of a slot before a position was entered.
pub(super) struct Before {
    pub last: u32,
    /// How often in succession the byte before was the same.
    pub run: u8,
    /// True if it is the same again.
    pub goes_on: bool,
}

impl Before {
    /// Packs the earlier state, if there is one, above the position's offset.
    fn pack(before: Option<Self>, place: u64) -> u64 {
        let seen = before.map_or(0, |Before { last, run, goes_on }| {
            u64::from(last) << 10 | u64::from(run) << 2 | u64::from(goes_on) << 1 | 1
        });
        seen << PLACE_BITS | place
    }

    fn unpack(packed: u64) -> Option<Self> {
        let seen = packed >> PLACE_BITS;
        let last = (seen >> 10) as u32;
        let run = (seen >> 2) as u8;
        let goes_on = seen & 2 != 0;
        (seen & 1 != 0).then_some(Before { last, run, goes_on })
    }

    fn place(packed: u64) -> usize {
        (packed & PLACE) as usize
    }
}

/// The tables: for each hash of contexts, and of keys, the last position with it.
pub(super) struct LastSeen {
    slots: [Vec<Slot>; KINDS],
    /// Base-2 logarithm of the number of slots.
    pub log: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// 0 if the slot is empty.
    last: u32,
    print: u16,
    run: u8,
    before: u8,
}

impl LastSeen {
    pub(super) fn new(size: usize) -> Result<Self, Flaw> {
        let log = (size / 64).next_power_of_two().ilog2().max(6);
        let slots = || allocation::filled(Slot::default(), 1 << log).ok_or(Flaw::NO_MEMORY);
        Ok(LastSeen {
            slots: [slots()?, slots()?],
            log,
        })
    }

    /// Enters positions in their order, and stores with each the earlier state of its slot. A
    /// thread takes one share of the slots and the positions that belong to it, so that the slots
    /// stay in its cache.
    pub(super) fn enter_all(&mut self, positions: &[Positions], pool: &Threads) {
        let size = self.slots[0].len() / SHARES;
        let shares = self
            .slots
            .iter_mut()
            .enumerate()
            .flat_map(|(kind, slots)| {
                slots
                    .chunks_mut(size)
                    .enumerate()
                    .map(move |(n, slots)| (kind, n, slots))
            });
        pool.each(shares, |(kind, n, slots)| {
            for stretch in positions {
                enter(slots, stretch.start as u32, stretch.share(kind, n));
            }
        });
    }
}

/// Enters the positions of the stretch that starts at `start` into the slots of one share.
fn enter(slots: &mut [Slot], start: u32, entries: &[AtomicU64]) {
    let load = |entry: &AtomicU64| Entry(entry.load(Ordering::Relaxed));
    let mut ahead = entries.chunks(BATCH);
    let mut prefetch_next = |slots: &[Slot]| {
        let next = ahead.next().unwrap_or_default();
        next.iter()
            .for_each(|entry| cache_lines::prefetch(slots, load(entry).slot()));
    };
    prefetch_next(slots);
    for batch in entries.chunks(BATCH) {
        prefetch_next(slots);
        for packed in batch {
            let entry = load(packed);
            let before = slots[entry.slot()].enter(entry, start);
            packed.store(Before::pack(before, entry.place()), Ordering::Relaxed);
        }
    }
}

impl Slot {
    fn enter(&mut self, entry: Entry, start: u32) -> Option<Before> {
        let print = entry.print();
        let before = entry.before();
        let known = (self.print == print && self.last > 0).then_some(Before {
            last: self.last,
            run: self.run,
            goes_on: self.before == before,
        });
        let run = match &known {
            Some(known) if known.goes_on => known.run.saturating_add(1),
            // One exception does not make a context a new one.
            Some(known) => known.run / 4,
            None => 0,
        };
        *self = Slot {
            last: start + entry.place() as u32,
            print,
            run,
            before,
        };
        known
    }
}
