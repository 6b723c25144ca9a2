//! Tests of the index against searches that are too simple to be wrong.

use super::FmIndex;
use crate::bwt::{Bwt, Sorter};
use crate::cases;

/// All positions at which `pattern` occurs in `text`.
fn naive(text: &[u8], pattern: &[u8]) -> Vec<u32> {
    (0..=text.len())
        .filter(|&at| text[at..].starts_with(pattern))
        .map(|at| at as u32)
        .collect()
}

fn index(text: &[u8], rate: u32) -> FmIndex {
    FmIndex::new(Sorter::Cpu.sort(text, rate).unwrap()).unwrap()
}

/// Patterns from the text, beyond it, and not in it.
fn patterns(text: &[u8]) -> Vec<Vec<u8>> {
    let cut =
        |from: usize, len: usize| text[from.min(text.len())..(from + len).min(text.len())].to_vec();
    let mut patterns = vec![
        vec![],
        vec![0],
        vec![255],
        b"aa".to_vec(),
        b"absent!".to_vec(),
    ];
    for len in [1, 2, 3, 7, 20, 100] {
        for from in [0, 1, 57, text.len() / 2, text.len().saturating_sub(len)] {
            patterns.push(cut(from, len));
            patterns.push([cut(from, len), vec![1]].concat());
        }
    }
    patterns.push(text.to_vec());
    patterns.push([text, b"x"].concat());
    patterns
}

#[test]
fn finds_what_a_plain_search_finds() {
    for (name, text) in cases::shapes(900)
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
    {
        for rate in [2, 16, 1 << 20] {
            let index = index(&text, rate);
            for pattern in patterns(&text) {
                let wanted = naive(&text, &pattern);
                assert_eq!(
                    index.count(&pattern) as usize,
                    wanted.len(),
                    "{name} {pattern:?}"
                );
                let found = index.locate(&pattern, usize::MAX).unwrap();
                assert_eq!(found, wanted, "{name}, rate {rate}, {pattern:?}");
                let some = index.locate(&pattern, 2).unwrap();
                assert_eq!(some.len(), wanted.len().min(2));
                assert!(some.iter().all(|pos| wanted.contains(pos)));
            }
        }
    }
}

/// All queries give the same answers with positions in 64 bits.
#[test]
fn a_wide_index_finds_what_a_narrow_one_finds() {
    for (name, text) in cases::shapes(3000)
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
    {
        for rate in [4, 1 << 20] {
            let narrow = index(&text, rate);
            let wide = FmIndex::wide(Sorter::Cpu.sort(&text, rate).unwrap()).unwrap();
            let patterns = patterns(&text);
            for pattern in &patterns {
                assert_eq!(
                    u64::from(narrow.count(pattern)),
                    wide.count(pattern),
                    "{name}"
                );
                let found = narrow
                    .locate(pattern, 50)
                    .unwrap()
                    .into_iter()
                    .map(u64::from);
                assert!(
                    found.eq(wide.locate(pattern, 50).unwrap()),
                    "{name} {pattern:?}"
                );
            }
            let many: Vec<&[u8]> = patterns
                .iter()
                .map(Vec::as_slice)
                .cycle()
                .take(500)
                .collect();
            let mut intervals = [vec![0..0; many.len()], vec![0..0; many.len()]];
            wide.search(&many, &mut intervals[0]);
            assert!(wide.kmers.get().is_some());
            intervals[1]
                .iter_mut()
                .zip(&many)
                .for_each(|(i, pattern)| *i = wide.interval(pattern));
            assert_eq!(intervals[0], intervals[1], "{name}");
            let range = text.len() / 3..text.len() / 2;
            assert_eq!(wide.extract(range.clone()).unwrap(), text[range]);
            let denser = wide.with_sample_rate(2).unwrap();
            assert_eq!(
                *denser.samples.rows(),
                Sorter::Cpu.sort(&text, 2).unwrap().samples
            );
        }
    }
}

#[test]
fn a_batch_finds_what_single_searches_find() {
    for (name, text) in [
        ("text", cases::text(60_000)),
        ("DNA", cases::random(50_000, 4)),
        ("17", cases::random(40_000, 17)),
        ("run", vec![b'a'; 5_000]),
    ] {
        let single = index(&text, 64);
        let batch = index(&text, 64);
        let starts = (0..5000).map(|n| n * 7919 % text.len());
        let patterns: Vec<&[u8]> = starts
            .map(|at| &text[at..text.len().min(at + at % 23)])
            .collect();
        let mut intervals = vec![0..0; patterns.len()];
        batch.search(&patterns, &mut intervals);
        assert!(
            batch.kmers.get().is_some(),
            "{name}: a batch of this size is worth a table"
        );
        for (pattern, interval) in patterns.iter().zip(intervals) {
            assert_eq!(
                single.interval(pattern).len(),
                interval.len(),
                "{name} {pattern:?}"
            );
        }
    }
}

