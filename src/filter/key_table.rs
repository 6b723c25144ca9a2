//! A table of the positions of each key of a text, for [`super::match_finder`].
//!
//! The positions are sorted by the hashes of their keys, on all threads: first each stretch of the
//! text by ranges of hashes, then each range. Two smaller tables tell for most keys that they do
//! not occur before, without a look at the positions of their hash. The table takes 4 3/4 bytes of
//! memory per byte of the text while it is made, and 2 3/4 after.

use crate::base::allocation::{self, Zero, zeroed};
use crate::base::cache_lines;
use crate::base::content_defined::hash;
use crate::base::error::Flaw;
use crate::base::tasks::Task;
use crate::base::threads::{Threads, stretches};
use std::hint::black_box;
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes of a key.
pub(super) const KEY: usize = 24;
/// Distance between the positions in the table, in bytes.
pub(super) const STEP: usize = 4;
/// The positions of the keys at every [`STEP`]th byte, sorted by the keys' hashes.
pub(super) struct KeyTable {
    /// The positions, ascending for each hash.
    places: Vec<u32>,
    /// Index of the first position of each hash, and at the end the number of positions.
    starts: Vec<u32>,
    /// For each hash, the union of the prints of its keys.
    prints: Vec<u16>,
    /// For each key in the table, in the order of the text: 1 if earlier ones have its slot and the
    /// bits of its print.
    met: Vec<AtomicU8>,
    shift: u32,
}

/// Maximum number of positions that are looked up together.
pub(super) const MOST_LOOKED_UP: usize = 64;

/// Bits of a hash that make a print, which has up to two of 16 bits set.
const PRINT_BITS: u32 = 8;

/// Bytes of the text whose keys one task hashes.
const TASK: usize = 256 << 10;
/// Number of ranges of hashes, each of which is sorted by one task.
const RANGES: usize = 64;

impl KeyTable {
    pub(super) fn new(text: &[u8], pool: &Threads) -> Result<Self, Flaw> {
        let log = (text.len() / STEP).max(1).ilog2().clamp(10, 24);
        let shift = 64 - log;
        let slots = 1 << log;
        let hashed = pool.map(stretches(text.len(), TASK), |task| {
            Hashed::new(text, task, shift)
        });
        let hashed: Vec<Hashed> = hashed.into_iter().collect::<Result<_, Flaw>>()?;
        let count = hashed
            .iter()
            .map(|hashed| hashed.keys.len())
            .sum();
        let mut places = zeroed(count).ok_or(Flaw::NO_MEMORY)?;
        let mut starts = zeroed(slots + 1).ok_or(Flaw::NO_MEMORY)?;
        let mut prints = zeroed(slots).ok_or(Flaw::NO_MEMORY)?;
        let mut met = zeroed(count).ok_or(Flaw::NO_MEMORY)?;
        let mut touches: Vec<Task> = touching(&mut places).collect();
        touches.extend(touching(&mut starts));
        touches.extend(touching(&mut prints));
        touches.extend(touching(&mut met));
        pool.executor().execute(touches);
        starts[slots] = count as u32;
        let mut first = 0;
        let mut rest = &mut places[..];
        let mut ranges = Vec::new();
        let of_slots = starts[..slots].chunks_mut(slots / RANGES);
        for (n, of_slots) in of_slots
            .zip(prints.chunks_mut(slots / RANGES))
            .enumerate()
        {
            let count = hashed
                .iter()
                .map(|hashed| hashed.range(n).len())
                .sum();
            let (places, behind) = rest.split_at_mut(count);
            ranges.push((n, first as u32, of_slots, places));
            (first, rest) = (first + count, behind);
        }
        pool.each(ranges, |(n, first, of_slots, places)| {
            let (starts, prints) = of_slots;
            sort(&hashed, n, first, starts, prints, places, &met);
        });
        Ok(KeyTable {
            places,
            starts,
            prints,
            met,
            shift,
        })
    }

    /// Looks up the keys of `text` at `positions`, as far as there are keys. Puts into `ranges`,
    /// for each, the range of the positions with its hash; empty if no key before has it or if
    /// `skip` returns true.
    ///
    /// There are three steps. The first two have no branch that depends on the text: otherwise each
    /// wrong prediction of the processor would make it wait for the prints that it has requested.
    pub(super) fn look_up(
        &self,
        text: &[u8],
        positions: Range<usize>,
        skip: impl Fn(usize) -> bool,
        ranges: &mut Vec<Range<u32>>,
    ) {
        let start = positions.start;
        let count = positions
            .len()
            .min((text.len() + 1).saturating_sub(start + KEY));
        ranges.clear();
        ranges.resize(count, 0..0);
        let mut asked = [(0, 0, 0); MOST_LOOKED_UP];
        let mut count_asked = 0;
        for (n, key) in text[start..].windows(KEY).take(count).enumerate() {
            if skip(start + n) {
                continue;
            }
            let (slot, print) = slot_and_print((hash(key) >> (self.shift - PRINT_BITS)) as u32);
            asked[count_asked] = (n, slot, print);
            let met = &self.met[(start + n) / STEP];
            let can_be = !(start + n).is_multiple_of(STEP) || met.load(Ordering::Relaxed) != 0;
            cache_lines::prefetch(&self.prints, slot);
            count_asked += usize::from(can_be);
        }
        let mut touched = 0;
        let mut count_found = 0;
        for n in 0..count_asked {
            let (_, slot, print) = asked[n];
            asked[count_found] = asked[n];
            count_found += usize::from(self.prints[slot] & print == print);
        }
        for &(n, slot, _) in &asked[..count_found] {
            ranges[n] = self.starts[slot]..self.starts[slot + 1];
            touched ^= self
                .places
                .get(self.starts[slot] as usize)
                .copied()
                .unwrap_or(0);
        }
        black_box(touched);
    }

