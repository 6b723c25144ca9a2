//! Compares range minima and extensions with naive ones.

use super::*;
use crate::base::error::Error;
use crate::cases;
use crate::gpu::testing::{gpu, random, say};

/// The minimum of each range: of whole blocks of 64 by their minima, else by looking at each value.
fn naive_least(values: &[u32], ranges: &[(u32, u32)]) -> Vec<u32> {
    let least = |values: &[u32]| values.iter().copied().min().unwrap_or(u32::MAX);
    let blocks: Vec<u32> = values.chunks(64).map(least).collect();
    let of = |&(from, to): &(u32, u32)| {
        let from = from as usize;
        let to = to as usize;
        let first = from.div_ceil(64);
        let last = to / 64;
        if first >= last {
            return least(&values[from.min(to)..to]);
        }
        let ends = least(&values[from..64 * first]).min(least(&values[64 * last..to]));
        ends.min(least(&blocks[first..last]))
    };
    ranges.iter().map(of).collect()
}

/// Pairs of numbers up to `most`.
fn pairs(count: usize, most: u64, seed: u64) -> Vec<(u32, u32)> {
    let numbers = random(2 * count, most + 1, seed);
    numbers
        .chunks_exact(2)
        .map(|two| (two[0] as u32, two[1] as u32))
        .collect()
}

fn check(queries: &mut ExtensionQueries, id: u64, values: &[u32], count: usize) {
    let mut ranges = pairs(count, values.len() as u64, id + 1);
    for (from, to) in ranges.iter_mut().step_by(2) {
        // Half of the ranges are short.
        *to = (*from + *to % 200).min(values.len() as u32);
    }
    let mut found = vec![0; ranges.len()];
    let arrays = MinimaArrays {
        id,
        values,
        rows: &[],
    };
    queries
        .least(&arrays, &ranges, &mut found)
        .unwrap();
    assert!(
        found == naive_least(values, &ranges),
        "{} values",
        values.len()
    );
}

#[test]
fn minima_are_the_naive_ones() {
    if gpu().is_none() {
        return;
    }
    let mut queries = ExtensionQueries::new(0).unwrap();
    for (id, len) in [1, 2, 63, 64, 65, 128, 300, 4096, 70_001, 1_000_000]
        .into_iter()
        .enumerate()
    {
        let values: Vec<u32> = random(len, 1 << 20, 5)
            .into_iter()
            .map(|n| n as u32)
            .collect();
        check(&mut queries, id as u64, &values, 1_000_000);
    }
}

#[test]
fn extensions_are_the_naive_ones() {
    if gpu().is_none() {
        return;
    }
    let mut queries = ExtensionQueries::new(0).unwrap();
    let mut count = 0;
    for (id, (name, text)) in cases::shapes(20_000).iter().enumerate() {
        if text.is_empty() {
            continue;
        }
        let mut suffixes: Vec<u32> = (0..text.len() as u32).collect();
        suffixes.sort_by_key(|&pos| &text[pos as usize..]);
        let common = |a: u32, b: u32| {
            let a = &text[a as usize..];
            let b = &text[b as usize..];
            a.iter()
                .zip(b)
                .take_while(|(a, b)| a == b)
                .count() as u32
        };
        let mut rows = vec![0; text.len()];
        let mut lcp = vec![0; text.len()];
        for (row, &pos) in suffixes.iter().enumerate() {
            rows[pos as usize] = row as u32;
            lcp[row] = if row == 0 {
                0
            } else {
                common(suffixes[row - 1], pos)
            };
        }
        let pairs = pairs(1_000_000, text.len() as u64 - 1, id as u64);
        let mut found = vec![0; pairs.len()];
        let arrays = MinimaArrays {
            id: id as u64,
            values: &lcp,
            rows: &rows,
        };
        queries
            .longest(&arrays, &pairs, &mut found)
            .unwrap();
        // If positions agree for long, a part of the pairs is enough.
        let step = if text.len() > 1000 && name.contains("all") {
            500
        } else {
            5
        };
        for (&(a, b), &found) in pairs.iter().zip(&found).step_by(step) {
            assert_eq!(found, common(a, b), "{name}: {a} and {b}");
            count += 1;
        }
    }
    say(format_args!("{count} extensions"));
}

/// The fewest and smallest values that go through every kernel, for the tools of
/// `compute-sanitizer`.
#[test]
fn every_lcp_kernel_once() {
    if gpu().is_none() {
        return;
    }
    let mut queries = ExtensionQueries::new(0).unwrap();
    let values: Vec<u32> = (0..5000).map(|n| n * 7919 % 5003).collect();
    check(&mut queries, 1, &values, 500);
    let rows: Vec<u32> = (0..5000).rev().collect();
    let mut found = [0; 2];
    let arrays = MinimaArrays {
        id: 2,
        values: &values,
        rows: &rows,
    };
    queries
        .longest(&arrays, &[(7, 7), (4999, 4990)], &mut found)
        .unwrap();
    assert_eq!(found, [4993, values[1..10].iter().copied().min().unwrap()]);
}

#[test]
fn a_failure_leaves_them_usable() {
    if gpu().is_none() {
        return;
    }
    let mut queries = ExtensionQueries::new(0).unwrap();
    let values: Vec<u32> = (0..5000).map(|n| n * 7919 % 5003).collect();
    let arrays = MinimaArrays {
        id: 3,
        values: &values,
        rows: &[],
    };
    for launches in 0..4 {
        queries.fail_after(launches);
        let failed = queries.least(&arrays, &[(0, 5000)], &mut [0]);
        assert!(matches!(failed, Err(Error::Device(_))));
    }
    queries.fail_after(u32::MAX);
    check(&mut queries, 3, &values, 1000);
}
