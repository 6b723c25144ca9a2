//! Suffix sorting algorithms. Each sorts the suffixes of a text; they differ in speed and memory.
//!
//! | name | how |
//! |---|---|
//! | `ls` | 8 symbols, then doubling, groups sorted by their size (GPU-LS) |
//! | `skew-pd` | two thirds by doubling, then a merge (Wang, Baxter, Owens) |
//! | `skew` | two thirds of the suffixes by recursion, then a merge (Karkkainen and Sanders) |
//! | `default` | alphabetic code, ranks of minimizers; or as `skew-pd` |
//!
//! An algorithm is a struct of buffers with two functions: `allocate`, which also measures the
//! memory that it needs, and `run`. A new algorithm gets a file in `sort` or `papers`, a variant of
//! [`Algorithm`] and one of [`AlgorithmBuffers`].

use super::block::{DeviceBlock, sa_to_bwt};
use super::interface::Algorithm;
use super::papers::{Ls, Skew, SkewPd};
use super::runtime::{ArenaAllocator, Gpu};
use super::sort::{DefaultSort, ExtraArenas};
use crate::base::error::Result;

/// Buffers of the chosen algorithm.
pub enum AlgorithmBuffers<'m> {
    Default(DefaultSort<'m>),
    Ls(Ls<'m>),
    Skew(Skew<'m>),
    SkewPd(SkewPd<'m>),
}

impl<'m> AlgorithmBuffers<'m> {
    /// Allocates the buffers for sorting n suffixes.
    pub fn allocate(
        algorithm: Algorithm,
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        n: u32,
    ) -> Result<Self> {
        Ok(match algorithm {
            Algorithm::Default => AlgorithmBuffers::Default(DefaultSort::allocate(gpu, arena, n)?),
            Algorithm::Ls => AlgorithmBuffers::Ls(Ls::allocate(gpu, arena, n)?),
            Algorithm::Skew => AlgorithmBuffers::Skew(Skew::allocate(gpu, arena, n)?),
            Algorithm::SkewPd => AlgorithmBuffers::SkewPd(SkewPd::allocate(gpu, arena, n)?),
        })
    }

    /// Sorts the suffixes and writes the BWT and the samples. `rounds` gets the number of suffixes
    /// still unsorted after each round.
    pub fn run(
        self,
        gpu: &Gpu,
        block: DeviceBlock<'m>,
        extra: &'m mut ExtraArenas,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        match self {
            AlgorithmBuffers::Default(default) => return default.run(gpu, block, extra, rounds),
            AlgorithmBuffers::Ls(ls) => ls.run(gpu, block, rounds),
            AlgorithmBuffers::Skew(skew) => skew.run(gpu, block, rounds),
            AlgorithmBuffers::SkewPd(skew_pd) => return skew_pd.run(gpu, block, rounds),
        }?;
        sa_to_bwt::sample_rows(gpu, block.sa, block.log_rate, block.samples)?;
        sa_to_bwt::last_column(gpu, block.text, block.sa, block.rows)
    }
}
