//! Search in files, with an index or without, compared with a search so simple that it is hardly
//! wrong.

use crate::common;
use crate::common::mutation::parts;
use crate::common::{cases, indexed, options};
use bwz::internals;
use bwz::{Archive, Effort, Error, Options};
use std::io::Cursor;

/// All positions of `pattern` in `text`, overlaps included.
fn naive(text: &[u8], pattern: &[u8]) -> Vec<u64> {
    (0..=text.len())
        .filter(|&at| text[at..].starts_with(pattern))
        .map(|at| at as u64)
        .collect()
}

fn open(file: &[u8]) -> Archive<Cursor<&[u8]>> {
    Archive::open(Cursor::new(file), &options(1)).unwrap()
}

/// Patterns from all parts of the text, some that are not in it, and the hard ones.
fn patterns(text: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut patterns = vec![
        vec![],
        vec![0],
        vec![255],
        b"aa".to_vec(),
        b"\0\xff".to_vec(),
        b"not there".to_vec(),
    ];
    for &len in lengths {
        for from in [
            0,
            text.len() / 3,
            text.len() / 2,
            text.len().saturating_sub(len),
        ] {
            let cut = text[from..text.len().min(from + len)].to_vec();
            patterns.push([&cut[..], b"~"].concat());
            patterns.push(cut);
        }
    }
    patterns
}

/// Counts, locates, and locates some, in one batch and pattern by pattern.
fn check(name: &str, text: &[u8], file: &[u8], patterns: &[Vec<u8>]) {
    let wanted: Vec<Vec<u64>> = patterns
        .iter()
        .map(|pattern| naive(text, pattern))
        .collect();
    let mut archive = open(file);
    let counts = archive.count(patterns).unwrap();
    let all = archive.locate(patterns, usize::MAX).unwrap();
    let some = archive.locate(patterns, 3).unwrap();
    let last = common::last(&mut archive, patterns);
    let first = archive
        .searcher()
        .and_then(|mut searcher| searcher.locate_first(patterns, 3))
        .unwrap();
    for (n, wanted) in wanted.iter().enumerate() {
        let what = format!("{name}: {:?}", &patterns[n][..patterns[n].len().min(40)]);
        assert_eq!(counts[n], wanted.len() as u64, "{what}");
        assert_eq!(all[n].count, wanted.len() as u64, "{what}");
        assert_eq!(all[n].positions, *wanted, "{what}");
        assert_eq!(some[n].positions, wanted[..wanted.len().min(3)], "{what}");
        assert_eq!(first[n], some[n].positions, "{what}");
        assert_eq!(last[n].as_ref(), wanted.last(), "{what}");
    }
    for (pattern, wanted) in patterns.iter().zip(&wanted).step_by(5) {
        assert_eq!(
            archive.count(&[pattern]).unwrap(),
            [wanted.len() as u64],
            "{name}"
        );
    }
}

/// Blocks of any size, with tables and without.
#[test]
fn files_of_other_writers_are_searched() {
    let text = cases::text(9000);
    for rate in [None, Some(0), Some(8)] {
        let patterns = patterns(&text, &[1, 2, 5, 20, 800, 4500]);
        check("uneven", &text, &common::uneven(&text, rate), &patterns);
        check(
            "tables",
            &text,
            &common::with_tables(&text, rate),
            &patterns,
        );
    }
}

/// Without an index, blocks behind the first occurrences are not decoded.
#[test]
fn the_first_occurrences_need_few_blocks() {
    let text = cases::text(9000);
    let file = indexed(&text, 500, None);
    let mut archive = Archive::open(Cursor::new(&file), &options(1).threads(1)).unwrap();
    let pattern = &text[700..720];
    let wanted = naive(&text, pattern)[0];
    let found = archive
        .searcher()
        .unwrap()
        .locate_first(&[pattern], 1);
    assert_eq!(found.unwrap(), [[wanted]]);
    let decoded = archive.search_cost().blocks;
    assert!((1..6).contains(&decoded), "{decoded} blocks");
    archive.locate(&[pattern], 1).unwrap();
    assert_eq!(archive.search_cost().blocks, decoded + 18);
}

