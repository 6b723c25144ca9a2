//! Suffix array and LCP array of a text in memory, range minima, longest common extensions.
//!
//! The LCP array holds, for each suffix in sorted order, how many bytes it shares with the one
//! before. With it and the suffix array, repeats, common regions and overlaps are found in linear
//! time; `overlap` does so for sequences.
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
//! # The files
//!
//! Memory is the most while the file is at work, in bytes per byte of the text, with the text.
//!
//! | file | job | memory |
//! |---|---|---|
//! | `lcp_sorter` | texts -> both arrays, on the CPU or a GPU | 13; with a GPU 10 and 40 MiB |
//! | `arrays` | both arrays | 9 |
//! | `limits` | how long a text may be, and its memory | |
//! | `suffix_array` | the suffixes sorted, by libsais on one thread | 5 |
//! | `permuted_lcp` | the LCP array by way of text order, on all threads | 13 |
//! | `range_minima` | the least of a range of values, in constant time | see there |
//! | `extensions` | how far two positions agree, in constant time | 13 and range minima |
//! | `query_gpu` | the GPU that answers many queries at a time | 12 a query, up to 2^20 |
//!
//! Texts have up to 2^31 - 1 bytes: positions take 4. Longer ones are an error, whatever memory
//! there is; copies in them are found by [`crate::repeats`].
//!
//! Where the options let a GPU do the work, it does what takes long enough for that to pay, with
//! the same results, which are not checked; where it fails, or its memory does not do, the CPU does
//! it, and a warning says so ([`crate::Event`]).
//!
//! The paper that asks for these arrays is Y. Zhong et al., *Solving the longest overlap region
//! problem for noncoding DNA sequences with GPU*, arXiv:1404.3448, 2014.

mod arrays;
mod extensions;
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
