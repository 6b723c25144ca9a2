//! Index, FORMAT.md chapter 10: a table of a block that lets a search decode single slices of it.
//!
//! Without an index, a reader that needs one slice must read and decode all slices before it, to
//! learn the counts of symbols above it, and must read the whole block to check it.

use super::counts_code;
use super::field_bytes::{checksum_holds, ensure, put_uint, u32_at, uint_at};
use crate::base::error::Flaw;
use crate::bwt;

/// Bytes of text kept from each end of a block, for matches that cross into the next block.
pub(crate) const EDGE: usize = 128;

const MISFIT: Flaw = Flaw("the index's counts have the wrong size");

/// An index as it is read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoredIndex {
    pub index: BlockIndex,
    /// CRC-32 of Samples as they are stored in the file.
    samples_checksum: u32,
}

/// The contents of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockIndex {
    pub primary_index: u64,
    /// Bytes of the part of the text that is searched, at its front.
    pub searched: u64,
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

/// Bytes of the fields of an index in front of Slice_Checksums.
const FIELDS: usize = 18;

impl StoredIndex {
    /// Parses the content of the table. `front` are the parts of the payload that its checksum
    /// covers.
    pub(crate) fn from_bytes(
        content: &[u8],
        front: Front,
        text_size: u64,
        raw_sizes: &[u32],
    ) -> Result<Self, Flaw> {
        let cut = Flaw("the block's index ends too early");
        let (fields, rest) = content.split_at_checked(FIELDS).ok_or(cut)?;
        let sound = cfg!(fuzzing) || u32_at(fields, 0) == front.checksum();
        ensure(
            sound,
            "the block's index is damaged: the checksum of the fields around it is wrong",
        )?;
        let primary_index = uint_at::<5>(fields, 8);
        ensure(
            (1..=text_size).contains(&primary_index),
            "the index's primary index is not a row",
        )?;
        let searched = uint_at::<5>(fields, 13);
        ensure(
            searched <= text_size,
            "the sequences of a block are larger than its text",
        )?;
        let edge = edge(searched);
        let (checksums, rest) = rest
            .split_at_checked(4 * raw_sizes.len())
            .ok_or(cut)?;
        let (head, rest) = rest.split_at_checked(edge).ok_or(cut)?;
        let (tail, counts) = rest.split_at_checked(edge).ok_or(cut)?;
        let index = BlockIndex {
            primary_index,
            searched,
            slice_checksums: checksums
                .chunks_exact(4)
                .map(|four| u32_at(four, 0))
                .collect(),
            head: head.to_vec(),
            tail: tail.to_vec(),
            counts: SliceCounts::from_bytes(counts, raw_sizes)?,
        };
        Ok(StoredIndex {
            index,
            samples_checksum: u32_at(fields, 4),
        })
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

/// The parts of a payload in front of Samples, without its tables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Front<'a> {
    /// Everything in front of the tables: the list of filters, and the sizes of the slices.
    pub sizes: &'a [u8],
    pub models: &'a [u8],
}

impl Front<'_> {
    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(self.sizes);
        hasher.update(self.models);
        hasher.finalize()
    }
}

impl BlockIndex {
    /// Builds the index of a block from the searched part of its text and from its slices.
    pub(crate) fn new(text: &[u8], primary_index: u64, slices: &[SliceFacts]) -> Self {
        let edge = EDGE.min(text.len());
        BlockIndex {
            primary_index,
            searched: text.len() as u64,
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

    /// The content of the table. `samples` are in their stored form.
    pub(crate) fn to_bytes(&self, samples: &[u8], front: Front) -> Vec<u8> {
        let mut bytes = vec![0; FIELDS];
        bytes[..4].copy_from_slice(&front.checksum().to_le_bytes());
        bytes[4..8].copy_from_slice(&crc32fast::hash(samples).to_le_bytes());
        put_uint::<5>(&mut bytes, 8, self.primary_index);
        put_uint::<5>(&mut bytes, 13, self.searched);
        bytes.extend(
            self.slice_checksums
                .iter()
                .flat_map(|checksum| checksum.to_le_bytes()),
        );
        bytes.extend_from_slice(&self.head);
        bytes.extend_from_slice(&self.tail);
        self.counts.write(&mut bytes);
        bytes
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

    /// Appends the stored form: one bit for each byte value, set if it occurs, and the counts of
    /// those that do.
    fn write(&self, out: &mut Vec<u8>) {
        let mut bits = [0; 32];
        for &c in &self.symbols {
            bits[usize::from(c / 8)] |= 1 << (c % 8);
        }
        out.extend(bits);
        let rows: Vec<&[u32]> = self.rows().map(|(_, counts)| counts).collect();
        counts_code::write(&rows, out);
    }

    fn from_bytes(mut bytes: &[u8], raw_sizes: &[u32]) -> Result<Self, Flaw> {
        let bits = bytes.split_off(..32).ok_or(MISFIT)?;
        let symbols: Vec<u8> = (0..=255)
            .filter(|c| bits[usize::from(c / 8)] >> (c % 8) & 1 == 1)
            .collect();
        ensure(!symbols.is_empty(), MISFIT.0)?;
        Ok(SliceCounts {
            slices: raw_sizes.len(),
            values: counts_code::read(bytes, symbols.len(), raw_sizes)?,
            symbols,
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

    const FRONT: Front = Front {
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
            searched: 110_000,
            slice_checksums: vec![7, 8],
            head: vec![1; EDGE],
            tail: vec![2; EDGE],
            counts: SliceCounts::new(&[&bwt[..1 << 16], &bwt[1 << 16..]].map(facts)),
        }
    }

    fn reread(content: &[u8]) -> Result<StoredIndex, Flaw> {
        StoredIndex::from_bytes(content, FRONT, 120_000, &[1 << 16, 54_464])
    }

    #[test]
    fn an_index_survives() {
        let content = index().to_bytes(b"samples", FRONT);
        let read = reread(&content).unwrap();
        assert_eq!(read.index, index());
        assert!(read.check_samples(b"samples").is_ok() && read.check_samples(b"other").is_err());
        for cut in 0..content.len() {
            assert!(reread(&content[..cut]).is_err(), "cut to {cut}");
        }
        assert!(reread(&[&content[..], &[0]].concat()).is_err());
        let other = Front {
            models: b"other",
            ..FRONT
        };
        assert!(StoredIndex::from_bytes(&content, other, 120_000, &[1 << 16, 54_464]).is_err());
    }

    #[test]
    fn counts_have_a_bitmap() {
        let tiny = SliceCounts::new(&[facts(b"annbaa")]);
        let mut bytes = Vec::new();
        tiny.write(&mut bytes);
        assert_eq!(bytes[12..14], [0b110, 0b100_0000]);
        assert_eq!(SliceCounts::from_bytes(&bytes, &[6]), Ok(tiny));
        assert_eq!(SliceCounts::from_bytes(&[0; 40], &[6]), Err(MISFIT));
    }
}
