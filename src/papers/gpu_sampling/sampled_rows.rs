//! From the sorted positions of each GPU to its rows: the host side of
//! `kernels/papers/sampled_rows.cu`.

use super::joint_work::JointWork;
use crate::base::error::Result;
use crate::gpu::TextParts;
use crate::gpu::distributed::{
    DeviceExchange, NewList, OwnerRoutes, PartBytes, RouteBuffers, RoutedList, RowList, part_list,
};
use crate::gpu::primitives::gather::count_from;
use crate::gpu::runtime::kernel_structs::RowsView;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};

/// Minimum number of items in the buffers, so that batches of positions have some room too.
const LEAST_ROOM: usize = 8192;

/// Buffers of one GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampledRows<'m> {
    suffixes: DoubleBuffer<'m, u64>,
    befores: DoubleBuffer<'m, u64>,
    rows: Array<'m, u32>,
    facts: Array<'m, u32>,
    routes: OwnerRoutes<'m>,
}

impl<'m> SampledRows<'m> {
    pub(super) fn allocate(
        arena: &mut ArenaAllocator<'m>,
        parts: TextParts,
        number: usize,
    ) -> Self {
        let room = (parts.size() as usize).max(LEAST_ROOM);
        SampledRows {
            suffixes: arena.double_buffer(room),
            befores: arena.double_buffer(room),
            rows: arena.array(room),
            facts: arena.array(3),
            routes: OwnerRoutes::allocate(arena, parts, number),
        }
    }

    /// Writes the rows of this GPU, given the positions of their suffixes. It asks for the byte
    /// before each position from the GPU that has it.
    pub(super) fn write<E: DeviceExchange>(
        self,
        work: &mut JointWork<E>,
        parts: TextParts,
        part: PartBytes,
        sorted: Array<u32>,
        out: RowsView,
    ) -> Result<()> {
        let gpu = work.gpu;
        let len = sorted.len();
        let suffixes = self.suffixes.current.first(len);
        let all_here = work.is_alone().then_some(part.bytes);
        position_words(gpu, sorted, all_here, suffixes)?;
        if !work.is_alone() {
            bytes_before(gpu, part, self.routes.ranks())?;
            let outgoing = self.suffixes.alternate.cast();
            let incoming = self.befores.alternate.cast();
            let buffers = RouteBuffers::within(outgoing, incoming, parts.gpus());
            let befores = self.befores.current.first(len);
            let list = RoutedList {
                suffixes,
                longest: parts.size(),
            };
            self.routes
                .ask(gpu, work.exchange, list, 0, befores, &buffers)?;
            add_before(gpu, suffixes, befores)?;
        }
        // No suffix is unresolved, so all sums are 0.
        let sums = self.befores.current.first(len);
        gpu.zero(sums)?;
        let rows = self.rows.first(len);
        count_from(gpu, 0, rows)?;
        let list = RowList { suffixes, rows };
        let none = RowList {
            suffixes: suffixes.first(0),
            rows: rows.first(0),
        };
        let new = NewList {
            list: none,
            groups: rows.first(0),
            len: 0,
            group_count: 0,
        };
        part_list(gpu, list, sums, new, out, self.facts).map(drop)
    }
}

/// Makes the words of the suffixes at these positions. They include the bytes before them if
/// `bytes` is given.
#[allow(unsafe_code)]
fn position_words(
    gpu: &Gpu,
    positions: Array<u32>,
    bytes: Option<Array<u8>>,
    suffixes: Array<u64>,
) -> Result<()> {
    let len = positions.len();
    assert_eq!(suffixes.len(), len);
    let bytes = bytes.map_or(0, Array::address);
    let arguments = arguments![positions, bytes, len, suffixes];
    // SAFETY: both arrays have `len` items, and each position is one of the bytes.
    unsafe { gpu.each("sampled_rows/position_words", len, arguments) }
}

/// Collects the byte before each position of a part.
#[allow(unsafe_code)]
fn bytes_before(gpu: &Gpu, part: PartBytes, befores: Array<u64>) -> Result<()> {
    let len = befores.len();
    assert!(len <= part.available);
    let before = u32::from(part.before);
    let arguments = arguments![part.bytes, before, len, befores];
    // SAFETY: there are at least `len` bytes and `len` items.
    unsafe { gpu.each("sampled_rows/bytes_before", len, arguments) }
}

/// Puts the bytes before suffixes into their words.
#[allow(unsafe_code)]
fn add_before(gpu: &Gpu, suffixes: Array<u64>, befores: Array<u64>) -> Result<()> {
    let len = suffixes.len();
    assert_eq!(befores.len(), len);
    // SAFETY: both arrays have `len` items.
    unsafe {
        gpu.each(
            "sampled_rows/add_before",
            len,
            arguments![suffixes, befores, len],
        )
    }
}
