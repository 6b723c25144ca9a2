//! The proof of what a GPU made, before it is written: the GPU decodes the coded slices that the
//! host has, inverts the transform, and the host compares every byte of the result with the text.
//!
//! Sums over a block, and samples in range, do not find bytes in a wrong order or a wrong word in a
//! slice. Restoring does. The bytes that are restored are those that will be written: they were
//! copied to the host, and are copied to the GPU anew.
//!
//! Cost: the inverse uses the memory of the sort, which is over by then; the decoder has about a
//! byte per byte of its own. A block of 32 MiB takes 65 ms while eight of them share an H100, and
//! 4 GB of a tar take 7 % longer on 16 threads, whose filters are what the GPU waits for (28
//! November 2026).

use crate::base::error::{Error, Result};
use crate::bwt;
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::gpu::{BwtDecoder, GpuInverse, GpuSorter, MOST_BYTES};

/// The relation between the result of a GPU and the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// It was restored to the text.
    Restored,
    /// It is restored to another text, or to none.
    Differs,
    /// It was not restored.
    Missing,
}

/// Restores on one GPU what that GPU made.
pub(super) struct Prover {
    inverse: GpuInverse,
    /// Present if the GPU codes.
    decoder: Option<BwtDecoder>,
}

impl Prover {
    /// Opens a prover on GPU `number`, for blocks of up to `block_size` bytes that `sorter`, on the
    /// same GPU, sorts at this sample rate.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory or fails.
    pub(super) fn open(
        number: u32,
        sorter: &mut GpuSorter,
        block_size: u32,
        sample_rate: u32,
        codes: bool,
    ) -> Result<Self> {
        let mut inverse = GpuInverse::new(number)?;
        let samples = block_size.div_ceil(sample_rate);
        sorter.lend_to(&mut inverse, |inverse| inverse.reserve(block_size, samples))?;
        let decoder = match codes {
            true => {
                let mut decoder = BwtDecoder::new(number)?;
                decoder.reserve(block_size)?;
                Some(decoder)
            }
            false => None,
        };
        Ok(Prover { inverse, decoder })
    }

    /// Restores the result of `sorter` and compares it with the text. A block that the GPU cannot
    /// invert, since it is above [`MOST_BYTES`], is not restored.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU fails, [`Error::Io`] if the host has too little memory.
    pub(super) fn prove(
        &mut self,
        sorter: &mut GpuSorter,
        sorted: &Sorted,
        text: &[u8],
    ) -> Result<Proof> {
        if text.len() > MOST_BYTES as usize {
            return Ok(Proof::Missing);
        }
        let Prover { inverse, decoder } = self;
        let is_restored = sorter.lend_to(inverse, |inverse| match (sorted, decoder) {
            (Sorted::Bwt(bwt), _) => {
                inverse
                    .input(bwt.bytes.len())?
                    .copy_from_slice(&bwt.bytes);
                let samples = bwt::narrow(&bwt.samples);
                Ok(inverse.invert_input(bwt.sample_rate, &samples)? == text)
            }
            (Sorted::Coded(transform), Some(decoder)) => {
                let CodedTransform {
                    coded,
                    sample_rate,
                    samples,
                } = transform;
                let restored = inverse.invert_coded(decoder, coded, *sample_rate, samples)?;
                Ok(restored.is_some_and(|(_, restored)| restored == text))
            }
            (Sorted::Coded(_), None) => unreachable!("a GPU that codes has a decoder"),
        });
        match is_restored {
            Ok(true) => Ok(Proof::Restored),
            Ok(false) | Err(Error::Format { .. }) => Ok(Proof::Differs),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests;
