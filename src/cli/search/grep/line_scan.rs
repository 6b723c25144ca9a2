//! Finds the lines of a part that are selected. It knows no files and prints nothing, so that parts
//! can be scanned on several threads.
//!
//! The expression runs over the whole part (`find_candidate_line`), which is far faster than line
//! by line: most often a scan for a required literal finds the next line that can match at all. The
//! lines are scanned one by one if the expression may look beyond a line (`\A`, `\z`) or if lines
//! end with a zero byte.

use crate::cli::search::grep::text_part::TextPart;
use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::RegexMatcher;
use std::ops::Range;

/// A scanner of parts.
#[derive(Clone)]
pub(crate) struct LineScanner {
    pub matcher: RegexMatcher,
    pub wanted: Wanted,
}

/// The results that are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub terminator: u8,
    /// The lines that do not match are selected.
    pub invert: bool,
    /// The lines themselves, not only their number.
    pub lines: bool,
    /// The numbers of lines.
    pub numbers: bool,
    /// The matches within lines.
    pub matches: bool,
    /// The number of matches.
    pub match_count: bool,
    /// Maximum number of selected lines.
    pub limit: u64,
    /// Zero bytes are looked for. They end lines too.
    pub binary: bool,
}

/// The selected lines of a part.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub lines: Vec<FoundLine>,
    /// The matches in all lines, as ranges of the part.
    pub matches: Vec<Range<usize>>,
    /// Number of selected lines.
    pub count: u64,
    /// Number of matches in them.
    pub match_count: u64,
    /// Number of terminators in the part, if numbers are wanted.
    pub line_feeds: u64,
    /// The first zero byte in the part, if such bytes are looked for.
    pub zero: Option<usize>,
}

/// A selected line.
#[derive(Debug)]
pub(crate) struct FoundLine {
    /// The line in the part, its terminator included.
    pub range: Range<usize>,
    /// Number of terminators in the part before it, if numbers are wanted.
    pub line_feeds: u64,
    /// Its matches, as a range of [`Found::matches`].
    pub matches: Range<usize>,
}

impl LineScanner {
    /// Scans a part. If zero bytes are looked for and there are any, they become terminators: the
    /// bytes of a binary file are never printed.
    pub(crate) fn scan(&self, part: &mut TextPart) -> Found {
        let mut found = Found::default();
        if self.wanted.binary {
            found.zero = memchr::memchr(0, &part.bytes);
            let first = found.zero.unwrap_or(part.bytes.len());
            for byte in part.bytes[first..]
                .iter_mut()
                .filter(|byte| **byte == 0)
            {
                *byte = self.wanted.terminator;
            }
        }
        let bytes = &part.bytes[..];
        match self.wanted.invert {
            true if !self.wanted.lines => {
                found.count = self.terminated(bytes) - self.count(bytes);
                found.count = found.count.min(self.wanted.limit);
            }
            true => self.take_between(bytes, &mut found),
            false => self.take_matching(bytes, &mut found),
        }
        if self.wanted.numbers {
            found.line_feeds = self.feeds(bytes);
        }
        found
    }

    /// Number of lines that match.
    pub(crate) fn count(&self, bytes: &[u8]) -> u64 {
        self.matching(bytes).count() as u64
    }

    fn take_matching(&self, bytes: &[u8], found: &mut Found) {
        let limit = usize::try_from(self.wanted.limit).unwrap_or(usize::MAX);
        let mut numbered = Numbered::default();
        for range in self.matching(bytes).take(limit) {
            self.select(bytes, range, &mut numbered, found);
        }
    }

    /// Selects the lines between those that match.
    fn take_between(&self, bytes: &[u8], found: &mut Found) {
        let mut numbered = Numbered::default();
        let mut at = 0;
        let end = bytes.len()..bytes.len();
        for matching in self.matching(bytes).chain([end]) {
            while at < matching.start {
                if found.count == self.wanted.limit {
                    return;
                }
                let range = self.line_at(bytes, at);
                at = range.end;
                self.select(bytes, range, &mut numbered, found);
            }
            at = matching.end;
        }
    }

