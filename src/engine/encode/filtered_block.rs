//! A block after its filters, and the form in which its transform will be coded.

use crate::base::allocation;
use crate::base::error::{Flaw, Result};
use crate::coder::{Coding, SliceLimits};
use crate::filter::sequence::{self, Contribution};
use crate::filter::{Filtered, Step};
use crate::options::Options;

/// A block after its filters. Its text is kept in case the block must be stored.
pub(crate) struct FilteredBlock {
    pub filtered: Filtered,
    /// Its contribution to the index of a stream of sequences.
    pub sequences: Option<(sequence::Kind, Contribution)>,
    pub place: BlockPlace,
    pub raw_size: usize,
    pub checksum: u32,
    /// Line feeds in the raw bytes.
    pub line_feeds: u64,
}

impl FilteredBlock {
    pub(crate) fn copy(&self) -> Result<Self> {
        let copied = |bytes: &[u8]| allocation::copied(bytes).ok_or(Flaw::NO_MEMORY);
        let copied_step = |step: &Step| {
            Ok(Step {
                side: copied(&step.side)?,
                ..*step
            })
        };
        let Filtered { text, steps } = &self.filtered;
        let filtered = Filtered {
            text: copied(text)?,
            steps: steps
                .iter()
                .map(copied_step)
                .collect::<Result<_, Flaw>>()?,
        };
        Ok(FilteredBlock {
            filtered,
            sequences: self.sequences.clone(),
            ..*self
        })
    }
}

/// Position of a block in the stream, and whether it is the only one.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlace {
    pub number: u64,
    pub offset: u64,
    pub alone: bool,
}

/// Coding of a block's BWT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockForm {
    pub coding: Coding,
    pub limits: SliceLimits,
    pub indexed: bool,
    /// True if a block that compresses well keeps fewer samples than its sort gives.
    pub spares_samples: bool,
}

impl BlockForm {
    /// Creates the form of the blocks that these options ask for.
    pub(crate) fn new(options: &Options) -> Self {
        let indexed = options.index.is_some();
        let limits = match indexed {
            true => SliceLimits::searched(),
            false => SliceLimits::new(options.block_size() as usize, options.effort),
        };
        BlockForm {
            coding: options.effort.into(),
            limits,
            indexed,
            spares_samples: options.spares_samples,
        }
    }
}
