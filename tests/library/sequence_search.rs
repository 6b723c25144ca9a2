//! Search by sequence, positions, records and regions of generated genomes, compared with a search
//! of the unwrapped sequences that is so simple that it is hardly wrong.

use crate::common::{cases, indexed, options};
use bwz::{Archive, Options};
use memchr::memmem;
use std::io::Cursor;

/// A record from which the genome was made: its bases in upper case, and the raw offset of each.
struct Truth {
    name: String,
    bases: Vec<u8>,
    /// The bases as they are in the file.
    written: Vec<u8>,
    offsets: Vec<u64>,
    columns: usize,
    line_end: usize,
}

/// A genome in lines of `columns` columns, and the truth about it.
fn genome(sizes: &[usize], columns: usize, line_end: &str) -> (Vec<u8>, Vec<Truth>) {
    let mut raw = Vec::new();
    let mut truths = Vec::new();
    let mut random = cases::random(sizes.iter().sum(), 4).into_iter();
    for (number, &size) in sizes.iter().enumerate() {
        let name = format!("chr{number}");
        raw.extend(format!(">{name} a genome{line_end}").bytes());
        let mut written = Vec::new();
        let mut offsets = Vec::new();
        for n in 0..size {
            let base = b"ACGT"[usize::from(random.next().unwrap())];
            let base = if n % 5000 > 4900 { b'N' } else { base };
            let is_small = n / 777 % 3 == 1;
            written.push(if is_small {
                base.to_ascii_lowercase()
            } else {
                base
            });
        }
        for line in written.chunks(columns) {
            offsets.extend((raw.len()..raw.len() + line.len()).map(|at| at as u64));
            raw.extend_from_slice(line);
            raw.extend(line_end.bytes());
        }
        let bases = written.to_ascii_uppercase();
        truths.push(Truth {
            name,
            bases,
            written,
            offsets,
            columns,
            line_end: line_end.len(),
        });
    }
    (raw, truths)
}

/// Genomes of all shapes: lines of 60 and 80, CRLF, one line, several records, empty ones.
fn genomes(size: usize) -> Vec<(&'static str, Vec<u8>, Vec<Truth>)> {
    let shapes: [(&str, Vec<usize>, usize, &str); 4] = [
        ("60 columns", vec![size / 2, 0, size / 3, 17, 0], 60, "\n"),
        (
            "80 columns, CRLF",
            vec![0, size / 3, size / 3, 80],
            80,
            "\r\n",
        ),
        ("one line", vec![size / 2], usize::MAX, "\n"),
        ("lines of one", vec![size / 9, 3], 1, "\n"),
    ];
    let make = |(name, sizes, columns, end): (_, Vec<usize>, _, _)| {
        let (raw, truths) = genome(&sizes, columns, end);
        (name, raw, truths)
    };
    shapes.into_iter().map(make).collect()
}

/// The record and the base of each match, in order.
fn naive(truths: &[Truth], pattern: &[u8]) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (record, truth) in (0..).zip(truths) {
        let mut from = 0;
        while let Some(at) = memmem::find(&truth.bases[from..], pattern) {
            found.push((record, (from + at) as u64));
            from += at + 1;
        }
    }
    found
}

/// The letters of a record in upper case, and their raw offsets.
type Letters = (Vec<u8>, Vec<u64>);

/// Records of random letters in lines of `columns` columns: the file, and the letters as they are
/// searched.
pub fn genome_of(sizes: &[usize], columns: usize, letters: &[u8]) -> (Vec<u8>, Vec<Letters>) {
    let mut raw = Vec::new();
    let mut records = Vec::new();
    let mut random = cases::random(sizes.iter().sum(), letters.len() as u32).into_iter();
    for (number, &size) in sizes.iter().enumerate() {
        raw.extend(format!(">chr{number}\n").bytes());
        let written: Vec<u8> = random
            .by_ref()
            .take(size)
            .map(|n| letters[usize::from(n)])
            .collect();
        let mut offsets = Vec::new();
        for line in written.chunks(columns) {
            offsets.extend((raw.len()..raw.len() + line.len()).map(|at| at as u64));
            raw.extend_from_slice(line);
            raw.push(b'\n');
        }
        records.push((written.to_ascii_uppercase(), offsets));
    }
    (raw, records)
}

pub fn reverse_complement(bases: &[u8]) -> Vec<u8> {
    let complement = |&base: &u8| match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        other => other,
    };
    bases.iter().rev().map(complement).collect()
}

