//! Groups of equal suffixes on the rows of one GPU: the host side of
//! `kernels/distributed/row_groups.cu`.

use crate::base::error::Result;
use crate::gpu::runtime::kernel_structs::{ListView, RowsView};
use crate::gpu::runtime::tuning::THREADS;
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Ends of a sorted list, which other GPUs have to know.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListEnds {
    pub first_key: u64,
    pub last_key: u64,
    /// Row of the last head, counted among the rows of this GPU.
    pub last_head: u64,
    /// First row, counted among the rows of this GPU.
    pub first_row: u64,
}

/// Facts about a list that was divided: the length of its first group, the start of its last one,
/// and the minimum number of symbols in a first key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListFacts {
    pub front: u32,
    pub back: u32,
    pub least: u32,
}

/// A list of unresolved suffixes, with their rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowList<'m> {
    pub suffixes: Array<'m, u64>,
    pub rows: Array<'m, u32>,
}

/// Memory for a new list of unresolved suffixes, and its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewList<'m> {
    pub list: RowList<'m>,
    /// Number of each item's group.
    pub groups: Array<'m, u32>,
    /// Number of suffixes.
    pub len: u32,
    /// Number of groups.
    pub group_count: u32,
}

/// Puts the last `group_bits` bits of the groups' numbers above keys of `bits` bits.
#[allow(unsafe_code)]
pub(super) fn compose_keys(
    gpu: &Gpu,
    keys: Array<u64>,
    groups: Array<u32>,
    bits: u32,
    group_bits: u32,
) -> Result<()> {
    let items = keys.len();
    assert!(groups.len() == items && bits < u64::BITS && bits + group_bits <= u64::BITS);
    let mask = 1_u64
        .checked_shl(group_bits)
        .unwrap_or(0)
        .wrapping_sub(1) as u32;
    let arguments = arguments![keys, groups, items, bits, mask];
    // SAFETY: both arrays have `items` items.
    unsafe { gpu.each("row_groups/compose_keys", items, arguments) }
}

/// Marks the heads of groups. `heads` gets the row of each item that begins a group, and 0 for the
/// others. `kept` has a bit for each row of this GPU, which gets whether the group that begins
/// there keeps its rank.
///
/// `old` describes the groups before they were split: the number of bits of a key below its group's
/// number, and whether the first group keeps its rank. If it is `None`, there were no groups, and
/// none keeps its rank.
#[allow(unsafe_code)]
pub(super) fn mark_heads(
    gpu: &Gpu,
    keys: Array<u64>,
    rows: Array<u32>,
    old: Option<(u32, bool)>,
    heads: Array<u32>,
    kept: Array<u32>,
) -> Result<()> {
    let items = keys.len();
    assert_eq!([rows.len(), heads.len()], [items; 2]);
    gpu.zero(kept)?;
    let (bits, first_stays) = old.unwrap_or((u64::BITS, false));
    let arguments = arguments![keys, rows, items, bits, u32::from(first_stays), heads, kept];
    // SAFETY: the arrays have `items` items, and `kept` a bit for each row.
    unsafe { gpu.each("row_groups/mark_heads", items, arguments) }
}

/// Returns the ends of a list whose heads are known. `ends` has four words.
#[allow(unsafe_code)]
pub(super) fn list_ends(
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
    // SAFETY: the arrays have `items` items, at least one, and `ends` has four.
    unsafe { gpu.launch("row_groups/list_ends", 1, 1, arguments)? };
    let ends = gpu.read(ends)?;
    let [first_key, last_key, last_head, first_row] = [ends[0], ends[1], ends[2], ends[3]];
    Ok(ListEnds {
        first_key,
        last_key,
        last_head,
        first_row,
    })
}

/// Marks the unresolved suffixes of a list whose heads are known. `open_front` is true if its first
/// group begins before it, `open_back` if its last one ends behind it.
#[allow(unsafe_code)]
pub(super) fn mark_unresolved(
    gpu: &Gpu,
    heads: Array<u32>,
    rows: Array<u32>,
    open_front: bool,
    open_back: bool,
    marks: Array<u64>,
) -> Result<()> {
    let items = heads.len();
    assert_eq!([rows.len(), marks.len()], [items; 2]);
    let front = u32::from(open_front);
    let back = u32::from(open_back);
    let arguments = arguments![heads, rows, items, front, back, marks];
    // SAFETY: the arrays have `items` items.
    unsafe { gpu.each("row_groups/mark_unresolved", items, arguments) }
}

/// Divides a list by the sums of its marks: resolved suffixes go to their rows in `out`, the others
/// to a new list. `facts` has three words.
#[allow(unsafe_code)]
pub(crate) fn part_list(
    gpu: &Gpu,
    list: RowList,
    sums: Array<u64>,
    new: NewList,
    out: RowsView,
    facts: Array<u32>,
) -> Result<ListFacts> {
    let NewList {
        list: new,
        groups: new_groups,
        len,
        group_count: groups,
    } = new;
    let items = list.suffixes.len();
    assert!(list.rows.len() == items && sums.len() == items && facts.len() == 3);
    assert!(
        new.suffixes
            .len()
            .min(new.rows.len())
            .min(new_groups.len())
            >= len
    );
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
    // SAFETY: the list has `items` items, and the new one has room for those that go on; `out` has
    // all rows of this GPU.
    unsafe {
        gpu.launch_struct(
            "row_groups/part_list",
            items.div_ceil(THREADS),
            THREADS,
            &view,
        )?
    };
    let facts = gpu.read(facts)?;
    Ok(ListFacts {
        front: facts[0],
        back: facts[1],
        least: facts[2],
    })
}
