//! Patterns of bytes whose letters are found in either case, compared with a check of each
//! position.

use crate::common::{self, cases, indexed, options};
use bwz::{Archive, Options};
use std::io::Cursor;

/// All positions at which `pattern` occurs in either case but for `mismatches` bytes.
fn naive(text: &[u8], pattern: &[u8], mismatches: usize) -> Vec<u64> {
    let differ = |window: &[u8]| {
        let pairs = window.iter().zip(pattern);
        pairs
            .filter(|(a, b)| !a.eq_ignore_ascii_case(b))
            .count()
    };
    let windows = (0..).zip(text.windows(pattern.len()));
    windows
        .filter(|(_, window)| differ(window) <= mismatches)
        .map(|(at, _)| at)
        .collect()
}

fn check(name: &str, text: &[u8], file: &[u8], patterns: &[Vec<u8>], options: &Options) {
    for mismatches in [0, 1] {
        let options = options
            .clone()
            .ignore_case(true)
            .max_mismatches(mismatches)
            .unwrap();
        let mut archive = Archive::open(Cursor::new(file), &options).unwrap();
        let counts = archive.count(patterns).unwrap();
        let all = archive.locate(patterns, usize::MAX).unwrap();
        let first = archive.locate(patterns, 2).unwrap();
        let last = common::last(&mut archive, patterns);
        for (n, pattern) in patterns.iter().enumerate() {
            let wanted = naive(text, pattern, mismatches.into());
            let what = format!("{name}, {}", pattern.escape_ascii());
            assert_eq!(counts[n], wanted.len() as u64, "{what}");
            assert_eq!(all[n].positions, wanted, "{what}");
            assert_eq!(first[n].positions, wanted[..wanted.len().min(2)], "{what}");
            assert_eq!(last[n].as_ref(), wanted.last(), "{what}");
        }
    }
}

#[test]
fn letters_are_found_in_either_case() {
    // No x, and not all letters in both cases. 0xC4 and 0xE4 differ as letters of ASCII do.
    for letters in [&b"aAbBc-\n\xC4\xE4"[..], b"ab-", b"A"] {
        let text = cases::random(3000, letters.len() as u32);
        let text: Vec<u8> = text
            .iter()
            .map(|&n| letters[usize::from(n)])
            .collect();
        let cut = |n: usize| text[n * 37 % 2900..][..2 + n % 7].to_vec();
        let mut patterns: Vec<Vec<u8>> = (0..40).map(cut).collect();
        patterns.extend((0..40).map(|n| cut(n).to_ascii_uppercase()));
        patterns.extend([b"xa".to_vec(), b"AX".to_vec(), b"\xC4a".to_vec()]);
        for block in [50, 2500, 1 << 20] {
            for rate in [None, Some(8)] {
                let name = format!(
                    "{} letters, blocks of {block}, rate {rate:?}",
                    letters.len()
                );
                let file = indexed(&text, block, rate);
                check(&name, &text, &file, &patterns, &options(block));
            }
        }
    }
}

/// A pattern with very many spellings in a text is scanned for.
#[test]
fn patterns_with_many_spellings_are_found() {
    let text = cases::random(400_000, 2);
    let text: Vec<u8> = text
        .iter()
        .map(|&n| b"eE"[usize::from(n)])
        .collect();
    let file = indexed(&text, 1 << 20, Some(32));
    let patterns = [vec![b'e'; 30], vec![b'E'; 3]];
    let options = options(1 << 20).ignore_case(true);
    let mut archive = Archive::open(Cursor::new(file), &options).unwrap();
    assert_eq!(
        archive.count(&patterns).unwrap(),
        [400_000 - 29, 400_000 - 2]
    );
    assert_eq!(
        common::last(&mut archive, &patterns),
        [Some(399_970), Some(399_997)]
    );
}
