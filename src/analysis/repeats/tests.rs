//! Compares the search with the definition: every window is compared with every one before it.

use super::*;
use crate::base::error::Error;
use crate::cases;
use proptest::prelude::*;
use std::collections::HashMap;
use std::io::Cursor;
use std::slice;
use std::sync::Arc;

/// The result by the definition.
fn by_definition(texts: &[&[u8]], search: &Search) -> Repeats {
    let width = search.unit.size();
    let len = search.len;
    let mut windows: HashMap<&[u8], Vec<(usize, usize)>> = HashMap::new();
    for (file, text) in texts.iter().enumerate() {
        for start in (0..text.len()).step_by(width) {
            if let Some(window) = text.get(start..start + len * width) {
                windows
                    .entry(window)
                    .or_default()
                    .push((file, start));
            }
        }
    }
    let mut copied: Vec<Vec<bool>> = texts
        .iter()
        .map(|text| vec![false; text.len()])
        .collect();
    let mut original = copied.clone();
    let mut best = None;
    for found in windows.into_values() {
        let is_target = |at: &&(usize, usize)| !search.is_across || at.0 > 0;
        let (first, copies) = match search.is_across {
            true if found[0].0 > 0 => continue,
            true => (found[0], found.iter().filter(is_target).collect::<Vec<_>>()),
            false => (found[0], found[1..].iter().collect()),
        };
        if copies.is_empty() {
            continue;
        }
        best = best.max(Some((copies.len(), std::cmp::Reverse(first))));
        original[first.0][first.1..][..len * width].fill(true);
        for &&(file, start) in &copies {
            copied[file][start..][..len * width].fill(true);
        }
    }
    let ranges = |is_in: &dyn Fn(usize) -> bool, len: usize| {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for at in (0..len).filter(|at| is_in(*at)) {
            match ranges.last_mut() {
                Some(last) if last.end == at as u64 => last.end += 1,
                _ => ranges.push(at as u64..at as u64 + 1),
            }
        }
        ranges
    };
    let files = (0..texts.len()).map(|file| FileRepeats {
        size: texts[file].len() as u64,
        ranges: ranges(&|at| copied[file][at], texts[file].len()),
        later_copies: ranges(
            &|at| copied[file][at] && !original[file][at],
            texts[file].len(),
        ),
    });
    let most_frequent = best.map(|(copies, std::cmp::Reverse((file, offset)))| MostFrequent {
        file,
        offset: offset as u64,
        copies: copies as u64,
    });
    Repeats {
        files: files.collect(),
        most_frequent,
        parts: 1,
    }
}

/// Compares with the definition: as a whole and in parts, on several threads.
fn check(name: &str, texts: &[&[u8]], len: u64, unit: Unit, across: bool, parts: &[u64]) {
    let search = Search::new(len)
        .unwrap()
        .unit(unit)
        .across(across)
        .later_copies(true);
    let expected = by_definition(texts, &search);
    for threads in [1, 2, 8] {
        let options = Options::new().threads(threads);
        let found = search.find(texts, &options).unwrap();
        assert!(
            found.files == expected.files,
            "{name}, {len}, {threads} threads"
        );
        assert_eq!(found.most_frequent, expected.most_frequent, "{name}, {len}");
    }
    for &size in parts {
        let search = search.clone().in_parts(size);
        let found = search
            .find(texts, &Options::new().threads(2))
            .unwrap();
        assert!(
            found.files == expected.files,
            "{name}, {len}, parts of {size}"
        );
    }
}

const LENGTHS: [u64; 7] = [1, 2, 8, 31, 100, 101, 3000];

#[test]
fn named_cases_are_as_defined() {
    for (name, text) in cases::shapes(3000) {
        for len in LENGTHS {
            check(&name, &[&text], len, Unit::Byte, false, &[700]);
        }
    }
    let repeats = [b"x".repeat(777), b"xyz".repeat(300), cases::fibonacci(2500)].concat();
    for len in LENGTHS {
        check(
            "repeats",
            &[&repeats, &repeats[5..]],
            len,
            Unit::Byte,
            false,
            &[64, 1000],
        );
    }
}

