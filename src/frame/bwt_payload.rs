//! The payload of a bwt block, FORMAT.md section 4.1: its front, which a search reads before any
//! slice, then samples, the parameters of its filters, and slices.

use super::block_header::{BlockKind, CodedBlock, Shape, largest_sample_rate_log};
use super::block_index::{BlockIndex, Front, StoredIndex};
use super::field_bytes::ensure;
use super::filter_list::FilterList;
use super::packed_array;
use super::slice_sizes::SliceSizes;
use super::tables::{self, INDEX};
use crate::base::allocation;
use crate::base::error::{Bound, Error, Flaw, Unreadable};
use crate::base::leb128;
use crate::coder::Coding;
use crate::filter::{self, Step};

/// The parts of a bwt block's payload.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BwtPayload<'a> {
    pub filters: FilterList,
    /// BWT bytes of each slice.
    pub raw_sizes: Vec<u32>,
    /// The index that search needs, if the block is indexed.
    pub index: Option<BlockIndex>,
    /// The models that all slices share. Empty in context mixing.
    pub models: &'a [u8],
    /// Row of the suffix at every sampled position.
    pub samples: Vec<u64>,
    /// Parameters of the filters. Empty if the block has no filters.
    pub side: &'a [u8],
    /// The coded slices.
    pub slices: Vec<&'a [u8]>,
}

/// Bytes of parts of a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartSizes {
    /// The part in front of Samples.
    pub front: usize,
    /// The table of the index, and the samples that belong to it. 0 if there is no index.
    pub index: usize,
}

/// The part of a payload in front of Samples.
#[derive(Debug)]
pub(crate) struct PayloadFront<'a> {
    pub filters: FilterList,
    /// Bytes of the text.
    pub text_size: u64,
    /// The sizes of the slices. The coded size of the last one follows from that of the payload.
    pub sizes: SliceSizes,
    pub index: Option<StoredIndex>,
    pub models: &'a [u8],
    /// Bytes in front of the tables, or of the models if there are no tables.
    pub before_tables: usize,
    /// Bytes of this part.
    pub size: usize,
}

impl<'a> PayloadFront<'a> {
    /// Reads the number of slices alone. It bounds the memory that reading the rest may take.
    pub(crate) fn slice_count(
        mut payload: &[u8],
        raw_size: u64,
        shape: Shape,
    ) -> Result<u64, Unreadable> {
        read_filters(&mut payload, raw_size, shape)?.check_known()?;
        Ok(packed_array::read::<u64>(&mut payload, 1)?[0])
    }

    /// The size of the front alone.
    pub(crate) fn measure(payload: &[u8], raw_size: u64, shape: Shape) -> Option<usize> {
        let mut rest = payload;
        let filters = read_filters(&mut rest, raw_size, shape).ok()?;
        let text_size = filters.text_size(raw_size);
        let sizes = SliceSizes::read(&mut rest, shape.coding, text_size).ok()?;
        if shape.tables {
            let size = leb128::read(&mut rest).ok()?;
            rest.split_off(..size)?;
        }
        rest.split_off(..sizes.models as usize)?;
        Some(payload.len() - rest.len())
    }

    /// Parses the front of a payload of a block of `raw_size` bytes, which is in `1..2^40`.
    pub(crate) fn read(payload: &'a [u8], raw_size: u64, shape: Shape) -> Result<Self, Unreadable> {
        let mut rest = payload;
        let filters = read_filters(&mut rest, raw_size, shape)?;
        filters.check_known()?;
        let text_size = filters.text_size(raw_size);
        ensure(
            shape.sample_rate_log <= largest_sample_rate_log(text_size),
            "the size of the filtered text does not fit the block",
        )?;
        shape.check_filters(filters.ids())?;
        let sizes = SliceSizes::read(&mut rest, shape.coding, text_size)?;
        let coded_sizes = &payload[..payload.len() - rest.len()];
        let index = match shape.tables {
            true => tables::take(&mut rest, INDEX)?,
            false => None,
        };
        ensure(
            index.is_some() == shape.indexed,
            "the block has no index where its header says so, or has one that it does not mention",
        )?;
        let models = rest.split_off(..sizes.models as usize);
        let models = models.ok_or(LONG_MODELS)?;
        let front = Front {
            sizes: coded_sizes,
            models,
        };
        let read =
            |content: Vec<u8>| StoredIndex::from_bytes(&content, front, text_size, &sizes.raw);
        Ok(PayloadFront {
            filters,
            text_size,
            index: index.map(read).transpose()?,
            sizes,
            models,
            before_tables: coded_sizes.len(),
            size: payload.len() - rest.len(),
        })
    }
}

