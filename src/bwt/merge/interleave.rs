//! The interleave of the rows of A and B: the ranks of A's suffixes in B, by tasks of rows of B.
//!
//! A table of counts by row would be as large as B, and each rank would read and write it at
//! random. In place of that, 16 bits of a rank are logged beside other ranks of its task. This is a
//! write to one of a few hundred places, and each task counts its own ranks in the cache.

use crate::base::allocation;
use crate::base::positions::Row;

/// Rows of B that are merged in one task.
pub(super) const TASK: usize = if cfg!(any(test, fuzzing)) {
    64
} else {
    1 << 16
};

/// Ranks of one task that are stored together.
const CHUNK: usize = if cfg!(any(test, fuzzing)) { 8 } else { 512 };

/// The ranks that one thread has found, by task and otherwise unordered.
#[derive(Debug)]
pub(super) struct InterleaveLog<R> {
    /// Chunks, each of one task.
    ranks: Vec<u16>,
    /// The task of each chunk.
    tasks: Vec<u32>,
    /// For each task, the index of its next rank. If that is a multiple of [`CHUNK`], a new chunk
    /// is needed.
    ends: Vec<R>,
    is_short: bool,
}

impl<R: Row> InterleaveLog<R> {
    /// Creates a log for about `expected` ranks among `rows` rows and the place behind them. If
    /// there are more, they are moved to a larger one, so it has some room to spare.
    pub(super) fn new(expected: usize, rows: usize) -> Self {
        let tasks = rows / TASK + 1;
        let ranks = allocation::with_capacity(expected + expected / 16 + tasks * CHUNK);
        InterleaveLog {
            is_short: ranks.is_none(),
            ranks: ranks.unwrap_or_default(),
            tasks: Vec::new(),
            ends: vec![R::default(); tasks],
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, rank: R) {
        let task = rank.get() / TASK;
        let mut end = self.ends[task].get();
        if end.is_multiple_of(CHUNK) {
            end = self.chunk(task);
        }
        if let Some(place) = self.ranks.get_mut(end) {
            *place = (rank.get() % TASK) as u16;
        }
        self.ends[task] = R::new(end + 1);
    }

    /// The start of a new chunk for a task.
    #[cold]
    #[inline(never)]
    fn chunk(&mut self, task: usize) -> usize {
        let start = self.ranks.len();
        if self.ranks.capacity() - start < CHUNK && !self.is_short {
            self.is_short = allocation::reserve(&mut self.ranks, start / 4 + CHUNK).is_none();
        }
        if !self.is_short {
            self.ranks.resize(start + CHUNK, 0);
            self.tasks.push(task as u32);
        }
        start
    }

    /// True if there was memory for all ranks.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_short
    }
}

/// The ranks of each task from some logs, relative to the task's first row.
pub(super) fn by_task<R: Row>(logs: &[InterleaveLog<R>]) -> Vec<Vec<&[u16]>> {
    let mut all = vec![Vec::new(); logs.first().map_or(0, |log| log.ends.len())];
    for log in logs {
        for ((chunk, ranks), &task) in log
            .ranks
            .chunks(CHUNK)
            .enumerate()
            .zip(&log.tasks)
        {
            let end = log.ends[task as usize].get();
            // All chunks of a task are full, except the one in which its ranks end.
            let used = if end.div_ceil(CHUNK) == chunk + 1 {
                end - chunk * CHUNK
            } else {
                CHUNK
            };
            all[task as usize].push(&ranks[..used]);
        }
    }
    all
}
