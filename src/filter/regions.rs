//! The regions of a block and the filter of each: FORMAT.md section 12.4.
//!
//! An archive or a program holds tables, code and text side by side. [`encode`] and [`decode`]
//! change each region of a list in place; `detect_regions` makes the list.

use super::bcj::{self, Direction};
use super::delta::Records;
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::base::threads::Threads;
use std::ops::Range;

/// The filter of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    Plain,
    Records(Records),
    X86,
    Arm64,
}

/// A range of bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilterRegion {
    pub size: usize,
    pub kind: RegionKind,
}

/// Changes the regions of `text` in parallel and appends their list to `side`. The sizes must add
/// up to that of `text`.
pub(crate) fn encode(
    text: &mut [u8],
    regions: &[FilterRegion],
    side: &mut Vec<u8>,
    pool: &Threads,
) -> Result<(), Flaw> {
    for &FilterRegion { size, kind } in regions {
        leb128::write(size, side);
        kind.write(side);
    }
    change(text, 0, regions, Direction::Encode, pool)
}

/// The parts of a text that [`encode`] changes.
pub(super) fn changed(regions: &[FilterRegion]) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    regions.iter().filter_map(move |region| {
        let start = end;
        end += region.size;
        (region.kind != RegionKind::Plain).then_some(start..end)
    })
}

/// Undoes [`encode`].
///
/// # Errors
/// A [`Flaw`] if `side` is no list of regions that cover `text`.
pub(super) fn decode(text: &mut [u8], side: &mut &[u8], pool: &Threads) -> Result<(), Flaw> {
    let mut end = 0;
    while end < text.len() {
        let start = end;
        let mut regions = Vec::new();
        while end < text.len() && regions.len() < BATCH {
            let size = leb128::read(side)?;
            if !(1..=text.len() - end).contains(&size) {
                return Err(Flaw("the regions of a block do not add up to it"));
            }
            regions.push(FilterRegion {
                size,
                kind: RegionKind::read(side)?,
            });
            end += size;
        }
        change(
            &mut text[start..end],
            start,
            &regions,
            Direction::Decode,
            pool,
        )?;
    }
    Ok(())
}

/// Number of regions that are undone together: a list of all could take more memory than the block.
const BATCH: usize = 4096;

/// Regions of records above this size, in bytes, are changed one after the other, each by all
/// threads. All other regions are changed in parallel.
const LARGE: usize = 2 << 20;

/// Applies the filters of regions, the first of which starts at `pos`, or undoes them.
fn change(
    text: &mut [u8],
    mut pos: usize,
    regions: &[FilterRegion],
    direction: Direction,
    pool: &Threads,
) -> Result<(), Flaw> {
    let mut rest = text;
    let mut small = Vec::new();
    for &FilterRegion { size, kind } in regions {
        let (region, behind) = rest.split_at_mut(size);
        match kind {
            RegionKind::Plain => (),
            RegionKind::Records(records) if size > LARGE => {
                records.change(region, direction, pool)?;
            }
            _ => small.push((region, pos, kind)),
        }
        (pos, rest) = (pos + size, behind);
    }
    let changed = pool.map(small, |(region, pos, kind)| {
        kind.change(region, pos, direction)
    });
    changed.into_iter().collect()
}

impl RegionKind {
    /// Changes a region that starts at `pos`, on the calling thread.
    fn change(&self, region: &mut [u8], pos: usize, direction: Direction) -> Result<(), Flaw> {
        match self {
            RegionKind::Plain => (),
            RegionKind::Records(records) => {
                records.change(region, direction, &Threads::Calling)?;
            }
            RegionKind::X86 => bcj::x86(region, pos, direction),
            RegionKind::Arm64 => bcj::arm64(region, pos, direction),
        }
        Ok(())
    }

    /// Reads a kind and removes it from the front of `bytes`.
    pub(crate) fn read(bytes: &mut &[u8]) -> Result<Self, Flaw> {
        match *bytes.split_off_first().ok_or(leb128::CUT)? {
            0 => Ok(RegionKind::Plain),
            1 => Records::read(bytes).map(RegionKind::Records),
            2 => Ok(RegionKind::X86),
            3 => Ok(RegionKind::Arm64),
            _ => Err(Flaw("a region of a block is of an unknown kind")),
        }
    }

    /// Appends the kind.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            RegionKind::Plain => out.push(0),
            RegionKind::Records(records) => {
                out.push(1);
                records.write(out);
            }
            RegionKind::X86 => out.push(2),
            RegionKind::Arm64 => out.push(3),
        }
    }
}
