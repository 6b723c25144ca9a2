//! Hashes of the values that stand before those of a sample, by how many slots they are before.
//!
//! Most columns follow one of the same lines, whose sample has hashed these values already: they
//! are taken over then, one slot further away.

use super::column_values::LineValue;
use super::parsed_lines::Value;
use super::predictions::hash;

/// Those of one sample after the other.
pub(super) struct KeyHashes<'b, 's> {
    block: &'b [u8],
    sampled: Vec<LineValue<'s>>,
    /// For each distance from 1 on the hashes of the first values.
    rows: Vec<Vec<u32>>,
    /// Distances at most.
    most: usize,
}

impl<'b, 's> KeyHashes<'b, 's> {
    /// None yet, of values of `block` that stand up to `most` slots before others.
    pub fn new(block: &'b [u8], most: usize) -> Self {
        KeyHashes { block, sampled: Vec::new(), rows: vec![Vec::new(); most], most }
    }

    /// Goes on to a sample; `own` are the hashes of the one before.
    pub fn next(&mut self, sampled: Vec<LineValue<'s>>, own: Vec<u32>) {
        let are_of_same_lines = self.sampled.len() == sampled.len()
            && self.sampled.iter().zip(&sampled).all(|(one, next)| one.is_before(*next));
        if are_of_same_lines {
            self.rows.insert(0, own);
            self.rows.truncate(self.most);
        } else {
            self.rows.iter_mut().for_each(Vec::clear);
        }
        self.sampled = sampled;
    }

    /// The value so many slots before that of a number.
    pub fn key(&self, distance: usize, number: usize) -> &'b [u8] {
        self.bytes(self.sampled[number].before(distance))
    }

    /// The values of the sample themselves.
    pub fn own(&self) -> Vec<&'b [u8]> {
        self.sampled.iter().map(|value| self.bytes(value.own())).collect()
    }

    /// The hashes of the first `count` keys at a distance, or of more.
    pub fn row(&mut self, distance: usize, count: usize) -> &[u32] {
        let mut row = std::mem::take(&mut self.rows[distance - 1]);
        row.extend((row.len()..count).map(|number| hash(self.key(distance, number))));
        self.rows[distance - 1] = row;
        &self.rows[distance - 1]
    }

    /// The hashes that [`row`](Self::row) has made.
    pub fn known(&self, distance: usize) -> &[u32] {
        &self.rows[distance - 1]
    }

    fn bytes(&self, value: Value) -> &'b [u8] {
        &self.block[value.range()]
    }
}
