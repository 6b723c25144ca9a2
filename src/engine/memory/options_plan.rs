//! The plan that follows from a caller's options.

use super::{Allowance, Plan};
use crate::base::error::{Bound, Error, Result};
use crate::options::{Options, level_block_size};

impl Options {
    /// The threads and the memory to use.
    pub(crate) fn allowance(&self) -> Allowance {
        let space = self.run.space;
        let thread_space = self.run.thread_space;
        let mut allowed = Allowance::new(self.threads, self.memory, space, thread_space)
            .with_threads_for_memory();
        (allowed.narrow, allowed.checks) = (self.run.narrow, self.verify);
        allowed
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.allowance().threads
    }

    pub(crate) fn memory_limit(&self) -> u64 {
        self.allowance().memory
    }

    /// The size of the largest block that can be encoded in the memory.
    pub(crate) fn largest_block(&self) -> u64 {
        Plan::largest_block(self.allowance(), self.effort.into(), self.index)
    }

    /// The plan by which blocks of `raw_size` bytes are decoded.
    ///
    /// # Errors
    /// [`Error::Limit`] if not even one block fits, or if the block is so large that the caller
    /// must set the memory.
    pub(crate) fn plan_to_decode(&self, raw_size: u64) -> Result<Plan> {
        self.plan(raw_size, Plan::to_decode)
    }

    /// The plan for decoding blocks of `raw_size` bytes that are then searched by their BWT.
    ///
    /// # Errors
    /// As for [`Options::plan_to_decode`].
    pub(crate) fn plan_to_index(&self, raw_size: u64) -> Result<Plan> {
        self.plan(raw_size, Plan::to_index)
    }

    fn plan(&self, raw_size: u64, plan: impl Fn(u64, Allowance) -> Result<Plan>) -> Result<Plan> {
        let unasked = self.block_size.max(level_block_size(9));
        if raw_size <= unasked || self.memory_asked {
            return plan(raw_size, self.allowance());
        }
        let what = format!(
            "a block of {raw_size} bytes (above {unasked}, decoded only if a memory limit is given)"
        );
        let threads = self.thread_count();
        let needed = Plan::needed_to_decode(raw_size, threads);
        let allowed = Plan::needed_to_decode(unasked, threads);
        Err(Error::Limit {
            what: what.into(),
            needed,
            allowed,
            by: Bound::Memory,
        })
    }
}
