//! The classes of contexts: two trees of questions, for run lengths and for MTF ranks, that are
//! part of the format. FORMAT.md section 14.4.
//!
//! A leaf of a tree is a set of contexts in which numbers have similar distributions in all data.
//! Each block has a table for each *class*: a leaf, or an inner node whose leaves the block does
//! not distinguish. The trees were grown on the BWTs of 14 files of all kinds: each time, the split
//! that saved most was added (as in CART), with the cost of the tables included.
//!
//! The features of the run's own byte come first in both trees, so that they choose an *own node*
//! ahead of time; the average around the run then chooses among the leaves below that node.

use std::ops::Range;
use std::sync::LazyLock;

/// Number of leaves of the tree of run lengths.
pub(super) const RUN_LEAVES: usize = 64;
/// Number of leaves of the tree of MTF ranks.
pub(super) const RANK_LEAVES: usize = 256;

/// The trees in preorder. `r3` is a node: contexts whose feature r is less than 3 go to the left.
/// `.` is a leaf.
///
/// Features of the byte: r and q, the quantised averages of its run lengths and MTF ranks; l, its
/// last MTF rank, quantised. Feature around it: u, the quantised average of all MTF ranks.
const RUN_TREE: &str = "\
    r4 q7 r3 q5 r2 r1 . q4 q2 . . . q4 q3 . . . r2 . q6 . . q4 q3 . . q5 . q6 . . q10 r3 q8 r2 . \
    . r2 q9 . . . l1 . q8 . . r2 q15 q12 q11 . . l3 . q13 . . . r3 l2 . q13 . . l2 . q13 . . r7 \
    q4 r6 r5 q3 . . q3 . . q3 q2 . . . r5 l4 l1 . q5 . . q12 q8 . . . l3 l1 r6 . . . q8 . . r8 \
    l2 q3 . . q6 . . l1 r9 q3 . . r10 . . q6 . q12 . .";
const RANK_TREE: &str = "\
    q7 q3 q2 r1 u5 u2 . . u7 . . r7 u2 u1 . . u3 . u4 . . u2 . u3 . u4 . . r5 r1 . u4 u3 u2 . . \
    . u5 . . r7 u4 u3 . . . u4 . . q5 q4 r4 r3 r1 . l1 u4 u3 u2 . . . . u4 u3 . . . u4 u3 u2 . . \
    . u5 . . r6 u4 u2 . . u5 . . u4 . . r3 l1 u4 u3 . . u5 . . r1 . r2 u4 u3 . . u5 . u6 . . u4 \
    u3 . . u5 . . r4 l1 u4 . u5 . . u4 u3 . . u5 . . r6 u4 . u5 . . . q6 r3 l1 u4 . u5 . . l5 u5 \
    u4 u3 . . . u6 . . . r4 l1 u4 . . u5 u4 . . u6 . . l1 u4 . . u5 . . r3 l2 l1 u4 . u5 . . u5 \
    u4 . . u6 . . r1 u5 . . u5 u4 . . u6 . . l1 r4 u4 . . u4 . . l5 u5 u4 . . u6 . . . q11 q9 q8 \
    l6 r3 l2 u5 u4 . . u6 . . l5 u5 u4 . . u6 . . . l1 r4 . . l5 u5 u4 . . u6 . . . . l6 l2 r3 \
    u5 u4 . . u6 . u7 . . r4 u4 . . . r2 r1 u5 . . u5 u4 . . u6 . u7 . . r4 u6 u5 . . . u6 . . \
    r1 . . q10 l6 l3 r3 u6 u5 u4 . . . u7 . . u5 . . r3 r1 u6 . . u6 u5 . . u7 . . u6 . u7 . . \
    r1 . . r3 r1 l6 u6 . . u7 . . l4 u6 u4 . . . l6 u6 u5 . . u7 . . . l2 . l6 u7 u6 . . . . q15 \
    q13 q12 l7 l3 r3 u5 . u6 . . . l6 r3 l5 u6 u5 . . u7 . . u6 u5 . . u7 . . u7 u6 . . . r1 . \
    u6 . u7 . . r1 u7 . . . r1 l7 u6 . u7 . . u7 . . l4 r3 u6 u5 . . u7 . . . l7 r3 l6 u6 . u7 . \
    . u7 u6 . . . u7 . . u7 . . q14 r1 l7 u7 u6 . . . u7 . . l4 u6 . u7 . . l7 u7 u6 . . . u7 . \
    . r1 u7 u5 . . . l5 u7 u6 . . . u7 u6 . . . r1 u7 u6 . . . l7 u7 u6 . . . u7 u6 . . .";

/// A node of a tree. The nodes are in preorder: the left child is the next node.
#[derive(Debug, Clone)]
pub(super) struct ContextNode {
    /// The split of its contexts, or `None` for a leaf.
    split: Option<NodeSplit>,
    /// The leaves at and below it.
    pub leaves: Range<usize>,
    pub depth: usize,
    /// The middle of the quantised averages that lead to it, of run lengths or of MTF ranks.
    pub middle: usize,
}

#[derive(Debug, Clone, Copy)]
struct NodeSplit {
    feature: u8,
    limit: u8,
    right: usize,
}

impl ContextNode {
    /// The index of its right child, if it has children.
    pub(super) fn right(&self) -> Option<usize> {
        self.split.map(|split| split.right)
    }
}

/// One of the two trees.
#[derive(Debug)]
pub(super) struct ContextTree {
    pub nodes: Vec<ContextNode>,
    /// The own nodes: those below which the average around the run is used.
    own: Vec<usize>,
}

