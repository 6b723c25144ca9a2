//! Ascending numbers, and items copied in a given order: the host side of
//! `kernels/primitives/gather.cu`.

use crate::base::error::Result;
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Fills `items` with ascending numbers: item t is `first` + t.
#[allow(unsafe_code)]
pub(crate) fn count_from(gpu: &Gpu, first: u32, items: Array<u32>) -> Result<()> {
    let len = items.len();
    // SAFETY: there are `len` items.
    unsafe { gpu.each("gather/count_from", len, arguments![first, len, items]) }
}

/// Copies the items of `from`, words of 64 bits or 32, in this order.
#[allow(unsafe_code)]
pub(crate) fn take_items<T>(
    gpu: &Gpu,
    from: Array<T>,
    order: Array<u32>,
    to: Array<T>,
) -> Result<()> {
    let len = order.len();
    let is_wide = size_of::<T>() == size_of::<u64>();
    assert!(to.len() >= len && (is_wide || size_of::<T>() == size_of::<u32>()));
    let kernel = if is_wide {
        "gather/take_words"
    } else {
        "gather/take_items"
    };
    // SAFETY: there is room for `len` items, and the order is one of items of `from`.
    unsafe { gpu.each(kernel, len, arguments![from, order, len, to]) }
}
