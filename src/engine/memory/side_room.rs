//! Memory for the side structures of a few blocks. A block of few bytes may have many of them.
//!
//! Each block that is restored may take its share of the plan's rest, and the bytes of the table of
//! its inverse, which is free by then. A block that takes more waits until all other blocks are
//! done or wait as it does. It then has all of their room. This cannot deadlock: a block that waits
//! computes nothing, and the block that has the room computes to its end.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The room shared by the blocks that a plan restores at a time.
#[derive(Debug)]
pub(crate) struct SideRoom {
    /// Bytes that a block with all the room may take, with its raw bytes and its text.
    all: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Blocks that are being restored, without those that wait for all the room or have it.
    working: usize,
    /// True if a block has all the room.
    is_given: bool,
}

/// A block that is being restored.
#[derive(Debug)]
pub(crate) struct SideGuest<'r> {
    room: &'r SideRoom,
    has_all: bool,
}

impl SideRoom {
    /// Creates a room in which a block that has all of it may take `all` bytes.
    pub(crate) fn new(all: u64) -> Self {
        SideRoom {
            all,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Registers one more block, after waiting until no block has all the room. The caller must not
    /// be a thread of a pool.
    pub(crate) fn enter(&self) -> SideGuest<'_> {
        let mut state = self.wait_while(self.state(), |state| state.is_given);
        state.working += 1;
        SideGuest {
            room: self,
            has_all: false,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'s>(
        &self,
        state: MutexGuard<'s, State>,
        condition: impl Fn(&State) -> bool,
    ) -> MutexGuard<'s, State> {
        let waited = self
            .changed
            .wait_while(state, |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl SideGuest<'_> {
    /// Waits for all the room, and returns its bytes.
    pub(crate) fn take_all(&mut self) -> u64 {
        if !self.has_all {
            let mut state = self.room.state();
            state.working -= 1;
            self.room.changed.notify_all();
            state = self
                .room
                .wait_while(state, |state| state.is_given || state.working > 0);
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
