//! Names of suffixes by their first symbols. The symbols are strings of words, which are sorted
//! over all GPUs: the host side of `kernels/papers/string_names.cu`.
//!
//! Strings are sorted by radix on each GPU, from their last word to the first. They are cut at the
//! first rows of the next GPU (`KeySplits`), exchanged, and sorted again. This is Algorithm 2 of
//! the paper, with exact splitters instead of samples, so that no GPU gets more than its part.

use super::joint_work::{JointWork, exchanged_at};
use crate::base::error::Result;
use crate::gpu::TextParts;
use crate::gpu::distributed::{Cut, DeviceExchange};
use crate::gpu::primitives::gather::{count_from, take_items};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};

/// Layout of strings of symbols in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StringShape {
    /// Bits of a symbol.
    bits: u32,
    /// Symbols of a word, as many as fit.
    per_word: u32,
    words: u32,
}

impl StringShape {
    /// Creates the shape of strings of at least `period` symbols, and as many more as their words
    /// hold.
    pub(super) fn new(bits: u32, period: u32) -> Self {
        let per_word = u64::BITS / bits;
        StringShape {
            bits,
            per_word,
            words: period.div_ceil(per_word),
        }
    }

    /// Symbols of a string, at most 63 more than the period.
    pub(super) fn len(self) -> u32 {
        self.per_word * self.words
    }
}

/// Buffers, which are free again when the names are known.
#[derive(Debug)]
pub(super) struct StringArrays<'m> {
    columns: Vec<Array<'m, u64>>,
    positions: DoubleBuffer<'m, u32>,
    /// Columns received from all GPUs, if there are several.
    received: Vec<Array<'m, u64>>,
    keys: DoubleBuffer<'m, u64>,
    order: DoubleBuffer<'m, u32>,
    heads: Array<'m, u32>,
    repeated: Array<'m, u32>,
}

/// Strings with their positions, in order.
struct SortedStrings<'m> {
    columns: Vec<Array<'m, u64>>,
    positions: Array<'m, u32>,
    order: Array<'m, u32>,
}

/// Pairs of the position and the name of each row. If all names differ, there are none, and the
/// positions in order are returned instead.
pub(super) enum Named<'m> {
    Pairs(DoubleBuffer<'m, u64>),
    Distinct,
}

impl<'m> StringArrays<'m> {
    /// Allocates buffers for strings of one word or more in a part.
    pub(super) fn allocate(
        arena: &mut ArenaAllocator<'m>,
        shape: StringShape,
        parts: TextParts,
    ) -> Self {
        let room = parts.size() as usize + 1;
        let mut columns = || {
            (0..shape.words)
                .map(|_| arena.array(room))
                .collect::<Vec<_>>()
        };
        let own = columns();
        let received = if parts.gpus() > 1 {
            columns()
        } else {
            Vec::new()
        };
        StringArrays {
            columns: own,
            positions: arena.double_buffer(room),
            received,
            keys: arena.double_buffer(room),
            order: arena.double_buffer(room),
            heads: arena.array(room),
            repeated: arena.array(1),
        }
    }

