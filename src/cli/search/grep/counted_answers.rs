//! Answers that counts of literals give, without any line.
//!
//! If each occurrence of the literals is a match, their count tells whether a file has a match. It
//! is the number of matches too, if no two occurrences can overlap.
//!
//! If each occurrence at the start of a line is a match, as for `^abc`, the number of lines that
//! match is the count of `\nabc`; for `abc$` it is that of `abc\n`, and for whole lines that of
//! `\nabc\n`. The first line has no line feed before it, and the last one may have none behind it:
//! a few bytes at both ends of the text tell whether these lines match.
//!
//! Cost: two slices of the index for each symbol of a literal, and no decoded block.

use crate::cli::search::grep::file_report::Show;
use crate::cli::search::grep::required_literals::{LineEnds, LiteralSet, RequiredLiterals};
use bwz::{Archive, Result};
use std::io::{Read, Seek};

/// Strings whose counts are an answer.
#[derive(Debug)]
pub(crate) struct CountedAnswer {
    /// The literals, with line feeds at the ends of a line that they touch.
    strings: Vec<Vec<u8>>,
    ends: LineEnds,
    /// Maximum number of selected lines.
    limit: u64,
}

/// The numbers of an answer, as far as they matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub selected: u64,
    pub matches: u64,
}

impl CountedAnswer {
    /// The answer to what is shown, or `None` if lines are needed for it. `limit` is the maximum
    /// number of selected lines.
    pub(crate) fn of(literals: &RequiredLiterals, show: Show, limit: u64) -> Option<Self> {
        let [set] = &literals.sets[..] else {
            return None;
        };
        let ends = literals.matching?;
        let is_counted = match show {
            Show::Lines | Show::Json => false,
            Show::Count => ends.any(),
            Show::CountMatches => ends.any() || limit == u64::MAX && cannot_overlap(set),
            Show::NamesWith | Show::NamesWithout | Show::Nothing => true,
        };
        is_counted.then(|| CountedAnswer {
            strings: strings(set, ends),
            ends,
            limit,
        })
    }

    /// Asks the index. Returns `None` if the text has a zero byte and `may_be_binary`.
    pub(crate) fn ask<R: Read + Seek + Send>(
        &self,
        archive: &mut Archive<R>,
        may_be_binary: bool,
    ) -> Result<Option<Numbers>> {
        let mut strings = self.strings.clone();
        if may_be_binary {
            strings.push(vec![0]);
        }
        let mut counts = archive.count(&strings)?;
        if may_be_binary && counts.pop() != Some(0) {
            return Ok(None);
        }
        let count: u64 = counts.into_iter().sum();
        if !self.ends.any() {
            return Ok(Some(Numbers {
                selected: u64::from(count > 0),
                matches: count,
            }));
        }
        // A line has at most one match at its start or at its end.
        let lines = count + self.lines_at_ends(archive)?;
        let lines = lines.min(self.limit);
        Ok(Some(Numbers {
            selected: lines,
            matches: lines,
        }))
    }

    /// Number of lines that match and lack a line feed of their string: the first line has none
    /// before it, and the last one may have none behind it.
    fn lines_at_ends<R: Read + Seek + Send>(&self, archive: &mut Archive<R>) -> Result<u64> {
        let size = archive.raw_size();
        let longest = self.strings.iter().map(Vec::len).max();
        let reach = size.min(longest.unwrap_or(0) as u64);
        let ends = archive.extract_all(&[0..reach, size - reach..size])?;
        let mut first = [b"\n", &ends[0][..]].concat();
        let mut last = ends[1].clone();
        let lacks_end = last.last().is_some_and(|&byte| byte != b'\n');
        if lacks_end {
            last.push(b'\n');
        }
        if reach == size {
            last.insert(0, b'\n');
            first.clone_from(&last);
        }
        let of = |string: &Vec<u8>| {
            let starts = first.starts_with(string);
            let ends = lacks_end && last.ends_with(string);
            let is_one_line = *string == first;
            u64::from(starts) + u64::from(ends && !is_one_line)
        };
        Ok(self.strings.iter().map(of).sum())
    }
}

/// The strings that are counted for a set of literals.
fn strings(set: &LiteralSet, ends: LineEnds) -> Vec<Vec<u8>> {
    let feed = |is_there: bool| if is_there { &b"\n"[..] } else { b"" };
    // A line that starts with `abc` starts with `ab` too, and would count twice.
    let holds = |a: &[u8], b: &[u8]| match ends {
        LineEnds::START => a.starts_with(b),
        LineEnds::END => a.ends_with(b),
        _ => false,
    };
    let is_first = |a: &&Vec<u8>| !set.iter().any(|b| *a != b && holds(a, b));
    set.iter()
        .filter(is_first)
        .map(|literal| [feed(ends.start), literal, feed(ends.end)].concat())
        .collect()
}

