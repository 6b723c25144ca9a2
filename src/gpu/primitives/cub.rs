//! CUB's device-wide sorts, scans and selection: the host side of `kernels/primitives/cub.cu`.
//!
//! CUB is C++ on the CUDA runtime. The runtime works in the context and on the stream of the
//! driver's caller. CUB's temporary storage is allocated with the other arrays, for the largest
//! number of items.

use crate::base::error::{Error, Result};
#[cfg(test)]
use crate::gpu::runtime::faults;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;

mod c {
    use std::ffi::{c_int, c_void};

    macro_rules! functions {
        ($($name:ident($($argument:ident: $type:ty),*);)*) => {
            #[allow(unsafe_code, reason = "this is the C side")]
            unsafe extern "C" {
                $(pub(crate) fn $name(
                    temp: *mut c_void, temp_bytes: *mut usize, $($argument: $type,)* stream: *mut c_void,
                ) -> c_int;)*
            }
        };
    }
    functions! {
        bwz_cub_sort_pairs_u32(keys: u64, other_keys: u64, values: u64, other_values: u64, num_items: u32,
            begin_bit: c_int, end_bit: c_int, selector: *mut c_int);
        bwz_cub_sort_pairs_u64(keys: u64, other_keys: u64, values: u64, other_values: u64, num_items: u32,
            begin_bit: c_int, end_bit: c_int, selector: *mut c_int);
        bwz_cub_sort_pairs_u64_u64(keys: u64, other_keys: u64, values: u64, other_values: u64, num_items: u32,
            begin_bit: c_int, end_bit: c_int, selector: *mut c_int);
        bwz_cub_sort_keys_u64(keys: u64, other_keys: u64, num_items: u32, begin_bit: c_int, end_bit: c_int,
            selector: *mut c_int);
        bwz_cub_exclusive_sum_u32(input: u64, output: u64, num_items: u32);
        bwz_cub_inclusive_sum_u32(input: u64, output: u64, num_items: u32);
        bwz_cub_inclusive_sum_u64(input: u64, output: u64, num_items: u32);
        bwz_cub_inclusive_max_u32(input: u64, output: u64, num_items: u32);
        bwz_cub_select_flagged_u32(input: u64, flags: u64, output: u64, num_selected: u64, num_items: u32);
    }
}

/// Types of keys and values that can be sorted: integers of 32 or 64 bits.
pub(crate) trait Word: Copy {}
impl Word for u32 {}
impl Word for u64 {}

/// Number of bits of the numbers up to `largest`. A sort of such keys needs these bits.
pub(crate) fn bit_width(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// CUB with temporary storage for a given number of items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cub<'m> {
    temp: Array<'m, u8>,
}