impl ContextTree {
    fn parse(text: &str, own_feature: u8, values: usize) -> Self {
        let mut tree = ContextTree {
            nodes: Vec::new(),
            own: Vec::new(),
        };
        let mut words = text.split_whitespace();
        tree.add(&mut words, own_feature, 0..values, 0, &mut 0, false);
        tree
    }

    /// Adds the next node and all nodes below it. `values` are the values of `own_feature` that
    /// lead to it.
    fn add<'a>(
        &mut self,
        words: &mut impl Iterator<Item = &'a str>,
        own_feature: u8,
        values: Range<usize>,
        depth: usize,
        leaves: &mut usize,
        mut in_own: bool,
    ) {
        let word = words.next().expect("a whole tree").as_bytes();
        let at = self.nodes.len();
        let from = *leaves;
        if !in_own && !b"rql".contains(&word[0]) {
            self.own.push(at);
            in_own = true;
        }
        let middle = (values.start + values.end - 1) / 2;
        self.nodes.push(ContextNode {
            split: None,
            leaves: from..from,
            depth,
            middle,
        });
        if word == b"." {
            *leaves += 1;
        } else {
            let feature = word[0];
            let limit = word[1..]
                .iter()
                .fold(0, |n, digit| 10 * n + (digit - b'0'));
            let [left, right] = match feature == own_feature {
                true => [values.start..limit.into(), limit.into()..values.end],
                false => [values.clone(), values],
            };
            self.add(words, own_feature, left, depth + 1, leaves, in_own);
            self.nodes[at].split = Some(NodeSplit {
                feature,
                limit,
                right: self.nodes.len(),
            });
            self.add(words, own_feature, right, depth + 1, leaves, in_own);
        }
        self.nodes[at].leaves.end = *leaves;
    }

    /// The node that a context leads to from node `at`, as far as `value` returns its features.
    fn descend(&self, mut at: usize, value: impl Fn(u8) -> Option<u8>) -> usize {
        while let Some(split) = self.nodes[at].split
            && let Some(value) = value(split.feature)
        {
            at = if value < split.limit {
                at + 1
            } else {
                split.right
            };
        }
        at
    }

    /// The number of the own node for the features of a byte.
    fn own_node(&self, own: [u8; 3]) -> usize {
        let value = |feature| {
            b"rql"
                .iter()
                .position(|&f| f == feature)
                .map(|k| own[k])
        };
        let node = self.descend(0, value);
        self.own
            .iter()
            .position(|&own| own == node)
            .expect("the features around come last")
    }

    /// The leaf below an own node for the average around the run.
    fn leaf(&self, own: usize, around: usize) -> usize {
        let node = self.descend(self.own[own], |_| Some(around as u8));
        self.nodes[node].leaves.start
    }
}

/// Number of values of the average around a run.
pub(super) const AROUND: usize = 8;
/// Size of the table of the leaves of MTF ranks: a power of two that is enough for all own nodes.
pub(super) const RANK_CONTEXTS: usize = 1024;

/// The contexts of a byte, by r * 128 + q * 8 + l: the leaf of its run length, and from bit 16 on
/// [`AROUND`] times the number of its own node for MTF ranks.
pub(super) type OwnContexts = [u32; 2048];

/// Both trees, and their leaves.
#[derive(Debug)]
pub(super) struct Contexts {
    pub runs: ContextTree,
    pub ranks: ContextTree,
    pub own: Box<OwnContexts>,
    /// The leaf, by [`AROUND`] times the own node plus the average around the run.
    pub rank_leaves: Box<[u8; RANK_CONTEXTS]>,
}

/// The contexts that the format defines.
pub(super) static CONTEXTS: LazyLock<Contexts> = LazyLock::new(|| {
    let runs = ContextTree::parse(RUN_TREE, b'r', 11);
    let ranks = ContextTree::parse(RANK_TREE, b'q', 16);
    let mut own = Box::new([0; 2048]);
    for (key, contexts) in own.iter_mut().enumerate() {
        let features = [key >> 7, key >> 3 & 15, key & 7].map(|feature| feature as u8);
        let run_leaf = runs.leaf(runs.own_node(features), 0);
        *contexts = (run_leaf | ((AROUND * ranks.own_node(features)) << 16)) as u32;
    }
    let mut rank_leaves = Box::new([0; RANK_CONTEXTS]);
    let classes = ranks.own.len();
    for (context, leaf) in rank_leaves[..AROUND * classes]
        .iter_mut()
        .enumerate()
    {
        *leaf = ranks.leaf(context / AROUND, context % AROUND) as u8;
    }
    Contexts {
        runs,
        ranks,
        own,
        rank_leaves,
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_have_their_leaves_and_own_nodes() {
        for (tree, leaves, own) in [
            (&CONTEXTS.runs, RUN_LEAVES, 64),
            (&CONTEXTS.ranks, RANK_LEAVES, 96),
        ] {
            assert_eq!(
                (tree.nodes[0].leaves.clone(), tree.own.len()),
                (0..leaves, own)
            );
            assert_eq!(tree.nodes.len(), 2 * leaves - 1);
            let ends = tree
                .nodes
                .iter()
                .filter(|node| node.right().is_none());
            assert!(
                ends.enumerate()
                    .all(|(k, leaf)| leaf.leaves == (k..k + 1))
            );
        }
    }

    #[test]
    fn every_leaf_is_reached() {
        let run = |leaf| {
            CONTEXTS
                .own
                .iter()
                .any(|own| (own & 0xffff) as usize == leaf)
        };
        assert!((0..RUN_LEAVES).all(run));
        assert!((0..RANK_LEAVES).all(|leaf| CONTEXTS.rank_leaves.contains(&(leaf as u8))));
        let ranks = CONTEXTS.own.iter().map(|own| own >> 16).max();
        assert_eq!(ranks, Some((95 * AROUND) as u32));
    }
}