/// Reads of 50 to 150 bases, each with the position from which it was cut. Every second one is from
/// the other strand, and every fourth one has a base changed.
fn reads(truths: &[Truth], count: usize) -> Vec<(Vec<u8>, (u64, u64))> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut number = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as usize % below
    };
    let mut reads = Vec::new();
    let long: Vec<usize> = (0..truths.len())
        .filter(|&n| truths[n].bases.len() >= 150)
        .collect();
    for n in 0..count {
        let record = long[number(long.len())];
        let bases = &truths[record].bases;
        let len = 50 + n % 101;
        let at = number(bases.len() - len + 1);
        let mut read = bases[at..at + len].to_vec();
        if n % 4 > 1 {
            let middle = len / 2;
            read[middle] = if read[middle] == b'A' { b'C' } else { b'A' };
        }
        let read = if n % 2 == 1 {
            reverse_complement(&read)
        } else {
            read
        };
        reads.push((read, (record as u64, at as u64)));
    }
    reads
}

pub fn open(file: &[u8], options: &Options) -> Archive<Cursor<Vec<u8>>> {
    Archive::open(Cursor::new(file.to_vec()), options).unwrap()
}

/// Counts and locates in both cases, and compares positions.
fn check(name: &str, file: &[u8], truths: &[Truth], patterns: &[Vec<u8>]) {
    let mut archive = open(file, &options(1));
    assert!(archive.has_sequences(), "{name}");
    let folded: Vec<Vec<u8>> = patterns
        .iter()
        .map(|p| p.to_ascii_uppercase())
        .collect();
    let wanted: Vec<_> = folded
        .iter()
        .map(|pattern| naive(truths, pattern))
        .collect();
    let counts: Vec<u64> = wanted
        .iter()
        .map(|all| all.len() as u64)
        .collect();
    assert_eq!(archive.count(patterns).unwrap(), counts, "{name}");
    let found = archive.locate(patterns, usize::MAX).unwrap();
    let some = archive.locate(patterns, 2).unwrap();
    for (n, wanted) in wanted.iter().enumerate() {
        let what = format!("{name}: {}", String::from_utf8_lossy(&patterns[n]));
        let offset = |&(record, base): &(u64, u64)| truths[record as usize].offsets[base as usize];
        let offsets: Vec<u64> = wanted.iter().map(offset).collect();
        assert_eq!(found[n].positions, offsets, "{what}");
        assert_eq!(some[n].count, counts[n], "{what}");
        assert_eq!(some[n].positions.len(), offsets.len().min(2), "{what}");
        assert!(
            some[n]
                .positions
                .iter()
                .all(|at| offsets.contains(at)),
            "{what}"
        );
    }
    let all: Vec<u64> = found
        .iter()
        .flat_map(|found| found.positions.clone())
        .collect();
    let places: Vec<_> = archive
        .places(&all)
        .unwrap()
        .iter()
        .map(|place| place.base)
        .collect();
    let bases: Vec<_> = wanted
        .iter()
        .flatten()
        .map(|&base| Some(base))
        .collect();
    assert_eq!(places, bases, "{name}");
}

#[test]
fn reads_are_found_where_they_were_cut() {
    let (raw, truths) = genome(&[120_000, 0, 60_000, 20_000], 60, "\n");
    let reads = reads(&truths, 10_000);
    let patterns: Vec<Vec<u8>> = reads
        .iter()
        .flat_map(|(read, _)| [read.clone(), reverse_complement(read)])
        .collect();
    for block in [1 << 20, 5000] {
        let file = indexed(&raw, block, Some(8));
        let mut archive = open(&file, &options(1));
        let found = archive.locate(&patterns, usize::MAX).unwrap();
        for (n, (read, (record, base))) in reads.iter().enumerate() {
            let wanted = [read.clone(), reverse_complement(read)].map(|p| naive(&truths, &p));
            let both = [&found[2 * n], &found[2 * n + 1]];
            let offsets = |all: &[(u64, u64)]| -> Vec<u64> {
                all.iter()
                    .map(|&(r, b)| truths[r as usize].offsets[b as usize])
                    .collect()
            };
            for (found, wanted) in both.iter().zip(&wanted) {
                assert_eq!(found.positions, offsets(wanted), "read {n}");
            }
            // A read without a change is found at the position from which it was cut.
            let truth = truths[*record as usize].offsets[*base as usize];
            assert_eq!(
                both[n % 2].positions.contains(&truth),
                n % 4 < 2,
                "read {n}"
            );
        }
    }
}

