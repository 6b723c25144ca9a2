//! Rows and positions of a block, in 32 bits if they fit, else in 64.
//!
//! Code that reads tables of them at random is written once, for any [`Row`], and compiled for both
//! widths. A block of up to 4 GiB takes half the memory and is as fast as if there were no larger
//! blocks. A table with an entry for each row stores the entries of a large block in 40 bits, the
//! width that FORMAT.md gives them. [`NarrowLimits`] defines which blocks are narrow. The results
//! are the same for both widths.

use crate::base::allocation::Zero;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Sub};

/// The number of a row or of a position: `u32`, or `u64` for blocks that need it.
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

    /// The form in which large tables hold a number.
    type Packed: Copy + Debug + Send + Sync + Zero;

    /// The row of `number`, which must fit.
    fn new(number: usize) -> Self;

    /// The number.
    fn get(self) -> usize;

    /// Converts to the form of a large table.
    fn pack(self) -> Self::Packed;

    /// Converts from the form of a large table.
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

// SAFETY: an array of bytes, for which zero bits are valid.
#[allow(unsafe_code)]
unsafe impl Zero for Packed40 {}

/// A value of a block whose positions have 32 bits, or of a large one whose positions have 64.
pub(crate) enum ByWidth<N, W> {
    Narrow(N),
    Wide(W),
}

/// Runs the same code on the value of either width.
macro_rules! by_width {
    ($by_width:expr, $one:pat => $work:expr) => {
        match $by_width {
            $crate::base::positions::ByWidth::Narrow($one) => $work,
            $crate::base::positions::ByWidth::Wide($one) => $work,
        }
    };
}
pub(crate) use by_width;

/// Sizes of the largest blocks whose rows and positions have 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NarrowLimits {
    /// Limit while a block is sorted, in signed integers.
    pub sorted: usize,
    /// Limit everywhere else, in unsigned integers. Two numbers above the last row are kept free:
    /// the one that means no row, and one larger than it.
    pub others: usize,
}

impl NarrowLimits {
    pub(crate) const USUAL: NarrowLimits = NarrowLimits {
        sorted: i32::MAX as usize,
        others: u32::MAX as usize - 2,
    };

    /// No block is narrow, so that tests and fuzzing treat small blocks as large ones.
    pub(crate) const LOWEST: NarrowLimits = NarrowLimits {
        sorted: 0,
        others: 0,
    };
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