/// A block that stays on disk is found behind its tables.
#[test]
fn a_block_on_disk_may_have_tables() {
    let text = cases::text(9000);
    let file = common::with_tables(&text, Some(8));
    for (number, start) in [(0, 0), (1, 4500)] {
        let pattern = &text[start + 2000..start + 2009];
        let found = internals::locate_on_disk(&mut open(&file), number, pattern, usize::MAX);
        let mut found = found.unwrap().expect("the block has an index");
        found.sort_unstable();
        let wanted = naive(&text[start..start + 4500], pattern);
        assert_eq!(found, wanted);
    }
}

#[test]
fn every_case_at_every_block_boundary() {
    for (name, text) in cases::shapes(200) {
        let mut patterns = patterns(&text, &[1, 2, 3, 5, 20]);
        patterns.push(text.clone());
        patterns.push([&text[..], b"x"].concat());
        for block in [1, 2, 3, 7, 64, 1000] {
            for rate in [None, Some(0), Some(8)] {
                let file = indexed(&text, block, rate);
                check(
                    &format!("{name}, blocks of {block}, rate {rate:?}"),
                    &text,
                    &file,
                    &patterns,
                );
            }
        }
    }
}

#[test]
fn every_case_in_blocks_that_are_worth_a_transform() {
    for (name, text) in cases::named() {
        let patterns = patterns(&text, &[1, 4, 30]);
        let patterns: Vec<_> = patterns
            .into_iter()
            .filter(|p| naive(&text, p).len() < 70_000)
            .collect();
        for (block, rate) in [(20_000, Some(64)), (20_000, None), (1 << 20, Some(256))] {
            let file = indexed(&text, block, rate);
            check(
                &format!("{name}, blocks of {block}, rate {rate:?}"),
                &text,
                &file,
                &patterns,
            );
        }
    }
}

/// The filtered text of a block cannot be searched, so the block is restored first.
#[test]
fn filtered_blocks_are_searched_as_the_bytes_that_they_stand_for() {
    for (name, text, filters) in cases::filtered(40_000) {
        let file = common::compressed(&text, 1 << 20);
        let ids = parts::parse(&file).into_iter();
        let ids = ids.filter(|part| part.kind == parts::Kind::FilterId);
        let ids: Vec<u8> = ids.flat_map(|part| part.bytes).collect();
        assert_eq!(ids, filters, "{name}: filters of the only block");
        let few = patterns(&text, &[1, 4, 61]);
        check(name, &text, &file, &few);
        let many: Vec<_> = text
            .windows(9)
            .step_by(text.len() / 250)
            .map(<[u8]>::to_vec)
            .collect();
        check(name, &text, &file, &many);
        let blocks = common::compressed(&text, 33_000);
        check(name, &text, &blocks, &[&few[..], &many[..20]].concat());
        let ends = [0..100, 32_990..33_010, 0..text.len() as u64, 39_000..39_900];
        for file in [&file, &blocks] {
            let wanted = ends
                .clone()
                .map(|r| text[r.start as usize..r.end as usize].to_vec());
            assert_eq!(open(file).extract_all(&ends).unwrap(), wanted, "{name}");
            for (range, wanted) in ends.iter().zip(&wanted) {
                let mut out = Vec::new();
                open(file)
                    .read_range(range.clone(), &mut out)
                    .unwrap();
                assert!(out == *wanted, "{name}: {range:?}");
            }
        }
    }
}

/// A stream of patterns is searched in many batches if memory is short, and decoded blocks are kept
/// or not.
#[test]
fn a_stream_of_patterns_is_searched_in_order() {
    let text = cases::text(400_000);
    let patterns: Vec<Vec<u8>> = (0..50_000)
        .map(|n| {
            let at = n * 7919 % text.len();
            text[at..text.len().min(at + n % 40)].to_vec()
        })
        .collect();
    for (block, rate) in [(1 << 20, None), (150_000, Some(16)), (90_000, None)] {
        let file = indexed(&text, block, rate);
        let counts = open(&file).count(&patterns).unwrap();
        let some = open(&file).locate(&patterns, 2).unwrap();
        for memory in [20 << 20, 64 << 20] {
            let options = options(1).memory(memory);
            let mut archive = Archive::open(Cursor::new(&file[..]), &options).unwrap();
            let mut came = 0;
            for (n, found) in archive.counts(patterns.iter()).enumerate() {
                assert_eq!(found.unwrap(), (&patterns[n], counts[n]), "{n}");
                came += 1;
            }
            assert_eq!(came, patterns.len());
            let streamed = archive.matches(patterns.clone(), 2);
            let streamed: Vec<_> = streamed.collect::<bwz::Result<_>>().unwrap();
            assert!(
                streamed
                    .into_iter()
                    .eq(patterns.iter().cloned().zip(some.iter().cloned()))
            );
        }
        let mut archive = open(&file);
        assert_eq!(archive.counts([""; 0]).count(), 0);
        let everywhere: Vec<_> = archive
            .counts(["", "~"])
            .map(Result::unwrap)
            .collect();
        assert_eq!(everywhere, [("", 400_001), ("~", 0)]);
    }
}

