//! Decodes slices into a BWT: the host side of `kernels/coder/slice_decode.cu`.

use super::encode_arrays::CODER_PADDING;
use crate::base::error::Result;
use crate::gpu::runtime::kernel_structs::{CodedSlice, DecodeArgs};
use crate::gpu::runtime::tuning::{CODER_WARPS, MODEL_TABLES};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu};

/// Arrays for decoding the slices of a block, without the BWT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeArrays<'m> {
    pub tables: Array<'m, u32>,
    /// For each byte, 1 if it occurs in the BWT.
    pub alphabet: Array<'m, u8>,
    pub slices: Array<'m, CodedSlice>,
    /// All coded slices, and the padding.
    pub coded: Array<'m, u8>,
    /// For each slice, 0 or the number of its flaw.
    pub flaws: Array<'m, u32>,
}

impl<'m> DecodeArrays<'m> {
    /// Allocates the arrays for `slices` slices of `coded` coded bytes.
    pub(crate) fn allocate(arena: &mut ArenaAllocator<'m>, slices: usize, coded: usize) -> Self {
        DecodeArrays {
            tables: arena.array(16 * MODEL_TABLES as usize),
            alphabet: arena.array(256),
            slices: arena.array(slices),
            coded: arena.array(coded + CODER_PADDING as usize),
            flaws: arena.array(slices),
        }
    }
}

/// Decodes all slices into `bwt`.
///
/// `slices` has the content of the array of that name, and `maps` is the address of the context
/// maps. The tables and the alphabet must be those of sound models.
///
/// # Panics
/// If a slice is not within the coded bytes or the BWT, or has an impossible size.
#[allow(unsafe_code)]
pub(crate) fn decode_slices(
    gpu: &Gpu,
    arrays: &DecodeArrays,
    slices: &[CodedSlice],
    maps: u64,
    bwt: Array<u8>,
) -> Result<()> {
    assert!(
        slices.len() as u32 == arrays.slices.len() && slices.len() as u32 <= arrays.flaws.len()
    );
    let within = |start: u32, size: u32, len: u32| size > 0 && size <= len && start <= len - size;
    let coded = arrays.coded.len() - CODER_PADDING;
    assert!(slices.iter().all(|slice| {
        within(slice.coded_start, slice.coded_size, coded)
            && within(slice.raw_start, slice.raw_size, bwt.len())
            && slice.coded_size <= slice.raw_size
    }));
    let args = DecodeArgs {
        maps,
        tables: arrays.tables.address(),
        alphabet: arrays.alphabet.address(),
        slices: arrays.slices.address(),
        coded: arrays.coded.address(),
        bwt: bwt.address(),
        flaws: arrays.flaws.address(),
        slice_count: arrays.slices.len(),
    };
    let ctas = arrays.slices.len().div_ceil(CODER_WARPS);
    // SAFETY: the arrays are as long as the kernel requires, and all slices lie within them.
    // Whatever the coded bytes are, the kernel stays within their slice.
    unsafe { gpu.launch_struct("slice_decode/decode_slices", ctas, 32 * CODER_WARPS, &args) }
}