    /// The positions of a range that are before `at`, the last one first.
    pub(super) fn before(&self, range: Range<u32>, at: usize) -> impl Iterator<Item = usize> {
        let places = &self.places[range.start as usize..range.end as usize];
        let before = places.partition_point(|&place| (place as usize) < at);
        places[..before]
            .iter()
            .rev()
            .map(|&place| place as usize)
    }
}

/// Tasks that touch the pages of fresh zeros for the first time, one task per huge page. Threads
/// that touch the same page at the same time wait for each other's locks, which cost 64 threads on
/// a virtual machine a sixth of their time.
fn touching<T: Zero + Send>(zeros: &mut [T]) -> impl Iterator<Item = Task<'_>> {
    allocation::parts(zeros).map(|part| Box::new(|| allocation::touch_zeros(part)) as Task)
}

/// The slot and the print of a key, by the bits of its hash.
fn slot_and_print(bits: u32) -> (usize, u16) {
    (
        (bits >> PRINT_BITS) as usize,
        1 << (bits & 15) | 1 << (bits >> 4 & 15),
    )
}

/// The hashes and positions of the keys of a stretch, by ranges of their slots. A hash is above its
/// position.
struct Hashed {
    keys: Vec<u64>,
    ends: [usize; RANGES],
}

impl Hashed {
    fn new(text: &[u8], stretch: Range<usize>, shift: u32) -> Result<Self, Flaw> {
        let per_range = 64 - RANGES.ilog2();
        let places = stretch
            .clone()
            .step_by(STEP)
            .take_while(|place| place + KEY <= text.len());
        let mut hashes =
            allocation::with_capacity(stretch.len() / STEP + 1).ok_or(Flaw::NO_MEMORY)?;
        hashes.extend(
            places
                .clone()
                .map(|place| hash(&text[place..place + KEY])),
        );
        let mut next = [0; RANGES];
        hashes
            .iter()
            .for_each(|hash: &u64| next[(hash >> per_range) as usize] += 1);
        let mut count = 0;
        next.iter_mut()
            .for_each(|next| count += mem::replace(next, count));
        let mut keys = zeroed(count).ok_or(Flaw::NO_MEMORY)?;
        for (hash, place) in hashes.into_iter().zip(places) {
            let next = &mut next[(hash >> per_range) as usize];
            keys[*next] = hash >> (shift - PRINT_BITS) << 32 | place as u64;
            *next += 1;
        }
        Ok(Hashed { keys, ends: next })
    }

    /// The bits of the hashes and the positions in range `n`.
    fn range(&self, n: usize) -> impl ExactSizeIterator<Item = (u32, u32)> {
        let start = if n > 0 { self.ends[n - 1] } else { 0 };
        self.keys[start..self.ends[n]]
            .iter()
            .map(|key| ((key >> 32) as u32, *key as u32))
    }
}

/// Sorts the positions of range `n` of the slots, of which the first is at `first` in the table.
fn sort(
    hashed: &[Hashed],
    n: usize,
    first: u32,
    starts: &mut [u32],
    prints: &mut [u16],
    places: &mut [u32],
    met: &[AtomicU8],
) {
    let base = n * starts.len();
    let keys = || hashed.iter().flat_map(|hashed| hashed.range(n));
    keys().for_each(|(bits, _)| starts[slot_and_print(bits).0 - base] += 1);
    let mut count = 0;
    starts
        .iter_mut()
        .for_each(|start| count += mem::replace(start, count));
    for (bits, place) in keys() {
        let (slot, print) = slot_and_print(bits);
        let next = &mut starts[slot - base];
        let prints = &mut prints[slot - base];
        places[*next as usize] = place;
        *next += 1;
        if *prints & print == print {
            met[place as usize / STEP].store(1, Ordering::Relaxed);
        }
        *prints |= print;
    }
    // Each start is now that of the next slot.
    starts.rotate_right(1);
    starts[0] = 0;
    starts
        .iter_mut()
        .for_each(|start| *start += first);
}
