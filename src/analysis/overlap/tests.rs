//! All results of this room, compared with those by their definitions.

use super::common_regions::sorted_matches_on;
use super::read_overlaps::read_overlaps_on;
use super::sequence_set::complement;
use super::{
    Match, Overlap, Sequences, Strands, longest_common, longest_common_on, maximal_matches,
    read_overlaps, unique_matches,
};
use crate::analysis::lcp::{LcpArrays, LcpSorter};
use crate::base::device::Device;
use crate::cases;
use crate::options::Options;
use crate::options::events::Event;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Returns true if both bytes are bases, and equal.
fn agree(a: u8, b: u8) -> bool {
    a == b && b"ACGT".contains(&a)
}

fn reverse(bases: &[u8]) -> Vec<u8> {
    bases
        .iter()
        .rev()
        .map(|&base| complement(base))
        .collect()
}

fn records(all: &Sequences) -> impl Iterator<Item = (u32, Vec<u8>)> {
    (0..all.len() as u32).map(|n| (n, all.bases(n).to_vec()))
}

/// Each record on each strand.
fn stranded(all: &Sequences, strands: Strands) -> Vec<(u32, bool, Vec<u8>)> {
    let both: &[bool] = if strands == Strands::Both {
        &[false, true]
    } else {
        &[false]
    };
    let mut found = Vec::new();
    for (n, bases) in records(all) {
        for &is_reverse in both {
            let bases = if is_reverse {
                reverse(&bases)
            } else {
                bases.clone()
            };
            found.push((n, is_reverse, bases));
        }
    }
    found
}

fn count(text: &[u8], word: &[u8]) -> usize {
    text.windows(word.len())
        .filter(|window| *window == word)
        .count()
}

fn naive_matches(
    a: &Sequences,
    b: &Sequences,
    least: usize,
    strands: Strands,
    unique: bool,
) -> Vec<Match> {
    let mut found = Vec::new();
    for (b_number, is_reverse, b_bases) in stranded(b, strands) {
        for (j, (a_number, a_bases)) in
            (0..b_bases.len()).flat_map(|j| records(a).map(move |record| (j, record)))
        {
            for i in 0..a_bases.len() {
                let pairs = a_bases[i..].iter().zip(&b_bases[j..]);
                let length = pairs.take_while(|(a, b)| agree(**a, **b)).count();
                let longer = i > 0 && j > 0 && agree(a_bases[i - 1], b_bases[j - 1]);
                let word = &a_bases[i..i + length];
                if longer || length < least {
                    continue;
                }
                let times = || {
                    records(a)
                        .map(|(_, bases)| count(&bases, word))
                        .sum::<usize>()
                };
                if unique && (times() > 1 || count(&b_bases, word) > 1) {
                    continue;
                }
                let b_start = if is_reverse {
                    b_bases.len() - j - length
                } else {
                    j
                };
                let a_start = i as u32;
                let b_start = b_start as u32;
                let length = length as u32;
                found.push((
                    j,
                    Match {
                        a: a_number,
                        a_start,
                        b: b_number,
                        b_start,
                        is_reverse,
                        length,
                    },
                ));
            }
        }
    }
    found.sort_by_key(|(j, m)| (m.b, m.is_reverse, *j, m.a, m.a_start));
    found
        .into_iter()
        .map(|(_, found)| found)
        .collect()
}

fn naive_overlaps(reads: &Sequences, least: usize, strands: Strands) -> Vec<Overlap> {
    let all = stranded(reads, strands);
    let mut found = Vec::new();
    for (a, a_is_reverse, suffix) in &all {
        for (b, b_is_reverse, prefix) in &all {
            let wanted = match (a_is_reverse, b_is_reverse) {
                (false, false) => a != b,
                (true, true) => false,
                _ => a < b,
            };
            let fits = |length: &usize| {
                let pairs = suffix[suffix.len() - length..].iter().zip(prefix);
                pairs.take_while(|(a, b)| agree(**a, **b)).count() == *length
            };
            let lengths = least..=suffix.len().min(prefix.len());
            if let Some(length) = lengths.rev().find(fits).filter(|_| wanted) {
                let a_is_reverse = *a_is_reverse;
                let b_is_reverse = *b_is_reverse;
                let length = length as u32;
                found.push(Overlap {
                    a: *a,
                    b: *b,
                    a_is_reverse,
                    b_is_reverse,
                    length,
                });
            }
        }
    }
    found.sort();
    found
}

/// Records of few bases, some with their reverse complement after them or three times in a row.
fn sequences() -> impl Strategy<Value = Sequences> {
    let alphabet = prop::sample::select(vec!["A", "AC", "AT", "ACGT", "AACGTN", "acgTu-"]);
    let record = alphabet.prop_flat_map(|alphabet| {
        let base = prop::sample::select(alphabet.as_bytes().to_vec());
        (prop::collection::vec(base, 0..16), 0..4)
    });
    prop::collection::vec(record, 0..7).prop_map(|records| {
        let mut all = Sequences::new();
        for (bases, shape) in records {
            all.add(b"", &bases).unwrap();
            let last = all.bases(all.len() as u32 - 1).to_vec();
            match shape {
                0 => all
                    .add(b"", &[&last[..], &reverse(&last)].concat())
                    .unwrap(),
                1 => all.add(b"", &last.repeat(3)).unwrap(),
                _ => {}
            }
        }
        all
    })
}

