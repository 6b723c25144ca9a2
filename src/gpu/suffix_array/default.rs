//! What sorts if nothing else is asked for: `ls`, which is the fastest on text, DNA and most else; and `skew` in its place
//! where nearly all suffixes are still tied after 16 symbols, since on so repetitive a block each doubling costs as much
//! as the one before, while the levels of `skew` shrink by a third each whatever the data.
//!
//! Both take the same memory, one after the other.

use super::super::buffers::{Array, Carver};
use super::super::device::Gpu;
use super::super::tuning::HOPELESS_PERCENT;
use super::Block;
use super::ls::Ls;
use super::skew::Skew;
use crate::error::Result;

/// The buffers of both, which are the same memory.
pub struct Default<'m> {
    ls: Ls<'m>,
    skew: Skew<'m>,
}

impl<'m> Default<'m> {
    pub fn carve(gpu: &Gpu, carver: &mut Carver<'m>, n: u32) -> Result<Self> {
        let (mut for_ls, mut for_skew) = (Carver::measure(), Carver::measure());
        Ls::carve(gpu, &mut for_ls, n)?;
        Skew::carve(gpu, &mut for_skew, n)?;
        let shared: Array<u8> = carver.take(for_ls.used().max(for_skew.used()));
        Ok(Default {
            ls: Ls::carve(gpu, &mut Carver::over(shared), n)?,
            skew: Skew::carve(gpu, &mut Carver::over(shared), n)?,
        })
    }

    pub fn run(self, gpu: &Gpu, block: Block<'m>, rounds: &mut Vec<u32>) -> Result<()> {
        // Products of percents and lengths need more than 32 bits.
        let hopeless = u64::from(block.sa.len()) * u64::from(HOPELESS_PERCENT) / 100;
        if self.ls.run_unless(gpu, block, rounds, hopeless as u32)? {
            return Ok(());
        }
        self.skew.run(gpu, block, rounds)
    }
}
