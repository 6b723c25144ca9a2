//! Arrays of a level of accelerated sampling, and the bytes that a level takes with those below it.

use super::item_pairs::SampleTables;
use super::record_merge::{RecordList, Records};
use super::record_splits::RecordSplits;
use super::string_names::{StringArrays, StringShape};
use crate::gpu::TextParts;
use crate::gpu::primitives::cub::bit_width;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer};
use crate::papers::sampling::{Level, SampledPositions};

/// Maximum number of symbols that a string has beside its period.
const LONGER: u32 = 63;

/// Arrays that a level keeps while those below it sort.
pub(super) struct LevelArrays<'m> {
    pub names: Array<'m, u32>,
    pub ranks: Array<'m, u32>,
    pub tables: SampleTables<'m>,
}

/// The string of the next level, and its suffix array.
#[derive(Clone, Copy)]
pub(super) struct NextArrays<'m> {
    pub symbols: Array<'m, u32>,
    pub sorted: Array<'m, u32>,
}

/// Arrays for sorting by the ranks of the sample.
pub(super) struct RankArrays<'m> {
    pub records: Records<'m>,
    pub keys: DoubleBuffer<'m, u64>,
    pub list: RecordList<'m>,
    /// Records received from all GPUs, if there are several.
    pub received: Records<'m>,
    /// A column on the way to other GPUs.
    pub column: Array<'m, u32>,
    pub splits: RecordSplits<'m>,
}

/// Number of symbols behind a part that strings of this level may reach.
pub(super) fn behind(level: Level) -> u32 {
    level.period as u32 + LONGER
}

/// Bytes that arrays take.
pub(super) fn bytes<T>(allocate: impl FnOnce(&mut ArenaAllocator<'static>) -> T) -> usize {
    let mut arena = ArenaAllocator::measuring();
    allocate(&mut arena);
    arena.used()
}

/// Returns the level below, and the number of GPUs that sort it: `gpus`, or one if it is short
/// enough.
pub(super) fn next_level(level: Level, gpus: usize, sample: &SampledPositions) -> (Level, usize) {
    let next = level.next(sample.len());
    if next.is_sorted_alone() {
        (Level::alone(next.n), 1)
    } else {
        (next, gpus)
    }
}

/// Bytes that a level and those below it take.
pub(super) fn level_bytes(level: Level, bits: u32, gpus: usize, number: usize) -> usize {
    let parts = TextParts::new(level.n as u64, gpus);
    let sample = SampledPositions::new(level.n, level.period);
    let own = bytes(|arena| LevelArrays::allocate(arena, parts, &sample));
    let shape = StringShape::new(bits, level.period as u32);
    let strings = bytes(|arena| StringArrays::allocate(arena, shape, parts));
    if level.n < level.period {
        // All strings differ, so there is no level below.
        return own + strings;
    }
    let (next, next_gpus) = next_level(level, gpus, &sample);
    let name_bits = bit_width(level.n as u32 + 1);
    let none = Array::none();
    let ranks = bytes(|arena| RankArrays::allocate(arena, parts, &sample, none, none));
    let next_parts = TextParts::new(next.n as u64, gpus);
    let string = bytes(|arena| NextArrays::allocate(arena, next, next_parts));
    let pairs = bytes(|arena| arena.double_buffer::<u64>(parts.size() as usize + 1));
    let below = if next_gpus == gpus {
        level_bytes(next, name_bits, gpus, number)
    } else if number == 0 {
        let whole = TextParts::new(next.n as u64, 1);
        let string = bytes(|arena| NextArrays::allocate(arena, next, whole));
        string + level_bytes(next, name_bits, 1, 0)
    } else {
        0
    };
    own + strings.max(ranks).max(string + pairs.max(below))
}

impl<'m> LevelArrays<'m> {
    pub(super) fn allocate(
        arena: &mut ArenaAllocator<'m>,
        parts: TextParts,
        sample: &SampledPositions,
    ) -> Self {
        let room = parts.size() as usize;
        LevelArrays {
            names: arena.array(room),
            ranks: arena.array(room + sample.cover().period()),
            tables: SampleTables::allocate(arena, sample),
        }
    }
}

impl<'m> NextArrays<'m> {
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, level: Level, parts: TextParts) -> Self {
        let room = parts.size() as usize;
        let symbols = arena.array(room + behind(level) as usize);
        NextArrays {
            symbols,
            sorted: arena.array(room),
        }
    }
}

impl<'m> RankArrays<'m> {
    pub(super) fn allocate(
        arena: &mut ArenaAllocator<'m>,
        parts: TextParts,
        sample: &SampledPositions,
        names: Array<'m, u32>,
        meetings: Array<'m, u32>,
    ) -> Self {
        let room = parts.size() as usize;
        let size = sample.cover().elements().len();
        let others = if parts.gpus() > 1 { room } else { 0 };
        let received = arena.array(others);
        RankArrays {
            records: Records::allocate(arena, room, size, names, meetings),
            keys: arena.double_buffer(room),
            list: RecordList::allocate(arena, room),
            received: Records::allocate(arena, others, size, received, meetings),
            column: arena.array(others),
            splits: RecordSplits::allocate(arena, parts.gpus(), size),
        }
    }
}
