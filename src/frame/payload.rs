//! The payload of a bwt block: samples, segment sizes, the index where there is one, segments. FORMAT.md section 4.

use super::block::Shape;
use super::{Index, ensure, packed};
use crate::error::Flaw;

/// The parts of a bwt block's payload, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BwtPayload<'a> {
    /// Row of the suffix at every sampled pos.
    pub samples: Vec<u32>,
    /// What search needs, in an indexed block.
    pub index: Option<Index>,
    /// The coded segments.
    pub segments: Vec<&'a [u8]>,
}

impl<'a> BwtPayload<'a> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let sizes: Vec<u32> = self.segments.iter().map(|segment| segment.len() as u32).collect();
        let mut bytes = Vec::new();
        packed::write(&self.samples, &mut bytes);
        let sizes_start = bytes.len();
        packed::write(&sizes, &mut bytes);
        if let Some(index) = &self.index {
            let (samples, sizes) = bytes.split_at(sizes_start);
            let index = index.to_bytes(samples, sizes);
            bytes.extend_from_slice(&index);
        }
        bytes.reserve_exact(self.segments.iter().map(|segment| segment.len()).sum());
        for segment in &self.segments {
            bytes.extend_from_slice(segment);
        }
        bytes
    }

    /// Takes apart the payload of a block of `raw_size` bytes, which is in `1..2^31`.
    pub fn from_bytes(payload: &'a [u8], raw_size: u32, shape: Shape) -> Result<Self, Flaw> {
        let (whole, mut payload) = (payload, payload);
        let samples = packed::read(&mut payload, shape.samples(raw_size))?;
        let (coded_samples, behind) = whole.split_at(whole.len() - payload.len());
        let rows = 1..=raw_size;
        ensure(samples.iter().all(|row| rows.contains(row)), "a sample is no row of the block")?;
        let sizes = packed::read(&mut payload, shape.segments(raw_size))?;
        let coded_sizes = &behind[..behind.len() - payload.len()];
        let mut take_index =
            || Index::take(&mut payload, coded_samples, coded_sizes, raw_size, sizes.len());
        let index = if shape.indexed { Some(take_index()?) } else { None };
        let primary = index.as_ref().map_or(samples[0], |index| index.primary_index);
        ensure(primary == samples[0], "the index's primary index is not the first sample")?;
        let segments = sizes
            .iter()
            .map(|&size| {
                let (segment, rest) = payload.split_at_checked(size as usize).ok_or(MISFIT)?;
                payload = rest;
                if segment.is_empty() { Err(MISFIT) } else { Ok(segment) }
            })
            .collect::<Result<_, _>>()?;
        ensure(payload.is_empty(), MISFIT.0)?;
        Ok(BwtPayload { samples, index, segments })
    }
}

const MISFIT: Flaw = Flaw("the sizes of the block's segments do not add up to the block");

impl Shape {
    /// How many samples a block of `raw_size` bytes has.
    pub fn samples(self, raw_size: u32) -> usize {
        pieces(raw_size, self.sample_rate_log)
    }

    /// How many segments a block of `raw_size` bytes has.
    pub fn segments(self, raw_size: u32) -> usize {
        pieces(raw_size, self.segment_size_log)
    }
}

/// How many pieces of `2^log` bytes `size` bytes make.
fn pieces(size: u32, log: u8) -> usize {
    u64::from(size).div_ceil(1 << log) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_survive_and_misfits_do_not() {
        let parts = BwtPayload {
            samples: vec![7, 1, 5000],
            index: None,
            segments: vec![b"one", b"2", b"three"],
        };
        let shape = Shape { sample_rate_log: 11, segment_size_log: 11, indexed: false };
        let bytes = parts.to_bytes();
        assert_eq!(BwtPayload::from_bytes(&bytes, 5000, shape), Ok(parts));
        assert!(BwtPayload::from_bytes(&bytes, 4999, shape).is_err(), "row out of range");
        let other = Shape { sample_rate_log: 10, ..shape };
        assert!(BwtPayload::from_bytes(&bytes, 5000, other).is_err(), "other count of samples");
        let indexed = Shape { indexed: true, ..shape };
        assert!(BwtPayload::from_bytes(&bytes, 5000, indexed).is_err(), "no index");
        assert!(BwtPayload::from_bytes(&bytes[..bytes.len() - 1], 5000, shape).is_err(), "cut");
        assert!(BwtPayload::from_bytes(&[&bytes[..], b"x"].concat(), 5000, shape).is_err());
    }
}
