//! Groups of equal suffixes that lie on several GPUs, and the destinations of their suffixes.
//!
//! A group that continues on the next GPU is *open* there. Its suffixes are sorted on each GPU that
//! has some, cut at the first rows of the next one ([`KeySplits`](super::key_splits)), and
//! exchanged. Each GPU then has the suffixes of its rows, in any order. All other suffixes stay: a
//! GPU sends one contiguous part of its list to itself, whatever open groups it has at both ends.

use super::key_splits::Cut;
use std::ops::Range;

/// List of unresolved suffixes of a GPU, as all GPUs know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ListShape {
    /// Number of its suffixes.
    pub len: u64,
    /// Number of its groups.
    pub groups: u64,
    /// Number of suffixes of the first group here.
    pub front: u64,
    /// Start of the last group here.
    pub back: u64,
    /// True if the first group begins on an earlier GPU.
    pub is_open: bool,
}

impl ListShape {
    /// Returns true if it is a part of one group that begins before it.
    fn is_inner(&self) -> bool {
        self.is_open && self.groups == 1
    }
}

/// A border between the rows of two GPUs within a group.
#[derive(Clone, Debug)]
pub(super) struct OpenBorder {
    /// Number of the GPU before the border.
    before: usize,
    /// GPUs that have suffixes of the group.
    gpus: Range<usize>,
}

/// Finds all such borders, given the lists of all GPUs.
pub(super) fn open_borders(lists: &[ListShape]) -> Vec<OpenBorder> {
    let is_open = |gpu: usize| lists.get(gpu).is_some_and(|list| list.is_open);
    let border = |before: usize| {
        let mut first = before;
        let mut last = before + 1;
        while lists[first].is_inner() {
            first -= 1;
        }
        while lists[last].is_inner() && is_open(last + 1) {
            last += 1;
        }
        OpenBorder {
            before,
            gpus: first..last + 1,
        }
    };
    (0..lists.len())
        .filter(|&before| is_open(before + 1))
        .map(border)
        .collect()
}

impl OpenBorder {
    /// Range of the group in the list of a GPU. It is empty on most.
    fn range(&self, lists: &[ListShape], gpu: usize) -> Range<u64> {
        let list = lists[gpu];
        match self.gpus.contains(&gpu) {
            false => 0..0,
            true if gpu <= self.before => list.back..list.len,
            true => 0..list.front,
        }
    }

    /// Returns the cut of the group in the list of a GPU.
    pub(super) fn cut(&self, lists: &[ListShape], gpu: usize) -> Cut {
        let len = |gpu: usize| self.range(lists, gpu).end - self.range(lists, gpu).start;
        let range = self.range(lists, gpu);
        let range = range.start as u32..range.end as u32;
        Cut {
            range,
            wanted: (self.gpus.start..=self.before).map(len).sum(),
        }
    }
}

/// Returns the parts of a GPU's list that are in open groups, which are to be sorted before they
/// are cut: at its front and at its back, or all of it.
pub(super) fn open_ranges(lists: &[ListShape], gpu: usize) -> [Option<Range<u32>>; 2] {
    let list = lists[gpu];
    let goes_on = lists
        .get(gpu + 1)
        .is_some_and(|next| next.is_open);
    let front = list.front as u32;
    let back = list.back as u32;
    let len = list.len as u32;
    if list.is_inner() && goes_on {
        return [Some(0..len), None];
    }
    [
        list.is_open.then_some(0..front),
        goes_on.then_some(back..len),
    ]
}

/// Returns the number of suffixes that a GPU sends to each GPU, and the number that it receives
/// from each. For each border and GPU, `before` has the number of suffixes of the group that lie
/// before the border.
pub(super) fn exchanged(
    lists: &[ListShape],
    borders: &[OpenBorder],
    before: &[Vec<u64>],
    gpu: usize,
) -> (Vec<u32>, Vec<u32>) {
    // Number of suffixes in the list of `from` that go to GPUs up to `to`.
    let up_to = |from: usize, to: usize| {
        let found = borders
            .iter()
            .position(|b| b.before == to && b.gpus.contains(&from));
        match found {
            Some(border) => borders[border].range(lists, from).start + before[border][from],
            None if from <= to => lists[from].len,
            None => 0,
        }
    };
    let sends = |from: usize, to: usize| {
        let earlier = if to == 0 { 0 } else { up_to(from, to - 1) };
        (up_to(from, to) - earlier) as u32
    };
    let gpus = 0..lists.len();
    (
        gpus.clone().map(|to| sends(gpu, to)).collect(),
        gpus.map(|from| sends(from, gpu)).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(len: u64, groups: u64, front: u64, back: u64, is_open: bool) -> ListShape {
        ListShape {
            len,
            groups,
            front,
            back,
            is_open,
        }
    }

    /// Four GPUs: a group on 0 to 2, of which 1 has nothing else, and one on 2 and 3.
    #[test]
    fn groups_at_both_ends_of_a_list_do_not_mix() {
        let lists = [
            list(10, 3, 2, 6, false),
            list(5, 1, 5, 0, true),
            list(9, 4, 3, 8, true),
            list(7, 2, 4, 4, true),
        ];
        let borders = open_borders(&lists);
        let gpus: Vec<_> = borders
            .iter()
            .map(|b| (b.before, b.gpus.clone()))
            .collect();
        assert_eq!(gpus, [(0, 0..3), (1, 0..3), (2, 2..4)]);
        let cuts = |gpu| {
            borders
                .iter()
                .map(|b| b.cut(&lists, gpu))
                .collect::<Vec<_>>()
        };
        let cut = |range, wanted| Cut { range, wanted };
        assert_eq!(cuts(0), [cut(6..10, 4), cut(6..10, 9), cut(0..0, 1)]);
        assert_eq!(cuts(1), [cut(0..5, 4), cut(0..5, 9), cut(0..0, 1)]);
        assert_eq!(cuts(2), [cut(0..3, 4), cut(0..3, 9), cut(8..9, 1)]);
        assert_eq!(cuts(3), [cut(0..0, 4), cut(0..0, 9), cut(0..4, 1)]);
        let ranges: Vec<_> = (0..4)
            .map(|gpu| open_ranges(&lists, gpu))
            .collect();
        let expected = [
            [None, Some(6..10)],
            [Some(0..5), None],
            [Some(0..3), Some(8..9)],
            [Some(0..4), None],
        ];
        assert_eq!(ranges, expected);
        // For each border, the suffixes of each GPU that come before it.
        let before = [vec![1, 2, 1, 0], vec![3, 4, 2, 0], vec![0, 0, 0, 1]];
        let sent = [[7, 2, 1, 0], [2, 2, 1, 0], [1, 1, 6, 1], [0, 0, 1, 6]];
        for gpu in 0..4 {
            let received = (0..4)
                .map(|from| sent[from][gpu])
                .collect::<Vec<u32>>();
            let expected = (sent[gpu].to_vec(), received);
            assert_eq!(exchanged(&lists, &borders, &before, gpu), expected);
            assert_eq!(u64::from(expected.1.iter().sum::<u32>()), lists[gpu].len);
        }
    }

    #[test]
    fn a_list_without_open_groups_stays() {
        let lists = [
            list(4, 2, 2, 2, false),
            ListShape::default(),
            list(3, 1, 3, 0, false),
        ];
        assert!(open_borders(&lists).is_empty());
        assert!((0..3).all(|gpu| open_ranges(&lists, gpu) == [None, None]));
        assert_eq!(
            exchanged(&lists, &[], &[], 2),
            (vec![0, 0, 3], vec![0, 0, 3])
        );
    }
}
