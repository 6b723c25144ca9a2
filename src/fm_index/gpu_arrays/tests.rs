//! Tests of a GPU against the CPU, whose searches are tested against plain ones.

use super::*;
use crate::base::error::Error;
use crate::bwt::{Bwt, Sorter};
use crate::cases;
use crate::gpu::testing::{gpu, lacks_memory, most_memory, random, say};

fn index(text: &[u8], rate: u32) -> FmIndex {
    FmIndex::new(Sorter::Cpu.sort(text, rate).unwrap()).unwrap()
}

/// Patterns from all over the text, some that are not in it, and the hard ones.
fn patterns(text: &[u8], seed: u64, count: usize) -> Vec<Vec<u8>> {
    let fixed: [&[u8]; 7] = [b"", b"\0", b"\xff", b"\0\xff", b"\xff\0", b"aa", b"absent!"];
    let mut patterns: Vec<Vec<u8>> = fixed.map(<[u8]>::to_vec).into();
    patterns.push([text, b"absent!"].concat());
    // A search through a whole text takes one step after the other.
    if text.len() <= 70_000 {
        patterns.push(text.to_vec());
        patterns.push([b"x", text].concat());
        patterns.push([text, b"x"].concat());
    }
    for numbers in random(4 * count, u64::MAX >> 16, seed).chunks(4) {
        let at = numbers[0] as usize % text.len();
        let len = [1, 3, 12, 120][numbers[1] as usize % 4].min(text.len() - at);
        let len = numbers[2] as usize % (len + 1);
        let mut pattern = text[at..at + len].to_vec();
        match numbers[3] % 8 {
            0 => pattern.push(numbers[3] as u8),
            1 => pattern.insert(0, numbers[3] as u8),
            _ => (),
        }
        patterns.push(pattern);
    }
    patterns
}

/// Compares intervals and, for up to `limit` rows of each, positions. Returns the number of
/// patterns and positions compared.
fn check(
    gpu: &mut gpu::GpuSearch,
    name: &str,
    index: &FmIndex,
    patterns: &[Vec<u8>],
    limit: usize,
) -> usize {
    let mut expected = vec![0..0; patterns.len()];
    index.search(patterns, &mut expected);
    let mut found = vec![7..9; patterns.len()];
    index
        .search_on(gpu, patterns, &mut found)
        .unwrap();
    for (pattern, (expected, found)) in patterns.iter().zip(expected.iter().zip(&found)) {
        let same = expected == found || expected.is_empty() && found.is_empty();
        let pattern = &pattern[..pattern.len().min(50)];
        assert!(same, "{name}: {expected:?} {found:?} {pattern:?}");
    }
    let mut counts = vec![u64::MAX; patterns.len()];
    let arrays = index.arrays(patterns.len()).unwrap();
    gpu.search(&arrays, patterns, &mut counts, |rows| rows.len() as u64)
        .unwrap();
    assert!(
        counts
            .iter()
            .zip(&expected)
            .all(|(&n, rows)| n == rows.len() as u64),
        "{name}"
    );
    let rows: Vec<u32> = expected
        .iter()
        .flat_map(|rows| rows.clone().take(limit))
        .collect();
    let positions = index.positions_on(gpu, &rows).unwrap();
    assert!(
        positions == index.positions(&rows).unwrap(),
        "{name}: positions"
    );
    patterns.len() + rows.len()
}

#[test]
fn named_cases() {
    if gpu().is_none() {
        return;
    }
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let mut count = 0;
    for (seed, (name, text)) in cases::named().into_iter().enumerate() {
        if !text.is_empty() {
            for rate in [4, 256] {
                let index = index(&text, rate);
                let patterns = patterns(&text, seed as u64, 300);
                count += check(&mut gpu, &name, &index, &patterns, 20);
            }
        }
    }
    say(format_args!("{count} intervals and positions"));
}

#[test]
fn many_random_texts() {
    if gpu().is_none() {
        return;
    }
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let mut count = 0;
    for (seed, alphabet) in (0..240).zip([1, 2, 4, 5, 16, 17, 100, 256].into_iter().cycle()) {
        let len = 1 + random(1, 3000, seed)[0] as usize;
        let mut text: Vec<u8> = random(len, alphabet, seed + 1)
            .iter()
            .map(|&c| (255 - c) as u8)
            .collect();
        // A rare symbol or two, which the bit-sliced rank keeps in lists.
        text[len / 2] = b'>';
        text[len / 3] = 0;
        let index = index(&text, 2 << (seed % 9));
        let patterns = patterns(&text, seed, 200);
        count += check(&mut gpu, &format!("seed {seed}"), &index, &patterns, 20);
    }
    say(format_args!("{count} intervals and positions"));
}

