//! Groups of suffixes in prefix doubling: the host side of `kernels/papers/rank_groups.cu`.

use crate::base::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};

/// The suffixes in groups of more than one.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedList<'m> {
    /// Suffix of each item, sorted within its group round by round.
    pub pos: DoubleBuffer<'m, u32>,
    /// Row of each item, from 1.
    pub rows: DoubleBuffer<'m, u32>,
    /// Rank of each item: the row of the first item of its group.
    pub ranks: DoubleBuffer<'m, u32>,
    /// Workspace of 64 bits per item.
    pub marks: Array<'m, u64>,
    /// First item of each group and, behind the last, the number of items.
    pub starts: Array<'m, u32>,
    /// Number of items in use.
    pub len: u32,
    /// Number of groups in use.
    pub groups: u32,
}

impl<'m> RankedList<'m> {
    /// Allocates a list without groups, with room for `items` suffixes.
    pub(super) fn allocate(
        arena: &mut ArenaAllocator<'m>,
        items: u32,
        marks: Array<'m, u64>,
    ) -> Self {
        let room = items as usize;
        RankedList {
            pos: arena.double_buffer(room),
            rows: arena.double_buffer(room),
            ranks: arena.double_buffer(room),
            marks,
            starts: arena.array(room / 2 + 2),
            len: items,
            groups: 0,
        }
    }

    /// Ranks all n suffixes after the first sort, which has put them into `pos` by their `keys`. A
    /// suffix of fewer than [`crate::gpu::runtime::tuning::FIRST_SYMBOLS`] bytes is a group of its
    /// own.
    #[allow(unsafe_code)]
    pub(super) fn rank_first(&mut self, gpu: &Gpu, keys: Array<u64>) -> Result<()> {
        let n = self.len;
        let pos = self.pos.current.first(n);
        let head_rows = self.ranks.current.first(n);
        let keys = keys.first(n);
        let rows = self.rows.current.first(n);
        // SAFETY: all arrays have n items.
        unsafe {
            gpu.each(
                "rank_groups/first_heads",
                n,
                arguments![keys, pos, n, head_rows],
            )?;
            gpu.each("rank_groups/first_rows", n, arguments![n, rows])
        }
    }

    /// Ranks the items after their groups have been sorted by `keys`.
    #[allow(unsafe_code)]
    pub(super) fn rank(&mut self, gpu: &Gpu, keys: Array<u32>) -> Result<()> {
        let m = self.len;
        let keys = keys.first(m);
        let rows = self.rows.current.first(m);
        let ranks = self.ranks.current.first(m);
        let head_rows = self.ranks.alternate.first(m);
        // SAFETY: all arrays have m items.
        unsafe {
            gpu.each(
                "rank_groups/list_heads",
                m,
                arguments![keys, ranks, rows, m, head_rows],
            )?;
        }
        self.ranks.swap();
        Ok(())
    }

    /// Completes the ranks, writes them to `isa` and finished suffixes to `sa`, and keeps the
    /// others.
    #[allow(unsafe_code)]
    pub(super) fn resolve(
        &mut self,
        gpu: &Gpu,
        cub: &Cub,
        isa: Array<u32>,
        sa: Array<u32>,
    ) -> Result<()> {
        let m = self.len;
        let pos = self.pos.current.first(m);
        let rows = self.rows.current.first(m);
        let ranks = self.ranks.current.first(m);
        let marks = self.marks.first(m);
        cub.inclusive_max(gpu, ranks)?;
        // SAFETY: the list's arrays have m items, `isa` has one for each position, and `sa` has one
        // for each row.
        unsafe {
            gpu.each(
                "rank_groups/resolve",
                m,
                arguments![pos, rows, ranks, m, isa, sa, marks],
            )?;
        }
        cub.inclusive_sum_u64(gpu, marks)?;
        let totals = gpu.read(marks.part(m - 1..m))?[0];
        (self.len, self.groups) = ((totals >> 32) as u32, totals as u32);
        let [to_pos, to_rows, to_ranks] =
            [self.pos, self.rows, self.ranks].map(|two| two.alternate);
        // SAFETY: as above. The new arrays are as long as the old ones, and `starts` has room for
        // half as many groups as there are items, and one more.
        unsafe {
            let arguments = arguments![
                pos,
                rows,
                ranks,
                marks,
                m,
                to_pos,
                to_rows,
                to_ranks,
                self.starts
            ];
            gpu.each("rank_groups/compact", m, arguments)?;
        }
        self.pos.swap();
        self.rows.swap();
        self.ranks.swap();
        Ok(())
    }
}

/// Makes keys of the ranks of the suffixes `depth` positions behind those in `pos`.
#[allow(unsafe_code)]
pub(super) fn rank_keys(
    gpu: &Gpu,
    pos: Array<u32>,
    isa: Array<u32>,
    depth: u32,
    keys: Array<u32>,
) -> Result<()> {
    assert_eq!(pos.len(), keys.len());
    let m = pos.len();
    let n = isa.len();
    // SAFETY: `pos` and `keys` have m items, and `isa` has n.
    unsafe {
        gpu.each(
            "rank_groups/rank_keys",
            m,
            arguments![pos, m, isa, n, depth, keys],
        )
    }
}
