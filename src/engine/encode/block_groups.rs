//! Groups of consecutive blocks that share the choice of their slots.
//!
//! Which blocks form a group follows from their numbers alone, so that the coded bytes do not
//! depend on threads or devices. The first few blocks of a group are its *founders*. A block gets
//! the choices of the founders before it, and waits for them. Founders are taken from the pipeline
//! before the blocks that wait for them, and are waited for by nobody who holds a turn ([`Turns`])
//! or a lock, so none of them waits for a block behind it.
//!
//! A founder that fails, panics or is passed over has no choice, and the blocks behind it choose
//! for themselves. So has a founder that was not announced.
//!
//! [`Turns`]: crate::engine::turns::Turns

use crate::filter::earlier_choices::{Choice, EarlierChoices};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of the blocks of a group.
const GROUP: u64 = 256 << 20;

/// Maximum number of founders of a group.
const FOUNDERS: usize = 4;

/// The groups of a stream's blocks.
#[derive(Debug)]
pub(super) struct BlockGroups {
    /// Number of blocks of a group.
    of_group: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The groups of which not all blocks have passed, by their numbers.
    groups: BTreeMap<u64, Group>,
    /// True if nobody wants the blocks any more.
    abandoned: bool,
}

#[derive(Debug)]
struct Group {
    founders: Vec<Founder>,
    /// Number of blocks that have not passed yet.
    left: u64,
}

#[derive(Clone, Debug)]
enum Founder {
    /// It was announced.
    ToCome,
    /// It may have made a choice of its own.
    Done(Option<Arc<Choice>>),
}

/// A founder's place, until it is dropped: if it has published no choice by then, it has none.
struct Place<'g> {
    groups: &'g BlockGroups,
    number: u64,
    choice: Option<Arc<Choice>>,
}

impl BlockGroups {
    /// Creates the groups of blocks of up to `block_size` bytes.
    pub(super) fn new(block_size: u64) -> Self {
        BlockGroups {
            of_group: (GROUP / block_size.max(1)).max(1),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of founders of a group. Its last block has nobody to choose for.
    fn founders(&self) -> usize {
        FOUNDERS.min(self.of_group as usize - 1)
    }

    /// Announces a block. Blocks are announced in order.
    pub(super) fn announce(&self, number: u64) {
        let mut state = self.state();
        let group = state.groups.entry(number / self.of_group);
        let group = group.or_insert_with(|| Group {
            founders: vec![Founder::Done(None); self.founders()],
            left: self.of_group,
        });
        let at = (number % self.of_group) as usize;
        if let Some(founder) = group.founders.get_mut(at) {
            *founder = Founder::ToCome;
        }
    }

    /// Says that a block makes no choice, and needs none.
    pub(super) fn pass(&self, number: u64) {
        drop(self.place(number));
        self.state().pass(number / self.of_group);
    }

    /// Waits for the choices that a block may take over. If it is a founder, its own choice, or
    /// that it makes none, is passed on to the blocks behind it.
    pub(super) fn earlier(&self, number: u64) -> EarlierChoices<'_> {
        let place = self.place(number);
        let group = number / self.of_group;
        let at = (number % self.of_group) as usize;
        let must_wait = |state: &mut State| {
            let mut before = state.before(group, at);
            !state.abandoned && before.any(|founder| matches!(founder, Founder::ToCome))
        };
        let mut state = self
            .changed
            .wait_while(self.state(), must_wait)
            .unwrap_or_else(PoisonError::into_inner);
        let choices = state
            .before(group, at)
            .filter_map(Founder::choice);
        let choices = choices.collect();
        state.pass(group);
        drop(state);
        EarlierChoices {
            choices,
            publish: place.map(Place::publisher),
        }
    }

    fn place(&self, number: u64) -> Option<Place<'_>> {
        let is_founder = number % self.of_group < self.founders() as u64;
        is_founder.then(|| Place {
            groups: self,
            number,
            choice: None,
        })
    }

    /// Sends all blocks away that wait, since nobody wants them any more.
    pub(super) fn abandon(&self) {
        self.state().abandoned = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Yields the founders of a group before its block `at`.
    fn before(&self, group: u64, at: usize) -> impl Iterator<Item = &Founder> {
        let group = self.groups.get(&group);
        group
            .into_iter()
            .flat_map(move |group| group.founders.iter().take(at))
    }

    /// Takes note that a block has passed, and forgets its group if it was the last.
    fn pass(&mut self, number: u64) {
        if let Some(group) = self.groups.get_mut(&number) {
            group.left -= 1;
            if group.left == 0 {
                self.groups.remove(&number);
            }
        }
    }
}

impl Founder {
    fn choice(&self) -> Option<Arc<Choice>> {
        match self {
            Founder::Done(choice) => choice.clone(),
            Founder::ToCome => None,
        }
    }
}

impl<'g> Place<'g> {
    fn publisher(mut self) -> Box<dyn FnOnce(Choice) + Send + 'g> {
        Box::new(move |choice| self.publish(choice))
    }

