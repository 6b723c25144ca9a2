//! Features of Frame_Header and Footer that do not match the blocks or each other.

use super::{damaged, fields, text};
use crate::common::{cases, indexed};
use crate::containers::best;
use crate::frames::{Block, Frame};
use crate::kit::Entry;
use crate::patient::Patient;

/// Features that do not match.
pub fn entries() -> Vec<Entry> {
    let lacks = "features that the frame header does not announce";
    let misfit = "features do not match";
    let raw = cases::text(900);
    let announced = |announced| {
        let frame = Frame {
            announced,
            ..Frame::of(&[Block::new(&raw)])
        };
        Patient(frame.to_bytes())
    };
    let mixing = Block::of(&raw, &best(&raw));
    let with_index = Block::of(&raw, &indexed(&raw, 1 << 20, Some(16)));
    vec![
        damaged(
            "R31-header-lacks-coding",
            "static rANS in a block, not announced by Frame_Header",
            text().frame(10, &[0; 4]),
            lacks,
        ),
        damaged(
            "R31-header-lacks-filter",
            "the filter fields in a block, not announced by Frame_Header",
            Patient::of(&[fields::sound_block()]).frame(10, &[1]),
            lacks,
        ),
        damaged(
            "R31-header-lacks-mixing",
            "context mixing in a block, and Frame_Header announces static rANS",
            Patient::of(&[mixing]).frame(10, &[1]),
            lacks,
        ),
        damaged(
            "R31-header-lacks-index",
            "an Index in a block, not announced by Frame_Header",
            Patient::of(std::slice::from_ref(&with_index)).frame(12, &[0]),
            lacks,
        ),
        damaged(
            "R31-footer-more",
            "the Footer has a known bit that no block uses",
            announced(2).foot(12, &[3]),
            misfit,
        ),
        damaged(
            "R31-footer-wide",
            "the Footer has the bit of blocks above 256 MiB, and the block is small",
            announced(0x40).foot(12, &[0x41]),
            misfit,
        ),
        damaged(
            "R31-footer-other",
            "the Footer has bit 15, and all ids of the blocks are known",
            announced(0x8000).foot(13, &[0x80]),
            misfit,
        ),
        damaged(
            "R31-footer-lacks-index",
            "the Footer lacks the bit of an Index",
            Patient::of(&[with_index]).foot(14, &[0]),
            misfit,
        ),
        damaged(
            "R31-footer-less",
            "the Footer lacks a bit that a block uses",
            text().foot(12, &[0; 4]),
            misfit,
        ),
        damaged(
            "R31-footer-unknown",
            "the Footer has an unknown bit that Frame_Header lacks",
            text().foot(14, &[0x80]),
            misfit,
        ),
    ]
}
