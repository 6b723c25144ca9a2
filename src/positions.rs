//! Rows and positions of a block: in 32 bits as long as these do, else in 64.
//!
//! What reads tables of them at random is written once, for any [`Row`], and compiled for both: a
//! block of up to 4 GiB takes half the memory, and is worked on as fast as if there were no larger
//! ones. A table that has an entry for each row holds those of a large block in 40 bits, which are
//! all that FORMAT.md gives them. [`NarrowLimits`] says which blocks are which; what comes out is
//! the same either way.

use crate::allocation::Zero;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Sub};

/// The number of a row or of a position: `u32`, or `u64` for blocks that need more.
pub trait Row:
    Copy
    + Ord
    + Default
    + Debug
    + Send
    + Sync
    + Zero
    + Add<Output = Self>
    + Sub<Output = Self>
    + AddAssign
    + From<u32>
    + Into<u64>
    + 'static
{
    /// A number above those of all rows.
    const ABOVE: Self;

    /// How large tables hold it.
    type Packed: Copy + Debug + Send + Sync + Zero;

    /// A number, which fits.
    fn new(number: usize) -> Self;

    /// The number.
    fn get(self) -> usize;

    /// As a large table holds it.
    fn pack(self) -> Self::Packed;

    /// From a large table.
    fn unpack(packed: Self::Packed) -> Self;
}

impl Row for u32 {
    const ABOVE: Self = u32::MAX;

    type Packed = u32;

    #[inline(always)]
    fn new(number: usize) -> Self {
        debug_assert!(u32::try_from(number).is_ok());
        number as u32
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn pack(self) -> u32 {
        self
    }

    #[inline(always)]
    fn unpack(packed: u32) -> Self {
        packed
    }
}

impl Row for u64 {
    const ABOVE: Self = u64::MAX;

    type Packed = Packed40;

    #[inline(always)]
    fn new(number: usize) -> Self {
        number as u64
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn pack(self) -> Packed40 {
        debug_assert!(self < 1 << 40);
        let [a, b, c, d, e, ..] = self.to_le_bytes();
        Packed40([a, b, c, d, e])
    }

    #[inline(always)]
    fn unpack(Packed40([a, b, c, d, e]): Packed40) -> Self {
        u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
    }
}

/// A number below 2^40, in five bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packed40([u8; 5]);

// SAFETY: bytes, of which zeros are values, as they are of a number.
#[allow(unsafe_code)]
unsafe impl Zero for Packed40 {}

/// What a block has with positions in 32 bits, or in 64 where it is large.
pub(crate) enum ByWidth<N, W> {
    Narrow(N),
    Wide(W),
}

/// Does the same with either.
macro_rules! by_width {
    ($by_width:expr, $one:pat => $work:expr) => {
        match $by_width {
            $crate::positions::ByWidth::Narrow($one) => $work,
            $crate::positions::ByWidth::Wide($one) => $work,
        }
    };
}
pub(crate) use by_width;

/// The largest blocks whose rows and positions are held in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NarrowLimits {
    /// In signed integers, while a block is sorted.
    pub sorted: usize,
    /// In unsigned ones, wherever else. There are two numbers behind the last row: that of no row
    /// and a larger one.
    pub others: usize,
}

impl NarrowLimits {
    pub const USUAL: NarrowLimits =
        NarrowLimits { sorted: i32::MAX as usize, others: u32::MAX as usize - 2 };

    /// None, so that tests and fuzzing have small blocks done as large ones are.
    pub const LOWEST: NarrowLimits = NarrowLimits { sorted: 0, others: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_number_is_the_same_again() {
        for number in [0, 1, 255, u64::from(u32::MAX), 1 << 32, (1 << 40) - 1] {
            assert_eq!(u64::unpack(number.pack()), number);
        }
        assert_eq!((u32::unpack(7_u32.pack()), size_of::<Packed40>()), (7, 5));
    }
}