/// Takes Filter_List off the front of a payload, if the block has one.
fn read_filters(payload: &mut &[u8], raw_size: u64, shape: Shape) -> Result<FilterList, Flaw> {
    match shape.filtered {
        true => FilterList::read(payload, raw_size),
        false => Ok(FilterList::default()),
    }
}

impl<'a> BwtPayload<'a> {
    /// Builds the payload of a block with this coding. Also returns the sizes of some parts.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`].
    pub(crate) fn to_bytes(&self, coding: Coding) -> Result<(Vec<u8>, PartSizes), Flaw> {
        let sizes = SliceSizes {
            raw: self.raw_sizes.clone(),
            models: self.models.len() as u32,
            coded: self
                .slices
                .iter()
                .map(|slice| slice.len() as u32)
                .collect(),
        };
        let mut bytes = Vec::new();
        if !self.filters.is_empty() {
            self.filters.write(&mut bytes);
        }
        sizes.write(coding, &mut bytes);
        let mut samples = Vec::new();
        packed_array::write(&self.samples, &mut samples);
        let before_index = bytes.len();
        if let Some(index) = &self.index {
            let front = Front {
                sizes: &bytes,
                models: self.models,
            };
            let content = index.to_bytes(&samples, front);
            bytes.extend(tables::to_bytes(&[(INDEX, &content)]));
        }
        let index = match self.index {
            Some(_) => bytes.len() - before_index + samples.len(),
            None => 0,
        };
        let front = bytes.len() + self.models.len();
        let parts = [self.models, &samples, self.side];
        let parts = parts.iter().chain(&self.slices);
        let more: usize = parts.clone().map(|part| part.len()).sum();
        allocation::handled(|| bytes.try_reserve_exact(more)).or(Err(Flaw::NO_MEMORY))?;
        parts.for_each(|part| bytes.extend_from_slice(part));
        Ok((bytes, PartSizes { front, index }))
    }

    /// Parses and checks the payload of a block. Returns `None` if the block is stored.
    ///
    /// # Errors
    /// [`Error::Format`] if the payload is damaged, [`Error::Unsupported`] if it is of a kind that
    /// this version does not know.
    pub(crate) fn of(block: &'a CodedBlock) -> Result<Option<(Shape, Self)>, Error> {
        block
            .check_payload()
            .map_err(|flaw| block.error(flaw))?;
        match block.header.kind {
            BlockKind::Stored => Ok(None),
            BlockKind::Unknown(unknown, _) => Err(block.error(Unreadable::Unknown(unknown))),
            BlockKind::Bwt(shape) => {
                let parts = Self::from_bytes(&block.payload, block.header.raw_size, shape);
                let parts = parts.map_err(|why| block.error(why))?;
                Ok(Some((shape, parts)))
            }
        }
    }

    /// The filters of the block with their parameters, which are copied.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`].
    pub(crate) fn steps(&self) -> Result<Vec<Step>, Flaw> {
        self.filters.steps(self.side)
    }

    /// Bytes of the text of a block of `raw_size` bytes.
    pub(crate) fn text_size(&self, raw_size: u64) -> u64 {
        self.filters.text_size(raw_size)
    }

    /// Parses the payload of a block of `raw_size` bytes, which is in `1..2^40`.
    pub(crate) fn from_bytes(
        payload: &'a [u8],
        raw_size: u64,
        shape: Shape,
    ) -> Result<Self, Unreadable> {
        let PayloadFront {
            filters,
            text_size,
            mut sizes,
            index,
            models,
            size,
            ..
        } = PayloadFront::read(payload, raw_size, shape)?;
        let from_samples = &payload[size..];
        let mut rest = from_samples;
        let samples = packed_array::read(&mut rest, shape.samples(text_size))?;
        let coded_samples = &from_samples[..from_samples.len() - rest.len()];
        let rows = 1..=text_size;
        ensure(
            samples.iter().all(|row| rows.contains(row)),
            "a sample is not a row of the block",
        )?;
        let side = rest.split_off(..filters.side_size() as usize);
        let side = side.ok_or(LONG_SIDE)?;
        if let Some(stored) = &index {
            stored.check_samples(coded_samples)?;
            ensure(
                stored.index.primary_index == samples[0],
                "the index's primary index is not the first sample",
            )?;
            let searched = match filters.is_empty() {
                true => text_size,
                false => filter::sequence_size(side, text_size)?,
            };
            ensure(
                stored.index.searched == searched,
                "the index is not one of the block's sequences",
            )?;
        }
        sizes.complete(rest.len() as u64)?;
        let mut take = |&size: &u32| {
            rest.split_off(..size as usize)
                .expect("they add up")
        };
        let slices = sizes.coded.iter().map(&mut take).collect();
        Ok(BwtPayload {
            filters,
            raw_sizes: sizes.raw,
            index: index.map(|stored| stored.index),
            models,
            samples,
            side,
            slices,
        })
    }
}

