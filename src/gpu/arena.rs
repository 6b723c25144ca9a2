//! Device memory: one allocation carved into arrays, and copies of arrays.
//!
//! A sorter allocates once, for the largest block it has met. How much is needed is found by carving nothing at all
//! ([`ArenaAllocator::measure`]) with the same code that carves the arrays.

use super::cuda_device::Gpu;
use crate::error::Result;
use cudarc::driver::{CudaSlice, DevicePtr, ValidAsZeroBits, result};
use std::marker::PhantomData;
use std::ops::Range;

/// Arrays start at multiples of this many bytes, as memory of its own would.
const ALIGNMENT: usize = 256;

/// Device memory of one allocation.
#[derive(Debug)]
pub struct Arena {
    slice: CudaSlice<u8>,
    address: u64,
}

impl Arena {
    /// Allocates `bytes` bytes.
    #[allow(unsafe_code)]
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<Arena> {
        // SAFETY: what is in the memory is not read before it is written: it is lent as arrays that kernels fill.
        let slice = gpu.check(unsafe { gpu.stream().alloc::<u8>(bytes.max(1)) })?;
        let address = slice.device_ptr(gpu.stream()).0;
        Ok(Arena { slice, address })
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.slice.len()
    }

    /// Carves it from the start.
    pub fn allocator(&mut self) -> ArenaAllocator<'_> {
        ArenaAllocator { base: self.address, used: 0, size: self.slice.len(), memory: PhantomData }
    }
}

/// Device memory that grows with what it is asked for, and is kept.
#[derive(Debug, Default)]
pub struct GrowingArena(Option<Arena>);

impl GrowingArena {
    /// Carves it, when it has `bytes` bytes and more.
    pub fn allocator(&mut self, gpu: &Gpu, bytes: usize) -> Result<ArenaAllocator<'_>> {
        self.grow(gpu, bytes).map(Arena::allocator)
    }

    /// Makes it have `bytes` bytes and more. Where that fails it has none.
    pub fn grow(&mut self, gpu: &Gpu, bytes: usize) -> Result<&mut Arena> {
        let memory = match self.0.take() {
            Some(memory) if memory.len() >= bytes => memory,
            smaller => {
                // Before the new one is there: there may be no room for both.
                drop(smaller);
                Arena::new(gpu, bytes)?
            }
        };
        Ok(self.0.insert(memory))
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, Arena::len)
    }
}

/// Hands out the parts of a [`Arena`], one behind the other.
#[derive(Debug)]
pub struct ArenaAllocator<'m> {
    base: u64,
    used: usize,
    size: usize,
    memory: PhantomData<&'m mut Arena>,
}

impl<'m> ArenaAllocator<'m> {
    /// Carves from nothing, to see how much is used. The arrays must not be used.
    pub fn measuring() -> ArenaAllocator<'static> {
        ArenaAllocator { base: 0, used: 0, size: usize::MAX, memory: PhantomData }
    }

    /// Carves an array anew, from its start: what was carved from it before is overwritten.
    pub fn within(array: Array<'m, u8>) -> Self {
        ArenaAllocator { base: array.address, used: 0, size: array.len, memory: PhantomData }
    }

    /// Bytes handed out.
    pub fn used(&self) -> usize {
        self.used
    }

    /// An array of `len` items.
    ///
    /// # Panics
    /// If there is not that much left: what is carved is to be measured first.
    pub fn array<T>(&mut self, len: usize) -> Array<'m, T> {
        let address = self.base + self.used as u64;
        self.used += (len * size_of::<T>()).next_multiple_of(ALIGNMENT);
        assert!(self.used <= self.size, "more is carved than was measured");
        Array { address, len, items: PhantomData }
    }

    /// Two arrays of `len` items, for what goes from one to the other.
    pub fn double_buffer<T>(&mut self, len: usize) -> DoubleBuffer<'m, T> {
        DoubleBuffer { current: self.array(len), alternate: self.array(len) }
    }
}

/// Items in device memory.
///
/// It is to device memory what `&[Cell<T>]` is to the host's: copies may be kept, and each may be written through.
/// That is sound because all work on the memory is queued on one stream, or on two of which one waits for the other.
#[derive(Debug)]
pub struct Array<'m, T> {
    address: u64,
    len: usize,
    items: PhantomData<(&'m Arena, T)>,
}

impl<T> Clone for Array<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Array<'_, T> {}

impl<'m, T> Array<'m, T> {
    /// Where it is.
    pub fn address(self) -> u64 {
        self.address
    }

