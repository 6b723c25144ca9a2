//! From the transform to the text: the host side of `kernels/inverse.cu`, which explains it.

use super::buffers::{Array, Carver, Double};
use super::cub::Cub;
use super::device::Gpu;
use super::ties::kernel_structs;
use super::tuning::{INVERSE_TILE, TEXT_PADDING, THREADS};
use crate::error::Result;

/// What is known of a transform before it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its length, 1 to 2^31 - 1.
    pub n: u32,
    /// The row of the whole text, 1 to n.
    pub primary: u32,
    /// How many samples there are, one for each multiple of 2^`log_rate` below n.
    pub samples: u32,
    pub log_rate: u32,
}

impl Shape {
    fn tiles(self) -> u32 {
        self.n.div_ceil(INVERSE_TILE)
    }

    /// Bits that the rows 0 to n have.
    fn row_bits(self) -> u32 {
        u32::BITS - self.n.leading_zeros()
    }

    /// One of 2^so many rows is a node. Short stretches keep the last walk from being waited for, and more nodes take longer
    /// to link: up to 2^25 rows the former counts, above that both.
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

    /// Symbols of a chunk: twice as many as a usual stretch has, so that one in seven needs another chunk.
    fn chunk_size(self) -> u32 {
        (2 << self.stretch_bits()).max(8)
    }

    /// One for each node, and all that can be full.
    fn chunks(self) -> u32 {
        self.nodes() + (self.n + 1) / self.chunk_size()
    }
}

/// Symbols after which a stretch is given up, in stretches: one that is 64 times as long as usual comes once in e^64.
const LONGEST: u32 = 64;

/// All arrays of an inverse: 18 to 21 bytes per byte.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'m> {
    /// The transform, and padding.
    pub bytes: Array<'m, u8>,
    /// The place of the sentinel, and the text.
    pub text: Array<'m, u8>,
    pub samples: Array<'m, u32>,
    /// One word that is not 0 afterwards where this was the transform of no text, or the samples were not its own.
    pub contradictions: Array<'m, u32>,
    counts: Array<'m, u32>,
    lf: Array<'m, u32>,
    jumps: Array<'m, u64>,
    links: Double<'m, u64>,
    lengths: Array<'m, u32>,
    symbols: Array<'m, u8>,
    chunks: Array<'m, u64>,
    used: Array<'m, u32>,
    cub: Cub<'m>,
}

impl<'m> Arrays<'m> {
    /// Carves the arrays of a transform.
    pub fn carve(gpu: &Gpu, carver: &mut Carver<'m>, shape: Shape) -> Result<Self> {
        let (rows, nodes) = (shape.n as usize + 1, shape.nodes() as usize);
        let counts = 256 * shape.tiles();
        Ok(Arrays {
            bytes: carver.take(shape.n as usize + TEXT_PADDING as usize),
            text: carver.take(rows),
            samples: carver.take(shape.samples as usize),
            contradictions: carver.take(1),
            counts: carver.take(counts as usize),
            lf: carver.take(rows),
            jumps: carver.take(rows),
            links: carver.take_two(nodes),
            lengths: carver.take(nodes),
            symbols: carver.take(shape.chunks() as usize * shape.chunk_size() as usize),
            chunks: carver.take(shape.chunks() as usize),
            used: carver.take(1),
            cub: Cub::carve(gpu, carver, counts)?,
        })
    }
}

/// Queues all that makes the text from the transform and the samples.
pub fn restore(gpu: &Gpu, arrays: Arrays, shape: Shape) -> Result<()> {
    let Shape { n, primary, samples, .. } = shape;
    assert!((1..=n).contains(&primary) && n < 1 << 31);
    assert!((samples - 1) << shape.log_rate < n && arrays.samples.len() == samples);
    assert!(arrays.bytes.len() == n + TEXT_PADDING && arrays.text.len() == n + 1);
    gpu.zero(arrays.bytes.part(n..n + TEXT_PADDING))?;
    gpu.zero(arrays.contradictions)?;
    gpu.zero(arrays.used)?;
    let mut inverse = InverseStruct::new(arrays, shape);
    inverse.tiles(gpu, "inverse/count_tiles")?;
    arrays.cub.exclusive_sum(gpu, arrays.counts)?;
    inverse.tiles(gpu, "inverse/step_tiles")?;
    inverse.each(gpu, "inverse/double_steps", n + 1)?;
    inverse.each(gpu, "inverse/walk_stretches", shape.nodes())?;
    for _ in 0..shape.rounds() {
        inverse.each(gpu, "inverse/follow", shape.nodes())?;
        std::mem::swap(&mut inverse.links, &mut inverse.followed);
    }
    inverse.each(gpu, "inverse/check", samples)?;
    inverse.each(gpu, "inverse/place", shape.chunks())
}

/// `struct Inverse` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct InverseStruct {
    bytes: u64,
    counts: u64,
    lf: u64,
    jumps: u64,
    links: u64,
    followed: u64,
    symbols: u64,
    chunks: u64,
    lengths: u64,
    used: u64,
    samples: u64,
    text: u64,
    contradictions: u64,
    n: u32,
    primary: u32,
    tiles: u32,
    sample_count: u32,
    log_rate: u32,
    row_bits: u32,
    nodes: u32,
    chunk_size: u32,
    longest: u32,
}

kernel_structs!(InverseStruct);

impl InverseStruct {
    fn new(arrays: Arrays, shape: Shape) -> Self {
        InverseStruct {
            bytes: arrays.bytes.address(),
            counts: arrays.counts.address(),
            lf: arrays.lf.address(),
            jumps: arrays.jumps.address(),
            links: arrays.links.first.address(),
            followed: arrays.links.second.address(),
            symbols: arrays.symbols.address(),
            chunks: arrays.chunks.address(),
            lengths: arrays.lengths.address(),
            used: arrays.used.address(),
            samples: arrays.samples.address(),
            text: arrays.text.address(),
            contradictions: arrays.contradictions.address(),
            n: shape.n,
            primary: shape.primary,
            tiles: shape.tiles(),
            sample_count: shape.samples,
            log_rate: shape.log_rate,
            row_bits: shape.row_bits(),
            nodes: shape.nodes(),
            chunk_size: shape.chunk_size(),
            longest: LONGEST << shape.stretch_bits(),
        }
    }

    /// Queues a kernel with a CTA for each tile.
    fn tiles(&self, gpu: &Gpu, name: &'static str) -> Result<()> {
        self.launch(gpu, name, self.tiles)
    }

    /// Queues a kernel with a thread for each item.
    fn each(&self, gpu: &Gpu, name: &'static str, items: u32) -> Result<()> {
        self.launch(gpu, name, items.div_ceil(THREADS))
    }

    #[allow(unsafe_code)]
    fn launch(&self, gpu: &Gpu, name: &'static str, ctas: u32) -> Result<()> {
        // SAFETY: the arrays were carved for this shape, which `restore` checks; the kernels take this struct alone, and
        // keep within it whatever the bytes are. Samples are rows, as the caller has made sure.
        unsafe { gpu.launch_struct(name, ctas, THREADS, self) }
    }
}
