//! What the kernels of `default` share: the host side of `kernels/ties.cuh` and `kernels/anchors.cuh`, which explain it.

use super::buffers::{Array, Carver, Double};
use super::device::Gpu;
use super::suffix_array::Block;
use crate::error::Result;

/// A list of suffixes that are still tied.
#[derive(Clone, Copy)]
pub struct Ties<'m> {
    pub slots: Array<'m, u32>,
    pub suffixes: Array<'m, u32>,
    pub groups: Array<'m, u32>,
    /// Of each group: symbols known << 32 | first slot.
    pub known: Array<'m, u64>,
}

/// The most groups among n suffixes: each has two and more.
pub fn most_groups(n: u32) -> u32 {
    n / 2 + 1
}

impl<'m> Ties<'m> {
    /// Carves a list for up to n suffixes.
    pub fn carve(carver: &mut Carver<'m>, n: u32) -> Self {
        let items = n as usize;
        Ties {
            slots: carver.take(items),
            suffixes: carver.take(items),
            groups: carver.take(items),
            known: carver.take(most_groups(n) as usize),
        }
    }

    /// A list in the memory that the first sort leaves: the keys it sorted, and the spare ones and suffixes.
    ///
    /// The number of groups known grows half as fast as that of keys read at most, so that nothing is overwritten that
    /// is still to be read (but see [`super::refine`] about the first tiles).
    pub fn over_keys(keys: Double<'m, u64>, spare: Array<'m, u32>) -> Self {
        let n = keys.first.len();
        let halves = Double::halves(keys.second.cast::<u32>());
        let known = keys.first.first(most_groups(n));
        Ties { slots: halves.first, suffixes: halves.second, groups: spare, known }
    }
}

/// A level of anchors.
#[derive(Clone, Copy)]
pub struct Anchors<'m> {
    /// A bit for each position: whether it is an anchor.
    pub bitmap: Array<'m, u32>,
    /// For anchors, by position: symbols known << 32 | rank.
    pub ranks: Array<'m, u64>,
    /// How many symbols from a position on tell whether it is an anchor.
    pub look: u32,
    /// The least number of symbols known of any of their groups.
    pub floor: u32,
}

impl<'m> Anchors<'m> {
    /// Before there are any.
    pub fn none() -> Self {
        Anchors { bitmap: Array::none(), ranks: Array::none(), look: 0, floor: 0 }
    }

    /// Carves the arrays for n positions.
    pub fn carve(carver: &mut Carver<'m>, n: u32, look: u32) -> Self {
        // A thread reads the word behind that of its position at most.
        let words = n as usize / 32 + 8;
        Anchors { bitmap: carver.take(words), ranks: carver.take(n as usize), look, floor: 0 }
    }
}

/// What all steps work on.
#[derive(Clone, Copy)]
pub struct Ground<'m> {
    pub block: Block<'m>,
    /// The code of each symbol.
    pub codes: Array<'m, u32>,
    /// Anchors, and a second level chosen among them.
    pub dense: Anchors<'m>,
    pub sparse: Anchors<'m>,
    /// Bits of a rank.
    pub rank_bits: u32,
    /// What CTAs tell those behind them.
    pub status: Array<'m, u64>,
}

impl Ground<'_> {
    /// How many suffixes there are.
    pub fn len(&self) -> u32 {
        self.block.sa.len()
    }

    /// Clears what `tiles` CTAs tell each other, before they run and tell the host two counts.
    pub fn clear_status(&self, gpu: &Gpu, tiles: u32) -> Result<()> {
        gpu.zero(self.status.first(tiles + 1))?;
        gpu.arm();
        Ok(())
    }

    /// The text as kernels take it.
    pub fn text(&self) -> TextStruct {
        TextStruct::new(self.block.text, self.len())
    }

    /// Anchors as kernels take them.
    pub fn anchors(&self, level: Anchors) -> AnchorsStruct {
        AnchorsStruct {
            bitmap: level.bitmap.address(),
            ranks: level.ranks.address(),
            look: level.look,
            rank_bits: self.rank_bits,
            floor: level.floor,
        }
    }

    /// Where results go, as kernels take it.
    pub fn out(&self, gpu: &Gpu) -> OutStruct {
        OutStruct::new(gpu, self.block)
    }
}

/// `struct Ties` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TiesStruct([u64; 4]);

impl From<Ties<'_>> for TiesStruct {
    fn from(ties: Ties) -> Self {
        let Ties { slots, suffixes, groups, known } = ties;
        TiesStruct([slots.address(), suffixes.address(), groups.address(), known.address()])
    }
}

/// `struct Text` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextStruct {
    bytes: u64,
    n: u32,
}

impl TextStruct {
    /// The first n bytes of a text, which has its padding behind them.
    pub fn new(text: Array<u8>, n: u32) -> Self {
        TextStruct { bytes: text.address(), n }
    }
}

/// `struct Anchors` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AnchorsStruct {
    bitmap: u64,
    ranks: u64,
    look: u32,
    rank_bits: u32,
    floor: u32,
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

impl OutStruct {
    /// The results of a block.
    pub fn new(gpu: &Gpu, block: Block) -> Self {
        let Block { sa, rows, samples, log_rate, whole_sa, .. } = block;
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

macro_rules! kernel_structs {
    ($($name:ty),*) => {
        $(// SAFETY: plain integers, laid out as in C.
        #[allow(unsafe_code)]
        unsafe impl cudarc::driver::DeviceRepr for $name {})*
    };
}
pub(super) use kernel_structs;
