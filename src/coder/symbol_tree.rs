//! The order in which symbols are told apart: a binary tree over the symbols of a segment.
//!
//! A symbol is coded as the turns of the way down to it: "is it the split symbol or a later one?".
//! The order of the leaves is that of the byte values, so symbols that lie close (letters, digits,
//! samples of a signal) share most of their way and what is learnt there; and every split halves
//! the weight of what is left as well as it can, so text takes about five turns and DNA two, where
//! plain bits would take eight. Nodes are numbered level by level.
//!
//! A node and those up to two levels below it are a group, whose cells share one line of the cache:
//! a symbol has one to three groups, where it has five nodes and more.
//!
//! The tree follows from one weight class per symbol, the binary logarithm of how many runs it has,
//! which the segment's header holds in 32 bytes and half a byte per symbol.

use super::rle;
use crate::error::Flaw;

/// One turn: symbols from `split` on are to the right.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub split: u8,
    /// Left and right: a symbol, or 256 plus the number of a node.
    pub children: [u16; 2],
    /// The group, and the place in it: 1 for the topmost, 2 c and 2 c + 1 below place c.
    pub group: u8,
    pub place: u8,
}

/// The tree of a segment, or its only symbol.
#[derive(Debug)]
pub struct Tree {
    pub root: u16,
    nodes: Vec<Node>,
}

/// The first code that is not a symbol but a node.
pub const INNER: u16 = 256;

impl Tree {
    /// The node that a code of [`INNER`] and more stands for.
    #[inline(always)]
    pub fn node(&self, code: u16) -> Node {
        self.nodes[usize::from(code - INNER)]
    }

    /// Writes the weight classes that suit `segment`, and gives their tree.
    pub fn encode(segment: &[u8], out: &mut Vec<u8>) -> Self {
        let mut counts = [0u32; 256];
        let mut pos = 0;
        while pos < segment.len() {
            let run = rle::read(segment, pos);
            counts[usize::from(run.symbol)] += 1;
            pos += run.len as usize;
        }
        let classes = counts.map(|count| (count + 1).ilog2().min(16) as u8);
        let mut present = [0; 32];
        let mut halves = Vec::new();
        for (symbol, &class) in classes.iter().enumerate().filter(|(_, class)| **class > 0) {
            present[symbol / 8] |= 1 << (symbol % 8);
            halves.push(class - 1);
        }
        out.extend(present);
        out.extend(halves.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 4)));
        Self::of(&classes)
    }

    /// Reads what [`Tree::encode`] wrote; gives the tree and the bytes behind it.
    pub fn decode(coded: &[u8]) -> Result<(Self, &[u8]), Flaw> {
        let early = Flaw("a segment's coded bytes end too early");
        let (present, rest) = coded.split_at_checked(32).ok_or(early)?;
        let is_present = |symbol: &usize| present[symbol / 8] >> (symbol % 8) & 1 == 1;
        let symbols: Vec<usize> = (0..256).filter(is_present).collect();
        if symbols.is_empty() {
            return Err(Flaw("a segment has no symbols"));
        }
        let (halves, rest) = rest.split_at_checked(symbols.len().div_ceil(2)).ok_or(early)?;
        let mut classes = [0; 256];
        for (k, symbol) in symbols.into_iter().enumerate() {
            classes[symbol] = 1 + (halves[k / 2] >> (k % 2 * 4) & 15);
        }
        Ok((Self::of(&classes), rest))
    }

    /// The tree of weights 2^class; symbols of class 0 are not in it.
    fn of(classes: &[u8; 256]) -> Self {
        let leaves: Vec<(u8, u32)> = (0..=255)
            .zip(classes)
            .filter(|(_, class)| **class > 0)
            .map(|(symbol, class)| (symbol, 1 << class))
            .collect();
        // Slice k of the leaves becomes node k.
        let mut slices: Vec<_> = std::iter::once(0..leaves.len()).collect();
        let mut nodes = Vec::with_capacity(leaves.len());
        if leaves.len() == 1 {
            return Tree { root: leaves[0].0.into(), nodes };
        }
        while let Some(slice) = slices.get(nodes.len()).cloned() {
            let middle = slice.start + halve(&leaves[slice.clone()]);
            let children = [slice.start..middle, middle..slice.end].map(|half| {
                if half.len() == 1 {
                    return leaves[half.start].0.into();
                }
                slices.push(half);
                INNER + slices.len() as u16 - 1
            });
            nodes.push(Node { split: leaves[middle].0, children, group: 0, place: 0 });
        }
        put_in_groups(&mut nodes);
        Tree { root: INNER, nodes }
    }
}

