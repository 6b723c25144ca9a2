//! Denser samples and the text, by restoring the block of an index.
//!
//! The walk that inverts a BWT visits every second row of it, at a fraction of the cost of two
//! steps along the index (`bwt::inverse`). So an index that is asked for many positions, or for
//! many long patterns, has its block restored once, and keeps the parts that save steps from then
//! on.

use super::layout::with_layout;
use super::rank::{Rank, no_memory};
use super::samples::{self, SampledRows};
use super::{FmIndex, kmer_table};
use crate::base::allocation;
use crate::base::error::Result;
use crate::base::positions::Row;
use crate::bwt::{self, Bwt};
use rayon::prelude::*;
use std::sync::OnceLock;

impl<R: Row> FmIndex<R> {
    /// This index with samples at every multiple of `rate`, a power of two above 1. If there are as
    /// many samples already, nothing is done.
    ///
    /// Takes about as long as inverting the BWT, and at most 8 bytes of memory per byte of the
    /// block besides the index. It pays if more positions are needed than the block's size divided
    /// by the number of steps saved per position.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the BWT contradicts its samples;
    /// [`Error::Io`](crate::Error::Io) if there is no memory.
    ///
    /// # Panics
    /// If `rate` is not a power of two above 1.
    pub fn with_sample_rate(mut self, rate: u32) -> Result<Self> {
        check_rate(rate);
        if rate < self.samples.rate() {
            let (_, rows) = self.restored(rate)?;
            self.set_samples(rows, rate);
        }
        Ok(self)
    }

    /// Adds the text, with which the rest of a pattern is compared once its interval is one row
    /// ([`FmIndex::count_all`]), and samples as [`FmIndex::with_sample_rate`] does. If this fails,
    /// the index is unchanged.
    ///
    /// # Errors
    /// As for [`FmIndex::with_sample_rate`].
    ///
    /// # Panics
    /// As for [`FmIndex::with_sample_rate`].
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

    /// Returns true if the text was added.
    pub(crate) fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// Maximum size in bytes of the index with its text, samples at every multiple of `rate`, and
    /// all tables that are made when first needed.
    pub(crate) fn size_with_text(&self, rate: u32) -> usize {
        let count = self.len / rate.min(self.samples.rate()) as usize + 1;
        with_layout!(&self.layout, rank => rank.size())
            + samples::most_bytes::<R>(count, self.len)
            + kmer_table::most_bytes::<R>(self.len)
            + self.len
    }

    /// The text, and the rows at every position that `rate` divides.
    fn restored(&self, rate: u32) -> Result<(Vec<u8>, Vec<R>)> {
        let samples = self
            .samples
            .rows()
            .par_iter()
            .map(|&row| row.into())
            .collect();
        let bwt = Bwt {
            bytes: self.transform()?,
            sample_rate: self.samples.rate(),
            samples,
        };
        bwt::invert_with_rows(bwt, rate)
    }

    fn set_samples(&mut self, rows: Vec<R>, rate: u32) {
        self.samples = SampledRows::new(rows, rate, self.len);
        self.positions = OnceLock::new();
    }

    /// The bytes of the BWT.
    fn transform(&self) -> Result<Vec<u8>> {
        let mut bytes = allocation::zeroed(self.len).ok_or_else(no_memory)?;
        with_layout!(&self.layout, rank => rank.copy_to(&mut bytes));
        Ok(bytes)
    }
}

fn check_rate(rate: u32) {
    assert!(
        rate > 1 && rate.is_power_of_two(),
        "sample rate {rate} is not a power of two above 1"
    );
}
