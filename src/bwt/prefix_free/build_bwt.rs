//! Construction of the BWT from the sorted dictionary and the sorted parse.

use super::super::sort_limits::no_memory;
use super::super::{Bwt, wide};
use super::dictionary::{Dictionary, Suffix};
use super::parse::{SampledSuffix, SortedParse};
use crate::base::allocation;
use crate::base::error::Error;
use rayon::prelude::*;
use std::ops::Range;

/// Suffixes of the dictionary per task.
const TASK: usize = if cfg!(any(test, fuzzing)) {
    50
} else {
    1 << 15
};

/// Number of suffixes that are looked up together, so that there is one wait for memory.
const BATCH: usize = 256;

/// Number of ranks that are merged at a time, which bounds the memory for lists of any length.
const SLICE: usize = if cfg!(any(test, fuzzing)) {
    20
} else {
    1 << 16
};

/// Builds the BWT. `samples` are sorted by their positions in the dictionary.
pub(super) fn build(
    block: &[u8],
    sample_rate: u32,
    dictionary: &Dictionary,
    suffixes: &[i32],
    parse: &SortedParse,
    samples: &[SampledSuffix],
) -> Result<Bwt, Error> {
    let builder = BwtBuilder {
        dictionary,
        suffixes,
        parse,
        samples,
    };
    let mut rows = allocation::zeroed::<u8>(block.len() + 1).ok_or_else(no_memory)?;
    rows[0] = block[block.len() - 1];
    let tasks = builder.tasks();

    let sizes: Vec<usize> = tasks
        .par_iter()
        .map(|task| builder.count(task.clone()))
        .collect();

    let mut rest = &mut rows[1..];
    let mut row = 1;
    let mut jobs = Vec::with_capacity(tasks.len());
    for (task, size) in tasks.into_iter().zip(sizes) {
        jobs.push((
            task,
            row,
            rest.split_off_mut(..size)
                .expect("one row for each suffix"),
        ));
        row += size;
    }
    let found: Vec<(usize, u32)> = jobs
        .into_par_iter()
        .flat_map_iter(|(task, row, out)| builder.task(task, row, out))
        .collect();

    let mut sampled = vec![0; samples.len()];
    found
        .into_iter()
        .for_each(|(number, row)| sampled[number] = row);
    // The row of pos 0 has no byte.
    rows.remove(sampled[0] as usize);
    Ok(Bwt {
        bytes: rows,
        sample_rate,
        samples: wide(sampled),
    })
}

/// One of some equal suffixes of phrases.
struct Member {
    suffix: Suffix,
    /// The ranks of its phrase in the sorted parse.
    list: Range<usize>,
    /// The byte before it, if that is in the phrase.
    byte: Option<u8>,
}

struct BwtBuilder<'a> {
    dictionary: &'a Dictionary,
    suffixes: &'a [i32],
    parse: &'a SortedParse,
    samples: &'a [SampledSuffix],
}

