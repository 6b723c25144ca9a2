//! The payload of a bwt block, FORMAT.md chapter 4: its tables, the fields of its filters, samples,
//! sizes of slices, the index if there is one, models, slices.

use super::block_header::{BlockKind, CodedBlock, Shape, largest_sample_rate_log};
use super::block_index::{Around, BlockIndex, TextSizes};
use super::field_bytes::{ensure, put_uint, uint_at};
use super::slice_sizes::SliceSizes;
use super::{packed_array, tables};
use crate::base::allocation;
use crate::base::error::{Bound, Error, Flaw};
use crate::coder::Coding;
use crate::filter;

use crate::base::leb128;

/// The parts of a bwt block's payload, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BwtPayload<'a> {
    /// Tables as they are stored in the file, if there are any.
    pub tables: Option<&'a [u8]>,
    /// Size of the filtered text, and the parameters that restore the block from it. `None` if the
    /// block has no filters.
    pub filtered: Option<FilterFields<'a>>,
    /// Row of the suffix at every sampled position.
    pub samples: Vec<u64>,
    /// BWT bytes of each slice.
    pub raw_sizes: Vec<u32>,
    /// The index that search needs, if the block is indexed.
    pub index: Option<BlockIndex>,
    /// The models that all slices share. Empty in context mixing.
    pub models: &'a [u8],
    /// The coded slices.
    pub slices: Vec<&'a [u8]>,
}

/// The fields in front of the payload of a block with filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilterFields<'a> {
    /// Bytes of the text that was sorted.
    pub text_size: u64,
    /// Parameters of the filters.
    pub side: &'a [u8],
}

impl<'a> FilterFields<'a> {
    /// Bytes of the sizes in front of Side.
    pub(crate) const SIZES: usize = 10;

    /// Text_Size and Side_Size.
    pub(crate) fn sizes(bytes: &[u8]) -> (u64, u64) {
        (uint_at::<5>(bytes, 0), uint_at::<5>(bytes, 5))
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut sizes = [0; Self::SIZES];
        put_uint::<5>(&mut sizes, 0, self.text_size);
        put_uint::<5>(&mut sizes, 5, self.side.len() as u64);
        out.extend(sizes);
        out.extend_from_slice(self.side);
    }

    fn read(payload: &mut &'a [u8], raw_size: u64, sample_rate_log: u8) -> Result<Self, Flaw> {
        const SIDE: Flaw = Flaw("the parameters of the block's filters end after the block");
        let sizes = payload.split_off(..Self::SIZES).ok_or(SIDE)?;
        let (text_size, side_size) = Self::sizes(sizes);
        let side = payload
            .split_off(..side_size as usize)
            .ok_or(SIDE)?;
        let fits = (1..=raw_size).contains(&text_size)
            && sample_rate_log <= largest_sample_rate_log(text_size);
        ensure(fits, "the size of the filtered text does not fit the block")?;
        Ok(FilterFields { text_size, side })
    }
}

impl<'a> BwtPayload<'a> {
    /// Builds the payload of a block with this coding.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`].
    pub(crate) fn to_bytes(&self, coding: Coding) -> Result<Vec<u8>, Flaw> {
        let sizes = SliceSizes {
            raw: self.raw_sizes.clone(),
            models: self.models.len() as u32,
            coded: self
                .slices
                .iter()
                .map(|slice| slice.len() as u32)
                .collect(),
        };
        let mut bytes = self.tables.unwrap_or_default().to_vec();
        if let Some(filtered) = &self.filtered {
            filtered.write(&mut bytes);
        }
        let searched = searched_fields(&bytes[self.tables.map_or(0, <[u8]>::len)..]).to_vec();
        let samples_start = bytes.len();
        packed_array::write(&self.samples, &mut bytes);
        let sizes_start = bytes.len();
        sizes.write(coding, &mut bytes);
        if let Some(index) = &self.index {
            let (samples, sizes) = bytes[samples_start..].split_at(sizes_start - samples_start);
            let around = Around {
                searched: &searched,
                sizes,
                models: self.models,
            };
            let index = index.to_bytes(samples, around);
            bytes.extend_from_slice(&index);
        }
        let coded_size = self
            .slices
            .iter()
            .map(|slice| slice.len())
            .sum::<usize>();
        allocation::handled(|| bytes.try_reserve_exact(self.models.len() + coded_size))
            .or(Err(Flaw::NO_MEMORY))?;
        for part in [self.models].iter().chain(&self.slices) {
            bytes.extend_from_slice(part);
        }
        Ok(bytes)
    }

