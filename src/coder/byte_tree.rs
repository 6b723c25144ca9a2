//! The byte tree of context mixing: a binary tree over the bytes of a slice. FORMAT.md section
//! 15.1.
//!
//! A byte is coded as the path down to its leaf, in bits that say "the split byte or a later one".
//! The leaves are in the order of the byte values, so that close bytes (letters, digits, samples of
//! a signal) share most of their path and of its statistics. Every split halves the remaining
//! weight as evenly as possible: text takes about five bits per run and DNA two, while plain bytes
//! would take eight. Nodes are numbered breadth first.
//!
//! A node and the nodes up to two levels below it are a group, whose estimates share a cache line.
//! A path of n nodes crosses n / 3 groups, rounded up: one to three for most bytes.
//!
//! The tree follows from one weight per byte, a power of two near the number of its runs. The
//! slice's header has 32 bytes with a bit for each byte value that says if it is present, and half
//! a byte for the logarithm of the weight of each present one.

use super::{ENDS_EARLY, rle};
use crate::base::error::Flaw;

/// An inner node: bytes from `split` on are to the right.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeNode {
    pub split: u8,
    /// Left and right child: a byte, or 256 plus the index of a node.
    pub children: [u16; 2],
    /// The group.
    pub group: u8,
    /// Index in the group, as in a heap: 1 for the topmost node, 2 k and 2 k + 1 below node k.
    pub heap_index: u8,
}

/// The tree of a slice, or its only byte.
#[derive(Debug)]
pub(super) struct ByteTree {
    pub root: u16,
    nodes: Vec<TreeNode>,
}

/// Codes below this one are bytes, the others are nodes.
pub(super) const INNER: u16 = 256;

impl ByteTree {
    /// The node of a code that is at least [`INNER`].
    #[inline(always)]
    pub(super) fn node(&self, code: u16) -> TreeNode {
        self.nodes[usize::from(code - INNER)]
    }

    /// Writes the weights that suit `slice`, and returns their tree.
    pub(super) fn encode(slice: &[u8], out: &mut Vec<u8>) -> Self {
        let mut counts = [0u32; 256];
        let mut pos = 0;
        while pos < slice.len() {
            let run = rle::read(slice, pos);
            counts[usize::from(run.byte)] += 1;
            pos += run.len as usize;
        }
        let log_weights = counts.map(|count| (count + 1).ilog2().min(16) as u8);
        let mut present = [0; 32];
        let mut halves = Vec::new();
        for (byte, &log) in log_weights
            .iter()
            .enumerate()
            .filter(|(_, log)| **log > 0)
        {
            present[byte / 8] |= 1 << (byte % 8);
            halves.push(log - 1);
        }
        out.extend(present);
        out.extend(
            halves
                .chunks(2)
                .map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 4)),
        );
        Self::of(&log_weights)
    }

    /// Reads the output of [`ByteTree::encode`]. Returns the tree and the bytes behind it.
    pub(super) fn decode(coded: &[u8]) -> Result<(Self, &[u8]), Flaw> {
        let (present, rest) = coded.split_at_checked(32).ok_or(ENDS_EARLY)?;
        let is_present = |byte: &usize| present[byte / 8] >> (byte % 8) & 1 == 1;
        let bytes: Vec<usize> = (0..256).filter(is_present).collect();
        if bytes.is_empty() {
            return Err(Flaw("a slice names no byte"));
        }
        let (halves, rest) = rest
            .split_at_checked(bytes.len().div_ceil(2))
            .ok_or(ENDS_EARLY)?;
        let mut log_weights = [0; 256];
        for (k, byte) in bytes.into_iter().enumerate() {
            log_weights[byte] = 1 + (halves[k / 2] >> (k % 2 * 4) & 15);
        }
        Ok((Self::of(&log_weights), rest))
    }

    /// The tree of bytes with these logarithms of weights; bytes with 0 are not in the tree.
    fn of(log_weights: &[u8; 256]) -> Self {
        let leaves: Vec<(u8, u32)> = (0..=255)
            .zip(log_weights)
            .filter(|(_, log)| **log > 0)
            .map(|(byte, log)| (byte, 1 << log))
            .collect();
        // Range k of the leaves becomes node k.
        let mut slices: Vec<_> = std::iter::once(0..leaves.len()).collect();
        let mut nodes = Vec::with_capacity(leaves.len());
        if leaves.len() == 1 {
            return ByteTree {
                root: leaves[0].0.into(),
                nodes,
            };
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
            nodes.push(TreeNode {
                split: leaves[middle].0,
                children,
                group: 0,
                heap_index: 0,
            });
        }
        put_in_groups(&mut nodes);
        ByteTree { root: INNER, nodes }
    }
}

