//! Literals that every match contains. A search by an index finds the places of the literals, and
//! restores the lines around them alone.
//!
//! For each part of an expression there is the set of its strings, as long as there are few of
//! them ("exact"), and otherwise sets of which each match contains a member. Parts that follow
//! each other are joined as long as the product of their sets is small: `(foo|bar)[0-9]` has 20
//! strings. Letters of either case are classes of two or three characters, so that `error` with
//! `-i` has 32 strings.
//!
//! This is the analysis of Russ Cox (Regular Expression Matching with a Trigram Index, 2012), with
//! whole literals instead of trigrams, since the index counts strings of any length.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// A set of literals, one of which is in each match.
pub(crate) type LiteralSet = Vec<Vec<u8>>;

/// The literals of some expressions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RequiredLiterals {
    /// Sets, each of which alone is required. Empty if nothing is. No set has a literal twice.
    pub sets: Vec<LiteralSet>,
    /// Set if there is one set, and each occurrence of its literals at these ends of a line is a
    /// match. There are no other matches then.
    pub matching: Option<LineEnds>,
}

/// The ends of a line that a match must touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineEnds {
    pub start: bool,
    pub end: bool,
}

impl LineEnds {
    /// A match may be anywhere in a line.
    const NEITHER: LineEnds = LineEnds {
        start: false,
        end: false,
    };
    pub(crate) const START: LineEnds = LineEnds {
        start: true,
        end: false,
    };
    pub(crate) const END: LineEnds = LineEnds {
        start: false,
        end: true,
    };
    /// A match is a whole line.
    pub(crate) const BOTH: LineEnds = LineEnds {
        start: true,
        end: true,
    };

    /// Returns true if a match must touch an end of its line.
    pub(crate) fn any(self) -> bool {
        self.start || self.end
    }
}

/// The rules by which expressions are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub ignore_case: bool,
    pub unicode: bool,
    pub crlf: bool,
    /// The byte that ends lines.
    pub terminator: u8,
    /// Patterns are strings.
    pub fixed: bool,
}

/// Maximum number of literals of a set.
const SET: usize = 64;
/// Maximum number of bytes of a literal. The edges of indexed blocks, of 128 bytes, show the
/// literals that cross a boundary.
const LENGTH: usize = 100;
/// Maximum number of sets, the most selective ones.
const SETS: usize = 3;
/// Number of sets that are collected before the most selective ones of them are chosen.
const COLLECTED: usize = 32;

/// Returns the literals of expressions of which one has to match.
pub(crate) fn of(patterns: &[String], reading: Reading) -> RequiredLiterals {
    let parsed: Option<Vec<Strings>> = patterns
        .iter()
        .map(|pattern| parse(pattern, reading))
        .map(|hir| hir.map(|hir| strings(&hir)))
        .collect();
    let Some(all) = parsed else {
        return RequiredLiterals::default();
    };
    let any = either(all);
    let plain = any.plain;
    let mut sets = any.into_sets();
    keep_best(&mut sets);
    // Products of sets may have a literal twice, as `(a|ab)(bc|c)` has.
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    // A match is within a line, but a class such as `[\nx]` has strings that are not.
    let ends_line = |byte: &u8| *byte == reading.terminator || *byte == b'\r' && reading.crlf;
    let cross_lines = sets.iter().flatten().flatten().any(ends_line);
    RequiredLiterals {
        matching: plain.filter(|_| sets.len() == 1 && !cross_lines),
        sets,
    }
}

fn parse(pattern: &str, reading: Reading) -> Option<Hir> {
    let text = match reading.fixed {
        true => regex_syntax::escape(pattern),
        false => pattern.to_owned(),
    };
    ParserBuilder::new()
        .utf8(false)
        .unicode(reading.unicode)
        .case_insensitive(reading.ignore_case)
        .multi_line(true)
        .crlf(reading.crlf)
        .build()
        .parse(&text)
        .ok()
}

