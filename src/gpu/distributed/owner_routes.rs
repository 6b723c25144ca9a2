//! Routes of ranks between GPUs: a GPU asks for ranks at the GPUs that keep them, and tells them
//! new ones. This is the host side of `kernels/distributed/owner_routes.cu`.
//!
//! Suffixes are taken in batches, so that the buffers have room even if all GPUs ask the same one.

use super::device_exchange::DeviceExchange;
use crate::base::error::Result;
use crate::gpu::primitives::gather::take_items;
use crate::gpu::runtime::kernel_structs::RouteView;
use crate::gpu::runtime::tuning::{MOST_PROCESSORS, THREADS};
use crate::gpu::runtime::{Arena, ArenaAllocator, Array, Gpu, arguments};
use crate::gpu::text_parts::TextParts;
use std::ops::Range;

/// Bytes per suffix on the GPU that asks or tells: its slot, a position and a rank.
const OUTGOING: usize = 16;
/// Bytes per suffix on the GPU that answers or receives: a position and a rank.
const INCOMING: usize = 12;

/// Ranks of suffixes. Each GPU keeps those of its part of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnerRoutes<'m> {
    parts: TextParts,
    /// A rank for each position of this GPU's part.
    ranks: Array<'m, u64>,
    cursors: Array<'m, u32>,
}

/// Buffers of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteBuffers<'m> {
    batch: u32,
    slots: Array<'m, u32>,
    positions: Array<'m, u32>,
    words: Array<'m, u64>,
    incoming_positions: Array<'m, u32>,
    incoming_words: Array<'m, u64>,
}

/// Ranks of a list while they are being made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadRanks<'m> {
    /// Row at which each suffix's group begins here.
    pub heads: Array<'m, u32>,
    /// A bit for each row: whether the group that begins there keeps its rank.
    pub kept: Array<'m, u32>,
    /// First row of this GPU.
    pub first_row: u64,
    /// Row and rank of a group that begins on an earlier GPU.
    pub open: Option<(u32, u64)>,
}

/// A list of suffixes whose ranks are requested or sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutedList<'m> {
    pub suffixes: Array<'m, u64>,
    /// Number of suffixes in the longest list of a GPU.
    pub longest: u64,
}

/// Position that each suffix of a batch asks for, or tells about.
enum Target<'m> {
    /// The position this many symbols behind it, and behind the symbols of its first key.
    Behind(u64),
    /// Its own position, unless its group keeps its rank. The groups are given by their heads and
    /// by the bits of those that keep it.
    Own {
        heads: Array<'m, u32>,
        kept: Array<'m, u32>,
    },
}

/// Number of items of a batch that go to each GPU, and that come from each.
struct BatchLens {
    sent: Vec<u32>,
    received: Vec<u32>,
}

impl<'m> RouteBuffers<'m> {
    /// Creates buffers for `gpus` GPUs, in the memory of two arrays.
    pub(crate) fn within(outgoing: Array<'m, u8>, incoming: Array<'m, u8>, gpus: usize) -> Self {
        let room = |array: Array<u8>, each: usize| (array.size() - 3 * Arena::ALIGNMENT) / each;
        let batch = room(outgoing, OUTGOING).min(room(incoming, INCOMING * gpus));
        let mut arena = ArenaAllocator::within(outgoing);
        let slots = arena.array(batch);
        let positions = arena.array(batch);
        let words = arena.array(batch);
        let mut arena = ArenaAllocator::within(incoming);
        RouteBuffers {
            batch: batch as u32,
            slots,
            positions,
            words,
            incoming_positions: arena.array(batch * gpus),
            incoming_words: arena.array(batch * gpus),
        }
    }

    /// Divides a list into batches, as many as the longest list of a GPU needs. The last batches of
    /// a shorter list are empty.
    fn batches(&self, list: RoutedList) -> impl Iterator<Item = Range<u32>> + use<> {
        let RoutedList { suffixes, longest } = list;
        let len = suffixes.len();
        let batch = u64::from(self.batch);
        let border = move |n: u64| (n * batch).min(len.into()) as u32;
        (0..longest.div_ceil(batch)).map(move |n| border(n)..border(n + 1))
    }
}

impl<'m> OwnerRoutes<'m> {
    pub(crate) fn allocate(arena: &mut ArenaAllocator<'m>, parts: TextParts, gpu: usize) -> Self {
        let cursors = arena.array(MOST_PROCESSORS as usize);
        OwnerRoutes {
            parts,
            ranks: arena.array(parts.part_len(gpu) as usize),
            cursors,
        }
    }

