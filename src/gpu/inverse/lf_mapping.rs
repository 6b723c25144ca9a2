//! Inverts a BWT into the text: the host side of `kernels/inverse/lf_mapping.cu`, which explains
//! it.

use crate::base::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::kernel_structs::InverseArgs;
use crate::gpu::runtime::tuning::{INVERSE_TILE, TEXT_PADDING, THREADS};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu};
use std::ops::Range;

/// Sizes of a BWT, known before its bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InverseShape {
    /// Number of bytes, 1 to 2^31 - 1.
    pub n: u32,
    /// The row of the whole text, 1 to n.
    pub primary: u32,
    /// Number of samples: one for each multiple of 2^`log_rate` below n.
    pub samples: u32,
    pub log_rate: u32,
}

impl InverseShape {
    /// Number of tiles in a piece. One piece is worked on while the next is being copied.
    fn piece_tiles(self) -> u32 {
        self.n
            .div_ceil(INVERSE_TILE)
            .div_ceil(MOST_PIECES)
            .max(LEAST_TILES)
    }

    /// The pieces in which the BWT must come, and in which the text goes out. The last piece of the
    /// text has one symbol more, since the sentinel's entry comes before the text.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Range<u32>> {
        let size = self.piece_tiles() * INVERSE_TILE;
        (0..self.n)
            .step_by(size as usize)
            .map(move |from| from..self.n.min(from + size))
    }

    /// Number of bits of the rows 0 to n.
    fn row_bits(self) -> u32 {
        u32::BITS - self.n.leading_zeros()
    }

    /// One row in 2^`stretch_bits` is a node. Short stretches shorten the wait for the last walk;
    /// more nodes take longer to link. Up to 2^25 rows only the former counts, above that both do.
    fn stretch_bits(self) -> u32 {
        (5 + self.row_bits().saturating_sub(24) * 2 / 3).min(self.row_bits())
    }

    /// Rounds of pointer jumping that span all nodes.
    fn rounds(self) -> u32 {
        self.row_bits() - self.stretch_bits()
    }

    fn nodes(self) -> u32 {
        1 << self.rounds()
    }

    /// Number of symbols in a chunk: twice the mean of a stretch, so that one stretch in seven
    /// needs another chunk.
    fn chunk_size(self) -> u32 {
        (2 << self.stretch_bits()).max(8)
    }

    /// Number of chunks: one for each node, and as many as the text can fill.
    fn chunks(self) -> u32 {
        self.nodes() + (self.n + 1) / self.chunk_size()
    }
}

/// Maximum number of pieces: launching more takes longer than they gain.
const MOST_PIECES: u32 = 8;
/// Minimum number of tiles in a piece. Smaller pieces gain nothing either if blocks wait for each
/// other's kernels.
const LEAST_TILES: u32 = 4096;

/// Length at which a stretch is given up, in mean stretches. A stretch of 64 times the mean length
/// has a chance of e^-64.
const LONGEST: u32 = 64;

/// Arrays of an inverse: 18 to 21 bytes per byte of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InverseArrays<'m> {
    /// The BWT and its padding.
    pub bytes: Array<'m, u8>,
    /// The sentinel's entry, and behind it the text.
    pub text: Array<'m, u8>,
    pub samples: Array<'m, u32>,
    /// One word, which in the end is not 0 if this is the BWT of no text or the samples are not its
    /// own.
    pub contradictions: Array<'m, u32>,
    /// One word for the text's CRC-32.
    pub checksum: Array<'m, u32>,
    counts: Array<'m, u32>,
    offsets: Array<'m, u32>,
    firsts: Array<'m, u32>,
    ranks: Array<'m, u32>,
    lf_squared: Array<'m, u64>,
    links: DoubleBuffer<'m, u64>,
    lengths: Array<'m, u32>,
    symbols: Array<'m, u8>,
    chunks: Array<'m, u64>,
    used: Array<'m, u32>,
    cub: Cub<'m>,
}

impl<'m> InverseArrays<'m> {
    /// Allocates the arrays for a BWT.
    pub(crate) fn allocate(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        shape: InverseShape,
    ) -> Result<Self> {
        let rows = shape.n as usize + 1;
        let nodes = shape.nodes() as usize;
        let counts = 256 * shape.piece_tiles();
        Ok(InverseArrays {
            bytes: arena.array(shape.n as usize + TEXT_PADDING as usize),
            text: arena.array(rows),
            samples: arena.array(shape.samples as usize),
            contradictions: arena.array(1),
            checksum: arena.array(1),
            counts: arena.array(counts as usize),
            offsets: arena.array(256),
            firsts: arena.array(256),
            ranks: arena.array(rows),
            lf_squared: arena.array(rows),
            links: arena.double_buffer(nodes),
            lengths: arena.array(nodes),
            symbols: arena.array(shape.chunks() as usize * shape.chunk_size() as usize),
            chunks: arena.array((shape.chunks() - shape.nodes()) as usize),
            used: arena.array(1),
            cub: Cub::allocate(gpu, arena, counts)?,
        })
    }
}

