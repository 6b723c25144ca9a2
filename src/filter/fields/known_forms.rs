//! Forms that an earlier block of the stream has chosen for its columns. A column of another block
//! that has the same place takes over the form, if its values are about as many bits in it.
//!
//! A column's place is the bytes and the slots before it. The cost in one form is estimated instead
//! of that in up to 30, of the same sample.

use super::column_form::Form;
use super::symbol_cost::Cost;
use std::collections::HashMap;

/// Maximum number of columns whose forms are kept.
const MOST: usize = 4096;

/// The costs of two samples are alike if they differ by at most one part in this number.
const ALIKE: u128 = 12;

/// Forms of columns, by the keys of their places.
#[derive(Debug, Default)]
pub(crate) struct KnownForms(HashMap<u64, KnownForm>);

/// The form of a column that was chosen by a sample of it.
#[derive(Clone, Debug)]
pub(super) struct KnownForm {
    pub form: Form,
    /// True if the column was then found to be one of lists.
    pub is_list: bool,
    /// Number of slots before the column's.
    pub depth: usize,
    /// Number of values in the sample.
    pub values: usize,
    /// Cost of the sample as text.
    pub text: Cost,
    /// Cost of the sample in this form.
    pub cost: Cost,
}

impl KnownForms {
    /// Keeps the form of a column, if there is room.
    pub(super) fn add(&mut self, key: u64, known: KnownForm) {
        if self.0.len() < MOST {
            self.0.insert(key, known);
        }
    }

    /// Returns the form of the column with this key, which has `depth` slots before it.
    pub(super) fn get(&self, key: u64, depth: usize) -> Option<&KnownForm> {
        // Two places may have the same key.
        self.0
            .get(&key)
            .filter(|known| known.depth == depth)
    }
}

impl KnownForm {
    /// Returns true if a sample of `values` values that costs `text` as text costs about as much
    /// for each value as this one does.
    pub(super) fn is_text_like(&self, values: usize, text: Cost) -> bool {
        let here = u128::from(text) * self.values as u128;
        let there = u128::from(self.text) * values as u128;
        here <= there + there / ALIKE && there <= here + here / ALIKE
    }

    /// Returns true if a sample that costs `text` as text and `cost` in this form gains about as
    /// much as this one does, or more.
    pub(super) fn gains_as_much(&self, text: Cost, cost: Cost) -> bool {
        let here = u128::from(cost) * u128::from(self.text);
        let there = u128::from(self.cost) * u128::from(text);
        here <= there + there / ALIKE
    }
}
