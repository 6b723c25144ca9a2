//! `bsp` on GPUs: sorting of one text by accelerated sampling. It is the algorithm of
//! `distributed::accelerated_sampling`, Algorithm 3 of the paper, with its steps in kernels.
//!
//! M. Felice Pace and A. Tiskin, *Parallel suffix array construction by accelerated sampling*,
//! 2013.
//!
//! # As in the paper
//! Each GPU has a part of the string of a level, and of its suffix array. A level has a difference
//! cover of a period v:
//!
//! 1. All suffixes are sorted by their first symbols, and get names (`string_names`). If all names
//!    differ, the suffixes are sorted.
//! 2. The names of the sample suffixes are the string of the next level, with v^(5/4) for v. If
//!    that string is no longer than a part, the first GPU sorts it alone, by the same algorithm.
//!    The resulting ranks go to the GPUs that keep these positions (`item_pairs`).
//! 3. Each GPU sorts its suffixes of each residue modulo v by names and the ranks behind them, and
//!    merges these lists v ways (steps 2 and 4 of the paper; `record_merge`).
//! 4. The sorted suffixes of all GPUs are cut at the first rows of the next one (`record_splits`).
//!    They cross the network with the columns by which they are compared, and are merged.
//!
//! # Different
//! Step 1 here is steps 3 and 1 of the paper at once, for v symbols and as many more as the same
//! words hold. The paper has each set of suffixes of one name merged on the processors that hold
//! its rows. Here all suffixes are merged on the GPUs of their positions (step 3), and once more on
//! the GPUs of their rows (step 4). No set has to be treated as one that spans processors. Strings
//! and suffixes are cut at exact rows, and not by samples. A text has positions of 32 bits.
//!
//! # Figures
//! Two H100 sort novels24, 24 MB, in 43.8 ms, one in 42.3 ms (kernels/README.md); prefix doubling
//! on two takes 9.6 ms, and `default` on one 3.5 ms. Memory of one GPU: 64 bytes per suffix. After
//! two levels about half of the symbols remain, so that two GPUs gain little.

use super::item_pairs::{SampleTables, distribute, fetch_behind};
use super::joint_work::{JointWork, OneGpu, exchanged_at};
use super::level_arrays::{
    LevelArrays, NextArrays, RankArrays, behind, bytes, level_bytes, next_level,
};
use super::record_merge::{RecordList, Records};
use super::sampled_rows::SampledRows;
use super::string_names::{Named, StringArrays, StringShape, byte_symbols};
use crate::base::error::{Error, Result};
use crate::gpu::MOST_SORTED;
use crate::gpu::TextParts;
use crate::gpu::block::byte_counts::count_bytes;
use crate::gpu::distributed::{DeviceExchange, JointSort, KeySplits, OwnPart, PartBytes};
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::primitives::gather::{count_from, take_items};
use crate::gpu::runtime::kernel_structs::RowsView;
use crate::gpu::runtime::tuning::BYTE_COUNT_WORDS;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, measure};
use crate::papers::sampling::{Level, SampledPositions};

/// Maximum number of bits of a text's symbols: 256 bytes, and 0 behind the end.
const BYTE_BITS: u32 = 9;
/// Maximum number of bytes in a part: three columns of ranks are numbered with 32 bits.
const MOST_OF_PART: u64 = 1 << 30;

/// The sort by [`SampledSort`].
#[derive(Debug)]
pub(crate) struct BySampling;

impl JointSort for BySampling {
    fn memory(&self, gpu: &Gpu, parts: TextParts, number: usize) -> Result<usize> {
        measure(|arena| SampledSort::allocate(gpu, arena, parts, number))
    }

    fn run<'m, E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        memory: Array<'m, u8>,
        exchange: &mut E,
        part: OwnPart<'m>,
        left: &mut Vec<u64>,
    ) -> Result<()> {
        let OwnPart { parts, bytes, rows } = part;
        let mut arena = ArenaAllocator::within(memory);
        let sampling = SampledSort::allocate(gpu, &mut arena, parts, exchange.number())?;
        sampling.run(gpu, exchange, bytes, rows, left)
    }
}

