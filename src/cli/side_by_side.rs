//! Small work on several threads, beside those that search.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::{iter, thread};

/// What the stack of such a thread takes of a limited address space.
const STACK: usize = 128 << 10;

/// Works on items on this thread and up to `threads - 1` others, which take them in turn; what
/// comes of them is in their order. Where no more threads can be had, there are fewer.
pub fn side_by_side<T: Send, R: Send>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items = Mutex::new(items.enumerate());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || iter::from_fn(next).map(|(number, item)| (number, work(item))).collect();
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let thread = || thread::Builder::new().name("bwz-patterns".into()).stack_size(STACK);
        let others = (1..threads).map_while(|_| thread().spawn_scoped(scope, take).ok());
        let others: Vec<_> = others.collect();
        let mut done: Vec<_> = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        for threads in [1, 2, 7] {
            let squares = side_by_side(threads, 0..1000_u64, |n| n * n);
            assert!(squares.into_iter().eq((0..1000).map(|n| n * n)), "{threads} threads");
        }
    }
}
