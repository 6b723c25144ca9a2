//! What sequences of nucleotides have in common: longest regions, maximal exact matches, and the
//! overlaps of reads.
//!
//! All three sort the suffixes of the sequences together ([`crate::lcp`]) and walk their LCP array
//! once, in time linear in input and output. Only A, C, G and T match, U as T, in either case:
//! whatever else stands in a sequence, N and the other codes of IUPAC among it, matches nothing,
//! itself included. So this is for nucleotides, not for proteins.
//!
//! ```
//! use bwz::Options;
//! use bwz::overlap::{Sequences, Strands, longest_common};
//!
//! let (mut a, mut b) = (Sequences::new(), Sequences::new());
//! a.add(b"chr1", b"GGGATTACATTTC")?;
//! b.add(b"contig", b"cctgtaatcgcga")?;
//! let found = longest_common(&a, &b, Strands::Both, &Options::new())?;
//! assert_eq!(found.len(), 1); // GATTACA is TGTAATC on the other strand
//! assert_eq!((found[0].a_start, found[0].b_start, found[0].length), (2, 2, 7));
//! assert!(found[0].is_reverse);
//! # Ok::<(), bwz::Error>(())
//! ```
//!
//! # The files
//!
//! | file | job |
//! |---|---|
//! | `sequence_set` | records, as they are read |
//! | `joined_text` | the text whose suffixes are sorted, and where its positions are from |
//! | `common_regions` | the longest regions, maximal matches, unique ones |
//! | `interval_walk` | the pairs of positions that agree so far and no further |
//! | `read_overlaps` | the suffixes of reads that are prefixes of others |
//! | `result_budget` | memory for results, which nobody knows beforehand |
//!
//! # Memory
//!
//! 13 bytes for each base that is sorted, and up to 64 for each result; where there are 17, a GPU
//! may sort, which gives those suffixes alone that agree for long enough, so that it is less than
//! 17 as a rule. Of its own memory a GPU takes 26 for each, and more where much repeats. Sorted are
//! the bases of `a`, those of `b` on each strand, or those of reads on each strand. Where
//! `Options::memory` allows less, that is [`Error::Limit`](crate::Error::Limit), before anything is
//! sorted or as soon as results have taken what is left.

mod common_regions;
mod interval_walk;
mod joined_text;
mod read_overlaps;
mod result_budget;
mod sequence_set;
#[cfg(test)]
mod tests;

pub use common_regions::{
    Match, longest_common, longest_common_on, maximal_matches, unique_matches,
};
pub use read_overlaps::{Overlap, read_overlaps};
pub use sequence_set::{Sequences, Strands};
