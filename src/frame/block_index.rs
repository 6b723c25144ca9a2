//! Index, FORMAT.md chapter 10: lets a search decode single slices of a block.
//!
//! Without an index, a reader that needs one slice must read and decode all slices before it, to
//! learn the offset of the slice, its checksum, and the counts of symbols above it.

use super::field_bytes::{checksum_holds, ensure, put_uint, u32_at, uint_at};
use super::slice_sizes::SliceSizes;
use super::table_form::{from_form, to_form};
use crate::base::error::Flaw;
use crate::bwt;

/// Bytes of text kept from each end of a block, for matches that cross into the next block.
pub(crate) const EDGE: usize = 128;

const MISFIT: Flaw = Flaw("the index's counts have the wrong size");

/// The part of an index that has a fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockIndexHeader {
    compressed: bool,
    counts_size: u64,
    primary_index: u64,
    /// CRC-32 of Samples as they are stored in the file.
    samples_checksum: u32,
    /// CRC-32 of [`Around`], of this header up to here, and of the rest of Index.
    index_checksum: u32,
}

/// The contents of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockIndex {
    pub primary_index: u64,
    /// CRC-32 of each coded slice.
    pub slice_checksums: Vec<u32>,
    /// The first and the last bytes of the searched part of the block's text: [`EDGE`] bytes each,
    /// or the whole part if it is shorter.
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    pub counts: SliceCounts,
}

/// The facts about one slice that an index states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceFacts {
    /// CRC-32 of the coded slice.
    checksum: u32,
    /// Number of occurrences of each byte in the slice.
    counts: [u32; 256],
}

impl SliceFacts {
    /// The facts about one part of the transform and its coded form.
    pub(crate) fn of(raw: &[u8], coded: &[u8]) -> Self {
        let mut counts = [0; 256];
        bwt::count(raw, &mut counts);
        SliceFacts {
            checksum: crc32fast::hash(coded),
            counts,
        }
    }
}

/// Number of occurrences of each byte in each slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceCounts {
    slices: usize,
    /// The bytes that occur in the block, ascending.
    symbols: Vec<u8>,
    /// `values[n * slices + k]`: occurrences of symbol n in slice k.
    values: Vec<u32>,
}

impl BlockIndexHeader {
    pub(crate) const SIZE: usize = 20;

    pub(crate) fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, Flaw> {
        ensure(bytes[0] <= 1, "the index is of an unknown form")?;
        ensure(bytes[1] == 0, "a reserved bit of the index is set")?;
        Ok(BlockIndexHeader {
            compressed: bytes[0] == 1,
            counts_size: uint_at::<5>(bytes, 2),
            primary_index: uint_at::<5>(bytes, 7),
            samples_checksum: u32_at(bytes, 12),
            index_checksum: u32_at(bytes, 16),
        })
    }

    /// Size of the rest of the index, behind this header, if `searched` bytes of the text are
    /// searched and the block has `slices` slices.
    pub(crate) fn rest(&self, searched: u64, slices: usize) -> usize {
        4 * slices + 2 * edge(searched) + self.counts_size as usize
    }

    /// Checks Samples as they are stored in the file.
    pub(crate) fn check_samples(&self, samples: &[u8]) -> Result<(), Flaw> {
        ensure(
            checksum_holds(self.samples_checksum, samples),
            "the block's index is damaged: the checksum of its samples is wrong",
        )
    }
}

fn edge(searched: u64) -> usize {
    (EDGE as u64).min(searched) as usize
}

/// The fields around an index in the file that its checksum covers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around<'a> {
    /// Text_Size, Side_Size and Sequence_Size, if the block has them.
    pub searched: &'a [u8],
    /// Slice_Count to Coded_Sizes.
    pub sizes: &'a [u8],
    pub models: &'a [u8],
}

/// The sizes of a block's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextSizes {
    /// Bytes of the whole text, in `1..2^40`.
    pub all: u64,
    /// Bytes of the part that is searched: a prefix of the text, or all of it.
    pub searched: u64,
}

impl BlockIndex {
    /// Builds the index of a block from the searched part of its text and from its slices.
    pub(crate) fn new(text: &[u8], primary_index: u64, slices: &[SliceFacts]) -> Self {
        let edge = EDGE.min(text.len());
        BlockIndex {
            primary_index,
            slice_checksums: slices
                .iter()
                .map(|slice| slice.checksum)
                .collect(),
            head: text[..edge].to_vec(),
            tail: text[text.len() - edge..].to_vec(),
            counts: SliceCounts::new(slices),
        }
    }

