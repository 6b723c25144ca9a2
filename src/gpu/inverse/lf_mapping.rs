//! Inverts a BWT into the text: the host side of `kernels/inverse/lf_mapping.cu`, which explains
//! it.

use crate::base::error::Result;
use crate::gpu::interface::{MOST_BYTES, MOST_INVERTED};
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::kernel_structs::InverseArgs;
use crate::gpu::runtime::tuning::{INVERSE_TILE, TEXT_PADDING, THREADS};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu};
use std::ops::Range;

/// Bits of a row in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowWidth {
    /// 32, for blocks of up to [`MOST_BYTES`] bytes.
    Narrow,
    /// 64.
    Wide,
}

impl RowWidth {
    /// The width for blocks of `n` bytes.
    pub(crate) fn of(n: u64) -> Self {
        match n <= MOST_BYTES.into() {
            true => RowWidth::Narrow,
            false => RowWidth::Wide,
        }
    }
}

/// Sizes of a BWT, known before its bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InverseShape {
    /// Number of bytes, 1 to [`MOST_INVERTED`].
    pub n: u64,
    pub width: RowWidth,
    /// The row of the whole text, 1 to n.
    pub primary: u64,
    /// Number of samples: one for each multiple of 2^`log_rate` below n.
    pub samples: u32,
    pub log_rate: u32,
}

impl InverseShape {
    /// Number of tiles in a piece. One piece is worked on while the next is being copied. With wide
    /// rows, it is a power of two.
    fn piece_tiles(self) -> u32 {
        let tiles = self
            .n
            .div_ceil(INVERSE_TILE.into())
            .div_ceil(MOST_PIECES.into())
            .max(LEAST_TILES.into()) as u32;
        match self.width {
            RowWidth::Narrow => tiles,
            RowWidth::Wide => tiles.next_power_of_two(),
        }
    }

    /// Number of bytes in a piece.
    fn piece_size(self) -> u64 {
        u64::from(self.piece_tiles()) * u64::from(INVERSE_TILE)
    }

