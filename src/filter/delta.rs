//! Delta and transpose with a stride: records of one size become differences from the record
//! before, and their columns. FORMAT.md section 12.5.
//!
//! Tables, images, sound and grids of numbers have little in common with the bytes beside them and
//! much with the bytes one record, or one row of an image, before. There are two steps, each
//! optional. First every element (a little-endian number of 1 to 8 bytes) becomes its difference
//! from a prediction. Then the records are transposed, so that the same byte of all records is
//! together. Both take a few passes, and the transposition a copy. Parts of a large region are
//! worked on in parallel, except when differences in an image are undone.

use super::bcj::Direction;
use crate::base::allocation;
use crate::base::error::Flaw;
use crate::base::leb128::{self, CUT};
use crate::base::threads::Threads;

/// The delta and transpose filter of a region of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    /// Size of a record, 1 to 255 bytes.
    pub stride: usize,
    /// Size of an element, 1 to 8 bytes and at most the stride, or 0 if no differences are taken.
    pub width: usize,
    /// Size of a row of an image in bytes, above the stride, or 0 if only the record before
    /// predicts.
    pub row: usize,
    /// True if the records are transposed.
    pub transposed: bool,
}

impl Records {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend([
            self.stride as u8,
            self.width as u8 | u8::from(self.transposed) << 7,
        ]);
        leb128::write(self.row, out);
    }

    pub(crate) fn read(bytes: &mut &[u8]) -> Result<Self, Flaw> {
        let (&[stride, form], rest) = bytes.split_first_chunk().ok_or(CUT)?;
        *bytes = rest;
        let stride = usize::from(stride);
        let width = usize::from(form & 0x7F);
        let row = leb128::read(bytes)?;
        if stride < width.max(1) || width > 8 || row > 0 && row <= stride {
            return Err(Flaw("a block's records are of an impossible shape"));
        }
        Ok(Records {
            stride,
            width,
            row,
            transposed: form >> 7 == 1,
        })
    }

    /// Applies the filter to `region`, or undoes it.
    pub(crate) fn change(
        &self,
        region: &mut [u8],
        direction: Direction,
        pool: &Threads,
    ) -> Result<(), Flaw> {
        match direction {
            Direction::Encode => self.encode(region, pool),
            Direction::Decode => self.decode(region, pool),
        }
    }

    /// Changes `region` in place.
    pub(crate) fn encode(&self, region: &mut [u8], pool: &Threads) -> Result<(), Flaw> {
        self.take_differences(region, pool);
        if self.transposed {
            let records = allocation::copied(region).ok_or(Flaw::NO_MEMORY)?;
            let count = records.len() / self.stride;
            let columns = region
                .chunks_exact_mut(count.max(1))
                .take(self.stride)
                .enumerate();
            let parts = columns.flat_map(|(column, out)| {
                let parts = out.chunks_mut(PART).enumerate();
                parts.map(move |(n, out)| (column + n * PART * self.stride, out))
            });
            pool.each(parts, |(first, out)| {
                let bytes = records[first..].iter().step_by(self.stride);
                out.iter_mut()
                    .zip(bytes)
                    .for_each(|(out, byte)| *out = *byte);
            });
        }
        Ok(())
    }

    /// Undoes [`Records::encode`].
    pub(crate) fn decode(&self, region: &mut [u8], pool: &Threads) -> Result<(), Flaw> {
        if self.transposed {
            let columns = allocation::copied(region).ok_or(Flaw::NO_MEMORY)?;
            let count = columns.len() / self.stride;
            let records = &mut region[..count * self.stride];
            pool.each(
                records.chunks_mut(ROWS * self.stride).enumerate(),
                |(n, out)| {
                    for (column, bytes) in columns
                        .chunks_exact(count)
                        .take(self.stride)
                        .enumerate()
                    {
                        let out = out[column..].iter_mut().step_by(self.stride);
                        out.zip(&bytes[n * ROWS..])
                            .for_each(|(out, byte)| *out = *byte);
                    }
                },
            );
        }
        self.add_differences(region, pool);
        Ok(())
    }

    /// Bytes of a part that is worked on by itself: whole records and elements.
    fn part(&self) -> usize {
        let unit = self.stride * self.width.max(1);
        PART.div_ceil(unit) * unit
    }

    /// Replaces every element by its difference from the prediction. A part is changed from its end
    /// to its start. Its head is predicted by bytes of the part before, which change too, so the
    /// differences of the heads are computed first, on copies.
    fn take_differences(&self, region: &mut [u8], pool: &Threads) {
        let part = self.part();
        let reach = self
            .row
            .max(self.stride)
            .div_ceil(self.width.max(1))
            * self.width.max(1);
        if self.width == 0 || region.len() < 2 * part || reach > part / 2 {
            return for_width(self.width, region, self, Pass::Take);
        }
        let starts = (part..region.len()).step_by(part);
        let heads: Vec<Vec<u8>> = starts
            .map(|start| {
                let mut head = region[start - reach..region.len().min(start + reach)].to_vec();
                for_width(self.width, &mut head, self, Pass::Take);
                head.split_off(reach)
            })
            .collect();
        let parts = region
            .chunks_mut(part)
            .zip([Vec::new()].into_iter().chain(heads));
        pool.each(parts, |(part, head)| {
            for_width(self.width, part, self, Pass::Take);
            part[..head.len()].copy_from_slice(&head);
        });
    }

    /// Undoes [`Records::take_differences`]. If only the record before predicts, each part is first
    /// undone as if it were the first; then the sum of the parts before it is added to its records.
    fn add_differences(&self, region: &mut [u8], pool: &Threads) {
        let part = self.part();
        if self.width == 0
            || self.row > 0
            || !self.stride.is_multiple_of(self.width)
            || region.len() < 2 * part
        {
            return for_width(self.width, region, self, Pass::Add);
        }
        pool.each(region.chunks_mut(part), |part| {
            for_width(self.width, part, self, Pass::Add)
        });
        let mut sums = vec![0; self.stride];
        let mut parts = Vec::new();
        for part in region.chunks_mut(part) {
            let before = sums.clone();
            if let Some(last) = part.len().checked_sub(self.stride) {
                for_width(self.width, &mut sums, self, Pass::AddRecord(&part[last..]));
            }
            parts.push((part, before));
        }
        pool.each(parts, |(part, before)| {
            for_width(self.width, part, self, Pass::AddRecord(&before));
        });
    }
}

