//! The sizes of a block's slices and models: Slice_Count to Coded_Sizes of FORMAT.md section 4.1.

use super::field_bytes::ensure;
use super::packed_array;
use crate::base::error::Flaw;
use crate::coder::Coding;

/// The raw and coded sizes of a block's slices, and the size of its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceSizes {
    /// BWT bytes of each slice.
    pub raw: Vec<u32>,
    /// Bytes of the models; 0 in context mixing.
    pub models: u32,
    /// Coded bytes of each slice. The last size is not stored, so it is missing until
    /// [`SliceSizes::complete`] is called.
    pub coded: Vec<u32>,
}

const MISFIT: Flaw = Flaw("the sizes of the block's slices do not add up to the block");

/// Minimum mean size of a slice, in BWT bytes. The fields kept for each slice, among them an
/// index's counts of 1 KiB, then take less memory than the block.
const LEAST_MEAN: u64 = 1 << 12;

/// Maximum BWT bytes of a slice in blocks of any size.
const LARGEST: u64 = (1 << 31) - 1;

impl SliceSizes {
    /// Appends the sizes in their stored form.
    pub(crate) fn write(&self, coding: Coding, out: &mut Vec<u8>) {
        let [raw, coded] = [&self.raw, &self.coded].map(|sizes| &sizes[..self.raw.len() - 1]);
        packed_array::write(&[self.raw.len() as u32], out);
        if !raw.is_empty() {
            packed_array::write(raw, out);
        }
        if coding == Coding::StaticRans {
            packed_array::write(&[self.models], out);
        }
        if !coded.is_empty() {
            packed_array::write(coded, out);
        }
    }

    /// Takes the sizes of a text of `text_size` bytes off the front of `bytes`.
    pub(crate) fn read(bytes: &mut &[u8], coding: Coding, text_size: u64) -> Result<Self, Flaw> {
        let count = packed_array::read::<u64>(bytes, 1)?[0];
        let most = text_size.div_ceil(LEAST_MEAN);
        ensure(
            (1..=most).contains(&count),
            "the block has no slices, or more than it can have",
        )?;
        let mut sizes = |count| match count {
            0 => Ok(Vec::new()),
            count => packed_array::read(bytes, count),
        };
        let others = count as usize - 1;
        let mut raw = sizes(others)?;
        let models = match coding {
            Coding::StaticRans => last(&[], u64::from(sizes(1)?[0]))?,
            Coding::ContextMixing => 0,
        };
        let coded = sizes(others)?;
        raw.push(last(&raw, text_size)?);
        let fit = raw.iter().all(|&size| u64::from(size) <= LARGEST);
        ensure(fit, "a slice of the block is larger than 2^31 - 1 bytes")?;
        Ok(SliceSizes { raw, models, coded })
    }

    /// Adds the coded size of the last slice, which follows from the total `all`.
    pub(crate) fn complete(&mut self, all: u64) -> Result<(), Flaw> {
        self.coded.push(last(&self.coded, all)?);
        let fit = self
            .coded
            .iter()
            .zip(&self.raw)
            .all(|(coded, raw)| coded <= raw);
        ensure(fit, MISFIT.0)
    }
}

/// The size of the last slice: `all` without the other slices. Fails if any slice is empty.
fn last(others: &[u32], all: u64) -> Result<u32, Flaw> {
    let sum: u64 = others.iter().map(|&size| u64::from(size)).sum();
    let last = all
        .checked_sub(sum)
        .and_then(|last| u32::try_from(last).ok())
        .unwrap_or(0);
    if last == 0 || others.contains(&0) {
        Err(MISFIT)
    } else {
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> SliceSizes {
        SliceSizes {
            raw: vec![9000, 100, 900],
            models: 77,
            coded: vec![5, 100, 9],
        }
    }

    fn reread(mut bytes: &[u8], coding: Coding, text: u64, all: u64) -> Result<SliceSizes, Flaw> {
        let mut sizes = SliceSizes::read(&mut bytes, coding, text)?;
        assert!(bytes.is_empty());
        sizes.complete(all)?;
        Ok(sizes)
    }

    #[test]
    fn sizes_survive_in_both_codings() {
        for coding in [Coding::StaticRans, Coding::ContextMixing] {
            let models = if coding == Coding::StaticRans { 77 } else { 0 };
            let one = SliceSizes {
                raw: vec![10_000],
                models,
                coded: vec![114],
            };
            for sizes in [SliceSizes { models, ..sizes() }, one] {
                let mut bytes = Vec::new();
                sizes.write(coding, &mut bytes);
                assert_eq!(reread(&bytes, coding, 10_000, 114), Ok(sizes));
            }
        }
    }

    #[test]
    fn what_does_not_add_up_is_a_flaw() {
        let check = |sizes: SliceSizes, text, all| {
            let mut bytes = Vec::new();
            sizes.write(Coding::StaticRans, &mut bytes);
            reread(&bytes, Coding::StaticRans, text, all).map(drop)
        };
        assert_eq!(check(sizes(), 10_000, 114), Ok(()));
        assert!(
            check(sizes(), 9100, 114).is_err(),
            "a last slice of 0 bytes"
        );
        assert!(
            check(sizes(), 9099, 114).is_err(),
            "slices larger than the text"
        );
        assert!(
            check(sizes(), 10_000, 105).is_err(),
            "a last slice of 0 coded bytes"
        );
        assert!(
            check(sizes(), 10_000, 1006).is_err(),
            "a last slice larger than its raw size"
        );
        assert!(
            check(
                SliceSizes {
                    raw: vec![9000, 0, 900],
                    ..sizes()
                },
                10_000,
                114
            )
            .is_err()
        );
        assert!(
            check(
                SliceSizes {
                    coded: vec![5, 101, 9],
                    ..sizes()
                },
                10_000,
                115
            )
            .is_err()
        );
        assert!(
            check(
                SliceSizes {
                    coded: vec![0, 100, 9],
                    ..sizes()
                },
                10_000,
                109
            )
            .is_err()
        );
        let many = SliceSizes {
            raw: vec![1; 5],
            models: 1,
            coded: vec![1; 5],
        };
        assert!(
            check(many.clone(), 16_384, 5).is_err(),
            "five slices of 16 KiB"
        );
        assert!(check(many, 16_385, 16_386).is_err(), "more coded than raw");
        let two = |first: u32| SliceSizes {
            raw: vec![first; 2],
            models: 1,
            coded: vec![1; 2],
        };
        let large = (1_u32 << 31) - 1;
        assert_eq!(check(two(large), 2 * u64::from(large), 2), Ok(()));
        assert!(
            check(two(large), 2 * u64::from(large) + 1, 2).is_err(),
            "a slice of 2^31 bytes"
        );
        assert!(
            reread(&[1, 0], Coding::ContextMixing, 10_000, 114).is_err(),
            "no slices"
        );
    }
}
