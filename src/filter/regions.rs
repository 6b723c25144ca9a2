//! The regions of a block and what is done to each: FORMAT.md section 14.3.
//!
//! An archive or a program holds tables, code and text side by side. [`encode`] and [`decode`] change each region of a list in
//! place; `detect` makes the list.

use super::branches::{self, Way};
use super::number;
use super::records::Records;
use crate::error::Flaw;

/// What is done to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Records(Records),
    X86,
    Arm64,
}

/// So many bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub size: usize,
    pub kind: Kind,
}

/// Changes the regions of `text` and appends the list to `side`; the sizes must add up to that of `text`.
pub(super) fn encode(text: &mut [u8], regions: &[Region], side: &mut Vec<u8>) -> Result<(), Flaw> {
    let mut pos = 0;
    for Region { size, kind } in regions {
        let region = &mut text[pos..pos + size];
        number::write(*size, side);
        side.push(kind.tag());
        match kind {
            Kind::Plain => (),
            Kind::Records(records) => {
                records.write(side);
                records.encode(region)?;
            }
            Kind::X86 => branches::x86(region, pos, Way::ToAbsolute),
            Kind::Arm64 => branches::arm64(region, pos, Way::ToAbsolute),
        }
        pos += size;
    }
    Ok(())
}

/// Undoes [`encode`].
///
/// # Errors
/// A [`Flaw`] where `side` is no list of regions of all of `text`.
pub(super) fn decode(text: &mut [u8], side: &mut &[u8]) -> Result<(), Flaw> {
    let mut pos = 0;
    while pos < text.len() {
        let size = number::read(side)?;
        let rest = text[pos..].get_mut(..size).filter(|region| !region.is_empty());
        let region = rest.ok_or(Flaw("the regions of a block do not add up to it"))?;
        let (&tag, rest) = side.split_first().ok_or(number::CUT)?;
        *side = rest;
        match tag {
            0 => (),
            1 => Records::read(side)?.decode(region)?,
            2 => branches::x86(region, pos, Way::ToRelative),
            3 => branches::arm64(region, pos, Way::ToRelative),
            _ => return Err(Flaw("a region of a block is of an unknown kind")),
        }
        pos += size;
    }
    Ok(())
}

impl Kind {
    fn tag(&self) -> u8 {
        match self {
            Kind::Plain => 0,
            Kind::Records(_) => 1,
            Kind::X86 => 2,
            Kind::Arm64 => 3,
        }
    }
}