    /// Checks that the index agrees with the slices.
    pub(crate) fn check(&self, slices: &[SliceFacts]) -> Result<(), Flaw> {
        let checksums = slices.iter().map(|slice| &slice.checksum);
        let sums_hold = cfg!(fuzzing) || checksums.eq(&self.slice_checksums);
        let counts_hold = self.counts == SliceCounts::new(slices);
        ensure(
            sums_hold && counts_hold,
            "the block's index does not match its slices",
        )
    }

    /// Checks that the index agrees with the ends of the searched part of the block's text.
    pub(crate) fn check_edges(&self, text: &[u8]) -> Result<(), Flaw> {
        let holds = text.starts_with(&self.head) && text.ends_with(&self.tail);
        ensure(holds, "the block's index does not match its ends")
    }

    /// Index in its stored form. In the file it follows Samples and the sizes of slices, and Models
    /// follow it. `samples` and `around` are in their stored form too.
    pub(crate) fn to_bytes(&self, samples: &[u8], around: Around) -> Vec<u8> {
        let (form, coded) = to_form(self.counts.to_bytes());
        let mut bytes = vec![0; BlockIndexHeader::SIZE];
        bytes[0] = form;
        put_uint::<5>(&mut bytes, 2, coded.len() as u64);
        put_uint::<5>(&mut bytes, 7, self.primary_index);
        bytes[12..16].copy_from_slice(&crc32fast::hash(samples).to_le_bytes());
        bytes.extend(
            self.slice_checksums
                .iter()
                .flat_map(|checksum| checksum.to_le_bytes()),
        );
        for part in [&self.head, &self.tail, &coded] {
            bytes.extend_from_slice(part);
        }
        let checksum = around.checksum(&bytes);
        bytes[16..20].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Parses an index. `bytes` is the whole index, and `header` is parsed from its front.
    pub(crate) fn from_bytes(
        header: &BlockIndexHeader,
        bytes: &[u8],
        around: Around,
        text: TextSizes,
        slices: usize,
    ) -> Result<Self, Flaw> {
        let checksum = around.checksum(bytes);
        let sound = cfg!(fuzzing) || header.index_checksum == checksum;
        ensure(sound, "the block's index is damaged: its checksum is wrong")?;
        let rows = 1..=text.all;
        ensure(
            rows.contains(&header.primary_index),
            "the index's primary index is not a row",
        )?;
        let (checksums, rest) = bytes[BlockIndexHeader::SIZE..].split_at(4 * slices);
        let (head, rest) = rest.split_at(edge(text.searched));
        let (tail, coded) = rest.split_at(edge(text.searched));
        Ok(BlockIndex {
            primary_index: header.primary_index,
            slice_checksums: checksums
                .chunks_exact(4)
                .map(|four| u32_at(four, 0))
                .collect(),
            head: head.to_vec(),
            tail: tail.to_vec(),
            counts: SliceCounts::from_bytes(header.compressed, coded, slices)?,
        })
    }

    /// Takes the index off the front of `payload`, which begins behind the sizes of slices.
    pub(crate) fn take(
        payload: &mut &[u8],
        samples: &[u8],
        around: Around,
        text: TextSizes,
        sizes: &SliceSizes,
    ) -> Result<Self, Flaw> {
        let cut = Flaw("the block's index is longer than the block");
        let header = payload.first_chunk().ok_or(cut)?;
        let header = BlockIndexHeader::from_bytes(header)?;
        header.check_samples(samples)?;
        let size = BlockIndexHeader::SIZE + header.rest(text.searched, sizes.raw.len());
        let (bytes, rest) = payload.split_at_checked(size).ok_or(cut)?;
        let models = rest.get(..sizes.models as usize).ok_or(cut)?;
        *payload = rest;
        let around = Around { models, ..around };
        BlockIndex::from_bytes(&header, bytes, around, text, sizes.raw.len())
    }
}

impl Around<'_> {
    /// The checksum of these fields and of an index, without the field that holds the checksum.
    fn checksum(&self, index: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for part in [
            self.searched,
            self.sizes,
            &index[..16],
            &index[20..],
            self.models,
        ] {
            hasher.update(part);
        }
        hasher.finalize()
    }
}