/// Returns true if no two occurrences of literals of a set can overlap.
fn cannot_overlap(set: &LiteralSet) -> bool {
    let overlap = |a: &[u8], b: &[u8]| {
        let ends = (1..a.len().min(b.len())).any(|size| a.ends_with(&b[..size]));
        ends || a != b && memchr::memmem::find(a, b).is_some()
    };
    set.iter()
        .all(|a| set.iter().all(|b| !overlap(a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bwz::Options;
    use std::io::Cursor;

    /// Generator of numbers for tests.
    struct Random(u64);

    impl Random {
        /// A number below `end`.
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 20) as usize % end
        }

        fn text(&mut self, len: usize, bytes: &[u8]) -> Vec<u8> {
            (0..len)
                .map(|_| bytes[self.below(bytes.len())])
                .collect()
        }
    }

    /// The matches in a text, found line by line.
    fn naive(text: &[u8], set: &LiteralSet, ends: LineEnds) -> Numbers {
        let mut numbers = Numbers {
            selected: 0,
            matches: 0,
        };
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let mut at = 0;
            let mut count = 0;
            while at < line.len() {
                let found = set.iter().find(|literal| {
                    let is_start = at == 0 || !ends.start;
                    let is_end = at + literal.len() == line.len() || !ends.end;
                    is_start && is_end && line[at..].starts_with(literal)
                });
                count += u64::from(found.is_some());
                at += found.map_or(1, Vec::len);
            }
            numbers.matches += count;
            numbers.selected += u64::from(count > 0);
        }
        numbers
    }

    fn archive(text: &[u8], block: u64) -> Archive<Cursor<Vec<u8>>> {
        let options = Options::new().index(16).unwrap();
        let mut file = Vec::new();
        let coding = options.clone().with_block_size(block).unwrap();
        bwz::compress(text, &mut file, &coding).unwrap();
        Archive::open(Cursor::new(file), &options).unwrap()
    }

    #[test]
    fn counts_are_those_of_a_naive_search() {
        let mut random = Random(42);
        for round in 0..60 {
            let len = random.below(if round % 2 == 0 { 12 } else { 400 });
            let text = random.text(len, b"aab\n");
            let mut archive = archive(&text, 1 + random.below(60) as u64);
            for _ in 0..5 {
                let mut set: LiteralSet = (0..1 + random.below(3))
                    .map(|_| {
                        let len = 1 + random.below(4);
                        random.text(len, b"ab")
                    })
                    .collect();
                set.sort_unstable();
                set.dedup();
                let ends = LineEnds {
                    start: random.below(2) == 0,
                    end: random.below(2) == 0,
                };
                let wanted = naive(&text, &set, ends);
                let literals = RequiredLiterals {
                    sets: vec![set.clone()],
                    matching: Some(ends),
                };
                for show in [Show::Count, Show::CountMatches, Show::NamesWith] {
                    let Some(answer) = CountedAnswer::of(&literals, show, u64::MAX) else {
                        continue;
                    };
                    let found = answer.ask(&mut archive, true).unwrap().unwrap();
                    let is_right = match show {
                        Show::Count => found.selected == wanted.selected,
                        Show::CountMatches => found.matches == wanted.matches,
                        _ => (found.selected > 0) == (wanted.selected > 0),
                    };
                    assert!(is_right, "{text:?} {set:?} {ends:?}: {found:?}, {wanted:?}");
                }
            }
        }
    }

    #[test]
    fn a_text_with_a_zero_byte_and_a_limit_are_noted() {
        let literals = RequiredLiterals {
            sets: vec![vec![b"ab".to_vec()]],
            matching: Some(LineEnds::START),
        };
        let answer = CountedAnswer::of(&literals, Show::Count, 2).unwrap();
        let limited = Numbers {
            selected: 2,
            matches: 2,
        };
        let mut archive = archive(b"ab\nab\0\nab\n", 100);
        assert_eq!(answer.ask(&mut archive, true).unwrap(), None);
        assert_eq!(answer.ask(&mut archive, false).unwrap(), Some(limited));
    }

    #[test]
    fn lines_are_needed_if_counts_do_not_tell() {
        let is_counted = |set: &[&str], ends, show, limit| {
            let literals = RequiredLiterals {
                sets: vec![
                    set.iter()
                        .map(|text| text.as_bytes().to_vec())
                        .collect(),
                ],
                matching: ends,
            };
            CountedAnswer::of(&literals, show, limit).is_some()
        };
        let neither = Some(LineEnds::default());
        for show in [Show::Lines, Show::Json, Show::Count] {
            assert!(!is_counted(&["ab"], neither, show, u64::MAX));
        }
        assert!(is_counted(
            &["ab", "cd"],
            neither,
            Show::CountMatches,
            u64::MAX
        ));
        assert!(!is_counted(&["ab"], neither, Show::CountMatches, 5));
        for set in [&["aba"][..], &["ab", "bc"], &["abc", "b"]] {
            assert!(!is_counted(set, neither, Show::CountMatches, u64::MAX));
            assert!(is_counted(set, neither, Show::NamesWith, 1));
            assert!(is_counted(
                set,
                Some(LineEnds::START),
                Show::CountMatches,
                5
            ));
        }
        assert!(!is_counted(&["ab"], None, Show::NamesWith, 1));
    }
}