    /// The pieces in which the BWT must come, and in which the text goes out. The last piece of the
    /// text has one symbol more, since the sentinel's entry comes before the text.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Range<u64>> {
        let size = self.piece_size();
        (0..self.n)
            .step_by(size as usize)
            .map(move |from| from..self.n.min(from + size))
    }

    /// Number of bits of the rows 0 to n.
    fn row_bits(self) -> u32 {
        u64::BITS - self.n.leading_zeros()
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
        self.nodes() + ((self.n + 1) / u64::from(self.chunk_size())) as u32
    }

    /// Number of bytes of all chunks.
    fn symbols(self) -> u64 {
        u64::from(self.chunks()) * u64::from(self.chunk_size())
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

/// Arrays of an inverse: 13 to 16 bytes per byte of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InverseArrays<'m> {
    /// The BWT and its padding.
    pub bytes: Array<'m, u8>,
    /// The sentinel's entry, and behind it the text. It takes the place of the BWT, which is not
    /// needed any more once LF is squared.
    pub text: Array<'m, u8>,
    pub samples: Array<'m, u64>,
    /// Two words, of which the first is in the end not 0 if this is the BWT of no text or the
    /// samples are not its own.
    pub contradictions: Array<'m, u32>,
    /// Two words, of which the first is for the CRC-32 of a text that stays on the device.
    pub checksum: Array<'m, u32>,
    counts: Array<'m, u32>,
    offsets: Array<'m, u32>,
    firsts: Array<'m, u64>,
    before: Array<'m, u64>,
    /// In one place with `symbols`: the symbols of stretches are written once LF is squared.
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
        let bytes: Array<u8> = arena.array(shape.n as usize + TEXT_PADDING as usize);
        let symbols: Array<u8> = arena.array((shape.symbols() as usize).max(4 * rows));
        let before = match shape.width {
            RowWidth::Narrow => 0,
            RowWidth::Wide => 256 * shape.pieces().count(),
        };
        Ok(InverseArrays {
            bytes,
            text: bytes.long_part(0..shape.n + 1),
            samples: arena.array(shape.samples as usize),
            contradictions: arena.array(2),
            checksum: arena.array(2),
            counts: arena.array(counts as usize),
            offsets: arena.array(256),
            firsts: arena.array(256),
            before: arena.array(before),
            ranks: symbols.cast(),
            lf_squared: arena.array(rows),
            links: arena.double_buffer(nodes),
            lengths: arena.array(nodes),
            symbols,
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
            width,
            primary,
            samples,
            ..
        } = shape;
        assert!((1..=n).contains(&primary) && n <= MOST_INVERTED);
        assert!(width == RowWidth::Wide || RowWidth::of(n) == RowWidth::Narrow);
        assert!(u64::from(samples - 1) << shape.log_rate < n && arrays.samples.len() == samples);
        assert!(shape.rounds() < 24, "a link has 24 bits for a node");
        let padded = n + u64::from(TEXT_PADDING);
        assert!(arrays.bytes.size() as u64 == padded && arrays.text.size() as u64 == n + 1);
        gpu.zero(arrays.bytes.long_part(n..padded))?;
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
    pub(crate) fn take(&mut self, gpu: &Gpu, piece: Range<u64>) -> Result<()> {
        let tile = u64::from(INVERSE_TILE);
        let tiles = (piece.end - piece.start).div_ceil(tile) as u32;
        self.kernels.piece = (piece.start / self.shape.piece_size()) as u32;
        self.kernels.first_tile = (piece.start / tile) as u32;
        self.kernels.tiles = tiles;
        self.launch(gpu, COUNT_TILES, tiles)?;
        self.arrays
            .cub
            .exclusive_sum(gpu, self.arrays.counts.first(256 * tiles))?;
        self.launch(gpu, COUNT_PIECE, 1)?;
        self.launch(gpu, RANK_TILES, tiles)
    }

    /// Finds the position of every stretch in the text.
    pub(crate) fn link(&mut self, gpu: &Gpu) -> Result<()> {
        self.each(gpu, SQUARE_LF, self.shape.n + 1)?;
        self.each(gpu, WALK_STRETCHES, self.shape.nodes().into())?;
        for _ in 0..self.shape.rounds() {
            self.each(gpu, FOLLOW, self.shape.nodes().into())?;
            std::mem::swap(&mut self.kernels.links, &mut self.kernels.followed);
        }
        Ok(())
    }

    /// Puts the symbols of a piece of the text in place. Returns the range of the text's array that
    /// it fills.
    pub(crate) fn place(&mut self, gpu: &Gpu, piece: Range<u64>) -> Result<Range<u64>> {
        let last = u64::from(piece.end == self.shape.n);
        (self.kernels.from, self.kernels.to) = (piece.start, piece.end + last);
        self.each(gpu, PLACE, self.shape.chunks().into())?;
        Ok(piece.start.max(1)..piece.end + last)
    }

    /// Sets the flag of contradictions if there are any.
    pub(crate) fn check(&self, gpu: &Gpu) -> Result<()> {
        self.each(gpu, CHECK, self.shape.samples.into())
    }

    /// Queues a kernel with one thread per item.
    fn each(&self, gpu: &Gpu, kernel: Kernel, items: u64) -> Result<()> {
        self.launch(gpu, kernel, items.div_ceil(THREADS.into()) as u32)
    }

    /// Queues a kernel for the rows of this inverse.
    #[allow(unsafe_code)]
    fn launch(&self, gpu: &Gpu, kernel: Kernel, ctas: u32) -> Result<()> {
        let name = match self.shape.width {
            RowWidth::Narrow => kernel.narrow,
            RowWidth::Wide => kernel.wide,
        };
        // SAFETY: the arrays were allocated for this shape, which `InverseSteps::start` checks. The
        // kernels take only this struct and stay within its arrays whatever the bytes are. The
        // caller has checked that samples are rows.
        unsafe { gpu.launch_struct(name, ctas, THREADS, &self.kernels) }
    }
}

/// A kernel, by its names for both widths of rows.
#[derive(Clone, Copy)]
struct Kernel {
    narrow: &'static str,
    wide: &'static str,
}

const COUNT_TILES: Kernel = Kernel {
    narrow: "lf_mapping/count_tiles",
    wide: "lf_mapping/count_tiles_wide",
};
const COUNT_PIECE: Kernel = Kernel {
    narrow: "lf_mapping/count_piece",
    wide: "lf_mapping/count_piece_wide",
};
const RANK_TILES: Kernel = Kernel {
    narrow: "lf_mapping/rank_tiles",
    wide: "lf_mapping/rank_tiles_wide",
};
const SQUARE_LF: Kernel = Kernel {
    narrow: "lf_mapping/square_lf",
    wide: "lf_mapping/square_lf_wide",
};
const WALK_STRETCHES: Kernel = Kernel {
    narrow: "lf_mapping/walk_stretches",
    wide: "lf_mapping/walk_stretches_wide",
};
/// It handles no rows.
const FOLLOW: Kernel = Kernel {
    narrow: "lf_mapping/follow",
    wide: "lf_mapping/follow",
};
const PLACE: Kernel = Kernel {
    narrow: "lf_mapping/place",
    wide: "lf_mapping/place_wide",
};
const CHECK: Kernel = Kernel {
    narrow: "lf_mapping/check",
    wide: "lf_mapping/check_wide",
};

impl InverseArgs {
    fn new(arrays: InverseArrays, shape: InverseShape) -> Self {
        InverseArgs {
            bytes: arrays.bytes.address(),
            counts: arrays.counts.address(),
            offsets: arrays.offsets.address(),
            firsts: arrays.firsts.address(),
            before: arrays.before.address(),
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
            piece: 0,
            log_piece: shape.piece_size().ilog2(),
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
}
