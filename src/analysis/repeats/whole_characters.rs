//! Ranges cut between UTF-8 characters.

use crate::base::error::Result;
use std::io::Read;
use std::ops::Range;
use std::str;

/// Bytes that are examined together.
const CHUNK: usize = 1 << 18;

/// Ranges cut between characters, or the place of an error in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Characters {
    /// The whole characters of each list of ranges.
    Whole(Vec<Vec<Range<u64>>>),
    /// The text is not valid UTF-8. The number is the offset of the first invalid byte.
    NotUtf8(u64),
}

/// The whole UTF-8 characters in the ranges of each of `lists`, whose ranges are in ascending
/// order. `text` reads the text of the ranges. Ranges without a whole character are left out.
///
/// Characters are code points: a combining mark that is a code point may be separated from its
/// letter.
///
/// ```
/// use bwz::repeats::{Characters, whole_characters};
///
/// let text = "öl über öl".as_bytes();
/// let found = whole_characters(text, &[&[1..5, 10..11]])?;
/// assert_eq!(found, Characters::Whole(vec![vec![2..4]])); // "l "
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// An error of reading the text.
pub fn whole_characters(mut text: impl Read, lists: &[&[Range<u64>]]) -> Result<Characters> {
    let mut cuts: Vec<Cuts> = lists
        .iter()
        .map(|ranges| Cuts::of(ranges))
        .collect();
    let mut chunk = Vec::with_capacity(CHUNK + 4);
    let mut at = 0;
    loop {
        let before = chunk.len();
        text.by_ref()
            .take(CHUNK as u64)
            .read_to_end(&mut chunk)?;
        let is_end = chunk.len() == before;
        let valid = match str::from_utf8(&chunk) {
            Ok(_) => chunk.len(),
            Err(e) if e.error_len().is_none() && !is_end => e.valid_up_to(),
            Err(e) => return Ok(Characters::NotUtf8(at + e.valid_up_to() as u64)),
        };
        cuts.iter_mut()
            .for_each(|cuts| cuts.look_at(&chunk[..valid], at));
        if is_end {
            return Ok(Characters::Whole(
                cuts.into_iter().map(|cuts| cuts.whole).collect(),
            ));
        }
        chunk.drain(..valid);
        at += valid as u64;
    }
}

/// The ends of consecutive ranges.
struct Cuts<'r> {
    ranges: &'r [Range<u64>],
    /// The first range whose end has not been reached.
    next: usize,
    /// Start of that range, once it has been reached.
    start: Option<u64>,
    whole: Vec<Range<u64>>,
}

impl<'r> Cuts<'r> {
    fn of(ranges: &'r [Range<u64>]) -> Self {
        Cuts {
            ranges,
            next: 0,
            start: None,
            whole: Vec::new(),
        }
    }

    /// Processes whole characters that begin at `at`. A range may also end or begin at the end of
    /// the last character.
    fn look_at(&mut self, characters: &[u8], at: u64) {
        let end = at + characters.len() as u64;
        let is_inside = |place: u64| {
            let byte = characters.get((place - at) as usize);
            byte.is_some_and(|byte| byte & 0xC0 == 0x80)
        };
        while let Some(range) = self.ranges.get(self.next) {
            if self.start.is_none() && range.start <= end {
                let after = (range.start..end).find(|&place| !is_inside(place));
                self.start = Some(after.unwrap_or(range.start.max(end)));
            }
            let Some(start) = self.start.filter(|_| range.end <= end) else {
                return;
            };
            let mut last = range.end;
            while is_inside(last) {
                last -= 1;
            }
            self.whole
                .extend((start < last).then_some(start..last));
            (self.next, self.start) = (self.next + 1, None);
        }
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list may have one range")]
mod tests {
    use super::*;

    /// A reader that returns a few bytes at a time.
    struct Few<'t>(&'t [u8], usize);

    impl Read for Few<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let len = out.len().min(self.1);
            self.0.read(&mut out[..len])
        }
    }

    fn cut(text: &[u8], ranges: &[Range<u64>]) -> Characters {
        let found = whole_characters(text, &[ranges]).unwrap();
        assert_eq!(whole_characters(Few(text, 3), &[ranges]).unwrap(), found);
        found
    }

    #[test]
    fn cuts_are_between_characters_whatever_their_size() {
        let letters = ["a", "\u{e9}", "\u{91cd}", "\u{1f600}", "e\u{301}", "\r\n"];
        for (n, a) in letters.iter().enumerate() {
            let text = [*a, letters[(n + 1) % 6], letters[(n + 2) % 6]].concat();
            for (start, end) in
                (0..text.len()).flat_map(|s| (s + 1..=text.len()).map(move |e| (s, e)))
            {
                let begin = (start..)
                    .find(|&place| text.is_char_boundary(place))
                    .unwrap();
                let last = (0..=end)
                    .rev()
                    .find(|&place| text.is_char_boundary(place))
                    .unwrap();
                let range = begin as u64..last as u64;
                let whole = if begin < last {
                    vec![range]
                } else {
                    Vec::new()
                };
                let found = cut(text.as_bytes(), &[start as u64..end as u64]);
                assert_eq!(
                    found,
                    Characters::Whole(vec![whole]),
                    "{text:?} {start}..{end}"
                );
            }
        }
    }

    #[test]
    fn cuts_are_the_same_across_chunks() {
        let text = "a\u{91cd}".repeat(CHUNK / 2);
        let ranges: Vec<_> = (0..400)
            .map(|n| n * 2500 + n % 4..n * 2500 + 2400 + n % 3)
            .collect();
        let boundary = |place: u64, forward: bool| {
            let mut place = place as usize;
            while !text.is_char_boundary(place) {
                place = if forward { place + 1 } else { place - 1 };
            }
            place as u64
        };
        let whole = ranges
            .iter()
            .take_while(|range| range.end <= text.len() as u64);
        let ranges: Vec<_> = whole.cloned().collect();
        let expected = ranges
            .iter()
            .map(|r| boundary(r.start, true)..boundary(r.end, false));
        let found = whole_characters(text.as_bytes(), &[&ranges, &[]]).unwrap();
        assert_eq!(
            found,
            Characters::Whole(vec![expected.collect(), Vec::new()])
        );
    }

    #[test]
    fn a_text_that_is_not_utf8_says_where() {
        let ranges = [1..3];
        assert_eq!(cut(b"ab\xFFcd", &ranges), Characters::NotUtf8(2));
        assert_eq!(cut(b"abc\xE9\x87", &ranges), Characters::NotUtf8(3));
        let long = [&b"x".repeat(CHUNK)[..], &b"\xC3("[..]].concat();
        assert_eq!(cut(&long, &ranges), Characters::NotUtf8(CHUNK as u64));
        assert_eq!(cut(b"", &[]), Characters::Whole(vec![Vec::new()]));
    }
}
