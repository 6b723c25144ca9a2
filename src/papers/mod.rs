//! Published algorithms as their papers have them, to compare with what bwz does.
//!
//! No other room of the library uses this one; the command runs it for `bench --sort`. Parts that
//! bwz itself uses are in the rooms that use them (`gpu/sort/skew_pd`).
//!
//! - **L. Wang, S. Baxter and J. D. Owens, *Fast parallel skew and prefix-doubling suffix array
//!   construction on the GPU*, 2016.** `skew`: the skew algorithm of J. Karkkainen and P. Sanders,
//!   with recursion, on a GPU; file: `gpu_sorts/skew`; run by: `bwz bench --sort skew`.
//! - **The same paper.** `skew-pd`: skew with prefix doubling, on a GPU. The product's sort uses it
//!   too; file: `gpu/sort/skew_pd`, `gpu_sorts/skew_pd_alone`; run by: `bwz bench --sort skew-pd`.
//! - **G. Sun and Z. Xie, *Fast in-memory suffix sorting on the GPU*.** `ls`: prefix doubling, each
//!   group sorted by a method for its size (GPU-LS), on a GPU; file: `gpu_sorts/ls`; run by: `bwz
//!   bench --sort ls`.
//! - **M. Felice Pace and A. Tiskin, *Parallel suffix array construction by accelerated sampling*,
//!   2013.** `bsp`: accelerated sampling in the bulk-synchronous parallel (BSP) model, on virtual
//!   processors; file: `distributed/accelerated_sampling`; run by: `bwz bench --sort bsp --device
//!   cpu -T 4`.
//! - **The same paper.** `bsp` on one or several GPUs; file: `gpu_sampling/sampled_sort`; run by:
//!   `bwz bench --sort bsp --device cuda`.
//! - **Y. Zhong et al., *Solving the longest overlap region problem for noncoding DNA sequences
//!   with GPU*, arXiv:1404.3448, 2014.** suffix array, LCP array and range minima, on one thread.
//!   The product's form is [`overlap`](crate::overlap); file: `longest_overlap`, the function
//!   [`longest_overlap`](longest_overlap()) of `bwz::papers`; run by: `cargo bench --bench lcp --
//!   --bases 1`.
//! - **N. J. Larsson and K. Sadakane, *Faster suffix sorting*, 2007; P. Flick and S. Aluru,
//!   *Parallel distributed memory construction of suffix and longest common prefix arrays*, 2015.**
//!   `doubling`: prefix doubling on virtual processors; file: `distributed/prefix_doubling`; run
//!   by: `cargo bench --bench distributed`.
//!
//! The page of each of these files says what is as in the paper, what differs, and gives figures;
//! that of `distributed/prefix_doubling` has its steps and their costs.
//!
//! G. Liao et al., *GPU accelerated multiple deoxyribose nucleic acid sequence parallel matching*,
//! search many patterns by binary search in a suffix array. That has no form here: the product
//! counts and locates the same patterns by backward search, in [`fm_index`](crate::fm_index) and on
//! GPUs (`bwz count`, `cargo bench --bench search`).
//!
//! A [`PaperSorter`] sorts by `skew`, `skew-pd`, `ls` or `bsp`, or by `default`, the sort of bwz:
//!
//! ```
//! use bwz::papers::{PaperAlgorithm, PaperSorter, sort_by_libsais};
//! use bwz::{Device, Options};
//!
//! let algorithm: PaperAlgorithm = "bsp".parse()?;
//! let options = Options::new().device(Device::Cpu);
//! let mut sorter = PaperSorter::new(algorithm, &options)?.processors(3);
//! let measured = sorter.sort(b"she sells sea shells")?;
//! assert_eq!(measured.bwt, sort_by_libsais(b"she sells sea shells")?);
//! println!("{algorithm} on {}: {:?}", sorter.place(), measured.whole);
//! # Ok::<(), bwz::Error>(())
//! ```
//!
//! # The files
//!
//! | file | job |
//! |---|---|
//! | `sampling` | difference covers, and the levels of accelerated sampling |
//! | `distributed` | one text sorted by several processors, which exchange words: `bsp` and `doubling` |
//! | `gpu_sorts` | suffix sorts on one GPU |
//! | `gpu_sampling` | accelerated sampling on GPUs |
//! | `gpu_doors` | these sorts for the files below; `absent_gpu_doors` in builds without CUDA |
//! | `paper_algorithm` | the names of the sorts |
//! | `rows_to_bwt` | suffix array -> BWT |
//! | `paper_sorter` | a sorter by name |
//! | `dc3` | the skew algorithm on one thread, for the next file |
//! | `longest_overlap` | the longest region that two sequences have in common |

mod dc3;
pub(crate) mod distributed;
#[cfg_attr(not(feature = "cuda"), path = "absent_gpu_doors.rs")]
pub(crate) mod gpu_doors;
#[cfg(feature = "cuda")]
mod gpu_sampling;
#[cfg(feature = "cuda")]
mod gpu_sorts;
mod longest_overlap;
mod paper_algorithm;
mod paper_sorter;
mod rows_to_bwt;
mod sampling;

pub use longest_overlap::{LongestOverlap, longest_overlap};
pub use paper_algorithm::PaperAlgorithm;
pub use paper_sorter::{Measured, PaperSorter, sort_by_libsais};
