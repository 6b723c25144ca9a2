//! Arrays in device memory, and pairs of arrays between which a sort alternates.

use cudarc::driver::ValidAsZeroBits;
use std::marker::PhantomData;
use std::ops::Range;

/// Items in device memory.
///
/// An array is to device memory what `&[Cell<T>]` is to the host's: it can be copied, and each copy
/// may be written through. That is sound because all work on the memory is queued on one stream, or
/// on two streams of which one waits for the other.
#[derive(Debug)]
pub struct Array<'m, T> {
    address: u64,
    len: usize,
    items: PhantomData<(&'m (), T)>,
}

impl<T> Clone for Array<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Array<'_, T> {}

impl<'m, T> Array<'m, T> {
    /// `len` items that begin at an address.
    pub(super) fn at(address: u64, len: usize) -> Self {
        Array {
            address,
            len,
            items: PhantomData,
        }
    }

    /// Size in bytes.
    pub fn size(self) -> usize {
        self.len * size_of::<T>()
    }

    /// Device address of the first item.
    pub fn address(self) -> u64 {
        #[cfg(test)]
        super::faults::addressed(self.address, self.size());
        self.address
    }

    /// Number of items. A block has at most 2^32 - 2, so all counts fit in 32 bits. Exceptions are
    /// a large text with its padding, and arrays of bytes, which are not counted.
    pub fn len(self) -> u32 {
        u32::try_from(self.len).expect("arrays that are counted have less than 2^32 items")
    }

    /// The items of a range.
    pub fn part(self, range: Range<u32>) -> Self {
        self.long_part(range.start.into()..range.end.into())
    }

    /// The items of a range of an array that may have 2^32 items and more.
    pub fn long_part(self, range: Range<u64>) -> Self {
        let start = range.start as usize;
        let end = range.end as usize;
        assert!(
            start <= end && end <= self.len,
            "a part of {range:?} of {}",
            self.len
        );
        let address = self.address + (start * size_of::<T>()) as u64;
        Array::at(address, end - start)
    }

    /// The first `len` items.
    pub fn first(self, len: u32) -> Self {
        self.part(0..len)
    }

    /// The items from `start` on.
    pub fn rest(self, start: u32) -> Self {
        let start = start as usize;
        assert!(
            start <= self.len,
            "the rest from {start} on of {}",
            self.len
        );
        Array::at(
            self.address + (start * size_of::<T>()) as u64,
            self.len - start,
        )
    }

    /// Cuts the array into parts of the given lengths, one behind the other.
    pub fn parts(self, lens: &[u32]) -> Vec<Self> {
        let mut start = 0;
        let mut part = |&len: &u32| {
            let part = self.part(start..start + len);
            start += len;
            part
        };
        lens.iter().map(&mut part).collect()
    }

    /// `len` items in the memory of another GPU. This GPU must be able to read them, and the other
    /// one must wait meanwhile.
    pub fn of_peer(address: u64, len: u32) -> Self {
        Array::at(address, len as usize)
    }

    /// An array without memory, for calls that only ask how much they need.
    pub fn none() -> Self {
        Array::at(0, 0)
    }

    /// The array's memory as items of another type. Both types must be plain integers.
    pub fn cast<U: ValidAsZeroBits>(self) -> Array<'m, U> {
        assert!(
            self.address
                .is_multiple_of(align_of::<U>() as u64),
            "badly aligned"
        );
        Array::at(self.address, self.size() / size_of::<U>())
    }
}

/// Two arrays of one length, as CUB uses them. The data is in the current one, and a sort may use
/// both.
#[derive(Clone, Copy, Debug)]
pub struct DoubleBuffer<'m, T> {
    pub current: Array<'m, T>,
    pub alternate: Array<'m, T>,
}

impl<'m, T> DoubleBuffer<'m, T> {
    /// A double buffer of `len` items without memory, for calls that only ask how much they need.
    pub fn nowhere(len: u32) -> Self {
        let items = Array::at(0, len as usize);
        DoubleBuffer {
            current: items,
            alternate: items,
        }
    }

    /// The two halves of one array.
    pub fn halves(array: Array<'m, T>) -> Self {
        let half = array.len / 2;
        let middle = array.address + (half * size_of::<T>()) as u64;
        DoubleBuffer {
            current: Array::at(array.address, half),
            alternate: Array::at(middle, half),
        }
    }

    /// A range of both arrays.
    pub fn part(self, range: Range<u32>) -> Self {
        DoubleBuffer {
            current: self.current.part(range.clone()),
            alternate: self.alternate.part(range),
        }
    }

    /// The first `len` items of both arrays.
    pub fn first_items(self, len: u32) -> Self {
        self.part(0..len)
    }

    /// Exchanges the two arrays.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.alternate);
    }
}