/// Groups are numbered in the order of their topmost nodes.
fn put_in_groups(nodes: &mut [Node]) {
    let mut groups = 0;
    for at in 0..nodes.len() {
        if nodes[at].place == 0 {
            (nodes[at].group, nodes[at].place) = (groups, 1);
            groups += 1;
        }
        let Node { children, group, place, .. } = nodes[at];
        for (side, child) in children.into_iter().enumerate().filter(|(_, c)| *c >= INNER) {
            if place < 4 {
                let child = &mut nodes[usize::from(child - INNER)];
                (child.group, child.place) = (group, 2 * place + side as u8);
            }
        }
    }
}

/// How many of two or more `leaves` to put to the left, so that both sides weigh most nearly the
/// same.
fn halve(leaves: &[(u8, u32)]) -> usize {
    let total: u32 = leaves.iter().map(|leaf| leaf.1).sum();
    let mut left = 0;
    let uneven = leaves[..leaves.len() - 1].iter().map(|leaf| {
        left += 2 * leaf.1;
        left.abs_diff(total)
    });
    1 + uneven.enumerate().min_by_key(|&(k, uneven)| (uneven, k)).map_or(0, |(k, _)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(of: &[(u8, u8)]) -> [u8; 256] {
        let mut classes = [0; 256];
        of.iter().for_each(|&(symbol, class)| classes[usize::from(symbol)] = class);
        classes
    }

    #[test]
    fn heavy_symbols_are_near_the_root() {
        let tree = Tree::of(&classes(&[(b'a', 9), (b'b', 2), (b'c', 3), (b'z', 2)]));
        let root = tree.node(tree.root);
        assert_eq!((root.split, root.children), (b'b', [b'a'.into(), INNER + 1]));
        let next = tree.node(INNER + 1);
        assert_eq!((next.split, next.children), (b'c', [b'b'.into(), INNER + 2]));
    }

    #[test]
    fn every_symbol_has_its_leaf() {
        let all: Vec<(u8, u8)> = (0..=255).map(|s: u8| (s, 1 + s.wrapping_mul(77) % 16)).collect();
        for present in [&all[..], &all[..1], &all[254..], &all[7..90]] {
            let tree = Tree::of(&classes(present));
            for &(symbol, _) in present {
                let mut at = tree.root;
                while at >= INNER {
                    let node = tree.node(at);
                    at = node.children[usize::from(symbol >= node.split)];
                }
                assert_eq!(at, u16::from(symbol));
            }
        }
    }

    #[test]
    fn groups_have_seven_places_and_share_none() {
        let all: Vec<(u8, u8)> = (0..=255).map(|s: u8| (s, 1 + s.wrapping_mul(77) % 16)).collect();
        let tree = Tree::of(&classes(&all));
        let mut places: Vec<_> = tree.nodes.iter().map(|node| (node.group, node.place)).collect();
        assert!(places.iter().all(|(_, place)| (1..8).contains(place)));
        assert_eq!(places[..3], [(0, 1), (0, 2), (0, 3)]);
        places.sort();
        places.dedup();
        assert_eq!(places.len(), 255);
    }

    #[test]
    fn the_header_comes_back() {
        for segment in [&b"x"[..], b"mississippi", &[0, 255, 0, 255, 7], &[3; 1000]] {
            let mut out = Vec::new();
            let tree = Tree::encode(segment, &mut out);
            out.push(99);
            let (again, rest) = Tree::decode(&out).unwrap();
            assert_eq!((format!("{tree:?}"), rest), (format!("{again:?}"), &[99][..]));
            assert!(Tree::decode(&out[..out.len() - 2]).is_err());
        }
        assert!(Tree::decode(&[0; 40]).is_err());
    }
}
