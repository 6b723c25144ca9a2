//! Choice of each column's form, by a sample of its values, and of the columns that may be packed.

use super::choose_lists;
use super::choose_packed::Candidate;
use super::column_form::{EMPTY, Form, LEAST_VALUES, raised};
use super::column_values::{Group, count};
use super::key_hashes::KeyHashes;
use super::lists;
use super::value_cost::Sample;
use super::write_columns::Writer;
use crate::base::error::Flaw;
use std::mem;

/// Number of sampled values. They are consecutive, so that they repeat as often as the values of
/// the whole column.
const SAMPLED: usize = 8192;

/// Maximum distance, in slots, to the slot that predicts a column.
const MOST_DISTANCE: usize = 16;

/// Chooser of the forms of columns.
pub(super) struct Forms<'b, 'w> {
    writer: &'w Writer<'b>,
    keys: KeyHashes<'b, 'w>,
    /// Hashes of the values of the last sample.
    own: Vec<u32>,
}

impl<'b, 'w> Forms<'b, 'w> {
    /// Creates the chooser. It takes columns one after the other.
    pub(super) fn new(writer: &'w Writer<'b>) -> Self {
        Forms {
            writer,
            keys: KeyHashes::new(writer.block, MOST_DISTANCE),
            own: Vec::new(),
        }
    }

    /// Returns the form of a column that has `depth` slots before it, and a [`Candidate`] if the
    /// column may be packed.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn of(
        &mut self,
        column: &'w [Group],
        depth: usize,
    ) -> Result<(Form, Option<Candidate>), Flaw> {
        let count = count(column);
        let writer = self.writer;
        if count < LEAST_VALUES {
            return Ok((Form::Text, Candidate::of_few(writer, column)));
        }
        let sampled = writer.values.middle(column, SAMPLED);
        self.keys.next(sampled, mem::take(&mut self.own));
        let sample = Sample::new(self.keys.own(), count);
        let distances = depth.min(MOST_DISTANCE);
        let (form, cost) = sample.best_form(distances, &mut self.keys);
        let candidate = Candidate::of_many(writer, column, &sample.own, cost);
        let form = match form {
            Form::Joined {
                distance: distance @ 1..,
                raised,
            } if !are_as_long(writer, column, distance) => Form::Joined {
                distance: 0,
                raised,
            },
            Form::Predicted {
                distance,
                raised: true,
            } if has_raised_empty(writer, column) => Form::Predicted {
                distance,
                raised: false,
            },
            Form::Text => {
                let form = choose_lists::choose(&sample.own, distances, &self.keys)?;
                let are_lists = |_: &Form| writer.own(column).all(lists::may_be);
                form.filter(are_lists).unwrap_or(Form::Text)
            }
            form => form,
        };
        self.own = sample.hashes;
        Ok((form, candidate))
    }
}

/// Returns true if each value is as long as the value `distance` slots before it, from which a
/// joined column takes its lengths.
fn are_as_long(writer: &Writer, column: &[Group], distance: usize) -> bool {
    let mut values = writer.values.of(column);
    values.all(|value| value.own().len == value.before(distance).len)
}

/// Returns true if a value, raised, would be [`EMPTY`], which stands for an empty one.
fn has_raised_empty(writer: &Writer, column: &[Group]) -> bool {
    writer
        .own(column)
        .any(|value| value == [raised(EMPTY[0])])
}
