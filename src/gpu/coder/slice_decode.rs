//! Coded slices into a BWT: the host side of `kernels/coder/slice_decode.cu`.

use super::encode_arrays::CODER_PADDING;
use crate::error::Result;
use crate::gpu::runtime::kernel_structs::{CodedSlice, DecodeArgs};
use crate::gpu::runtime::tuning::{CODER_WARPS, MODEL_TABLES};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu};

/// The arrays of a block whose slices are decoded, without the BWT that comes of them.
#[derive(Clone, Copy, Debug)]
pub struct DecodeArrays<'m> {
    pub tables: Array<'m, u32>,
    /// Whether each byte occurs.
    pub alphabet: Array<'m, u8>,
    pub slices: Array<'m, CodedSlice>,
    /// All coded slices, and padding.
    pub coded: Array<'m, u8>,
    /// By slice: 0, or what is wrong with it.
    pub flaws: Array<'m, u32>,
}

impl<'m> DecodeArrays<'m> {
    /// Allocates the arrays of so many slices.
    pub fn allocate(arena: &mut ArenaAllocator<'m>, slices: usize, coded: usize) -> Self {
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
/// `slices` is what is in the array of that name; `maps` is the address of the context maps. The
/// tables and the alphabet must be those of sound models.
///
/// # Panics
/// If a slice is not within the coded bytes or the BWT, or has a size that no slice has.
#[allow(unsafe_code)]
pub fn decode_slices(
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
    // SAFETY: the arrays are as long as the kernel says, and all slices within them; whatever the
    // coded bytes are, it keeps within their slice.
    unsafe { gpu.launch_struct("slice_decode/decode_slices", ctas, 32 * CODER_WARPS, &args) }
}