#[test]
fn copies_across_files_are_as_defined() {
    let text = cases::text(4000);
    let noise = cases::random(3000, 256);
    let mixed = [
        &noise[..500],
        &text[1000..1600],
        &noise[500..900],
        &text[900..1700],
        b"aaaa",
    ];
    let mixed = mixed.concat();
    let runs = [&[b'a'; 900][..], &noise[..50], &[b'a'; 400], &text[..300]].concat();
    let texts: [&[u8]; 7] = [
        &text,
        b"",
        &mixed,
        b"a",
        &noise[400..1200],
        &runs,
        &mixed[..700],
    ];
    for len in LENGTHS {
        for across in [false, true] {
            check("files", &texts, len, Unit::Byte, across, &[100, 1999]);
            check("turned", &texts[2..], len, Unit::Byte, across, &[333]);
            check(
                "runs",
                &[&runs, &runs, &runs[3..]],
                len,
                Unit::Byte,
                across,
                &[333],
            );
        }
    }
}

#[test]
fn tokens_are_compared_where_they_are_aligned() {
    let text = cases::text(3001);
    let copy = &text[1000..1800];
    let moved = &text[1001..1801];
    for unit in [Unit::U16, Unit::U32] {
        for len in [1, 2, 8, 31, 100] {
            for across in [false, true] {
                check(
                    "tokens",
                    &[&text, copy, moved],
                    len,
                    unit,
                    across,
                    &[66, 1000],
                );
            }
        }
        let zeros = [0; 2001];
        check("zeros", &[&zeros, &text, &zeros], 50, unit, false, &[600]);
        let found = Search::new(50)
            .unwrap()
            .unit(unit)
            .find(&[&text, moved], &Options::new());
        assert!(found.unwrap().files[1].ranges.is_empty());
    }
}

#[test]
fn many_contexts_of_one_string_are_told_apart() {
    // One phrase with many different windows around it, some of which occur again.
    let word = cases::random(70, 256);
    let noise = cases::random(40_000, 3);
    let mut text = Vec::new();
    for part in noise[..30_000]
        .chunks(30)
        .chain(noise[10_000..13_000].chunks(30))
    {
        text.extend([part, &word].concat());
    }
    for len in [80, 100, 120] {
        check("contexts", &[&text], len, Unit::Byte, false, &[20_000]);
    }
}

/// Searches within `memory` bytes, by hashes of `base` if one is given, and compares with the
/// definition.
fn check_inside(texts: &[&[u8]], len: usize, memory: usize, base: Option<u64>) {
    let expected = by_definition(texts, &Search::new(len as u64).unwrap());
    let mut all = texts::Texts::new(1);
    texts
        .iter()
        .for_each(|text| all.add(text, true, true));
    let mark = || window_marks::WindowMarks::new(all.end).unwrap();
    let marks = equal_windows::Marks {
        copies: mark(),
        originals: mark(),
    };
    let search = search_texts::TextSearch {
        texts: &all,
        len,
        memory,
        progress: &|_| (),
    };
    let frequent = match base {
        None => search.run(&marks).unwrap(),
        Some(base) => search.run_by(base, &marks).unwrap(),
    };
    for ((_, windows), file) in all.windows(len).zip(&expected.files) {
        let start = windows.start;
        let covered = marks.copies.covered(windows, len);
        let covered: Vec<_> = covered
            .map(|range| (range.start - start) as u64..(range.end - start) as u64)
            .collect();
        assert!(covered == file.ranges, "{memory}, {base:?}");
    }
    let copies = frequent.map(|frequent| frequent.copies as u64);
    assert_eq!(copies, expected.most_frequent.map(|window| window.copies));
}

#[test]
fn little_memory_takes_longer_and_finds_the_same() {
    let text = [cases::text(60_000), cases::random(60_000, 3)].concat();
    for memory in [0, 100_000, 400_000] {
        check_inside(&[&text, &text[777..50_000]], 40, memory, None);
    }
}

#[test]
fn hashes_that_are_equal_for_different_strings_do_no_harm() {
    let text = [
        cases::text(1500),
        cases::fibonacci(1000),
        cases::random(1500, 2),
    ]
    .concat();
    for len in [2, 8, 30, 100] {
        // With base 0 the hash is the last unit, with base 1 it is the sum of all units.
        for base in [0, 1, 2] {
            check_inside(
                &[&text, &text[700..2900], &text[..1800]],
                len,
                0,
                Some(base),
            );
        }
    }
}