impl<'m> Cub<'m> {
    /// Allocates storage for every function here over up to `items` items, except
    /// [`Cub::sort_pairs`] of 64-bit values.
    pub(crate) fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, items: u32) -> Result<Self> {
        Ok(Cub {
            temp: arena.array(Self::storage(gpu, items)? + SPARE),
        })
    }

    /// Allocates storage for every function here, including sorts of 64-bit values.
    pub(crate) fn allocate_wide(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        items: u32,
    ) -> Result<Self> {
        let pairs = DoubleBuffer::<u64>::nowhere(items);
        let wide = Cub {
            temp: Array::none(),
        }
        .pairs(gpu, pairs, pairs, 0..64)?
        .0;
        Ok(Cub {
            temp: arena.array(wide.max(Self::storage(gpu, items)?) + SPARE),
        })
    }

    fn storage(gpu: &Gpu, items: u32) -> Result<usize> {
        let nowhere = Cub {
            temp: Array::none(),
        };
        let k32 = DoubleBuffer::<u32>::nowhere(items);
        let k64 = DoubleBuffer::<u64>::nowhere(items);
        let sizes = [
            nowhere.pairs(gpu, k32, k32, 0..32)?.0,
            nowhere.pairs(gpu, k64, k32, 0..64)?.0,
            nowhere.keys(gpu, k64, 0..64)?.0,
            nowhere.call(gpu, "cub/inclusive_sum_u64", |temp, bytes, stream| {
                // SAFETY: without storage the call only computes how much it needs.
                #[allow(unsafe_code)]
                unsafe {
                    c::bwz_cub_inclusive_sum_u64(temp, bytes, 0, 0, items, stream)
                }
            })?,
            nowhere.call(gpu, "cub/select", |temp, bytes, stream| {
                // SAFETY: as above.
                #[allow(unsafe_code)]
                unsafe {
                    c::bwz_cub_select_flagged_u32(temp, bytes, 0, 0, 0, 0, items, stream)
                }
            })?,
        ];
        Ok(sizes.into_iter().max().unwrap_or(0))
    }

    /// Calls a function with the temporary storage. Without storage, returns the number of bytes
    /// that the function needs. `name` is that of the function, for an error's message.
    fn call(
        &self,
        gpu: &Gpu,
        name: &'static str,
        function: impl FnOnce(*mut c_void, *mut usize, *mut c_void) -> c_int,
    ) -> Result<usize> {
        let mut bytes = self.temp.len() as usize;
        let temp = if bytes == 0 {
            null_mut()
        } else {
            self.temp.address() as *mut c_void
        };
        match function(temp, &raw mut bytes, gpu.raw_stream()?.cast()) {
            0 => (),
            code => {
                return Err(Error::Device(
                    format!("CUDA: error {code} in {name}").into(),
                ));
            }
        }
        #[cfg(test)]
        if !temp.is_null() {
            faults::queued(gpu, name);
        }
        Ok(bytes)
    }

    #[allow(unsafe_code)]
    fn pairs<K: Word, V: Word>(
        &self,
        gpu: &Gpu,
        keys: DoubleBuffer<K>,
        values: DoubleBuffer<V>,
        bits: Range<u32>,
    ) -> Result<(usize, bool)> {
        let n = keys.current.len();
        let begin = bits.start.cast_signed();
        let end = bits.end.cast_signed();
        let [k, l, v, w] = [
            keys.current.address(),
            keys.alternate.address(),
            values.current.address(),
            values.alternate.address(),
        ];
        let mut selector = 0;
        let sort = match (size_of::<K>(), size_of::<V>()) {
            (4, 4) => c::bwz_cub_sort_pairs_u32,
            (8, 4) => c::bwz_cub_sort_pairs_u64,
            (8, 8) => c::bwz_cub_sort_pairs_u64_u64,
            sizes => panic!("no sort of keys and values of {sizes:?} bytes"),
        };
        let used = self.call(gpu, "cub/sort_pairs", |temp, bytes, stream| {
            // SAFETY: the four arrays have n items each (`sort_pairs`), of the function's types.
            unsafe {
                sort(
                    temp,
                    bytes,
                    k,
                    l,
                    v,
                    w,
                    n,
                    begin,
                    end,
                    &raw mut selector,
                    stream,
                )
            }
        })?;
        Ok((used, selector == 1))
    }

    #[allow(unsafe_code)]
    fn keys(&self, gpu: &Gpu, keys: DoubleBuffer<u64>, bits: Range<u32>) -> Result<(usize, bool)> {
        let n = keys.current.len();
        let begin = bits.start.cast_signed();
        let end = bits.end.cast_signed();
        let k = keys.current.address();
        let l = keys.alternate.address();
        let mut selector = 0;
        let used = self.call(gpu, "cub/sort_keys", |temp, bytes, stream| {
            let selector = &raw mut selector;
            // SAFETY: the two arrays have n items each, of the function's type.
            unsafe { c::bwz_cub_sort_keys_u64(temp, bytes, k, l, n, begin, end, selector, stream) }
        })?;
        Ok((used, selector == 1))
    }

    /// Sorts values by the given bits of their keys, stably. The result is in the first arrays.
    /// Keys have 32 or 64 bits, and values 32. With storage of [`Cub::allocate_wide`], 64-bit keys
    /// can have 64-bit values.
    pub(crate) fn sort_pairs<'a, K: Word, V: Word>(
        &self,
        gpu: &Gpu,
        keys: &mut DoubleBuffer<'a, K>,
        values: &mut DoubleBuffer<'a, V>,
        bits: Range<u32>,
    ) -> Result<()> {
        let lens = [
            keys.alternate.len(),
            values.current.len(),
            values.alternate.len(),
        ];
        assert_eq!(lens, [keys.current.len(); 3]);
        if keys.current.len() > 0 && self.pairs(gpu, *keys, *values, bits)?.1 {
            keys.swap();
            values.swap();
        }
        Ok(())
    }

    /// Sorts keys by the given bits. The result is in the first array.
    pub(crate) fn sort_keys(
        &self,
        gpu: &Gpu,
        keys: &mut DoubleBuffer<u64>,
        bits: Range<u32>,
    ) -> Result<()> {
        assert_eq!(keys.current.len(), keys.alternate.len());
        if keys.current.len() > 0 && self.keys(gpu, *keys, bits)?.1 {
            keys.swap();
        }
        Ok(())
    }
}

/// Extra bytes beyond the need of the largest number of items, since CUB may sort fewer items in
/// another way.
const SPARE: usize = 1 << 20;

macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $function:ident;)*) => {
        impl Cub<'_> {
            $($(#[$doc])*
            #[allow(unsafe_code)]
            pub(crate) fn $name(&self, gpu: &Gpu, items: Array<$type>) -> Result<()> {
                let address = items.address();
                let n = items.len();
                let name = concat!("cub/", stringify!($name));
                self.call(gpu, name, |temp, bytes, stream| {
                    // SAFETY: the array has n items of the function's type, and may be read and
                    // written.
                    unsafe { c::$function(temp, bytes, address, address, n, stream) }
                })
                .map(drop)
            }
            )*
        }
    };
}

