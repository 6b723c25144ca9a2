//! The suffix sorting algorithms. Each puts the suffixes of a text into order; they differ in speed
//! and memory.
//!
//! | name | how |
//! |---|---|
//! | `ls` | 8 symbols, then doubling, groups sorted by their size (GPU-LS) |
//! | `skew-pd` | two thirds by doubling, then a merge (Wang, Baxter, Owens) |
//! | `skew` | two thirds of the suffixes by recursion, then a merge (Karkkainen and Sanders) |
//! | `default` | alphabetic code, ranks of minimizers; or as `skew-pd` |
//!
//! An algorithm is a struct of its buffers with two functions: `allocate`, which also measures the
//! memory it takes, and `run`. A new one gets a file in a room below, a variant of [`Algorithm`]
//! and one of [`AlgorithmBuffers`].

use super::block::{DeviceBlock, sa_to_bwt};
use super::interface::Algorithm;
use super::papers::{Ls, Skew, SkewPd};
use super::runtime::{ArenaAllocator, Gpu};
use super::sort::{DefaultSort, ExtraArenas};
use crate::error::Result;

/// The buffers of the algorithm that was chosen.
pub enum AlgorithmBuffers<'m> {
    Default(DefaultSort<'m>),
    Ls(Ls<'m>),
    Skew(Skew<'m>),
    SkewPd(SkewPd<'m>),
}

impl<'m> AlgorithmBuffers<'m> {
    /// Allocates what sorting n suffixes takes.
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

    /// Sorts and makes the transform. `rounds` gets the number of suffixes that were left to sort
    /// after each round.
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
