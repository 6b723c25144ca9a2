//! The regions of a block and the filter of each: FORMAT.md section 12.4.
//!
//! An archive or a program holds tables, code and text side by side. [`encode`] and [`decode`]
//! change each region of a list in place; `detect_regions` makes the list.

use super::bcj::{self, Direction};
use super::delta::Records;
use crate::error::Flaw;
use crate::leb128;
use crate::threads::Threads;

/// The filter of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    Plain,
    Records(Records),
    X86,
    Arm64,
}

/// Neighbouring bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub size: usize,
    pub kind: RegionKind,
}

/// Changes the regions of `text`, side by side, and appends the list to `side`; the sizes must add
/// up to that of `text`.
pub(crate) fn encode(
    text: &mut [u8],
    regions: &[Region],
    side: &mut Vec<u8>,
    pool: &Threads,
) -> Result<(), Flaw> {
    let (mut pos, mut rest, mut parts) = (0, text, Vec::new());
    for &Region { size, kind } in regions {
        leb128::write(size, side);
        kind.write(side);
        let (region, behind) = rest.split_at_mut(size);
        parts.push((region, pos, kind));
        (pos, rest) = (pos + size, behind);
    }
    pool.map(parts, |(region, pos, kind)| kind.encode(region, pos)).into_iter().collect()
}

/// Undoes [`encode`].
///
/// # Errors
/// A [`Flaw`] where `side` is no list of regions of all of `text`.
pub(super) fn decode(text: &mut [u8], side: &mut &[u8]) -> Result<(), Flaw> {
    let mut pos = 0;
    while pos < text.len() {
        let size = leb128::read(side)?;
        let rest = text[pos..].get_mut(..size).filter(|region| !region.is_empty());
        let region = rest.ok_or(Flaw("the regions of a block do not add up to it"))?;
        match RegionKind::read(side)? {
            RegionKind::Plain => (),
            RegionKind::Records(records) => records.decode(region)?,
            RegionKind::X86 => bcj::x86(region, pos, Direction::ToRelative),
            RegionKind::Arm64 => bcj::arm64(region, pos, Direction::ToRelative),
        }
        pos += size;
    }
    Ok(())
}

impl RegionKind {
    /// Changes a region that starts at `pos`.
    fn encode(&self, region: &mut [u8], pos: usize) -> Result<(), Flaw> {
        match self {
            RegionKind::Plain => (),
            RegionKind::Records(records) => records.encode(region)?,
            RegionKind::X86 => bcj::x86(region, pos, Direction::ToAbsolute),
            RegionKind::Arm64 => bcj::arm64(region, pos, Direction::ToAbsolute),
        }
        Ok(())
    }

    /// Takes a kind off the front of `bytes`.
    pub fn read(bytes: &mut &[u8]) -> Result<Self, Flaw> {
        let (&tag, rest) = bytes.split_first().ok_or(leb128::CUT)?;
        *bytes = rest;
        match tag {
            0 => Ok(RegionKind::Plain),
            1 => Records::read(bytes).map(RegionKind::Records),
            2 => Ok(RegionKind::X86),
            3 => Ok(RegionKind::Arm64),
            _ => Err(Flaw("a region of a block is of an unknown kind")),
        }
    }

    /// Appends the kind.
    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.tag());
        if let RegionKind::Records(records) = self {
            records.write(out);
        }
    }

    fn tag(&self) -> u8 {
        match self {
            RegionKind::Plain => 0,
            RegionKind::Records(_) => 1,
            RegionKind::X86 => 2,
            RegionKind::Arm64 => 3,
        }
    }
}