/// All sizes close to those of lines, borders and super borders; every pattern of one symbol, and
/// every row.
#[test]
fn borders() {
    if gpu().is_none() {
        return;
    }
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let mut count = 0;
    let singles: Vec<Vec<u8>> = (0..=255).map(|c| vec![c]).collect();
    for border in [64, 128, 224, 256, 512, 16_384, 32_768, 57_344] {
        for (len, alphabet) in (border - 1..=border + 1).zip([4, 7, 256]) {
            for alphabet in [alphabet, 16, 90] {
                let text = cases::random(len, alphabet);
                let index = index(&text, 8);
                count += check(
                    &mut gpu,
                    &format!("{len}, {alphabet}"),
                    &index,
                    &singles,
                    len,
                );
            }
        }
    }
    say(format_args!("{count} intervals and positions"));
}

/// Enough patterns for several batches and all streams, one of them longer than a batch.
#[test]
fn batches() {
    if gpu().is_none() {
        return;
    }
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let mut count = 0;
    let long = cases::text(18 << 20);
    for (name, text) in [
        ("text", &long[..3_000_000]),
        ("DNA", &cases::random(3_000_000, 4)[..]),
        ("lines of DNA", &cases::random(3_000_000, 5)),
        ("17", &cases::random(3_000_000, 17)),
        ("long text", &long),
    ] {
        let index = index(text, 32);
        let mut patterns = patterns(text, 5, 900_000);
        patterns.rotate_left(5);
        count += check(&mut gpu, name, &index, &patterns, 2);
    }
    say(format_args!("{count} intervals and positions"));
}

/// The BWT of the symbols from 0 up to `sigma`, repeated `count` times, in a block of any size:
/// suffixes that begin with the same symbol are in the order of their lengths.
fn of_repeated(sigma: usize, count: usize) -> Bwt {
    const RATE: usize = 64;
    let len = sigma * count;
    let mut bytes = vec![(sigma - 1) as u8; len];
    for (symbol, rows) in bytes[count..].chunks_mut(count).enumerate() {
        rows.fill(symbol as u8);
    }
    let row = |pos: usize| (1 + pos % sigma * count + count - 1 - pos / sigma) as u64;
    let samples = (0..len).step_by(RATE).map(row).collect();
    Bwt {
        bytes,
        sample_rate: RATE as u32,
        samples,
    }
}

/// Rows that take all 32 bits, in bit-sliced layouts and in bytes, up to the largest block: 32 bits
/// just suffice to count its bytes, and for the counters of 128 symbols per two lines or 256 per
/// four.
#[test]
fn blocks_above_2_gib() {
    if gpu().is_none() {
        return;
    }
    let _alone = most_memory();
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let most = gpu::MOST_SEARCHED;
    for (sigma, len) in [
        (4, 1 << 31),
        (4, most),
        (20, most),
        (128, most),
        (256, most),
    ] {
        // A GPU with less memory searches as large a block as it can hold.
        let mut count = len as usize / sigma;
        loop {
            let done = search_repeated(&mut gpu, sigma, count);
            if !lacks_memory(&done) {
                done.unwrap();
                break;
            }
            count /= 2;
            assert!(count > 1 << 20, "{done:?}");
        }
    }
}

/// Searches a block of the symbols from 0 up to `sigma`, repeated `count` times, and locates many
/// of its rows.
fn search_repeated(gpu: &mut gpu::GpuSearch, sigma: usize, count: usize) -> Result<(), Error> {
    let index = FmIndex::new(of_repeated(sigma, count)).unwrap();
    let len = sigma * count;
    let patterns: Vec<Vec<u8>> = (0..400)
        .map(|n| {
            (0..1 + n % 90)
                .map(|k| ((n / 7 + k) % sigma) as u8)
                .collect()
        })
        .collect();
    let mut intervals = vec![0..0; patterns.len()];
    index.search_on(gpu, &patterns, &mut intervals)?;
    for (pattern, rows) in patterns.iter().zip(&intervals) {
        let first = usize::from(pattern[0]);
        let occurrences = (len - first - pattern.len()) / sigma + 1;
        // The longest of the suffixes are the last.
        let end = 1 + (first + 1) * count;
        assert_eq!(
            *rows,
            (end - occurrences) as u32..end as u32,
            "{sigma}, {pattern:?}"
        );
    }
    let rows: Vec<u32> = (1..=len as u32)
        .step_by(len / 100_000)
        .chain([len as u32])
        .collect();
    let positions = index.positions_on(gpu, &rows)?;
    for (row, pos) in rows.iter().zip(positions) {
        let symbol = (*row as usize - 1) / count;
        let row = (*row as usize - 1) % count;
        assert_eq!(pos as usize, (count - 1 - row) * sigma + symbol, "{sigma}");
    }
    say(format_args!(
        "{} intervals and positions of {len} bytes",
        patterns.len() + rows.len()
    ));
    Ok(())
}

