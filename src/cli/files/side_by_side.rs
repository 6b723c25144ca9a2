//! Small work on several threads, beside the threads that search.

use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{iter, thread};

/// Bytes of the stack of a thread for small work, which count in a limited address space.
const STACK: usize = 128 << 10;

/// Threads that work on items, the calling one included.
#[derive(Clone, Copy)]
pub(crate) struct Workers {
    pub count: usize,
    /// The name of the others.
    pub name: &'static str,
    /// Bytes of the stack of each of them.
    pub stack: usize,
}

impl Workers {
    /// Threads that read patterns or print lines.
    pub(crate) fn on_patterns(count: usize) -> Self {
        Workers {
            count,
            name: "bwz-patterns",
            stack: STACK,
        }
    }
}

/// Works on items on this thread and up to `threads - 1` others, which take them in turn. The
/// results are in the order of the items. If fewer threads can be started, fewer are used.
pub(crate) fn side_by_side<T: Send, R: Send>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items = Mutex::new(items.enumerate());
    let next = || lock(&items).next();
    let take = || -> Vec<(usize, R)> {
        iter::from_fn(next)
            .map(|(number, item)| (number, work(item)))
            .collect()
    };
    let mut done: Vec<_> = on_threads(Workers::on_patterns(threads), take)
        .into_iter()
        .flatten()
        .collect();
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter()
        .map(|(_, result)| result)
        .collect()
}

/// Works on items as [`side_by_side`] does. `take` gets the results in the order of the items, each
/// as soon as it is ready, on one thread at a time, until `take` fails. A thread that is ahead
/// waits, so there are never more results than threads.
pub(crate) fn in_turn<T: Send, R, E: Send>(
    workers: Workers,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
    take: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E> {
    let items = Mutex::new(items.enumerate());
    let turns = Turns {
        now: Mutex::new(Turn {
            number: 0,
            end: None,
            take,
        }),
        next: Condvar::new(),
    };
    let next = || lock(&items).next();
    on_threads(workers, || {
        let _ending = EndOnPanic(&turns);
        while let Some((number, item)) = next() {
            let result = work(item);
            let is_early = |turn: &mut Turn<_, _>| turn.end.is_none() && turn.number < number;
            let turn = turns.next.wait_while(lock(&turns.now), is_early);
            let mut turn = turn.unwrap_or_else(PoisonError::into_inner);
            if turn.end.is_some() {
                return;
            }
            let taken = (turn.take)(result);
            turn.number += 1;
            turn.end = taken.err().map(Some);
            drop(turn);
            turns.next.notify_all();
        }
    });
    let turn = turns
        .now
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    turn.end.flatten().map_or(Ok(()), Err)
}

/// The item whose turn it is, and the signal that tells the waiting threads.
struct Turns<F, E> {
    now: Mutex<Turn<F, E>>,
    next: Condvar,
}

struct Turn<F, E> {
    number: usize,
    /// Set if there are no more turns, with the error that ended them. The error is `None` if a
    /// thread panicked.
    end: Option<Option<E>>,
    take: F,
}

/// Ends the turns if a thread panics, since the other threads would wait for it.
struct EndOnPanic<'t, F, E>(&'t Turns<F, E>);

impl<F, E> Drop for EndOnPanic<'_, F, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.now).end.get_or_insert(None);
            self.0.next.notify_all();
        }
    }
}

/// Does `work` on this thread and on up to `workers.count - 1` others.
fn on_threads<R: Send>(workers: Workers, work: impl Fn() -> R + Sync) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let thread = || {
            thread::Builder::new()
                .name(workers.name.into())
                .stack_size(workers.stack)
        };
        let others = (1..workers.count).map_while(|_| thread().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let mut done = vec![work()];
        done.extend(
            others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|p| resume_unwind(p))),
        );
        done
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        for threads in [1, 2, 7] {
            let squares = side_by_side(threads, 0..1000_u64, |n| n * n);
            assert!(
                squares.into_iter().eq((0..1000).map(|n| n * n)),
                "{threads} threads"
            );
        }
    }

    #[test]
    fn results_are_taken_in_the_order_of_the_items_until_that_fails() {
        for (threads, last) in [(1, 999), (2, 999), (7, 999), (1, 0), (7, 0), (7, 500)] {
            let mut taken = Vec::new();
            let outcome = in_turn(
                Workers::on_patterns(threads),
                0..1000_u64,
                |n| n * n,
                |square| {
                    taken.push(square);
                    if taken.len() > last {
                        Err("enough")
                    } else {
                        Ok(())
                    }
                },
            );
            assert_eq!(outcome, Err("enough"));
            assert!(
                taken
                    .into_iter()
                    .eq((0..=last as u64).map(|n| n * n)),
                "{threads} threads"
            );
        }
        assert_eq!(
            in_turn(Workers::on_patterns(3), 0..0, |n: u8| n, |_| Err(())),
            Ok(())
        );
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let work = || {
            in_turn(
                Workers::on_patterns(4),
                0..100,
                |n| assert!(n != 50, "on purpose"),
                |()| Ok::<_, ()>(()),
            )
        };
        assert!(catch_unwind(work).is_err());
    }
}
