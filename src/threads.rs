//! The threads that compute.

use crate::error::{Error, Result};
use crate::options::Options;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io;
use std::sync::{Arc, PoisonError};

/// The largest block that one thread works on from beginning to end, if it comes alone: to start a pipeline and to hand it
/// around takes longer than what is to be done.
pub(crate) const SMALL: u32 = 64 << 10;

/// A pool of as many threads as the options say. All computing that takes long is done in it, so no more run at a time.
///
/// The options keep it for the next stream: to start threads for each of many small ones takes longer than their compression.
pub(crate) fn pool(options: &Options) -> Result<Arc<ThreadPool>> {
    let threads = options.thread_count();
    let mut kept = options.shared_pool().lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some(pool) if pool.current_num_threads() == threads => Ok(Arc::clone(pool)),
        _ => Ok(Arc::clone(kept.insert(Arc::new(start(threads)?)))),
    }
}

fn start(threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|n| format!("bwz-{n}"))
        .build()
        .map_err(|e| Error::Io(io::Error::other(format!("cannot start threads: {e}"))))
}

/// Does `work` with each item on the threads of `pool`, which begin with the first, and waits for it.
///
/// This is for those who are no thread of the pool. One that waits for a part of its own work takes up whatever else there
/// is to do, such as all of another block, and its own block is then not done before that one is: blocks that are worked on
/// side by side would come to an end at the same time, with nothing left to do for most threads.
pub(crate) fn each<T: Send>(
    pool: &ThreadPool,
    items: impl IntoIterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    let work = &work;
    pool.in_place_scope(|scope| {
        items.into_iter().for_each(|item| scope.spawn(move |_| work(item)));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    #[test]
    fn all_items_are_done_and_begun_in_order() {
        for threads in [1, 4] {
            let pool = pool(&Options::new().threads(threads)).unwrap();
            let done = Mutex::new(Vec::new());
            each(&pool, 0..100, |item| done.lock().unwrap().push(item));
            let mut done = done.into_inner().unwrap();
            if threads > 1 {
                done.sort_unstable();
            }
            assert!(done.into_iter().eq(0..100), "{threads} threads");
        }
    }

    #[test]
    fn clones_of_options_share_their_threads() {
        let options = Options::new().threads(2);
        let first = pool(&options).unwrap();
        let clone = pool(&options.clone()).unwrap();
        let other = pool(&options.threads(3)).unwrap();
        assert!(Arc::ptr_eq(&first, &clone) && !Arc::ptr_eq(&first, &other));
        assert_eq!(other.current_num_threads(), 3);
    }

    #[test]
    fn a_panic_reaches_whoever_waits() {
        let pool = pool(&Options::new().threads(2)).unwrap();
        let work = || each(&pool, 0..9, |item| assert!(item != 5, "on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
    }
}