/// Indexes of several blocks stay on the GPU and take turns, and dropped ones are removed. If
/// memory is scarce, there is one index.
#[test]
fn indexes_stay() {
    if gpu().is_none() {
        return;
    }
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let texts = [
        cases::text(70_001),
        cases::random(90_000, 4),
        cases::random(50_000, 17),
    ];
    let mut indexes: Vec<FmIndex> = texts.iter().map(|text| index(text, 16)).collect();
    // From the second turn on they have a k-mer table.
    for (turn, count) in [10, 2000, 2000, 10].into_iter().enumerate() {
        let before = gpu.is_mostly_free();
        for (text, index) in texts.iter().zip(&indexes) {
            check(
                &mut gpu,
                "in turn",
                index,
                &patterns(text, turn as u64, count),
                3,
            );
        }
        // Other tests may have taken the memory meanwhile.
        assert!(
            gpu.kept() == 3 || !before || !gpu.is_mostly_free(),
            "turn {turn}: {}",
            gpu.kept()
        );
    }
    indexes.remove(1);
    check(
        &mut gpu,
        "the first",
        &indexes[0],
        &patterns(&texts[0], 1, 10),
        3,
    );
    assert!(gpu.kept() <= 2);
    gpu.make_scarce();
    let other = index(&texts[1], 16);
    for (text, index) in [
        (1, &other),
        (0, &indexes[0]),
        (2, &indexes[1]),
        (0, &indexes[0]),
    ] {
        check(
            &mut gpu,
            "scarce",
            index,
            &patterns(&texts[text], 1, 100),
            3,
        );
    }
    assert_eq!(gpu.kept(), 1);
}

/// The fewest and smallest inputs that reach every kernel, for the tools of `compute-sanitizer`.
#[test]
fn every_kernel_once() {
    if gpu().is_none() {
        return;
    }
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let mut count = 0;
    for alphabet in [4, 8, 16, 60, 256] {
        let text = cases::random(3000, alphabet);
        let index = index(&text, 16);
        count += check(&mut gpu, "small", &index, &patterns(&text, 3, 100), 5);
    }
    say(format_args!("{count} intervals and positions"));
}

#[test]
fn a_failure_leaves_the_gpu_usable() {
    if gpu().is_none() {
        return;
    }
    let text = cases::text(50_000);
    let index = index(&text, 64);
    let patterns = patterns(&text, 1, 600_000);
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let mut failures = 0;
    loop {
        gpu.fail_after(failures);
        let mut found = vec![0..0; patterns.len()];
        match index.search_on(&mut gpu, &patterns, &mut found) {
            Err(Error::Device(_)) => failures += 1,
            done => break done.unwrap(),
        }
    }
    assert!(failures > 0);
    gpu.fail_after(u32::MAX);
    check(&mut gpu, "after failures", &index, &patterns, 3);
}

/// Damage that the CPU handles is handled by a GPU with the same outcome.
#[test]
fn contradictions() {
    if gpu().is_none() {
        return;
    }
    let mut gpu = gpu::GpuSearch::new(0).unwrap();
    let mut errors = 0;
    let mut others = 0;
    for (seed, sigma) in (0..200).zip([1, 2, 5, 17, 256].into_iter().cycle()) {
        let bytes = cases::random(400 + seed, sigma);
        let samples = (0..bytes.len().div_ceil(8))
            .map(|k| 1 + (k * 8) as u64)
            .collect();
        let Ok(index) = FmIndex::new(Bwt {
            bytes,
            sample_rate: 8,
            samples,
        }) else {
            continue;
        };
        let rows: Vec<u32> = (0..=index.len() as u32)
            .step_by(1 + seed % 7 * 30)
            .collect();
        match (index.positions(&rows), index.positions_on(&mut gpu, &rows)) {
            (Err(Error::Format { .. }), Err(Error::Format { .. })) => errors += 1,
            (expected, found) => {
                assert_eq!(expected.unwrap(), found.unwrap(), "seed {seed}");
                others += 1;
            }
        }
    }
    say(format_args!("{errors} errors, {others} others"));
    assert!(errors > 10);
}