/// The strings of a part of an expression.
#[derive(Clone, Debug, Default)]
struct Strings {
    /// All strings that the part matches, and perhaps some more. `None` if there are too many.
    exact: Option<LiteralSet>,
    /// Sets of which each match contains a member, beside those of `exact`.
    required: Vec<LiteralSet>,
    /// Set if the part matches each string of `exact`, wherever it is at these ends of a line.
    plain: Option<LineEnds>,
}

impl Strings {
    fn exact(set: LiteralSet) -> Self {
        Strings {
            exact: Some(set),
            required: Vec::new(),
            plain: Some(LineEnds::NEITHER),
        }
    }

    /// The empty string at places of one kind.
    fn at(look: Look) -> Self {
        let [start, end] = [Look::StartLF, Look::EndLF].map(|end| look == end);
        let ends = LineEnds { start, end };
        Strings {
            plain: Some(ends).filter(|ends| ends.any()),
            ..Strings::exact(vec![Vec::new()])
        }
    }

    /// Returns true if the part matches the empty string alone.
    fn is_empty(&self) -> bool {
        self.exact
            .as_ref()
            .is_some_and(|set| set.iter().all(Vec::is_empty))
    }

    /// The sets of which each match contains a member.
    fn into_sets(self) -> Vec<LiteralSet> {
        let exact = self.exact.filter(is_useful);
        self.required.into_iter().chain(exact).collect()
    }
}

fn is_useful(set: &LiteralSet) -> bool {
    !set.is_empty() && set.iter().all(|literal| !literal.is_empty())
}

/// A larger number for a set that is found in fewer places.
fn selectivity(set: &LiteralSet) -> usize {
    let shortest = set.iter().map(Vec::len).min().unwrap_or(0);
    // Twice as many literals weigh as much as a byte less of the shortest.
    (shortest * 4).saturating_sub(set.len().ilog2() as usize * 2)
}

/// Keeps the most selective sets.
fn keep_best(sets: &mut Vec<LiteralSet>) {
    sets.sort_by_key(|set| std::cmp::Reverse(selectivity(set)));
    sets.truncate(SETS);
}

fn strings(hir: &Hir) -> Strings {
    match hir.kind() {
        HirKind::Empty => Strings::exact(vec![Vec::new()]),
        HirKind::Look(look) => Strings::at(*look),
        HirKind::Literal(literal) => Strings::exact(vec![literal.0.to_vec()]),
        HirKind::Class(class) => class_strings(class).map_or_else(Strings::default, Strings::exact),
        HirKind::Capture(capture) => strings(&capture.sub),
        HirKind::Concat(parts) => joined(parts.iter().map(strings)),
        HirKind::Alternation(parts) => either(parts.iter().map(strings).collect()),
        HirKind::Repetition(repetition) => {
            let part = strings(&repetition.sub);
            match (repetition.min, repetition.max) {
                (0, Some(1)) => optional(part),
                (0, _) => Strings::default(),
                (min, max) => {
                    let times = min.min(LENGTH as u32);
                    let mut parts = vec![part; times as usize];
                    if max != Some(times) {
                        parts.push(Strings::default());
                    }
                    joined(parts.into_iter())
                }
            }
        }
    }
}

fn optional(part: Strings) -> Strings {
    match part.exact {
        Some(mut set) if set.len() < SET => {
            set.push(Vec::new());
            Strings {
                exact: Some(set),
                ..Strings::default()
            }
        }
        _ => Strings::default(),
    }
}

/// The characters of a class, if there are few.
fn class_strings(class: &Class) -> Option<LiteralSet> {
    let mut set = Vec::new();
    match class {
        Class::Unicode(class) => {
            for range in class.ranges() {
                if set.len() + range.len() > SET {
                    return None;
                }
                set.extend((range.start()..=range.end()).map(|c| c.to_string().into_bytes()));
            }
        }
        Class::Bytes(class) => {
            for range in class.ranges() {
                if set.len() + range.len() > SET {
                    return None;
                }
                set.extend((range.start()..=range.end()).map(|byte| vec![byte]));
            }
        }
    }
    Some(set)
}