impl SliceCounts {
    /// The counts of all slices.
    fn new(slices: &[SliceFacts]) -> Self {
        let mut all = [0_u64; 256];
        for slice in slices {
            all.iter_mut()
                .zip(slice.counts)
                .for_each(|(all, count)| *all += u64::from(count));
        }
        let symbols: Vec<u8> = (0..=255)
            .filter(|&c: &u8| all[usize::from(c)] > 0)
            .collect();
        let row = |&c: &u8| {
            slices
                .iter()
                .map(move |slice| slice.counts[usize::from(c)])
        };
        let values = symbols.iter().flat_map(row).collect();
        SliceCounts {
            slices: slices.len(),
            symbols,
            values,
        }
    }

    /// The stored form: one bit for each byte value that occurs, then the four bytes of every
    /// count, the lowest bytes of all counts first.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 32];
        for &c in &self.symbols {
            bytes[usize::from(c / 8)] |= 1 << (c % 8);
        }
        for plane in 0..4 {
            bytes.extend(
                self.values
                    .iter()
                    .map(|value| value.to_le_bytes()[plane]),
            );
        }
        bytes
    }

    fn from_bytes(compressed: bool, coded: &[u8], slices: usize) -> Result<Self, Flaw> {
        let plain = from_form(compressed, coded, 32 + 4 * 256 * slices, MISFIT)?;
        let (bits, planes) = plain.split_at_checked(32).ok_or(MISFIT)?;
        let symbols: Vec<u8> = (0..=255)
            .filter(|c| bits[usize::from(c / 8)] >> (c % 8) & 1 == 1)
            .collect();
        let count = symbols.len() * slices;
        ensure(planes.len() == 4 * count && count > 0, MISFIT.0)?;
        let value =
            |n: usize| u32::from_le_bytes([0, 1, 2, 3].map(|plane| planes[plane * count + n]));
        Ok(SliceCounts {
            slices,
            symbols,
            values: (0..count).map(value).collect(),
        })
    }

    /// The symbols that occur in the block, each with its counts in all slices.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u8, &[u32])> {
        self.symbols
            .iter()
            .copied()
            .zip(self.values.chunks_exact(self.slices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Around = Around {
        searched: b"text",
        sizes: b"sizes",
        models: b"models",
    };

    fn facts(raw: &[u8]) -> SliceFacts {
        SliceFacts::of(raw, b"coded")
    }

    fn index() -> BlockIndex {
        let bwt = [&b"annb"[..], b"aa"].concat().repeat(20_000);
        BlockIndex {
            primary_index: 4,
            slice_checksums: vec![7, 8],
            head: vec![1; EDGE],
            tail: vec![2; EDGE],
            counts: SliceCounts::new(&[&bwt[..1 << 16], &bwt[1 << 16..]].map(facts)),
        }
    }

    fn reread(bytes: &[u8]) -> Result<BlockIndex, Flaw> {
        let sizes = SliceSizes {
            raw: vec![1 << 16, 54_464],
            models: 6,
            coded: vec![],
        };
        let bytes = [bytes, b"models, slices"].concat();
        let text = TextSizes {
            all: 120_000,
            searched: 110_000,
        };
        BlockIndex::take(&mut &bytes[..], b"samples", AROUND, text, &sizes)
    }

    #[test]
    fn an_index_survives() {
        let bytes = index().to_bytes(b"samples", AROUND);
        assert_eq!(reread(&bytes), Ok(index()));
    }

    #[test]
    fn counts_are_plain_or_compressed() {
        let tiny = SliceCounts::new(&[facts(b"annbaa")]);
        let plain = tiny.to_bytes();
        assert_eq!(plain.len(), 32 + 4 * 3);
        assert_eq!(plain[32..36], [3, 1, 2, 0]);
        let z = zstd::bulk::compress(&plain, 1).unwrap();
        assert_eq!(SliceCounts::from_bytes(false, &plain, 1), Ok(tiny.clone()));
        assert_eq!(SliceCounts::from_bytes(true, &z, 1), Ok(tiny));
        assert!(SliceCounts::from_bytes(true, &[&z[..], &z].concat(), 1).is_err());
        assert!(SliceCounts::from_bytes(false, &plain, 2).is_err());
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = index().to_bytes(b"samples", AROUND);
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(reread(&bad).is_err(), "bit {bit}");
        }
    }
}
