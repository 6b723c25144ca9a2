//! The packed columns of a block, as they stand beside its text.

use super::packed_layout::{CUT, Layout, NO_LAYOUT};
use super::packed_words::Unpacker;
use crate::error::Flaw;
use crate::leb128;

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
    layout: Option<Layout>,
    /// The first layouts.
    layouts: Vec<Layout>,
    /// Bytes of the block.
    size: usize,
}

impl<'a, 's> PackedColumns<'a, 's> {
    /// Those at the front of `side`, of a block of `size` bytes.
    pub fn new(side: &'a mut &'s [u8], size: usize) -> Result<Self, Flaw> {
        let left = leb128::read(side)?;
        let mut columns =
            PackedColumns { side, left, next: None, layout: None, layouts: Vec::new(), size };
        columns.step(0)?;
        Ok(columns)
    }

    /// Goes on to the next one, which is at a column or behind it.
    fn step(&mut self, column: usize) -> Result<(), Flaw> {
        self.next = None;
        let Some(left) = self.left.checked_sub(1) else { return Ok(()) };
        self.left = left;
        let code = leb128::read(self.side)?;
        if code % 2 == 0 {
            self.layout = Some(self.layout()?);
        }
        self.next = Some(column + code / 2);
        Ok(())
    }

    /// A new layout, or one by its number.
    fn layout(&mut self) -> Result<Layout, Flaw> {
        let (&number, rest) = self.side.split_first().ok_or(CUT)?;
        *self.side = rest;
        if let Some(known) = usize::from(number).checked_sub(1) {
            return self.layouts.get(known).cloned().ok_or(NO_LAYOUT);
        }
        let layout = Layout::read(self.side)?;
        if self.layouts.len() < MOST_LAYOUTS {
            self.layouts.push(layout.clone());
        }
        Ok(layout)
    }

    /// The `count` values of a column, if it is packed.
    pub fn of(&mut self, column: usize, count: usize) -> Result<Option<Unpacker<'s>>, Flaw> {
        if self.next != Some(column) {
            return Ok(None);
        }
        let layout = self.layout.clone().ok_or(NO_COLUMN)?;
        if count.saturating_mul(layout.least_len()) > self.size {
            return Err(SIZE);
        }
        let values = Unpacker::read(layout, count, self.side)?;
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