#[test]
fn compressed_files_are_searched_as_what_is_in_them() {
    let text = cases::text(50_000);
    let options = Options::new().with_block_size(7000).unwrap();
    let mut file = Vec::new();
    crate::compress(&text[..], &mut file, &options).unwrap();
    let files = [&text[20_000..30_000], &file];
    let search = Search::new(100).unwrap().later_copies(true);
    let expected = by_definition(&[&text[20_000..30_000], &text], &search);
    for search in [search.clone(), search.in_parts(9999)] {
        let inputs = files
            .iter()
            .map(|file| Input::open(Cursor::new(*file), &options));
        let mut inputs = inputs.collect::<Result<Vec<_>>>().unwrap();
        let found = search.find_in(&mut inputs, &options).unwrap();
        assert_eq!(found.files, expected.files);
        assert!(search.part_size.is_none() || found.parts == 7);
    }
}

#[test]
fn memory_makes_parts_or_is_too_little() {
    let text = cases::random(12 << 20, 256);
    let search = Search::new(100).unwrap();
    let with = |mib: u64| {
        search.find(
            &[&text, &text[..1 << 20]],
            &Options::new().threads(1).memory(mib << 20),
        )
    };
    let found = with(24).unwrap();
    assert!(found.parts > 2);
    assert_eq!(found.files[0].ranges, []);
    let (first, others) = found.files[1].ranges.split_first().unwrap();
    assert!(*first == (0..1 << 20) && others.is_empty());
    let Err(Error::Limit { needed, .. }) = with(10) else {
        panic!()
    };
    assert!(with((needed >> 20) + 1).is_ok());
}

#[test]
fn progress_ends_at_its_total() {
    let text = cases::text(5000);
    let steps = Arc::new(std::sync::Mutex::new(Vec::new()));
    let listener = Arc::clone(&steps);
    let tell = move |done, total| listener.lock().unwrap().push((done, total));
    let search = Search::new(1)
        .unwrap()
        .on_progress(tell)
        .in_parts(1000);
    search
        .find(&[&text], &Options::new().threads(1))
        .unwrap();
    let steps = steps.lock().unwrap();
    assert!(steps.is_sorted() && steps.last() == Some(&(25_000, 25_000)));
}

#[test]
fn what_is_left_holds_each_repeated_window_and_no_later_copy() {
    let text = cases::text(4000);
    let runs = [&b"-".repeat(700), &text[..1000], &b"-".repeat(300)].concat();
    let texts: [&[u8]; 3] = [&text, &runs, &text[500..2500]];
    for len in [20, 100] {
        let search = Search::new(len).unwrap().later_copies(true);
        let found = search.find(&texts, &Options::new()).unwrap();
        let kept = texts
            .iter()
            .zip(&found.files)
            .map(|(text, found)| {
                let whole = 0..text.len() as u64;
                let kept = window_marks::subtract(slice::from_ref(&whole), &found.later_copies);
                kept.into_iter()
                    .map(|range| &text[range.start as usize..range.end as usize])
                    .collect()
            });
        let kept: Vec<Vec<&[u8]>> = kept.collect();
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        for text in texts {
            text.windows(len as usize)
                .for_each(|window| *counts.entry(window).or_default() += 1);
        }
        counts.retain(|_, count| *count > 1);
        for stretch in kept.iter().flatten() {
            for window in stretch.windows(len as usize) {
                counts.remove(window);
            }
        }
        assert!(counts.is_empty(), "{} windows are gone", counts.len());
        let sizes: usize = kept
            .iter()
            .flatten()
            .map(|stretch| stretch.len())
            .sum();
        assert!(sizes < 4000 + 700 + 2 * len as usize, "{sizes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_texts_are_as_defined(
        pieces in prop::collection::vec((0..900_usize, 0..200_usize), 1..30),
        alphabet in 1..5_u32,
        borders in prop::collection::vec(0..3000_usize, 0..6),
        len in 1..130_u64,
        unit in prop::sample::select(vec![Unit::Byte, Unit::U16, Unit::U32]),
        across in any::<bool>(),
        part in 1..2000_u64,
    ) {
        let source = cases::random(1100, alphabet);
        let text: Vec<u8> =
            pieces.iter().flat_map(|&(start, len)| source[start..start + len].to_vec()).collect();
        let mut borders: Vec<usize> = borders.iter().map(|border| border % (text.len() + 1)).collect();
        borders.extend([0, text.len()]);
        borders.sort_unstable();
        let texts: Vec<&[u8]> = borders.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        check("any", &texts, len, unit, across, &[part.max(50)]);
    }
}
