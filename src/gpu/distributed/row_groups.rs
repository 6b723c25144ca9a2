//! Groups of equal suffixes on the rows of one GPU: the host side of
//! `kernels/distributed/row_groups.cu`.

use crate::error::Result;
use crate::gpu::runtime::kernel_structs::{ListView, RowsView};
use crate::gpu::runtime::tuning::THREADS;
use crate::gpu::runtime::{Array, Gpu, arguments};

/// What other GPUs have to know of a list that was sorted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListEnds {
    pub first_key: u64,
    pub last_key: u64,
    /// The row of the last head, and the first row: among those of this GPU.
    pub last_head: u64,
    pub first_row: u64,
}

/// What comes of a list that is parted: its first group's length, where its last one begins, and
/// the least symbols of a first key.
#[derive(Clone, Copy, Debug)]
pub struct ListFacts {
    pub front: u32,
    pub back: u32,
    pub least: u32,
}

/// A list of unresolved suffixes, with their rows.
#[derive(Clone, Copy, Debug)]
pub struct RowList<'m> {
    pub suffixes: Array<'m, u64>,
    pub rows: Array<'m, u32>,
}

/// Puts the last bits of the numbers of groups above keys of so many bits.
#[allow(unsafe_code)]
pub fn compose_keys(
    gpu: &Gpu,
    keys: Array<u64>,
    groups: Array<u32>,
    (bits, group_bits): (u32, u32),
) -> Result<()> {
    let items = keys.len();
    assert!(groups.len() == items && bits < u64::BITS && bits + group_bits <= u64::BITS);
    let mask = 1_u64.checked_shl(group_bits).unwrap_or(0).wrapping_sub(1) as u32;
    let arguments = arguments![keys, groups, items, bits, mask];
    // SAFETY: both arrays have so many items.
    unsafe { gpu.each("row_groups/compose_keys", items, arguments) }
}

/// The row of each item that begins a group, 0 for the others; and in `kept`, which has a bit for
/// each row of this GPU, whether that group keeps its rank. `old` are the bits of a key below the
/// number of its group before it was split, and whether the first group keeps its rank; where there
/// were none, none do.
#[allow(unsafe_code)]
pub fn mark_heads(
    gpu: &Gpu,
    keys: Array<u64>,
    rows: Array<u32>,
    old: Option<(u32, bool)>,
    (heads, kept): (Array<u32>, Array<u32>),
) -> Result<()> {
    let items = keys.len();
    assert_eq!([rows.len(), heads.len()], [items; 2]);
    gpu.zero(kept)?;
    let (bits, first_stays) = old.unwrap_or((u64::BITS, false));
    let arguments = arguments![keys, rows, items, bits, u32::from(first_stays), heads, kept];
    // SAFETY: the arrays have so many items, and `kept` a bit for each row.
    unsafe { gpu.each("row_groups/mark_heads", items, arguments) }
}

/// The ends of a list, whose heads are known. `ends` has four words.
#[allow(unsafe_code)]
pub fn list_ends(
    gpu: &Gpu,
    keys: Array<u64>,
    rows: Array<u32>,
    heads: Array<u32>,
    ends: Array<u64>,
) -> Result<ListEnds> {
    let items = keys.len();
    assert_eq!([rows.len(), heads.len(), ends.len()], [items, items, 4]);
    if items == 0 {
        return Ok(ListEnds::default());
    }
    let arguments = arguments![keys, rows, heads, items, ends];
    // SAFETY: the arrays have so many items, one at least, and `ends` four.
    unsafe { gpu.launch("row_groups/list_ends", 1, 1, arguments)? };
    let ends = gpu.read(ends)?;
    let [first_key, last_key, last_head, first_row] = [ends[0], ends[1], ends[2], ends[3]];
    Ok(ListEnds { first_key, last_key, last_head, first_row })
}

/// Marks what is unresolved in a list whose heads are known; its first group may begin before it,
/// and its last one end behind it.
#[allow(unsafe_code)]
pub fn mark_unresolved(
    gpu: &Gpu,
    heads: Array<u32>,
    rows: Array<u32>,
    (open_front, open_back): (bool, bool),
    marks: Array<u64>,
) -> Result<()> {
    let items = heads.len();
    assert_eq!([rows.len(), marks.len()], [items; 2]);
    let (front, back) = (u32::from(open_front), u32::from(open_back));
    let arguments = arguments![heads, rows, items, front, back, marks];
    // SAFETY: the arrays have so many items.
    unsafe { gpu.each("row_groups/mark_unresolved", items, arguments) }
}

/// Parts a list by the sums of its marks: resolved suffixes go to their rows, the others, in so
/// many groups, to a new list. `facts` has three words.
#[allow(unsafe_code)]
pub fn part_list(
    gpu: &Gpu,
    list: RowList,
    sums: Array<u64>,
    (len, groups): (u32, u32),
    out: RowsView,
    (new, new_groups): (RowList, Array<u32>),
    facts: Array<u32>,
) -> Result<ListFacts> {
    let items = list.suffixes.len();
    assert!(list.rows.len() == items && sums.len() == items && facts.len() == 3);
    assert!(new.suffixes.len().min(new.rows.len()).min(new_groups.len()) >= len);
    gpu.write(&[len, 0, u32::MAX], facts)?;
    let view = ListView {
        suffixes: list.suffixes.address(),
        rows: list.rows.address(),
        sums: sums.address(),
        new_suffixes: new.suffixes.address(),
        new_rows: new.rows.address(),
        new_groups: new_groups.address(),
        facts: facts.address(),
        out,
        items,
        groups,
    };
    // SAFETY: the list has so many items, of which the new one has room for those that go on; and
    // `out` has all rows of this GPU.
    unsafe { gpu.launch_struct("row_groups/part_list", items.div_ceil(THREADS), THREADS, &view)? };
    let facts = gpu.read(facts)?;
    Ok(ListFacts { front: facts[0], back: facts[1], least: facts[2] })
}
