//! Features, FORMAT.md section 3.1: what a frame needs of its reader, as a set of bits.
//!
//! Frame_Header announces what the frame may use, so that a reader of a pipe can plan. Footer says
//! what its blocks do use, so that a list needs no block.

use super::block_header::BlockKind;
use super::field_bytes::ensure;
use super::filter_list::FilterIds;
use crate::base::error::Flaw;
use crate::coder::Coding;
use crate::filter;

/// The features that a frame or a block needs in its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

/// Maximum block size of a frame that is not *wide*.
const NARROW: u64 = 256 << 20;

impl Features {
    /// Slices are coded by static rANS.
    pub const STATIC_RANS: Features = Features(1);
    /// Slices are coded by context mixing, which is slow and takes up to 96 MiB per slice.
    pub const CONTEXT_MIXING: Features = Features(1 << 1);
    /// The filter for FASTA and FASTQ.
    pub const SEQUENCES: Features = Features(1 << 2);
    /// The filter for tables, images, sound and programs.
    pub const REGIONS: Features = Features(1 << 3);
    /// The filter for long-range matches.
    pub const MATCHES: Features = Features(1 << 4);
    /// The filter for lines of fields.
    pub const FIELDS: Features = Features(1 << 5);
    /// A block is larger than 256 MiB.
    pub const WIDE: Features = Features(1 << 6);
    /// An id that has no bit of its own.
    pub const OTHER: Features = Features(1 << 15);
    /// Blocks have an index. A reader that only restores bytes may ignore it.
    pub const INDEX: Features = Features(1 << 16);

    /// The bits that this version knows.
    const KNOWN: u32 = 0x1807F;

    pub(crate) const NONE: Features = Features(0);

    /// All four filters.
    pub(crate) const FILTERS: Features = Features(0b11_1100);

    pub(crate) const fn from_bits(bits: u32) -> Self {
        Features(bits)
    }

    /// The set as the number of the file.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// True if all of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Features) -> Self {
        Features(self.0 | other.0)
    }

    /// The features of this set that this version knows.
    pub(crate) const fn known(self) -> Self {
        Features(self.0 & Self::KNOWN)
    }

    /// The features of blocks of up to `block_size` bytes.
    pub(crate) const fn of_size(block_size: u64) -> Self {
        if block_size > NARROW {
            Self::WIDE
        } else {
            Self::NONE
        }
    }

    /// The features that a block of `raw_size` bytes needs, with these filters, as far as they are
    /// known.
    pub(super) fn of_block(kind: BlockKind, filters: FilterIds, raw_size: u64) -> Self {
        let of_kind = match kind {
            BlockKind::Stored => Self::NONE,
            // A later version may have given it a bit of its own.
            BlockKind::Unknown(..) => Self::NONE,
            BlockKind::Bwt(shape) => {
                let coding = match shape.coding {
                    Coding::StaticRans => Self::STATIC_RANS,
                    Coding::ContextMixing => Self::CONTEXT_MIXING,
                };
                let index = if shape.indexed {
                    Self::INDEX
                } else {
                    Self::NONE
                };
                coding.with(index)
            }
        };
        let of_filters = filters.iter().map(Self::of_filter);
        of_filters.fold(of_kind.with(Self::of_size(raw_size)), Features::with)
    }

    fn of_filter(id: u8) -> Self {
        match id {
            filter::SEQUENCES => Self::SEQUENCES,
            filter::REGIONS => Self::REGIONS,
            filter::MATCHES => Self::MATCHES,
            filter::FIELDS => Self::FIELDS,
            _ => Self::NONE,
        }
    }
}

/// The features that the blocks of a frame use.
pub(crate) struct UsedFeatures {
    /// Those that this version knows.
    known: Features,
    /// True if a block has an id that this version does not know. Its bit is not known either.
    have_others: bool,
    /// The features that Frame_Header announces.
    announced: Features,
}

impl UsedFeatures {
    /// Features of a frame without blocks, whose header announces these.
    pub(crate) fn new(announced: Features) -> Self {
        UsedFeatures {
            known: Features::NONE,
            have_others: false,
            announced,
        }
    }

    /// Adds those of a block of `raw_size` bytes with these filters.
    pub(crate) fn add(
        &mut self,
        kind: BlockKind,
        filters: FilterIds,
        raw_size: u64,
    ) -> Result<(), Flaw> {
        let features = Features::of_block(kind, filters, raw_size);
        ensure(
            self.announced.contains(features),
            "the block uses features that the frame header does not announce",
        )?;
        self.known = self.known.with(features);
        self.have_others |=
            matches!(kind, BlockKind::Unknown(..)) || !filters.iter().all(filter::is_known);
        Ok(())
    }

    /// Checks Features of the Footer.
    pub(crate) fn check_footer(&self, footer: Features) -> Result<(), Flaw> {
        let known = footer.known();
        let fits = match self.have_others {
            true => known.contains(self.known),
            false => known == self.known,
        };
        ensure(
            fits && self.announced.contains(footer),
            "the footer's features do not match the blocks",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use crate::base::error::Unknown;

    fn bwt(coding: Coding, indexed: bool) -> BlockKind {
        BlockKind::Bwt(Shape {
            coding,
            filtered: false,
            tables: indexed,
            indexed,
            sample_rate_log: 5,
        })
    }

    const UNKNOWN: BlockKind = BlockKind::Unknown(
        Unknown {
            what: "kind",
            id: 9,
        },
        [9; 4],
    );

    #[test]
    fn a_header_must_announce_what_blocks_use() {
        let add = |announced, kind, raw_size| {
            let mut used = UsedFeatures::new(Features(announced));
            used.add(kind, FilterIds::default(), raw_size)
                .is_ok()
        };
        let rans = bwt(Coding::StaticRans, false);
        assert!(add(0x8001, rans, 5) && !add(0x8000, rans, 5));
        assert!(add(0x41, rans, NARROW + 1) && !add(1, rans, NARROW + 1));
        let index = bwt(Coding::ContextMixing, true);
        assert!(add(0x10002, index, 5) && !add(2, index, 5));
        // Its bit is not known.
        assert!(add(0, BlockKind::Stored, 5) && add(0, UNKNOWN, 5));
    }

    #[test]
    fn a_footer_has_what_blocks_use() {
        let fits = |kinds: &[BlockKind], footer| {
            let mut used = UsedFeatures::new(Features(0x1_8003 | 1 << 31));
            for &kind in kinds {
                used.add(kind, FilterIds::default(), 5).unwrap();
            }
            used.check_footer(Features(footer)).is_ok()
        };
        let rans = bwt(Coding::StaticRans, false);
        assert!(fits(&[], 0) && !fits(&[], 1));
        assert!(fits(&[rans], 1) && fits(&[rans], 1 | 1 << 31));
        for more in [0, 3, 1 | 1 << 15, 1 | 1 << 16, 1 | 1 << 30] {
            assert!(!fits(&[rans], more), "{more:x}");
        }
        // A block of an unknown kind may use any feature.
        let with_unknown = [rans, UNKNOWN];
        assert!(fits(&with_unknown, 1) && fits(&with_unknown, 0x8003));
        assert!(!fits(&with_unknown, 0x8000));
    }
}
