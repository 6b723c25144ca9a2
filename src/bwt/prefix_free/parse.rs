//! The parse of a block, a text of the ranks of its phrases in the dictionary, and its suffixes.

use super::super::sort_limits::no_memory;
use super::dictionary::Dictionary;
use super::phrases::Phrases;
use crate::base::allocation;
use crate::base::error::Error;
use libsais::SuffixArrayConstruction;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Phrases per task.
const TASK: usize = if cfg!(any(test, fuzzing)) {
    100
} else {
    1 << 16
};

/// Flag of a name whose phrases contain samples. Blocks are too short to have as many phrases.
const SAMPLED: u32 = 1 << 31;

/// The suffix array of the names.
pub(super) fn suffixes(names: &mut [i32]) -> Result<Vec<i32>, Error> {
    let mut suffixes = allocation::zeroed(names.len()).ok_or_else(no_memory)?;
    SuffixArrayConstruction::for_text_mut(names)
        .in_borrowed_buffer(&mut suffixes[..])
        .single_threaded()
        .run()
        .map_err(|_| no_memory())?;
    Ok(suffixes)
}

/// All phrases of a block in the order of the suffixes of the block that start with them.
pub(super) struct SortedParse {
    /// The rank of the phrase behind each; 0 for the last phrase, which differs from all others.
    pub follower: Vec<u32>,
    /// The byte before each; 0 for the first phrase of the block.
    pub before: Vec<u8>,
    /// By name, the start of the phrases of that name, and [`SAMPLED`].
    lists: Vec<AtomicU32>,
    /// The rank of each phrase, in the order of the block.
    ranks: Vec<AtomicU32>,
}

/// A suffix of the block whose row is to be sampled.
pub(super) struct SampledSuffix {
    /// The suffix of its phrase in the dictionary.
    pub at: u32,
    /// The rank of the next phrase.
    pub follower: u32,
    pub number: usize,
}

impl SortedParse {
    pub(super) fn new(
        dictionary: &Dictionary,
        names: &[i32],
        suffixes: Vec<i32>,
    ) -> Result<Self, Error> {
        let len = names.len();
        let mut parse = SortedParse {
            follower: allocation::zeroed(len).ok_or_else(no_memory)?,
            before: allocation::zeroed(len).ok_or_else(no_memory)?,
            lists: allocation::zeroed(dictionary.len() + 1).ok_or_else(no_memory)?,
            ranks: allocation::zeroed(len + 1).ok_or_else(no_memory)?,
        };
        let last_bytes: Vec<u8> = (0..dictionary.len() as u32)
            .map(|name| dictionary.last_byte(name))
            .collect();
        let ranks = &parse.ranks;
        let lists = &parse.lists;
        // Each rank and each start of a list is stored once.
        suffixes
            .par_iter()
            .enumerate()
            .with_min_len(TASK)
            .for_each(|(rank, &phrase)| {
                ranks[phrase as usize].store(rank as u32, Ordering::Relaxed);
            });
        lists[dictionary.len()].store(len as u32, Ordering::Relaxed);
        let tasks = parse
            .follower
            .par_chunks_mut(TASK)
            .zip(parse.before.par_chunks_mut(TASK));
        tasks
            .enumerate()
            .for_each(|(task, (followers, befores))| {
                let start = task * TASK;
                let mut last = start
                    .checked_sub(1)
                    .map(|rank| names[suffixes[rank] as usize]);
                let places = followers.iter_mut().zip(befores);
                for (rank, (follower, before)) in (start..).zip(places) {
                    let phrase = suffixes[rank] as usize;
                    *follower = ranks[phrase + 1].load(Ordering::Relaxed);
                    if phrase > 0 {
                        *before = last_bytes[names[phrase - 1] as usize];
                    }
                    let name = names[phrase];
                    if last != Some(name) {
                        lists[name as usize].store(rank as u32, Ordering::Relaxed);
                        last = Some(name);
                    }
                }
            });
        Ok(parse)
    }

    /// The ranks of the phrases of one name.
    #[inline(always)]
    pub(super) fn list(&self, name: u32) -> Range<usize> {
        let start = |name: u32| self.lists[name as usize].load(Ordering::Relaxed) & !SAMPLED;
        start(name) as usize..start(name + 1) as usize
    }

    /// Returns true if phrases of this name contain samples.
    #[inline(always)]
    pub(super) fn is_sampled(&self, name: u32) -> bool {
        self.lists[name as usize].load(Ordering::Relaxed) & SAMPLED != 0
    }

    /// Marks the names whose phrases contain samples. Returns the sampled suffixes, sorted by their
    /// positions in the dictionary.
    pub(super) fn samples(
        &self,
        phrases: &Phrases,
        dictionary: &Dictionary,
        names: &[i32],
        sample_rate: u32,
    ) -> Vec<SampledSuffix> {
        let sampled = (0..phrases.bytes_in_block())
            .step_by(sample_rate as usize)
            .enumerate();
        let mut samples: Vec<SampledSuffix> = sampled
            .map(|(number, pos)| {
                let (phrase, offset) = phrases.find(pos);
                let name = names[phrase].cast_unsigned();
                self.lists[name as usize].fetch_or(SAMPLED, Ordering::Relaxed);
                let at = dictionary.start(name) + offset as u32;
                SampledSuffix {
                    at,
                    follower: self.ranks[phrase + 1].load(Ordering::Relaxed),
                    number,
                }
            })
            .collect();
        samples.sort_unstable_by_key(|sample| sample.at);
        samples
    }
}