/// Buffers of one GPU.
struct SampledSort<'m> {
    cub: Cub<'m>,
    splits: KeySplits<'m>,
    parts: TextParts,
    symbols: Array<'m, u32>,
    sorted: Array<'m, u32>,
    counts: Array<'m, u32>,
    table: Array<'m, u32>,
    /// Memory of the levels of the recursion, and later of the rows.
    memory: Array<'m, u8>,
}

/// A string on the way through a level.
#[derive(Clone, Copy)]
struct LevelText<'m> {
    level: Level,
    parts: TextParts,
    /// Symbols of this GPU's part, and of the strings that reach behind it.
    symbols: Array<'m, u32>,
    bits: u32,
}

impl<'m> SampledSort<'m> {
    fn allocate(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        parts: TextParts,
        number: usize,
    ) -> Result<Self> {
        if parts.len() > MOST_SORTED.into() || parts.size() > MOST_OF_PART {
            let what = format!("{} bytes are too many to sort by sampling", parts.len());
            return Err(Error::Device(what.into()));
        }
        let room = parts.size() as usize + 1;
        let own = parts.part_len(number) as usize;
        let level = Level::first(parts.len() as usize, parts.gpus());
        let levels = level_bytes(level, BYTE_BITS, parts.gpus(), number);
        let rows = bytes(|arena| SampledRows::allocate(arena, parts, number));
        Ok(SampledSort {
            cub: Cub::allocate(gpu, arena, room as u32)?,
            splits: KeySplits::allocate(arena),
            parts,
            symbols: arena.array(own + behind(level) as usize),
            sorted: arena.array(own),
            counts: arena.array(BYTE_COUNT_WORDS as usize),
            table: arena.array(256),
            memory: arena.array(levels.max(rows)),
        })
    }

    /// Sorts, and writes the rows of this GPU. The length of the string of each level that all GPUs
    /// sort is added to `left`.
    fn run<E: DeviceExchange>(
        self,
        gpu: &Gpu,
        exchange: &mut E,
        part: PartBytes<'m>,
        out: RowsView,
        left: &mut Vec<u64>,
    ) -> Result<()> {
        let cub = self.cub;
        let splits = self.splits;
        let parts = self.parts;
        let mut work = JointWork {
            gpu,
            exchange,
            cub,
            splits,
        };
        let bits = self.number_bytes(&mut work, part)?;
        byte_symbols(gpu, part.bytes, part.available, self.table, self.symbols)?;
        let level = Level::first(parts.len() as usize, parts.gpus());
        let text = LevelText {
            level,
            parts,
            symbols: self.symbols,
            bits,
        };
        sort(&mut work, text, self.memory, self.sorted, left)?;
        let rows = SampledRows::allocate(
            &mut ArenaAllocator::within(self.memory),
            parts,
            work.number(),
        );
        rows.write(&mut work, parts, part, self.sorted, out)
    }

    /// Numbers the bytes that occur from 1 on, and returns the bits of a number.
    fn number_bytes<E: DeviceExchange>(
        &self,
        work: &mut JointWork<E>,
        part: PartBytes,
    ) -> Result<u32> {
        let counts = match self.parts.part_len(work.number()) as u32 {
            0 => [0; 256],
            own => count_bytes(work.gpu, part.bytes, own, self.counts)?.bytes,
        };
        let all = work.exchange.all_gather(&counts.map(u64::from))?;
        let mut table = [0; 256];
        let mut number = 0;
        for (byte, item) in table.iter_mut().enumerate() {
            number += u32::from(all.iter().any(|counts| counts[byte] > 0));
            *item = number;
        }
        work.gpu.write(&table, self.table)?;
        Ok(bit_width(number))
    }
}