fn strands() -> impl Strategy<Value = Strands> {
    prop::sample::select(vec![Strands::Forward, Strands::Both])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn matches_are_the_naive_ones(
        a in sequences(),
        b in sequences(),
        least in 1_u32..7,
        strands in strands(),
        threads in 1_usize..4,
    ) {
        let options = Options::new().threads(threads);
        let expected = naive_matches(&a, &b, least as usize, strands, false);
        prop_assert_eq!(maximal_matches(&a, &b, least, strands, &options).unwrap(), expected);
        let expected = naive_matches(&a, &b, least as usize, strands, true);
        prop_assert_eq!(unique_matches(&a, &b, least, strands, &options).unwrap(), expected);
        let all = naive_matches(&a, &b, 1, strands, false);
        let longest = all.iter().map(|found| found.length).max();
        let expected: Vec<_> =
            all.into_iter().filter(|found| Some(found.length) == longest).collect();
        prop_assert_eq!(longest_common(&a, &b, strands, &options).unwrap(), expected);
    }

    #[test]
    fn overlaps_are_the_naive_ones(
        reads in sequences(),
        least in 1_u32..7,
        strands in strands(),
        threads in 1_usize..4,
    ) {
        let options = Options::new().threads(threads);
        let expected = naive_overlaps(&reads, least as usize, strands);
        prop_assert_eq!(read_overlaps(&reads, least, strands, &options).unwrap(), expected);
    }
}

#[test]
fn too_many_matches_for_the_memory_are_refused() {
    let mut all = Sequences::new();
    all.add(b"", &[b'A'; 3000]).unwrap();
    (0..3000).for_each(|_| all.add(b"", b"CGA").unwrap());
    let options = Options::new().memory(2 << 20);
    for refused in [
        maximal_matches(&all, &all, 1, Strands::Both, &options).unwrap_err(),
        read_overlaps(&all, 1, Strands::Forward, &options).unwrap_err(),
        longest_common(&all, &all, Strands::Both, &Options::new().memory(1000)).unwrap_err(),
    ] {
        assert!(matches!(refused, crate::Error::Limit { .. }), "{refused}");
    }
    assert!(maximal_matches(&all, &all, 0, Strands::Both, &options).is_err());
}

/// A GPU's arrays that make matches of other bases: the CPU finds the matches, with one warning.
#[test]
fn matches_that_the_sequences_do_not_have_are_found() {
    let bases: Vec<u8> = cases::random(4_000, 4)
        .into_iter()
        .map(|n| b"ACGT"[usize::from(n)])
        .collect();
    let mut first = Sequences::new();
    let mut second = Sequences::new();
    for start in (0..3_000).step_by(250) {
        first
            .add(b"", &bases[start..start + 400])
            .unwrap();
        let opposite = reverse(&bases[start + 100..start + 600]);
        second.add(b"", &opposite).unwrap();
        second
            .add(b"", &bases[start + 50..start + 300])
            .unwrap();
    }
    let lies: [fn(&mut LcpArrays); 3] = [
        |_| (),
        |arrays| {
            let rows = arrays.suffixes.iter_mut().zip(&arrays.lcp);
            rows.filter(|(_, lcp)| **lcp >= 20)
                .for_each(|(pos, _)| *pos = 0);
        },
        |arrays| arrays.suffixes.fill(u32::MAX),
    ];
    type Find = fn(&LcpSorter, &Sequences, &Sequences) -> String;
    let finds: [Find; 3] = [
        |sorter, a, b| {
            format!(
                "{:?}",
                longest_common_on(sorter, a, b, Strands::Both).unwrap()
            )
        },
        |sorter, a, b| {
            let found = sorted_matches_on(sorter, a, b, 20, Strands::Both, false);
            format!("{:?}", found.unwrap())
        },
        |sorter, a, _| {
            let found = read_overlaps_on(sorter, a, 20, Strands::Both);
            format!("{:?}", found.unwrap())
        },
    ];
    for find in finds {
        let sound = LcpSorter::new(&Options::new().threads(2).device(Device::Cpu)).unwrap();
        let expected = find(&sound, &first, &second);
        assert!(expected.len() > 100, "{expected}");
        for (warnings, lie) in [0, 1, 1].into_iter().zip(lies) {
            let heard = Arc::new(Mutex::new(Vec::new()));
            let listener = Arc::clone(&heard);
            let options = Options::new().threads(2).on_event(move |event| {
                if let Event::Warning(what) = event {
                    listener.lock().unwrap().push(what);
                }
            });
            let sorter = LcpSorter::lying(&options, lie);
            assert_eq!(find(&sorter, &first, &second), expected);
            assert_eq!(heard.lock().unwrap().len(), warnings);
        }
    }
}
