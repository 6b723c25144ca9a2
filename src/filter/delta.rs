//! Delta and transpose with a stride: records of one size become differences from the record
//! before, and their columns. FORMAT.md section 12.5.
//!
//! Tables, images, sound and grids of numbers have little in common with the bytes beside them and
//! much with those one record, or one row of an image, before. Two steps, each optional: every
//! element (a little-endian number of 1 to 8 bytes) becomes its difference from a prediction; then
//! the records are transposed, so that the same byte of all records stands together. A few passes,
//! the transposition with a copy.

use crate::allocation;
use crate::error::Flaw;
use crate::leb128::{self, CUT};

/// The delta and transpose filter of a region of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    /// Bytes of a record, 1 to 255.
    pub stride: usize,
    /// Bytes of an element, 1 to 8 and to the stride, or 0 where no differences are taken.
    pub width: usize,
    /// Bytes of a row of an image, above the stride; or 0 where the record before alone predicts.
    pub row: usize,
    /// Whether the records are transposed.
    pub transposed: bool,
}

impl Records {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend([self.stride as u8, self.width as u8 | u8::from(self.transposed) << 7]);
        leb128::write(self.row, out);
    }

    pub fn read(bytes: &mut &[u8]) -> Result<Self, Flaw> {
        let (&[stride, form], rest) = bytes.split_first_chunk().ok_or(CUT)?;
        *bytes = rest;
        let (stride, width) = (usize::from(stride), usize::from(form & 0x7F));
        let row = leb128::read(bytes)?;
        if stride < width.max(1) || width > 8 || row > 0 && row <= stride {
            return Err(Flaw("a block's records are of an impossible shape"));
        }
        Ok(Records { stride, width, row, transposed: form >> 7 == 1 })
    }

    /// Changes `region` in place.
    pub fn encode(&self, region: &mut [u8]) -> Result<(), Flaw> {
        for_width(self.width, region, self, true);
        if self.transposed {
            let records = allocation::copied(region).ok_or(Flaw::NO_MEMORY)?;
            let count = records.len() / self.stride;
            for (column, out) in region.chunks_exact_mut(count.max(1)).take(self.stride).enumerate()
            {
                let bytes = records[column.min(records.len())..].iter().step_by(self.stride);
                out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = *byte);
            }
        }
        Ok(())
    }

    /// Undoes [`Records::encode`].
    pub fn decode(&self, region: &mut [u8]) -> Result<(), Flaw> {
        if self.transposed {
            let columns = allocation::copied(region).ok_or(Flaw::NO_MEMORY)?;
            let count = columns.len() / self.stride;
            for (column, bytes) in columns.chunks_exact(count.max(1)).take(self.stride).enumerate()
            {
                let out = region[column..].iter_mut().step_by(self.stride);
                out.zip(bytes).for_each(|(out, byte)| *out = *byte);
            }
        }
        for_width(self.width, region, self, false);
        Ok(())
    }
}

/// One copy of the loops for each width, as they are hot.
fn for_width(width: usize, region: &mut [u8], records: &Records, forward: bool) {
    let run = match width {
        1 => differences::<1>,
        2 => differences::<2>,
        3 => differences::<3>,
        4 => differences::<4>,
        5 => differences::<5>,
        6 => differences::<6>,
        7 => differences::<7>,
        8 => differences::<8>,
        _ => return,
    };
    run(region, records.stride, records.row, forward);
}

/// Takes every element from its prediction, or (not `forward`) adds the prediction back.
fn differences<const WIDTH: usize>(region: &mut [u8], stride: usize, row: usize, forward: bool) {
    // Byte by byte, which the compiler makes one access: an array in between would be a detour
    // through memory.
    let get = |region: &[u8], at: usize| {
        let bytes = region[at..at + WIDTH].iter().rev();
        bytes.fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let put = |region: &mut [u8], at: usize, value: u64| {
        let bytes = region[at..at + WIDTH].iter_mut().enumerate();
        bytes.for_each(|(n, byte)| *byte = (value >> (8 * n)) as u8);
    };
    let predict = |region: &[u8], at: usize| {
        let before = get(region, at - stride);
        if row == 0 || at < row {
            return before;
        }
        let above = get(region, at - row);
        (before & above) + ((before ^ above) >> 1)
    };
    // Whole elements that have one a stride before them.
    let first = stride.div_ceil(WIDTH);
    let elements = first..(region.len() / WIDTH).max(first);
    if forward {
        for at in elements.rev().map(|n| n * WIDTH) {
            let value = get(region, at).wrapping_sub(predict(region, at));
            put(region, at, value);
        }
    } else {
        for at in elements.map(|n| n * WIDTH) {
            let value = get(region, at).wrapping_add(predict(region, at));
            put(region, at, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_its_columns() {
        let mut table = *b"a1xb2xc3x";
        let records = Records { stride: 3, width: 0, row: 0, transposed: true };
        records.encode(&mut table).unwrap();
        assert_eq!(&table, b"abc123xxx");
        let mut table = *b"a1xb2xc3x!";
        Records { width: 1, transposed: false, ..records }.encode(&mut table).unwrap();
        assert_eq!(&table, b"a1x\x01\x01\0\x01\x01\0\xBE");
    }

    #[test]
    fn any_shape_comes_back() {
        let noise = super::super::cases::random(3000, 256);
        for len in [0, 1, 2, 7, 23, 24, 25, 48, 2999] {
            for stride in [1, 2, 3, 4, 7, 8, 24, 255] {
                for width in 0..=stride.min(8) {
                    for row in [0, stride + 1, 300] {
                        for transposed in [false, true] {
                            let records = Records { stride, width, row, transposed };
                            let mut region = noise[..len].to_vec();
                            records.encode(&mut region).unwrap();
                            records.decode(&mut region).unwrap();
                            assert!(region == noise[..len], "{records:?}, {len} bytes");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn parameters_survive_and_impossible_ones_do_not() {
        let records = Records { stride: 24, width: 8, row: 4096, transposed: true };
        let mut bytes = Vec::new();
        records.write(&mut bytes);
        assert_eq!(Records::read(&mut &bytes[..]), Ok(records));
        for bad in [&[][..], &[24], &[24, 8], &[0, 1, 0], &[24, 9, 0], &[24, 1, 24]] {
            assert!(Records::read(&mut &bad[..]).is_err());
        }
    }
}
