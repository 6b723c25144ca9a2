//! Features, FORMAT.md section 3.1: what a frame needs of its reader, as a set of bits.
//!
//! Frame_Header announces what the frame may use, so that a reader of a pipe can plan. Footer says
//! what its blocks do use, so that a list needs no block.

use super::filter_list::FilterIds;
use crate::coder::Coding;
use crate::filter;
use crate::frame::{BlockHeader, BlockKind};

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

    /// The features that a block needs, with these filters, as far as they are known.
    pub(crate) fn of_block(header: &BlockHeader, filters: FilterIds) -> Self {
        let of_kind = match header.kind {
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
        of_filters.fold(of_kind.with(Self::of_size(header.raw_size)), Features::with)
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

    /// True if this version knows everything that a block uses, so that its features are all known.
    pub(crate) fn are_all_known(header: &BlockHeader, filters: FilterIds) -> bool {
        !matches!(header.kind, BlockKind::Unknown(..)) && filters.iter().all(filter::is_known)
    }
}