impl BwtBuilder<'_> {
    /// Cuts the sorted suffixes at places between different ones. Equal ones that span many tasks
    /// are scanned once.
    fn tasks(&self) -> Vec<Range<usize>> {
        let mut starts = vec![0];
        let mut reached = 0;
        for start in (TASK..self.suffixes.len()).step_by(TASK) {
            if start > reached {
                reached = self.next_different(start);
                starts.push(reached);
            }
        }
        starts.push(self.suffixes.len());
        starts
            .windows(2)
            .map(|pair| pair[0]..pair[1])
            .collect()
    }

    /// The index of the first suffix from `start` on that differs from the last one before.
    fn next_different(&self, start: usize) -> usize {
        let suffix = |&at: &i32| self.dictionary.suffix(at as u32);
        let Some(last) = self.suffixes[..start]
            .iter()
            .rev()
            .find_map(suffix)
        else {
            return 0;
        };
        let differs = |at| suffix(at).is_some_and(|next| !self.dictionary.are_equal(last, next));
        let rest = &self.suffixes[start..];
        start
            + rest
                .iter()
                .position(differs)
                .unwrap_or(rest.len())
    }

    fn all(&self, suffixes: &[i32]) -> impl Iterator<Item = Suffix> {
        suffixes
            .iter()
            .filter_map(|&at| self.dictionary.suffix(at as u32))
    }

    /// Number of suffixes of the block that begin with those of a task.
    fn count(&self, task: Range<usize>) -> usize {
        self.all(&self.suffixes[task])
            .map(|suffix| self.parse.list(suffix.name).len())
            .sum()
    }

    /// Writes the bytes before the suffixes of the block. Returns the numbers and rows of samples.
    fn task(&self, task: Range<usize>, mut row: usize, mut out: &mut [u8]) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        let mut merged = Vec::new();
        let mut group: Vec<Member> = Vec::new();
        let mut finish = |group: &mut Vec<Member>| {
            found.extend(self.sampled(group, row));
            let len = group.iter().map(|member| member.list.len()).sum();
            if let Some(place) = out.split_off_mut(..len) {
                self.group(group, place, &mut merged);
            }
            row += len;
            group.clear();
        };
        let mut batch: Vec<Member> = Vec::with_capacity(BATCH);
        for suffixes in self.suffixes[task].chunks(BATCH) {
            batch.clear();
            batch.extend(
                self.all(suffixes)
                    .map(|suffix| self.member(suffix)),
            );
            for member in batch.drain(..) {
                if let Some(last) = group.last()
                    && !self
                        .dictionary
                        .are_equal(last.suffix, member.suffix)
                {
                    finish(&mut group);
                }
                group.push(member);
            }
        }
        finish(&mut group);
        found
    }

    #[inline(always)]
    fn member(&self, suffix: Suffix) -> Member {
        let byte = (!suffix.whole).then(|| self.dictionary.before(suffix));
        Member {
            suffix,
            list: self.parse.list(suffix.name),
            byte,
        }
    }

    /// Writes the bytes before the suffixes of the block that begin with equal suffixes of phrases.
    fn group(&self, group: &[Member], place: &mut [u8], merged: &mut Vec<u64>) {
        let [first, others @ ..] = group else { return };
        if first.suffix.whole && others.is_empty() {
            return place.copy_from_slice(&self.parse.before[first.list.clone()]);
        }
        if let Some(byte) = first.byte
            && others
                .iter()
                .all(|other| other.byte == Some(byte))
        {
            return place.fill(byte);
        }
        if place.len() <= SLICE {
            return self.merge(group, place, merged);
        }
        // Many short lists are merged in larger slices: searching all lists for each slice must not
        // take longer than merging them.
        let all = self.parse.follower.len();
        let slice = SLICE.max(all * group.len() / place.len());
        let mut rest = place;
        for start in (0..all).step_by(slice) {
            let ranks = start as u32..(start + slice) as u32;
            let parts = group.iter().map(|member| Member {
                list: self.within(member, &ranks),
                ..*member
            });
            let parts: Vec<Member> = parts
                .filter(|member| !member.list.is_empty())
                .collect();
            let len = parts.iter().map(|member| member.list.len()).sum();
            let Some(place) = rest.split_off_mut(..len) else {
                break;
            };
            self.merge(&parts, place, merged);
        }
    }

    /// The part of a list whose followers have these ranks.
    fn within(&self, member: &Member, ranks: &Range<u32>) -> Range<usize> {
        let followers = &self.parse.follower[member.list.clone()];
        let before = |rank| member.list.start + followers.partition_point(|&f| f < rank);
        before(ranks.start)..before(ranks.end)
    }

    /// Writes the bytes before some equal suffixes, in the order of the phrases that follow.
    fn merge(&self, group: &[Member], place: &mut [u8], merged: &mut Vec<u64>) {
        merged.clear();
        for Member { list, byte, .. } in group {
            let befores = &self.parse.before[list.clone()];
            let followers = self.parse.follower[list.clone()]
                .iter()
                .zip(befores);
            let entry = |(&f, &b): (&u32, &u8)| u64::from(f) << 8 | u64::from(byte.unwrap_or(b));
            merged.extend(followers.map(entry));
        }
        // Each list is sorted, which this sort exploits.
        merged.sort();
        place
            .iter_mut()
            .zip(merged)
            .for_each(|(place, entry)| *place = *entry as u8);
    }

    /// The numbers and rows of the samples in `group`, whose first row is `row`.
    fn sampled(&self, group: &[Member], row: usize) -> Vec<(usize, u32)> {
        let mut samples: Vec<&SampledSuffix> = Vec::new();
        for member in group
            .iter()
            .filter(|member| self.parse.is_sampled(member.suffix.name))
        {
            let at = member.suffix.at;
            let first = self
                .samples
                .partition_point(|sample| sample.at < at);
            samples.extend(
                self.samples[first..]
                    .iter()
                    .take_while(|sample| sample.at == at),
            );
        }
        if samples.is_empty() {
            return Vec::new();
        }
        samples.sort_unstable_by_key(|sample| sample.follower);
        // For each sample, the number of the group's suffixes between the sample before and it.
        let mut between = vec![0; samples.len()];
        for member in group {
            let followers = &self.parse.follower[member.list.clone()];
            if samples.len() < followers.len() {
                let mut ahead = 0;
                for (between, sample) in between.iter_mut().zip(&samples) {
                    let smaller = followers.partition_point(|&f| f < sample.follower);
                    *between += smaller - ahead;
                    ahead = smaller;
                }
            } else {
                for &f in followers {
                    let larger = samples.partition_point(|sample| sample.follower <= f);
                    between
                        .get_mut(larger)
                        .into_iter()
                        .for_each(|between| *between += 1);
                }
            }
        }
        let rows = between.iter().scan(row, |row, between| {
            *row += between;
            Some(*row as u32)
        });
        samples
            .iter()
            .map(|sample| sample.number)
            .zip(rows)
            .collect()
    }
}