    /// Parses and checks the payload of a block. Returns `None` if the block is stored.
    ///
    /// # Errors
    /// [`Error::Format`] if the payload is damaged.
    pub(crate) fn of(block: &'a CodedBlock) -> Result<Option<(Shape, Self)>, Error> {
        let parts = block
            .check_payload()
            .and_then(|()| match block.header.kind {
                BlockKind::Stored => Ok(None),
                BlockKind::Bwt(shape) => {
                    let parts = Self::from_bytes(&block.payload, block.header.raw_size, shape)?;
                    Ok(Some((shape, parts)))
                }
            });
        parts.map_err(|flaw| block.error(flaw))
    }

    /// Parameters of the filters. Empty if the block has no filters.
    pub(crate) fn side(&self) -> &'a [u8] {
        self.filtered
            .map_or(&[], |filtered| filtered.side)
    }

    /// Bytes of the text of a block of `raw_size` bytes.
    pub(crate) fn text_size(&self, raw_size: u64) -> u64 {
        self.filtered
            .map_or(raw_size, |filtered| filtered.text_size)
    }

    /// Parses the payload of a block of `raw_size` bytes, which is in `1..2^40`.
    pub(crate) fn from_bytes(
        mut payload: &'a [u8],
        raw_size: u64,
        shape: Shape,
    ) -> Result<Self, Flaw> {
        let tables = shape
            .tables
            .then(|| tables::take(&mut payload))
            .transpose()?;
        let from_filtered = payload;
        let filtered = (shape.filters != 0)
            .then(|| FilterFields::read(&mut payload, raw_size, shape.sample_rate_log))
            .transpose()?;
        let text_size = filtered.map_or(raw_size, |filtered| filtered.text_size);
        let from_samples = payload;
        let searched = &from_filtered[..from_filtered.len() - payload.len()];
        let samples = packed_array::read(&mut payload, shape.samples(text_size))?;
        let (coded_samples, behind) = from_samples.split_at(from_samples.len() - payload.len());
        let rows = 1..=text_size;
        ensure(
            samples.iter().all(|row| rows.contains(row)),
            "a sample is not a row of the block",
        )?;
        let mut sizes = SliceSizes::read(&mut payload, shape.coding, text_size)?;
        let coded_sizes = &behind[..behind.len() - payload.len()];
        let mut take_index = || {
            let side = filtered.map_or(&[][..], |filtered| filtered.side);
            let searched_size = filter::searched_size(shape.filters, side, text_size)?;
            let text = TextSizes {
                all: text_size,
                searched: searched_size,
            };
            let searched = searched_fields(searched);
            let around = Around {
                searched,
                sizes: coded_sizes,
                models: &[],
            };
            BlockIndex::take(&mut payload, coded_samples, around, text, &sizes)
        };
        let index = if shape.indexed {
            Some(take_index()?)
        } else {
            None
        };
        let primary = index
            .as_ref()
            .map_or(samples[0], |index| index.primary_index);
        ensure(
            primary == samples[0],
            "the index's primary index is not the first sample",
        )?;
        let (models, mut coded) = payload
            .split_at_checked(sizes.models as usize)
            .ok_or(LONG_MODELS)?;
        sizes.complete(coded.len() as u64)?;
        let mut take = |&size: &u32| {
            coded
                .split_off(..size as usize)
                .expect("they add up")
        };
        let slices = sizes.coded.iter().map(&mut take).collect();
        Ok(BwtPayload {
            tables,
            filtered,
            samples,
            raw_sizes: sizes.raw,
            index,
            models,
            slices,
        })
    }
}

/// The part of the sizes and of Side that a search reads in an indexed block: Text_Size, Side_Size
/// and Sequence_Size, at the front of `bytes`.
fn searched_fields(bytes: &[u8]) -> &[u8] {
    let mut behind = bytes
        .get(FilterFields::SIZES..)
        .unwrap_or_default();
    let _ = leb128::read(&mut behind);
    &bytes[..bytes.len() - behind.len()]
}

const LONG_MODELS: Flaw = Flaw("the models of the block are longer than the block");

impl Shape {
    /// The distance between samples.
    ///
    /// # Errors
    /// [`Error::Limit`] if the distance is above 1 GiB, which is possible in blocks above 128 GiB.
    /// This library writes no such blocks.
    pub(crate) fn sample_rate(self) -> Result<u32, Error> {
        let rate = 1_u64 << self.sample_rate_log;
        let allowed = 1 << 30;
        if rate <= allowed {
            return Ok(rate as u32);
        }
        let what = format!("a block with samples {rate} bytes apart").into();
        Err(Error::Limit {
            what,
            needed: rate,
            allowed,
            by: Bound::SampleRate,
        })
    }

