//! Reads with their hits, and the choice of hits that belong together for the two reads of a pair.

use crate::cli::search::pattern_batch::{Mate, NamedPattern, is_rna, reverse_complement};

/// A hit of a read: the record, the base from 0, and the strand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub record: usize,
    pub base: u64,
    pub reverse: bool,
    /// The bases of the record there, if they may differ from the read's.
    pub reference: Option<Vec<u8>>,
}

/// A read and its hits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    pub name: Vec<u8>,
    pub strands: [Vec<u8>; 2],
    pub qualities: Vec<u8>,
    pub mate: Mate,
    /// The hits that are shown.
    pub hits: Vec<Hit>,
    /// Number of all hits.
    pub count: u64,
}

impl Read {
    /// Creates a read without hits.
    pub(crate) fn of(pattern: &NamedPattern) -> Self {
        Read {
            name: pattern.name.to_vec(),
            qualities: pattern.qualities.unwrap_or_default().to_vec(),
            mate: pattern.mate,
            ..Read::default()
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.strands[0].len() as u64
    }

    /// True if the read equals its reverse complement, so that it was searched on one strand alone.
    pub(crate) fn is_own_reverse(&self) -> bool {
        self.strands[1].is_empty() && self.len() > 0
    }

    /// Moves a hit to the front. If the read equals its reverse complement, the hit's strand is set
    /// to the one that is wanted.
    pub(crate) fn take_first(&mut self, hit: usize, reverse: bool) {
        self.hits[..=hit].rotate_right(1);
        if reverse && self.is_own_reverse() {
            let mut bases = self.strands[0].clone();
            reverse_complement(&mut bases, is_rna(&self.strands[0]));
            self.strands[1] = bases;
            self.hits[0].reverse = true;
        }
    }
}

/// A hit of each read of a pair. The two hits face each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProperPair {
    /// The number of the hit in each read.
    pub hits: [usize; 2],
    /// The read, 0 or 1, that is on the reverse strand.
    pub reverse: usize,
}

/// Returns the closest proper pair of hits. Both hits are in one record, on opposite strands that
/// face each other, with at most `longest` bases from the first base of both to the last. A read
/// that is its own reverse complement is on both strands. Of equally close pairs, the one with the
/// first hit of the first read is taken, then the one with the first hit of the second read.
pub(crate) fn closest_pair(reads: [&Read; 2], longest: u64) -> Option<ProperPair> {
    let mut closest: Option<(u64, ProperPair)> = None;
    for forward in 0..2 {
        let reverse = 1 - forward;
        let starts = sorted(&reads[forward].hits);
        let lengths = [reads[forward].len(), reads[reverse].len()];
        let is_both = reads[reverse].is_own_reverse();
        let hits = reads[reverse].hits.iter().enumerate();
        let ends = hits.filter(|(_, hit)| hit.reverse || is_both);
        for (n, hit) in ends {
            let end = hit.base + lengths[1];
            // The read that faces it neither begins nor ends later.
            let Some(last) = end
                .checked_sub(lengths[0])
                .map(|last| last.min(hit.base))
            else {
                continue;
            };
            let before = starts.partition_point(|&(at, _)| at <= (hit.record, last));
            let Some(&((record, start), first)) = before
                .checked_sub(1)
                .and_then(|at| starts.get(at))
            else {
                continue;
            };
            if record != hit.record || end - start > longest {
                continue;
            }
            let mut hits = [0; 2];
            (hits[forward], hits[reverse]) = (first, n);
            let found = (end - start, ProperPair { hits, reverse });
            closest = Some(closest.map_or(found, |closest| closest.min(found)));
        }
    }
    closest.map(|(_, pair)| pair)
}