    /// How many items it has. A block has at most 2^31 - 1, so all counts fit.
    pub fn len(self) -> u32 {
        u32::try_from(self.len).expect("arrays that are counted have less than 2^32 items")
    }

    /// The items of a range.
    pub fn part(self, range: Range<u32>) -> Self {
        let (start, end) = (range.start as usize, range.end as usize);
        assert!(start <= end && end <= self.len, "a part of {range:?} of {}", self.len);
        let address = self.address + (start * size_of::<T>()) as u64;
        Array { address, len: end - start, items: PhantomData }
    }

    /// The first `len` items.
    pub fn first(self, len: u32) -> Self {
        self.part(0..len)
    }

    /// No memory, for calls that only ask how much they need.
    pub fn none() -> Self {
        Array { address: 0, len: 0, items: PhantomData }
    }

    /// The same address with another type and length, for such calls too.
    pub fn of<U>(self, len: u32) -> Array<'m, U> {
        Array { address: self.address, len: len as usize, items: PhantomData }
    }

    /// The same memory as items of another type. Both must be plain integers.
    pub fn cast<U: ValidAsZeroBits>(self) -> Array<'m, U> {
        assert!(self.address.is_multiple_of(align_of::<U>() as u64), "badly aligned");
        let len = self.len * size_of::<T>() / size_of::<U>();
        Array { address: self.address, len, items: PhantomData }
    }
}

/// Two arrays of one length: what is sorted lies in the first before and after, on the way in either.
#[derive(Clone, Copy, Debug)]
pub struct DoubleBuffer<'m, T> {
    pub current: Array<'m, T>,
    pub alternate: Array<'m, T>,
}

impl<'m, T> DoubleBuffer<'m, T> {
    /// The two halves of one array.
    pub fn halves(array: Array<'m, T>) -> Self {
        let half = array.len() / 2;
        DoubleBuffer { current: array.first(half), alternate: array.part(half..2 * half) }
    }

    /// A range of both.
    pub fn part(self, range: Range<u32>) -> Self {
        DoubleBuffer {
            current: self.current.part(range.clone()),
            alternate: self.alternate.part(range),
        }
    }

    /// The first items of both.
    pub fn first_items(self, len: u32) -> Self {
        self.part(0..len)
    }

    /// Lets the two change places.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.alternate);
    }
}

impl Gpu {
    /// Bytes of memory that nobody has taken.
    pub fn free_memory(&self) -> Result<usize> {
        let (free, _) = self.check(self.context().mem_get_info())?;
        Ok(if self.scarce.get() { 0 } else { free })
    }

    /// Copies an array to the host and waits for it.
    #[allow(unsafe_code)]
    pub fn read<T: ValidAsZeroBits + Clone + Default>(&self, array: Array<T>) -> Result<Vec<T>> {
        let mut items = vec![T::default(); array.len];
        let stream = self.raw_stream()?;
        // SAFETY: `array` lies in memory that lives, `items` is as long, and is not touched before the wait.
        self.check(unsafe { result::memcpy_dtoh_async(&mut items, array.address, stream) })?;
        self.wait()?;
        Ok(items)
    }

    /// Copies items to an array that has room for them, and waits until they are taken.
    #[allow(unsafe_code)]
    pub fn write<T: ValidAsZeroBits>(&self, items: &[T], array: Array<T>) -> Result<()> {
        assert!(items.len() <= array.len, "no room for what is written");
        let stream = self.raw_stream()?;
        // SAFETY: `array` lies in memory that lives and is long enough; `items` stays until the wait is over.
        self.check(unsafe { result::memcpy_htod_async(array.address, items, stream) })?;
        self.wait()
    }

    /// Fills an array with zeros.
    #[allow(unsafe_code)]
    pub fn zero<T: ValidAsZeroBits>(&self, array: Array<T>) -> Result<()> {
        let (bytes, stream) = (array.len * size_of::<T>(), self.raw_stream()?);
        // SAFETY: `array` lies in memory that lives, and its items are integers.
        self.check(unsafe { result::memset_d8_async(array.address, 0, bytes, stream) })
    }

    /// Copies one array to another of the same length.
    #[allow(unsafe_code)]
    pub fn copy<T>(&self, from: Array<T>, to: Array<T>) -> Result<()> {
        assert_eq!(from.len, to.len);
        let (bytes, stream) = (from.len * size_of::<T>(), self.raw_stream()?);
        // SAFETY: both arrays lie in memory that lives and have so many bytes.
        self.check(unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, stream) })
    }
}
