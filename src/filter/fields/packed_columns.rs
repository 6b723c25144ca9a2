//! The packed columns of a block, as they stand beside its text.

use super::packed_layout::{CUT, Layout, NO_LAYOUT};
use super::packed_words::{Digits, Unpacker};
use crate::base::error::Flaw;
use crate::base::leb128;
use std::rc::Rc;

const NO_COLUMN: Flaw = Flaw("a packed column of a block of fields is not there");
const SIZE: Flaw = Flaw("a packed column of a block of fields is larger than the block");

/// Layouts that have a number at most.
pub(super) const MOST_LAYOUTS: usize = 255;

/// Those that are still to come, one after the other.
pub(super) struct PackedColumns<'a, 's> {
    side: &'a mut &'s [u8],
    /// How many there are behind the next one.
    left: usize,
    /// The number of the next one.
    next: Option<usize>,
    layout: Option<Rc<Digits>>,
    /// True if that is one that no column before has.
    is_new: bool,
    /// The first layouts.
    layouts: Vec<Rc<Digits>>,
    /// Bytes of the block.
    size: usize,
}

impl<'a, 's> PackedColumns<'a, 's> {
    /// Those at the front of `side`, of a block of `size` bytes.
    pub fn new(side: &'a mut &'s [u8], size: usize) -> Result<Self, Flaw> {
        let left = leb128::read(side)?;
        let mut columns = PackedColumns {
            side,
            left,
            next: None,
            layout: None,
            is_new: false,
            layouts: Vec::new(),
            size,
        };
        columns.step(0)?;
        Ok(columns)
    }

    /// Goes on to the next one, which is at a column or behind it.
    fn step(&mut self, column: usize) -> Result<(), Flaw> {
        self.next = None;
        let Some(left) = self.left.checked_sub(1) else { return Ok(()) };
        self.left = left;
        let code = leb128::read(self.side)?;
        self.is_new = false;
        if code % 2 == 0 {
            self.layout = Some(self.layout()?);
        }
        self.next = Some(column + code / 2);
        Ok(())
    }

    /// A new layout, or one by its number.
    fn layout(&mut self) -> Result<Rc<Digits>, Flaw> {
        let number = *self.side.split_off_first().ok_or(CUT)?;
        if let Some(known) = usize::from(number).checked_sub(1) {
            return self.layouts.get(known).cloned().ok_or(NO_LAYOUT);
        }
        let layout = Digits::new(Layout::read(self.side)?);
        self.is_new = true;
        if self.layouts.len() < MOST_LAYOUTS {
            self.layouts.push(Rc::clone(&layout));
        }
        Ok(layout)
    }

    /// The bytes that the layouts which are still to come take at most: one is of runs of three
    /// bytes.
    pub fn layout_bytes_left(&self) -> usize {
        self.side.len().saturating_mul(8)
    }

    /// The `count` values of a column, if it is packed; `take` is asked for the bytes of a layout.
    pub fn of(
        &mut self,
        column: usize,
        count: usize,
        take: impl FnOnce(usize) -> Result<(), Flaw>,
    ) -> Result<Option<Unpacker<'s>>, Flaw> {
        if self.next != Some(column) {
            return Ok(None);
        }
        let digits = self.layout.clone().ok_or(NO_COLUMN)?;
        if count.saturating_mul(digits.layout.least_len()) > self.size {
            return Err(SIZE);
        }
        if self.is_new {
            take(digits.bytes())?;
        }
        let values = Unpacker::read(digits, count, self.side)?;
        self.step(column + 1)?;
        Ok(Some(values))
    }

    /// Ends them.
    ///
    /// # Errors
    /// A [`Flaw`] where one is left.
    pub fn end(&self) -> Result<(), Flaw> {
        if self.next.is_none() { Ok(()) } else { Err(NO_COLUMN) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Or a byte of a file took thousands of memory.
    #[test]
    fn columns_of_one_layout_share_it() {
        let layout = [&[255][..], &[1, 16, b'0'].repeat(255)].concat();
        // 4 columns: the first one of a layout, the next two of the same, the last by its number.
        let side = [&[4, 0, 0][..], &layout, &[1, 1, 0, 1]].concat();
        let mut side = &side[..];
        let mut columns = PackedColumns::new(&mut side, 1000).unwrap();
        let all: Vec<_> = (0..4).map(|n| columns.of(n, 0, |_| Ok(())).unwrap().unwrap()).collect();
        assert!(columns.end().is_ok());
        assert!(all.iter().all(|values| Rc::ptr_eq(values.digits(), all[0].digits())));
    }
}