#[test]
fn genomes_of_all_shapes_are_searched_as_one_text_in_blocks_of_all_sizes() {
    for (name, raw, truths) in genomes(20_000) {
        let cut = reads(&truths, 60)
            .into_iter()
            .map(|(read, _)| read);
        let mut patterns: Vec<Vec<u8>> = cut.collect();
        patterns.extend([
            b"N".to_vec(),
            b"nn".to_vec(),
            b"acgtA".to_vec(),
            b"-".to_vec(),
        ]);
        patterns.push(
            truths
                .iter()
                .max_by_key(|truth| truth.bases.len())
                .unwrap()
                .bases
                .clone(),
        );
        for block in [1 << 20, 8000, 997, 150, 33] {
            for rate in [8, 0] {
                let file = indexed(&raw, block, Some(rate));
                check(
                    &format!("{name}, blocks of {block}"),
                    &file,
                    &truths,
                    &patterns,
                );
            }
        }
    }
}

#[test]
fn records_and_regions_are_those_of_the_genome() {
    for (name, raw, truths) in genomes(20_000) {
        for block in [1 << 20, 8000, 997, 150] {
            let file = indexed(&raw, block, Some(8));
            let mut archive = open(&file, &options(1));
            let records = archive.records().unwrap().to_vec();
            assert_eq!(records.len(), truths.len(), "{name}, blocks of {block}");
            for (record, truth) in records.iter().zip(&truths) {
                let what = format!("{name}, blocks of {block}, {}", truth.name);
                assert_eq!(record.name, truth.name.as_bytes(), "{what}");
                let len = truth.bases.len();
                assert_eq!(record.length, len as u64, "{what}");
                // A single line that is split by the end of a block looks like several lines.
                if len > 0 && truth.columns < block as usize / 2 {
                    assert_eq!(record.offset, truth.offsets[0], "{what}");
                    assert!(record.is_regular, "{what}");
                    let columns = truth.columns.min(len) as u64;
                    let width = columns + truth.line_end as u64;
                    assert_eq!(
                        (record.line_bases, record.line_width),
                        (columns, width),
                        "{what}"
                    );
                }
                for (from, to) in [(0, len), (len / 3, len / 3 + 5), (len / 2, len), (len, len)] {
                    let from = from.min(len);
                    let to = to.min(len);
                    let bases = archive
                        .region(&truth.name, from as u64..to as u64)
                        .unwrap();
                    assert!(bases == truth.written[from..to], "{what}: {from}..{to}");
                }
                let behind = archive
                    .region(&truth.name, len as u64..u64::MAX)
                    .unwrap();
                assert!(behind.is_empty(), "{what}");
            }
            assert!(archive.region("absent", 0..1).is_err());
        }
    }
}

/// Records with lines of different lengths, or with bytes between lines, are found but are not
/// regular.
#[test]
fn odd_records_are_searched_and_said_to_be_odd() {
    let raw = b">odd\nACGTACGTAC\nGT\nACGTACGTACG\n\n>even\nACG\nTT\n";
    let file = indexed(raw, 1 << 20, Some(8));
    let mut archive = open(&file, &options(1));
    let regular: Vec<bool> = archive
        .records()
        .unwrap()
        .iter()
        .map(|r| r.is_regular)
        .collect();
    assert_eq!(regular, [false, true]);
    assert_eq!(
        archive
            .count(&["ACGTACGTACGTACGTACGTACG", "GTT", "TACGA"])
            .unwrap(),
        [1, 1, 0]
    );
    assert_eq!(archive.region("odd", 9..13).unwrap(), b"CGTA");
}

#[test]
fn case_counts_if_it_is_asked_for() {
    let (raw, truths) = genome(&[9000], 60, "\n");
    for block in [1 << 20, 500] {
        let file = indexed(&raw, block, Some(8));
        let written = &truths[0].written;
        let small = written[800..830].to_vec();
        let patterns = [
            small.clone(),
            small.to_ascii_uppercase(),
            written[770..790].to_vec(),
            b"a".to_vec(),
        ];
        let counts = |options: &Options| open(&file, options).count(&patterns).unwrap();
        let naive = |pattern: &[u8]| {
            written
                .windows(pattern.len())
                .filter(|w| *w == pattern)
                .count()
        };
        let wanted: Vec<u64> = patterns.iter().map(|p| naive(p) as u64).collect();
        assert_eq!(counts(&options(1).match_case(true)), wanted);
        assert_eq!(counts(&options(1))[..3], [1, 1, 1]);
    }
}

