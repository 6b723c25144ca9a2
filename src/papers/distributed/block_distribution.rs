//! Block distribution of the items of an array over processors, and the way of items to the
//! processors that hold them.

use super::exchange::Exchange;
use super::processor::Processor;
use crate::base::error::Result;
use std::ops::Range;

/// Distribution of n items over p processors: n / p on each, rounded up, and fewer or none on the
/// last ones.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    n: usize,
    size: usize,
}

impl Blocks {
    /// Creates the distribution of n items over `processors` processors.
    #[must_use]
    pub fn new(n: usize, processors: usize) -> Self {
        Blocks {
            n,
            size: n.div_ceil(processors).max(1),
        }
    }

    /// Number of items.
    pub(super) fn len(self) -> usize {
        self.n
    }

    /// Returns the processor that holds an item.
    #[must_use]
    pub fn owner(self, item: usize) -> usize {
        item / self.size
    }

    /// Returns the items of a processor.
    #[must_use]
    pub fn range(self, processor: usize) -> Range<usize> {
        (processor * self.size).min(self.n)..((processor + 1) * self.size).min(self.n)
    }
}

/// A processor's block of an array, and some items behind it. Behind the end of the array, items
/// are 0.
#[derive(Clone, Debug)]
pub(super) struct BlockPart {
    start: usize,
    items: Vec<u64>,
}

impl BlockPart {
    /// Returns an item by its index in the whole array.
    pub(super) fn get(&self, item: usize) -> u64 {
        self.items[item - self.start]
    }

    /// Returns the items of a range in the whole array.
    pub(super) fn slice(&self, range: Range<usize>) -> &[u64] {
        &self.items[range.start - self.start..range.end - self.start]
    }
}

/// Adds to a block the first `behind` items after it, which the next processor holds, or several if
/// they have fewer. One superstep.
pub(super) async fn with_items_behind<E: Exchange>(
    processor: &mut Processor<E>,
    blocks: Blocks,
    mut items: Vec<u64>,
    behind: usize,
) -> Result<BlockPart> {
    let own = blocks.range(processor.number());
    let mut messages = processor.messages();
    for (other, message) in messages
        .iter_mut()
        .enumerate()
        .take(processor.number())
    {
        let end = blocks.range(other).end;
        let wanted = own.start.max(end)..own.end.min(end + behind);
        if !wanted.is_empty() {
            message.extend(&items[wanted.start - own.start..wanted.end - own.start]);
        }
    }
    let received = processor.all_to_all(messages).await?;
    received
        .iter()
        .for_each(|message| items.extend(message));
    items.resize(own.len() + behind, 0);
    Ok(BlockPart {
        start: own.start,
        items,
    })
}

/// Gives each item its value, from whichever processor has their pair. Returns the values of this
/// processor's items, and 0 for items without a pair. One superstep.
pub(super) async fn distribute<E: Exchange>(
    processor: &mut Processor<E>,
    blocks: Blocks,
    values: impl Iterator<Item = (usize, u64)>,
) -> Result<Vec<u64>> {
    let mut messages = processor.messages();
    for (item, value) in values {
        messages[blocks.owner(item)].extend([item as u64, value]);
    }
    let received = processor.all_to_all(messages).await?;
    let own = blocks.range(processor.number());
    let mut items = vec![0; own.len()];
    for pair in received
        .iter()
        .flat_map(|message| message.chunks_exact(2))
    {
        items[pair[0] as usize - own.start] = pair[1];
    }
    Ok(items)
}
