//! Packed columns of a block, read from its parameters. FORMAT.md section 12.9.

use super::packed_layout::{CUT, Layout, NO_LAYOUT};
use super::packed_words::{Digits, Unpacker};
use crate::base::error::Flaw;
use crate::base::leb128;
use std::rc::Rc;

const NO_COLUMN: Flaw = Flaw("a packed column of a block of fields does not exist");
const SIZE: Flaw = Flaw("a packed column of a block of fields is larger than the block");

/// Maximum number of layouts that a later column can refer to by number.
pub(super) const MOST_LAYOUTS: usize = 255;

/// Reader of the packed columns, one after the other.
pub(super) struct PackedColumns<'a, 's> {
    side: &'a mut &'s [u8],
    /// Number of columns behind the next one.
    left: usize,
    /// Number of the next packed column.
    next: Option<usize>,
    layout: Option<Rc<Digits>>,
    /// True if the layout of the next column was not seen before.
    is_new: bool,
    /// Layouts that have a number, in order.
    layouts: Vec<Rc<Digits>>,
    /// Size of the block, in bytes.
    size: usize,
}

impl<'a, 's> PackedColumns<'a, 's> {
    /// Reads the packed columns at the front of `side`, of a block of `size` bytes.
    pub(super) fn new(side: &'a mut &'s [u8], size: usize) -> Result<Self, Flaw> {
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

    /// Goes on to the next packed column, which has the number `column` or a higher one.
    fn step(&mut self, column: usize) -> Result<(), Flaw> {
        self.next = None;
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(());
        };
        self.left = left;
        let code = leb128::read(self.side)?;
        self.is_new = false;
        if code % 2 == 0 {
            self.layout = Some(self.layout()?);
        }
        self.next = Some(column + code / 2);
        Ok(())
    }

    /// Reads a new layout, or the number of a known one.
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

    /// Upper bound of the memory in bytes of the layouts that are still to come. A run of a layout
    /// is stored in three bytes.
    pub(super) fn layout_bytes_left(&self) -> usize {
        self.side.len().saturating_mul(8)
    }

    /// Returns the `count` values of a column if it is packed. Calls `take` with the bytes of
    /// memory of a new layout.
    pub(super) fn of(
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

    /// Checks that all packed columns were read.
    ///
    /// # Errors
    /// A [`Flaw`] if one is left.
    pub(super) fn end(&self) -> Result<(), Flaw> {
        if self.next.is_none() {
            Ok(())
        } else {
            Err(NO_COLUMN)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without sharing, one byte of a file could take thousands of bytes of memory.
    #[test]
    fn columns_of_one_layout_share_it() {
        let layout = [&[255][..], &[1, 16, b'0'].repeat(255)].concat();
        // 4 columns: the first has a new layout, the next two the same, and the last one its
        // number.
        let side = [&[4, 0, 0][..], &layout, &[1, 1, 0, 1]].concat();
        let mut side = &side[..];
        let mut columns = PackedColumns::new(&mut side, 1000).unwrap();
        let all: Vec<_> = (0..4)
            .map(|n| columns.of(n, 0, |_| Ok(())).unwrap().unwrap())
            .collect();
        assert!(columns.end().is_ok());
        assert!(
            all.iter()
                .all(|values| Rc::ptr_eq(values.digits(), all[0].digits()))
        );
    }
}