#[test]
fn what_is_layout_in_sequences_is_refused() {
    let (raw, _) = genome(&[9000], 60, "\n");
    let file = indexed(&raw, 5000, Some(8));
    for pattern in [
        &b"AC GT"[..],
        b"ACGT\n",
        b"\r",
        b"AC\t",
        b"\xC1\xC3",
        b"A\xFF",
    ] {
        let said = open(&file, &options(1))
            .count(&[pattern])
            .unwrap_err()
            .to_string();
        assert!(said.contains("--index=bytes"), "{said}");
    }
    let mut bytes = Vec::new();
    let of_bytes = options(5000)
        .index(8)
        .unwrap()
        .index_of_bytes(true);
    bwz::compress(&raw[..], &mut bytes, &of_bytes).unwrap();
    assert_eq!(
        open(&bytes, &options(1))
            .count(&[&b">chr0"[..]])
            .unwrap(),
        [1]
    );
}

/// Bytes in sequences that are no residues are found unchanged, in stored blocks too.
#[test]
fn odd_bytes_are_searched_as_they_stand() {
    let head = b">a 7?\n";
    let odd = b"AC?GT\nac??gt\nAC>7~\nACGT\x00[\x7F\n";
    let lines = [&head[..], &[b'C'; 100], b"\n", odd].concat();
    for raw in [lines.clone(), lines.repeat(500)] {
        let times = raw.len() as u64 / lines.len() as u64;
        let file = indexed(&raw, 1 << 16, Some(8));
        let mut archive = open(&file, &options(1));
        for (pattern, once) in [
            (&b"?"[..], 3),
            (b"c??g", 1),
            (b"T?", 0),
            (b">7~a", 1),
            (b">a", 0),
            (b"7", 1),
            (b"t\x00[\x7F", 1),
            (b"{", 0),
        ] {
            assert_eq!(
                archive.count(&[pattern]).unwrap(),
                [once * times],
                "{pattern:?}"
            );
        }
    }
}

/// Frames of sequences and of bytes in one file: each is searched in its own way.
#[test]
fn frames_are_searched_each_its_own_way() {
    let (raw, truths) = genome(&[3000, 200], 60, "\n");
    let plain = b"some text with ACGTTGCAAC in it, and acgttgcaac".repeat(3);
    let frames = [&raw, &plain, &raw, &raw];
    let file = frames
        .map(|raw| indexed(raw, 700, Some(8)))
        .concat();
    let mut archive = open(&file, &options(1));
    let pattern = &truths[0].bases[100..170];
    let start = raw.len() as u64;
    let second = 2 * start + plain.len() as u64;
    let at = truths[0].offsets[100];
    let found = archive
        .locate(&[pattern, b"ACGTTGCAAC"], 100)
        .unwrap();
    assert_eq!(
        found[0].positions,
        [at, at + start + plain.len() as u64, at + second]
    );
    let inside = |at: &&u64| (start..start + plain.len() as u64).contains(at);
    assert_eq!(found[1].positions.iter().filter(inside).count(), 3);
    let places = archive.places(&found[0].positions).unwrap();
    let bases: Vec<_> = places.iter().map(|place| place.base).collect();
    assert_eq!(bases, [Some((0, 100)), Some((2, 100)), Some((4, 100))]);
    assert_eq!(archive.records().unwrap().len(), 6);
}

/// Reads of a FASTQ archive: their records are found, and there is no match in names or qualities.
#[test]
fn fastq_is_searched_in_its_sequences() {
    let mut raw = Vec::new();
    let letters = cases::random(40_000, 4);
    for (n, read) in letters.chunks(100).enumerate() {
        raw.extend(format!("@read{n} ACGT\n").bytes());
        raw.extend(
            read.iter()
                .map(|&letter| b"ACGT"[usize::from(letter)]),
        );
        raw.extend(b"\n+\n");
        raw.extend((0..100).map(|k| if k % 2 == 0 { b'A' } else { b'C' }));
        raw.push(b'\n');
    }
    for block in [1 << 20, 3000] {
        let mut archive = open(&indexed(&raw, block, Some(8)), &options(1));
        let records = archive.records().unwrap().to_vec();
        assert_eq!(records.len(), 400);
        for (n, record) in records.iter().enumerate() {
            let at = record.offset as usize;
            let bases = raw[at..at + 100].to_vec();
            assert_eq!(record.name, format!("read{n}").as_bytes());
            let qualities = record.quality_offset.unwrap() as usize;
            assert!(raw[qualities..].starts_with(b"ACACAC") && raw[qualities - 1] == b'\n');
            if n % 37 == 0 {
                let found = archive.locate(&[&bases], 9).unwrap();
                assert_eq!(found[0].positions, [record.offset]);
            }
        }
        assert_eq!(
            archive
                .count(&["ACACACACACACACACACACAC"])
                .unwrap(),
            [0]
        );
    }
}

