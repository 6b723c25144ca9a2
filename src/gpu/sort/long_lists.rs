//! Tests of the kernels on the last tiles of lists of 2^32 - 2 items. A GPU may not have memory for
//! such a list, so the arrays hold only its end, and the tiles before are represented by their
//! sums.

use super::unsorted_groups::most_groups;
use crate::gpu::interface::MOST_SORTED;
use crate::gpu::runtime::kernel_structs::{
    MarkRanksArgs, OutputView, RefineArgs, SelectArgs, TextView, UnsortedGroupsView,
};
use crate::gpu::runtime::tuning::{
    HALO, MARK_TILE, REFINE_THREADS, REFINE_TILE, TEXT_KEYS, TEXT_PADDING, THREADS,
};
use crate::gpu::runtime::{Arena, ArenaAllocator, Array, Gpu};
use crate::gpu::testing::{gpu, memory, random, upload};
use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

/// Number of tiles that run.
const TILES: u32 = 3;
/// Number of items before these tiles that the arrays hold too.
const BEFORE: u32 = 1000;
/// Number of bytes of the text. All are 0 and have a code of 8 bits.
const TEXT: u32 = 100_000;
/// Length of the common prefix in each group of the list.
const DEPTH: u64 = 7;
/// Flag in the status of a tile: the status is the sum of all tiles up to this one.
const SUM: u64 = 1 << 63;

/// The end of a list: the first item that is held, and the numbers of items and groups in the next
/// list before those of the tiles that run.
struct ListEnd {
    tile: u32,
    tiles: u32,
    start: u32,
    items: u32,
    groups: u32,
}

/// The list on the host: the groups of its items, and random numbers that the results must contain.
struct HostList {
    groups: Vec<u32>,
    suffixes: Vec<u32>,
    sa_indices: Vec<u32>,
    group_heads: Vec<u64>,
}

impl ListEnd {
    fn new(tile: u32) -> Self {
        let tiles = MOST_SORTED.div_ceil(tile);
        let start = (tiles - TILES) * tile - BEFORE;
        // As many groups as possible, so that the last ones have the largest numbers.
        ListEnd {
            tile,
            tiles,
            start,
            items: start,
            groups: most_groups(start) - 1,
        }
    }

    fn len(&self) -> u32 {
        MOST_SORTED - self.start
    }

    /// Groups of one to four items.
    fn list(&self) -> HostList {
        let len = self.len() as usize;
        let sizes = random(len, 4, 1)
            .into_iter()
            .map(|size| size as usize + 1);
        let groups = sizes
            .zip(self.groups - BEFORE..)
            .flat_map(|(size, group)| vec![group; size]);
        let groups: Vec<u32> = groups.take(len).collect();
        let numbers = |seed| {
            random(len, u64::from(TEXT) / 2, seed)
                .into_iter()
                .map(|n| n as u32 + 1)
        };
        let group_heads = vec![DEPTH << 32; len];
        HostList {
            groups,
            suffixes: numbers(2).collect(),
            sa_indices: numbers(3).collect(),
            group_heads,
        }
    }

    /// The status that the tiles before have left.
    fn status<'m>(&self, gpu: &Gpu, arena: &mut ArenaAllocator<'m>) -> Array<'m, u64> {
        let status: Array<u64> = arena.array(self.tiles as usize + 1);
        gpu.zero(status).unwrap();
        let done = self.tiles - TILES;
        gpu.write(&[done.into()], status.first(1))
            .unwrap();
        // A warp reads the status of this many tiles at once, and waits for all of them.
        const LOOKED_AT: u32 = 32;
        let sum = SUM | u64::from(self.groups) << 32 | u64::from(self.items);
        let before = status.part(done + 1 - LOOKED_AT..done + 1);
        gpu.write(&[sum; LOOKED_AT as usize], before)
            .unwrap();
        gpu.reset_counts();
        status
    }

    /// View of a list of which only the end is in memory.
    fn view(&self, gpu: &Gpu, arena: &mut ArenaAllocator, list: &HostList) -> UnsortedGroupsView {
        let mut numbers = |items: &[u32]| address(upload(gpu, arena, items), self.start);
        let sa_indices = numbers(&list.sa_indices);
        let suffixes = numbers(&list.suffixes);
        let groups = numbers(&list.groups);
        let heads = upload(gpu, arena, &list.group_heads);
        let group_heads = address(heads, self.groups - BEFORE);
        UnsortedGroupsView {
            sa_indices,
            suffixes,
            groups,
            group_heads,
        }
    }

    /// Returns true if an item belongs to the tiles that run.
    fn runs(&self, item: usize) -> bool {
        item >= BEFORE as usize
    }
}

/// The next list, which begins behind the output of the tiles before.
struct NextList<'m> {
    numbers: [Array<'m, u32>; 3],
    group_heads: Array<'m, u64>,
}