scans! {
    /// Replaces each item by the sum of those before it.
    exclusive_sum: u32 = bwz_cub_exclusive_sum_u32;
    /// Replaces each item by the sum of those up to it.
    inclusive_sum: u32 = bwz_cub_inclusive_sum_u32;
    /// Replaces each item by the sum of those up to it.
    inclusive_sum_u64: u64 = bwz_cub_inclusive_sum_u64;
    /// Replaces each item by the largest of those up to it.
    inclusive_max: u32 = bwz_cub_inclusive_max_u32;
}

impl Cub<'_> {
    /// Copies the items whose flag is not 0 to the front of `output`, and writes their number to
    /// `count`.
    #[allow(unsafe_code)]
    pub(crate) fn select(
        &self,
        gpu: &Gpu,
        items: Array<u32>,
        flags: Array<u8>,
        output: Array<u32>,
        count: Array<u32>,
    ) -> Result<()> {
        assert!(items.len() == flags.len() && output.len() >= 1 && count.len() >= 1);
        let n = items.len();
        let [from, flags, to, count] = [
            items.address(),
            flags.address(),
            output.address(),
            count.address(),
        ];
        self.call(gpu, "cub/select", |temp, bytes, stream| {
            // SAFETY: `items` and `flags` have n items; the caller gives room for the selected
            // ones.
            unsafe { c::bwz_cub_select_flagged_u32(temp, bytes, from, flags, to, count, n, stream) }
        })
        .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::{gpu, memory, random, upload};

    #[test]
    fn primitives_do_what_the_host_does() {
        let Some(gpu) = gpu() else { return };
        for len in [1_usize, 2, 255, 5000, 70_001] {
            let mut memory = memory(&gpu, 100 * len + (64 << 20));
            let arena = &mut memory.allocator();
            let cub = Cub::allocate(&gpu, arena, len as u32).unwrap();
            let items: Vec<u32> = random(len, 1000, 3)
                .into_iter()
                .map(|n| n as u32)
                .collect();
            let sums: Vec<u32> = items
                .iter()
                .scan(0, |s, n| {
                    *s += n;
                    Some(*s)
                })
                .collect();
            let scanned = upload(&gpu, arena, &items);
            cub.inclusive_sum(&gpu, scanned).unwrap();
            assert_eq!(gpu.read(scanned).unwrap(), sums);
            gpu.write(&items, scanned).unwrap();
            cub.exclusive_sum(&gpu, scanned).unwrap();
            assert_eq!(gpu.read(scanned).unwrap()[1..], sums[..len - 1]);
            gpu.write(&items, scanned).unwrap();
            cub.inclusive_max(&gpu, scanned).unwrap();
            let most = items.iter().scan(0, |m, n| {
                *m = *n.max(m);
                Some(*m)
            });
            assert!(gpu.read(scanned).unwrap().into_iter().eq(most));
            let flags: Vec<u8> = items
                .iter()
                .map(|n| (n % 3 == 0).into())
                .collect();
            let from = upload(&gpu, arena, &items);
            let flagged = upload(&gpu, arena, &flags);
            let to = arena.array(len);
            let count = arena.array(1);
            cub.select(&gpu, from, flagged, to, count)
                .unwrap();
            let selected: Vec<u32> = items
                .iter()
                .copied()
                .filter(|n| n % 3 == 0)
                .collect();
            assert_eq!(gpu.read(count).unwrap(), [selected.len() as u32]);
            assert_eq!(gpu.read(to.first(selected.len() as u32)).unwrap(), selected);
        }
    }

    #[test]
    fn sorts_take_ranges_of_bits() {
        let Some(gpu) = gpu() else { return };
        for len in [1_usize, 3000, 200_000] {
            let mut memory = memory(&gpu, 100 * len + (64 << 20));
            let arena = &mut memory.allocator();
            let cub = Cub::allocate(&gpu, arena, len as u32).unwrap();
            let items = random(len, u64::MAX, 4);
            for bits in [0..64, 8..40, 47..48] {
                let mut keys = DoubleBuffer {
                    current: upload(&gpu, arena, &items),
                    alternate: arena.array(len),
                };
                let order: Vec<u32> = (0..len as u32).collect();
                let mut values = DoubleBuffer {
                    current: upload(&gpu, arena, &order),
                    alternate: arena.array(len),
                };
                cub.sort_pairs(&gpu, &mut keys, &mut values, bits.clone())
                    .unwrap();
                let part = |k: u64| k << (64 - bits.end) >> (64 - bits.end + bits.start);
                let mut expected = order;
                expected.sort_by_key(|&v| part(items[v as usize]));
                assert!(
                    gpu.read(values.current).unwrap() == expected,
                    "{len}, {bits:?}"
                );
                let all = arena.double_buffer::<u64>(len);
                gpu.write(&items, all.current).unwrap();
                let mut all = all;
                cub.sort_keys(&gpu, &mut all, 0..64).unwrap();
                assert!(gpu.read(all.current).unwrap().is_sorted());
            }
        }
    }
}