    /// Names all suffixes of a text by their first symbols. This GPU has the symbols of its part,
    /// and as many behind them as a string has. If all names differ, `sorted` gets its part of the
    /// suffix array.
    pub(super) fn name<E: DeviceExchange>(
        mut self,
        work: &mut JointWork<E>,
        symbols: Array<u32>,
        shape: StringShape,
        parts: TextParts,
        sorted: Array<u32>,
    ) -> Result<Named<'m>> {
        let gpu = work.gpu;
        let own = parts.part_len(work.number()) as u32;
        for (word, column) in self.columns.iter_mut().enumerate() {
            *column = column.first(own);
            string_word(gpu, symbols, word as u32 * shape.per_word, shape, *column)?;
        }
        self.received
            .iter_mut()
            .for_each(|column| *column = column.first(own));
        self.positions = self.positions.first_items(own);
        count_from(
            gpu,
            parts.range(work.number()).start as u32,
            self.positions.current,
        )?;
        let bits = shape.bits * shape.per_word;
        let mut strings = self.sort(work, self.columns.clone(), self.positions.current, bits)?;
        if !work.is_alone() {
            self.exchange(work, &strings, parts, bits)?;
            let received = self.received.clone();
            strings = self.sort(work, received, self.positions.current, bits)?;
        }
        let is_repeated = self.name_rows(work, &strings, parts)?;
        let all = work.exchange.all_gather(&[is_repeated.into()])?;
        if all.iter().any(|words| words[0] == 1) {
            return Ok(Named::Pairs(self.keys));
        }
        take_items(gpu, strings.positions, strings.order, sorted)?;
        Ok(Named::Distinct)
    }

    /// Sorts strings by radix.
    fn sort<E: DeviceExchange>(
        &mut self,
        work: &JointWork<E>,
        columns: Vec<Array<'m, u64>>,
        positions: Array<'m, u32>,
        bits: u32,
    ) -> Result<SortedStrings<'m>> {
        let len = positions.len();
        let mut keys = self.keys.first_items(len);
        let mut order = self.order.first_items(len);
        count_from(work.gpu, 0, order.current)?;
        for &column in columns.iter().rev() {
            take_items(work.gpu, column, order.current, keys.current)?;
            work.cub
                .sort_pairs(work.gpu, &mut keys, &mut order, 0..bits)?;
        }
        Ok(SortedStrings {
            columns,
            positions,
            order: order.current,
        })
    }

    /// Gives each GPU the strings of its rows, with their positions.
    fn exchange<E: DeviceExchange>(
        &mut self,
        work: &mut JointWork<E>,
        strings: &SortedStrings<'m>,
        parts: TextParts,
        bits: u32,
    ) -> Result<()> {
        let gpu = work.gpu;
        let len = strings.order.len();
        let in_order = self.keys.current.first(len);
        for &column in &strings.columns {
            take_items(gpu, column, strings.order, in_order)?;
            gpu.copy(in_order, column)?;
        }
        take_items(
            gpu,
            strings.positions,
            strings.order,
            self.positions.alternate,
        )?;
        let borders = (1..parts.gpus()).map(|gpu| parts.range(gpu).start);
        let borders = borders.filter(|&border| border < parts.len());
        let cuts = borders
            .map(|wanted| Cut {
                range: 0..len,
                wanted,
            })
            .collect();
        let before = work
            .splits
            .find(gpu, work.exchange, &strings.columns, bits, cuts)?;
        let (sent, received) = exchanged_at(parts, &before, work.number());
        for (from, to) in strings.columns.iter().zip(&self.received) {
            work.exchange
                .all_to_all(gpu, &from.parts(&sent), &to.parts(&received))?;
        }
        let DoubleBuffer { current, alternate } = self.positions;
        work.exchange
            .all_to_all(gpu, &alternate.parts(&sent), &current.parts(&received))
    }

    /// Makes the pairs of this GPU's rows. Returns true if a string occurs twice among them, or
    /// also on an earlier GPU.
    fn name_rows<E: DeviceExchange>(
        &self,
        work: &mut JointWork<E>,
        strings: &SortedStrings,
        parts: TextParts,
    ) -> Result<bool> {
        let gpu = work.gpu;
        let order = strings.order;
        let number = work.number();
        let len = order.len();
        let heads = self.heads.first(len);
        gpu.zero(heads)?;
        for &column in &strings.columns {
            mark_changes(gpu, column, order, heads)?;
        }
        let goes_on = !work.is_alone() && goes_on(work, strings)?;
        if goes_on {
            gpu.zero(heads.first(1))?;
        }
        if len > 0 {
            work.cub.inclusive_max(gpu, heads)?;
        }
        let mut open_name = 0;
        if !work.is_alone() {
            let last = if len > 0 {
                gpu.read(heads.part(len - 1..len))?[0]
            } else {
                0
            };
            let all = work.exchange.all_gather(&[last.into()])?;
            let last_head = (0..number).rev().find(|&gpu| all[gpu][0] > 0);
            let name = |gpu: usize| parts.range(gpu).start + all[gpu][0] + 1;
            open_name = last_head.map_or(0, |gpu| name(gpu) as u32);
        }
        gpu.zero(self.repeated)?;
        let first_row = parts.range(number).start as u32;
        let pairs = self.keys.current;
        name_rows(
            gpu,
            strings,
            heads,
            first_row,
            open_name,
            pairs,
            self.repeated,
        )?;
        Ok(gpu.read(self.repeated)?[0] == 1)
    }
}

