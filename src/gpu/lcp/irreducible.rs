//! Where suffixes end to agree with those before them in order: the host side of
//! `kernels/lcp/irreducible.cu`.

use crate::error::Result;
use crate::gpu::runtime::kernel_structs::{IrreducibleArgs, LongList, RowsArgs, WindowArgs};
use crate::gpu::runtime::tuning::{LCP_LONG, LCP_ROW_ITEMS, LCP_ROWS, LCP_TILE, THREADS};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, arguments};

/// CTAs of a multiprocessor that compare long prefixes.
const CTAS: u32 = 8;

/// Tiles of the first window; the next has [`GROWTH`] times as many.
const FIRST_TILES: u32 = 4;
const GROWTH: u32 = 16;

/// Counts: of rows listed, and of those before each window and behind the last.
pub const COUNTS: usize = 8;

/// Rows that are compared for long: their prefixes together have less than 2 n log n bytes, which
/// is 62 n, and each has `LCP_LONG`.
fn most_long(n: u32) -> usize {
    n as usize / (LCP_LONG / 64) as usize + 1
}

/// The lists of rows that are compared on.
#[derive(Clone, Copy)]
pub struct HeadLists<'m> {
    listed: Array<'m, u32>,
    rows: [Array<'m, u32>; 2],
    found: [Array<'m, u32>; 2],
    counts: Array<'m, u32>,
}

impl<'m> HeadLists<'m> {
    pub fn allocate(arena: &mut ArenaAllocator<'m>, n: u32) -> Self {
        let mut long = || [arena.array(most_long(n)), arena.array(most_long(n))];
        let (rows, found) = (long(), long());
        HeadLists { listed: arena.array(n as usize), rows, found, counts: arena.array(COUNTS) }
    }

    /// n words that are free when all is compared.
    pub fn spare(&self) -> Array<'m, u32> {
        self.listed
    }

    fn long(&self, turn: usize) -> LongList {
        LongList { rows: self.rows[turn].address(), found: self.found[turn].address() }
    }
}

/// What is compared.
#[derive(Clone, Copy)]
pub struct Heads<'m> {
    /// n bytes and their padding.
    pub text: Array<'m, u8>,
    pub sa: Array<'m, u32>,
    /// The last column: n + 1 rows.
    pub rows: Array<'m, u8>,
}

/// Rows whose first bytes are compared, where most differ in these.
#[derive(Clone, Copy)]
pub struct FirstBytes<'m> {
    /// How far each row agrees with the one before it, or 255 where its end has to say that.
    pub known: Array<'m, u8>,
    /// Bytes below it end what is in common.
    pub least: u8,
}

/// Queues the first steps of the way to `ends[p]`, for each suffix p that begins a run of the last
/// column: the position where it first differs from the suffix before it. All others become 0, and
/// so may those that first bytes say all about.
#[allow(unsafe_code)]
pub fn begin_heads(
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
        let (known, least) = (known.address(), least.into());
        let job = RowsArgs { lists: args, known, least, none: 0 };
        let ctas = n.div_ceil(LCP_ROW_ITEMS * THREADS);
        // SAFETY: the struct is the kernel's, and all arrays are as long as it says, `sa` and
        // `known` aligned for 4 items; the text has its padding, and `sa` holds positions in it.
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
    // SAFETY: there are so many counts.
    unsafe { gpu.launch("irreducible/publish_long", 1, 1, arguments)? };
    Ok(args)
}

/// Waits for these steps and queues those behind them.
pub fn finish_heads(gpu: &Gpu, args: IrreducibleArgs, lists: &HeadLists) -> Result<()> {
    match gpu.wait_for_counts()? {
        (_, 0) => Ok(()),
        _ => compare_windows(gpu, args, lists),
    }
}

/// Compares what is longest, window by window, until all are found.
#[allow(unsafe_code)]
fn compare_windows(gpu: &Gpu, mut args: IrreducibleArgs, lists: &HeadLists) -> Result<()> {
    let (mut from, mut tiles, mut window) = (LCP_LONG, FIRST_TILES, 1);
    let ctas = CTAS * gpu.processors();
    while from < args.n {
        let left = (args.n - from).div_ceil(LCP_TILE);
        assert!((window as usize) < COUNTS - 1, "a window has a count behind it");
        let turn = window as usize % 2;
        (args.now, tiles) = (lists.long(1 - turn), tiles.min(left));
        let next = lists.long(turn);
        let job = WindowArgs { lists: args, next, from, tiles, window, none: 0 };
        // SAFETY: the structs are the kernels', and all arrays are as long as they say.
        unsafe {
            gpu.launch_struct("irreducible/compare_window", ctas, THREADS, &job)?;
            gpu.launch_struct("irreducible/end_window", ctas, THREADS, &job)?;
        }
        from = from.saturating_add(tiles.saturating_mul(LCP_TILE));
        (tiles, window) = (tiles.saturating_mul(GROWTH), window + 1);
    }
    Ok(())
}