/// An error is the last item of a stream. Blocks that were decoded for one batch are not decoded
/// again for the next.
#[test]
fn a_stream_ends_with_its_error_and_keeps_its_blocks() {
    let text = cases::text(300_000);
    let patterns = vec![&text[1000..1200]; 30_000];
    let file = indexed(&text, 100_000, None);
    let options = options(1).memory(40 << 20);
    let mut archive = Archive::open(Cursor::new(&file[..]), &options).unwrap();
    assert!(
        archive
            .counts(&patterns)
            .all(|found| found.unwrap().1 == 1)
    );
    assert_eq!(archive.search_cost().blocks, 3);

    let mut bad = file;
    bad[5000] ^= 1;
    let mut archive = Archive::open(Cursor::new(&bad[..]), &options).unwrap();
    let found: Vec<_> = archive.counts(&patterns).collect();
    assert!(matches!(found[..], [Err(Error::Format { .. })]));
}

/// A genome in lines. A search for a single pattern decodes only some of its slices.
fn genome(size: usize) -> Vec<u8> {
    let mut bases = cases::random(size, 4);
    for (n, base) in bases.iter_mut().enumerate() {
        *base = if n % 61 == 60 {
            b'\n'
        } else {
            b"ACGT"[usize::from(*base)]
        };
    }
    bases
}

#[test]
fn one_pattern_decodes_the_slices_it_needs() {
    let text = genome(5_000_000);
    let file = indexed(&text, 3 << 20, Some(8));
    for len in [1, 2, 3, 8, 11] {
        for at in [0, 777_777, (3 << 20) - 5, 4_999_000] {
            let pattern = &text[at..at + len];
            let mut archive = open(&file);
            assert_eq!(
                archive.count(&[pattern]).unwrap(),
                [naive(&text, pattern).len() as u64]
            );
            let cost = archive.search_cost();
            assert_eq!(cost.blocks, 0, "{len} symbols");
            assert!(cost.slices <= 2 * 2 * (len as u64 - 1), "{cost:?}");
            assert!(cost.coded_bytes < file.len() as u64, "{cost:?}");
        }
    }
    let pattern = &text[1_234_567..1_234_567 + 14];
    let mut archive = open(&file);
    let matches = archive.locate(&[pattern], usize::MAX).unwrap();
    assert_eq!(matches[0].positions, naive(&text, pattern));
    assert_eq!(archive.search_cost().blocks, 0);
}

#[test]
fn many_patterns_share_the_slices_that_they_need() {
    let text = genome(5_000_000);
    let patterns: Vec<&[u8]> = (0..250)
        .map(|n| &text[n * 19_000..][..1 + n * 7 % 60])
        .chain([&b"absent"[..]])
        .collect();
    let wanted: Vec<Vec<u64>> = patterns
        .iter()
        .map(|p| occurrences(&text, p))
        .collect();
    let counts: Vec<u64> = wanted
        .iter()
        .map(|positions| positions.len() as u64)
        .collect();
    let few = [patterns[50], patterns[9], patterns[30]];
    for rate in [16, 0] {
        let file = indexed(&text, 6 << 20, Some(rate));
        for options in [options(2), internals::wide(options(2))] {
            let open = || Archive::open(Cursor::new(&file[..]), &options).unwrap();
            let mut archive = open();
            assert_eq!(archive.count(&patterns).unwrap(), counts);
            let cost = archive.search_cost();
            // Each slice has 40,960 runs, which are 54,600 bytes.
            assert!(cost.blocks == 0 && cost.slices < 110, "{cost:?}");
            let mut archive = open();
            for (pattern, found) in few.iter().zip(archive.locate(&few, 3).unwrap()) {
                let all = occurrences(&text, pattern);
                assert_eq!(found.count, all.len() as u64);
                assert_eq!(found.positions, all[..all.len().min(3)]);
            }
            // The first positions of a pattern that is nearly everywhere are found in the text.
            let cost = archive.search_cost();
            assert!(
                rate == 0 || cost.blocks <= 1 && cost.slices < 110,
                "{cost:?}"
            );
            // After many searches, decoding the whole block pays.
            let mut archive = open();
            let mut searcher = archive.searcher().unwrap();
            for _ in 0..20 {
                assert_eq!(searcher.count(&patterns).unwrap(), counts);
            }
            drop(searcher);
            assert_eq!(archive.search_cost().blocks, 1);
        }
    }
}

