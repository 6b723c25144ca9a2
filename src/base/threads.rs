//! The threads that compute, a pool or the caller's own; and copies by several threads.

use crate::base::tasks::Executor;
use crossbeam_channel::{Receiver, Sender, bounded};
use rayon::ThreadPool;
use std::convert::Infallible;
use std::io;
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

/// Maximum size in bytes of a lone block that the calling thread works on by itself: starting other
/// threads would take longer.
pub(crate) const SMALL: u64 = 64 << 10;

/// The threads that compute.
#[derive(Clone)]
pub(crate) enum Threads {
    Calling,
    Pool(Arc<ThreadPool>),
}

impl Threads {
    pub(crate) fn count(&self) -> usize {
        match self {
            Threads::Calling => 1,
            Threads::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Does `work` on one of the threads; its parallel parts use all of them.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Threads::Calling => work(),
            Threads::Pool(pool) => pool.install(work),
        }
    }

    /// Keeps `count` threads of a pool from computing until all senders of `until` are dropped.
    pub(crate) fn rest(&self, count: usize, until: &Receiver<Infallible>) {
        if let Threads::Pool(pool) = self {
            for until in iter::repeat_n(until.clone(), count) {
                pool.spawn(move || _ = until.recv());
            }
        }
    }

    /// The executor that uses these threads. Only a thread outside a pool may use it, see
    /// [`Executor::other_pool`].
    pub(crate) fn executor(&self) -> Executor<'_> {
        match self {
            Threads::Calling => Executor::CALLING,
            Threads::Pool(pool) => Executor::other_pool(pool),
        }
    }

    /// Does `work` with each item by [`Threads::executor`], beginning with the first item.
    pub(crate) fn each<T: Send>(
        &self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) + Sync,
    ) {
        self.executor().each(items, work);
    }

    /// Does `work` with each item as [`Threads::each`] does; the results are in the items' order.
    pub(crate) fn map<T: Send, R: Send>(
        &self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        self.executor().map(items, work)
    }
}

/// The one job of a thread that [`job_thread`] starts.
pub(crate) type Job<'s> = Box<dyn FnOnce() + Send + 's>;

/// Starts a thread of `scope` that does the job it is sent.
pub(crate) fn job_thread<'s>(scope: &'s Scope<'s, '_>, name: &str) -> io::Result<Sender<Job<'s>>> {
    started(|| {
        let (sender, jobs) = bounded::<Job>(1);
        let thread = thread::Builder::new().name(name.into());
        thread.spawn_scoped(scope, move || jobs.into_iter().for_each(|job| job()))?;
        Ok(sender)
    })
}

/// Starts a thread by `start`. If the system refuses, this tries again for a second: a thread that
/// has been waited for takes up its place in the system for a moment longer.
pub(crate) fn started<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const PAUSES: [u64; 4] = [10, 90, 400, 500];
    for pause in PAUSES {
        if let Ok(thread) = start() {
            return Ok(thread);
        }
        thread::sleep(Duration::from_millis(pause));
    }
    start()
}

/// Copies bytes. For 1 GiB or more it uses up to `threads` threads (at most 8). The caller must not
/// be a thread of a pool. Most of the time goes into memory that is touched for the first time.
pub(crate) fn copy(to: &mut [u8], from: &[u8], threads: usize) {
    const LARGE: usize = 1 << 30;
    const PIECE: usize = 16 << 20;
    match to.len() < LARGE {
        true => to.copy_from_slice(from),
        false => copy_in_pieces(to, from, PIECE, threads.min(8)),
    }
}

/// Copies a portion of a very large block, by up to `threads` threads (at most 8), on the same
/// terms.
pub(crate) fn copy_portion(to: &mut [u8], from: &[u8], threads: usize) {
    copy_in_pieces(to, from, PORTION_PIECE, threads.min(8));
}

/// Returns true if both portions of a very large block have the same bytes, on the same terms.
pub(crate) fn are_equal(one: &[u8], other: &[u8], threads: usize) -> bool {
    let differ = AtomicBool::new(one.len() != other.len());
    let pieces = one
        .chunks(PORTION_PIECE)
        .zip(other.chunks(PORTION_PIECE));
    in_turn(pieces, threads.min(8), |(one, other)| {
        if one != other {
            differ.store(true, Ordering::Relaxed);
        }
    });
    !differ.into_inner()
}

/// Bytes that a thread takes of a portion at a time.
const PORTION_PIECE: usize = 4 << 20;

fn copy_in_pieces(to: &mut [u8], from: &[u8], size: usize, threads: usize) {
    assert_eq!(to.len(), from.len(), "room for what is copied");
    let pieces = to.chunks_mut(size).zip(from.chunks(size));
    in_turn(pieces, threads, |(to, from)| to.copy_from_slice(from));
}

/// Does `work` with each piece, on up to `threads` threads, which take them in turn.
pub(crate) fn in_turn<T>(
    pieces: impl Iterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) + Sync,
) {
    let pieces = Mutex::new(pieces);
    let next = || {
        pieces
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next()
    };
    let work = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, the other threads do its share.
            if thread::Builder::new()
                .spawn_scoped(scope, work)
                .is_err()
            {
                break;
            }
        }
        work();
    });
}

/// The ranges of `size` bytes that make up `len` bytes; the last may be shorter.
pub(crate) fn stretches(len: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len)
        .step_by(size)
        .map(move |start| start..len.min(start + size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pieces_are_copied() {
        for (len, size, threads) in [
            (0, 5, 1),
            (99, 10, 1),
            (99, 10, 4),
            (100, 10, 20),
            (7, 9, 3),
        ] {
            let from: Vec<u8> = (0..len).collect();
            let mut to = vec![0xEE; from.len()];
            copy_in_pieces(&mut to, &from, size, threads);
            assert_eq!(to, from);
            copy(&mut to, &vec![3; from.len()], threads);
            assert!(to.iter().all(|&byte| byte == 3));
        }
    }

    #[test]
    fn one_other_byte_is_found() {
        let one = vec![7; 2 * PORTION_PIECE + 5];
        for threads in [1, 3] {
            assert!(are_equal(&one, &one.clone(), threads));
            assert!(!are_equal(&one, &one[1..], threads));
            for at in [0, PORTION_PIECE, one.len() - 1] {
                let mut other = one.clone();
                other[at] = 8;
                assert!(!are_equal(&one, &other, threads));
            }
        }
    }
}