/// The strings of parts that follow each other.
fn joined(parts: impl Iterator<Item = Strings>) -> Strings {
    let mut all = Strings::default();
    let mut run = vec![Vec::new()];
    let mut plain = PlainParts::default();
    let mut is_whole = true;
    for part in parts {
        plain.add(&part);
        let next = part
            .exact
            .as_ref()
            .and_then(|set| product(&run, set));
        match next {
            Some(next) => {
                run = next;
                all.required.extend(part.required);
            }
            None => {
                is_whole = false;
                let next = part.exact.clone();
                all.required.extend(part.required);
                let ended = std::mem::replace(&mut run, next.unwrap_or_else(|| vec![Vec::new()]));
                all.required.extend(Some(ended).filter(is_useful));
            }
        }
        // Nested repetitions, as in ((a.){99}){99}, would have a set for each time.
        if all.required.len() > COLLECTED {
            keep_best(&mut all.required);
        }
    }
    if is_whole {
        all.exact = Some(run);
        all.plain = plain.ends;
    } else {
        all.required.extend(Some(run).filter(is_useful));
    }
    all
}

/// The plain parts that follow each other so far.
struct PlainParts {
    /// The ends of a line that they touch together. `None` if they are not plain together.
    ends: Option<LineEnds>,
    is_empty: bool,
}

impl Default for PlainParts {
    fn default() -> Self {
        PlainParts {
            ends: Some(LineEnds::NEITHER),
            is_empty: true,
        }
    }
}

impl PlainParts {
    fn add(&mut self, part: &Strings) {
        // Nothing can precede a part at the start of a line, or follow one at its end.
        let fits = |before: &LineEnds, next: &LineEnds| {
            (self.is_empty || !next.start) && (part.is_empty() || !before.end)
        };
        self.ends = match (self.ends, part.plain) {
            (Some(before), Some(next)) if fits(&before, &next) => Some(LineEnds {
                start: before.start || next.start,
                end: before.end || next.end,
            }),
            _ => None,
        };
        self.is_empty &= part.is_empty();
    }
}

/// All strings of one set followed by one of the other, if there are few.
fn product(first: &LiteralSet, second: &LiteralSet) -> Option<LiteralSet> {
    let longest = |set: &LiteralSet| set.iter().map(Vec::len).max().unwrap_or(0);
    if first.len() * second.len() > SET || longest(first) + longest(second) > LENGTH {
        return None;
    }
    let pairs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| [&a[..], b].concat()));
    Some(pairs.collect())
}