/// Assigns nodes to groups, which are numbered in the order of their topmost nodes.
fn put_in_groups(nodes: &mut [TreeNode]) {
    let mut groups = 0;
    for at in 0..nodes.len() {
        if nodes[at].heap_index == 0 {
            (nodes[at].group, nodes[at].heap_index) = (groups, 1);
            groups += 1;
        }
        let TreeNode {
            children,
            group,
            heap_index,
            ..
        } = nodes[at];
        for (side, child) in children
            .into_iter()
            .enumerate()
            .filter(|(_, c)| *c >= INNER)
        {
            if heap_index < 4 {
                let child = &mut nodes[usize::from(child - INNER)];
                (child.group, child.heap_index) = (group, 2 * heap_index + side as u8);
            }
        }
    }
}

/// Number of `leaves`, of two or more, that go to the left so that the weights of both sides differ
/// least.
fn halve(leaves: &[(u8, u32)]) -> usize {
    let total: u32 = leaves.iter().map(|leaf| leaf.1).sum();
    let mut left = 0;
    let uneven = leaves[..leaves.len() - 1].iter().map(|leaf| {
        left += 2 * leaf.1;
        left.abs_diff(total)
    });
    1 + uneven
        .enumerate()
        .min_by_key(|&(k, uneven)| (uneven, k))
        .map_or(0, |(k, _)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_weights(of: &[(u8, u8)]) -> [u8; 256] {
        let mut log_weights = [0; 256];
        of.iter()
            .for_each(|&(byte, log)| log_weights[usize::from(byte)] = log);
        log_weights
    }

    #[test]
    fn heavy_bytes_are_near_the_root() {
        let tree = ByteTree::of(&log_weights(&[(b'a', 9), (b'b', 2), (b'c', 3), (b'z', 2)]));
        let root = tree.node(tree.root);
        assert_eq!(
            (root.split, root.children),
            (b'b', [b'a'.into(), INNER + 1])
        );
        let next = tree.node(INNER + 1);
        assert_eq!(
            (next.split, next.children),
            (b'c', [b'b'.into(), INNER + 2])
        );
    }

    #[test]
    fn every_byte_has_its_leaf() {
        let all: Vec<(u8, u8)> = (0..=255)
            .map(|s: u8| (s, 1 + s.wrapping_mul(77) % 16))
            .collect();
        for present in [&all[..], &all[..1], &all[254..], &all[7..90]] {
            let tree = ByteTree::of(&log_weights(present));
            for &(byte, _) in present {
                let mut at = tree.root;
                while at >= INNER {
                    let node = tree.node(at);
                    at = node.children[usize::from(byte >= node.split)];
                }
                assert_eq!(at, u16::from(byte));
            }
        }
    }

    #[test]
    fn groups_have_up_to_seven_nodes_and_share_none() {
        let all: Vec<(u8, u8)> = (0..=255)
            .map(|s: u8| (s, 1 + s.wrapping_mul(77) % 16))
            .collect();
        let tree = ByteTree::of(&log_weights(&all));
        let mut numbers: Vec<_> = tree
            .nodes
            .iter()
            .map(|node| (node.group, node.heap_index))
            .collect();
        assert!(
            numbers
                .iter()
                .all(|(_, index)| (1..8).contains(index))
        );
        assert_eq!(numbers[..3], [(0, 1), (0, 2), (0, 3)]);
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), 255);
    }

    #[test]
    fn the_header_comes_back() {
        for slice in [&b"x"[..], b"mississippi", &[0, 255, 0, 255, 7], &[3; 1000]] {
            let mut out = Vec::new();
            let tree = ByteTree::encode(slice, &mut out);
            out.push(99);
            let (again, rest) = ByteTree::decode(&out).unwrap();
            assert_eq!(
                (format!("{tree:?}"), rest),
                (format!("{again:?}"), &[99][..])
            );
            assert!(ByteTree::decode(&out[..out.len() - 2]).is_err());
        }
        assert!(ByteTree::decode(&[0; 40]).is_err());
    }
}