impl<'m> NextList<'m> {
    fn new(end: &ListEnd, arena: &mut ArenaAllocator<'m>) -> Self {
        let len = end.len() as usize;
        let numbers = [arena.array(len), arena.array(len), arena.array(len)];
        NextList {
            numbers,
            group_heads: arena.array(len),
        }
    }

    fn view(&self, end: &ListEnd) -> UnsortedGroupsView {
        let [sa_indices, suffixes, groups] = self
            .numbers
            .map(|array| address(array, end.items));
        let group_heads = address(self.group_heads, end.groups);
        UnsortedGroupsView {
            sa_indices,
            suffixes,
            groups,
            group_heads,
        }
    }

    /// Compares the list with the `kept` items of the list before, and checks the published counts.
    fn check(&self, gpu: &Gpu, end: &ListEnd, list: &HostList, kept: &[usize], groups: &[u32]) {
        let count = kept.len() as u32;
        let last = groups.last().map_or(0, |last| last + 1);
        assert_eq!(gpu.wait_for_counts().unwrap(), (end.items + count, last));
        let of = |from: &[u32]| -> Vec<u32> { kept.iter().map(|&j| from[j]).collect() };
        let expected = [of(&list.sa_indices), of(&list.suffixes), groups.to_vec()];
        for (array, expected) in self.numbers.iter().zip(expected) {
            assert!(gpu.read(array.first(count)).unwrap() == expected);
        }
    }
}

/// Address at which an array would begin if it also had the `start` items that are missing.
fn address<T>(array: Array<T>, start: u32) -> u64 {
    // If that is below 0, the kernel's sum wraps back to the array.
    array
        .address()
        .wrapping_sub(u64::from(start) * size_of::<T>() as u64)
}

/// A text of zeros, and its code table.
fn text(gpu: &Gpu, arena: &mut ArenaAllocator) -> (TextView, u64) {
    let bytes = upload(gpu, arena, &vec![0_u8; (TEXT + TEXT_PADDING) as usize]);
    let mut code_table = vec![0_u32; 256];
    code_table[0] = 1 << 8 | 8;
    let code_table = upload(gpu, arena, &code_table);
    (
        TextView {
            bytes: bytes.address(),
            n: TEXT,
        },
        code_table.address(),
    )
}

#[allow(unsafe_code)]
fn launch(gpu: &Gpu, kernel: &'static str, threads: u32, arguments: &impl DeviceRepr) {
    // SAFETY: the last tiles read only the ends of the arrays, which are there.
    unsafe {
        gpu.launch_struct(kernel, TILES, threads, arguments)
            .unwrap()
    };
    gpu.wait().unwrap();
}

fn room(gpu: &Gpu) -> Arena {
    memory(gpu, 64 << 20)
}

fn read<T: ValidAsZeroBits + Clone + Default>(gpu: &Gpu, array: Array<T>) -> Vec<T> {
    gpu.read(array).unwrap()
}

#[test]
fn minimizers_are_selected() {
    let Some(gpu) = gpu() else { return };
    let mut memory = room(&gpu);
    let end = ListEnd::new(MARK_TILE);
    let arena = &mut memory.allocator();
    let list = end.list();
    let status = end.status(&gpu, arena);
    let from = end.view(&gpu, arena, &list);
    let next = NextList::new(&end, arena);
    let bitmap: Vec<u32> = random(TEXT as usize / 32, 1 << 32, 4)
        .into_iter()
        .map(|word| word as u32)
        .collect();
    let ranks: Array<u64> = arena.array(TEXT as usize);
    let arguments = SelectArgs {
        from,
        to: next.view(&end),
        bitmap: upload(&gpu, arena, &bitmap).address(),
        ranks: ranks.address(),
        status: status.address(),
        host_flags: gpu.host_flags(),
        items: MOST_SORTED,
        tiles: end.tiles.cast_signed(),
    };
    launch(&gpu, "minimizers/select_minimizers", THREADS, &arguments);
    let is_chosen = |j: usize| {
        let suffix = list.suffixes[j];
        bitmap[suffix as usize / 32] >> (suffix % 32) & 1 == 1
    };
    let kept: Vec<usize> = (0..list.groups.len())
        .filter(|&j| end.runs(j) && is_chosen(j))
        .collect();
    assert!(kept.len() > TILES as usize * MARK_TILE as usize / 3);
    let ranks = read(&gpu, ranks);
    assert!(
        kept.iter()
            .all(|&j| ranks[list.suffixes[j] as usize] == DEPTH << 32)
    );
    let counts = gpu.wait_for_counts().unwrap();
    assert_eq!(counts.0, end.items + kept.len() as u32);
    for (array, from) in next
        .numbers
        .iter()
        .zip([&list.sa_indices, &list.suffixes, &list.groups])
    {
        let expected: Vec<u32> = kept.iter().map(|&j| from[j]).collect();
        assert!(read(&gpu, array.first(kept.len() as u32)) == expected);
    }
}

