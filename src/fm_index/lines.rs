//! Zeros on huge pages that begin where a cache line does: an entry that is laid out for one line must not lie in two.

use crate::bwt::pages::{self, Zero};
use crate::error::{Error, Result};
use std::ops::{Deref, DerefMut};

/// The size of a cache line.
pub const LINE: usize = 64;

/// An array whose first element is the first of a cache line.
#[derive(Debug)]
pub struct Lines<T> {
    items: Vec<T>,
    start: usize,
}

impl<T: Zero> Lines<T> {
    /// `len` zeros.
    pub fn zeroed(len: usize) -> Result<Self> {
        let items: Vec<T> = pages::zeroed(len + LINE / size_of::<T>())
            .ok_or_else(|| Error::out_of_memory("there is not enough memory for a search index"))?;
        let start = items.as_ptr().align_offset(LINE);
        Ok(Lines { items, start })
    }
}

impl<T> Deref for Lines<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items[self.start..]
    }
}

impl<T> DerefMut for Lines<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.start..]
    }
}
