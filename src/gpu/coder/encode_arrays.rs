//! Arrays for encoding a BWT: those of `kernels/coder/encode_args.cuh`.

use crate::base::error::{Error, Result};
use crate::coder::SliceLimits;
use crate::coder::device_tables::ModelArrays;
use crate::gpu::interface::MOST_BYTES;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::kernel_structs::{EncodeArgs, SliceStart};
use crate::gpu::runtime::tuning::{CODER_WARPS, MODEL_TABLES, RUN_TILE};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu};

/// Length of a BWT and limits of its slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeShape {
    /// Length of the BWT, 1 to [`MOST_BYTES`].
    pub n: u32,
    /// Maximum number of runs in a slice.
    slice_runs: u32,
    /// Maximum number of bytes in a slice.
    slice_bytes: u32,
    /// True if slices get fewer runs, so that the last has no fewer than the others.
    spreads_runs: bool,
}

impl EncodeShape {
    /// Checks a length and the limits.
    ///
    /// # Errors
    /// [`Error::Usage`] if the BWT is empty or too long to be cut by these limits.
    pub(crate) fn new(n: u32, limits: SliceLimits) -> Result<Self> {
        // No slice has more bytes. FORMAT.md section 4.1.
        let limit = |most: usize| most.clamp(1, i32::MAX as usize) as u32;
        let shape = EncodeShape {
            n,
            slice_runs: limit(limits.runs),
            slice_bytes: limit(limits.bytes),
            spreads_runs: true,
        };
        // The lists of all slices are numbered in 32 bits, and so are items.
        let slices = shape.count_slices();
        let fits = slices < 1 << 24 && u64::from(n) + slices < u64::from(u32::MAX);
        if !(1..=MOST_BYTES).contains(&n) || !fits {
            let what = format!("a GPU codes 1 to {MOST_BYTES} bytes, in fewer than 2^24 slices");
            return Err(Error::Usage(what.into()));
        }
        Ok(shape)
    }

    /// Makes every slice get as many runs as the limits allow, as in a part of a BWT.
    pub(crate) fn of_part(self) -> Self {
        EncodeShape {
            spreads_runs: false,
            ..self
        }
    }

    /// Number of tiles in which runs are searched.
    pub(crate) fn tiles(self) -> u32 {
        self.n.div_ceil(RUN_TILE)
    }

    /// Maximum number of slices. A slice ends behind its runs or before it has too many bytes, and
    /// a run that is cut counts in both slices.
    pub(crate) fn most_slices(self) -> u32 {
        self.count_slices() as u32
    }

    fn count_slices(self) -> u64 {
        u64::from(self.n.div_ceil(self.slice_runs)) + 2 * u64::from(self.n / self.slice_bytes) + 1
    }

    /// Number of CTAs in which each warp has one slice.
    pub(crate) fn slice_ctas(self) -> u32 {
        self.most_slices().div_ceil(CODER_WARPS)
    }
}

/// Number of readable bytes behind a BWT and behind coded bytes.
pub(crate) const CODER_PADDING: u32 = 16;

/// Arrays for encoding: 11 to 12 bytes per byte of the BWT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeArrays<'m> {
    pub bwt: Array<'m, u8>,
    pub slices: Array<'m, SliceStart>,
    pub slice_count: Array<'m, u32>,
    pub counts: Array<'m, u32>,
    pub tables: Array<'m, u32>,
    pub coded_starts: Array<'m, u32>,
    pub coded: Array<'m, u8>,
    pub tile_runs: Array<'m, u32>,
    heads: Array<'m, u32>,
    mtf_ranks: Array<'m, u8>,
    symbols: Array<'m, u32>,
    lists: Array<'m, u8>,
    list_sizes: Array<'m, u32>,
    pub words: Array<'m, u8>,
    states: Array<'m, u32>,
    pub cub: Cub<'m>,
}

impl<'m> EncodeArrays<'m> {
    /// Allocates the arrays for a BWT.
    pub(crate) fn allocate(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        shape: EncodeShape,
    ) -> Result<Self> {
        let n = shape.n as usize;
        let slices = shape.most_slices() as usize;
        let items = n + slices;
        let padding = CODER_PADDING as usize;
        let sums = shape.tiles().max(shape.most_slices()) + 1;
        Ok(EncodeArrays {
            bwt: arena.array(n + padding),
            slices: arena.array(slices + 1),
            slice_count: arena.array(1),
            counts: arena.array(ModelArrays::COUNTS),
            tables: arena.array(16 * MODEL_TABLES as usize),
            coded_starts: arena.array(slices + 1),
            coded: arena.array(n),
            tile_runs: arena.array(shape.tiles() as usize + 1),
            heads: arena.array(n + 1),
            mtf_ranks: arena.array(items),
            // The symbols are read four at a time.
            symbols: arena.array(items.next_multiple_of(4)),
            lists: arena.array(256 * slices),
            list_sizes: arena.array(slices),
            words: arena.array(n + padding),
            states: arena.array(2 * slices),
            cub: Cub::allocate(gpu, arena, sums)?,
        })
    }

    /// View of the arrays for kernels. `maps` is the address of the context maps.
    pub(crate) fn args(&self, shape: EncodeShape, maps: u64) -> EncodeArgs {
        EncodeArgs {
            maps,
            bwt: self.bwt.address(),
            tile_runs: self.tile_runs.address(),
            heads: self.heads.address(),
            slices: self.slices.address(),
            slice_count: self.slice_count.address(),
            mtf_ranks: self.mtf_ranks.address(),
            symbols: self.symbols.address(),
            lists: self.lists.address(),
            list_sizes: self.list_sizes.address(),
            counts: self.counts.address(),
            tables: self.tables.address(),
            words: self.words.address(),
            states: self.states.address(),
            coded_starts: self.coded_starts.address(),
            coded: self.coded.address(),
            n: shape.n,
            tiles: shape.tiles(),
            most_slices: shape.most_slices(),
            slice_runs: shape.slice_runs,
            spreads_runs: shape.spreads_runs.into(),
            slice_bytes: shape.slice_bytes,
        }
    }
}

/// A BWT that is encoded on the device: its arrays and its shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoding<'m> {
    pub arrays: EncodeArrays<'m>,
    pub shape: EncodeShape,
    args: EncodeArgs,
}

impl<'m> Encoding<'m> {
    /// Creates the view of arrays that were allocated for this shape. The maps must stay in place.
    pub(crate) fn new(arrays: EncodeArrays<'m>, shape: EncodeShape, maps: u64) -> Self {
        let slices = shape.most_slices();
        assert!(arrays.bwt.len() == shape.n + CODER_PADDING && arrays.coded.len() == shape.n);
        assert!(arrays.slices.len() == slices + 1 && arrays.tile_runs.len() == shape.tiles() + 1);
        Encoding {
            arrays,
            shape,
            args: arrays.args(shape, maps),
        }
    }

    /// Queues a kernel of `ctas` CTAs with `threads` threads each.
    #[allow(unsafe_code)]
    pub(crate) fn launch(
        &self,
        gpu: &Gpu,
        name: &'static str,
        ctas: u32,
        threads: u32,
    ) -> Result<()> {
        // SAFETY: the arrays were allocated for this shape, as `Encoding::new` checks. The kernels
        // take only this struct and stay within its arrays whatever the bytes are.
        unsafe { gpu.launch_struct(name, ctas, threads, &self.args) }
    }
}
