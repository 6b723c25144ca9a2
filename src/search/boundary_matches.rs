//! Matches that cross the boundary of two blocks: users do not know of blocks.
//!
//! A match belongs to the block in which it starts. If it does not end there, it lies in the window
//! of the last m - 1 bytes of that block and the m - 1 bytes behind it, with m the length of the
//! pattern; those may take several short blocks. So each match is found once, in a block or at one
//! boundary.

use super::searched_block::occurrences;
use rayon::prelude::*;

/// The ends of a block: as many bytes as the longest pattern has but one, or the whole block if it
/// is shorter.
#[derive(Debug)]
pub struct Edges {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    /// Pos of the byte behind the block.
    pub end: u64,
}

/// The bytes around a block boundary.
struct Window {
    bytes: Vec<u8>,
    /// How many of them are before the boundary.
    before: usize,
    /// Pos of the boundary.
    pos: u64,
}

/// The positions of each pattern across block boundaries, ascending.
pub fn search<P: AsRef<[u8]> + Sync>(edges: &[Edges], patterns: &[P]) -> Vec<Vec<u64>> {
    let longest = patterns.iter().map(|p| p.as_ref().len()).max().unwrap_or(0);
    let mut found = vec![Vec::new(); patterns.len()];
    // One window at a time: for long patterns they are large.
    for k in 1..edges.len() {
        let window = Window::new(edges, k, longest);
        let add =
            |(found, pattern): (&mut Vec<u64>, &P)| found.extend(window.matches(pattern.as_ref()));
        found.par_iter_mut().zip(patterns).for_each(add);
    }
    found
}

impl Window {
    /// The window of the boundary before block `k`.
    fn new(edges: &[Edges], k: usize, longest: usize) -> Self {
        let Edges { tail, end, .. } = &edges[k - 1];
        let mut bytes = tail.clone();
        for next in &edges[k..] {
            let missing = (tail.len() + longest).saturating_sub(bytes.len() + 1);
            bytes.extend_from_slice(&next.head[..missing.min(next.head.len())]);
            if missing <= next.head.len() {
                break;
            }
        }
        Window { bytes, before: tail.len(), pos: *end }
    }

    /// Where `pattern` starts before the boundary and ends behind it.
    fn matches(&self, pattern: &[u8]) -> Vec<u64> {
        let before = self.before.min(pattern.len() - 1);
        let end = self.bytes.len().min(self.before + pattern.len() - 1);
        let window = &self.bytes[self.before - before..end];
        let start = self.pos - before as u64;
        occurrences(pattern, window).map(|at| start + at as u64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of blocks of `size` bytes, for patterns of up to `longest`.
    fn cut(text: &[u8], size: usize, longest: usize) -> Vec<Edges> {
        let blocks = text.chunks(size).zip((size as u64..).step_by(size));
        let kept = |block: &[u8]| block.len().min(longest - 1);
        blocks
            .map(|(block, end)| Edges {
                head: block[..kept(block)].to_vec(),
                tail: block[block.len() - kept(block)..].to_vec(),
                end: end.min(text.len() as u64),
            })
            .collect()
    }

    #[test]
    fn each_match_across_a_boundary_is_found_once() {
        let text = b"abaababaabaababaababaabaababaabaab";
        for size in 1..=text.len() {
            for len in 1..=12 {
                for pattern in text.windows(len).map(<[u8]>::to_vec).chain([vec![b'a'; len]]) {
                    let inside = |at: usize| at / size == (at + len - 1) / size;
                    let wanted: Vec<u64> = (0..=text.len() - len)
                        .filter(|&at| text[at..].starts_with(&pattern) && !inside(at))
                        .map(|at| at as u64)
                        .collect();
                    let found = search(&cut(text, size, 12), &[&pattern[..], b"abababababab"]);
                    assert_eq!(found[0], wanted, "blocks of {size}, {pattern:?}");
                }
            }
        }
    }
}
