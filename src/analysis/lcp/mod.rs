//! Suffix array and LCP array of a text in memory, range minima, longest common extensions.
//!
//! The LCP array holds, for each suffix in sorted order, the number of leading bytes that it shares
//! with the suffix before it. With it and the suffix array, repeats, common regions and overlaps
//! are found in linear time; `overlap` does so for sequences.
//!
//! ```
//! use bwz::{Options, lcp::{Extensions, LcpArrays}};
//!
//! let arrays = LcpArrays::new(b"banana", &Options::new())?;
//! assert_eq!(arrays.suffixes, [5, 3, 1, 0, 4, 2]); // a, ana, anana, banana, na, nana
//! assert_eq!(arrays.lcp, [0, 1, 3, 0, 0, 2]);
//!
//! let extensions = Extensions::new(arrays, &Options::new())?;
//! assert_eq!(extensions.longest(1, 3), 3); // anana and ana
//! # Ok::<(), bwz::Error>(())
//! ```
//!
//! The paper that asks for these arrays is Y. Zhong et al., *Solving the longest overlap region
//! problem for noncoding DNA sequences with GPU*, arXiv:1404.3448, 2014.
//!
//! # The files
//!
//! The last column is the peak of memory while the file is at work, in bytes per byte of the text
//! and including the text.
//!
//! | file | job | memory |
//! |---|---|---|
//! | `lcp_sorter` | texts -> both arrays, on the CPU or a GPU | 13; with a GPU 10 and 40 MiB |
//! | `lcp_gpu` | a GPU that builds both arrays, and the check of its rows | |
//! | `arrays` | both arrays | 9 |
//! | `limits` | maximum length of a text, and its memory | |
//! | `suffix_array` | the suffixes sorted, by libsais on one thread | 5 |
//! | `permuted_lcp` | the LCP array by way of text order, on all threads | 13 |
//! | `range_minima` | the minimum of a range of values, in constant time | see there |
//! | `extensions` | longest common extension of two positions, in constant time | 13 and range minima |
//! | `query_gpu` | the GPU that answers many queries at a time | 12 a query, up to 2^20 |
//!
//! If the options allow a GPU, it does the work that takes long enough to pay for it. Its results
//! are the same. One row in 64 is compared with the text, and one query in 64 is answered by the
//! CPU too. If the GPU fails, is found to be wrong or lacks the memory, the CPU does the work, and
//! a warning says so ([`crate::Event`]).
//!
//! # Limits
//!
//! Texts have up to 2^31 - 1 bytes, so that a position takes 4 bytes. Longer texts are an error,
//! even if there is memory for them; [`crate::repeats`] finds copies in them.

mod arrays;
mod extensions;
mod lcp_gpu;
mod lcp_sorter;
mod limits;
#[cfg(test)]
mod naive_lcp;
mod permuted_lcp;
mod query_gpu;
mod range_minima;
mod suffix_array;

pub use arrays::LcpArrays;
pub use extensions::Extensions;
pub use lcp_sorter::LcpSorter;
pub use limits::MAX_TEXT;
pub(crate) use limits::check_memory;
pub use range_minima::RangeMinima;
pub use suffix_array::suffix_array;
