//! The payload of a bwt block: samples, segment sizes, segments. FORMAT.md section 4.

use super::{ensure, packed};
use crate::error::Flaw;

/// The parts of a bwt block's payload, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BwtPayload<'a> {
    /// Row of the suffix at every sampled pos.
    pub samples: Vec<u32>,
    /// The coded segments.
    pub segments: Vec<&'a [u8]>,
}

impl<'a> BwtPayload<'a> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let sizes: Vec<u32> = self.segments.iter().map(|segment| segment.len() as u32).collect();
        let mut bytes = Vec::new();
        packed::write(&self.samples, &mut bytes);
        packed::write(&sizes, &mut bytes);
        bytes.reserve_exact(self.segments.iter().map(|segment| segment.len()).sum());
        for segment in &self.segments {
            bytes.extend_from_slice(segment);
        }
        bytes
    }

    /// Takes `payload` apart; `raw_size` is in `1..2^31`.
    pub fn from_bytes(
        mut payload: &'a [u8],
        raw_size: u32,
        sample_rate_log: u8,
        segment_size_log: u8,
    ) -> Result<Self, Flaw> {
        let samples = packed::read(&mut payload, pieces(raw_size, sample_rate_log))?;
        let rows = 1..=raw_size;
        ensure(samples.iter().all(|row| rows.contains(row)), "a sample is no row of the block")?;
        let sizes = packed::read(&mut payload, pieces(raw_size, segment_size_log))?;
        let segments = sizes
            .iter()
            .map(|&size| {
                let (segment, rest) = payload.split_at_checked(size as usize).ok_or(MISFIT)?;
                payload = rest;
                if segment.is_empty() { Err(MISFIT) } else { Ok(segment) }
            })
            .collect::<Result<_, _>>()?;
        ensure(payload.is_empty(), MISFIT.0)?;
        Ok(BwtPayload { samples, segments })
    }
}

const MISFIT: Flaw = Flaw("the sizes of the block's segments do not add up to the block");

/// How many pieces of `2^log` bytes `size` bytes make.
fn pieces(size: u32, log: u8) -> usize {
    u64::from(size).div_ceil(1 << log) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_survive_and_misfits_do_not() {
        let parts =
            BwtPayload { samples: vec![7, 1, 5000], segments: vec![b"one", b"2", b"three"] };
        let bytes = parts.to_bytes();
        assert_eq!(BwtPayload::from_bytes(&bytes, 5000, 11, 11), Ok(parts));
        assert!(BwtPayload::from_bytes(&bytes, 4999, 11, 11).is_err(), "row out of range");
        assert!(BwtPayload::from_bytes(&bytes, 5000, 10, 11).is_err(), "other count of samples");
        assert!(BwtPayload::from_bytes(&bytes[..bytes.len() - 1], 5000, 11, 11).is_err(), "cut");
        assert!(BwtPayload::from_bytes(&[&bytes[..], b"x"].concat(), 5000, 11, 11).is_err());
    }
}
