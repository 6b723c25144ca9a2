//! Pattern letters that match several symbols, compared with a check of each position of the text.

use super::sequence_search::{genome_of, open, reverse_complement};
use crate::common::{self, cases, indexed, options};
use bwz::{Letters, Options};

/// The bases that a letter matches.
fn class(letter: u8, letters: Letters, of_nucleotides: bool) -> Vec<u8> {
    let both: &[u8] = if of_nucleotides { b"TU" } else { &[] };
    let codes: &[u8] = match (letters, letter) {
        (Letters::Exact, _) => b"",
        (_, b'T' | b'U') => both,
        (Letters::Nucleotides, _) => b"",
        (_, b'R') => b"AG",
        (_, b'Y') => b"CTU",
        (_, b'S') => b"CG",
        (_, b'W') => b"ATU",
        (_, b'K') => b"GTU",
        (_, b'M') => b"AC",
        (_, b'B') => b"CGTU",
        (_, b'D') => b"AGTU",
        (_, b'H') => b"ACTU",
        (_, b'V') => b"ACG",
        (_, b'N') => b"ACGTU",
        _ => b"",
    };
    if codes.is_empty() {
        vec![letter]
    } else {
        codes.to_vec()
    }
}

/// Raw offsets of all positions at which at most `mismatches` letters do not match.
fn naive(
    records: &[(Vec<u8>, Vec<u64>)],
    pattern: &[u8],
    letters: Letters,
    mismatches: usize,
) -> Vec<u64> {
    let pattern = pattern.to_ascii_uppercase();
    let of_nucleotides = pattern
        .iter()
        .all(|c| b"ACGTURYSWKMBDHVN".contains(c));
    let classes: Vec<_> = pattern
        .iter()
        .map(|&c| class(c, letters, of_nucleotides))
        .collect();
    let mut found = Vec::new();
    for (bases, offsets) in records {
        for (at, window) in bases.windows(pattern.len()).enumerate() {
            let wrong = window
                .iter()
                .zip(&classes)
                .filter(|(c, class)| !class.contains(c));
            if wrong.count() <= mismatches {
                found.push(offsets[at]);
            }
        }
    }
    found
}

/// Patterns cut from a text. Some T and U are exchanged, some letters are lower case, and some are
/// ambiguity codes.
fn patterns(records: &[(Vec<u8>, Vec<u64>)], count: usize, codes: bool) -> Vec<Vec<u8>> {
    let mut random = cases::random(count * 40, 256)
        .into_iter()
        .map(usize::from);
    let mut next = move || random.next().unwrap_or(0);
    let all: Vec<&Vec<u8>> = records
        .iter()
        .map(|(bases, _)| bases)
        .filter(|bases| bases.len() > 40)
        .collect();
    let cut = |n: usize| {
        let bases = all[n % all.len()];
        let len = 2 + next() % 20;
        let at = (next() * 256 + next()) % (bases.len() - len);
        let mut pattern = bases[at..at + len].to_vec();
        for letter in &mut pattern {
            match next() % 16 {
                0 if *letter == b'T' => *letter = b'U',
                1 if *letter == b'U' => *letter = b'T',
                2 if codes => *letter = b"RYSWKMBDHVN"[next() % 11],
                3 => letter.make_ascii_lowercase(),
                _ => {}
            }
        }
        pattern
    };
    (0..count).map(cut).collect()
}

/// Texts of letters, and true if these are only nucleotides.
const TEXTS: [(&str, &[u8]); 8] = [
    ("DNA", b"ACGT"),
    ("RNA", b"ACGU"),
    ("DNA and RNA", b"ACGTU"),
    ("two letters", b"TU"),
    ("one letter", b"U"),
    ("codes", b"ACGTUNRY"),
    ("small letters", b"acgtuACGTU"),
    ("proteins", b"ACDEFGHIKLMNPQRSTUVWY"),
];

fn check(
    what: &str,
    file: &[u8],
    records: &[(Vec<u8>, Vec<u64>)],
    patterns: &[Vec<u8>],
    options: &Options,
    letters: Letters,
    mismatches: u8,
) {
    let options = options
        .clone()
        .letters(letters)
        .max_mismatches(mismatches)
        .unwrap();
    let mut archive = open(file, &options);
    let wanted: Vec<_> = patterns
        .iter()
        .map(|pattern| naive(records, pattern, letters, mismatches.into()))
        .collect();
    let counts = archive.count(patterns).unwrap();
    let found = archive.locate(patterns, usize::MAX).unwrap();
    let first = archive.locate(patterns, 3).unwrap();
    let last = common::last(&mut archive, patterns);
    for (n, wanted) in wanted.iter().enumerate() {
        let what = format!(
            "{what}, {letters:?}, {mismatches} mismatches, {}",
            patterns[n].escape_ascii()
        );
        assert_eq!(counts[n], wanted.len() as u64, "{what}");
        assert_eq!(found[n].positions, *wanted, "{what}");
        assert_eq!(first[n].positions, wanted[..wanted.len().min(3)], "{what}");
        assert_eq!(last[n].as_ref(), wanted.last(), "{what}");
    }
}