#[test]
fn ranges_are_extracted_with_and_without_an_index() {
    let text = genome(4_000_000);
    let ranges: Vec<_> = [
        0,
        1,
        100,
        3 << 19,
        (3 << 20) - 20,
        (3 << 20) - 1,
        3 << 20,
        3_999_990,
    ]
    .into_iter()
    .flat_map(|at: u64| [at..at, at..at + 1, at..(at + 12).min(4_000_000)])
    .collect();
    let wanted: Vec<_> = ranges
        .iter()
        .map(|r| text[r.start as usize..r.end as usize].to_vec())
        .collect();
    for rate in [None, Some(0), Some(16)] {
        let file = indexed(&text, 3 << 20, rate);
        assert_eq!(
            open(&file).extract_all(&ranges).unwrap(),
            wanted,
            "{rate:?}"
        );
        for (range, wanted) in ranges.iter().zip(&wanted) {
            let mut archive = open(&file);
            assert_eq!(archive.extract(range.clone()).unwrap(), wanted[..]);
            // The second block has fewer slices than a range takes steps.
            let on_disk = rate == Some(16) && range.end <= 3 << 20;
            assert!(!on_disk || archive.search_cost().blocks == 0, "{range:?}");
        }
        let beyond = open(&file).extract(0..4_000_001);
        assert!(matches!(beyond, Err(Error::Usage(_))));
    }
}

#[test]
fn a_thousand_patterns_across_the_block_boundaries_of_a_text() {
    const BLOCK: usize = 1 << 20;
    let text = cases::text(4 * BLOCK + 12_345);
    let file = indexed(&text, BLOCK as u32, Some(256));
    let noise = cases::random(3000, 256);
    let patterns: Vec<&[u8]> = (0..1000)
        .map(|n| {
            let len = 2 + usize::from(noise[3 * n]) % 60;
            let boundary = BLOCK * (1 + usize::from(noise[3 * n + 1]) % 4);
            let before = 1 + usize::from(noise[3 * n + 2]) % (len - 1);
            &text[boundary - before..boundary - before + len]
        })
        .collect();
    let found = open(&file).locate(&patterns, usize::MAX).unwrap();
    for (pattern, found) in patterns.iter().zip(found) {
        let wanted: Vec<u64> = occurrences(&text, pattern);
        assert_eq!(
            (found.count, found.positions),
            (wanted.len() as u64, wanted),
            "{pattern:?}"
        );
    }
}

