//! The circumstances of one run, which are no choice of how to compress: who listens, which other
//! processes help, how large the input is, what the system leaves to this process.
//!
//! None of them changes a byte of the file. The setters are those of
//! [`Options`](super::Options), so that a caller has one place for all.

use super::events::Listener;
use crate::base::positions::NarrowLimits;
use crate::base::system_limits::{self, Space};
use crate::gpu::process_ranks::Ranks;

/// The circumstances of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub listener: Listener,
    /// The other ranks that help to sort, if there are any.
    pub ranks: Option<Ranks>,
    /// Size of the input in bytes, or 0 if unknown.
    pub input_size: u64,
    /// True if the first block is written before others are begun.
    pub first_block_alone: bool,
    /// The limit of the system on the memory of this process, if it has one.
    pub space: Option<Space>,
    /// Address space that each thread takes besides what it computes with, in bytes.
    pub thread_space: u64,
    /// Largest blocks whose positions have 32 bits. Only tests change it.
    pub narrow: NarrowLimits,
}

impl Run {
    /// The circumstances of this process, with nobody who listens or helps.
    pub(crate) fn new() -> Self {
        Run {
            listener: Listener::default(),
            ranks: None,
            input_size: 0,
            first_block_alone: false,
            space: Space::of_process(),
            thread_space: system_limits::THREAD_SPACE,
            narrow: NarrowLimits::USUAL,
        }
    }
}
