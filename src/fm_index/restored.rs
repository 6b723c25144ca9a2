//! What an index gains by restoring its block: denser samples, and the text.
//!
//! The walk that undoes a transform passes every second row of it, at a fraction of what two steps
//! along the index cost (`bwt::inverse`). So an index from which many positions are wanted, or many
//! long patterns, has its block restored once, and keeps of it what saves steps from then on.

use super::layout::with_layout;
use super::rank::{Rank, no_memory};
use super::samples::{self, SampledRows};
use super::{FmIndex, kmer_table};
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
    /// Takes about as long as undoing the transform does, and 8 bytes of memory per byte of the
    /// block beside the index at most; pays for itself when more positions are wanted than the
    /// block has bytes per step saved.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) where the transform contradicts its samples;
    /// [`Error::Io`](crate::Error::Io) where there is no memory.
    ///
    /// # Panics
    /// If `rate` is none.
    pub fn with_sample_rate(mut self, rate: u32) -> Result<Self> {
        check_rate(rate);
        if rate < self.samples.rate() {
            let (_, rows) = self.restored(rate)?;
            self.set_samples(rows, rate);
        }
        Ok(self)
    }

    /// Adds the text, with which what is left of a pattern is compared once its row is alone
    /// ([`FmIndex::count_all`]), and samples as [`FmIndex::with_sample_rate`] does. Where that
    /// fails, the index is what it was.
    ///
    /// # Errors
    /// As [`FmIndex::with_sample_rate`].
    ///
    /// # Panics
    /// As [`FmIndex::with_sample_rate`].
    pub fn add_text(&mut self, rate: u32) -> Result<()> {
        check_rate(rate);
        let denser = rate < self.samples.rate();
        let (text, rows) = self.restored(rate.min(self.samples.rate()))?;
        if denser {
            self.set_samples(rows, rate);
        }
        self.text = Some(text);
        Ok(())
    }

    /// Whether there is a text.
    pub(crate) fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// Bytes of memory that the index takes at most with its text, samples at every pos that `rate`
    /// divides, and all that is made when it is first wanted.
    pub(crate) fn size_with_text(&self, rate: u32) -> usize {
        let count = self.len / rate.min(self.samples.rate()) as usize + 1;
        with_layout!(&self.layout, rank => rank.size())
            + samples::most_bytes::<R>(count, self.len)
            + kmer_table::most_bytes::<R>(self.len)
            + self.len
    }

    /// The text, and the rows at every pos that `rate` divides.
    fn restored(&self, rate: u32) -> Result<(Vec<u8>, Vec<R>)> {
        let samples = self.samples.rows().par_iter().map(|&row| row.into()).collect();
        let bwt = Bwt { bytes: self.transform()?, sample_rate: self.samples.rate(), samples };
        bwt::invert_with_rows(bwt, rate)
    }

    fn set_samples(&mut self, rows: Vec<R>, rate: u32) {
        self.samples = SampledRows::new(rows, rate, self.len);
        self.positions = OnceLock::new();
    }

    /// The bytes of the transform.
    fn transform(&self) -> Result<Vec<u8>> {
        let mut bytes = allocation::zeroed(self.len).ok_or_else(no_memory)?;
        with_layout!(&self.layout, rank => rank.copy_to(&mut bytes));
        Ok(bytes)
    }
}

fn check_rate(rate: u32) {
    assert!(rate > 1 && rate.is_power_of_two(), "sample rate {rate} is not a power of two above 1");
}
