//! Choice of each column's form, by a sample of its values, and of the columns that may be packed.

use super::choose_lists;
use super::choose_packed::Candidate;
use super::column_form::{EMPTY, Form, LEAST_VALUES, raised};
use super::column_values::{Group, count};
use super::key_hashes::{KeyHashes, Row};
use super::known_forms::{KnownForm, KnownForms};
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

/// The form of a column.
pub(super) struct Chosen {
    pub form: Form,
    /// The column as one that may be packed.
    pub candidate: Option<Candidate>,
    /// The form by which the same column of other blocks may be stored. `None` if it has few
    /// values.
    pub known: Option<KnownForm>,
}

/// Chooser of the forms of columns.
pub(super) struct Forms<'b, 'w> {
    writer: &'w Writer<'b>,
    known: &'w KnownForms,
    keys: KeyHashes<'b, 'w>,
    /// The values of the last sample.
    own: Row<'b>,
}

impl<'b, 'w> Forms<'b, 'w> {
    /// Creates the chooser. It takes columns one after the other. Forms that are `known` are tried
    /// first.
    pub(super) fn new(writer: &'w Writer<'b>, known: &'w KnownForms) -> Self {
        Forms {
            writer,
            known,
            keys: KeyHashes::new(writer.block, MOST_DISTANCE),
            own: Row::default(),
        }
    }

    /// Returns the form of a column that has `depth` slots before it. The `key` is that of its
    /// place.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn of(
        &mut self,
        column: &'w [Group],
        depth: usize,
        key: u64,
    ) -> Result<Chosen, Flaw> {
        let count = count(column);
        let writer = self.writer;
        if count < LEAST_VALUES {
            return Ok(Chosen {
                form: Form::Text,
                candidate: Candidate::of_few(writer, column),
                known: None,
            });
        }
        let sampled = writer.values.middle(column, SAMPLED);
        self.keys.next(sampled, mem::take(&mut self.own));
        let sample = Sample::new(self.keys.own(), count);
        let distances = depth.min(MOST_DISTANCE);
        let known = self.known.get(key, depth);
        let taken = known.and_then(|known| sample.known_form(known, distances, &mut self.keys));
        let may_be_list = taken.is_none() || known.is_some_and(|known| known.is_list);
        let (form, cost) = taken.unwrap_or_else(|| sample.best_form(distances, &mut self.keys));
        let mut known = KnownForm {
            form: form.clone(),
            is_list: false,
            depth,
            values: sample.own.len(),
            text: sample.as_text,
            cost,
        };
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
            Form::Text if may_be_list => {
                let form = choose_lists::choose(&sample.own, distances, &self.keys)?;
                let are_lists = |_: &Form| writer.own(column).all(lists::may_be);
                form.filter(are_lists).unwrap_or(Form::Text)
            }
            form => form,
        };
        self.own = Row {
            values: sample.own,
            hashes: sample.hashes,
        };
        known.is_list = matches!(form, Form::Lists { .. });
        Ok(Chosen {
            form,
            candidate,
            known: Some(known),
        })
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