const LONG_MODELS: Flaw = Flaw("the models of the block are longer than the block");
const LONG_SIDE: Flaw = Flaw("the parameters of the block's filters end after the block");

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
        coding: Coding::StaticRans,
        filtered: false,
        tables: false,
        indexed: false,
        sample_rate_log: 11,
    };

    fn parts() -> BwtPayload<'static> {
        BwtPayload {
            filters: FilterList::default(),
            raw_sizes: vec![2000, 3000],
            index: None,
            models: b"models",
            samples: vec![7, 1, 5000],
            side: b"",
            slices: vec![b"one", b"three"],
        }
    }

    fn step(filter: u8, output_size: usize, side: &[u8]) -> Step {
        Step {
            filter,
            output_size,
            side: side.to_vec(),
        }
    }

    #[test]
    fn parts_survive_and_misfits_do_not() {
        let shape = SHAPE;
        let (bytes, PartSizes { front, .. }) = parts().to_bytes(Coding::StaticRans).unwrap();
        let reread = |bytes, size, shape| BwtPayload::from_bytes(bytes, size, shape).map(drop);
        assert_eq!(BwtPayload::from_bytes(&bytes, 5000, shape), Ok(parts()));
        assert_eq!(
            PayloadFront::read(&bytes[..front], 5000, shape)
                .unwrap()
                .size,
            front
        );
        assert!(reread(&bytes, 4999, shape).is_err(), "row out of range");
        let other = Shape {
            sample_rate_log: 10,
            ..shape
        };
        assert!(
            reread(&bytes, 5000, other).is_err(),
            "other count of samples"
        );
        let indexed = Shape {
            tables: true,
            indexed: true,
            ..shape
        };
        assert!(reread(&bytes, 5000, indexed).is_err(), "no index");
        // The rest belongs to the last slice.
        let last = bytes.len() - b"three".len();
        assert!(reread(&bytes[..last], 5000, shape).is_err(), "cut");
        let long = [&bytes[..], &[0; 3000]].concat();
        assert!(
            reread(&long, 5000, shape).is_err(),
            "a slice above its raw size"
        );
    }

    #[test]
    fn an_index_is_of_the_searched_text() {
        let text = [b'x'; 200];
        // Sequence_Size is 50.
        let searched = &text[..50];
        let steps = [step(filter::SEQUENCES, 200, b"\x32, and more")];
        let parts = BwtPayload {
            filters: FilterList::of(&steps),
            raw_sizes: vec![200],
            index: Some(BlockIndex::new(
                searched,
                7,
                &[SliceFacts::of(&text, b"one")],
            )),
            models: b"models",
            samples: vec![7],
            side: &steps[0].side,
            slices: vec![b"one"],
        };
        let shape = Shape {
            filtered: true,
            tables: true,
            indexed: true,
            ..SHAPE
        };
        let (bytes, _) = parts.to_bytes(Coding::StaticRans).unwrap();
        let read = BwtPayload::from_bytes(&bytes, 100_000, shape).unwrap();
        assert_eq!(read, parts);
        assert_eq!(read.steps().unwrap(), steps);
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
    fn filters_are_listed_in_front() {
        let steps = [
            step(filter::REGIONS, 90_000, b"si"),
            step(filter::MATCHES, 5000, b"de"),
        ];
        let parts = BwtPayload {
            filters: FilterList::of(&steps),
            side: b"side",
            ..parts()
        };
        let shape = Shape {
            filtered: true,
            ..SHAPE
        };
        let (bytes, _) = parts.to_bytes(Coding::StaticRans).unwrap();
        let reread = |bytes, size| BwtPayload::from_bytes(bytes, size, shape).map(drop);
        assert_eq!(BwtPayload::from_bytes(&bytes, 90_000, shape), Ok(parts));
        assert!(
            reread(&bytes, 4999).is_err(),
            "a text larger than the block"
        );
        for cut in 0..=bytes.len() - b"three".len() {
            assert!(reread(&bytes[..cut], 90_000).is_err(), "cut to {cut}");
        }
    }
}