/// Bytes of a large region that one task works on.
const PART: usize = if cfg!(test) { 1 << 8 } else { 1 << 20 };
/// Records of a region that one task transposes back.
const ROWS: usize = if cfg!(test) { 1 << 4 } else { 1 << 12 };

/// The operation on the elements of a region.
#[derive(Clone, Copy)]
enum Pass<'a> {
    /// Subtracts its prediction from each element.
    Take,
    /// Adds its prediction to each element, which undoes `Take`.
    Add,
    /// Adds the element of this record to that of each record.
    AddRecord(&'a [u8]),
}

/// Runs the loops compiled for `width`: they are hot, so each width has its own.
fn for_width(width: usize, region: &mut [u8], records: &Records, pass: Pass) {
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
    run(region, records.stride, records.row, pass);
}

fn differences<const WIDTH: usize>(region: &mut [u8], stride: usize, row: usize, pass: Pass) {
    // Byte by byte, which the compiler turns into one access; an array in between would cost a
    // detour through memory.
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
    // Whole elements that have another one stride before them.
    let first = stride.div_ceil(WIDTH);
    let elements = first..(region.len() / WIDTH).max(first);
    match pass {
        Pass::Take => {
            for at in elements.rev().map(|n| n * WIDTH) {
                let value = get(region, at).wrapping_sub(predict(region, at));
                put(region, at, value);
            }
        }
        Pass::Add => {
            for at in elements.map(|n| n * WIDTH) {
                let value = get(region, at).wrapping_add(predict(region, at));
                put(region, at, value);
            }
        }
        Pass::AddRecord(more) => {
            for record in region.chunks_mut(stride) {
                for at in (0..record.len() / WIDTH).map(|n| n * WIDTH) {
                    let value = get(record, at).wrapping_add(get(more, at));
                    put(record, at, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_its_columns() {
        let mut table = *b"a1xb2xc3x";
        let records = Records {
            stride: 3,
            width: 0,
            row: 0,
            transposed: true,
        };
        records
            .encode(&mut table, &Threads::Calling)
            .unwrap();
        assert_eq!(&table, b"abc123xxx");
        let mut table = *b"a1xb2xc3x!";
        Records {
            width: 1,
            transposed: false,
            ..records
        }
        .encode(&mut table, &Threads::Calling)
        .unwrap();
        assert_eq!(&table, b"a1x\x01\x01\0\x01\x01\0\xBE");
    }

    /// Applies the filter as section 12.5 of FORMAT.md describes it, not in parts.
    fn at_once(records: Records, raw: &[u8]) -> Vec<u8> {
        let mut region = raw.to_vec();
        for_width(records.width, &mut region, &records, Pass::Take);
        if records.transposed {
            let stride = records.stride;
            let count = raw.len() / records.stride;
            let columns = (0..stride).flat_map(|column| (0..count).map(move |n| (column, n)));
            let columns: Vec<u8> = columns
                .map(|(column, n)| region[n * stride + column])
                .collect();
            region[..columns.len()].copy_from_slice(&columns);
        }
        region
    }

    #[test]
    fn any_shape_comes_back_in_parts_of_any_number() {
        let pool = Threads::Pool(
            rayon::ThreadPoolBuilder::new()
                .num_threads(3)
                .build()
                .unwrap()
                .into(),
        );
        let noise = super::super::cases::random(3000, 256);
        for len in [0, 1, 2, 7, 23, 24, 25, 48, 1000, 2999] {
            for stride in [1, 2, 3, 4, 7, 8, 24, 255] {
                for width in 0..=stride.min(8) {
                    for row in [0, stride + 1, 300] {
                        for transposed in [false, true] {
                            let records = Records {
                                stride,
                                width,
                                row,
                                transposed,
                            };
                            let mut region = noise[..len].to_vec();
                            records.encode(&mut region, &pool).unwrap();
                            assert!(region == at_once(records, &noise[..len]), "{records:?}");
                            records.decode(&mut region, &pool).unwrap();
                            assert!(region == noise[..len], "{records:?}, {len} bytes");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn parameters_survive_and_impossible_ones_do_not() {
        let records = Records {
            stride: 24,
            width: 8,
            row: 4096,
            transposed: true,
        };
        let mut bytes = Vec::new();
        records.write(&mut bytes);
        assert_eq!(Records::read(&mut &bytes[..]), Ok(records));
        for bad in [
            &[][..],
            &[24],
            &[24, 8],
            &[0, 1, 0],
            &[24, 9, 0],
            &[24, 1, 24],
        ] {
            assert!(Records::read(&mut &bad[..]).is_err());
        }
    }
}