/// Sorts a level. `sorted` gets this GPU's part of the suffix array.
fn sort<E: DeviceExchange>(
    work: &mut JointWork<E>,
    text: LevelText,
    memory: Array<u8>,
    sorted: Array<u32>,
    left: &mut Vec<u64>,
) -> Result<()> {
    let LevelText {
        level,
        parts,
        symbols,
        bits,
    } = text;
    left.push(parts.len());
    let own = parts.part_len(work.number()) as u32;
    let shape = StringShape::new(bits, level.period as u32);
    fetch_behind(work, parts, symbols, shape.len())?;
    let sample = SampledPositions::new(level.n, level.period);
    let mut arena = ArenaAllocator::within(memory);
    let LevelArrays {
        names,
        ranks,
        tables,
    } = LevelArrays::allocate(&mut arena, parts, &sample);
    let names = names.first(own);
    let memory = arena.rest();
    let strings = StringArrays::allocate(&mut ArenaAllocator::within(memory), shape, parts);
    match strings.name(work, symbols, shape, parts, sorted)? {
        Named::Distinct => return Ok(()),
        Named::Pairs(pairs) => distribute(work, pairs, own, false, parts, names)?,
    }
    let ranks = ranks.first(own + level.period as u32);
    sort_sample(work, &text, tables, names, ranks, memory, left)?;
    let mut arena = ArenaAllocator::within(memory);
    let arrays = RankArrays::allocate(&mut arena, parts, &sample, names, tables.meetings);
    let records = arrays.records.first(own);
    records.fill(
        work.gpu,
        parts.range(work.number()).start as u32,
        ranks,
        tables.elements,
    )?;
    let list = merge_residues(work, &text, records, &arrays)?;
    merge_parts(work, parts, records, list, arrays, sorted)
}

/// Ranks the sample suffixes. `ranks` gets their ranks by position, and 0 at other positions, for
/// this GPU's part and a period behind it.
fn sort_sample<E: DeviceExchange>(
    work: &mut JointWork<E>,
    text: &LevelText,
    tables: SampleTables,
    names: Array<u32>,
    ranks: Array<u32>,
    memory: Array<u8>,
    left: &mut Vec<u64>,
) -> Result<()> {
    let LevelText { level, parts, .. } = *text;
    let gpu = work.gpu;
    let gpus = parts.gpus();
    let n = level.n as u32;
    let sample = SampledPositions::new(level.n, level.period);
    let (next, next_gpus) = next_level(level, gpus, &sample);
    let next_parts = TextParts::new(next.n as u64, gpus);
    let next_len = next_parts.part_len(work.number()) as u32;
    let mut arena = ArenaAllocator::within(memory);
    let NextArrays { symbols, sorted } = NextArrays::allocate(&mut arena, next, next_parts);
    let memory = arena.rest();
    let next_sorted = sorted.first(next_len);
    let pairs = || -> DoubleBuffer<u64> {
        ArenaAllocator::within(memory).double_buffer(parts.size() as usize + 1)
    };
    let mut own = parts.range(work.number());
    let len = (own.end - own.start) as u32;
    // The empty suffix is on the GPU of the last suffix that is not empty.
    own.end += u64::from(own.end == parts.len() && len > 0);
    let sampled = tables.fill(gpu, &sample, own.clone())?;
    tables.names(gpu, n, names, own, pairs().current)?;
    distribute(
        work,
        pairs(),
        sampled,
        true,
        next_parts,
        symbols.first(next_len),
    )?;
    let text = LevelText {
        level: next,
        parts: next_parts,
        symbols,
        bits: bit_width(n + 1),
    };
    if next_gpus == gpus {
        sort(work, text, memory, next_sorted, left)?;
    } else {
        sort_on_first(work, text, memory, next_sorted)?;
    }
    // The empty suffix is the first one of the sample, if it is part of it.
    let first_row = next_parts.range(work.number()).start as u32;
    let skipped = u32::from(first_row == 0 && sample.index(level.n).is_some());
    let ranked = next_sorted.rest(skipped.min(next_len));
    tables.ranks(gpu, n, ranked, first_row + skipped + 1, pairs().current)?;
    distribute(work, pairs(), ranked.len(), false, parts, ranks.first(len))?;
    fetch_behind(work, parts, ranks, level.period as u32)
}

