//! A set of numbers that counts them: a Fenwick tree, whose operations take logarithmic time.
//!
//! P. M. Fenwick, *A new data structure for cumulative frequency tables*, Software: Practice and
//! Experience 24, 1994.

/// A set of numbers below its size.
pub(super) struct FenwickTree(Vec<u32>);

impl FenwickTree {
    pub(super) fn empty(size: usize) -> Self {
        FenwickTree(vec![0; size + 1])
    }

    pub(super) fn full(size: usize) -> Self {
        FenwickTree((0..=size).map(|node| (node & node.wrapping_neg()) as u32).collect())
    }

    /// Adds a number that is not in the set.
    pub(super) fn add(&mut self, number: usize) {
        self.change(number, 1);
    }

    /// Removes a number that is in the set.
    pub(super) fn remove(&mut self, number: usize) {
        self.change(number, u32::MAX);
    }

    fn change(&mut self, number: usize, by: u32) {
        let mut node = number + 1;
        while node < self.0.len() {
            self.0[node] = self.0[node].wrapping_add(by);
            node += node & node.wrapping_neg();
        }
    }

    /// Number of members below `number`.
    pub(super) fn below(&self, number: usize) -> usize {
        let mut node = number;
        let mut count = 0;
        while node > 0 {
            count += self.0[node] as usize;
            node &= node - 1;
        }
        count
    }

    /// The member with `below` members below it.
    pub(super) fn nth(&self, mut below: usize) -> usize {
        let mut node = 0;
        for log in (0..self.0.len().ilog2() + 1).rev() {
            let next = node + (1 << log);
            if let Some(&count) = self.0.get(next)
                && count as usize <= below
            {
                below -= count as usize;
                node = next;
            }
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_there() {
        for size in [1, 2, 7, 64, 100] {
            let mut removed = FenwickTree::full(size);
            let mut added = FenwickTree::empty(size);
            (0..size).filter(|n| n % 3 == 1).for_each(|n| removed.remove(n));
            (0..size).filter(|n| n % 3 != 1).for_each(|n| added.add(n));
            assert_eq!(removed.0[1..], added.0[1..]);
            for (below, n) in (0..size).filter(|n| n % 3 != 1).enumerate() {
                assert_eq!((added.below(n), added.nth(below)), (below, n), "of {size}");
            }
        }
    }
}
