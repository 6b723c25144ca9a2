//! Values of items on their way to the GPUs that keep the items, and items that the next GPUs keep:
//! the host side of `kernels/papers/item_pairs.cu`.
//!
//! A pair is a word. Its upper half is the number of the item, its lower half the value. In sorted
//! pairs, those for each GPU follow each other.

use super::joint_work::JointWork;
use crate::base::error::Result;
use crate::gpu::TextParts;
use crate::gpu::distributed::DeviceExchange;
use crate::gpu::primitives::cub::bit_width;
use crate::gpu::runtime::kernel_structs::{SampleView, SampledPairsArgs};
use crate::gpu::runtime::tuning::THREADS;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};
use crate::papers::sampling::SampledPositions;
use std::ops::Range;

/// Gives each item of this GPU's part its value, from whichever GPU has their pair. Items without a
/// pair get 0. The pairs of this GPU are the first `len` ones. Both buffers have room for them, and
/// for all items of a part.
pub(super) fn distribute<E: DeviceExchange>(
    work: &mut JointWork<E>,
    pairs: DoubleBuffer<u64>,
    len: u32,
    is_sorted: bool,
    parts: TextParts,
    items: Array<u32>,
) -> Result<()> {
    let range = parts.range(work.number());
    assert!(u64::from(items.len()) == range.end - range.start);
    let first = range.start as u32;
    work.gpu.zero(items)?;
    if work.is_alone() {
        return store_pairs(work.gpu, pairs.current.first(len), first, items);
    }
    let mut sorted = pairs.first_items(len);
    if !is_sorted {
        work.cub.sort_keys(
            work.gpu,
            &mut sorted,
            32..32 + bit_width(parts.len() as u32),
        )?;
    }
    let borders = (1..parts.gpus())
        .map(|gpu| parts.range(gpu).start << 32)
        .collect();
    let borders = work
        .splits
        .count_below(work.gpu, sorted.current, borders)?;
    let ends = borders.iter().copied().chain([len.into()]);
    let starts = [0].into_iter().chain(borders.iter().copied());
    let sent: Vec<u64> = starts
        .zip(ends)
        .map(|(start, end)| end - start)
        .collect();
    let all = work.exchange.all_gather(&sent)?;
    let received: Vec<u32> = all
        .iter()
        .map(|sent| sent[work.number()] as u32)
        .collect();
    let is_first = sorted.current.address() == pairs.current.address();
    let incoming = if is_first {
        pairs.alternate
    } else {
        pairs.current
    };
    let incoming = incoming.first(received.iter().sum());
    let sent: Vec<u32> = sent.into_iter().map(|len| len as u32).collect();
    work.exchange.all_to_all(
        work.gpu,
        &sorted.current.parts(&sent),
        &incoming.parts(&received),
    )?;
    store_pairs(work.gpu, incoming, first, items)
}

/// Stores the values of pairs. The numbers of all pairs must be those of items here.
#[allow(unsafe_code)]
fn store_pairs(gpu: &Gpu, pairs: Array<u64>, first: u32, items: Array<u32>) -> Result<()> {
    let len = pairs.len();
    // SAFETY: `items` has the items of this GPU, and the pairs have the numbers of such items.
    unsafe {
        gpu.each(
            "item_pairs/store_pairs",
            len,
            arguments![pairs, len, first, items],
        )
    }
}

/// Adds the `behind` items behind a GPU's part, which later GPUs keep, and zeros behind the last
/// item of all.
pub(super) fn fetch_behind<E: DeviceExchange>(
    work: &mut JointWork<E>,
    parts: TextParts,
    items: Array<u32>,
    behind: u32,
) -> Result<()> {
    let own = parts.range(work.number());
    let len = (own.end - own.start) as u32;
    work.gpu.zero(items.part(len..len + behind))?;
    if work.is_alone() {
        return Ok(());
    }
    // The items that `from` keeps and `to` wants, among the items of this GPU.
    let wanted = |from: usize, to: usize| {
        let kept = parts.range(from);
        let end = parts.range(to).end;
        let start = kept.start.max(end);
        let end = kept.end.min(end + u64::from(behind)).max(start);
        if start == end {
            items.first(0)
        } else {
            items.part(among(&own, start..end))
        }
    };
    let number = work.number();
    let gpus = 0..parts.gpus();
    let sent: Vec<_> = gpus
        .clone()
        .map(|to| wanted(number, to))
        .collect();
    let received: Vec<_> = gpus.map(|from| wanted(from, number)).collect();
    work.exchange
        .all_to_all(work.gpu, &sent, &received)
}

/// Returns a range, counted from the first item of another one.
fn among(own: &Range<u64>, range: Range<u64>) -> Range<u32> {
    (range.start - own.start) as u32..(range.end - own.start) as u32
}

