//! The facts about the frames and blocks of a file that its tables state.

use super::block_header::BlockKind;
use super::features::Features;
use super::footer::Footer;
use super::seek_table::BlockShape;
use super::sequences::SequencesTable;
use super::tables::TablePlace;
use crate::base::error::Release;
use crate::filter;
use crate::options::{Note, StreamCheck};
use std::ops::Range;

/// A frame of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// Range of the frame in the file.
    pub coded: Range<u64>,
    /// Range of the raw stream that the frame holds.
    pub raw: Range<u64>,
    /// Maximum number of raw bytes in one of its blocks; 0 if there are no blocks.
    pub block_size: u64,
    /// Number of its blocks.
    pub blocks: u64,
    /// CRC-32 of its raw bytes.
    pub checksum: u32,
    /// The features that its blocks use.
    pub features: Features,
    /// The check of its raw bytes beside the CRC-32. `None` if it is one that this release of bwz
    /// does not know; bytes are then restored without it.
    pub check: Option<StreamCheck>,
    /// The notes of a user about it: keys and values.
    pub notes: Vec<Note>,
    /// Whoever made it, if it holds no data but private content, which bwz passes over.
    pub private: Option<u32>,
    /// The reason why its bytes cannot be restored, if it is not damaged but of a kind that this
    /// release does not know. Its blocks are not known then.
    pub unsupported: Option<String>,
    /// The first release of bwz that reads all of it.
    pub(crate) needed: Release,
    /// True if one of its tables is not valid.
    pub(crate) has_wrong_tables: bool,
    /// The kind of its index, as stated by its first block that is not stored.
    /// [`Archive::info`](crate::Archive::info) counts the blocks that have one.
    pub index: Option<IndexInfo>,
    /// Records and residues of its blocks, if the frame is searched by sequence.
    pub(crate) sequences: Option<SequencesTable>,
    /// True if its blocks have an index of sequences, but the frame has no valid table Sequences.
    pub(crate) lacks_sequences: bool,
    /// Place of the table of its records, which is read when it is needed.
    pub(crate) records: Option<TablePlace>,
    /// Place of the table of the members of a tar archive.
    pub(crate) members: Option<TablePlace>,
}

/// The kind of index that a frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexInfo {
    /// Distance between the positions that are kept for
    /// [`Archive::locate`](crate::Archive::locate), in the first block that has an index; blocks
    /// may differ. `None` if the index is for counting alone.
    pub sample_rate: Option<u32>,
    /// True if the index is one of sequences; false if it is one of bytes.
    pub of_sequences: bool,
}

/// A block of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// Range of the block in the file, its header included.
    pub coded: Range<u64>,
    /// Range of the raw stream that the block holds.
    pub raw: Range<u64>,
    /// Line feeds in its raw bytes. `None` if the file does not say.
    pub line_feeds: Option<u64>,
    /// Start of its range in the raw stream of its frame.
    pub(super) raw_offset: u64,
    /// Bytes of its header and the front of its payload, if it has an index, else 0.
    pub(crate) front_size: u64,
    /// The first release of bwz that reads its frame.
    pub(crate) needed: Release,
    pub(crate) shape: BlockShape,
}

impl BlockInfo {
    /// The features that the block needs in its reader: its coding, its filters, its index. There
    /// are none if it is stored, and [`Features::OTHER`] if part of it is not known.
    ///
    /// ```
    /// use bwz::Features;
    ///
    /// let options = bwz::Options::new();
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells ".repeat(1000)[..], &mut file, &options)?;
    ///
    /// let archive = bwz::Archive::open(std::io::Cursor::new(file), &options)?;
    /// let features = archive.blocks()[0].features();
    /// assert!(features.contains(Features::STATIC_RANS));
    /// assert!(!features.contains(Features::INDEX));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn features(&self) -> Features {
        let BlockShape { kind, filters } = self.shape;
        let known = Features::of_block(kind, filters, self.raw.end - self.raw.start);
        match matches!(kind, BlockKind::Unknown(..)) || !filters.iter().all(filter::is_known) {
            true => known.with(Features::OTHER),
            false => known,
        }
    }
}

impl FrameInfo {
    /// True if the frame is searched by sequence.
    pub(crate) fn is_by_sequence(&self) -> bool {
        self.sequences.is_some() || self.lacks_sequences
    }

    /// A frame whose blocks are not known. Its footer ends at `end`.
    pub(super) fn unsupported(footer: &Footer, end: u64, why: String) -> Self {
        FrameInfo {
            raw: 0..footer.total_raw_size,
            unsupported: Some(why),
            ..FrameInfo::without_blocks(end - footer.frame_size..end)
        }
    }

    /// A frame that holds no data.
    pub(super) fn without_blocks(coded: Range<u64>) -> Self {
        FrameInfo {
            coded,
            raw: 0..0,
            block_size: 0,
            blocks: 0,
            checksum: 0,
            features: Features::NONE,
            check: Some(StreamCheck::Crc32),
            notes: Vec::new(),
            private: None,
            unsupported: None,
            needed: Release::default(),
            has_wrong_tables: false,
            index: None,
            sequences: None,
            lacks_sequences: false,
            records: None,
            members: None,
        }
    }
}