/// Returns the places of the hits on the forward strand, in order, each with the number of its hit.
fn sorted(hits: &[Hit]) -> Vec<((usize, u64), usize)> {
    let hits = hits
        .iter()
        .enumerate()
        .filter(|(_, hit)| !hit.reverse);
    let mut sorted: Vec<_> = hits
        .map(|(n, hit)| ((hit.record, hit.base), n))
        .collect();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(len: usize, hits: &[(usize, u64, char)]) -> Read {
        let hits = hits.iter().map(|&(record, base, strand)| Hit {
            record,
            base,
            reverse: strand == '-',
            reference: None,
        });
        Read {
            strands: [vec![b'A'; len], vec![b'T'; len]],
            hits: hits.collect(),
            ..Read::default()
        }
    }

    fn pair_of(reads: [&Read; 2], longest: u64) -> Option<[usize; 2]> {
        closest_pair(reads, longest).map(|pair| pair.hits)
    }

    #[test]
    fn the_closest_proper_pair_is_taken() {
        let forward = [(0, 100, '+'), (0, 400, '+'), (1, 7, '+')];
        for (first, second, longest, wanted) in [
            (&forward[..], &[(0, 250, '-')][..], 500, Some([0, 0])),
            (&forward, &[(0, 250, '-'), (0, 500, '-')], 500, Some([1, 1])),
            (&forward, &[(0, 250, '-')], 159, None),
            (&forward, &[(0, 250, '-')], 160, Some([0, 0])),
            (&forward, &[(0, 250, '+')], 500, None),
            (&forward, &[(2, 250, '-')], 500, None),
            (&forward, &[(0, 90, '-')], 500, None),
            (&forward, &[(0, 100, '-')], 500, Some([0, 0])),
            (&forward, &[], 500, None),
            (
                &[(0, 100, '-')],
                &[(0, 90, '+'), (0, 50, '+')],
                500,
                Some([0, 0]),
            ),
            (
                &[(0, 100, '-'), (1, 9, '+')],
                &[(0, 90, '+'), (1, 17, '-')],
                500,
                Some([1, 1]),
            ),
            (
                &[(0, 5, '+'), (0, 5, '-')],
                &[(0, 5, '+'), (0, 5, '-')],
                500,
                Some([0, 1]),
            ),
        ] {
            let reads = [read(10, first), read(10, second)];
            let found = pair_of([&reads[0], &reads[1]], longest);
            assert_eq!(found, wanted, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_read_does_not_go_on_behind_its_mate() {
        let long = read(20, &[(0, 10, '+'), (0, 14, '+')]);
        let short = read(5, &[(0, 27, '-')]);
        assert_eq!(pair_of([&long, &short], 500), Some([0, 0]));
        assert_eq!(pair_of([&short, &long], 500), Some([0, 0]));
        assert_eq!(pair_of([&long, &read(5, &[(0, 2, '-')])], 500), None);
    }

    #[test]
    fn a_read_that_is_its_own_reverse_faces_both_ways() {
        let mut palindrome = read(10, &[(0, 300, '+')]);
        palindrome.strands[1].clear();
        let forward = read(10, &[(0, 100, '+')]);
        assert_eq!(pair_of([&forward, &palindrome], 500), Some([0, 0]));
        assert_eq!(pair_of([&palindrome, &forward], 500), Some([0, 0]));
        let reverse = read(10, &[(0, 500, '-')]);
        let pair = closest_pair([&reverse, &palindrome], 500).unwrap();
        assert_eq!((pair.hits, pair.reverse), ([0, 0], 0));
        assert_eq!(
            closest_pair([&palindrome, &forward], 500)
                .unwrap()
                .reverse,
            0
        );
    }

    #[test]
    fn it_is_that_of_all_pairs() {
        let mut state = 7_u32;
        let mut below = |n: u32| {
            state = state
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        for _ in 0..500 {
            let mut reads = [5, 8].map(|len| {
                let mut hits = Vec::new();
                for _ in 0..below(7) {
                    let strand = if below(2) == 0 { '+' } else { '-' };
                    let hit = (below(2) as usize, u64::from(below(60)), strand);
                    if !hits.contains(&hit) {
                        hits.push(hit);
                    }
                }
                read(len, &hits)
            });
            if below(2) == 0 {
                reads.reverse();
            }
            let naive = naive_pair(&reads, 30);
            let found = pair_of([&reads[0], &reads[1]], 30);
            assert_eq!(found, naive, "{reads:?}");
        }
    }

    fn naive_pair(reads: &[Read; 2], longest: u64) -> Option<[usize; 2]> {
        let mut best = None;
        for (a, first) in reads[0].hits.iter().enumerate() {
            for (b, second) in reads[1].hits.iter().enumerate() {
                if first.record != second.record || first.reverse == second.reverse {
                    continue;
                }
                let ends = [first.base + reads[0].len(), second.base + reads[1].len()];
                let (plus, minus, plus_end, minus_end) = match first.reverse {
                    false => (first.base, second.base, ends[0], ends[1]),
                    true => (second.base, first.base, ends[1], ends[0]),
                };
                if plus > minus || plus_end > minus_end || minus_end - plus > longest {
                    continue;
                }
                let found = (minus_end - plus, [a, b]);
                best = Some(best.map_or(found, |best: (u64, [usize; 2])| best.min(found)));
            }
        }
        best.map(|(_, pair)| pair)
    }
}