    fn select(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        numbered: &mut Numbered,
        found: &mut Found,
    ) {
        found.count += 1;
        let first = found.matches.len();
        if !self.wanted.invert {
            if self.wanted.matches {
                self.push_matches(bytes, &range, &mut found.matches);
            } else if self.wanted.match_count {
                found.match_count += self.count_matches(&bytes[range.clone()]);
            }
        }
        if !self.wanted.lines {
            return;
        }
        if self.wanted.numbers {
            numbered.line_feeds += self.feeds(&bytes[numbered.at..range.start]);
            numbered.at = range.start;
        }
        found.lines.push(FoundLine {
            range,
            line_feeds: numbered.line_feeds,
            matches: first..found.matches.len(),
        });
    }

    /// The lines that match, in order.
    fn matching<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = Range<usize>> + 'b {
        let is_fast = self
            .matcher
            .line_terminator()
            .is_some_and(|end| !end.is_crlf() && end.as_byte() == self.wanted.terminator);
        let mut at = 0;
        std::iter::from_fn(move || {
            let line = match is_fast {
                true => self.next_fast(bytes, at),
                false => self.next_slow(bytes, at),
            };
            at = line.as_ref().map_or(bytes.len(), |line| line.end);
            line
        })
    }

    fn next_fast(&self, bytes: &[u8], mut at: usize) -> Option<Range<usize>> {
        while at < bytes.len() {
            let candidate = found_by(self.matcher.find_candidate_line(&bytes[at..]))?;
            let (place, is_sure) = match candidate {
                LineMatchKind::Confirmed(place) => (at + place, true),
                LineMatchKind::Candidate(place) => (at + place, false),
            };
            if place == bytes.len() && bytes.last() == Some(&self.wanted.terminator) {
                // An empty match behind the last line is in no line.
                return None;
            }
            let line = self.line_around(bytes, place);
            if is_sure || self.is_match(&bytes[line.clone()]) {
                return Some(line);
            }
            at = line.end;
        }
        None
    }

    fn next_slow(&self, bytes: &[u8], mut at: usize) -> Option<Range<usize>> {
        while at < bytes.len() {
            let line = self.line_at(bytes, at);
            if self.is_match(&bytes[line.clone()]) {
                return Some(line);
            }
            at = line.end;
        }
        None
    }

    /// The line that begins at `at`.
    fn line_at(&self, bytes: &[u8], at: usize) -> Range<usize> {
        let end = memchr::memchr(self.wanted.terminator, &bytes[at..]);
        at..end.map_or(bytes.len(), |end| at + end + 1)
    }

    fn line_around(&self, bytes: &[u8], place: usize) -> Range<usize> {
        let start = memchr::memrchr(self.wanted.terminator, &bytes[..place]);
        let start = start.map_or(0, |end| end + 1);
        start..self.line_at(bytes, place).end
    }

    fn is_match(&self, line: &[u8]) -> bool {
        found_by(self.matcher.is_match(self.unterminated(line)))
    }

    /// A line without its terminator.
    pub(crate) fn unterminated<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        line.strip_suffix(&[self.wanted.terminator])
            .unwrap_or(line)
    }

    /// Adds the matches in a line of `bytes`.
    pub(crate) fn push_matches(
        &self,
        bytes: &[u8],
        line: &Range<usize>,
        matches: &mut Vec<Range<usize>>,
    ) {
        let text = self.unterminated(&bytes[line.clone()]);
        found_by(self.matcher.find_iter(text, |found| {
            matches.push(line.start + found.start()..line.start + found.end());
            true
        }));
    }

    fn count_matches(&self, line: &[u8]) -> u64 {
        let mut count = 0;
        found_by(
            self.matcher
                .find_iter(self.unterminated(line), |_| {
                    count += 1;
                    true
                }),
        );
        count
    }

    /// Number of terminators.
    fn feeds(&self, bytes: &[u8]) -> u64 {
        memchr::memchr_iter(self.wanted.terminator, bytes).count() as u64
    }

    /// Number of lines, the last one included if it has no terminator.
    fn terminated(&self, bytes: &[u8]) -> u64 {
        let has_rest = bytes
            .last()
            .is_some_and(|&last| last != self.wanted.terminator);
        self.feeds(bytes) + u64::from(has_rest)
    }
}

/// Number of terminators before a place in a part.
#[derive(Default)]
struct Numbered {
    at: usize,
    line_feeds: u64,
}

/// The result of a search, which cannot fail.
fn found_by<T>(result: Result<T, grep_matcher::NoError>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}