/// Sorts a string on the first GPU, which receives all of it.
fn sort_on_first<E: DeviceExchange>(
    work: &mut JointWork<E>,
    text: LevelText,
    memory: Array<u8>,
    sorted: Array<u32>,
) -> Result<()> {
    let LevelText {
        level,
        parts,
        symbols,
        ..
    } = text;
    let number = work.number();
    let gpus = parts.gpus();
    let all: Vec<u32> = (0..gpus)
        .map(|gpu| parts.part_len(gpu) as u32)
        .collect();
    let mut own = vec![symbols.first(0); gpus];
    own[0] = symbols.first(parts.part_len(number) as u32);
    let mut own_sorted = vec![sorted.first(0); gpus];
    own_sorted[0] = sorted;
    if number > 0 {
        let none = vec![symbols.first(0); gpus];
        work.exchange.all_to_all(work.gpu, &own, &none)?;
        return work
            .exchange
            .all_to_all(work.gpu, &none, &own_sorted);
    }
    let mut arena = ArenaAllocator::within(memory);
    let whole = TextParts::new(parts.len(), 1);
    let arrays = NextArrays::allocate(&mut arena, level, whole);
    work.exchange
        .all_to_all(work.gpu, &own, &arrays.symbols.parts(&all))?;
    let mut alone = JointWork {
        gpu: work.gpu,
        exchange: &mut OneGpu,
        cub: work.cub,
        splits: work.splits,
    };
    let text = LevelText {
        parts: whole,
        symbols: arrays.symbols,
        ..text
    };
    sort(
        &mut alone,
        text,
        arena.rest(),
        arrays.sorted,
        &mut Vec::new(),
    )?;
    work.exchange
        .all_to_all(work.gpu, &arrays.sorted.parts(&all), &own_sorted)
}

/// Sorts the suffixes of this GPU's part.
fn merge_residues<'m, E: DeviceExchange>(
    work: &JointWork<E>,
    text: &LevelText,
    records: Records,
    arrays: &RankArrays<'m>,
) -> Result<RecordList<'m>> {
    let LevelText { level, parts, .. } = *text;
    let gpu = work.gpu;
    let own = parts.range(work.number());
    let len = records.len();
    let mut list = arrays.list;
    list.list = list.list.first_items(len);
    let sample_len = SampledPositions::new(level.n, level.period).len();
    let name_bits = bit_width(level.n as u32 + 1);
    let rank_bits = bit_width(sample_len as u32);
    let keys = arrays.keys.first_items(len);
    records.list_by_residue(gpu, work.cub, keys, &mut list.list, name_bits, rank_bits)?;
    let period = level.period as u64;
    let below = |position: u64, k: u64| (position + period - 1 - k) / period;
    let run = |k| (below(own.end, k) - below(own.start, k)) as u32;
    list.merge(gpu, &records, (0..period).map(run).collect())?;
    Ok(list)
}

/// Gives each GPU the suffixes of its rows, merged.
fn merge_parts<E: DeviceExchange>(
    work: &mut JointWork<E>,
    parts: TextParts,
    records: Records,
    mut list: RecordList,
    arrays: RankArrays,
    sorted: Array<u32>,
) -> Result<()> {
    let gpu = work.gpu;
    let len = records.len();
    let order = list.list.current;
    if work.is_alone() {
        return take_items(gpu, records.positions, order, sorted);
    }
    let before = arrays.splits.find(work, parts, &records, order)?;
    let (sent, received) = exchanged_at(parts, &before, work.number());
    let others = arrays.received.first(len);
    let column = arrays.column.first(len);
    let from = records.columns();
    let to = others.columns();
    // A GPU without items must take part in exchanging the columns of others too.
    for c in 0..2 + arrays.received.elements() as usize {
        let none = column.first(0);
        let from = from.get(c).unwrap_or(&none);
        let to = to.get(c).unwrap_or(&none);
        take_items(gpu, *from, order, column)?;
        work.exchange
            .all_to_all(gpu, &column.parts(&sent), &to.parts(&received))?;
    }
    count_from(gpu, 0, order)?;
    list.merge(gpu, &others, received)?;
    take_items(gpu, others.positions, list.list.current, sorted)
}
