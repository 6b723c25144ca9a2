//! Items in device memory, and pairs of arrays between which a sort goes to and fro.

use cudarc::driver::ValidAsZeroBits;
use std::marker::PhantomData;
use std::ops::Range;

/// Items in device memory.
///
/// It is to device memory what `&[Cell<T>]` is to the host's: copies may be kept, and each may be
/// written through. That is sound because all work on the memory is queued on one stream, or on two
/// of which one waits for the other.
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
    /// `len` items from an address on.
    pub(super) fn at(address: u64, len: usize) -> Self {
        Array { address, len, items: PhantomData }
    }

    /// Its size in bytes.
    pub fn size(self) -> usize {
        self.len * size_of::<T>()
    }

    /// Its device address.
    pub fn address(self) -> u64 {
        self.address
    }

    /// The number of items. A block has at most 2^32 - 2, so all counts fit, but that of a large
    /// text with its padding and those of bytes.
    pub fn len(self) -> u32 {
        u32::try_from(self.len).expect("arrays that are counted have less than 2^32 items")
    }

    /// The items of a range.
    pub fn part(self, range: Range<u32>) -> Self {
        let (start, end) = (range.start as usize, range.end as usize);
        assert!(start <= end && end <= self.len, "a part of {range:?} of {}", self.len);
        let address = self.address + (start * size_of::<T>()) as u64;
        Array::at(address, end - start)
    }

    /// The first `len` items.
    pub fn first(self, len: u32) -> Self {
        self.part(0..len)
    }

    /// The items from one on.
    pub fn rest(self, start: u32) -> Self {
        let start = start as usize;
        assert!(start <= self.len, "the rest from {start} on of {}", self.len);
        Array::at(self.address + (start * size_of::<T>()) as u64, self.len - start)
    }

    /// Its parts of the given lengths, one behind the other.
    pub fn parts(self, lens: &[u32]) -> Vec<Self> {
        let mut start = 0;
        let mut part = |&len: &u32| {
            let part = self.part(start..start + len);
            start += len;
            part
        };
        lens.iter().map(&mut part).collect()
    }

    /// `len` items in the memory of another GPU, which this one can read and which waits meanwhile.
    pub fn of_peer(address: u64, len: u32) -> Self {
        Array::at(address, len as usize)
    }

    /// No memory, for calls that only ask how much they need.
    pub fn none() -> Self {
        Array::at(0, 0)
    }

    /// The same memory as items of another type. Both must be plain integers.
    pub fn cast<U: ValidAsZeroBits>(self) -> Array<'m, U> {
        assert!(self.address.is_multiple_of(align_of::<U>() as u64), "badly aligned");
        Array::at(self.address, self.size() / size_of::<U>())
    }
}

/// Two arrays of one length, as CUB has them: the data is in the current one, and a sort may use
/// both.
#[derive(Clone, Copy, Debug)]
pub struct DoubleBuffer<'m, T> {
    pub current: Array<'m, T>,
    pub alternate: Array<'m, T>,
}

impl<'m, T> DoubleBuffer<'m, T> {
    /// So many items without memory, for calls that only ask how much they need.
    pub fn nowhere(len: u32) -> Self {
        let items = Array::at(0, len as usize);
        DoubleBuffer { current: items, alternate: items }
    }

    /// The two halves of one array.
    pub fn halves(array: Array<'m, T>) -> Self {
        let half = array.len / 2;
        let middle = array.address + (half * size_of::<T>()) as u64;
        DoubleBuffer { current: Array::at(array.address, half), alternate: Array::at(middle, half) }
    }

    /// A range of both.
    pub fn part(self, range: Range<u32>) -> Self {
        DoubleBuffer {
            current: self.current.part(range.clone()),
            alternate: self.alternate.part(range),
        }
    }

    /// The first `len` items of both.
    pub fn first_items(self, len: u32) -> Self {
        self.part(0..len)
    }

    /// Exchanges the two.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.alternate);
    }
}