/// As [`naive`], for longer texts.
fn occurrences(text: &[u8], pattern: &[u8]) -> Vec<u64> {
    let mut from = 0;
    let next = || {
        let at = from + memchr::memmem::find(&text[from..], pattern)?;
        from = at + 1;
        Some(at as u64)
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn frames_are_searched_as_one_stream() {
    let parts = [
        cases::text(700),
        vec![],
        cases::random(100, 256),
        cases::text(900),
    ];
    let text = parts.concat();
    let rates = [None, Some(8), Some(0), Some(16)];
    let files = parts
        .iter()
        .zip(rates)
        .map(|(part, rate)| indexed(part, 256, rate));
    let file: Vec<u8> = files.flatten().collect();
    let mut patterns = patterns(&text, &[1, 3, 9]);
    patterns.push(text[690..720].to_vec());
    patterns.push(text[690..810].to_vec());
    check("frames", &text, &file, &patterns);
}

#[test]
fn an_index_does_not_depend_on_threads_and_changes_no_byte_of_the_text() {
    let text = cases::text(300_000);
    let file = indexed(&text, 100_000, Some(32));
    for threads in [1, 3, 8] {
        let options = options(100_000)
            .threads(threads)
            .index(32)
            .unwrap();
        let mut again = Vec::new();
        bwz::compress(&text[..], &mut again, &options).unwrap();
        assert!(again == file, "{threads} threads");
    }
    assert!(common::decompressed(&file).0 == text);
    let archive = open(&file);
    let index = archive.frames()[0].index.unwrap();
    assert_eq!(index.sample_rate, Some(32));
    let counting = indexed(&text, 100_000, Some(0));
    assert_eq!(
        open(&counting).frames()[0]
            .index
            .unwrap()
            .sample_rate,
        None
    );
    assert!(counting.len() < file.len());
    assert_eq!(
        open(&common::compressed(&text, 100_000)).frames()[0].index,
        None
    );
}

/// One file has blocks of both kinds.
#[test]
fn blocks_that_compress_well_keep_fewer_positions() {
    let lines: String = (0..20_000)
        .map(|n| format!("{n:06} GET /index/{} 200 from host{}\n", n % 5, n % 7))
        .collect();
    let prose = cases::text(700_000);
    let compressed = |text: &[u8]| {
        let mut file = Vec::new();
        bwz::compress(text, &mut file, &options(256 << 10).searchable()).unwrap();
        file
    };
    let rate = |text: &[u8]| {
        let index = open(&compressed(text)).frames()[0].index;
        index.unwrap().sample_rate.unwrap()
    };
    assert_eq!(rate(&prose), bwz::DEFAULT_SAMPLE_RATE);
    assert!(rate(lines.as_bytes()) > bwz::DEFAULT_SAMPLE_RATE);
    let text = [lines.as_bytes(), &prose].concat();
    let file = compressed(&text);
    let mut restored = Vec::new();
    bwz::decompress(&file[..], &mut restored, &options(1)).unwrap();
    assert!(restored == text);
    let patterns = patterns(&text, &[3, 8, 40]);
    let patterns: Vec<_> = patterns
        .into_iter()
        .filter(|p| naive(&text, p).len() < 70_000)
        .collect();
    check("lines and prose", &text, &file, &patterns);
}

#[test]
fn a_rate_that_makes_no_sense_is_refused() {
    for rate in [1, 4, 7, 100, 32_768, u32::MAX] {
        assert!(
            matches!(Options::new().index(rate), Err(Error::Usage(_))),
            "{rate}"
        );
    }
    for rate in [0, 8, 256, 16_384] {
        assert!(Options::new().index(rate).is_ok(), "{rate}");
    }
}

/// A changed byte anywhere leads to an error or to the right answer.
#[test]
fn damage_never_makes_a_wrong_count() {
    let text = genome(1_500_000);
    let file = indexed(&text, 2 << 20, Some(8));
    let pattern = &text[400_000..400_011];
    let wanted = naive(&text, pattern);
    let seek_table = file.len() - 100;
    let mut errors = 0;
    let mut right = 0;
    let everywhere = (0..file.len()).step_by(9001);
    // Headers and the seek table are tried byte by byte. The index is at the front of the block.
    let places = (0..70)
        .chain((70..1700).step_by(3))
        .chain(seek_table..file.len());
    for at in places.chain(everywhere) {
        let mut bad = file.clone();
        bad[at] ^= 0x10;
        let found = Archive::open(Cursor::new(&bad[..]), &options(1))
            .and_then(|mut archive| archive.locate(&[pattern], usize::MAX));
        match found {
            Ok(found) => {
                assert_eq!(found[0].positions, wanted, "byte {at}");
                right += 1;
            }
            Err(Error::Format { .. } | Error::Limit { .. } | Error::Version { .. }) => errors += 1,
            Err(e) => panic!("byte {at}: {e}"),
        }
    }
    assert!(
        errors > 300 && right >= 10,
        "{errors} errors, {right} right"
    );
}

#[test]
fn an_index_goes_with_every_effort() {
    let text = cases::text(300_000);
    for effort in [Effort::Fast, Effort::Best] {
        let options = options(1 << 20).effort(effort).index(64).unwrap();
        let mut file = Vec::new();
        bwz::compress(&text[..], &mut file, &options).unwrap();
        check("an effort", &text, &file, &patterns(&text, &[1, 5, 30]));
    }
}