/// Sampled positions in device memory, and the tables by which suffixes are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleTables<'m> {
    pub elements: Array<'m, u32>,
    /// For each difference of residues, the elements at which two suffixes meet.
    pub meetings: Array<'m, u32>,
    columns: Array<'m, u32>,
    starts: Array<'m, u32>,
    shifts: Array<'m, u32>,
}

impl<'m> SampleTables<'m> {
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, sample: &SampledPositions) -> Self {
        let size = sample.cover().elements().len();
        let period = sample.cover().period();
        SampleTables {
            elements: arena.array(size),
            meetings: arena.array(period),
            columns: arena.array(period),
            starts: arena.array(size),
            shifts: arena.array(size),
        }
    }

    /// Fills the tables for the positions `own`, whose names this GPU has. Returns the number of
    /// those that are sampled.
    pub(super) fn fill(
        &self,
        gpu: &Gpu,
        sample: &SampledPositions,
        own: Range<u64>,
    ) -> Result<u32> {
        let cover = sample.cover();
        let period = sample.cover().period() as u64;
        let words = |items: &[usize]| {
            items
                .iter()
                .map(|&item| item as u32)
                .collect::<Vec<_>>()
        };
        let residues = 0..cover.period();
        let columns = residues
            .clone()
            .map(|k| cover.column(k).map_or(u32::MAX, |c| c as u32));
        let meetings = residues.map(|k| {
            let [column, other] = cover.meeting(k, 0);
            column as u32 | (other as u32) << 16
        });
        let start = |&element: &usize| {
            sample
                .index(element)
                .expect("elements are sampled")
        };
        let starts: Vec<usize> = cover.elements().iter().map(start).collect();
        let mut shifts = Vec::new();
        let mut sampled = 0;
        for (&element, &start) in cover.elements().iter().zip(&starts) {
            let ahead = (element as u64 + period - own.start % period) % period;
            let first = own.start + ahead;
            shifts.push((start as u32 + (first / period) as u32).wrapping_sub(sampled));
            sampled += own.end.saturating_sub(first).div_ceil(period) as u32;
        }
        gpu.write(&words(cover.elements()), self.elements)?;
        gpu.write(&meetings.collect::<Vec<_>>(), self.meetings)?;
        gpu.write(&columns.collect::<Vec<_>>(), self.columns)?;
        gpu.write(&words(&starts), self.starts)?;
        gpu.write(&shifts, self.shifts)?;
        Ok(sampled)
    }

    /// Makes pairs of an index and a name for the sampled ones of the positions that the tables
    /// were filled for, in order. The text has n symbols.
    #[allow(unsafe_code)]
    pub(super) fn names(
        &self,
        gpu: &Gpu,
        n: u32,
        names: Array<u32>,
        own: Range<u64>,
        pairs: Array<u64>,
    ) -> Result<()> {
        assert!(u64::from(names.len()) == own.end.min(n.into()) - own.start);
        let items = (own.end - own.start) as u32;
        let arguments = self.arguments(n, names, own.start as u32, items, pairs);
        let ctas = items.div_ceil(THREADS);
        // SAFETY: there is a name for each of these positions but the one behind the text, and the
        // tables give each sampled one of them a pair of its own.
        unsafe { gpu.launch_struct("item_pairs/sampled_names", ctas, THREADS, &arguments) }
    }

    /// Makes pairs of a position and a rank for sorted sample suffixes. The first one has the rank
    /// `first_rank`.
    #[allow(unsafe_code)]
    pub(super) fn ranks(
        &self,
        gpu: &Gpu,
        n: u32,
        sorted: Array<u32>,
        first_rank: u32,
        pairs: Array<u64>,
    ) -> Result<()> {
        let items = sorted.len();
        assert!(pairs.len() >= items);
        let arguments = self.arguments(n, sorted, first_rank, items, pairs);
        let ctas = items.div_ceil(THREADS);
        // SAFETY: both arrays have `items` items, and `sorted` holds indices of the sample.
        unsafe { gpu.launch_struct("item_pairs/sampled_ranks", ctas, THREADS, &arguments) }
    }

    fn arguments(
        &self,
        n: u32,
        values: Array<u32>,
        first: u32,
        items: u32,
        pairs: Array<u64>,
    ) -> SampledPairsArgs {
        let sample = SampleView {
            elements: self.elements.address(),
            columns: self.columns.address(),
            starts: self.starts.address(),
            shifts: self.shifts.address(),
            period: self.columns.len(),
            size: self.elements.len(),
            n,
        };
        let values = values.address();
        let pairs = pairs.address();
        SampledPairsArgs {
            sample,
            values,
            pairs,
            first,
            items,
        }
    }
}
