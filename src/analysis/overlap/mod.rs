//! Common parts of sequences of nucleotides: longest regions, maximal exact matches, and overlaps
//! of reads.
//!
//! All three sort the suffixes of the sequences together ([`crate::lcp`]) and walk their LCP array
//! once, in time linear in input and output. Only A, C, G and T match, in either case, and U
//! matches as T. Any other byte, such as N and the other codes of IUPAC, matches nothing, not even
//! itself. So this is for nucleotides, not for proteins.
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
//! | `joined_text` | the text whose suffixes are sorted, and the record of each position |
//! | `common_regions` | the longest regions, maximal matches, unique ones |
//! | `interval_walk` | the pairs of positions that agree for a length and no further |
//! | `read_overlaps` | the suffixes of reads that are prefixes of others |
//! | `result_budget` | memory for results, whose number is not known beforehand |
//!
//! # Memory
//!
//! 13 bytes for each base that is sorted, and up to 64 for each result. The sorted bases are those
//! of `a` and those of `b` on each strand, or those of reads on each strand.
//!
//! A GPU may sort if there are 17 bytes for each base. It returns only the suffixes that agree for
//! long enough, so that it mostly takes less. Of its own memory the GPU takes 26 bytes for each
//! base, and more if the text repeats itself a lot.
//!
//! If `Options::memory` allows less, the error is [`Error::Limit`](crate::Error::Limit), either
//! before sorting or as soon as the results have taken the rest of the memory.

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
