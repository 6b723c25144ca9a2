//! Values of items on their way to the GPUs that keep the items, and items that the next GPUs keep:
//! the host side of `kernels/distributed/item_pairs.cu`.
//!
//! A pair is a word: the number of the item, and its value below. Sorted pairs are those of each
//! GPU one behind the other.

use super::device_exchange::DeviceExchange;
use super::joint_work::JointWork;
use crate::error::Result;
use crate::gpu::primitives::cub::bit_width;
use crate::gpu::runtime::kernel_structs::{SampleView, SampledPairsArgs};
use crate::gpu::runtime::tuning::THREADS;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};
use crate::gpu::text_parts::TextParts;
use crate::sampling::SampledPositions;
use std::ops::Range;

/// Gives each item of this GPU's part its value, wherever the pair of both is; 0 to those without
/// one. Both buffers have room for all items of a part, and for the pairs, which are the first
/// `len` ones.
pub fn distribute<E: DeviceExchange>(
    work: &mut JointWork<E>,
    pairs: DoubleBuffer<u64>,
    (len, is_sorted): (u32, bool),
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
        work.cub.sort_keys(work.gpu, &mut sorted, 32..32 + bit_width(parts.len() as u32))?;
    }
    let borders = (1..parts.gpus()).map(|gpu| parts.range(gpu).start << 32).collect();
    let borders = work.splits.count_below(work.gpu, sorted.current, borders)?;
    let ends = borders.iter().copied().chain([len.into()]);
    let starts = [0].into_iter().chain(borders.iter().copied());
    let sent: Vec<u64> = starts.zip(ends).map(|(start, end)| end - start).collect();
    let all = work.exchange.all_gather(&sent)?;
    let received: Vec<u32> = all.iter().map(|sent| sent[work.number()] as u32).collect();
    let is_first = sorted.current.address() == pairs.current.address();
    let incoming = if is_first { pairs.alternate } else { pairs.current };
    let incoming = incoming.first(received.iter().sum());
    let sent: Vec<u32> = sent.into_iter().map(|len| len as u32).collect();
    work.exchange.all_to_all(work.gpu, &sorted.current.parts(&sent), &incoming.parts(&received))?;
    store_pairs(work.gpu, incoming, first, items)
}

/// The numbers of all pairs are items.
#[allow(unsafe_code)]
fn store_pairs(gpu: &Gpu, pairs: Array<u64>, first: u32, items: Array<u32>) -> Result<()> {
    let len = pairs.len();
    // SAFETY: `items` has the items of this GPU, which those of the pairs are.
    unsafe { gpu.each("item_pairs/store_pairs", len, arguments![pairs, len, first, items]) }
}

/// Adds the items behind a GPU's part, which later ones keep, and zeros behind the last of all.
pub fn fetch_behind<E: DeviceExchange>(
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
    // What `from` keeps of what `to` wants, among the items of this GPU.
    let wanted = |from: usize, to: usize| {
        let (kept, end) = (parts.range(from), parts.range(to).end);
        let start = kept.start.max(end);
        let end = kept.end.min(end + u64::from(behind)).max(start);
        if start == end { items.first(0) } else { items.part(among(&own, start..end)) }
    };
    let (number, gpus) = (work.number(), 0..parts.gpus());
    let sent: Vec<_> = gpus.clone().map(|to| wanted(number, to)).collect();
    let received: Vec<_> = gpus.map(|from| wanted(from, number)).collect();
    work.exchange.all_to_all(work.gpu, &sent, &received)
}

/// A range, counted from the first item of another one.
fn among(own: &Range<u64>, range: Range<u64>) -> Range<u32> {
    (range.start - own.start) as u32..(range.end - own.start) as u32
}

/// The sampled positions in device memory, and what suffixes are compared by.
#[derive(Clone, Copy, Debug)]
pub struct SampleTables<'m> {
    pub elements: Array<'m, u32>,
    /// Of each difference of residues, the elements that two suffixes come to.
    pub meetings: Array<'m, u32>,
    columns: Array<'m, u32>,
    starts: Array<'m, u32>,
    shifts: Array<'m, u32>,
}

impl<'m> SampleTables<'m> {
    pub fn allocate(arena: &mut ArenaAllocator<'m>, sample: &SampledPositions) -> Self {
        let (size, period) = (sample.cover().elements().len(), sample.cover().period());
        SampleTables {
            elements: arena.array(size),
            meetings: arena.array(period),
            columns: arena.array(period),
            starts: arena.array(size),
            shifts: arena.array(size),
        }
    }

    /// Fills them, given the positions of which this GPU has the names; and gives how many of those
    /// are sampled.
    pub fn fill(&self, gpu: &Gpu, sample: &SampledPositions, own: Range<u64>) -> Result<u32> {
        let (cover, period) = (sample.cover(), sample.cover().period() as u64);
        let words = |items: &[usize]| items.iter().map(|&item| item as u32).collect::<Vec<_>>();
        let residues = 0..cover.period();
        let columns = residues.clone().map(|k| cover.column(k).map_or(u32::MAX, |c| c as u32));
        let meetings = residues.map(|k| {
            let [column, other] = cover.meeting(k, 0);
            column as u32 | (other as u32) << 16
        });
        let start = |&element: &usize| sample.index(element).expect("elements are sampled");
        let starts: Vec<usize> = cover.elements().iter().map(start).collect();
        let (mut shifts, mut sampled) = (Vec::new(), 0);
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

    /// Pairs of an index and a name for the sampled ones of the positions that the tables were
    /// filled for, in order. The text has n symbols.
    #[allow(unsafe_code)]
    pub fn names(
        &self,
        gpu: &Gpu,
        n: u32,
        names: Array<u32>,
        own: Range<u64>,
        pairs: Array<u64>,
    ) -> Result<()> {
        assert!(u64::from(names.len()) == own.end.min(n.into()) - own.start);
        let items = (own.end - own.start) as u32;
        let arguments = self.arguments(n, names, (own.start as u32, items), pairs);
        let ctas = items.div_ceil(THREADS);
        // SAFETY: there is a name for each of these positions but the one behind the text, and the
        // tables put each sampled one of them at a place of its own among the pairs.
        unsafe { gpu.launch_struct("item_pairs/sampled_names", ctas, THREADS, &arguments) }
    }

    /// Pairs of a position and a rank for sorted sample suffixes, of which the first one has
    /// `first_rank`.
    #[allow(unsafe_code)]
    pub fn ranks(
        &self,
        gpu: &Gpu,
        n: u32,
        (sorted, first_rank): (Array<u32>, u32),
        pairs: Array<u64>,
    ) -> Result<()> {
        let items = sorted.len();
        assert!(pairs.len() >= items);
        let arguments = self.arguments(n, sorted, (first_rank, items), pairs);
        let ctas = items.div_ceil(THREADS);
        // SAFETY: both have so many items, and what is sorted are indices of the sample.
        unsafe { gpu.launch_struct("item_pairs/sampled_ranks", ctas, THREADS, &arguments) }
    }

    fn arguments(
        &self,
        n: u32,
        values: Array<u32>,
        (first, items): (u32, u32),
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
        let (values, pairs) = (values.address(), pairs.address());
        SampledPairsArgs { sample, values, pairs, first, items }
    }
}
