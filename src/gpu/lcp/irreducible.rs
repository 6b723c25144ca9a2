//! Compares suffixes with their predecessors in order: the host side of
//! `kernels/lcp/irreducible.cu`.

use crate::base::error::Result;
use crate::gpu::runtime::kernel_structs::{IrreducibleArgs, LongList, RowsArgs, WindowArgs};
use crate::gpu::runtime::tuning::{LCP_LONG, LCP_ROW_ITEMS, LCP_ROWS, LCP_TILE, THREADS};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, arguments};

/// Number of CTAs per multiprocessor that compare long prefixes.
const CTAS: u32 = 8;

/// Number of tiles in the first window.
const FIRST_TILES: u32 = 4;
/// Factor by which each window has more tiles than the one before.
const GROWTH: u32 = 16;

/// Number of counts: of listed rows, of rows before each window, and of rows behind the last
/// window.
pub(super) const COUNTS: usize = 8;

/// Maximum number of rows whose comparison is long. The common prefixes of all rows together have
/// fewer than 2 n log n bytes, at most 62 n, and each long one has at least `LCP_LONG`.
fn most_long(n: u32) -> usize {
    n as usize / (LCP_LONG / 64) as usize + 1
}

/// Lists of rows whose comparison goes on.
#[derive(Clone, Copy)]
pub(super) struct HeadLists<'m> {
    listed: Array<'m, u32>,
    rows: [Array<'m, u32>; 2],
    found: [Array<'m, u32>; 2],
    counts: Array<'m, u32>,
}

impl<'m> HeadLists<'m> {
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, n: u32) -> Self {
        let mut long = || [arena.array(most_long(n)), arena.array(most_long(n))];
        let rows = long();
        let found = long();
        HeadLists {
            listed: arena.array(n as usize),
            rows,
            found,
            counts: arena.array(COUNTS),
        }
    }

    /// An array of n words that is unused after all comparisons.
    pub(super) fn spare(&self) -> Array<'m, u32> {
        self.listed
    }

    fn long(&self, turn: usize) -> LongList {
        LongList {
            rows: self.rows[turn].address(),
            found: self.found[turn].address(),
        }
    }
}

/// Arrays that are compared.
#[derive(Clone, Copy)]
pub(super) struct Heads<'m> {
    /// The text: n bytes and their padding.
    pub text: Array<'m, u8>,
    pub sa: Array<'m, u32>,
    /// The last column: n + 1 rows.
    pub rows: Array<'m, u8>,
}

/// Input for comparing the first bytes of all rows. This pays if most rows differ in their first
/// bytes.
#[derive(Clone, Copy)]
pub(super) struct FirstBytes<'m> {
    /// Length of the common prefix of each row and the row before it, or 255 if `ends` has it.
    pub known: Array<'m, u8>,
    /// A common prefix ends before a byte below this.
    pub least: u8,
}

/// Queues the first steps of finding `ends[p]`, for each suffix p that begins a run of the last
/// column. This is the position at which it first differs from the suffix before it. It is 0 for
/// all other suffixes, and may be 0 if the first bytes have decided the comparison.
#[allow(unsafe_code)]
pub(super) fn begin_heads(
    gpu: &Gpu,
    heads: Heads,
    lists: &HeadLists,
    ends: Array<u32>,
    first: Option<FirstBytes>,
) -> Result<IrreducibleArgs> {
    let n = heads.sa.len();
    assert!(heads.text.len() > n && heads.rows.len() > n && ends.len() == n);
    assert!(lists.listed.len() == n);
    gpu.zero(ends)?;
    gpu.zero(lists.counts)?;
    let args = IrreducibleArgs {
        text: heads.text.address(),
        sa: heads.sa.address(),
        rows: heads.rows.address(),
        ends: ends.address(),
        listed: lists.listed.address(),
        now: lists.long(0),
        counts: lists.counts.address(),
        n,
        capacity: lists.rows[0].len(),
    };
    if let Some(FirstBytes { known, least }) = first {
        assert!(known.len() == n);
        let known = known.address();
        let least = least.into();
        let job = RowsArgs {
            lists: args,
            known,
            least,
            none: 0,
        };
        let ctas = n.div_ceil(LCP_ROW_ITEMS * THREADS);
        // SAFETY: the struct is the kernel's, all arrays are as long as it requires, and `sa` and
        // `known` are aligned for 4 items. The text has its padding, and `sa` holds positions in
        // it.
        unsafe { gpu.launch_struct("irreducible/compare_rows", ctas, THREADS, &job)? };
    } else {
        let ctas = n.div_ceil(LCP_ROWS);
        // SAFETY: as above.
        unsafe { gpu.launch_struct("irreducible/compare_heads", ctas, THREADS, &args)? };
    }
    let ctas = n.div_ceil(LCP_ROWS).min(CTAS * gpu.processors());
    // SAFETY: as above.
    unsafe { gpu.launch_struct("irreducible/compare_listed", ctas, THREADS, &args)? };
    gpu.reset_counts();
    let arguments = arguments![lists.counts, gpu.host_flags()];
    // SAFETY: the array has that many counts.
    unsafe { gpu.launch("irreducible/publish_long", 1, 1, arguments)? };
    Ok(args)
}

/// Waits for these steps and queues the later ones.
pub(super) fn finish_heads(gpu: &Gpu, args: IrreducibleArgs, lists: &HeadLists) -> Result<()> {
    match gpu.wait_for_counts()? {
        (_, 0) => Ok(()),
        _ => compare_windows(gpu, args, lists),
    }
}

/// Compares the longest prefixes window by window, until all are finished.
#[allow(unsafe_code)]
fn compare_windows(gpu: &Gpu, mut args: IrreducibleArgs, lists: &HeadLists) -> Result<()> {
    let mut from = LCP_LONG;
    let mut tiles = FIRST_TILES;
    let mut window = 1;
    let ctas = CTAS * gpu.processors();
    while from < args.n {
        let left = (args.n - from).div_ceil(LCP_TILE);
        assert!(
            (window as usize) < COUNTS - 1,
            "a window has a count behind it"
        );
        let turn = window as usize % 2;
        (args.now, tiles) = (lists.long(1 - turn), tiles.min(left));
        let next = lists.long(turn);
        let job = WindowArgs {
            lists: args,
            next,
            from,
            tiles,
            window,
            none: 0,
        };
        // SAFETY: the structs are the kernels', and all arrays are as long as they require.
        unsafe {
            gpu.launch_struct("irreducible/compare_window", ctas, THREADS, &job)?;
            gpu.launch_struct("irreducible/end_window", ctas, THREADS, &job)?;
        }
        from = from.saturating_add(tiles.saturating_mul(LCP_TILE));
        (tiles, window) = (tiles.saturating_mul(GROWTH), window + 1);
    }
    Ok(())
}