/// All positions at which at most one base differs.
fn naive_with_mismatch(truths: &[Truth], pattern: &[u8]) -> Vec<u64> {
    let mut found = Vec::new();
    for truth in truths {
        for (at, window) in truth.bases.windows(pattern.len()).enumerate() {
            if window
                .iter()
                .zip(pattern)
                .filter(|(a, b)| a != b)
                .count()
                <= 1
            {
                found.push(truth.offsets[at]);
            }
        }
    }
    found
}

#[test]
fn matches_may_differ_in_one_byte() {
    for (name, raw, truths) in genomes(3000) {
        let cut = reads(&truths, 20)
            .into_iter()
            .map(|(read, _)| read);
        let mut patterns: Vec<Vec<u8>> = if name == "lines of one" {
            Vec::new()
        } else {
            cut.collect()
        };
        patterns.extend([b"ACGTACG".to_vec(), b"TT".to_vec(), b"GAC".to_vec()]);
        for block in [1 << 20, 500, 33] {
            let file = indexed(&raw, block, Some(8));
            let mut archive = open(&file, &options(1).max_mismatches(1).unwrap());
            let counts = archive.count(&patterns).unwrap();
            let found = archive.locate(&patterns, usize::MAX).unwrap();
            let some = archive.locate(&patterns, 2).unwrap();
            for (n, pattern) in patterns.iter().enumerate() {
                let what = format!("{name}, blocks of {block}, {}", pattern.escape_ascii());
                let wanted = naive_with_mismatch(&truths, pattern);
                assert_eq!(counts[n], wanted.len() as u64, "{what}");
                assert_eq!(found[n].positions, wanted, "{what}");
                assert_eq!(some[n].positions, wanted[..wanted.len().min(2)], "{what}");
            }
        }
    }
    let text = b"abracadabra, abrakadabra, ab\nra".repeat(9);
    for (block, rate) in [
        (1 << 20, Some(8)),
        (1 << 20, None),
        (7, Some(8)),
        (50, None),
    ] {
        let file = indexed(&text, block, rate);
        let mut archive = open(&file, &options(1).max_mismatches(1).unwrap());
        for pattern in [&b"abracadabra"[..], b"ab", b"abra", b"xbra", b"absent"] {
            let differs = |w: &[u8]| {
                w.iter()
                    .zip(pattern)
                    .filter(|(a, b)| a != b)
                    .count()
                    <= 1
            };
            let starts = (0..)
                .zip(text.windows(pattern.len()))
                .filter(|(_, w)| differs(w));
            let wanted: Vec<u64> = starts.map(|(at, _)| at).collect();
            assert_eq!(
                archive.locate(&[pattern], usize::MAX).unwrap()[0].positions,
                wanted
            );
        }
        assert!(archive.count(&["a"]).is_err());
    }
}

/// With little memory, patterns are searched in many stretches.
#[test]
fn little_memory_finds_the_same() {
    let (raw, _) = genome(&[20_000, 3000, 0, 9000], 60, "\n");
    for block in [1 << 20, 5000] {
        let file = indexed(&raw, block, Some(8));
        let bases = |n: usize| {
            let bases = (0..4 + n % 3).map(|at| b"ACGTacgt"[((n * 7919) >> (2 * at)) % 8]);
            bases.collect::<Vec<u8>>()
        };
        let patterns: Vec<Vec<u8>> = (0..60).map(bases).collect();
        for options in [
            options(1).match_case(true),
            options(1).max_mismatches(1).unwrap(),
        ] {
            let wanted = open(&file, &options)
                .locate(&patterns, usize::MAX)
                .unwrap();
            let places: Vec<u64> = wanted
                .iter()
                .flat_map(|found| found.positions.clone())
                .collect();
            let standing = open(&file, &options).places(&places).unwrap();
            let little = options.clone().memory(20 << 20);
            let found = open(&file, &little)
                .locate(&patterns, usize::MAX)
                .unwrap();
            assert!(found == wanted, "blocks of {block}");
            let counts = open(&file, &little).count(&patterns).unwrap();
            assert!(
                counts
                    .into_iter()
                    .eq(wanted.iter().map(|found| found.count))
            );
            assert!(open(&file, &little).places(&places).unwrap() == standing);
            let some = open(&file, &little).locate(&patterns, 3).unwrap();
            for (some, all) in some.iter().zip(&wanted) {
                assert_eq!(
                    (some.count, some.positions.len()),
                    (all.count, all.positions.len().min(3))
                );
            }
        }
    }
}