#[test]
fn letters_stand_for_their_classes_in_all_blocks() {
    for (name, alphabet) in TEXTS {
        let (raw, records) = genome_of(&[1500, 0, 400, 41], 60, alphabet);
        let is_protein = name == "proteins";
        let mut some = patterns(&records, 16, !is_protein);
        if is_protein {
            some.extend([
                b"TL".to_vec(),
                b"TU".to_vec(),
                b"ULT".to_vec(),
                b"MU".to_vec(),
            ]);
        }
        let revcomp: Vec<_> = some
            .iter()
            .map(|p| reverse_complement(p))
            .collect();
        for (block, rate) in [(1 << 20, 8), (1000, 8), (130, 0), (33, 8)] {
            let file = indexed(&raw, block, Some(rate));
            let what = format!("{name}, blocks of {block}");
            let all = if is_protein {
                &[Letters::Nucleotides, Letters::Exact][..]
            } else {
                &[Letters::Nucleotides, Letters::Iupac, Letters::Exact]
            };
            for &letters in all {
                for mismatches in [0, 1] {
                    check(
                        &what,
                        &file,
                        &records,
                        &some,
                        &options(1),
                        letters,
                        mismatches,
                    );
                    if mismatches == 0 {
                        check(&what, &file, &records, &revcomp, &options(1), letters, 0);
                    }
                }
            }
        }
    }
}

/// Many patterns are searched by an index in memory, in the block and in the windows at its
/// boundaries. Few patterns are searched by the index on disk, and with little memory in stretches.
#[test]
fn many_patterns_and_few_find_the_same() {
    for (name, alphabet) in TEXTS {
        if name == "proteins" {
            continue;
        }
        let (raw, records) = genome_of(&[4000, 900], 70, alphabet);
        let some = patterns(&records, 220, true);
        for (block, rate) in [(1 << 20, 8), (2000, 8), (500, 0)] {
            let file = indexed(&raw, block, Some(rate));
            let what = format!("{name}, blocks of {block}");
            for letters in [Letters::Nucleotides, Letters::Iupac] {
                check(&what, &file, &records, &some, &options(1), letters, 0);
                let few = &some[..3];
                check(&what, &file, &records, few, &options(1), letters, 0);
                let little = options(1).memory(20 << 20);
                check(&what, &file, &records, &some[..40], &little, letters, 0);
            }
        }
    }
}

/// Patterns with too many branches are searched in the text.
#[test]
fn patterns_of_nothing_but_codes_are_found() {
    let (raw, records) = genome_of(&[400_000, 900], 70, b"ACGTU");
    let patterns = [
        &b"NNNNNNNNNNNNNN"[..],
        b"ACNNNNNNNNNNNNNNNNNNNN",
        b"NNNNNNNNNNNNNNNNNNGT",
        b"N",
        b"BN",
    ];
    let patterns = patterns.map(<[u8]>::to_vec);
    for block in [1 << 20, 150_000] {
        let file = indexed(&raw, block, Some(16));
        check(
            "codes",
            &file,
            &records,
            &patterns,
            &options(1),
            Letters::Iupac,
            0,
        );
    }
}

#[test]
fn iupac_takes_nothing_but_its_letters() {
    let (raw, _) = genome_of(&[400], 70, b"ACGT");
    let file = indexed(&raw, 1 << 20, Some(16));
    for wrong in ["ACE", "-", "AC*", "acgtx", "J", "ZN", "RYO", "A.C"] {
        let options = options(1).letters(Letters::Iupac);
        let said = open(&file, &options)
            .count(&[wrong])
            .unwrap_err()
            .to_string();
        assert!(said.contains("RYSWKMBDHVN"), "{said}");
        assert_eq!(
            open(&file, &options.letters(Letters::Exact))
                .count(&[wrong])
                .unwrap(),
            [0]
        );
    }
}

/// If case counts, a letter that differs only in case is a mismatch. A letter that differs in any
/// case is one mismatch, whatever its case.
#[test]
fn case_counts_as_a_mismatch() {
    let letters: Vec<u8> = cases::random(3000, 6)
        .iter()
        .map(|&n| b"ACGacg"[usize::from(n)])
        .collect();
    let (first, second) = letters.split_at(1800);
    let lines = |bases: &[u8]| {
        bases
            .chunks(50)
            .map(|line| [line, b"\n"].concat())
            .collect::<Vec<_>>()
    };
    let raw = [
        b">a\n".to_vec(),
        lines(first).concat(),
        b">b\n".to_vec(),
        lines(second).concat(),
    ];
    let raw = raw.concat();
    let patterns: Vec<Vec<u8>> = (0..200)
        .map(|n| {
            let mut pattern = letters[n * 13..n * 13 + 2 + n % 9].to_vec();
            let at = n % pattern.len();
            pattern[at] = b"ACGTacgt"[n % 8];
            pattern
        })
        .collect();
    for block_size in [300, 1 << 20] {
        let options = options(block_size)
            .index(8)
            .unwrap()
            .match_case(true);
        for most in [0, 1] {
            let options = options.clone().max_mismatches(most).unwrap();
            let mut file = Vec::new();
            bwz::compress(&raw[..], &mut file, &options).unwrap();
            let mut archive = bwz::Archive::open(std::io::Cursor::new(file), &options).unwrap();
            let counts = archive.count(&patterns).unwrap();
            let found = archive.locate(&patterns, usize::MAX).unwrap();
            let last = common::last(&mut archive, &patterns);
            for (n, pattern) in patterns.iter().enumerate() {
                let differ = |window: &[u8]| {
                    window
                        .iter()
                        .zip(pattern)
                        .filter(|(a, b)| a != b)
                        .count()
                };
                let windows = |bases: &[u8]| {
                    let all = bases.windows(pattern.len());
                    all.filter(|window| differ(window) <= usize::from(most))
                        .count()
                };
                let wanted = windows(first) + windows(second);
                let what = format!(
                    "{:?}, {most} in {block_size}",
                    String::from_utf8_lossy(pattern)
                );
                assert_eq!(counts[n], wanted as u64, "{what}");
                assert_eq!(found[n].positions.len(), wanted, "{what}");
                assert_eq!(last[n].as_ref(), found[n].positions.last(), "{what}");
            }
        }
    }
}
