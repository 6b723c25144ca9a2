//! What an index gains by restoring its block: denser samples, and the text.
//!
//! The walk that undoes a transform passes every second row of it, at a fraction of what two steps
//! along the index cost (`bwt::inverse`). So an index from which many positions are wanted, or many
//! long patterns, has its block restored once, and keeps of it what saves steps from then on.

use super::FmIndex;
use super::layout::with_layout;
use super::rank::{Rank, no_memory};
use super::samples::SampledRows;
use crate::allocation;
use crate::bwt::{self, Bwt};
use crate::error::Result;
use crate::positions::Row;
use rayon::prelude::*;
use std::sync::OnceLock;

impl<R: Row> FmIndex<R> {
    /// The same index with samples at every pos that `rate` divides, a power of two above 1. If
    /// there are as many samples already, nothing is done.
    ///
    /// Takes about as long as undoing the transform does, and as much memory beside the index;
    /// pays for itself when more positions are wanted than the block has bytes per step saved.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) where the transform contradicts its samples;
    /// [`Error::Io`](crate::Error::Io) where there is no memory.
    ///
    /// # Panics
    /// If `rate` is none.
    pub fn with_sample_rate(self, rate: u32) -> Result<Self> {
        assert!(rate.is_power_of_two(), "sample rate {rate} is not a power of two");
        if self.samples.rate() <= rate { Ok(self) } else { Ok(self.restored(rate)?.0) }
    }

    /// The same with the text too, with which what is left of a pattern is compared once its row is
    /// alone ([`FmIndex::count_all`]). If there are more samples already, they stay as they are.
    ///
    /// # Errors
    /// As [`FmIndex::with_sample_rate`].
    ///
    /// # Panics
    /// As [`FmIndex::with_sample_rate`].
    pub fn with_text(self, rate: u32) -> Result<Self> {
        assert!(rate.is_power_of_two(), "sample rate {rate} is not a power of two");
        let rate = rate.min(self.samples.rate());
        let (index, text) = self.restored(rate)?;
        Ok(FmIndex { text: Some(text), ..index })
    }

    /// Whether [`FmIndex::with_text`] was called.
    pub(crate) fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// Bytes of memory that the index takes at most with its text and samples at every pos that
    /// `rate` divides.
    pub(crate) fn size_with_text(&self, rate: u32) -> usize {
        let (len, row) = (self.len, size_of::<R>());
        let rate = rate.min(self.samples.rate()) as usize;
        self.size() + len + len / 4 + 2 * row * (len / rate + 1)
    }

    /// The index with denser samples, and the text.
    fn restored(self, rate: u32) -> Result<(Self, Vec<u8>)> {
        let samples = self.samples.rows().par_iter().map(|&row| row.into()).collect();
        let bwt = Bwt { bytes: self.transform()?, sample_rate: self.samples.rate(), samples };
        let (text, rows) = bwt::invert_with_rows(bwt, rate)?;
        let samples = SampledRows::new(rows, rate, self.len);
        Ok((FmIndex { samples, positions: OnceLock::new(), ..self }, text))
    }

    /// The bytes of the transform.
    fn transform(&self) -> Result<Vec<u8>> {
        let mut bytes = allocation::zeroed(self.len).ok_or_else(no_memory)?;
        with_layout!(&self.layout, rank => rank.copy_to(&mut bytes));
        Ok(bytes)
    }
}
