//! Exchange between GPUs of one process that copy from each other's memory.
//!
//! Several of them may be streams of one GPU, as in tests on a machine that has only one. Each has
//! a thread of its own. Words go over a board in the host's memory. The receiver copies an array
//! from the address that is on the board.

use super::device_exchange::DeviceExchange;
use crate::base::error::{Error, Result};
use crate::gpu::interface::Transferred;
use crate::gpu::peers::Peers;
use crate::gpu::runtime::{Array, Gpu};
use cudarc::driver::{ValidAsZeroBits, sys};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Board on which the GPUs of one process leave words for each other.
#[derive(Debug)]
pub(crate) struct PeerBoard {
    posts: Vec<Post>,
    /// True if all GPUs can read each other's memory directly.
    all_read: bool,
}

/// The words of one GPU.
#[derive(Debug, Default)]
struct Post {
    /// Number of times that the GPU has left words.
    times: AtomicU64,
    /// The last words and those before. They are read until all GPUs have left their next ones.
    words: [Mutex<Vec<u64>>; 2],
}

impl PeerBoard {
    /// Creates a board for `count` GPUs, which use it for one sort. `all_read` is true if they can
    /// read each other's memory directly.
    pub(crate) fn new(count: usize, all_read: bool) -> Self {
        PeerBoard {
            posts: (0..count).map(|_| Post::default()).collect(),
            all_read,
        }
    }
}

/// One GPU of a process.
#[derive(Debug)]
pub(crate) struct PeerExchange<'p> {
    number: usize,
    board: &'p PeerBoard,
    peers: &'p Peers,
    times: u64,
    transferred: Transferred,
}

impl<'p> PeerExchange<'p> {
    /// Creates GPU `number` of the board. If one of the `peers` fails, the others learn it.
    pub(crate) fn new(number: usize, board: &'p PeerBoard, peers: &'p Peers) -> Self {
        let transferred = Transferred::default();
        PeerExchange {
            number,
            board,
            peers,
            times: 0,
            transferred,
        }
    }
}

impl DeviceExchange for PeerExchange<'_> {
    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.board.posts.len()
    }

    fn all_gather(&mut self, words: &[u64]) -> Result<Vec<Vec<u64>>> {
        let posts = &self.board.posts;
        let side = (self.times % 2) as usize;
        self.times += 1;
        let own = &posts[self.number];
        *own.words[side]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = words.to_vec();
        own.times.store(self.times, Ordering::Release);
        let is_there = |post: &Post| post.times.load(Ordering::Acquire) >= self.times;
        self.peers
            .wait(|| Ok(posts.iter().all(is_there)))?;
        let words = |post: &Post| {
            post.words[side]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        };
        Ok(posts.iter().map(words).collect())
    }

    #[allow(unsafe_code)]
    fn all_to_all<T: ValidAsZeroBits>(
        &mut self,
        gpu: &Gpu,
        sent: &[Array<T>],
        received: &[Array<T>],
    ) -> Result<()> {
        // The arrays must be complete when their addresses are on the board.
        gpu.wait()?;
        let start = Instant::now();
        let place = |array: &Array<T>| [array.address(), array.size() as u64];
        let mut words = vec![gpu.context().cu_ctx() as u64];
        words.extend(sent.iter().flat_map(place));
        let all = self.all_gather(&words)?;
        let copied_from = Instant::now();
        // Each GPU begins with itself and goes on with the next, so that two rarely read from the
        // same GPU at a time.
        let before = 0..self.number;
        let behind = self.number..self.count();
        for from in behind.chain(before) {
            let words = &all[from];
            let to = &received[from];
            let place = &words[1 + 2 * self.number..][..2];
            let context = (!self.board.all_read).then_some(words[0] as sys::CUcontext);
            if place[1] != to.size() as u64 {
                return Err(Error::Device("GPUs disagree on what they exchange".into()));
            }
            // SAFETY: both arrays have the size `place[1]`. That of the other GPU, whose context is
            // given or whose memory this one reads, lives and is not written until all GPUs have
            // come to the words below.
            unsafe { gpu.copy_from_peer(place[0], context, *to)? };
        }
        gpu.wait()?;
        self.transferred.copying += copied_from.elapsed();
        self.all_gather(&[])?;
        let to_others = sent
            .iter()
            .enumerate()
            .filter(|(q, _)| *q != self.number);
        self.transferred.bytes += to_others
            .map(|(_, array)| array.size() as u64)
            .sum::<u64>();
        self.transferred.time += start.elapsed();
        Ok(())
    }

    fn transferred(&self) -> Transferred {
        self.transferred
    }
}