    fn publish(&mut self, choice: Choice) {
        self.choice = Some(Arc::new(choice));
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Place { groups, number, .. } = *self;
        let at = (number % groups.of_group) as usize;
        let mut state = groups.state();
        if let Some(group) = state.groups.get_mut(&(number / groups.of_group)) {
            group.founders[at] = Founder::Done(self.choice.take());
        }
        drop(state);
        groups.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::threads::Threads;
    use crate::filter;
    use std::panic;
    use std::thread;
    use std::time::Duration;

    /// Groups of four blocks.
    fn groups(blocks: u64) -> BlockGroups {
        let groups = BlockGroups::new(GROUP / 4);
        (0..blocks).for_each(|number| groups.announce(number));
        groups
    }

    /// Lines of fields, whose choice is worth publishing.
    fn lines() -> Vec<u8> {
        let line = |n: u32| format!("{},{},{}\n", 1000 + n, n * 7919 % 97, n * n % 31);
        (0..6000)
            .map(line)
            .collect::<String>()
            .into_bytes()
    }

    /// Makes the choice of a block in full, or takes over another.
    fn choose(earlier: EarlierChoices) {
        filter::filter_but_last(lines(), earlier, &Threads::Calling).unwrap();
    }

    #[test]
    fn blocks_get_the_choices_of_their_group() {
        let groups = groups(8);
        for number in 0..8 {
            let earlier = groups.earlier(number);
            // The second block takes over the choice of the first one, and makes none.
            let known = usize::from(!number.is_multiple_of(4));
            assert_eq!(earlier.choices.len(), known, "{number}");
            assert_eq!(earlier.publish.is_some(), number % 4 < 3, "{number}");
            choose(earlier);
        }
        assert!(groups.state().groups.is_empty());
    }

    #[test]
    fn blocks_wait_for_those_before_them_in_their_group_alone() {
        let groups = groups(8);
        let first = groups.earlier(0);
        assert!(groups.earlier(4).choices.is_empty());
        thread::scope(|scope| {
            let waiting = [1, 2, 3].map(|number| {
                let groups = &groups;
                scope.spawn(move || {
                    let earlier = groups.earlier(number);
                    let known = earlier.choices.len();
                    choose(earlier);
                    known
                })
            });
            thread::sleep(Duration::from_millis(30));
            assert!(waiting.iter().all(|one| !one.is_finished()));
            choose(first);
            assert_eq!(waiting.map(|one| one.join().unwrap()), [1; 3]);
        });
    }

    #[test]
    fn nobody_waits_for_a_founder_that_fails_panics_or_passes_or_when_abandoned() {
        let fails: [fn(&BlockGroups); 4] = [
            |groups| drop(groups.earlier(0)),
            |groups| groups.pass(0),
            |groups| {
                let panics = || {
                    let _earlier = groups.earlier(0);
                    panic::resume_unwind(Box::new("on purpose"));
                };
                assert!(panic::catch_unwind(panic::AssertUnwindSafe(panics)).is_err());
            },
            BlockGroups::abandon,
        ];
        for fails in fails {
            let groups = groups(2);
            thread::scope(|scope| {
                let waiting = scope.spawn(|| groups.earlier(1).choices.len());
                thread::sleep(Duration::from_millis(5));
                assert!(!waiting.is_finished());
                fails(&groups);
                assert_eq!(waiting.join().unwrap(), 0);
            });
        }
    }

    #[test]
    fn blocks_that_were_not_announced_and_large_ones_are_for_themselves() {
        let groups = BlockGroups::new(GROUP / 4);
        assert!(groups.earlier(3).choices.is_empty());
        for size in [GROUP, GROUP * 2 / 3, u64::MAX] {
            let groups = BlockGroups::new(size);
            (0..3).for_each(|number| groups.announce(number));
            for number in 0..3 {
                let earlier = groups.earlier(number);
                assert!(earlier.choices.is_empty() && earlier.publish.is_none());
            }
        }
        assert!(BlockGroups::new(0).earlier(9).choices.is_empty());
    }
}