/// Returns true if the first string here equals the last one of the GPU before.
fn goes_on<E: DeviceExchange>(work: &mut JointWork<E>, strings: &SortedStrings) -> Result<bool> {
    let gpu = work.gpu;
    let len = strings.order.len();
    let mut words = Vec::new();
    for row in if len > 0 {
        vec![0, len - 1]
    } else {
        Vec::new()
    } {
        let at = gpu.read(strings.order.part(row..row + 1))?[0];
        for column in &strings.columns {
            words.extend(gpu.read(column.part(at..at + 1))?);
        }
    }
    let count = strings.columns.len();
    words.resize(2 * count, 0);
    let all = work.exchange.all_gather(&words)?;
    let number = work.number();
    Ok(len > 0 && number > 0 && all[number][..count] == all[number - 1][count..])
}

/// Translates bytes: symbol i is the number of byte i in `table`, and 0 behind the `available`
/// bytes.
#[allow(unsafe_code)]
pub(super) fn byte_symbols(
    gpu: &Gpu,
    bytes: Array<u8>,
    available: u32,
    table: Array<u32>,
    symbols: Array<u32>,
) -> Result<()> {
    assert!(bytes.size() >= available as usize && table.len() == 256);
    let items = symbols.len();
    let arguments = arguments![bytes, available, table, items, symbols];
    // SAFETY: there are `available` bytes, `items` symbols, and an item of the table for each byte.
    unsafe { gpu.each("string_names/byte_symbols", items, arguments) }
}

/// Makes one word of each string, from the symbol `from` of it on.
#[allow(unsafe_code)]
fn string_word(
    gpu: &Gpu,
    symbols: Array<u32>,
    from: u32,
    shape: StringShape,
    words: Array<u64>,
) -> Result<()> {
    let items = words.len();
    assert!(symbols.size() >= 4 * (items as usize + shape.len() as usize));
    let StringShape { per_word, bits, .. } = shape;
    let arguments = arguments![symbols, from, per_word, bits, items, words];
    // SAFETY: there are `items` words, and symbols for a whole string behind the last one.
    unsafe { gpu.each("string_names/string_words", items, arguments) }
}

/// Marks the rows whose string differs in this word from that of the row before.
#[allow(unsafe_code)]
fn mark_changes(gpu: &Gpu, words: Array<u64>, order: Array<u32>, heads: Array<u32>) -> Result<()> {
    let len = order.len();
    assert!([words.len(), heads.len()] == [len; 2]);
    // SAFETY: all three have `len` items, and the order is one of them.
    unsafe {
        gpu.each(
            "string_names/mark_changes",
            len,
            arguments![words, order, len, heads],
        )
    }
}

/// Makes the pairs of all rows, and sets `repeated` if a string occurs twice. `first_row` is the
/// first row here, and `open_name` the name of the rows without a head here.
#[allow(unsafe_code)]
fn name_rows(
    gpu: &Gpu,
    strings: &SortedStrings,
    heads: Array<u32>,
    first_row: u32,
    open_name: u32,
    pairs: Array<u64>,
    repeated: Array<u32>,
) -> Result<()> {
    let len = heads.len();
    let &SortedStrings {
        positions, order, ..
    } = strings;
    assert!([positions.len(), order.len()] == [len; 2] && pairs.len() >= len);
    let arguments = arguments![
        heads, positions, order, len, first_row, open_name, pairs, repeated
    ];
    // SAFETY: all have `len` items, and the order is one of them.
    unsafe { gpu.each("string_names/name_rows", len, arguments) }
}
