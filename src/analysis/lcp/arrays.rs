//! The suffix array with the LCP array.

/// The suffix array of a text of n bytes, and its LCP array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LcpArrays {
    /// Positions 0..n of all suffixes but the empty one, in the order of the suffixes. A suffix
    /// comes before those that it is a prefix of.
    pub suffixes: Vec<u32>,
    /// Longest common prefixes. `lcp[k]` is the number of leading bytes that the suffixes at
    /// `suffixes[k - 1]` and `suffixes[k]` have in common; `lcp[0]` is 0.
    pub lcp: Vec<u32>,
}
