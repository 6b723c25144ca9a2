//! A pool of tables that are used for block after block.

use crate::base::allocation::{Zero, zeroed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tables that are used again for the next block. For fresh ones the kernel would clear and map
/// every page again, which takes up to a fifth of the time of restoring a block.
///
/// There are never more tables than were in use at one time.
#[derive(Debug)]
pub(crate) struct TablePool<T>(Mutex<Vec<Vec<T>>>);

impl<T: Zero> TablePool<T> {
    pub(crate) const fn new() -> Self {
        TablePool(Mutex::new(Vec::new()))
    }

    /// Lends a table of `len` values to `work`, with its contents from the last use. Returns `None`
    /// if there is no memory for it.
    pub(crate) fn lend<R>(&self, len: usize, work: impl FnOnce(&mut [T]) -> R) -> Option<R> {
        let mut table = self.take(len).or_else(|| zeroed(len))?;
        let done = work(&mut table[..len]);
        self.all().push(table);
        Some(done)
    }

    /// Frees the tables that are not in use.
    pub(crate) fn free(&self) {
        self.all().clear();
    }

    /// A table that is not much too long. If there is none, the others are freed: the new table
    /// needs the memory.
    fn take(&self, len: usize) -> Option<Vec<T>> {
        let mut tables = self.all();
        let fits = |table: &Vec<T>| (len..=len + len / 8).contains(&table.len());
        let found = tables
            .iter()
            .position(fits)
            .map(|n| tables.swap_remove(n));
        if found.is_none() {
            tables.clear();
        }
        found
    }

    fn all(&self) -> MutexGuard<'_, Vec<Vec<T>>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_used_again_unless_it_is_too_short_or_much_too_long() {
        let tables = TablePool::<u32>::new();
        let first = |len| {
            tables
                .lend(len, |table| std::mem::replace(&mut table[0], 7))
                .unwrap()
        };
        assert_eq!([100, 100, 90, 101, 96, 50].map(first), [0, 7, 7, 0, 7, 0]);
        tables.free();
        assert_eq!([50, 50].map(first), [0, 7]);
    }

    #[test]
    fn tables_in_use_are_not_lent_twice() {
        let tables = TablePool::<u32>::new();
        let both = tables.lend(9, |a| tables.lend(9, |b| a.as_ptr() == b.as_ptr()));
        assert_eq!(both, Some(Some(false)));
        assert_eq!(tables.all().len(), 2);
    }
}