/// The strings of parts of which one has to match.
fn either(mut parts: Vec<Strings>) -> Strings {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let mut exact = Some(Vec::new());
    let plain = parts.first().and_then(|part| part.plain);
    let are_alike = parts.iter().all(|part| part.plain == plain);
    for part in &parts {
        exact = match (exact, &part.exact) {
            (Some(all), Some(set)) if all.len() + set.len() <= SET => {
                Some([all, set.clone()].concat())
            }
            _ => None,
        };
    }
    if let Some(mut set) = exact {
        set.sort_unstable();
        set.dedup();
        return Strings {
            exact: Some(set),
            required: Vec::new(),
            plain: plain.filter(|_| are_alike),
        };
    }
    let best = parts.into_iter().map(|part| {
        part.into_sets()
            .into_iter()
            .max_by_key(selectivity)
    });
    let best: Option<Vec<LiteralSet>> = best.collect();
    let mut union = best.map(|sets| sets.concat()).unwrap_or_default();
    union.sort_unstable();
    union.dedup();
    let fits = is_useful(&union) && union.len() <= SET;
    Strings {
        exact: None,
        required: if fits { vec![union] } else { Vec::new() },
        plain: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READING: Reading = Reading {
        ignore_case: false,
        unicode: true,
        crlf: false,
        terminator: b'\n',
        fixed: false,
    };

    fn sets(pattern: &str, ignore_case: bool) -> RequiredLiterals {
        let reading = Reading {
            ignore_case,
            ..READING
        };
        of(&[pattern.to_owned()], reading)
    }

    fn required(pattern: &str) -> Vec<Vec<String>> {
        let text = |literal: &Vec<u8>| String::from_utf8_lossy(literal).into_owned();
        let sets = sets(pattern, false).sets;
        sets.iter()
            .map(|set| set.iter().map(text).collect())
            .collect()
    }

    #[test]
    fn literals_are_taken_from_expressions() {
        for (pattern, wanted) in [
            ("foo", &[&["foo"][..]][..]),
            ("foo|bar", &[&["bar", "foo"]]),
            ("foo.*quux", &[&["quux"], &["foo"]]),
            ("(ab|c)d", &[&["abd", "cd"]]),
            ("(foo){2,}x", &[&["foofoo"], &["x"]]),
            ("^foo$", &[&["foo"]]),
            ("fo?o", &[&["fo", "foo"]]),
            ("(a|ab)(bc|c)", &[&["abbc", "abc", "ac"]]),
            ("a[bc]d", &[&["abd", "acd"]]),
            (r"\d+ error", &[&[" error"]]),
            (r"(\d+|foo) bar", &[&[" bar"]]),
            ("(foo.|bar)", &[&["bar", "foo"]]),
            ("x*", &[]),
            (".*", &[]),
            ("", &[]),
            ("foo|", &[]),
            ("foo|.", &[]),
        ] {
            assert_eq!(required(pattern), wanted, "{pattern}");
        }
    }

    #[test]
    fn nested_repetitions_have_a_few_sets() {
        let nested = "((((foo.b.){99}quux.){99}x.){99}y.){99}";
        assert_eq!(required(nested), [["quux"], ["quux"], ["quux"]]);
        let hir = parse(nested, READING).unwrap();
        assert!(strings(&hir).required.len() <= COLLECTED);
    }

    #[test]
    fn either_case_is_a_few_literals() {
        let error = sets("err", true);
        assert_eq!((error.sets.len(), error.sets[0].len()), (1, 8));
        assert_eq!(error.matching, Some(LineEnds::NEITHER));
        // A long word is cut, and each piece is required.
        let long = sets("connection refused", true);
        assert!(long.sets.len() > 1 && long.sets.iter().all(|set| set.len() <= SET));
        assert_eq!(long.matching, None);
    }

    #[test]
    fn strings_are_matches_wherever_they_are_or_at_ends_of_lines() {
        let start = LineEnds::START;
        let end = LineEnds::END;
        for (pattern, wanted) in [
            ("foo|bar", Some(LineEnds::NEITHER)),
            ("^foo", Some(start)),
            ("foo$", Some(end)),
            ("^foo$", Some(LineEnds::BOTH)),
            ("^(foo|ba[rz])$", Some(LineEnds::BOTH)),
            ("(^foo)|(^ba[rz])", Some(start)),
            ("(^)foo", Some(start)),
            ("(foo|bar)$", Some(end)),
            ("^foo|bar", None),
            ("^foo|bar$", None),
            ("^foo|^bar$", None),
            ("foo^", None),
            ("$foo", None),
            ("(|x)^foo", None),
            ("foo$(|x)", None),
            ("(^foo){2}", None),
            ("(^)*foo", None),
            ("(?-m)^foo", None),
            ("(?R)^foo", None),
            (r"\Afoo", None),
            (r"foo\z", None),
            (r"\bfoo", None),
            ("^foo.*bar", None),
            ("foo+", None),
            ("fo{1,2}", None),
            ("foo.?", None),
            (r"[\nx]foo", None),
        ] {
            assert_eq!(sets(pattern, false).matching, wanted, "{pattern}");
        }
    }

    #[test]
    fn all_patterns_touch_the_same_ends_of_lines() {
        let matching = |patterns: [&str; 2]| of(&patterns.map(String::from), READING).matching;
        assert!(matching(["^foo", "^bar"]).is_some_and(|ends| ends.start));
        assert_eq!(matching(["^foo", "bar"]), None);
        assert_eq!(matching(["foo", "bar"]), Some(LineEnds::NEITHER));
    }
}
