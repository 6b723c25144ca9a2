//! Keys of a sample, and their hashes: the values before those of the sample, by distance in slots.
//!
//! Most columns directly follow another column of the same lines. The sample of that column has
//! these keys already, one after the other, and they are used again, one slot farther away. Other
//! keys are looked up in their lines, which takes the time of a cache miss each.

use super::column_values::LineValue;
use super::parsed_lines::Value;
use super::predictions::hash;
use std::mem;

/// Hashes of the keys of one sample after the other.
pub(super) struct KeyHashes<'b, 's> {
    block: &'b [u8],
    sampled: Vec<LineValue<'s>>,
    /// The keys of each distance, from 1 on.
    rows: Vec<Row<'b>>,
    /// Maximum distance, in slots.
    most: usize,
}

/// Values of a sample, or keys at one distance from them.
#[derive(Clone, Default)]
pub(super) struct Row<'b> {
    /// All values, or none if they are not known.
    pub values: Vec<&'b [u8]>,
    /// Hashes of the first values.
    pub hashes: Vec<u32>,
}

impl Row<'_> {
    fn clear(&mut self) {
        self.values.clear();
        self.hashes.clear();
    }
}

impl<'b, 's> KeyHashes<'b, 's> {
    /// Creates a table without hashes, for distances of up to `most` slots between values of
    /// `block`.
    pub(super) fn new(block: &'b [u8], most: usize) -> Self {
        KeyHashes {
            block,
            sampled: Vec::new(),
            rows: vec![Row::default(); most],
            most,
        }
    }

    /// Goes on to the sample `sampled`. `own` are all values of the sample before, with their
    /// hashes.
    pub(super) fn next(&mut self, sampled: Vec<LineValue<'s>>, own: Row<'b>) {
        let are_of_same_lines = self.sampled.len() == sampled.len()
            && self
                .sampled
                .iter()
                .zip(&sampled)
                .all(|(one, next)| one.is_before(*next));
        if are_of_same_lines {
            self.rows.insert(0, own);
            self.rows.truncate(self.most);
        } else {
            self.rows.iter_mut().for_each(Row::clear);
        }
        self.sampled = sampled;
    }

    /// Returns the key of the sample's value `number`, `distance` slots before it.
    pub(super) fn key(&self, distance: usize, number: usize) -> &'b [u8] {
        match self.rows[distance - 1].values.get(number) {
            Some(value) => value,
            None => self.bytes(self.sampled[number].before(distance)),
        }
    }

    /// Returns the values of the sample themselves.
    pub(super) fn own(&self) -> Vec<&'b [u8]> {
        self.sampled
            .iter()
            .map(|value| self.bytes(value.own()))
            .collect()
    }

    /// Returns the hashes of at least the first `count` keys at a distance.
    pub(super) fn row(&mut self, distance: usize, count: usize) -> &[u32] {
        let mut hashes = mem::take(&mut self.rows[distance - 1].hashes);
        hashes.extend((hashes.len()..count).map(|number| hash(self.key(distance, number))));
        let row = &mut self.rows[distance - 1];
        row.hashes = hashes;
        &row.hashes
    }

    /// Returns the hashes that [`row`](Self::row) has computed.
    pub(super) fn known(&self, distance: usize) -> &[u32] {
        &self.rows[distance - 1].hashes
    }

    fn bytes(&self, value: Value) -> &'b [u8] {
        &self.block[value.range()]
    }
}
