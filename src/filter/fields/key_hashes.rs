//! Hashes of the keys of a sample: of the values before those of the sample, by distance in slots.
//!
//! Most columns directly follow another column of the same lines. The sample of that column has
//! these hashes already, and they are used again, one slot farther away.

use super::column_values::LineValue;
use super::parsed_lines::Value;
use super::predictions::hash;

/// Hashes of the keys of one sample after the other.
pub(super) struct KeyHashes<'b, 's> {
    block: &'b [u8],
    sampled: Vec<LineValue<'s>>,
    /// For each distance, from 1 on, the hashes of the first values.
    rows: Vec<Vec<u32>>,
    /// Maximum distance, in slots.
    most: usize,
}

impl<'b, 's> KeyHashes<'b, 's> {
    /// Creates a table without hashes, for distances of up to `most` slots between values of
    /// `block`.
    pub(super) fn new(block: &'b [u8], most: usize) -> Self {
        KeyHashes {
            block,
            sampled: Vec::new(),
            rows: vec![Vec::new(); most],
            most,
        }
    }

    /// Goes on to the sample `sampled`. `own` are the hashes of the values of the sample before.
    pub(super) fn next(&mut self, sampled: Vec<LineValue<'s>>, own: Vec<u32>) {
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
            self.rows.iter_mut().for_each(Vec::clear);
        }
        self.sampled = sampled;
    }

    /// Returns the key of the sample's value `number`, `distance` slots before it.
    pub(super) fn key(&self, distance: usize, number: usize) -> &'b [u8] {
        self.bytes(self.sampled[number].before(distance))
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
        let mut row = std::mem::take(&mut self.rows[distance - 1]);
        row.extend((row.len()..count).map(|number| hash(self.key(distance, number))));
        self.rows[distance - 1] = row;
        &self.rows[distance - 1]
    }

    /// Returns the hashes that [`row`](Self::row) has computed.
    pub(super) fn known(&self, distance: usize) -> &[u32] {
        &self.rows[distance - 1]
    }

    fn bytes(&self, value: Value) -> &'b [u8] {
        &self.block[value.range()]
    }
}