    /// Number of samples of a text of `size` bytes.
    pub(crate) fn samples(self, size: u64) -> usize {
        size.div_ceil(1 << self.sample_rate_log) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::SliceFacts;

    const SHAPE: Shape = Shape {
        filters: 0,
        sample_rate_log: 11,
        coding: Coding::StaticRans,
        indexed: false,
        tables: false,
    };

    #[test]
    fn parts_survive_and_misfits_do_not() {
        let parts = BwtPayload {
            tables: None,
            filtered: None,
            samples: vec![7, 1, 5000],
            raw_sizes: vec![2000, 3000],
            index: None,
            models: b"models",
            slices: vec![b"one", b"three"],
        };
        let shape = SHAPE;
        let bytes = parts.to_bytes(Coding::StaticRans).unwrap();
        assert_eq!(BwtPayload::from_bytes(&bytes, 5000, shape), Ok(parts));
        assert!(
            BwtPayload::from_bytes(&bytes, 4999, shape).is_err(),
            "row out of range"
        );
        let other = Shape {
            sample_rate_log: 10,
            ..shape
        };
        assert!(
            BwtPayload::from_bytes(&bytes, 5000, other).is_err(),
            "other count of samples"
        );
        let indexed = Shape {
            indexed: true,
            ..shape
        };
        assert!(
            BwtPayload::from_bytes(&bytes, 5000, indexed).is_err(),
            "no index"
        );
        // The rest belongs to the last slice.
        let last = bytes.len() - b"three".len();
        assert!(
            BwtPayload::from_bytes(&bytes[..last], 5000, shape).is_err(),
            "cut"
        );
        let long = [&bytes[..], &[0; 3000]].concat();
        assert!(
            BwtPayload::from_bytes(&long, 5000, shape).is_err(),
            "a slice above its raw size"
        );
    }

    #[test]
    fn tables_stand_before_all_else_and_an_index_is_of_the_text() {
        let tables = tables::to_bytes(&[(3, b"content")]);
        let text = [b'x'; 200];
        let bwt = [b'x'; 200];
        // Sequence_Size is 50.
        let searched = &text[..50];
        let side = b"\x32, and more";
        let parts = BwtPayload {
            tables: Some(&tables),
            filtered: Some(FilterFields {
                text_size: 200,
                side,
            }),
            samples: vec![7],
            raw_sizes: vec![200],
            index: Some(BlockIndex::new(
                searched,
                7,
                &[SliceFacts::of(&bwt, b"one")],
            )),
            models: b"models",
            slices: vec![b"one"],
        };
        let shape = Shape {
            filters: 1,
            indexed: true,
            tables: true,
            ..SHAPE
        };
        let bytes = parts.to_bytes(Coding::StaticRans).unwrap();
        assert!(bytes.starts_with(&tables));
        assert_eq!(BwtPayload::from_bytes(&bytes, 100_000, shape), Ok(parts));
    }

    #[test]
    fn samples_may_be_too_far_apart() {
        let rate = |sample_rate_log| {
            Shape {
                sample_rate_log,
                ..SHAPE
            }
            .sample_rate()
        };
        assert_eq!(rate(30).unwrap(), 1 << 30);
        let said = rate(33).unwrap_err().to_string();
        assert!(
            said.contains("8589934592 bytes apart") && said.contains("1073741824"),
            "{said}"
        );
    }

    #[test]
    fn what_filters_need_stands_in_front() {
        let parts = BwtPayload {
            tables: None,
            filtered: Some(FilterFields {
                text_size: 5000,
                side: b"side",
            }),
            samples: vec![7, 1, 5000],
            raw_sizes: vec![2000, 3000],
            index: None,
            models: b"models",
            slices: vec![b"one", b"three"],
        };
        let shape = Shape {
            filters: 1,
            ..SHAPE
        };
        let bytes = parts.to_bytes(Coding::StaticRans).unwrap();
        let reread = |bytes, size| BwtPayload::from_bytes(bytes, size, shape).map(drop);
        assert_eq!(BwtPayload::from_bytes(&bytes, 90_000, shape), Ok(parts));
        assert!(
            reread(&bytes, 4999).is_err(),
            "a text larger than the block"
        );
        for cut in 0..=bytes.len() - b"three".len() {
            assert!(reread(&bytes[..cut], 90_000).is_err(), "cut to {cut}");
        }
        let empty = [&[0; 5], &bytes[5..]].concat();
        assert!(reread(&empty, 90_000).is_err(), "no text");
    }
}