/// The items that stay unresolved, in groups of at least two, and the numbers of their groups.
/// Groups that begin before the tiles that run are left out, unless `cut`: then their items within
/// these tiles are kept.
fn in_groups(end: &ListEnd, list: &HostList, cut: bool) -> (Vec<usize>, Vec<u32>) {
    let mut kept = Vec::new();
    let mut numbers = Vec::new();
    let mut number = end.groups;
    let mut first = 0;
    for group in list.groups.chunk_by(|a, b| a == b) {
        let all = first..first + group.len();
        first = all.end;
        let begins = end.runs(all.start);
        if group.len() == 1 || !begins && !cut {
            continue;
        }
        number += u32::from(begins);
        for item in all.filter(|&item| end.runs(item)) {
            kept.push(item);
            numbers.push(number - 1);
        }
    }
    (kept, numbers)
}

#[test]
fn minimizers_are_ranked() {
    let Some(gpu) = gpu() else { return };
    let mut memory = room(&gpu);
    let end = ListEnd::new(MARK_TILE);
    let width = 32;
    let arena = &mut memory.allocator();
    let list = end.list();
    let status = end.status(&gpu, arena);
    let from = end.view(&gpu, arena, &list);
    let next = NextList::new(&end, arena);
    let (text, code_table) = text(&gpu, arena);
    let keys: Vec<u64> = list
        .groups
        .iter()
        .map(|&group| u64::from(group) << width | 0xFFFF_FFFF)
        .collect();
    let ranks: Array<u64> = arena.array(TEXT as usize);
    gpu.zero(ranks).unwrap();
    let arguments = MarkRanksArgs {
        keys: address(upload(&gpu, arena, &keys), end.start),
        suffixes: from.suffixes,
        sa_indices: from.sa_indices,
        group_heads: from.group_heads,
        text,
        code_table,
        ranks: ranks.address(),
        to: next.view(&end),
        status: status.address(),
        host_flags: gpu.host_flags(),
        items: MOST_SORTED,
        kind: TEXT_KEYS,
        width,
        tiles: end.tiles.cast_signed(),
        ..Default::default()
    };
    launch(&gpu, "minimizers/mark_ranks", THREADS, &arguments);
    let (kept, groups) = in_groups(&end, &list, true);
    next.check(&gpu, &end, &list, &kept, &groups);
    let heads = read(
        &gpu,
        next.group_heads
            .first(groups[groups.len() - 1] + 1 - end.groups),
    );
    assert!(
        heads.iter().all(|head| head >> 32 == DEPTH + 4),
        "four more symbols are equal"
    );
    let ranks = read(&gpu, ranks);
    let alone = |j: &usize| end.runs(*j) && kept.binary_search(j).is_err();
    let mut ranked = (0..list.groups.len()).filter(alone);
    assert!(ranked.all(|j| ranks[list.suffixes[j] as usize] != 0));
}

#[test]
fn groups_are_refined() {
    let Some(gpu) = gpu() else { return };
    let mut memory = room(&gpu);
    let end = ListEnd::new(REFINE_TILE - 2 * HALO);
    let arena = &mut memory.allocator();
    let list = end.list();
    let status = end.status(&gpu, arena);
    let from = end.view(&gpu, arena, &list);
    let next = NextList::new(&end, arena);
    let (text, code_table) = text(&gpu, arena);
    let sa: Array<u32> = arena.array(TEXT as usize);
    let rows: Array<u8> = arena.array(TEXT as usize);
    let samples: Array<u32> = arena.array(1);
    let out = OutputView {
        sa: sa.address(),
        rows: rows.address(),
        samples: samples.address(),
        host_flags: gpu.host_flags(),
        rate_mask: (1 << 30) - 1,
        log_rate: 30,
        whole_sa: 1,
    };
    let arguments = RefineArgs {
        groups: from.groups,
        suffixes: from.suffixes,
        sa_indices: from.sa_indices,
        group_heads: from.group_heads,
        items: MOST_SORTED,
        // No rounds: every group stays together.
        rounds: 0,
        cta_items: end.tile + 2 * HALO,
        text,
        code_table,
        out,
        to: next.view(&end),
        status: status.address(),
        tiles: end.tiles.cast_signed(),
        ..Default::default()
    };
    launch(&gpu, "refine/refine_text", REFINE_THREADS, &arguments);
    let (kept, groups) = in_groups(&end, &list, false);
    next.check(&gpu, &end, &list, &kept, &groups);
    let heads = read(
        &gpu,
        next.group_heads
            .first(groups[groups.len() - 1] + 1 - end.groups),
    );
    assert!(heads.iter().all(|head| head >> 32 == DEPTH));
}
