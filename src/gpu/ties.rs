//! What the kernels of `default` share: the host side of `kernels/ties.cuh` and `kernels/anchors.cuh`, which explain it.

use super::buffers::{Array, Carver};
use super::device::Gpu;
use super::suffix_array::Block;
use crate::error::Result;

/// A list of suffixes that are still tied.
#[derive(Clone, Copy)]
pub struct Ties<'m> {
    pub slots: Array<'m, u32>,
    pub suffixes: Array<'m, u32>,
    pub groups: Array<'m, u32>,
    pub depths: Array<'m, u32>,
    pub heads: Array<'m, u32>,
}

impl<'m> Ties<'m> {
    /// Carves a list for up to n suffixes. A group has two and more.
    pub fn carve(carver: &mut Carver<'m>, n: u32) -> Self {
        let (items, groups) = (n as usize, n as usize / 2 + 1);
        Ties {
            slots: carver.take(items),
            suffixes: carver.take(items),
            groups: carver.take(items),
            depths: carver.take(groups),
            heads: carver.take(groups),
        }
    }
}

/// What all steps work on.
#[derive(Clone, Copy)]
pub struct Ground<'m> {
    pub block: Block<'m>,
    /// The code: for each symbol its bits, and in the low ones their number.
    pub code: Array<'m, u32>,
    /// A bit for each position: whether it is an anchor.
    pub bitmap: Array<'m, u32>,
    /// For anchors, by position: known depth << 32 | rank.
    pub ranks: Array<'m, u64>,
    /// How many symbols from a position on tell whether it is an anchor.
    pub look: u32,
    /// Bits of a rank.
    pub rank_bits: u32,
    /// What CTAs tell those behind them.
    pub status: Array<'m, u64>,
}

/// The smallest tile of a refining CTA: `status` has an item for each and one more.
pub const LEAST_TILE: u32 = 128;

impl<'m> Ground<'m> {
    /// How many suffixes there are.
    pub fn len(&self) -> u32 {
        self.block.sa.len()
    }

    /// Clears what `tiles` CTAs tell each other.
    pub fn clear_status(&self, gpu: &Gpu, tiles: u32) -> Result<()> {
        gpu.zero(self.status.first(tiles + 1))
    }

    /// The text as kernels take it.
    pub fn text(&self) -> TextStruct {
        TextStruct { text: self.block.text.address(), n: self.len() }
    }

    /// The anchors as kernels take them.
    pub fn anchors(&self) -> AnchorsStruct {
        AnchorsStruct {
            bitmap: self.bitmap.address(),
            ranks: self.ranks.address(),
            look: self.look,
            rank_bits: self.rank_bits.cast_signed(),
        }
    }

    /// Where results go, as kernels take it.
    pub fn out(&self, gpu: &Gpu) -> OutStruct {
        let Block { sa, rows, samples, log_rate, whole_sa, .. } = self.block;
        assert!(rows.len() > sa.len() && samples.len() > (sa.len() - 1) >> log_rate);
        OutStruct {
            sa: sa.address(),
            rows: rows.address(),
            samples: samples.address(),
            mailbox: gpu.mailbox(),
            rate_mask: (1 << log_rate) - 1,
            log_rate,
            whole_sa: whole_sa.into(),
        }
    }
}

/// `struct List` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ListStruct([u64; 5]);

impl From<Ties<'_>> for ListStruct {
    fn from(ties: Ties) -> Self {
        let Ties { slots, suffixes, groups, depths, heads } = ties;
        ListStruct([slots, suffixes, groups, depths, heads].map(Array::address))
    }
}

/// `struct Text` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextStruct {
    text: u64,
    n: u32,
}

/// `struct Anchors` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AnchorsStruct {
    bitmap: u64,
    ranks: u64,
    look: u32,
    rank_bits: i32,
}

/// `struct Out` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OutStruct {
    sa: u64,
    rows: u64,
    samples: u64,
    mailbox: u64,
    rate_mask: u32,
    log_rate: u32,
    whole_sa: u32,
}

macro_rules! kernel_structs {
    ($($name:ty),*) => {
        $(// SAFETY: plain integers, laid out as in C.
        #[allow(unsafe_code)]
        unsafe impl cudarc::driver::DeviceRepr for $name {})*
    };
}
pub(super) use kernel_structs;