    /// Array with a value for each position of this GPU's part, to be filled.
    pub(crate) fn ranks(&self) -> Array<'m, u64> {
        self.ranks
    }

    /// Asks for ranks. For each suffix of a list, `keys` gets the rank of the suffix `behind`
    /// symbols behind the whole symbols of its first key, and 0 if that is the empty suffix.
    #[allow(unsafe_code)]
    pub(crate) fn ask<E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        exchange: &mut E,
        list: RoutedList,
        behind: u64,
        keys: Array<u64>,
        buffers: &RouteBuffers,
    ) -> Result<()> {
        for batch in buffers.batches(list) {
            let suffixes = list.suffixes.part(batch.clone());
            let keys = keys.part(batch);
            let lens = self.route(gpu, exchange, suffixes, Target::Behind(behind), buffers)?;
            let asked = lens.incoming(buffers.incoming_positions);
            let items = suffixes.len();
            exchange.all_to_all(gpu, &buffers.positions.parts(&lens.sent), &asked)?;
            let incoming: u32 = lens.received.iter().sum();
            let positions = buffers.incoming_positions.first(incoming);
            take_items(gpu, self.ranks, positions, buffers.incoming_words)?;
            let answers = lens.incoming(buffers.incoming_words);
            exchange.all_to_all(gpu, &answers, &buffers.words.parts(&lens.sent))?;
            let arguments = arguments![buffers.words, buffers.slots, items, keys];
            // SAFETY: `keys` and the slots have `items` items, and the words one for each slot.
            unsafe { gpu.each("owner_routes/take_answers", items, arguments)? };
        }
        Ok(())
    }

    /// Tells the new ranks of the suffixes of a list to the GPUs that keep them.
    #[allow(unsafe_code)]
    pub(crate) fn tell<E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        exchange: &mut E,
        list: RoutedList,
        ranks: HeadRanks,
        buffers: &RouteBuffers,
    ) -> Result<()> {
        assert!(ranks.heads.len() >= list.suffixes.len());
        assert!(32 * u64::from(ranks.kept.len()) >= u64::from(self.ranks.len()));
        let (open_row, open_rank) = ranks.open.unwrap_or((u32::MAX, 0));
        for batch in buffers.batches(list) {
            let suffixes = list.suffixes.part(batch.clone());
            let heads = ranks.heads.part(batch);
            let target = Target::Own {
                heads,
                kept: ranks.kept,
            };
            let lens = self.route(gpu, exchange, suffixes, target, buffers)?;
            let items = suffixes.len();
            let first = ranks.first_row;
            let slots = buffers.slots;
            let arguments = arguments![
                heads,
                slots,
                items,
                first,
                open_row,
                open_rank,
                buffers.words
            ];
            // SAFETY: heads and slots have `items` items, and the words one for each slot.
            unsafe { gpu.each("owner_routes/place_ranks", items, arguments)? };
            let positions = lens.incoming(buffers.incoming_positions);
            let ranks = lens.incoming(buffers.incoming_words);
            exchange.all_to_all(gpu, &buffers.positions.parts(&lens.sent), &positions)?;
            exchange.all_to_all(gpu, &buffers.words.parts(&lens.sent), &ranks)?;
            let incoming: u32 = lens.received.iter().sum();
            let positions = buffers.incoming_positions;
            let words = buffers.incoming_words;
            let arguments = arguments![positions, words, incoming, self.ranks];
            // SAFETY: both buffers have `incoming` items, and the positions are of this part.
            unsafe { gpu.each("owner_routes/store_ranks", incoming, arguments)? };
        }
        Ok(())
    }

    /// Gives each suffix of a batch a slot, those of one owner together, with the position that it
    /// asks for or tells about.
    #[allow(unsafe_code)]
    fn route<E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        exchange: &mut E,
        suffixes: Array<u64>,
        target: Target,
        buffers: &RouteBuffers,
    ) -> Result<BatchLens> {
        let items = suffixes.len();
        let (behind, by_depth, heads, kept) = match target {
            Target::Behind(behind) => (behind, 1, 0, 0),
            Target::Own { heads, kept } => (0, 0, heads.address(), kept.address()),
        };
        assert!(items <= buffers.batch && exchange.count() <= MOST_PROCESSORS as usize);
        let view = RouteView {
            suffixes: suffixes.address(),
            heads,
            kept,
            cursors: self.cursors.address(),
            slots: buffers.slots.address(),
            positions: buffers.positions.address(),
            text_size: self.parts.len(),
            part_size: self.parts.size(),
            behind,
            by_depth,
            items,
        };
        let ctas = items.div_ceil(THREADS);
        let cursors = self.cursors.first(exchange.count() as u32);
        gpu.zero(self.cursors)?;
        // SAFETY: there are `items` suffixes, heads, slots and positions, a cursor for each GPU,
        // and a bit of `kept` for each row.
        unsafe { gpu.launch_struct("owner_routes/count_owners", ctas, THREADS, &view)? };
        let sent = gpu.read(cursors)?;
        let words: Vec<u64> = sent.iter().copied().map(u64::from).collect();
        let all = exchange.all_gather(&words)?;
        let starts = sent.iter().scan(0, |end, len| {
            let start = *end;
            *end += len;
            Some(start)
        });
        gpu.write(&starts.collect::<Vec<u32>>(), cursors)?;
        // SAFETY: as above.
        unsafe { gpu.launch_struct("owner_routes/fill_slots", ctas, THREADS, &view)? };
        let received = all
            .iter()
            .map(|words| words[exchange.number()] as u32)
            .collect();
        Ok(BatchLens { sent, received })
    }
}

impl BatchLens {
    /// Parts of an array that receives the items of each GPU.
    fn incoming<'m, T>(&self, array: Array<'m, T>) -> Vec<Array<'m, T>> {
        array.parts(&self.received)
    }
}