#[test]
fn the_text_counts_as_steps_do() {
    for (name, text) in cases::shapes(5000)
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
    {
        let mut all = patterns(&text);
        // Many of one length, whose ends the k-mer table has, with other bytes before them.
        for from in (0..text.len()).step_by(37) {
            let mut pattern = text[from..text.len().min(from + 60)].to_vec();
            all.push(pattern.clone());
            pattern[0] ^= 1;
            all.push(pattern);
        }
        let wanted: Vec<u32> = all
            .iter()
            .map(|p| naive(&text, p).len() as u32)
            .collect();
        for rate in [2, 32, 1 << 20] {
            let mut index = index(&text, rate);
            assert_eq!(index.count_all(&all).unwrap(), wanted, "{name}");
            let size = index.size_with_text(8);
            index.add_text(8).unwrap();
            assert!(index.has_text() && index.samples.rate() == rate.min(8));
            assert_eq!(
                index.count_all(&all).unwrap(),
                wanted,
                "{name}, rate {rate}"
            );
            assert_eq!(index.extract(0..text.len()).unwrap(), text, "{name}");
            assert!(
                index.size() <= size + 64,
                "{name}: {} of {size}",
                index.size()
            );
        }
        let mut wide = FmIndex::wide(Sorter::Cpu.sort(&text, 64).unwrap()).unwrap();
        wide.add_text(8).unwrap();
        let counts = wide.count_all(&all).unwrap();
        assert!(
            counts
                .into_iter()
                .eq(wanted.into_iter().map(u64::from)),
            "{name}"
        );
    }
}

#[test]
fn extracts_every_range() {
    for text in [
        cases::text(300),
        cases::random(300, 4),
        vec![7; 65],
        vec![1],
    ] {
        for rate in [2, 64, 1 << 20] {
            let index = index(&text, rate);
            for start in 0..=text.len() {
                for end in start..=text.len().min(start + 70) {
                    assert_eq!(index.extract(start..end).unwrap(), text[start..end]);
                }
            }
            assert!(index.extract(0..text.len() + 1).is_err());
        }
    }
}

#[test]
fn denser_samples_are_those_of_a_sorter() {
    for (name, text) in cases::shapes(5000)
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
    {
        for (from, to) in [(1 << 20, 4), (64, 8), (8, 8), (4, 64)] {
            let denser = index(&text, from).with_sample_rate(to).unwrap();
            let rate = to.min(from);
            let rows: Vec<u64> = denser
                .samples
                .rows()
                .iter()
                .map(|&row| row.into())
                .collect();
            assert_eq!(
                rows,
                Sorter::Cpu.sort(&text, rate).unwrap().samples,
                "{name}"
            );
            assert_eq!(
                denser.locate(&text[..1], 9).unwrap().len(),
                naive(&text, &text[..1]).len().min(9)
            );
        }
    }
}

#[test]
fn what_breaks_an_invariant_is_refused_and_what_contradicts_itself_survived() {
    let good = Sorter::Cpu.sort(b"mississippi", 4).unwrap();
    let refused = |change: fn(&mut Bwt)| {
        let mut bwt = good.clone();
        change(&mut bwt);
        FmIndex::new(bwt).is_err()
    };
    assert!(refused(|bwt| bwt.bytes.clear()));
    assert!(refused(|bwt| bwt.sample_rate = 0));
    assert!(refused(|bwt| bwt.samples.clear()));
    assert!(refused(|bwt| bwt.samples[1] = 0));
    assert!(refused(|bwt| bwt.samples[1] = 12));
    let mut twice = good.clone();
    twice.samples[1] = twice.samples[0];
    let index = FmIndex::new(twice).unwrap();
    assert!(index.locate(b"ss", 2).is_err() && index.count(b"ss") == 2);
    for (seed, sigma) in (0..300).zip([1, 2, 5, 17, 256].into_iter().cycle()) {
        let bytes = cases::random(400 + seed, sigma);
        let samples = (0..bytes.len().div_ceil(8))
            .map(|k| 1 + (k * 8) as u64)
            .collect();
        let Ok(mut index) = FmIndex::new(Bwt {
            bytes,
            sample_rate: 8,
            samples,
        }) else {
            continue;
        };
        let _ = index.locate(&[1], usize::MAX);
        let _ = index.extract(0..index.len());
        let counts = index.count_all(&[&[1; 40][..], &[]]).unwrap();
        if index.add_text(4).is_ok() {
            assert_eq!(index.count_all(&[&[1; 40][..], &[]]).unwrap(), counts);
        }
        let _ = index.with_sample_rate(2);
    }
}
