//! How many blocks at a time take a step of their way, and when the last of them has taken it.
//!
//! Each step needs memory of its own, so the plan sets a limit for each ([`Plan`]). Threads that
//! work on more blocks than that wait here for their turn, first come by number: the results are
//! wanted in that order.
//!
//! [`Plan`]: crate::engine::memory::Plan

use crate::base::error::{Error, Result};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The turns of one step.
#[derive(Debug)]
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Blocks that may still begin the step now.
    free: usize,
    /// Numbers of the blocks that wait for their turn.
    waiting: BTreeSet<u64>,
    /// Blocks that were announced and have not taken the step yet.
    to_come: usize,
    /// True if no more blocks are announced.
    closed: bool,
    /// True if nobody wants the blocks any more.
    abandoned: bool,
}

/// A block's turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'t>(&'t Turns);

impl Turns {
    /// Lets `at_a_time` blocks take the step at a time.
    pub(super) fn new(at_a_time: usize) -> Self {
        let state = State {
            free: at_a_time,
            ..State::default()
        };
        Turns {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces a block that will take the step.
    pub(super) fn announce(&self) {
        self.state().to_come += 1;
    }

    /// Says that an announced block will not take the step.
    pub(super) fn pass(&self) {
        let mut state = self.state();
        state.to_come = state.to_come.saturating_sub(1);
    }

    /// Says that no more blocks are announced.
    pub(super) fn close(&self) {
        self.state().closed = true;
    }

    /// True if no more blocks will take the step, and none is taking it.
    pub(super) fn are_over(&self) -> bool {
        let state = self.state();
        state.closed && state.to_come == 0
    }

    /// Sends all blocks away that wait, since nobody wants them any more.
    pub(super) fn abandon(&self) {
        self.state().abandoned = true;
        self.changed.notify_all();
    }

    /// Waits until block `number` has its turn. No two blocks may have the same number at a time.
    ///
    /// # Errors
    /// An error that nobody hears, if the blocks have been abandoned.
    pub(super) fn enter(&self, number: u64) -> Result<Turn<'_>> {
        let mut state = self.state();
        let is_new = state.waiting.insert(number);
        debug_assert!(is_new, "two blocks have the number {number}");
        let must_wait = |state: &mut State| {
            !state.abandoned && (state.free == 0 || state.waiting.first() != Some(&number))
        };
        state = self
            .changed
            .wait_while(state, must_wait)
            .unwrap_or_else(PoisonError::into_inner);
        state.waiting.remove(&number);
        if state.abandoned {
            return Err(Error::Io(io::ErrorKind::Interrupted.into()));
        }
        state.free -= 1;
        // The next block may have its turn too.
        if state.free > 0 && !state.waiting.is_empty() {
            self.changed.notify_all();
        }
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.free += 1;
        // A block that was not announced is done at once by whoever has it.
        state.to_come = state.to_come.saturating_sub(1);
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn no_more_than_the_limit_take_the_step_and_all_get_through() {
        for limit in [1, 3] {
            let turns = Turns::new(limit);
            let inside = AtomicUsize::new(0);
            let most = AtomicUsize::new(0);
            let block = |number| {
                let turn = turns.enter(number).unwrap();
                most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
                drop(turn);
            };
            (0..400).for_each(|_| turns.announce());
            turns.close();
            assert!(!turns.are_over());
            thread::scope(|scope| {
                for thread in 0..8 {
                    let block = &block;
                    scope.spawn(move || (0..50).for_each(|n| block(8 * n + thread)));
                }
            });
            assert!((1..=limit).contains(&most.into_inner()));
            assert!(turns.are_over());
        }
    }

    #[test]
    fn the_lowest_number_is_next() {
        let turns = Turns::new(1);
        let order = Mutex::new(Vec::new());
        let first = turns.enter(9).unwrap();
        thread::scope(|scope| {
            for number in [7, 3, 5] {
                let turns = &turns;
                let order = &order;
                scope.spawn(move || {
                    let _turn = turns.enter(number).unwrap();
                    order.lock().unwrap().push(number);
                });
            }
            while turns.state().waiting.len() < 3 {
                thread::yield_now();
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [3, 5, 7]);
    }

    #[test]
    fn whoever_waits_is_sent_away_when_nobody_wants_the_blocks() {
        let turns = Turns::new(1);
        let _held = turns.enter(0).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.enter(1).is_err());
            turns.abandon();
            assert!(waiting.join().unwrap());
        });
        assert!(turns.enter(2).is_err());
    }
}
