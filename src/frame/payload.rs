//! The payload of a bwt block: what its filters need, samples, segment sizes, segments. FORMAT.md section 4.

use super::block::largest_sample_rate_log;
use super::{ensure, packed, u32_at};
use crate::error::Flaw;

/// The parts of a bwt block's payload, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BwtPayload<'a> {
    /// What the filters left of the block, and what they need to restore it; `None` where there were none.
    pub filtered: Option<Filtered<'a>>,
    /// Row of the suffix at every sampled pos.
    pub samples: Vec<u32>,
    /// The coded segments.
    pub segments: Vec<&'a [u8]>,
}

/// What stands in front of the payload of a block with filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filtered<'a> {
    /// Bytes of the text that was sorted.
    pub text_size: u32,
    /// Parameters of the filters.
    pub side: &'a [u8],
}

impl<'a> Filtered<'a> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.text_size.to_le_bytes());
        out.extend((self.side.len() as u32).to_le_bytes());
        out.extend_from_slice(self.side);
    }

    fn read(payload: &mut &'a [u8], raw_size: u32, sample_rate_log: u8) -> Result<Self, Flaw> {
        const SIDE: Flaw = Flaw("the parameters of the block's filters end after the block");
        let (sizes, rest) = payload.split_at_checked(8).ok_or(SIDE)?;
        let (text_size, side_size) = (u32_at(sizes, 0), u32_at(sizes, 4));
        let (side, rest) = rest.split_at_checked(side_size as usize).ok_or(SIDE)?;
        *payload = rest;
        let fits = (1..=raw_size).contains(&text_size)
            && sample_rate_log <= largest_sample_rate_log(text_size);
        ensure(fits, "the size of what the filters left does not fit the block")?;
        Ok(Filtered { text_size, side })
    }
}

impl<'a> BwtPayload<'a> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let sizes: Vec<u32> = self.segments.iter().map(|segment| segment.len() as u32).collect();
        let mut bytes = Vec::new();
        if let Some(filtered) = &self.filtered {
            filtered.write(&mut bytes);
        }
        packed::write(&self.samples, &mut bytes);
        packed::write(&sizes, &mut bytes);
        bytes.reserve_exact(self.segments.iter().map(|segment| segment.len()).sum());
        for segment in &self.segments {
            bytes.extend_from_slice(segment);
        }
        bytes
    }

    /// Takes `payload` apart; `raw_size` is in `1..2^31`. With `filtered`, what filters need stands in front.
    pub fn from_bytes(
        mut payload: &'a [u8],
        raw_size: u32,
        filtered: bool,
        [sample_rate_log, segment_size_log]: [u8; 2],
    ) -> Result<Self, Flaw> {
        let filtered = filtered
            .then(|| Filtered::read(&mut payload, raw_size, sample_rate_log))
            .transpose()?;
        let text_size = filtered.map_or(raw_size, |filtered| filtered.text_size);
        let samples = packed::read(&mut payload, pieces(text_size, sample_rate_log))?;
        let rows = 1..=text_size;
        ensure(samples.iter().all(|row| rows.contains(row)), "a sample is no row of the block")?;
        let sizes = packed::read(&mut payload, pieces(text_size, segment_size_log))?;
        let segments = sizes
            .iter()
            .map(|&size| {
                let (segment, rest) = payload.split_at_checked(size as usize).ok_or(MISFIT)?;
                payload = rest;
                if segment.is_empty() { Err(MISFIT) } else { Ok(segment) }
            })
            .collect::<Result<_, _>>()?;
        ensure(payload.is_empty(), MISFIT.0)?;
        Ok(BwtPayload { filtered, samples, segments })
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
        let (samples, segments) = (vec![7, 1, 5000], vec![&b"one"[..], b"2", b"three"]);
        let parts = BwtPayload { filtered: None, samples, segments };
        let bytes = parts.to_bytes();
        let reread = |bytes, size, logs| BwtPayload::from_bytes(bytes, size, false, logs).map(drop);
        assert_eq!(BwtPayload::from_bytes(&bytes, 5000, false, [11, 11]), Ok(parts));
        assert!(reread(&bytes, 4999, [11, 11]).is_err(), "row out of range");
        assert!(reread(&bytes, 5000, [10, 11]).is_err(), "other count of samples");
        assert!(reread(&bytes[..bytes.len() - 1], 5000, [11, 11]).is_err(), "cut");
        assert!(reread(&[&bytes[..], b"x"].concat(), 5000, [11, 11]).is_err());
    }

    #[test]
    fn what_filters_need_stands_in_front() {
        let filtered = Some(Filtered { text_size: 5000, side: b"side" });
        let (samples, segments) = (vec![7, 1, 5000], vec![&b"one"[..], b"2", b"three"]);
        let parts = BwtPayload { filtered, samples, segments };
        let bytes = parts.to_bytes();
        let reread = |bytes, size| BwtPayload::from_bytes(bytes, size, true, [11, 11]).map(drop);
        assert_eq!(BwtPayload::from_bytes(&bytes, 90_000, true, [11, 11]), Ok(parts));
        assert!(reread(&bytes, 4999).is_err(), "a text larger than the block");
        for cut in 0..bytes.len() {
            assert!(reread(&bytes[..cut], 90_000).is_err(), "cut to {cut}");
        }
        let empty = [&[0; 4], &bytes[4..]].concat();
        assert!(reread(&empty, 90_000).is_err(), "no text");
    }
}
