//! Arenas: device memory allocated at once and cut into arrays.
//!
//! A sorter allocates once, for the largest block so far. The code that cuts the arrays also
//! measures how much memory they need, with an allocator that has no memory
//! ([`ArenaAllocator::measuring`]).

use super::array::{Array, DoubleBuffer};
use super::gpu_stream::Gpu;
use crate::base::error::Result;
use cudarc::driver::{CudaSlice, DevicePtr};
use std::marker::PhantomData;

/// Device memory of one allocation.
#[derive(Debug)]
pub struct Arena {
    slice: CudaSlice<u8>,
    address: u64,
}

impl Arena {
    /// Alignment of arrays in bytes: that of an allocation of their own.
    pub const ALIGNMENT: usize = 256;

    /// Allocates `bytes` bytes, rounded up to [`Self::ALIGNMENT`].
    #[allow(unsafe_code)]
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<Arena> {
        let bytes = bytes.max(1).next_multiple_of(Self::ALIGNMENT);
        // SAFETY: nothing reads the memory before kernels fill the arrays in it.
        let slice = gpu.check(unsafe { gpu.stream().alloc::<u8>(bytes) })?;
        let address = slice.device_ptr(gpu.stream()).0;
        #[cfg(test)]
        super::faults::add_arena(address, bytes);
        Ok(Arena { slice, address })
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.slice.len()
    }

    /// Creates an allocator of the whole arena.
    pub fn allocator(&mut self) -> ArenaAllocator<'_> {
        ArenaAllocator::at(self.address, self.slice.len())
    }
}

#[cfg(test)]
impl Drop for Arena {
    fn drop(&mut self) {
        super::faults::remove_arena(self.address);
    }
}

/// An arena that grows to the size that is asked for, and is kept.
#[derive(Debug, Default)]
pub struct GrowingArena(Option<Arena>);

impl GrowingArena {
    /// Creates an allocator of at least `bytes` bytes.
    pub fn allocator(&mut self, gpu: &Gpu, bytes: usize) -> Result<ArenaAllocator<'_>> {
        self.grow(gpu, bytes).map(Arena::allocator)
    }

    /// Allocates arrays from memory that is first grown to fit them.
    pub fn fit<'m, T>(
        &'m mut self,
        gpu: &Gpu,
        allocate: impl Fn(&mut ArenaAllocator<'m>) -> Result<T>,
    ) -> Result<T> {
        let bytes = measure(&allocate)?;
        allocate(&mut self.allocator(gpu, bytes)?)
    }

    /// Grows the memory to at least `bytes` bytes. If that fails, the old memory is gone too.
    pub fn grow(&mut self, gpu: &Gpu, bytes: usize) -> Result<&mut Arena> {
        let memory = match self.0.take() {
            Some(memory) if memory.len() >= bytes => memory,
            smaller => {
                // The old memory is freed first, since there may be no room for both.
                drop(smaller);
                Arena::new(gpu, bytes)?
            }
        };
        Ok(self.0.insert(memory))
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, Arena::len)
    }
}

/// Measures the bytes that arrays take.
pub(crate) fn measure<'m, T>(
    allocate: impl FnOnce(&mut ArenaAllocator<'m>) -> Result<T>,
) -> Result<usize> {
    let mut arena: ArenaAllocator<'m> = ArenaAllocator::measuring();
    allocate(&mut arena)?;
    Ok(arena.used())
}

/// Hands out parts of an [`Arena`], one behind the other.
#[derive(Debug)]
pub struct ArenaAllocator<'m> {
    /// Address and size of the unused rest of other arrays, which is taken first if an array fits
    /// there.
    unused: Vec<(u64, usize)>,
    base: u64,
    used: usize,
    size: usize,
    memory: PhantomData<&'m mut Arena>,
}

impl<'m> ArenaAllocator<'m> {
    /// Creates an allocator without memory, which only measures. Its arrays must not be used.
    pub fn measuring() -> ArenaAllocator<'static> {
        ArenaAllocator::at(0, usize::MAX)
    }

    fn at(base: u64, size: usize) -> Self {
        ArenaAllocator {
            unused: Vec::new(),
            base,
            used: 0,
            size,
            memory: PhantomData,
        }
    }

    /// Creates an allocator of the memory of an array. Arrays allocated there before are
    /// overwritten.
    pub fn within(array: Array<'m, u8>) -> Self {
        ArenaAllocator::at(array.address(), array.size())
    }

    /// Lets arrays also lie in the memory of other arrays that are not used any more, if they fit.
    pub fn with_unused(mut self, arrays: &[Array<'m, u8>]) -> Self {
        let aligned = |array: &Array<u8>| {
            let start = array
                .address()
                .next_multiple_of(Arena::ALIGNMENT as u64);
            (
                start,
                array
                    .size()
                    .saturating_sub((start - array.address()) as usize),
            )
        };
        self.unused.extend(arrays.iter().map(aligned));
        self
    }

    /// Bytes handed out, not counting those in the memory of other arrays.
    pub fn used(&self) -> usize {
        self.used
    }

    /// The memory not handed out yet.
    pub fn rest(self) -> Array<'m, u8> {
        Array::at(self.base + self.used as u64, self.size - self.used)
    }

    /// Allocates an array of `len` items.
    ///
    /// # Panics
    /// If the arena is too small: the caller must measure first.
    pub fn array<T>(&mut self, len: usize) -> Array<'m, T> {
        let bytes = (len * size_of::<T>()).next_multiple_of(Arena::ALIGNMENT);
        let fitting = self
            .unused
            .iter_mut()
            .filter(|(_, size)| *size >= bytes);
        if let Some((start, size)) = fitting.min_by_key(|(_, size)| *size) {
            let address = *start;
            (*start, *size) = (address + bytes as u64, *size - bytes);
            return Array::at(address, len);
        }
        let address = self.base + self.used as u64;
        self.used += bytes;
        assert!(
            self.used <= self.size,
            "more is allocated than was measured"
        );
        Array::at(address, len)
    }

    /// Allocates a double buffer of `len` items.
    pub fn double_buffer<T>(&mut self, len: usize) -> DoubleBuffer<'m, T> {
        DoubleBuffer {
            current: self.array(len),
            alternate: self.array(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_in_unused_memory_where_they_fit() {
        let unused = [
            Array::at(1000, 600),
            Array::at(8192, 5000),
            Array::at(4096, 1024),
        ];
        let mut arena = ArenaAllocator::measuring().with_unused(&unused);
        // The first one begins at 1024, after alignment, and has 576 bytes.
        let places: Vec<u64> = [512, 512, 300, 6000, 1024, 4000, 256]
            .map(|len| arena.array::<u8>(len).address())
            .into();
        assert_eq!(places, [1024, 4096, 4608, 0, 8192, 6144, 9216]);
        assert_eq!(arena.used(), 6144 + 4096);
    }
}
