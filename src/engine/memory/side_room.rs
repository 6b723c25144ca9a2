//! Room for what a few blocks take beside the rest: their side structures, which a block of few
//! bytes may have many of.
//!
//! Each block that is restored may take its share of what the plan leaves, and what the table of
//! its inverse took, which it needs no more. One that takes more waits until the others are done
//! or wait as it does, and has all their room. It waits for nobody who waits for it: those who wait
//! compute nothing, and whoever has the room computes to its end.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The room of the blocks that a plan restores at a time.
#[derive(Debug)]
pub(crate) struct SideRoom {
    /// Bytes that one that has all the room may take, with itself and its text.
    all: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Blocks that are restored now, but for those that wait for all the room or have it.
    working: usize,
    /// True if one has all the room.
    is_given: bool,
}

/// A block that is restored.
#[derive(Debug)]
pub(crate) struct SideGuest<'r> {
    room: &'r SideRoom,
    has_all: bool,
}

impl SideRoom {
    /// Of so many bytes for the one that has all of it.
    pub fn new(all: u64) -> Self {
        SideRoom { all, state: Mutex::default(), changed: Condvar::new() }
    }

    /// One more block is restored, once nobody has all the room. This is for those who are no
    /// thread of a pool.
    pub fn enter(&self) -> SideGuest<'_> {
        let mut state = self.wait_while(self.state(), |state| state.is_given);
        state.working += 1;
        SideGuest { room: self, has_all: false }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'s>(
        &self,
        state: MutexGuard<'s, State>,
        condition: impl Fn(&State) -> bool,
    ) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_while(state, |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl SideGuest<'_> {
    /// Waits for all the room, and gives its bytes.
    pub fn take_all(&mut self) -> u64 {
        if !self.has_all {
            let mut state = self.room.state();
            state.working -= 1;
            self.room.changed.notify_all();
            state = self.room.wait_while(state, |state| state.is_given || state.working > 0);
            state.is_given = true;
            self.has_all = true;
        }
        self.room.all
    }
}

impl Drop for SideGuest<'_> {
    fn drop(&mut self) {
        let mut state = self.room.state();
        match self.has_all {
            true => state.is_given = false,
            false => state.working -= 1,
        }
        self.room.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn whoever_has_all_the_room_is_alone_and_all_come_to_an_end() {
        let room = SideRoom::new(70);
        let inside = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        let block = |is_large: bool| {
            let mut guest = room.enter();
            if is_large {
                assert_eq!((guest.take_all(), guest.take_all()), (70, 70));
            }
            let others = inside.fetch_add(1, Ordering::SeqCst);
            assert!(!is_large || others == 0);
            std::thread::yield_now();
            inside.fetch_sub(1, Ordering::SeqCst);
            drop(guest);
            done.fetch_add(1, Ordering::SeqCst);
        };
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let block = &block;
                scope.spawn(move || (0..50).for_each(|n| block((n + thread) % 3 == 0)));
            }
        });
        assert_eq!(done.into_inner(), 300);
    }
}
