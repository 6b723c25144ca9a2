//! Block distribution: which processor holds which items of an array, and how items come to the
//! processors that hold them.

use super::exchange::Exchange;
use super::processor::Processor;
use crate::error::Result;
use std::ops::Range;

/// How n items lie on p processors: n / p on each, rounded up, and fewer or none on the last ones.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    n: usize,
    size: usize,
}

impl Blocks {
    /// The distribution of n items over so many processors.
    #[must_use]
    pub fn new(n: usize, processors: usize) -> Self {
        Blocks { n, size: n.div_ceil(processors).max(1) }
    }

    /// The number of items.
    pub(super) fn len(self) -> usize {
        self.n
    }

    /// The processor that holds an item.
    #[must_use]
    pub fn owner(self, item: usize) -> usize {
        item / self.size
    }

    /// The items of a processor.
    #[must_use]
    pub fn range(self, processor: usize) -> Range<usize> {
        (processor * self.size).min(self.n)..((processor + 1) * self.size).min(self.n)
    }
}

/// A processor's block of an array, and some items behind it; 0 stands for what is behind the end.
#[derive(Clone, Debug)]
pub struct BlockPart {
    start: usize,
    items: Vec<u64>,
}

impl BlockPart {
    /// An item by its place in the whole array.
    pub fn get(&self, item: usize) -> u64 {
        self.items[item - self.start]
    }

    /// The items of a range in the whole array.
    pub fn slice(&self, range: Range<usize>) -> &[u64] {
        &self.items[range.start - self.start..range.end - self.start]
    }
}

/// Adds the first `behind` items of the next processor to a block, or of several where they have
/// fewer. One superstep.
pub async fn with_items_behind<E: Exchange>(
    processor: &mut Processor<E>,
    blocks: Blocks,
    mut items: Vec<u64>,
    behind: usize,
) -> Result<BlockPart> {
    let own = blocks.range(processor.number());
    let mut messages = processor.messages();
    for (other, message) in messages.iter_mut().enumerate().take(processor.number()) {
        let end = blocks.range(other).end;
        let wanted = own.start.max(end)..own.end.min(end + behind);
        if !wanted.is_empty() {
            message.extend(&items[wanted.start - own.start..wanted.end - own.start]);
        }
    }
    let received = processor.all_to_all(messages).await?;
    received.iter().for_each(|message| items.extend(message));
    items.resize(own.len() + behind, 0);
    Ok(BlockPart { start: own.start, items })
}

/// Gives each item its value, wherever the pair of both is: the values of this processor's items,
/// and 0 for those without one. One superstep.
pub async fn distribute<E: Exchange>(
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
    for pair in received.iter().flat_map(|message| message.chunks_exact(2)) {
        items[pair[0] as usize - own.start] = pair[1];
    }
    Ok(items)
}