/// An inverse in progress. All methods queue work. The order is [`InverseSteps::take`] for each
/// piece of the BWT, then [`InverseSteps::link`], then [`InverseSteps::place`] for each piece of
/// the text, and [`InverseSteps::check`].
pub(crate) struct InverseSteps<'m> {
    arrays: InverseArrays<'m>,
    shape: InverseShape,
    kernels: InverseArgs,
}

impl<'m> InverseSteps<'m> {
    /// Begins an inverse. The samples must be in their array by the time of the check.
    pub(crate) fn start(gpu: &Gpu, arrays: InverseArrays<'m>, shape: InverseShape) -> Result<Self> {
        let InverseShape {
            n,
            primary,
            samples,
            ..
        } = shape;
        assert!((1..=n).contains(&primary) && n < 1 << 31);
        assert!((samples - 1) << shape.log_rate < n && arrays.samples.len() == samples);
        assert!(arrays.bytes.len() == n + TEXT_PADDING && arrays.text.len() == n + 1);
        gpu.zero(arrays.bytes.part(n..n + TEXT_PADDING))?;
        gpu.zero(arrays.contradictions)?;
        gpu.zero(arrays.used)?;
        gpu.zero(arrays.firsts)?;
        Ok(InverseSteps {
            arrays,
            shape,
            kernels: InverseArgs::new(arrays, shape),
        })
    }

    /// Counts and ranks a piece of the BWT that has arrived.
    pub(crate) fn take(&mut self, gpu: &Gpu, piece: Range<u32>) -> Result<()> {
        let tiles = (piece.end - piece.start).div_ceil(INVERSE_TILE);
        (self.kernels.first_tile, self.kernels.tiles) = (piece.start / INVERSE_TILE, tiles);
        self.kernels
            .launch(gpu, "lf_mapping/count_tiles", tiles)?;
        self.arrays
            .cub
            .exclusive_sum(gpu, self.arrays.counts.first(256 * tiles))?;
        self.kernels
            .launch(gpu, "lf_mapping/count_piece", 1)?;
        self.kernels
            .launch(gpu, "lf_mapping/rank_tiles", tiles)
    }

    /// Finds the position of every stretch in the text.
    pub(crate) fn link(&mut self, gpu: &Gpu) -> Result<()> {
        self.kernels
            .each(gpu, "lf_mapping/square_lf", self.shape.n + 1)?;
        self.kernels
            .each(gpu, "lf_mapping/walk_stretches", self.shape.nodes())?;
        for _ in 0..self.shape.rounds() {
            self.kernels
                .each(gpu, "lf_mapping/follow", self.shape.nodes())?;
            std::mem::swap(&mut self.kernels.links, &mut self.kernels.followed);
        }
        Ok(())
    }

    /// Puts the symbols of a piece of the text in place. Returns the range of the text's array that
    /// it fills.
    pub(crate) fn place(&mut self, gpu: &Gpu, piece: Range<u32>) -> Result<Range<u32>> {
        let last = u32::from(piece.end == self.shape.n);
        (self.kernels.from, self.kernels.to) = (piece.start, piece.end + last);
        self.kernels
            .each(gpu, "lf_mapping/place", self.shape.chunks())?;
        Ok(piece.start.max(1)..piece.end + last)
    }

    /// Sets the flag of contradictions if there are any.
    pub(crate) fn check(&self, gpu: &Gpu) -> Result<()> {
        self.kernels
            .each(gpu, "lf_mapping/check", self.shape.samples)
    }
}

impl InverseArgs {
    fn new(arrays: InverseArrays, shape: InverseShape) -> Self {
        InverseArgs {
            bytes: arrays.bytes.address(),
            counts: arrays.counts.address(),
            offsets: arrays.offsets.address(),
            firsts: arrays.firsts.address(),
            ranks: arrays.ranks.address(),
            lf_squared: arrays.lf_squared.address(),
            links: arrays.links.current.address(),
            followed: arrays.links.alternate.address(),
            symbols: arrays.symbols.address(),
            chunks: arrays.chunks.address(),
            lengths: arrays.lengths.address(),
            used: arrays.used.address(),
            samples: arrays.samples.address(),
            text: arrays.text.address(),
            contradictions: arrays.contradictions.address(),
            n: shape.n,
            primary: shape.primary,
            sample_count: shape.samples,
            log_rate: shape.log_rate,
            first_tile: 0,
            tiles: 0,
            from: 0,
            to: 0,
            row_bits: shape.row_bits(),
            nodes: shape.nodes(),
            chunk_size: shape.chunk_size(),
            longest: LONGEST << shape.stretch_bits(),
        }
    }

    /// Queues a kernel with one thread per item.
    fn each(&self, gpu: &Gpu, name: &'static str, items: u32) -> Result<()> {
        self.launch(gpu, name, items.div_ceil(THREADS))
    }

    #[allow(unsafe_code)]
    fn launch(&self, gpu: &Gpu, name: &'static str, ctas: u32) -> Result<()> {
        // SAFETY: the arrays were allocated for this shape, which `InverseSteps::start` checks. The
        // kernels take only this struct and stay within its arrays whatever the bytes are. The
        // caller has checked that samples are rows.
        unsafe { gpu.launch_struct(name, ctas, THREADS, self) }
    }
}
